//! Which part of git's talk with a remote is tried again: what a network, a gateway or a busy
//! server failed, and never a refusal.

use std::fmt;
use std::sync::Arc;

use crate::repo::RepoError;
use locum_base::clock::Clock;
use locum_base::retry::{RetryBudget, RetryWaits};

/// Words of git and its libraries, in small letters, for what passes by itself. git has no other
/// sign for it than these.
const PASSING: &[&str] = &[
    "could not resolve host",
    "couldn't connect",
    "could not connect",
    "failed to connect",
    "connection refused",
    "connection reset",
    "connection timed out",
    "operation timed out",
    "recv failure",
    "send failure",
    "empty reply from server",
    "the remote end hung up",
    "unexpected disconnect",
    "early eof",
    "transfer closed",
    "tls connection was non-properly terminated",
    "ssl_error_syscall",
    "error: 429",
    "error: 500",
    "error: 502",
    "error: 503",
    "error: 504",
    "http 429",
    "http 500",
    "http 502",
    "http 503",
    "http 504",
];

/// What lets one wait for a remote.
#[derive(Clone)]
pub(super) struct Patience {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) budget: Arc<RetryBudget>,
}

impl Patience {
    /// Waits before something is tried again.
    ///
    /// # Errors
    /// The error itself where it does not pass, or the budget of waits is used up.
    pub(super) async fn wait(
        &self,
        waits: &mut RetryWaits,
        error: RepoError,
    ) -> Result<(), RepoError> {
        let passes = is_passing(&error);
        let pause = passes.then(|| waits.next(waits.backoff_s(), &self.budget)).flatten();
        let Some(pause) = pause else { return Err(error) };
        self.clock.sleep(pause).await;
        Ok(())
    }
}

/// Returns whether something may work after a moment.
pub(super) fn is_passing(error: &RepoError) -> bool {
    let RepoError::Binary { message, .. } = error else { return false };
    let message = message.to_ascii_lowercase();
    PASSING.iter().any(|sign| message.contains(sign))
}

impl fmt::Debug for Patience {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Patience").field("budget", &self.budget).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
