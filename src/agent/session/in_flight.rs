//! `InFlight`: a request whose broken attempts are charged, also when the session stops and
//! abandons it, and whose every attempt has to fit what may be spent, at the price of the model
//! that is asked and with a short reply. Longer replies are limited to what is left.
//!
//! In: a model as a task uses it, what may be spent and a request. Out: what came of it. Dropped
//! before it is over, it leaves a note of what it used up for the session's end.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::session::model::TaskModel;
use crate::session::recorded::ReplyCharge;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;
use locum_base::chat::{Reply, StopReason, Usage};
use locum_base::clock::Clock;
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::reply_limits::{ReplyLimit, ReplyLimits};
use locum_models::retry::{self, LostAttempt, NextAttempt, RetryLimits, StreamObserver};
use locum_models::{ModelError, ModelRequest, RequestEstimate};
use locum_policy::budget::{Budget, Spent};
use locum_policy::spending_limit::{LimitUsage, Remaining};

/// Requests that were dropped before they were over.
pub(crate) type AbandonedRequests<'a> = Rc<RefCell<Vec<AbandonedRequest<'a>>>>;

/// What the run has spent: it grows while requests are under way.
pub(crate) type RunSpent = Rc<Cell<Spent>>;

/// What a dropped request used up.
pub(crate) struct AbandonedRequest<'a> {
    pub(crate) target: InFlightRequest<'a>,
    pub(crate) lost: LostAttempts,
}

/// The attempts of a request that broke.
pub(crate) struct LostAttempts {
    pub(crate) attempts: Vec<LostAttempt>,
    /// Why there was no other attempt, where there was nothing left to pay it with.
    pub(crate) stop: Option<Stop>,
}

/// What the attempts of a request have to fit.
pub(crate) struct SpendingBounds {
    /// What the request wants of its reply, and what of it is in a cache.
    pub(crate) terms: RequestTerms,
    /// The budget of the task that pays.
    pub(crate) budget: Budget,
    /// What the task had spent before: nothing else of it spends meanwhile.
    pub(crate) spent: Spent,
    /// What the ceilings leave to the run.
    pub(crate) remaining: Remaining,
    pub(crate) run_spent: RunSpent,
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
    pub(crate) lost: LostAttempts,
    /// How long the reply could get.
    pub(crate) limit: ReplyLimit,
}

/// A request under way.
pub(crate) struct InFlight<'a> {
    target: InFlightRequest<'a>,
    bounds: SpendingBounds,
    /// How long the reply of each model may get for what is left.
    reply_limits: ReplyLimits,
    limits: RetryLimits,
    clock: &'a dyn Clock,
    lost: Vec<LostAttempt>,
    abandoned: AbandonedRequests<'a>,
}

impl<'a> InFlight<'a> {
    /// Prepares a request; should it be dropped, `abandoned` holds what it used up.
    ///
    /// # Errors
    /// When no model that may be asked fits what may be spent: names the limit that the first one
    /// reaches.
    pub(crate) fn new(
        target: InFlightRequest<'a>,
        bounds: SpendingBounds,
        limits: RetryLimits,
        clock: &'a dyn Clock,
        abandoned: AbandonedRequests<'a>,
    ) -> Result<Self, Stop> {
        let (mut first, mut reply_limits) = (None, Vec::new());
        for answer in bounds.ask_each(target, &[]) {
            reply_limits.push(answer.unwrap_or_else(|stop| {
                first.get_or_insert(stop);
                ReplyLimit::Unaffordable
            }));
        }
        let is_covered = |limit: &ReplyLimit| *limit != ReplyLimit::Unaffordable;
        match first {
            Some(stop) if !reply_limits.iter().any(is_covered) => Err(stop),
            Some(_) | None => {
                let reply_limits = ReplyLimits::new(reply_limits);
                Ok(Self {
                    target,
                    bounds,
                    reply_limits,
                    limits,
                    clock,
                    lost: Vec::new(),
                    abandoned,
                })
            }
        }
    }

    /// Waits for a whole reply, as long as each attempt fits what may be spent.
    pub(crate) async fn whole(mut self, request: ModelRequest<'_>) -> CompletedRequest<'a> {
        let (target, bounds, mut stop) = (self.target, &self.bounds, None);
        let reply_limits = &self.reply_limits;
        let mut admit = |next: NextAttempt<'_>| match bounds.ask(target, next, reply_limits) {
            Ok(()) => true,
            Err(reached) => {
                stop = Some(reached);
                false
            }
        };
        let observer =
            StreamObserver { watch: &mut |_delta| {}, lost: &mut self.lost, admit: &mut admit };
        let estimate = RequestEstimate {
            input_tokens: target.estimate_tokens,
            reply_limits: Some(reply_limits),
        };
        // A limit would cut the image in two.
        let max_output_tokens =
            if request.picture.is_some() { None } else { most_tokens(reply_limits) };
        let request = ModelRequest { max_output_tokens, estimate, ..request };
        let model = target.model.model;
        let reply = retry::complete(model, request, self.limits, self.clock, observer).await;
        let attempts = std::mem::take(&mut self.lost);
        if let Err(ModelError::Unaffordable { model }) = &reply {
            let next = NextAttempt { lost: &attempts, by: Some(model.as_str()) };
            let reached = self.bounds.ask(target, next, &self.reply_limits).err();
            stop = stop.or(reached);
        }
        let by = reply.as_ref().ok().and_then(|reply| reply.by.as_deref());
        let limit = self.reply_limits.of(target.model.place_of(by));
        CompletedRequest { target, reply, lost: LostAttempts { attempts, stop }, limit }
    }
}

