//! Budgets: limits a run may not pass, and the ledger of what it spent. It only counts; the caller
//! measures time.

pub mod raise;

use serde::{Deserialize, Serialize};

use locum_base::chat::Usage;

/// What a run, or a sub-task, may spend. Every limit is a hard stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Most model replies.
    pub turns: u32,
    /// Most tool calls.
    pub tool_calls: u32,
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// Wall time in minutes.
    pub minutes: u32,
    /// Most files changed.
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
    /// Model replies so far.
    pub turns: u32,
    /// Tool calls so far.
    pub tool_calls: u32,
    /// Tokens as counted by the provider, or estimated where it did not say.
    pub usage: Usage,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// Wall time in seconds.
    pub seconds: u64,
    /// Files changed so far.
    pub files: u32,
    /// Added and removed lines together.
    pub diff_lines: u32,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("budget of {limit} {unit} {}", self.used())]
pub struct Exhausted {
    /// The limit's key in the policy: `turns`, `cost_usd`, ...
    pub unit: String,
    /// The limit, as shown.
    pub limit: String,
    /// What was spent, as shown.
    pub spent: String,
}

impl Exhausted {
    /// Says how far it is used up: something may be left that the next step does not fit into.
    pub fn used(&self) -> String {
        let [limit, spent] = [&self.limit, &self.spent].map(|number| number.parse::<f64>().ok());
        if limit.zip(spent).is_some_and(|(limit, spent)| spent < limit) {
            format!("is nearly used up ({} spent), and the next request does not fit", self.spent)
        } else {
            format!("is used up ({} spent)", self.spent)
        }
    }
}

/// Limits below this are used up before a word about them would help.
const LOW_LEAST: u64 = 10;
/// Model replies that a task keeps for its end when it hands work on.
const END_TURNS: u32 = 2;
/// Tool calls that its end takes.
const END_CALLS: u32 = 2;
/// Of every other limit, one part of this many is kept for the end: 5 %.
const END_PARTS: u32 = 20;
/// Seconds of wall time that its end takes, where there are several minutes.
const END_SECONDS: u64 = 60;

/// What the end of a task takes at least, besides its share of each limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndReserve {
    /// Tool calls that are under way and will be counted.
    pub open_calls: u32,
    /// Tokens of its last turns, by those before.
    pub tokens: u64,
    /// US dollars of its last turns, by those before.
    pub cost_usd: f64,
}

impl Budget {
    /// Asks whether one more model reply fits whose request has about this many tokens and costs
    /// about this much.
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

    /// Returns what a task has to be told to end with what it has: of a limit, at most two turns or
    /// one twentieth is left. `None` before the first turn.
    pub fn ending(&self, spent: &Spent, end: &EndReserve) -> Option<String> {
        if spent.turns == 0 {
            return None;
        }
        let left = |used: u64, limit: u64, least: u64, unit: &str| {
            let left = limit.saturating_sub(used);
            (left <= least.max(limit / u64::from(END_PARTS)))
                .then(|| format!("{left} of {limit} {unit}"))
        };
        let cost_left_usd = (self.cost_usd - spent.cost_usd).max(0.0);
        let least_usd = (self.cost_usd / f64::from(END_PARTS)).max(end.cost_usd);
        let limit_s = u64::from(self.minutes).saturating_mul(60);
        let least_s = if limit_s > 4 * END_SECONDS { END_SECONDS } else { 0 };
        left(spent.turns.into(), self.turns.into(), END_TURNS.into(), "turns")
            .or_else(|| {
                let (used, limit) = (spent.tool_calls.into(), self.tool_calls.into());
                left(used, limit, END_CALLS.into(), "tool calls")
            })
            .or_else(|| left(spent.usage.total(), self.tokens, end.tokens, "tokens"))
            .or_else(|| {
                let ends = self.cost_usd > 0.0 && cost_left_usd <= least_usd;
                ends.then(|| {
                    format!("{} of {} dollars", dollars(cost_left_usd), dollars(self.cost_usd))
                })
            })
            .or_else(|| left(spent.seconds, limit_s, least_s, "seconds"))
    }

    /// Returns which limit of changes leaves no more than one twentieth, `50 of 50 files`.
    pub fn changes_full(&self, spent: &Spent) -> Option<String> {
        let full = |used: u32, limit: u32, unit: &str| {
            let is_full = used > 0 && limit.saturating_sub(used) <= limit / END_PARTS;
            is_full.then(|| format!("{used} of {limit} {unit}"))
        };
        full(spent.files, self.files, "files")
            .or_else(|| full(spent.diff_lines, self.diff_lines, "changed lines"))
    }

    /// Returns what is left.
    pub fn rest(&self, spent: &Spent) -> Self {
        let spent_minutes = u32::try_from(spent.seconds.div_ceil(60)).unwrap_or(u32::MAX);
        Self {
            turns: self.turns.saturating_sub(spent.turns),
            tool_calls: self.tool_calls.saturating_sub(spent.tool_calls),
            tokens: self.tokens.saturating_sub(spent.usage.total()),
            cost_usd: (self.cost_usd - spent.cost_usd).max(0.0),
            minutes: self.minutes.saturating_sub(spent_minutes),
            files: self.files.saturating_sub(spent.files),
            diff_lines: self.diff_lines.saturating_sub(spent.diff_lines),
        }
    }

    /// Returns what a sub-task may spend: what is left, without what this budget's own task needs
    /// to end. That is two turns, the calls under way with the one that ends it, and of everything
    /// else one twentieth of the limit; of tokens and dollars as much as two of its turns take,
    /// if that is more, but no more than half of what is left.
    pub fn carve(&self, spent: &Spent, end: &EndReserve) -> Self {
        let rest = self.rest(spent);
        let calls = end.open_calls.saturating_add(1).max(self.tool_calls / END_PARTS);
        let tokens = (self.tokens / u64::from(END_PARTS)).max(end.tokens).min(rest.tokens / 2);
        let cost_usd = (self.cost_usd / f64::from(END_PARTS)).max(end.cost_usd);
        Self {
            turns: rest.turns.saturating_sub(END_TURNS),
            tool_calls: rest.tool_calls.saturating_sub(calls),
            tokens: rest.tokens.saturating_sub(tokens),
            cost_usd: rest.cost_usd - cost_usd.min(rest.cost_usd / 2.0),
            minutes: rest.minutes.saturating_sub(self.minutes.div_ceil(END_PARTS)),
            files: rest.files.saturating_sub(self.files / END_PARTS),
            diff_lines: rest.diff_lines.saturating_sub(self.diff_lines / END_PARTS),
        }
    }

    /// Returns `shares` of `all` equal shares, for parallel spending: all of the time, and a part
    /// of everything else.
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
mod tests;
