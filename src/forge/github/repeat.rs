//! How long a write to the forge waits before it is sent again: by what came of the last attempt,
//! within the budget of everything a run sends.

use std::time::Duration;

use crate::ForgeError;
use locum_base::retry::{RetryBudget, RetryWaits};

/// Seconds to wait at a limit that does not say how long: GitHub asks for "at least one minute".
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
const LIMIT_WAIT_S: u64 = 60;

/// Returns how long to wait before the write is sent again; `None` when it is not: waiting does not
/// help, or would take too long.
pub(super) fn next(
    waits: &mut RetryWaits,
    error: &ForgeError,
    budget: &RetryBudget,
) -> Option<Duration> {
    let wait_s = match error {
        ForgeError::RateLimited { retry_after_s, .. } => {
            retry_after_s.map_or(LIMIT_WAIT_S, |seconds| seconds.max(1))
        }
        ForgeError::Unavailable { .. } => waits.backoff_s(),
        ForgeError::Forbidden { .. }
        | ForgeError::NotFound { .. }
        | ForgeError::Conflict { .. }
        | ForgeError::Failed { .. } => return None,
    };
    waits.next(wait_s, budget)
}

#[cfg(test)]
mod tests {
    use crate::ForgeError;
    use locum_base::retry::{RetryBudget, RetryWaits};
    use pretty_assertions::assert_eq;

    fn limited(retry_after_s: Option<u64>) -> ForgeError {
        ForgeError::RateLimited { forge: "github", action: "POST /x".to_owned(), retry_after_s }
    }

    fn unavailable() -> ForgeError {
        let (action, message) = ("POST /x".to_owned(), "502".to_owned());
        ForgeError::Unavailable { forge: "github", action, message }
    }

    /// The waits of one write that always fails the same way.
    fn waits(error: &ForgeError, budget: &RetryBudget) -> Vec<u64> {
        let mut waits = RetryWaits::default();
        std::iter::from_fn(|| super::next(&mut waits, error, budget))
            .map(|wait| wait.as_secs())
            .collect()
    }

    #[test]
    fn waits_grow_and_follow_what_the_forge_asks_for() {
        let budget = RetryBudget::default();
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
        let budget = RetryBudget::default();
        assert_eq!(waits(&limited(None), &budget), [60, 60]);
        assert_eq!(waits(&limited(None), &budget), [60, 60]);
        assert_eq!(waits(&limited(None), &budget), [60]);
        assert_eq!(waits(&unavailable(), &budget), Vec::<u64>::new());
    }
}
