//! `stop_command`: ends a command in the background.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::background::numbered;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::{COMMAND_ID, PeerWords};
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A command in the background that is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopCommand {
    number: u32,
}

impl Tool for StopCommand {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "End a background command; returns its last output.";
    const REQUIRED: &'static [&'static str] = &["id"];
    const PEERS: PeerWords = PeerWords {
        renames: &[COMMAND_ID],
        hook_names: &["KillShell", "TaskStop"],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::BackgroundCommand);
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({ "id": { "type": "integer" } })
    }

    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let number = numbered(&mut arguments, "stop_command")?;
        arguments.finish()?;
        Ok(Self { number })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        format!("end background command {}", self.number)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        super::of(context)?.stop(self.number, context.run.redactor).await
    }
}
