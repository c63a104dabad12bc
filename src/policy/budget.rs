//! Budgets: limits a run may not pass, and the ledger of what it spent. Counts only; the clock is the caller's.

use serde::{Deserialize, Serialize};

use crate::base::chat::Usage;

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
        Self { turns: 60, tool_calls: 400, tokens: 2_000_000, cost_usd: 5.0, minutes: 30, files: 50, diff_lines: 3000 }
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

impl Budget {
    /// Asks whether one more model reply of about `estimate` tokens fits.
    ///
    /// # Errors
    /// Names the limit that is reached.
    pub fn ask_turn(&self, _spent: &Spent, _estimate_tokens: u64) -> Result<(), Exhausted> {
        todo!()
    }

    /// Asks whether one more tool call fits.
    ///
    /// # Errors
    /// Names the limit that is reached.
    pub fn ask_call(&self, _spent: &Spent) -> Result<(), Exhausted> {
        todo!()
    }

    /// Asks whether the changes made so far fit (`files`, `diff_lines`).
    ///
    /// # Errors
    /// Names the limit that is passed.
    pub fn ask_changes(&self, _spent: &Spent) -> Result<(), Exhausted> {
        todo!()
    }

    /// Returns what a sub-task may spend: the rest of this budget, cut down to `asked` where given.
    #[must_use]
    pub fn carve(&self, _spent: &Spent, _asked: Option<Self>) -> Self {
        todo!()
    }
}
