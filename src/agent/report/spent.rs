//! What a run spent, for programs: a part of the report that `json` makes.
//!
//! In: what a session counted. Out: [`SpentReport`] of the run and [`ChargedReport`] of each task,
//! ready to be serialised.

use serde::Serialize;

use crate::session::outcome::ChargedUsage;
use locum_policy::budget::Spent;

/// What a run spent, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpentReport {
    /// What requests to models used up.
    #[serde(flatten)]
    pub charged: ChargedReport,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Wall time in seconds.
    pub seconds: u64,
}

/// What requests to models used up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChargedReport {
    /// Replies of models, answers of experts among them.
    pub turns: u32,
    /// Tokens read by the models, cached ones included.
    pub input_tokens: u64,
    /// Tokens written by the models.
    pub output_tokens: u64,
    /// Of the input, those read from a cache.
    pub cache_read_tokens: u64,
    /// Of the input, those written to a cache.
    pub cache_write_tokens: u64,
    /// Of the output, those of reasoning.
    pub reasoning_tokens: u64,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// True when some of it is an estimate.
    pub is_estimate: bool,
}

impl SpentReport {
    /// Views what was spent for programs.
    pub fn new(spent: &Spent, is_estimate: bool) -> Self {
        let Spent { turns, tool_calls, usage, cost_usd, seconds, .. } = *spent;
        Self {
            charged: ChargedReport::new(&ChargedUsage { turns, usage, cost_usd, is_estimate }),
            tool_calls,
            seconds,
        }
    }
}

impl ChargedReport {
    /// Views what some requests used up for programs.
    pub(crate) fn new(charged: &ChargedUsage) -> Self {
        let ChargedUsage { turns, usage, cost_usd, is_estimate } = *charged;
        Self {
            turns,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cached_read,
            cache_write_tokens: usage.cached_write,
            reasoning_tokens: usage.reasoning,
            cost_usd,
            is_estimate,
        }
    }
}
