//! How long something that failed for a moment waits before it is tried again, and when it is given
//! up.
//!
//! In: the time that one more try would wait. Out: that time, or nothing. One budget is that of all
//! that a run sends: a bad night ends a run, and does not hold its machine for hours. It sleeps
//! nothing itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Seconds that everything with one budget waits together.
const BUDGET_S: u64 = 300;

/// Seconds that one request waits in all.
const REQUEST_LIMIT_S: u64 = 120;

/// Attempts at one request, the first included.
const ATTEMPTS: u32 = 6;

/// What all requests together may still wait.
#[derive(Debug)]
pub struct RetryBudget {
    left_s: AtomicU64,
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { left_s: AtomicU64::new(BUDGET_S) }
    }
}

impl RetryBudget {
    /// Takes seconds out of the budget; false when it holds fewer.
    fn take(&self, seconds: u64) -> bool {
        let rest = |left: u64| left.checked_sub(seconds);
        self.left_s.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok()
    }
}

/// What one request waited so far.
#[derive(Debug, Default)]
pub struct RetryWaits {
    repeats: u32,
    waited_s: u64,
}

impl RetryWaits {
    /// Returns whether the request was sent more than once.
    pub fn is_repeated(&self) -> bool {
        self.repeats > 0
    }

    /// Returns the wait where nobody says how long: 1 s, and twice as long each time.
    pub fn backoff_s(&self) -> u64 {
        1 << self.repeats
    }

    /// Returns how long to wait before the request is sent again; `None` when that would take too
    /// long.
    pub fn next(&mut self, wait_s: u64, budget: &RetryBudget) -> Option<Duration> {
        let waited_s = self.waited_s.checked_add(wait_s)?;
        if self.repeats + 1 >= ATTEMPTS || waited_s > REQUEST_LIMIT_S || !budget.take(wait_s) {
            return None;
        }
        (self.repeats, self.waited_s) = (self.repeats + 1, waited_s);
        Some(Duration::from_secs(wait_s))
    }
}
