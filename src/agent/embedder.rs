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

/// See the module.
#[derive(Debug)]
pub struct Embedder {
    model: EmbeddingModel,
    /// `None` until the first search.
    vectors: Mutex<Option<Vectors>>,
}

impl Embedder {
    /// Makes one that knows nothing yet.
    pub fn new(model: EmbeddingModel) -> Self {
        Self { model, vectors: Mutex::new(None) }
    }

    /// Returns the model.
    pub(crate) fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    /// Waits until no other search is at work; returns what is known, `None` before the first.
    pub(crate) async fn vectors(&self) -> MutexGuard<'_, Option<Vectors>> {
        self.vectors.lock().await
    }
}
