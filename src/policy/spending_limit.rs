//! Ceilings: what the runs of a day, or those on one issue or pull request, may spend together.
//!
//! In: the policy's ceilings, and what other runs took of them. Out: a [`Remaining`] for one run,
//! asked before each of its requests. Where the record is kept, and what day it is, is the
//! caller's.

use serde::Serialize;

use crate::budget::Spent;

/// What several runs may spend together; without a value, there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpendingLimit {
    /// Runs that may begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Input and output tokens together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars by the price table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The ceilings of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpendingLimits {
    /// Of all runs that begin on one day, by UTC.
    pub daily: SpendingLimit,
    /// Of all runs on one issue or pull request.
    pub per_thread: SpendingLimit,
}

/// What was, or may be, taken of a ceiling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitUsage {
    /// Runs that began.
    pub runs: u64,
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars by the price table.
    pub cost_usd: f64,
}

/// Which ceiling a limit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitScope {
    /// That of a day.
    Daily,
    /// That of an issue or pull request.
    Thread,
}

/// What the ceilings leave to one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remaining {
    bounds: Vec<RemainingBound>,
}

#[derive(Clone, Debug, PartialEq)]
struct RemainingBound {
    scope: LimitScope,
    amount: RemainingAmount,
}

/// A limit, what others took of it, and how far the run's own total may go. It counts from where
/// the run resumes after a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RemainingAmount {
    Runs { limit: u64 },
    Tokens { limit: u64, others: u64, own_most: u64 },
    Dollars { limit: f64, others: f64, own_most: f64 },
}

/// A ceiling that is reached.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the {0}")]
pub struct ReachedLimit(String);

impl SpendingLimit {
    /// Returns true when it has no limit.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl SpendingLimits {
    /// Returns true when nothing has to be kept count of for a run with or without a thread.
    pub fn is_none(&self, thread: Option<u64>) -> bool {
        self.daily.is_none() && (thread.is_none() || self.per_thread.is_none())
    }
}

impl std::fmt::Display for SpendingLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let runs = self.runs.map(|runs| format!("{runs} runs"));
        let tokens = self.tokens.map(|tokens| format!("{tokens} tokens"));
        let cost = self.cost_usd.map(|cost| format!("${cost:.2}"));
        let words: Vec<String> = [runs, tokens, cost].into_iter().flatten().collect();
        formatter.write_str(&words.join(" · "))
    }
}

/// How far a run's total may go and what it asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReservationRequest {
    /// True for a run that begins, false for one that resumes.
    pub is_new: bool,
    /// What it had spent before; it was charged already.
    pub before: LimitUsage,
    /// What it may spend from here on by its own budget.
    pub most: LimitUsage,
    /// False where no model of the run has a price: dollars do not bind it.
    pub is_priced: bool,
}

impl Remaining {
    /// Bounds the run by a ceiling of which others took `others`. Returns which part of
    /// `request.most` the ceiling leaves.
    pub fn bind(
        &mut self,
        scope: LimitScope,
        spending_limit: &SpendingLimit,
        others: &LimitUsage,
        request: &ReservationRequest,
    ) -> LimitUsage {
        let mut left = request.most;
        if let Some(limit) =
            spending_limit.runs.filter(|limit| request.is_new && others.runs >= *limit)
        {
            self.bounds.push(RemainingBound { scope, amount: RemainingAmount::Runs { limit } });
        }
        if let Some(limit) = spending_limit.tokens {
            left.tokens = left.tokens.min(limit.saturating_sub(others.tokens));
            let own_most =
                request.before.tokens.saturating_add(limit.saturating_sub(others.tokens));
            self.bounds.push(RemainingBound {
                scope,
                amount: RemainingAmount::Tokens { limit, others: others.tokens, own_most },
            });
        }
        if let Some(limit) = spending_limit.cost_usd.filter(|_| request.is_priced) {
            let rest = (limit - others.cost_usd).max(0.0);
            left.cost_usd = left.cost_usd.min(rest);
            let own_most = request.before.cost_usd + rest;
            self.bounds.push(RemainingBound {
                scope,
                amount: RemainingAmount::Dollars { limit, others: others.cost_usd, own_most },
            });
        }
        left
    }

