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
    /// What was left of a task's budget before searches of one reply, and the tokens that they have
    /// sent since: the budget is charged when all of them are over.
    pub(crate) reply: Option<(Budget, u64)>,
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
