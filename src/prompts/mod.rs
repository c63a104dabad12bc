//! Floor 3: text for the model. Pure: everything it mentions is handed in.

pub mod rules;
pub mod sections;

use crate::base::chat::ToolSpec;
use crate::modes::{Mode, ModeSet};

/// Everything a system prompt is made of.
pub struct PromptFacts<'a> {
    /// The mode the task runs in.
    pub mode: &'a Mode,
    /// Every mode it may hand work to; empty when it may not.
    pub delegates: Vec<&'a Mode>,
    /// Every mode there is.
    pub modes: &'a ModeSet,
    /// The tools it is offered.
    pub tools: &'a [ToolSpec],
    /// Rules files and AGENTS.md, in order.
    pub rules: &'a [rules::RuleFile],
    /// What the policy allows, in its own words, one line each (so that the model does not try what cannot work).
    pub policy_lines: &'a [String],
    /// Name of the operating system, `linux`.
    pub system: &'a str,
}

/// Returns the system prompt.
#[must_use]
pub fn system_prompt(_facts: &PromptFacts<'_>) -> String {
    todo!()
}
