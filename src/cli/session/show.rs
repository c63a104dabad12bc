//! `locum session show`: what happened in a session, or a part of it.

use serde::Serialize;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::session::args::{SessionDiffArgs, SessionShowArgs};
use crate::cli::session::checkpoints;
use crate::cli::session::folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use crate::run::session_record::word_of;
use locum_agent::report::comment::Progress;
use locum_agent::report::json::{RunReport, TaskEntry};
use locum_agent::report::markdown::visible;
use locum_agent::report::spent::SpentReport;
use locum_agent::report::transcript::{EventSelection, transcript};
use locum_agent::report::{figures, summary};
use locum_agent::session::event::JournalLine;
use locum_agent::session::journal::Journal;
use locum_agent::session::state::SessionState;

/// Shows a session.
///
/// # Errors
/// When there is no such session, task or turn, or its journal cannot be read.
pub(super) fn run(
    args: &SessionShowArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let lines = Journal::read(&folder).map_err(|error| RunError::internal(error.to_string()))?;
    let state = SessionState::of(&lines);
    if args.diff {
        return diff(args, &state, context, output);
    }
    let wanted = EventSelection { tasks: &args.task, turns: &args.turn, refusals: args.refusals };
    exist(args, &state)?;
    let progress = Progress::of(&state, state.last_at().unwrap_or_default());
    if args.json {
        output.json(&SessionReport {
            state: word_of(&folder, Some(&state)),
            outcome: state.outcome.as_deref().map(|outcome| RunReport::new(outcome, &[])),
            tasks: progress.tasks.iter().map(TaskEntry::new).collect(),
            spent: SpentReport::new(&progress.spent, progress.spent_is_estimate),
            events: wanted.of(&lines),
        });
        return Ok(ExitStatus::Done);
    }
    let text = transcript(&lines, &wanted);
    output.line(visible(text.trim_end()));
    if args.refusals || !args.task.is_empty() || !args.turn.is_empty() {
        if text.is_empty() {
            output.talk(if args.refusals { "nothing was refused or held" } else { "nothing" });
        }
        return Ok(ExitStatus::Done);
    }
    if let Some(outcome) = &state.outcome {
        let text = summary::terminal(outcome, summary::DiffSection::Shown);
        output.line(format!("\n{}", output.colours().summary(outcome.word, &text)));
    } else {
        output.line(format!("\n{}", summary::so_far(&progress)));
        if state.start.as_ref().is_some_and(|start| start.is_imported()) {
            return Ok(ExitStatus::Done);
        }
        let name = folder.file_name().unwrap_or_default().display().to_string();
        output.talk(format!(
            "this session has not ended; continue it with `locum session resume {name}`"
        ));
    }
    Ok(ExitStatus::Done)
}

/// Holds tasks and turns that are asked for to those there are.
fn exist(args: &SessionShowArgs, state: &SessionState) -> Result<(), RunError> {
    let tasks = state.tasks.len();
    if let Some(task) = args.task.iter().find(|task| **task as usize >= tasks) {
        let there_are = format!("the session has {}", figures::count(tasks, "task"));
        return Err(RunError::usage("--task", format!("{there_are}; there is no task {task}"))
            .hint("the root task is 0"));
    }
    let asked = |id: u32| args.task.is_empty() || args.task.contains(&id);
    let turns = state.tasks.iter().filter(|task| asked(task.id.0)).map(|task| task.turn.number);
    let most = turns.max().unwrap_or_default();
    match args.turn.iter().find(|turn| **turn == 0 || **turn > most) {
        Some(turn) => Err(RunError::usage("--turn", format!("there is no turn {turn}"))
            .hint(format!("turns are counted from 1; the last one is {most}"))),
        None => Ok(()),
    }
}

/// Shows what a session changed: as its outcome has it, or until its last checkpoint.
fn diff(
    args: &SessionShowArgs,
    state: &SessionState,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let Some(outcome) = &state.outcome else {
        let (id, session_dir) = (args.id.clone(), args.session_dir.clone());
        let args = SessionDiffArgs { id, from: None, to: None, session_dir, json: args.json };
        return checkpoints::diff(&args, context, output);
    };
    if args.json {
        output.json(&json!({ "changes": outcome.changes }));
    } else if !outcome.changes.is_empty() {
        output.patch(&figures::diff(&outcome.changes));
    }
    Ok(ExitStatus::Done)
}

/// A session for programs.
#[derive(Serialize)]
struct SessionReport<'a> {
    /// As in the list of sessions.
    state: &'static str,
    /// The outcome; `null` while it has none.
    outcome: Option<RunReport<'a>>,
    /// Every task so far, in order of creation, with what it used up.
    tasks: Vec<TaskEntry<'a>>,
    /// What was spent so far.
    spent: SpentReport,
    /// The lines of the journal that are wanted, in order.
    events: Vec<&'a JournalLine>,
}