/// Returns the most tokens that a model may write, whichever is asked; `None` where that is as many
/// as its profile says.
fn most_tokens(limits: &ReplyLimits) -> Option<u32> {
    let mut most = None;
    for limit in limits.each() {
        match limit {
            ReplyLimit::Profile => return None,
            ReplyLimit::Tokens(tokens) => most = most.max(Some(tokens)),
            ReplyLimit::Unaffordable => {}
        }
    }
    most
}

impl CompletedRequest<'_> {
    /// Returns how many tokens a reply had where it was cut at its limit.
    pub(crate) fn cut_at(&self) -> Option<u32> {
        let reply = self.reply.as_ref().ok().filter(|reply| reply.stop == StopReason::Length)?;
        let ReplyLimit::Tokens(limit) = self.limit else { return None };
        let tokenizer = self.target.model.tokenizer_by(reply.by.as_deref());
        let written = || accounting::estimate_reply(tokenizer, reply);
        let output = reply.usage.map_or_else(written, |usage| usage.output);
        // One that ended long before was cut at another limit: its server's, or that of its window.
        (output >= u64::from(limit / 10 * 9)).then_some(limit)
    }
}

impl SpendingBounds {
    /// Asks whether another attempt fits, after what those before it used up, and limits replies to
    /// what is left now.
    ///
    /// # Errors
    /// Names the limit that is reached, and the model where it is a fallback.
    fn ask(
        &self,
        target: InFlightRequest<'_>,
        next: NextAttempt<'_>,
        limits: &ReplyLimits,
    ) -> Result<(), Stop> {
        let place = target.model.place_of(next.by);
        let mut asked = Ok(());
        for (other, answer) in self.ask_each(target, next.lost).enumerate() {
            limits.set(other, *answer.as_ref().unwrap_or(&ReplyLimit::Unaffordable));
            if other == place {
                asked = answer.map(|_limit| ());
            }
        }
        asked.map_err(|stop| match next.by {
            Some(by) => {
                let reason = format!("{}; the next request was for model `{by}`", stop.reason);
                Stop { reason, ..stop }
            }
            None => stop,
        })
    }

    /// Asks of each model of the chain whether an attempt fits; returns how long its reply may get.
    fn ask_each(
        &self,
        target: InFlightRequest<'_>,
        lost: &[LostAttempt],
    ) -> impl Iterator<Item = Result<ReplyLimit, Stop>> {
        let (mut task, mut run) = (self.spent, self.run_spent.get());
        for charge in lost.iter().map(|attempt| target.lost_charge(attempt)) {
            for spent in [&mut task, &mut run] {
                spent.usage.add(charge.usage);
                spent.cost_usd += charge.cost_usd;
            }
        }
        let (own, ceilings) = (self.budget.rest(&task), self.remaining.rest(&run));
        let left = LimitUsage {
            runs: 0,
            tokens: own.tokens.min(ceilings.tokens),
            cost_usd: own.cost_usd.min(ceilings.cost_usd),
        };
        target.model.chain().enumerate().map(move |(place, model)| -> Result<ReplyLimit, Stop> {
            let asked = self.terms.for_model(place, model, target.estimate_tokens).within(left);
            let least = asked.least();
            let least_usd = asked.cost(least);
            self.budget.ask_turn(&task, least.total(), least_usd)?;
            self.remaining.ask(&run, least.total(), least_usd)?;
            Ok(asked.limit(left))
        })
    }
}

impl InFlightRequest<'_> {
    /// Returns what is charged for an attempt that broke: what the provider counted, else an
    /// estimate.
    pub(crate) fn lost_charge(self, attempt: &LostAttempt) -> ReplyCharge {
        let by = attempt.by.as_deref();
        let tokenizer = self.model.tokenizer_by(by);
        let output = tokenizer.tokens(&attempt.text).saturating_add(attempt.other_tokens);
        let estimate = Usage { input: self.estimate_tokens, output, ..Usage::default() };
        // A provider says what it read at the beginning and what it wrote at the end, which may not
        // have come.
        let usage = attempt
            .usage
            .map_or(estimate, |said| Usage { output: said.output.max(output), ..said });
        let price = self.model.price_by(by);
        let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
        ReplyCharge { usage, estimated: true, cost_usd }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let attempts = std::mem::take(&mut self.lost);
        if !attempts.is_empty() {
            let lost = LostAttempts { attempts, stop: None };
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
