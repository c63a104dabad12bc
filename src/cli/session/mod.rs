//! `locum session list|show`: what ran before, from its journals. Reads only; `resume` and `decide`
//! are their own files.

pub mod args;
pub(in crate::cli) mod checkpoints;
pub(in crate::cli) mod folder;

use std::path::Path;

use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::session::args::{SessionCommand, SessionListArgs, SessionShowArgs};
use crate::cli::session::folder::{find, names, sessions_folder};
use crate::cli::{CommandContext, ExitStatus, decide, resume};
use crate::run::error::RunError;
use locum_agent::report::comment::Progress;
use locum_agent::report::json::{SpentReport, TaskEntry};
use locum_agent::report::markdown::visible;
use locum_agent::report::{figures, json, summary, transcript};
use locum_agent::session::event::JournalLine;
use locum_agent::session::journal::Journal;
use locum_agent::session::state::SessionState;

/// Runs the subcommand.
///
/// # Errors
/// When the session does not exist or its journal cannot be read.
pub fn run(
    command: &SessionCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        SessionCommand::List(args) => list(args, context, output),
        SessionCommand::Show(args) => show(args, context, output),
        SessionCommand::Checkpoints(args) => checkpoints::list(args, context, output),
        SessionCommand::Diff(args) => checkpoints::diff(args, context, output),
        SessionCommand::Restore(args) => checkpoints::restore(args, context, output),
        SessionCommand::Resume(args) => resume::run(args, context, output),
        SessionCommand::Approve(args) => decide::approve(args, context, output),
        SessionCommand::Deny(args) => decide::deny(args, context, output),
        SessionCommand::Answer(args) => decide::answer(args, context, output),
        SessionCommand::Send(args) => decide::send(args, context, output),
    }
}

/// A session as shown in the list.
#[derive(Clone, Debug, Default, Serialize)]
struct SessionRow {
    session: String,
    started: Option<String>,
    /// The outcome's word; `unfinished` for a run that was killed or still runs; `unreadable`.
    state: String,
    mode: String,
    turns: u32,
    /// Folder of the checkout; `null` where the session does not say.
    repository: Option<String>,
    cost_usd: f64,
    /// True when some of it was estimated or had no price.
    is_estimate: bool,
    task: String,
}

fn list(
    args: &SessionListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    let names = names(&sessions)?;
    let rows: Vec<SessionRow> =
        names.iter().rev().take(args.limit).map(|name| row(&sessions, name)).collect();
    if args.json {
        output.json(&rows);
        return Ok(ExitStatus::Done);
    }
    let cells = |row: &SessionRow| {
        let started = row.started.clone().unwrap_or_default();
        [
            row.session.clone(),
            started,
            row.state.clone(),
            row.mode.clone(),
            row.turns.to_string(),
            figures::money(row.cost_usd, row.is_estimate),
            row.repository.as_deref().map(folder_name).unwrap_or_default().to_owned(),
            row.task.clone(),
        ]
    };
    output.table(
        ["SESSION", "STARTED", "STATE", "MODE", "TURNS", "COST", "REPOSITORY", "TASK"],
        rows.iter().map(cells),
    );
    if names.len() > rows.len() {
        output.talk(format!("{} more; `--limit` shows them", names.len() - rows.len()));
    }
    if names.is_empty() {
        output.talk(format!("no session below `{}`", sessions.display()));
    }
    Ok(ExitStatus::Done)
}

fn show(
    args: &SessionShowArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let lines = Journal::read(&folder).map_err(|error| RunError::internal(error.to_string()))?;
    let state = SessionState::of(&lines);
    let until = state.last_at().unwrap_or_default();
    let progress = Progress::of(&state, until);
    if args.json {
        output.json(&SessionReport {
            outcome: state.outcome.as_deref().map(|outcome| json::RunReport::new(outcome, &[])),
            tasks: progress.tasks.iter().map(TaskEntry::new).collect(),
            spent: SpentReport::new(&progress.spent, progress.spent_is_estimate),
            events: &lines,
        });
        return Ok(ExitStatus::Done);
    }
    output.line(visible(transcript::transcript(&lines).trim_end()));
    if let Some(outcome) = &state.outcome {
        let text = summary::terminal(outcome, summary::DiffSection::Shown);
        output.line(format!("\n{}", output.colours().summary(outcome.word, &text)));
    } else {
        output.line(format!("\n{}", summary::so_far(&progress)));
        let name = folder.file_name().unwrap_or_default().display().to_string();
        output.talk(format!(
            "this session has not ended; continue it with `locum session resume {name}`"
        ));
    }
    Ok(ExitStatus::Done)
}

/// A session for programs.
#[derive(Serialize)]
struct SessionReport<'a> {
    /// The outcome; `null` while it has none.
    outcome: Option<json::RunReport<'a>>,
    /// Every task so far, in order of creation, with what it used up.
    tasks: Vec<TaskEntry<'a>>,
    /// What was spent so far.
    spent: SpentReport,
    /// Every line of the journal, in order.
    events: &'a [JournalLine],
}

/// Returns the checkout of a run at the command line; for one in a worktree, the one that it is a
/// worktree of.
fn repository(caller: &serde_json::Value) -> Option<String> {
    let text = |key: &str| caller.get(key).and_then(serde_json::Value::as_str);
    text("stands_for").or_else(|| text("folder")).map(str::to_owned)
}

fn folder_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(std::ffi::OsStr::to_str).unwrap_or(path)
}

fn row(sessions: &Path, name: &str) -> SessionRow {
    let empty = SessionRow {
        session: name.to_owned(),
        state: "unreadable".to_owned(),
        ..SessionRow::default()
    };
    let Ok(lines) = Journal::read(&sessions.join(name)) else { return empty };
    let state = SessionState::of(&lines);
    let Some(start) = &state.start else {
        return SessionRow { state: "unfinished".to_owned(), ..empty };
    };
    let spent = state.root().map(|root| root.budgeting.spent).unwrap_or_default();
    SessionRow {
        started: lines.first().map(|line| line.at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()),
        state: state
            .outcome
            .as_ref()
            .map_or("unfinished", |outcome| outcome.word.as_str())
            .to_owned(),
        mode: state.root().map_or(&start.mode, |root| &root.mode).clone(),
        repository: repository(&start.caller),
        turns: spent.turns,
        cost_usd: spent.cost_usd,
        is_estimate: state.spent_is_estimate(),
        task: figures::clip(start.task.trim().lines().next().unwrap_or_default(), 60),
        ..empty
    }
}
