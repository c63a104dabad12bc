//! New limits for a run that was stopped and is let go on: each in all, or on top of what was used.
//!
//! In: what a person asked for, the budget and what was spent. Out: the new budget, or which limit
//! would still stop the run at once. Who may raise a budget, the caller decides.

use std::str::FromStr;

use crate::budget::{Budget, Exhausted, Spent};

/// A new limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewLimit<T> {
    /// This many in all: `80`.
    InAll(T),
    /// This many more than were used: `+20`.
    More(T),
}

/// New limits of a run; absent ones stay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewLimits {
    /// Most model replies.
    pub turns: Option<NewLimit<u32>>,
    /// Most tool calls.
    pub tool_calls: Option<NewLimit<u32>>,
    /// Input and output tokens together.
    pub tokens: Option<NewLimit<u64>>,
    /// US dollars by the price table.
    pub cost_usd: Option<NewLimit<f64>>,
    /// Wall time in minutes.
    pub minutes: Option<NewLimit<u32>>,
    /// Most files changed.
    pub files: Option<NewLimit<u32>>,
    /// Added and removed lines together.
    pub diff_lines: Option<NewLimit<u32>>,
}

/// A limit that only the policy may raise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{asked} is above the policy's `budget.{unit}` of {limit}")]
pub struct AbovePolicy {
    /// The limit's key.
    pub unit: &'static str,
    /// What was asked for.
    pub asked: String,
    /// What the policy says.
    pub limit: String,
}

impl<T: FromStr> FromStr for NewLimit<T> {
    type Err = T::Err;

    /// Reads `80` or `+20`.
    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text.strip_prefix('+') {
            // `+` belongs to the number for its parser, too; `++3` must not be read as a number.
            Some(more) => {
                let more = if more.starts_with('+') { "" } else { more };
                more.parse().map(Self::More)
            }
            None => text.parse().map(Self::InAll),
        }
    }
}

impl NewLimit<u32> {
    fn after(self, used: u32) -> u32 {
        match self {
            Self::InAll(limit) => limit,
            Self::More(more) => used.saturating_add(more),
        }
    }
}

impl NewLimits {
    /// Returns the budget with these limits, after so much was spent.
    pub fn applied(&self, budget: &Budget, spent: &Spent) -> Budget {
        let count = |new: Option<NewLimit<u32>>, limit: u32, used: u32| {
            new.map_or(limit, |new| new.after(used))
        };
        let used_minutes = u32::try_from(spent.seconds.div_ceil(60)).unwrap_or(u32::MAX);
        Budget {
            turns: count(self.turns, budget.turns, spent.turns),
            tool_calls: count(self.tool_calls, budget.tool_calls, spent.tool_calls),
            tokens: match self.tokens {
                Some(NewLimit::InAll(limit)) => limit,
                Some(NewLimit::More(more)) => spent.usage.total().saturating_add(more),
                None => budget.tokens,
            },
            cost_usd: match self.cost_usd {
                Some(NewLimit::InAll(limit)) => limit,
                Some(NewLimit::More(more)) => spent.cost_usd + more,
                None => budget.cost_usd,
            },
            minutes: count(self.minutes, budget.minutes, used_minutes),
            files: count(self.files, budget.files, spent.files),
            diff_lines: count(self.diff_lines, budget.diff_lines, spent.diff_lines),
        }
    }
}

impl Budget {
    /// Asks whether anything at all may still be done: which limit is used up by now?
    ///
    /// # Errors
    /// Names the limit.
    pub fn ask_anything(&self, spent: &Spent) -> Result<(), Exhausted> {
        self.ask_turn(spent, 0, 0.0)?;
        self.ask_call(spent)?;
        self.ask_changes(spent)
    }

