//! What requests of a task may cost, and how they are charged.

use std::rc::Rc;

use crate::session::event::Event;
use crate::session::in_flight::{InFlight, InFlightRequest};
use crate::session::live::Session;
use crate::session::recorded::ReplyCharge;
use crate::session::stop::Stop;
use locum_base::chat::Usage;
use locum_models::accounting;
use locum_models::retry::LostAttempt;

impl<'a> Session<'a> {
    /// Prepares a request after asking budget and ceilings for one of about its size. `cached`
    /// tokens of it were sent before and count as cached, so that a run is not stopped early.
    pub(crate) fn request(
        &self,
        target: InFlightRequest<'a>,
        cached: u64,
    ) -> Result<InFlight<'a>, Stop> {
        let InFlightRequest { task, model, estimate_tokens } = target;
        let estimate = Usage { input: estimate_tokens, cached_read: cached, ..Usage::default() };
        let estimate_usd = model.price.map_or(0.0, |price| accounting::cost(estimate, price));
        let task = self.task(task)?;
        let budgeting = &task.budgeting;
        budgeting.budget.ask_turn(&budgeting.spent, estimate_tokens, estimate_usd)?;
        let run = self.state.root().unwrap_or(task);
        self.parts.remaining.ask(&run.budgeting.spent, estimate_tokens, estimate_usd)?;
        let (limits, clock) = (self.parts.models.retry, self.parts.clock);
        Ok(InFlight::new(target, limits, clock, Rc::clone(&self.abandoned)))
    }

    /// Charges attempts that broke midway: by what the provider said, else by an estimate.
    pub(crate) fn charge_lost(
        &mut self,
        target: InFlightRequest<'_>,
        lost: &[LostAttempt],
    ) -> Result<(), Stop> {
        for attempt in lost {
            let by = attempt.by.as_deref();
            let tokenizer = target.model.tokenizer_by(by);
            let output = tokenizer.tokens(&attempt.text).saturating_add(attempt.other_tokens);
            let estimate = Usage { input: target.estimate_tokens, output, ..Usage::default() };
            // A provider says what it read at the beginning and what it wrote at the end, which did
            // not come.
            let usage = attempt
                .usage
                .map_or(estimate, |said| Usage { output: said.output.max(output), ..said });
            let price = target.model.price_by(by);
            let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
            let charge = ReplyCharge { usage, estimated: true, cost_usd };
            self.emit(Event::ReplyLost { task: target.task, charge })?;
        }
        Ok(())
    }

    /// Charges the requests that were under way when the session was stopped.
    pub(crate) fn charge_abandoned(&mut self) -> Result<(), Stop> {
        let abandoned = self.abandoned.take();
        abandoned.iter().try_for_each(|request| self.charge_lost(request.target, &request.lost))
    }
}
