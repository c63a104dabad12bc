//! Budgets: limits a run may not pass, and the ledger of what it spent. Counts only; the clock is
//! the caller's.

use serde::{Deserialize, Serialize};

use locum_base::chat::Usage;

/// What a run, or a sub-task, may spend. Every limit is a hard stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Model replies.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// Wall time in minutes.
    pub minutes: u32,
    /// Changed files.
    pub files: u32,
    /// Added and removed lines together.
    pub diff_lines: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turns: 60,
            tool_calls: 400,
            tokens: 2_000_000,
            cost_usd: 5.0,
            minutes: 30,
            files: 50,
            diff_lines: 3000,
        }
    }
}

/// What was spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Model replies.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tokens as counted by the provider, or estimated where it did not say.
    pub usage: Usage,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// Wall time in seconds.
    pub seconds: u64,
    /// Changed files.
    pub files: u32,
    /// Added and removed lines together.
    pub diff_lines: u32,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("budget of {limit} {unit} is used up ({spent} spent)")]
pub struct Exhausted {
    /// The limit's key in the policy: `turns`, `cost_usd`, ...
    pub unit: String,
    /// The limit, as shown.
    pub limit: String,
    /// What was spent, as shown.
    pub spent: String,
}

/// Limits below this are used up before a word about them would help.
const LOW_LEAST: u64 = 10;

impl Budget {
    /// Asks whether one more model reply fits whose request has about so many tokens and costs
    /// about so much.
    ///
    /// # Errors
    /// Names the limit that is reached.
    pub fn ask_turn(
        &self,
        spent: &Spent,
        estimate_tokens: u64,
        estimate_usd: f64,
    ) -> Result<(), Exhausted> {
        ask("turns", u64::from(spent.turns) < u64::from(self.turns), self.turns, spent.turns)?;
        let tokens = spent.usage.total();
        ask(
            "tokens",
            tokens.saturating_add(estimate_tokens) <= self.tokens && tokens < self.tokens,
            self.tokens,
            tokens,
        )?;
        let fits = spent.cost_usd < self.cost_usd && spent.cost_usd + estimate_usd <= self.cost_usd;
        ask(
            "cost_usd",
            fits || self.costs_nothing(spent, estimate_usd),
            dollars(self.cost_usd),
            dollars(spent.cost_usd),
        )?;
        self.ask_time(spent)
    }

    /// Asks whether one more tool call fits.
    ///
    /// # Errors
    /// Names the limit that is reached.
    pub fn ask_call(&self, spent: &Spent) -> Result<(), Exhausted> {
        ask("tool_calls", spent.tool_calls < self.tool_calls, self.tool_calls, spent.tool_calls)?;
        self.ask_time(spent)
    }

    /// Asks whether the changes made so far fit (`files`, `diff_lines`).
    ///
    /// # Errors
    /// Names the limit that is passed.
    pub fn ask_changes(&self, spent: &Spent) -> Result<(), Exhausted> {
        ask("files", spent.files <= self.files, self.files, spent.files)?;
        ask("diff_lines", spent.diff_lines <= self.diff_lines, self.diff_lines, spent.diff_lines)
    }

    /// Returns which limit is nearly reached, `50 of 60 turns`: four fifths of it are used up.
    /// Limits of a few turns or calls are passed over.
    #[must_use]
    pub fn low(&self, spent: &Spent) -> Option<String> {
        let near = |used: u64, limit: u64| {
            limit >= LOW_LEAST && used < limit && used.saturating_mul(5) >= limit.saturating_mul(4)
        };
        let of = |used: u64, limit: u64, unit: &str| {
            near(used, limit).then(|| format!("{used} of {limit} {unit}"))
        };
        of(u64::from(spent.turns), u64::from(self.turns), "turns")
            .or_else(|| of(u64::from(spent.tool_calls), u64::from(self.tool_calls), "tool calls"))
            .or_else(|| of(spent.usage.total(), self.tokens, "tokens"))
            .or_else(|| {
                let is_near = self.cost_usd > 0.0
                    && spent.cost_usd < self.cost_usd
                    && spent.cost_usd >= self.cost_usd * 0.8;
                is_near.then(|| {
                    format!("{} of {} dollars", dollars(spent.cost_usd), dollars(self.cost_usd))
                })
            })
    }

