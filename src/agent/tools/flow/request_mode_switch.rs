//! `request_mode_switch`: asks the coordinator for another mode.

use serde_json::json;

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// A request for another mode about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestModeSwitch {
    slug: Option<String>,
    reason: String,
}

impl RequestModeSwitch {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::RequestModeSwitch.to_string(),
            description: "Ask to go on in another mode, when the task needs what this mode cannot \
                          do. The conversation is kept."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "reason": { "type": "string", "description": "What has to be done there" },
                    "mode_slug": { "type": ["string", "null"], "description": "The mode, e.g. `code`; chosen for you when absent" }
                },
                "required": ["reason"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments. Which modes there are is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let reason = arguments.words("reason", "what has to be done in the other mode")?;
        let slug = arguments.optional_text("mode_slug", "the mode to go on in")?;
        arguments.finish()?;
        Ok(Self {
            slug: slug.map(|slug| slug.trim().to_owned()).filter(|slug| !slug.is_empty()),
            reason,
        })
    }

    /// Returns the mode asked for.
    #[must_use]
    pub fn slug(&self) -> Option<&str> {
        self.slug.as_deref()
    }

    /// Hands the request to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let control =
            Control::RequestSwitch { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation { control: Some(control), ..Observation::said("The request is made.") }
    }
}
