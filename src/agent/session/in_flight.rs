//! `InFlight`: a request whose broken attempts are charged, also when the session stops and
//! abandons it.
//!
//! In: a model as a task uses it and a request. Out: what came of it. Dropped before it is over, it
//! leaves a note of what it used up for the session's end.

use std::cell::RefCell;
use std::rc::Rc;

use crate::session::model::TaskModel;
use crate::session::recorded::ReplyCharge;
use locum_base::chat::{Reply, Usage};
use locum_base::clock::Clock;
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::retry::{self, LostAttempt, RetryLimits, StreamObserver};
use locum_models::{ModelError, ModelRequest};

/// Requests that were dropped before they were over.
pub(crate) type AbandonedRequests<'a> = Rc<RefCell<Vec<AbandonedRequest<'a>>>>;

/// What a dropped request used up.
pub(crate) struct AbandonedRequest<'a> {
    pub(crate) target: InFlightRequest<'a>,
    pub(crate) lost: Vec<LostAttempt>,
}

/// Who was asked, for which task, and about how much that is.
#[derive(Clone, Copy)]
pub(crate) struct InFlightRequest<'a> {
    /// The task that pays.
    pub(crate) task: TaskId,
    /// The model that is asked, with its price.
    pub(crate) model: TaskModel<'a>,
    /// Tokens that the request was estimated at.
    pub(crate) estimate_tokens: u64,
}

/// A reply, or why there is none, and the model that was asked.
pub(crate) struct CompletedRequest<'a> {
    pub(crate) target: InFlightRequest<'a>,
    pub(crate) reply: Result<Reply, ModelError>,
    /// What attempts before it used up.
    pub(crate) lost: Vec<LostAttempt>,
}

/// A request under way.
pub(crate) struct InFlight<'a> {
    target: InFlightRequest<'a>,
    limits: RetryLimits,
    clock: &'a dyn Clock,
    lost: Vec<LostAttempt>,
    abandoned: AbandonedRequests<'a>,
}

impl<'a> InFlight<'a> {
    /// Prepares a request; should it be dropped, `abandoned` holds what it used up.
    pub(crate) fn new(
        target: InFlightRequest<'a>,
        limits: RetryLimits,
        clock: &'a dyn Clock,
        abandoned: AbandonedRequests<'a>,
    ) -> Self {
        Self { target, limits, clock, lost: Vec::new(), abandoned }
    }

    /// Waits for a whole reply.
    pub(crate) async fn whole(mut self, request: ModelRequest<'_>) -> CompletedRequest<'a> {
        let observer = StreamObserver { watch: &mut |_delta| {}, lost: &mut self.lost };
        let model = self.target.model.model;
        let reply = retry::complete(model, request, self.limits, self.clock, observer).await;
        CompletedRequest { target: self.target, reply, lost: std::mem::take(&mut self.lost) }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        if !lost.is_empty() {
            self.abandoned.borrow_mut().push(AbandonedRequest { target: self.target, lost });
        }
    }
}

/// What a reply cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReplyCost {
    /// Tokens and US dollars; an estimate when the provider did not count.
    pub(crate) counted: ReplyCharge,
    /// True when the model has no price.
    pub(crate) unpriced: bool,
}

impl ReplyCost {
    /// Returns what a reply cost; `output_tokens` is the estimate used where its provider does not
    /// count.
    pub(crate) fn of(reply: &Reply, target: InFlightRequest<'_>, output_tokens: u64) -> Self {
        let price = target.model.price_by(reply.by.as_deref());
        let estimate =
            Usage { input: target.estimate_tokens, output: output_tokens, ..Usage::default() };
        let usage = reply.usage.unwrap_or(estimate);
        let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
        let counted = ReplyCharge { usage, estimated: reply.usage.is_none(), cost_usd };
        Self { counted, unpriced: price.is_none() }
    }

    /// Returns what is charged: an estimate also when the tokens have no price.
    pub(crate) fn charge(self) -> ReplyCharge {
        ReplyCharge { estimated: self.counted.estimated || self.unpriced, ..self.counted }
    }
}