    /// Returns what a sub-task may spend: the rest of this budget, cut down to `asked` where given.
    #[must_use]
    pub fn carve(&self, spent: &Spent, asked: Option<Self>) -> Self {
        let spent_minutes = u32::try_from(spent.seconds.div_ceil(60)).unwrap_or(u32::MAX);
        let rest = Self {
            turns: self.turns.saturating_sub(spent.turns),
            tool_calls: self.tool_calls.saturating_sub(spent.tool_calls),
            tokens: self.tokens.saturating_sub(spent.usage.total()),
            cost_usd: (self.cost_usd - spent.cost_usd).max(0.0),
            minutes: self.minutes.saturating_sub(spent_minutes),
            files: self.files.saturating_sub(spent.files),
            diff_lines: self.diff_lines.saturating_sub(spent.diff_lines),
        };
        asked.map_or(rest, |asked| rest.at_most(&asked))
    }

    /// Returns so many of `all` equal shares, to be spent beside the others: all of the time, and a
    /// part of everything else.
    #[must_use]
    pub fn share(&self, shares: u32, all: u32) -> Self {
        let all = all.max(shares).max(1);
        let part = |whole: u32| {
            u32::try_from(u64::from(whole) * u64::from(shares) / u64::from(all)).unwrap_or(whole)
        };
        Self {
            turns: part(self.turns),
            tool_calls: part(self.tool_calls),
            tokens: self.tokens / u64::from(all) * u64::from(shares),
            cost_usd: self.cost_usd * f64::from(shares) / f64::from(all),
            minutes: self.minutes,
            files: part(self.files),
            diff_lines: part(self.diff_lines),
        }
    }

    /// Returns the smaller of two budgets, limit by limit: settings and flags tighten a policy,
    /// never widen it.
    #[must_use]
    pub fn at_most(&self, other: &Self) -> Self {
        Self {
            turns: self.turns.min(other.turns),
            tool_calls: self.tool_calls.min(other.tool_calls),
            tokens: self.tokens.min(other.tokens),
            cost_usd: self.cost_usd.min(other.cost_usd),
            minutes: self.minutes.min(other.minutes),
            files: self.files.min(other.files),
            diff_lines: self.diff_lines.min(other.diff_lines),
        }
    }

    fn ask_time(&self, spent: &Spent) -> Result<(), Exhausted> {
        let limit_s = u64::from(self.minutes).saturating_mul(60);
        ask("minutes", spent.seconds < limit_s, self.minutes, spent.seconds / 60)
    }

    /// A limit of zero dollars still lets free models (local, scripted) work.
    fn costs_nothing(&self, spent: &Spent, estimate_usd: f64) -> bool {
        self.cost_usd <= 0.0 && spent.cost_usd <= 0.0 && estimate_usd <= 0.0
    }
}

fn ask(
    unit: &str,
    fits: bool,
    limit: impl ToString,
    spent: impl ToString,
) -> Result<(), Exhausted> {
    if fits {
        return Ok(());
    }
    Err(Exhausted { unit: unit.to_owned(), limit: limit.to_string(), spent: spent.to_string() })
}

fn dollars(amount: f64) -> String {
    format!("{amount:.2}")
}

#[cfg(test)]
mod tests {
    use super::{Budget, Spent};
    use locum_base::chat::Usage;
    use pretty_assertions::assert_eq;

    fn spent(change: impl FnOnce(&mut Spent)) -> Spent {
        let mut spent = Spent::default();
        change(&mut spent);
        spent
    }