    /// Asks whether one more request of about this many tokens and dollars fits.
    ///
    /// # Errors
    /// Names the ceiling that is reached.
    pub fn ask(
        &self,
        spent: &Spent,
        estimate_tokens: u64,
        estimate_usd: f64,
    ) -> Result<(), ReachedLimit> {
        self.bounds.iter().try_for_each(|bound| bound.ask(spent, estimate_tokens, estimate_usd))
    }

    /// Returns how many tokens and dollars the run may spend on top of what it has; without a
    /// ceiling, the largest numbers.
    pub fn rest(&self, spent: &Spent) -> LimitUsage {
        let all = LimitUsage { runs: 0, tokens: u64::MAX, cost_usd: f64::INFINITY };
        self.bounds.iter().fold(all, |left, bound| match bound.amount {
            RemainingAmount::Runs { .. } => left,
            RemainingAmount::Tokens { own_most, .. } => {
                let tokens = own_most.saturating_sub(spent.usage.total());
                LimitUsage { tokens: left.tokens.min(tokens), ..left }
            }
            RemainingAmount::Dollars { own_most, .. } => {
                let cost_usd = (own_most - spent.cost_usd).max(0.0);
                LimitUsage { cost_usd: left.cost_usd.min(cost_usd), ..left }
            }
        })
    }
}

impl RemainingBound {
    fn ask(
        &self,
        spent: &Spent,
        estimate_tokens: u64,
        estimate_usd: f64,
    ) -> Result<(), ReachedLimit> {
        match self.amount {
            RemainingAmount::Runs { limit } => {
                Err(self.reached(format!("{limit} runs"), "that many have begun".to_owned()))
            }
            RemainingAmount::Tokens { limit, others, own_most } => {
                let own = spent.usage.total();
                if own < own_most && own.saturating_add(estimate_tokens) <= own_most {
                    return Ok(());
                }
                let taken = format!(
                    "other runs have {others} of it, this one spent {own}, and its next request \
                     takes about {estimate_tokens}"
                );
                Err(self.reached(format!("{limit} tokens"), taken))
            }
            RemainingAmount::Dollars { limit, others, own_most } => {
                let own = spent.cost_usd;
                if own < own_most && own + estimate_usd <= own_most {
                    return Ok(());
                }
                let taken = format!(
                    "other runs have {others:.2} of it, this one spent {own:.2}, and its next \
                     request takes about {estimate_usd:.2}"
                );
                Err(self.reached(format!("{limit:.2} dollars"), taken))
            }
        }
    }

