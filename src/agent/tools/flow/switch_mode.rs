//! `switch_mode`: goes on in another mode.

use serde_json::json;

use crate::tools::arguments::Arguments;
use crate::tools::{CallError, Control, Observation};
use locum_base::chat::ToolSpec;
use locum_base::tool::ToolName;

/// A change of mode about to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchMode {
    slug: String,
    reason: String,
}

impl SwitchMode {
    /// Returns what models see of it.
    #[must_use]
    pub fn spec() -> ToolSpec {
        ToolSpec {
            name: ToolName::SwitchMode.to_string(),
            description: "Continue this task in another mode, with that mode's tools. The \
                          conversation is kept."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "mode_slug": { "type": "string", "description": "The mode, e.g. `code`" },
                    "reason": { "type": "string", "description": "Why that mode is needed" }
                },
                "required": ["mode_slug", "reason"],
                "additionalProperties": false
            }),
        }
    }

    /// Checks the arguments. Whether the mode exists is the session's to say.
    ///
    /// # Errors
    /// A sentence for the model.
    pub fn parse(mut arguments: Arguments) -> Result<Self, CallError> {
        let slug = arguments.words("mode_slug", "the mode to go on in")?.trim().to_owned();
        let reason =
            arguments.optional_text("reason", "why that mode is needed")?.unwrap_or_default();
        arguments.finish()?;
        Ok(Self { slug, reason })
    }

    /// Returns the mode asked for.
    #[must_use]
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// Hands the wish to the session.
    #[must_use]
    pub fn perform(&self) -> Observation {
        let control = Control::SwitchMode { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation {
            control: Some(control),
            ..Observation::said(format!("From now on in {} mode.", self.slug))
        }
    }
}
