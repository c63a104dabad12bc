//! The run at the command line that a session records, and what it would be given now.

use crate::cli::{CommandContext, own_worktree};
use std::path::Path;

use crate::cli::local_run::{self, LocalRun};
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use crate::run::run_request::Overrides;
use crate::run::user::named_file;
use locum_agent::session::event::{JournalLine, SessionStart};
use locum_agent::session::journal::Journal;
use locum_workspace::Workspace;
use locum_workspace::repo::CommitId;

/// Returns the run that a session is.
///
/// # Errors
/// When it was not started at the command line.
pub(super) fn local_of(start: &SessionStart) -> Result<LocalRun, RunError> {
    if start.is_imported() {
        return Err(RunError::usage(
            "ID",
            "the session was imported to be read; it cannot be resumed",
        )
        .hint("start a task of its own with `locum run`"));
    }
    serde_json::from_value(start.caller.clone()).map_err(|error| {
        RunError::usage("ID", format!("the session was not started at the command line: {error}"))
    })
}

/// Returns what was given for a run, with the policy file that was named as it is now; a file that
/// is gone counts as unchanged.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn overrides_now(
    local: &LocalRun,
    context: &CommandContext,
) -> Result<Overrides, RunError> {
    let given = &local.request.overrides;
    let policy = match &given.policy {
        Some(file) => Some(named_file(&context.folder.join(&file.origin))?.map_or_else(
            || file.clone(),
            |now| ConfigFile { origin: file.origin.clone(), text: now.text },
        )),
        None => None,
    };
    Ok(Overrides { policy, ..given.clone() })
}

/// Reads the journal of a session.
///
/// # Errors
/// When it cannot be read.
pub(super) fn lines_of(folder: &Path) -> Result<Vec<JournalLine>, RunError> {
    Journal::read(folder).map_err(|error| RunError::usage("ID", error.to_string()))
}

/// Returns the run with its checkout where that is now: one that was moved is named by `--repo`.
///
/// # Errors
/// When it is gone, or `--repo` names one that lacks the commit `base`.
pub(super) fn located(
    local: LocalRun,
    base: &CommitId,
    context: &CommandContext,
) -> Result<LocalRun, RunError> {
    let recorded = local.stands_for.as_ref().unwrap_or(&local.folder);
    let is_there = recorded.exists() || local.folder.exists();
    let elsewhere = |why: &str| {
        let message = format!("the checkout of this session is {why}");
        RunError::usage("ID", message).hint("name where it is now with `--repo DIR`")
    };
    match (is_there, &context.global.repo) {
        (true, None) => return Ok(local),
        (false, None) => {
            return Err(elsewhere(&format!("gone from `{}`", recorded.display())));
        }
        (_, Some(_)) => {}
    }
    let now = local_run::open(&context.folder)?;
    if now.repo.commit_of(&base.0).is_err() {
        return Err(elsewhere(&format!(
            "`{}`, and the one that `--repo` names lacks the commit it started from",
            recorded.display()
        )));
    }
    let folder = now.repo.root().to_owned();
    Ok(match local.stands_for {
        Some(_) => LocalRun { stands_for: Some(folder), ..local },
        None => LocalRun { folder, ..local },
    })
}

/// Opens the checkout of a run; its own worktree is made again where it was removed.
///
/// # Errors
/// When it is gone and cannot be made again.
pub(super) fn checkout(local: &LocalRun, session: &Path) -> Result<Workspace, RunError> {
    match (&local.stands_for, session.parent()) {
        (Some(original), Some(sessions)) if !local.folder.exists() => {
            let made = own_worktree::make(&local_run::open(original)?, &local.request, sessions)?;
            local_run::open(&made)
        }
        _ => local_run::open(&local.folder),
    }
}
