//! What requests of a task may cost, and how they are charged.

use std::rc::Rc;

use crate::session::event::Event;
use crate::session::in_flight::{InFlight, InFlightRequest, LostAttempts, SpendingBounds};
use crate::session::live::Session;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;

impl<'a> Session<'a> {
    /// Prepares a request after asking budget and ceilings for one of about its size, with a short
    /// reply.
    pub(crate) fn request(
        &self,
        target: InFlightRequest<'a>,
        terms: RequestTerms,
    ) -> Result<InFlight<'a>, Stop> {
        let budgeting = &self.task(target.task)?.budgeting;
        let (limits, clock) = (self.parts.models.retry, self.parts.clock);
        let bounds = SpendingBounds {
            terms,
            budget: budgeting.budget,
            spent: budgeting.spent,
            remaining: self.parts.remaining.clone(),
            run_spent: Rc::clone(&self.run_spent),
        };
        InFlight::new(target, bounds, limits, clock, Rc::clone(&self.abandoned))
    }

    /// Charges attempts that broke midway.
    ///
    /// # Errors
    /// When they left too little of a budget or a ceiling for another attempt.
    pub(crate) fn charge_lost(
        &mut self,
        target: InFlightRequest<'_>,
        lost: &LostAttempts,
    ) -> Result<(), Stop> {
        for attempt in &lost.attempts {
            let charge = target.lost_charge(attempt);
            self.emit(Event::ReplyLost { task: target.task, charge })?;
        }
        lost.stop.clone().map_or(Ok(()), Err)
    }

    /// Charges the requests that were under way when the session was stopped.
    pub(crate) fn charge_abandoned(&mut self) -> Result<(), Stop> {
        let abandoned = self.abandoned.take();
        abandoned.iter().try_for_each(|request| self.charge_lost(request.target, &request.lost))
    }
}
