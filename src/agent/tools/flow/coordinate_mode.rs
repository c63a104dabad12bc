//! `coordinate_mode`: decides in which mode a task continues that requested another one.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::{CheckedCall, EffectInputs};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Control, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A decision about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordinateMode {
    slug: Option<String>,
    reason: String,
}

impl Tool for CoordinateMode {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Decide on the request for another mode.";
    const REQUIRED: &'static [&'static str] = &["mode_slug", "reason"];

    fn properties() -> Value {
        json!({
            "mode_slug": { "type": ["string", "null"], "description": "The mode the task goes on in; null refuses the request" },
            "reason": { "type": "string", "description": "What decided it" }
        })
    }

    /// Checks the arguments. Whether the mode was one to choose is the session's to say.
    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let slug = arguments.optional_text("mode_slug", "the mode the task goes on in, or null")?;
        let reason = arguments.words("reason", "what decided it")?;
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
            Some(slug) => format!("choose {slug} mode"),
            None => "refuse another mode".to_owned(),
        }
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
        _: EffectInputs<'_>,
    ) -> Observation {
        let control =
            Control::CoordinateMode { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation { control: Some(control), ..Observation::said("The request is decided.") }
    }
}
