//! `attempt_completion`: ends the task with its result.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// The tool that ends a task.
#[derive(Clone, Debug)]
pub struct AttemptCompletion;

impl SteeringTool for AttemptCompletion {
    const DESCRIPTION: &'static str = "End the task with its result. Call it alone, after every \
        other call succeeded and the work was verified.";
    const REQUIRED: &'static [&'static str] = &["result"];

    fn properties() -> Value {
        json!({ "result": { "type": "string", "description": "What was done, what was found, what is left; final, without questions" } })
    }

    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let result = arguments.words("result", "what was done and found")?;
        arguments.finish()?;
        Ok(SteeringCall {
            intent: Intent::Session,
            headline: "end the task".to_owned(),
            said: "The task is ended.".to_owned(),
            control: Control::Complete { result },
        })
    }
}
