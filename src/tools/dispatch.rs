//! The one door: what a model wrote becomes a checked [`Call`], a permitted `Call` becomes an [`Observation`].
//!
//! Nothing happens between: `parse` looks at paths but changes nothing, the policy decides on the call's intents, and only
//! `perform` has effects, each under the permit. Texts are redacted and bounded here, once for every tool.

use crate::base::chat::{ToolCall, ToolSpec};
use crate::base::text::Clipped;
use crate::base::tool::ToolName;
use crate::policy::Permit;
use crate::policy::intent::{Act, Intent};
use crate::tools::arguments::{Arguments, quoted};
use crate::tools::command::ExecuteCommand;
use crate::tools::files::apply_diff::tool::ApplyDiff;
use crate::tools::files::list::ListFiles;
use crate::tools::files::read::ReadFile;
use crate::tools::files::write::WriteToFile;
use crate::tools::flow::ask::AskFollowupQuestion;
use crate::tools::flow::complete::AttemptCompletion;
use crate::tools::flow::new_task::NewTask;
use crate::tools::flow::switch_mode::SwitchMode;
use crate::tools::flow::todo::UpdateTodoList;
use crate::tools::search::grep::SearchFiles;
use crate::tools::{CallError, Observation, ToolContext};

/// Most bytes of one observation; tools have their own, smaller limits.
pub const OBSERVATION_LIMIT_BYTES: usize = 128 * 1024;

/// Longest headline, in bytes.
const HEADLINE_LIMIT_BYTES: usize = 120;

/// A checked call: known tool of this mode, valid arguments, resolved paths. One variant a tool.
#[derive(Clone, Debug)]
pub enum Call {
    /// See [`ReadFile`].
    ReadFile(ReadFile),
    /// See [`ListFiles`].
    ListFiles(ListFiles),
    /// See [`SearchFiles`].
    SearchFiles(Box<SearchFiles>),
    /// See [`WriteToFile`].
    WriteToFile(WriteToFile),
    /// See [`ApplyDiff`].
    ApplyDiff(ApplyDiff),
    /// See [`ExecuteCommand`].
    ExecuteCommand(ExecuteCommand),
    /// See [`UpdateTodoList`].
    UpdateTodoList(UpdateTodoList),
    /// See [`AskFollowupQuestion`].
    AskFollowupQuestion(AskFollowupQuestion),
    /// See [`AttemptCompletion`].
    AttemptCompletion(AttemptCompletion),
    /// See [`NewTask`].
    NewTask(NewTask),
    /// See [`SwitchMode`].
    SwitchMode(SwitchMode),
}

impl Call {
    /// Returns which tool this is.
    #[must_use]
    pub fn tool(&self) -> ToolName {
        match self {
            Self::ReadFile(_) => ToolName::ReadFile,
            Self::ListFiles(_) => ToolName::ListFiles,
            Self::SearchFiles(_) => ToolName::SearchFiles,
            Self::WriteToFile(_) => ToolName::WriteToFile,
            Self::ApplyDiff(_) => ToolName::ApplyDiff,
            Self::ExecuteCommand(_) => ToolName::ExecuteCommand,
            Self::UpdateTodoList(_) => ToolName::UpdateTodoList,
            Self::AskFollowupQuestion(_) => ToolName::AskFollowupQuestion,
            Self::AttemptCompletion(_) => ToolName::AttemptCompletion,
            Self::NewTask(_) => ToolName::NewTask,
            Self::SwitchMode(_) => ToolName::SwitchMode,
        }
    }

    /// Returns true when it changes nothing and steers nothing, so that calls like it may run side by side.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        match self {
            Self::ReadFile(_) | Self::ListFiles(_) | Self::SearchFiles(_) => true,
            Self::ExecuteCommand(command) => command.script().only_reads(),
            Self::WriteToFile(_)
            | Self::ApplyDiff(_)
            | Self::UpdateTodoList(_)
            | Self::AskFollowupQuestion(_)
            | Self::AttemptCompletion(_)
            | Self::NewTask(_)
            | Self::SwitchMode(_) => false,
        }
    }

    /// Returns one line for people: `edit src/lib.rs`, `run cargo test`.
    #[must_use]
    pub fn headline(&self) -> String {
        let text = match self {
            Self::ReadFile(call) => format!("read {}", call.place().asked),
            Self::ListFiles(call) => format!("list {}", call.place().asked),
            Self::SearchFiles(call) => format!("search {} for {}", call.place().asked, call.pattern()),
            Self::WriteToFile(call) => format!("write {}", call.place().asked),
            Self::ApplyDiff(call) => format!("edit {}", call.place().asked),
            Self::ExecuteCommand(call) => format!("run {}", call.script().text()),
            Self::UpdateTodoList(_) => "update the checklist".to_owned(),
            Self::AskFollowupQuestion(call) => format!("ask: {}", call.question()),
            Self::AttemptCompletion(_) => "end the task".to_owned(),
            Self::NewTask(call) => format!("start a sub-task in {} mode", call.mode()),
            Self::SwitchMode(call) => format!("switch to {} mode", call.slug()),
        };
        let line = text.lines().next().unwrap_or_default();
        let head = crate::base::text::head(line, HEADLINE_LIMIT_BYTES);
        if head.len() < text.len() { format!("{head}...") } else { head.to_owned() }
    }
}

