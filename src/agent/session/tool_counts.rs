//! `ToolCounts`: how often each tool was called, and what became of the calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Most names that are no tool's of ours: a model may make them up.
const NAMES_LIMIT: usize = 200;

/// How often each tool was called, by its own name; tools of MCP servers and unknown ones by the
/// name the model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolCounts(pub BTreeMap<String, ToolCount>);

/// What became of the calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCount {
    /// Calls that have an answer.
    pub calls: u32,
    /// Of these, those that failed: wrong arguments, nothing found, an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// Of these, those that the policy or a person refused, all of it or a part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u32,
}

impl ToolCounts {
    /// Counts a call that got its answer.
    pub(crate) fn count(&mut self, name: &str, failed: bool, refused: bool) {
        if self.0.len() >= NAMES_LIMIT && !self.0.contains_key(name) {
            return;
        }
        let count = self.0.entry(name.to_owned()).or_default();
        count.calls = count.calls.saturating_add(1);
        count.failed = count.failed.saturating_add(u32::from(failed && !refused));
        count.refused = count.refused.saturating_add(u32::from(refused));
    }

    /// Returns true when no call has an answer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
