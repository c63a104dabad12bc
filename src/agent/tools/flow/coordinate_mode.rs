//! `coordinate_mode`: decides which mode a task goes on in that asked for another one.

use serde_json::json;

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// A decision about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordinateMode {
    slug: Option<String>,
    reason: String,
}

impl CoordinateMode {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::CoordinateMode.to_string(),
            description: "Decide on the request for another mode.".into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "mode_slug": { "type": ["string", "null"], "description": "The mode the task goes on in; null refuses the request" },
                    "reason": { "type": "string", "description": "What decided it" }
                },
                "required": ["mode_slug", "reason"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments. Whether the mode was one to choose is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let slug = arguments.optional_text("mode_slug", "the mode the task goes on in, or null")?;
        let reason = arguments.words("reason", "what decided it")?;
        arguments.finish()?;
        Ok(Self {
            slug: slug.map(|slug| slug.trim().to_owned()).filter(|slug| !slug.is_empty()),
            reason,
        })
    }

    /// Returns the mode chosen.
    #[must_use]
    pub fn slug(&self) -> Option<&str> {
        self.slug.as_deref()
    }

    /// Hands the decision to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let control =
            Control::CoordinateMode { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation { control: Some(control), ..Observation::said("The request is decided.") }
    }
}
