//! `switch_mode`: continues in another mode.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::{CheckedCall, EffectInputs};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Control, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A change of mode about to be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchMode {
    slug: String,
    reason: String,
}

impl Tool for SwitchMode {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str =
        "Continue this task in another mode, with that mode's tools. The conversation is kept.";
    const REQUIRED: &'static [&'static str] = &["mode_slug", "reason"];

    fn properties() -> Value {
        json!({
            "mode_slug": { "type": "string", "description": "The mode, e.g. `code`" },
            "reason": { "type": "string", "description": "Why that mode is needed" }
        })
    }

    /// Checks the arguments. Whether the mode exists is the session's to say.
    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let slug = arguments.words("mode_slug", "the mode to go on in")?.trim().to_owned();
        let reason =
            arguments.optional_text("reason", "why that mode is needed")?.unwrap_or_default();
        arguments.finish()?;
        Ok(Self { slug, reason })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Mode(self.slug.clone())]
    }

    fn headline(&self) -> String {
        format!("switch to {} mode", self.slug)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
        _: EffectInputs<'_>,
    ) -> Observation {
        let control = Control::SwitchMode { slug: self.slug.clone(), reason: self.reason.clone() };
        Observation {
            control: Some(control),
            ..Observation::said(format!("From now on in {} mode.", self.slug))
        }
    }
}