    #[test]
    fn stops_a_turn_at_each_limit_and_not_before() {
        let budget =
            Budget { turns: 2, tokens: 100, cost_usd: 1.0, minutes: 1, ..Budget::default() };
        let usage = |input| Usage { input, ..Usage::default() };
        for (spent, estimate, expected) in [
            (spent(|spent| spent.turns = 1), 10, None),
            (spent(|spent| spent.turns = 2), 10, Some("turns")),
            (spent(|spent| spent.usage = usage(90)), 10, None),
            (spent(|spent| spent.usage = usage(91)), 10, Some("tokens")),
            (spent(|spent| spent.usage = usage(100)), 0, Some("tokens")),
            (spent(|spent| spent.cost_usd = 0.99), 0, None),
            (spent(|spent| spent.cost_usd = 0.99), 2, Some("cost_usd")),
            (spent(|spent| spent.cost_usd = 1.0), 0, Some("cost_usd")),
            (spent(|spent| spent.seconds = 59), 0, None),
            (spent(|spent| spent.seconds = 60), 0, Some("minutes")),
        ] {
            let found = budget
                .ask_turn(&spent, estimate, f64::from(u32::try_from(estimate).unwrap()) / 100.0)
                .err()
                .map(|error| error.unit);
            assert_eq!(found.as_deref(), expected, "{spent:?}");
        }
    }

    #[test]
    fn says_which_limit_is_nearly_reached() {
        let budget =
            Budget { turns: 10, tool_calls: 5, tokens: 1000, cost_usd: 1.0, ..Budget::default() };
        for (turns, calls, cost_usd, expected) in [
            (7, 5, 0.7, None),
            (8, 0, 0.9, Some("8 of 10 turns")),
            (10, 0, 0.0, None),
            (0, 4, 0.0, None),
            (0, 0, 0.8, Some("0.80 of 1.00 dollars")),
        ] {
            let spent = Spent { turns, tool_calls: calls, cost_usd, ..Spent::default() };
            assert_eq!(budget.low(&spent).as_deref(), expected, "{turns} {calls} {cost_usd}");
        }
    }

    #[test]
    fn lets_free_models_work_without_money() {
        let budget = Budget { cost_usd: 0.0, ..Budget::default() };
        assert_eq!(budget.ask_turn(&Spent::default(), 1, 0.0), Ok(()));
        assert!(
            budget.ask_turn(&Spent::default(), 1, 0.01).is_err(),
            "the first request costs too much"
        );
        assert!(budget.ask_turn(&spent(|spent| spent.cost_usd = 0.01), 1, 0.0).is_err());
    }

    #[test]
    fn counts_calls_and_changes() {
        let budget = Budget { tool_calls: 3, files: 2, diff_lines: 10, ..Budget::default() };
        assert_eq!(budget.ask_call(&spent(|spent| spent.tool_calls = 2)), Ok(()));
        assert_eq!(
            budget.ask_call(&spent(|spent| spent.tool_calls = 3)).unwrap_err().to_string(),
            "budget of 3 tool_calls is used up (3 spent)"
        );
        assert_eq!(
            budget.ask_changes(&spent(|spent| (spent.files, spent.diff_lines) = (2, 10))),
            Ok(())
        );
        assert_eq!(budget.ask_changes(&spent(|spent| spent.files = 3)).unwrap_err().unit, "files");
        assert_eq!(
            budget.ask_changes(&spent(|spent| spent.diff_lines = 11)).unwrap_err().unit,
            "diff_lines"
        );
    }

    #[test]
    fn a_child_never_gets_more_than_is_left() {
        let budget =
            Budget { turns: 10, tokens: 1000, cost_usd: 2.0, minutes: 10, ..Budget::default() };
        let used = spent(|spent| {
            spent.turns = 4;
            spent.usage.input = 400;
            spent.cost_usd = 0.5;
            spent.seconds = 61;
        });
        let rest = budget.carve(&used, None);
        assert_eq!((rest.turns, rest.tokens, rest.minutes), (6, 600, 8));
        let asked = Budget { turns: 100, tokens: 50, ..Budget::default() };
        let carved = budget.carve(&used, Some(asked));
        assert_eq!((carved.turns, carved.tokens, carved.minutes), (6, 50, 8));
        assert!((carved.cost_usd - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_child_cannot_spend_what_its_parent_has_spent() {
        let budget = Budget { turns: 10, ..Budget::default() };
        let used = spent(|spent| spent.turns = 9);
        assert!(budget.carve(&used, None).turns <= 1);
    }
}
