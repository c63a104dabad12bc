//! `Asking`: a request under way whose broken attempts are charged, also when the session stops and
//! nobody waits for the reply any more.
//!
//! In: a model as a task uses it and a request. Out: what came of it; or, where it is dropped
//! before it is over, a note for the session's end of what it used up. It decides nothing.

use std::cell::RefCell;
use std::rc::Rc;

use crate::session::Session;
use crate::session::model::TaskModel;
use crate::session::stop::Stop;
use locum_base::clock::Clock;
use locum_base::id::TaskId;
use locum_models::ModelRequest;
use locum_models::retry::{self, Completed, Hearing, LostAttempt, RetryLimits};

/// Requests that were dropped before they were over.
pub(crate) type Unheard<'a> = Rc<RefCell<Vec<LeftOver<'a>>>>;

/// What a dropped request used up.
pub(crate) struct LeftOver<'a> {
    task: TaskId,
    used: TaskModel<'a>,
    lost: Vec<LostAttempt>,
    estimate_tokens: u64,
}

/// A request under way.
pub(crate) struct Asking<'a> {
    task: TaskId,
    used: TaskModel<'a>,
    estimate_tokens: u64,
    limits: RetryLimits,
    clock: &'a dyn Clock,
    lost: Vec<LostAttempt>,
    unheard: Unheard<'a>,
}

impl<'a> Asking<'a> {
    /// Waits for a whole reply.
    pub(crate) async fn whole(mut self, request: ModelRequest<'_>) -> Completed {
        let hearing = Hearing { watch: &mut |_delta| {}, lost: &mut self.lost };
        let reply =
            retry::complete(self.used.model, request, self.limits, self.clock, hearing).await;
        Completed { reply, lost: std::mem::take(&mut self.lost) }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        if !lost.is_empty() {
            let Self { task, used, estimate_tokens, .. } = *self;
            self.unheard.borrow_mut().push(LeftOver { task, used, lost, estimate_tokens });
        }
    }
}

impl<'a> Session<'a> {
    /// Prepares to ask a model for a task; the request is estimated at so many tokens.
    pub(crate) fn asking(
        &self,
        task: TaskId,
        used: TaskModel<'a>,
        estimate_tokens: u64,
    ) -> Asking<'a> {
        let (limits, clock, unheard) =
            (self.parts.models.retry, self.parts.clock, Rc::clone(&self.unheard));
        Asking { task, used, estimate_tokens, limits, clock, lost: Vec::new(), unheard }
    }

    /// Charges the requests that were under way when the session was stopped.
    pub(crate) fn charge_unheard(&mut self) -> Result<(), Stop> {
        let unheard = self.unheard.take();
        unheard.iter().try_for_each(|left| {
            self.charge_lost(left.task, left.used, &left.lost, left.estimate_tokens)
        })
    }
}
