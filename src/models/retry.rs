//! `complete`: one whole reply from a model, tried again while the fault is a passing one.

use std::time::Duration;

use crate::base::chat::Reply;
use crate::base::clock::Clock;
use crate::models::{Delta, Model, ModelError, ModelRequest};

/// How often and how long a request is tried again.
#[derive(Clone, Copy, Debug)]
pub struct RetryLimits {
    /// Attempts in all.
    pub attempts: u32,
    /// First pause; doubled each time, with jitter.
    pub base: Duration,
    /// Longest pause, also for what the provider asks for.
    pub longest: Duration,
    /// Wall time in all, pauses included.
    pub total: Duration,
}

/// Sends a request until there is a whole reply. `watch` sees every delta as it comes, `Restart` between attempts.
///
/// # Errors
/// The last error when it is not a passing one or the limits are reached.
pub async fn complete(
    _model: &dyn Model,
    _request: ModelRequest<'_>,
    _limits: RetryLimits,
    _clock: &dyn Clock,
    _watch: &mut (dyn FnMut(&Delta) + Send),
) -> Result<Reply, ModelError> {
    todo!()
}