impl Act for Call {
    fn intents(&self) -> Vec<Intent> {
        match self {
            Self::ReadFile(call) => vec![Intent::Read(call.place().real.clone())],
            Self::ListFiles(call) => vec![Intent::Read(call.place().real.clone())],
            Self::SearchFiles(call) => vec![Intent::Read(call.place().real.clone())],
            Self::WriteToFile(call) => vec![Intent::Edit(call.place().real.clone())],
            Self::ApplyDiff(call) => vec![Intent::Edit(call.place().real.clone())],
            Self::ExecuteCommand(call) => {
                vec![Intent::Command(call.script().clone()), Intent::Read(call.folder().real.clone())]
            }
            Self::NewTask(call) => vec![Intent::Delegate(call.mode().to_owned())],
            Self::SwitchMode(call) => vec![Intent::Mode(call.slug().to_owned())],
            Self::UpdateTodoList(_) | Self::AskFollowupQuestion(_) | Self::AttemptCompletion(_) => vec![Intent::Session],
        }
    }
}

/// Returns the tools a mode offers to the model, with their schemas.
#[must_use]
pub fn specs(offered: &[ToolName]) -> Vec<ToolSpec> {
    offered.iter().map(|tool| spec(*tool)).collect()
}

fn spec(tool: ToolName) -> ToolSpec {
    match tool {
        ToolName::ReadFile => ReadFile::spec(),
        ToolName::ListFiles => ListFiles::spec(),
        ToolName::SearchFiles => SearchFiles::spec(),
        ToolName::WriteToFile => WriteToFile::spec(),
        ToolName::ApplyDiff => ApplyDiff::spec(),
        ToolName::ExecuteCommand => ExecuteCommand::spec(),
        ToolName::UpdateTodoList => UpdateTodoList::spec(),
        ToolName::AskFollowupQuestion => AskFollowupQuestion::spec(),
        ToolName::AttemptCompletion => AttemptCompletion::spec(),
        ToolName::NewTask => NewTask::spec(),
        ToolName::SwitchMode => SwitchMode::spec(),
    }
}

/// Checks what the model wrote.
///
/// # Errors
/// A sentence for the model: unknown tool, tool not offered, malformed or missing arguments, path outside.
pub fn parse(call: &ToolCall, offered: &[ToolName], context: ToolContext<'_>) -> Result<Call, CallError> {
    let tool = find(call.name.trim(), offered, context)?;
    let arguments = Arguments::parse(tool, &call.arguments)?;
    Ok(match tool {
        ToolName::ReadFile => Call::ReadFile(ReadFile::parse(arguments, context)?),
        ToolName::ListFiles => Call::ListFiles(ListFiles::parse(arguments, context)?),
        ToolName::SearchFiles => Call::SearchFiles(Box::new(SearchFiles::parse(arguments, context)?)),
        ToolName::WriteToFile => Call::WriteToFile(WriteToFile::parse(arguments, context)?),
        ToolName::ApplyDiff => Call::ApplyDiff(ApplyDiff::parse(arguments, context)?),
        ToolName::ExecuteCommand => Call::ExecuteCommand(ExecuteCommand::parse(arguments, context)?),
        ToolName::UpdateTodoList => Call::UpdateTodoList(UpdateTodoList::parse(arguments)?),
        ToolName::AskFollowupQuestion => Call::AskFollowupQuestion(AskFollowupQuestion::parse(arguments)?),
        ToolName::AttemptCompletion => Call::AttemptCompletion(AttemptCompletion::parse(arguments)?),
        ToolName::NewTask => Call::NewTask(NewTask::parse(arguments)?),
        ToolName::SwitchMode => Call::SwitchMode(SwitchMode::parse(arguments)?),
    })
}

fn find(name: &str, offered: &[ToolName], context: ToolContext<'_>) -> Result<ToolName, CallError> {
    let tool = ToolName::find(name);
    match tool.filter(|tool| offered.contains(tool)) {
        Some(tool) => Ok(tool),
        None => {
            let problem = match tool {
                Some(tool) => format!("Tool \"{tool}\" is not allowed in {} mode.", context.mode.slug),
                None => format!("Unknown tool \"{name}\"."),
            };
            Err(CallError(format!("{problem} Available here: {}.", quoted(offered))))
        }
    }
}

/// Does what was permitted. Never fails: a failure is an observation with `is_error`.
pub async fn perform(permit: Permit<Call>, context: ToolContext<'_>) -> Observation {
    let observation = match permit.act() {
        Call::ReadFile(call) => call.perform(&permit, context),
        Call::ListFiles(call) => call.perform(&permit, context),
        Call::SearchFiles(call) => call.perform(&permit, context),
        Call::WriteToFile(call) => call.perform(&permit, context),
        Call::ApplyDiff(call) => call.perform(&permit, context),
        Call::ExecuteCommand(call) => call.perform(&permit, context).await,
        Call::UpdateTodoList(call) => call.perform(),
        Call::AskFollowupQuestion(call) => call.perform(),
        Call::AttemptCompletion(call) => call.perform(),
        Call::NewTask(call) => call.perform(),
        Call::SwitchMode(call) => call.perform(),
    };
    let text = Clipped::head_tail(&context.redactor.redact(&observation.text), OBSERVATION_LIMIT_BYTES).text;
    Observation { text, ..observation }
}
