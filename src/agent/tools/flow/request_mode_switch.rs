//! `request_mode_switch`: asks the coordinator for another mode.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::{CheckedCall, EffectInputs};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Control, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A request for another mode about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestModeSwitch {
    slug: Option<String>,
    reason: String,
}

impl Tool for RequestModeSwitch {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Ask to go on in another mode, when the task needs what this \
        mode cannot do. The conversation is kept.";
    const REQUIRED: &'static [&'static str] = &["reason"];

    fn properties() -> Value {
        json!({
            "reason": { "type": "string", "description": "What has to be done there" },
            "mode_slug": { "type": ["string", "null"], "description": "The mode, e.g. `code`; chosen for you when absent" }
        })
    }

    /// Checks the arguments. Which modes there are is the session's to say.
    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let reason = arguments.words("reason", "what has to be done in the other mode")?;
        let slug = arguments.optional_text("mode_slug", "the mode to go on in")?;
        arguments.finish()?;
        Ok(Self {
            slug: slug.map(|slug| slug.trim().to_owned()).filter(|slug| !slug.is_empty()),
            reason,
        })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        match &self.slug {
            Some(slug) => format!("ask for {slug} mode"),
            None => "ask for another mode".to_owned(),
        }
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
        _: EffectInputs<'_>,
    ) -> Observation {
        let control =
            Control::RequestSwitch { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation { control: Some(control), ..Observation::said("The request is made.") }
    }
}
