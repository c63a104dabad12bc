//! `attempt_completion`: ends the task with its result.

use serde_json::json;

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// A result about to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptCompletion {
    result: String,
}

impl AttemptCompletion {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::AttemptCompletion.to_string(),
            description: "End the task with its result. Call it alone, after every other call \
                          succeeded and the work was verified."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": { "result": { "type": "string", "description": "What was done, what was found, what is left; final, without questions" } },
                "required": ["result"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let result = arguments.words("result", "what was done and found")?;
        arguments.finish()?;
        Ok(Self { result })
    }

    /// Hands the result to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        Observation {
            control: Some(Control::Complete { result: self.result.clone() }),
            ..Observation::said("The task is ended.")
        }
    }
}
