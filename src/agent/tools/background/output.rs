//! `command_output`: what a command in the background printed since it was last asked.

use std::time::Duration;

use serde_json::{Value, json};

use crate::tools::aliases::decisive::DecisiveParameters;
use crate::tools::arguments::CallFields;
use crate::tools::background::numbered;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::peer_words::{COMMAND_ID, PeerWords};
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::chat::ToolCall;
use locum_base::json::field;
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_sandbox::exec::background::OutputWait;

/// Longest wait of one call, in seconds.
const WAIT_LIMIT_S: usize = 60;

/// A question to a command in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    number: u32,
    patience: Duration,
    until: Option<String>,
}

impl CommandOutput {
    /// Whether a call waits for something.
    pub(crate) fn waits(call: &ToolCall) -> bool {
        if ToolName::called(&call.name) != Some(ToolName::CommandOutput) {
            return false;
        }
        let arguments = Value::Object(dispatch::mapped(call));
        let number = field(&arguments, "wait").as_u64().is_some_and(|wait_s| wait_s > 0);
        number || field(&arguments, "until").as_str().is_some_and(|text| !text.is_empty())
    }
}

impl Tool for CommandOutput {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Read what a background command printed since it was last \
        asked, and whether it has ended.";
    const REQUIRED: &'static [&'static str] = &["id"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            COMMAND_ID,
            &[("wait_seconds", "wait"), ("wait_s", "wait"), ("wait_up_to", "wait")],
        ],
        decisive: &[DECISIVE],
        hook_names: &["BashOutput", "TaskOutput"],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::BackgroundCommand);
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "id": { "type": "integer" },
            "wait": { "type": ["integer", "null"], "minimum": 0, "maximum": WAIT_LIMIT_S, "description": "Seconds to wait for `until`, or for its end" },
            "until": { "type": ["string", "null"], "description": "Text in its output that ends the wait" }
        })
    }

    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let number = numbered(&mut arguments, "command_output")?;
        let wait_s = arguments.optional_number("wait", 0, "seconds, 60 at most")?;
        let until = arguments.optional_text("until", "a text that it prints")?;
        arguments.finish()?;
        let until = until.filter(|text| !text.is_empty());
        let usual_s = if until.is_some() { WAIT_LIMIT_S } else { 0 };
        let patience_s = wait_s.unwrap_or(usual_s).min(WAIT_LIMIT_S);
        let patience = Duration::from_secs(u64::try_from(patience_s).unwrap_or_default());
        Ok(Self { number, patience, until })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        format!("read the output of background command {}", self.number)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let commands = super::of(context)?;
        let wait = OutputWait { patience: self.patience, until: self.until.as_deref() };
        commands.ask(self.number, wait, context.run.redactor).await
    }
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[DecisiveParameters {
    names: "stdin input chars",
    instead: "A command in the background reads no input: end it with `stop_command`, and \
                  start it with its input in the script, as `<<'EOF'`.",
    ..DecisiveParameters::NONE
}];