    fn reached(&self, limit: String, taken: String) -> ReachedLimit {
        let (scope, key) = match self.scope {
            LimitScope::Daily => ("daily", "daily"),
            LimitScope::Thread => ("thread's", "per_thread"),
        };
        ReachedLimit(format!(
            "{scope} ceiling of {limit} is reached: {taken} (`budget.{key}` in the policy)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{LimitScope, LimitUsage, Remaining, ReservationRequest, SpendingLimit};
    use crate::budget::Spent;
    use locum_base::chat::Usage;
    use pretty_assertions::assert_eq;

    const CEILING: SpendingLimit =
        SpendingLimit { runs: Some(3), tokens: Some(1000), cost_usd: Some(2.0) };

    fn request(is_new: bool, before: LimitUsage, is_priced: bool) -> ReservationRequest {
        ReservationRequest {
            is_new,
            before,
            most: LimitUsage { runs: 0, tokens: 600, cost_usd: 1.5 },
            is_priced,
        }
    }

    fn spent(tokens: u64, cost_usd: f64) -> Spent {
        Spent { usage: Usage { input: tokens, ..Usage::default() }, cost_usd, ..Spent::default() }
    }

    #[test]
    fn leaves_a_run_what_others_left_and_no_more() {
        for (others, tokens, cost_usd) in
            [(0, 600, 1.5), (400, 600, 1.5), (700, 300, 1.5), (1000, 0, 1.5), (9000, 0, 1.5)]
        {
            let taken = LimitUsage { runs: 1, tokens: others, cost_usd: 0.0 };
            let left = Remaining::default().bind(
                LimitScope::Daily,
                &CEILING,
                &taken,
                &request(true, LimitUsage::default(), true),
            );
            assert_eq!((left.tokens, left.cost_usd), (tokens, cost_usd), "{others}");
        }
    }

    #[test]
    fn stops_before_the_request_that_would_pass_a_ceiling() {
        let mut remaining = Remaining::default();
        let others = LimitUsage { runs: 2, tokens: 700, cost_usd: 1.5 };
        remaining.bind(
            LimitScope::Daily,
            &CEILING,
            &others,
            &request(true, LimitUsage::default(), true),
        );
        assert_eq!(remaining.ask(&spent(200, 0.2), 100, 0.3), Ok(()));
        for (tokens, cost_usd, estimate, estimate_usd, word) in [
            (200, 0.2, 101, 0.0, "tokens"),
            (300, 0.2, 0, 0.0, "tokens"),
            (0, 0.5, 0, 0.0, "dollars"),
            (0, 0.2, 0, 0.31, "dollars"),
        ] {
            let message = remaining
                .ask(&spent(tokens, cost_usd), estimate, estimate_usd)
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with("the daily ceiling of ") && message.contains(word),
                "{message}"
            );
        }
    }

    #[test]
    fn the_least_of_the_ceilings_is_what_a_run_may_still_spend() {
        let mut remaining = Remaining::default();
        let rest = |remaining: &Remaining, spent: Spent| {
            let rest = remaining.rest(&spent);
            (rest.tokens, rest.cost_usd)
        };
        assert_eq!(rest(&remaining, spent(900, 9.0)), (u64::MAX, f64::INFINITY));
        let request = request(true, LimitUsage::default(), true);
        let others = LimitUsage { runs: 2, tokens: 700, cost_usd: 0.5 };
        remaining.bind(LimitScope::Daily, &CEILING, &others, &request);
        assert_eq!(rest(&remaining, spent(100, 0.5)), (200, 1.0));
        let others = LimitUsage { runs: 2, tokens: 100, cost_usd: 1.25 };
        remaining.bind(LimitScope::Thread, &CEILING, &others, &request);
        assert_eq!(rest(&remaining, spent(100, 0.5)), (200, 0.25));
        assert_eq!(rest(&remaining, spent(900, 9.0)), (0, 0.0));
    }

    #[test]
    fn a_run_that_goes_on_counts_from_where_it_was_and_is_no_new_one() {
        let others = LimitUsage { runs: 3, tokens: 900, cost_usd: 0.0 };
        let before = LimitUsage { runs: 1, tokens: 500, cost_usd: 0.0 };
        let mut resumed = Remaining::default();
        resumed.bind(LimitScope::Thread, &CEILING, &others, &request(false, before, false));
        assert_eq!(resumed.ask(&spent(500, 0.0), 100, 0.0), Ok(()));
        assert!(resumed.ask(&spent(500, 0.0), 101, 0.0).is_err());
        let mut first_run = Remaining::default();
        first_run.bind(
            LimitScope::Thread,
            &CEILING,
            &others,
            &request(true, LimitUsage::default(), false),
        );
        let message = first_run.ask(&spent(0, 0.0), 0, 0.0).unwrap_err().to_string();
        assert_eq!(
            message,
            "the thread's ceiling of 3 runs is reached: that many have begun (`budget.per_thread` \
             in the policy)"
        );
    }

    #[test]
    fn dollars_bind_only_what_has_a_price() {
        let others = LimitUsage { runs: 0, tokens: 0, cost_usd: 9.0 };
        for (is_priced, fits) in [(false, true), (true, false)] {
            let mut remaining = Remaining::default();
            remaining.bind(
                LimitScope::Daily,
                &CEILING,
                &others,
                &request(true, LimitUsage::default(), is_priced),
            );
            assert_eq!(remaining.ask(&spent(0, 0.0), 10, 0.0).is_ok(), fits);
        }
    }
}