    /// Asks whether a budget that replaces `before` stays below this one, the policy's, where it
    /// is raised.
    ///
    /// # Errors
    /// Names the first limit that does not.
    pub fn ask_raise(&self, before: &Self, raised: &Self) -> Result<(), AbovePolicy> {
        fn ask<T: PartialOrd + ToString>(
            unit: &'static str,
            [policy, before, raised]: [T; 3],
        ) -> Result<(), AbovePolicy> {
            if raised <= before || raised <= policy {
                return Ok(());
            }
            Err(AbovePolicy { unit, asked: raised.to_string(), limit: policy.to_string() })
        }
        ask("turns", [self.turns, before.turns, raised.turns])?;
        ask("tool_calls", [self.tool_calls, before.tool_calls, raised.tool_calls])?;
        ask("tokens", [self.tokens, before.tokens, raised.tokens])?;
        ask("cost_usd", [self.cost_usd, before.cost_usd, raised.cost_usd])?;
        ask("minutes", [self.minutes, before.minutes, raised.minutes])?;
        ask("files", [self.files, before.files, raised.files])?;
        ask("diff_lines", [self.diff_lines, before.diff_lines, raised.diff_lines])
    }

    /// Returns by how much each limit is above that of another budget.
    pub fn beyond(&self, other: &Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(other.turns),
            tool_calls: self.tool_calls.saturating_sub(other.tool_calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            cost_usd: (self.cost_usd - other.cost_usd).max(0.0),
            minutes: self.minutes.saturating_sub(other.minutes),
            files: self.files.saturating_sub(other.files),
            diff_lines: self.diff_lines.saturating_sub(other.diff_lines),
        }
    }

    /// Returns this budget with as much more of everything.
    pub fn and(&self, more: &Self) -> Self {
        Self {
            turns: self.turns.saturating_add(more.turns),
            tool_calls: self.tool_calls.saturating_add(more.tool_calls),
            tokens: self.tokens.saturating_add(more.tokens),
            cost_usd: self.cost_usd + more.cost_usd,
            minutes: self.minutes.saturating_add(more.minutes),
            files: self.files.saturating_add(more.files),
            diff_lines: self.diff_lines.saturating_add(more.diff_lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NewLimit, NewLimits};
    use crate::budget::{Budget, Spent};
    use locum_base::chat::Usage;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_limit_is_in_all_or_on_top_of_what_was_used() {
        assert_eq!("80".parse(), Ok(NewLimit::InAll(80_u32)));
        assert_eq!("+20".parse(), Ok(NewLimit::More(20_u32)));
        assert_eq!("+1.5".parse(), Ok(NewLimit::More(1.5_f64)));
        for wrong in ["", "+", "-3", "++3", "+-3", "x"] {
            assert!(wrong.parse::<NewLimit<u32>>().is_err(), "{wrong}");
        }
        let spent = Spent {
            turns: 58,
            cost_usd: 2.0,
            seconds: 61,
            files: 51,
            usage: Usage { input: 900, ..Usage::default() },
            ..Spent::default()
        };
        let limits = NewLimits {
            turns: Some(NewLimit::More(20)),
            tokens: Some(NewLimit::More(100)),
            cost_usd: Some(NewLimit::InAll(7.5)),
            minutes: Some(NewLimit::More(10)),
            files: Some(NewLimit::More(1)),
            ..NewLimits::default()
        };
        let budget = Budget::default();
        let raised = limits.applied(&budget, &spent);
        assert_eq!((raised.turns, raised.tokens, raised.minutes), (78, 1000, 12));
        assert_eq!((raised.files, raised.diff_lines), (52, budget.diff_lines));
        assert!((raised.cost_usd - 7.5).abs() < 1e-9);
    }

    #[test]
    fn what_only_the_policy_may_raise_is_named() {
        let policy = Budget::default();
        let before = Budget { turns: 10, files: 80, ..policy };
        let within = Budget { turns: 60, ..before };
        assert_eq!(policy.ask_raise(&before, &within), Ok(()), "what was above stays");
        let above = Budget { turns: 61, ..before };
        assert_eq!(
            policy.ask_raise(&before, &above).unwrap_err().to_string(),
            "61 is above the policy's `budget.turns` of 60"
        );
    }
}
