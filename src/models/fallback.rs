//! `FallbackChain`: a model and its fallbacks, in order.
//!
//! In: requests. Out: the reply of the first model that gives one, with its name where it is not
//! the one that was asked. The next one is asked when a model fails twice in a row, has nothing
//! left to pay with, or the conversation is too long for it and not for the next. It stays for a
//! while before the first is tried again. Pauses between attempts are `retry`'s part.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::{self, BoxStream, StreamExt};
use tracing::warn;

use crate::{Delta, Model, ModelError, ModelRequest};

/// Failed attempts in a row after which the next model is asked.
const FAILURES: usize = 2;
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
}

impl FallbackChain {
    /// Takes the models in the order they are asked; without a first one there is no chain.
    pub fn new(models: Vec<FallbackModel>) -> Option<Self> {
        (!models.is_empty()).then(|| Self { models, ..Self::default() })
    }

    fn begin(&self) -> usize {
        let at = self.at.load(Ordering::Relaxed);
        if at > 0 && self.stayed.fetch_add(1, Ordering::Relaxed) >= STAY_REQUESTS {
            self.go_to(0);
            return 0;
        }
        at
    }

    fn go_to(&self, at: usize) {
        self.at.store(at, Ordering::Relaxed);
        self.stayed.store(0, Ordering::Relaxed);
        self.failures.store(0, Ordering::Relaxed);
    }

    /// Returns the model to ask after a failure of the one at `at`; `None` when it is to be asked
    /// again or no fallback is left.
    fn after(&self, at: usize, err: &ModelError) -> Option<usize> {
        let window = |at: usize| self.models.get(at).map_or(0, |entry| entry.context_window);
        let next = match err {
            ModelError::TooLong { .. } => {
                (at + 1..self.models.len()).find(|next| window(*next) > window(at))
            }
            ModelError::Unavailable { .. } | ModelError::Garbled { .. } => {
                let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
                (failures >= FAILURES).then_some(at + 1)
            }
            ModelError::Rejected { status: 402 | 429, .. } | ModelError::Unreachable { .. } => {
                Some(at + 1)
            }
            ModelError::Rejected { .. }
            | ModelError::Unauthorized { .. }
            | ModelError::Script { .. } => None,
        };
        next.filter(|next| *next < self.models.len())
    }
}

impl Model for FallbackChain {
    fn label(&self) -> &str {
        self.models.first().map_or("", |entry| entry.model.label())
    }

    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        self.models.iter().any(|entry| entry.model.may_reply(request))
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let at = self.begin();
        stream::unfold(
            Some(FallbackAttempt { chain: self, request, at, deltas: None }),
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
    deltas: Option<BoxStream<'a, Result<Delta, ModelError>>>,
}

impl FallbackAttempt<'_> {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        let Some(deltas) = &mut self.deltas else {
            let entry = self.chain.models.get(self.at)?;
            self.deltas = Some(entry.model.stream(self.request));
            // A fallback gives its label.
            let by = (self.at > 0).then(|| Delta::By(entry.model.label().to_owned()));
            return match by {
                Some(by) => Some(Ok(by)),
                None => Box::pin(self.next()).await,
            };
        };
        let item = deltas.next().await;
        match &item {
            Some(Ok(Delta::Stop(_))) => self.chain.failures.store(0, Ordering::Relaxed),
            Some(Err(err)) => {
                if let Some(next) = self.chain.after(self.at, err) {
                    warn!(%err, next, "asking the next fallback");
                    self.chain.go_to(next);
                    self.at = next;
                    self.deltas = None;
                    return Some(Ok(Delta::Restart));
                }
            }
            Some(Ok(_)) | None => {}
        }
        item
    }
}

#[cfg(test)]
mod tests;
