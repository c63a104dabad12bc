//! `attempt_completion`: ends the task with its result.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::{CheckedCall, EffectInputs};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Control, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A result about to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptCompletion {
    result: String,
}

impl Tool for AttemptCompletion {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "End the task with its result. Call it alone, after every \
        other call succeeded and the work was verified.";
    const REQUIRED: &'static [&'static str] = &["result"];

    fn properties() -> Value {
        json!({ "result": { "type": "string", "description": "What was done, what was found, what is left; final, without questions" } })
    }

    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let result = arguments.words("result", "what was done and found")?;
        arguments.finish()?;
        Ok(Self { result })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        "end the task".to_owned()
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
        _: EffectInputs<'_>,
    ) -> Observation {
        Observation {
            control: Some(Control::Complete { result: self.result.clone() }),
            ..Observation::said("The task is ended.")
        }
    }
}
