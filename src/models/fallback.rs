//! `FallbackChain`: a model and its fallbacks, in order.
//!
//! In: requests, with how long they are and what each model may write. Out: the reply of the first
//! model that gives one, with its name where it is not the one that was asked. The next one is
//! asked when a model fails twice in a row, has nothing left to pay with, or the conversation is
//! too long for it and not for the next. It stays for a while before the first is tried again. A
//! model that the conversation is too long for is passed over as long as another one may come
//! back, and one that the budget does not cover is never asked. Pauses between attempts are
//! `retry`'s part.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::stream::{self, BoxStream, StreamExt};
use tracing::warn;

use crate::reply_limits::ReplyLimit;
use crate::{Delta, Model, ModelError, ModelRequest};

/// Failed attempts in a row after which the next model is asked.
const FAILURES: usize = 2;
/// The same where no next model both has room for the conversation and is covered by the budget:
/// asking one costs the conversation its beginning, or ends the run.
const PATIENT_FAILURES: usize = 4;
/// Requests the next model answers before the first is tried again.
const STAY_REQUESTS: usize = 20;

/// A model of a chain.
pub struct FallbackModel {
    /// Model of this link.
    pub model: Box<dyn Model>,
    /// Tokens it can read and write in one request.
    pub context_window: u32,
}

/// A model and its fallbacks.
#[derive(Default)]
pub struct FallbackChain {
    models: Vec<FallbackModel>,
    /// The one that is asked now.
    at: AtomicUsize,
    /// Failed attempts in a row.
    failures: AtomicUsize,
    /// Requests since the one that is asked now took over.
    stayed: AtomicUsize,
    /// Whether the models with larger windows were tried since the last reply.
    larger_tried: AtomicBool,
}

/// How long a model is waited for that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// It may come back: a next model has to have room for the conversation and be covered by the
    /// budget.
    MayComeBack,
    /// It will not, or was waited for: any next model will do.
    IsGone,
}

impl FallbackChain {
    /// Takes the models in the order they are asked; without a first one there is no chain.
    pub fn new(models: Vec<FallbackModel>) -> Option<Self> {
        (!models.is_empty()).then(|| Self { models, ..Self::default() })
    }

    /// Returns the model to ask first.
    fn begin(&self, request: &ModelRequest<'_>) -> usize {
        let at = self.at.load(Ordering::Relaxed);
        if at == 0 {
            return 0;
        }
        let stayed = self.stayed.fetch_add(1, Ordering::Relaxed);
        let takes = |at: &usize| self.has_room(*at, request) && is_affordable(*at, request);
        if stayed < STAY_REQUESTS && takes(&at) {
            return at;
        }
        match (0..self.models.len()).find(takes) {
            Some(other) if other != at => {
                self.go_to(other);
                other
            }
            Some(_) | None => at,
        }
    }

