//! The one door: what a model wrote becomes a checked `Call`, a permitted `Call` becomes an `Observation`.

use crate::base::chat::{ToolCall, ToolSpec};
use crate::base::tool::ToolName;
use crate::policy::Permit;
use crate::policy::intent::{Act, Intent};
use crate::tools::{CallError, Observation, ToolContext};

/// A checked call: known tool of this mode, valid arguments, resolved paths. One variant a tool.
#[derive(Clone, Debug)]
pub enum Call {}

impl Call {
    /// Returns which tool this is.
    #[must_use]
    pub fn tool(&self) -> ToolName {
        match *self {}
    }

    /// Returns true when it changes nothing, so that calls like it may run side by side.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        match *self {}
    }

    /// Returns one line for people: `edit src/lib.rs`, `run cargo test`.
    #[must_use]
    pub fn headline(&self) -> String {
        match *self {}
    }
}

impl Act for Call {
    fn intents(&self) -> Vec<Intent> {
        match *self {}
    }
}

/// Returns the tools a mode offers to the model, with their schemas.
#[must_use]
pub fn specs(_offered: &[ToolName]) -> Vec<ToolSpec> {
    todo!()
}

/// Checks what the model wrote.
///
/// # Errors
/// A sentence for the model: unknown tool, tool not offered, malformed or missing arguments, path outside.
pub fn parse(_call: &ToolCall, _offered: &[ToolName], _context: ToolContext<'_>) -> Result<Call, CallError> {
    todo!()
}

/// Does what was permitted. Never fails: a failure is an observation with `is_error`.
pub async fn perform(_permit: Permit<Call>, _context: ToolContext<'_>) -> Observation {
    todo!()
}
