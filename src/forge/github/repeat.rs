//! How long a write waits before it is sent again, and when it is given up.
//!
//! In: what came of the last attempt. Out: the time to wait, or nothing. The budget is that of all
//! writes of one run together, apart from that of reads: a bad night ends a run, and does not hold
//! its machine for hours. It sleeps nothing itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ForgeError;

/// Seconds that all writes of one connection wait together.
const BUDGET_S: u64 = 300;

/// Seconds that one write waits in all.
const WRITE_LIMIT_S: u64 = 120;

/// Attempts at one write, the first included.
const ATTEMPTS: u32 = 6;

/// Seconds to wait at a limit that does not say how long: GitHub asks for "at least one minute".
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const LIMIT_WAIT_S: u64 = 60;

/// What all writes may still wait.
#[derive(Debug)]
pub(super) struct WriteBudget {
    left_s: AtomicU64,
}

impl Default for WriteBudget {
    fn default() -> Self {
        Self { left_s: AtomicU64::new(BUDGET_S) }
    }
}

impl WriteBudget {
    /// Takes seconds out of the budget; false when it holds fewer.
    fn take(&self, seconds: u64) -> bool {
        let rest = |left: u64| left.checked_sub(seconds);
        self.left_s.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
    }
}

/// What one write waited so far.
#[derive(Debug, Default)]
pub(super) struct WriteWaits {
    repeats: u32,
    waited_s: u64,
}

impl WriteWaits {
    /// Returns whether the write was sent more than once.
    pub(super) fn is_repeated(&self) -> bool {
        self.repeats > 0
    }

    /// Returns how long to wait before the write is sent again; `None` when it is not: waiting does
    /// not help, or would take too long.
    pub(super) fn next(&mut self, error: &ForgeError, budget: &WriteBudget) -> Option<Duration> {
        let wait_s = match error {
            ForgeError::RateLimited { retry_after_s, .. } => {
                retry_after_s.map_or(LIMIT_WAIT_S, |seconds| seconds.max(1))
            }
            ForgeError::Unavailable { .. } => 1 << self.repeats,
            ForgeError::Forbidden { .. }
            | ForgeError::NotFound { .. }
            | ForgeError::Conflict { .. }
            | ForgeError::Failed { .. } => return None,
        };
        let waited_s = self.waited_s.checked_add(wait_s)?;
        if self.repeats + 1 >= ATTEMPTS || waited_s > WRITE_LIMIT_S || !budget.take(wait_s) {
            return None;
        }
        (self.repeats, self.waited_s) = (self.repeats + 1, waited_s);
        Some(Duration::from_secs(wait_s))
    }
}

#[cfg(test)]
mod tests {
    use super::{WriteBudget, WriteWaits};
    use crate::ForgeError;
    use pretty_assertions::assert_eq;

    fn limited(retry_after_s: Option<u64>) -> ForgeError {
        ForgeError::RateLimited { forge: "github", action: "POST /x".to_owned(), retry_after_s }
    }

    fn unavailable() -> ForgeError {
        let (action, message) = ("POST /x".to_owned(), "502".to_owned());
        ForgeError::Unavailable { forge: "github", action, message }
    }

    /// The waits of one write that always fails the same way.
    fn waits(error: &ForgeError, budget: &WriteBudget) -> Vec<u64> {
        let mut waits = WriteWaits::default();
        std::iter::from_fn(|| waits.next(error, budget)).map(|wait| wait.as_secs()).collect()
    }

    #[test]
    fn waits_grow_and_follow_what_the_forge_asks_for() {
        let budget = WriteBudget::default();
        assert_eq!(waits(&unavailable(), &budget), [1, 2, 4, 8, 16]);
        assert_eq!(waits(&limited(Some(0)), &budget), [1, 1, 1, 1, 1]);
        assert_eq!(waits(&limited(Some(50)), &budget), [50, 50]);
        assert_eq!(waits(&limited(Some(121)), &budget), Vec::<u64>::new());
        assert_eq!(waits(&limited(Some(u64::MAX)), &budget), Vec::<u64>::new());
        let refused = ForgeError::NotFound { forge: "github", what: "/x".to_owned() };
        assert_eq!(waits(&refused, &budget), Vec::<u64>::new());
    }

    #[test]
    fn all_writes_together_have_one_budget() {
        let budget = WriteBudget::default();
        assert_eq!(waits(&limited(None), &budget), [60, 60]);
        assert_eq!(waits(&limited(None), &budget), [60, 60]);
        assert_eq!(waits(&limited(None), &budget), [60]);
        assert_eq!(waits(&unavailable(), &budget), Vec::<u64>::new());
    }
}