    fn go_to(&self, at: usize) {
        self.at.store(at, Ordering::Relaxed);
        self.stayed.store(0, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
    }

    /// Returns the model to ask after a failure of the one at `at`; `None` when it is to be asked
    /// again or no other is left.
    fn after(&self, at: usize, err: &ModelError, request: &ModelRequest<'_>) -> Option<usize> {
        match err {
            ModelError::TooLong { .. } => self.larger(at, request),
            ModelError::Unavailable { .. }
            | ModelError::NotConnected { .. }
            | ModelError::Garbled { .. } => {
                let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
                let may_come_back = !matches!(err, ModelError::Garbled { .. });
                let patience = if may_come_back && failures < PATIENT_FAILURES {
                    Patience::MayComeBack
                } else {
                    Patience::IsGone
                };
                if failures >= FAILURES { self.next(at, request, patience) } else { None }
            }
            ModelError::QuotaExhausted { .. }
            | ModelError::Rejected { status: 429, .. }
            | ModelError::Unreachable { .. } => self.next(at, request, Patience::IsGone),
            ModelError::Rejected { .. }
            | ModelError::Unauthorized { .. }
            | ModelError::Unaffordable { .. }
            | ModelError::Script { .. } => None,
        }
    }

    /// Returns a model with a larger window than the one at `at`: a later one, or, once between two
    /// replies, an earlier one, which may have come back.
    fn larger(&self, at: usize, request: &ModelRequest<'_>) -> Option<usize> {
        let is_larger =
            |other: &usize| self.window(*other) > self.window(at) && is_affordable(*other, request);
        (at + 1..self.models.len()).find(is_larger).or_else(|| {
            let earlier = (0..at).find(is_larger)?;
            (!self.larger_tried.swap(true, Ordering::Relaxed)).then_some(earlier)
        })
    }

    /// Returns the next model after the one at `at`: the first one that has room for the request
    /// and is covered by the budget; else one that is covered, or one that has room.
    fn next(&self, at: usize, request: &ModelRequest<'_>, patience: Patience) -> Option<usize> {
        let later = || at + 1..self.models.len();
        let has_room = |next: &usize| self.has_room(*next, request);
        let covered = |next: &usize| is_affordable(*next, request);
        if let Some(next) = later().find(|next| has_room(next) && covered(next)) {
            return Some(next);
        }
        if patience == Patience::MayComeBack {
            return None;
        }
        match later().find(covered) {
            Some(any) => {
                // Where the conversation is too long for this one, no earlier model is asked again.
                self.larger_tried.store(true, Ordering::Relaxed);
                Some(any)
            }
            None => later().find(has_room),
        }
    }

    fn window(&self, at: usize) -> u32 {
        self.models.get(at).map_or(0, |entry| entry.context_window)
    }

    /// Returns false where a request is known to be too long for a model.
    fn has_room(&self, at: usize, request: &ModelRequest<'_>) -> bool {
        request.estimate.input_tokens < u64::from(self.window(at))
    }
}

/// Returns false where the budget does not cover a request to the model at this place.
fn is_affordable(at: usize, request: &ModelRequest<'_>) -> bool {
    request.estimate.limit_of(at) != ReplyLimit::Unaffordable
}

impl Model for FallbackChain {
    fn label(&self) -> &str {
        self.models.first().map_or("", |entry| entry.model.label())
    }

    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        self.models.iter().any(|entry| entry.model.may_reply(request))
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let at = self.begin(&request);
        stream::unfold(
            Some(FallbackAttempt { chain: self, request, at, is_named: false, deltas: None }),
            |attempt| async {
                let mut attempt = attempt?;
                let item = attempt.next().await?;
                let rest = item.is_ok().then_some(attempt);
                Some((item, rest))
            },
        )
        .boxed()
    }
}

/// One request on its way through the chain.
struct FallbackAttempt<'a> {
    chain: &'a FallbackChain,
    request: ModelRequest<'a>,
    at: usize,
    /// Whether the model at `at` gave its label, which a fallback does before it is asked.
    is_named: bool,
    deltas: Option<BoxStream<'a, Result<Delta, ModelError>>>,
}

impl FallbackAttempt<'_> {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        let Some(deltas) = &mut self.deltas else {
            let entry = self.chain.models.get(self.at)?;
            if self.at > 0 && !self.is_named {
                self.is_named = true;
                return Some(Ok(Delta::By(entry.model.label().to_owned())));
            }
            let Some(request) = limited(self.request, self.at) else {
                let model = entry.model.label().to_owned();
                return Some(Err(ModelError::Unaffordable { model }));
            };
            self.deltas = Some(entry.model.stream(request));
            return Box::pin(self.next()).await;
        };
        let item = deltas.next().await;
        match &item {
            Some(Ok(Delta::Stop(_))) => {
                self.chain.failures.store(0, Ordering::Relaxed);
                self.chain.larger_tried.store(false, Ordering::Relaxed);
            }
            Some(Err(err)) => {
                if let Some(next) = self.chain.after(self.at, err, &self.request) {
                    warn!(%err, next, "asking another model of the pointer");
                    self.chain.go_to(next);
                    self.at = next;
                    self.is_named = false;
                    self.deltas = None;
                    return Some(Ok(Delta::Restart));
                }
            }
            Some(Ok(_)) | None => {}
        }
        item
    }
}

/// Returns a request as the model at this place is sent it; `None` where the budget does not cover
/// it.
fn limited(request: ModelRequest<'_>, at: usize) -> Option<ModelRequest<'_>> {
    let most = match request.estimate.limit_of(at) {
        ReplyLimit::Unaffordable => return None,
        // A limit would cut the image in two.
        ReplyLimit::Tokens(most) if request.picture.is_none() => Some(most),
        ReplyLimit::Tokens(_) | ReplyLimit::Profile => None,
    };
    let max_output_tokens = [request.max_output_tokens, most].into_iter().flatten().min();
    Some(ModelRequest { max_output_tokens, ..request })
}

#[cfg(test)]
mod tests;
