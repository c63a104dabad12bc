//! `Embedder`: the model that embeds texts for a run, with the vectors that are known of its
//! repository.
//!
//! In: a prepared model. Out: vectors, for one search after the other: what one has embedded, the
//! next finds.
#![expect(
    clippy::disallowed_types,
    reason = "one search after the other asks the model: the next finds what the last embedded"
)]

use tokio::sync::{Mutex, MutexGuard};

use locum_index::vectors::Vectors;
use locum_models::embedding::EmbeddingModel;
use locum_policy::budget::Budget;

/// See the module.
#[derive(Debug)]
pub struct Embedder {
    model: EmbeddingModel,
    known: Mutex<EmbedderState>,
}

/// What searches leave to those behind them.
#[derive(Debug, Default)]
pub(crate) struct EmbedderState {
    /// The vectors that are known; `None` until the first search.
    pub(crate) vectors: Option<Vectors>,
    /// For each reply whose searches have sent something: what was left of the task's budget before
    /// them, and the tokens that they have sent. The budget is charged when all of them are over.
    replies: Vec<(Budget, u64)>,
}

impl EmbedderState {
    /// Returns the tokens that searches of the same reply have sent.
    pub(crate) fn sent_before(&self, rest: &Budget) -> u64 {
        let reply = self.replies.iter().find(|(of_reply, _)| of_reply == rest);
        reply.map_or(0, |(_, tokens)| *tokens)
    }

    /// Notes what a search has sent.
    pub(crate) fn note_sent(&mut self, rest: Budget, tokens: u64) {
        match self.replies.iter_mut().find(|(of_reply, _)| *of_reply == rest) {
            Some((_, sent)) => *sent = sent.saturating_add(tokens),
            None => self.replies.push((rest, tokens)),
        }
    }
}

impl Embedder {
    /// Makes one that knows nothing yet.
    pub fn new(model: EmbeddingModel) -> Self {
        Self { model, known: Mutex::default() }
    }

    /// Returns the model.
    pub(crate) fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    /// Waits until no other search is at work; returns what is known.
    pub(crate) async fn known(&self) -> MutexGuard<'_, EmbedderState> {
        self.known.lock().await
    }
}
