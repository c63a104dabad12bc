//! Commands that the policy itself names: its checks, and those that follow an edit.
//!
//! They take the same path as a model's own commands: parsed, judged, permitted, performed. What
//! they write is the caller's to throw away.

use std::time::Duration;

use crate::session::task_env::TaskEnv;
use crate::tools::{EffectInputs, Observation, ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::secret::view::without_escapes;
use locum_base::tool::ToolName;
use locum_sandbox::exec::Exit;
use locum_workspace::touched::Snapshot;

/// A command that the policy names.
#[derive(Clone, Copy)]
pub(crate) struct NamedCommand<'c> {
    /// The command as it is run.
    pub(crate) command: &'c str,
    /// How long it may take, where that is less than the policy's limit.
    pub(crate) timeout: Option<Duration>,
    /// The checkout before it; `None` where it writes to a layer.
    pub(crate) before: Option<&'c Snapshot>,
}

/// A command that ran.
pub(crate) struct NamedRun {
    /// How it ended.
    pub(crate) exit: Exit,
    /// What else is known of it.
    pub(crate) observation: Observation,
}

impl NamedRun {
    /// Returns what the command wrote, without what the tool says of it.
    pub(crate) fn output(&self) -> String {
        let output = self.observation.text.split_once("\nOutput:\n");
        without_escapes(output.map_or("", |(_, output)| output))
    }
}

/// Runs one in the surroundings of a task.
///
/// # Errors
/// Says why it did not start.
pub(crate) async fn run(env: &TaskEnv<'_>, named: NamedCommand<'_>) -> Result<NamedRun, String> {
    if let Some(layer) = &env.layer {
        // One that a command wrote to before cannot be mounted again as it is.
        layer.begin().map_err(|error| error.to_string())?;
    }
    let visible = env.readable();
    let given = EffectInputs { before: named.before, ..EffectInputs::default() };
    let context = ToolContext { given, ..env.context(&visible) };
    let timeout = named.timeout.map(|timeout| timeout.as_secs());
    let arguments = serde_json::json!({ "command": named.command, "timeout": timeout }).to_string();
    let call =
        ToolCall { id: "check".to_owned(), name: ToolName::ExecuteCommand.to_string(), arguments };
    let call = dispatch::parse(&call, &[ToolName::ExecuteCommand], context)
        .map_err(|error| error.to_string())?;
    let permit = env.run.policy.admit(call, &env.facts).map_err(|refusal| refusal.to_string())?;
    let observation = dispatch::perform(permit, context).await;
    match observation.exit {
        Some(exit) => Ok(NamedRun { exit, observation }),
        None => Err(observation.text),
    }
}
