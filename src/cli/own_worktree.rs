//! The worktree of a run with `--worktree`.
//!
//! In: a checkout and what is to be done. Out: a worktree of its own beside the sessions; after the
//! run it stays where it has changes.

use std::path::{Path, PathBuf};

use crate::cli::live_run::RunDisplay;
use crate::cli::local_run::{self, LocalRun};
use crate::cli::output::Output;
use crate::cli::run_args::OutputFormat;
use crate::run::error::RunError;
use crate::run::run_request::RunRequest;
use crate::run::session_record::WORKTREES_FOLDER;
use locum_agent::session::outcome::Outcome;
use locum_workspace::Workspace;
use locum_workspace::repo::RepoError;
use locum_workspace::worktree::remove_worktree;

/// Makes a worktree for a run, beside the folder of sessions.
///
/// # Errors
/// When it cannot be made.
pub fn make(
    workspace: &Workspace,
    request: &RunRequest,
    sessions: &Path,
) -> Result<PathBuf, RunError> {
    let beside = sessions.parent().unwrap_or(sessions).join(WORKTREES_FOLDER);
    let folder = beside.join(request.session.as_str());
    let made = workspace.repo.worktree(&folder, &request.trusted);
    let (made, _) = made.map_err(|error| RunError::usage("--worktree", error.to_string()))?;
    Ok(made.checkout.root().to_owned())
}

/// Says where the changes of a run in its own worktree are; without changes, also of somebody else,
/// the worktree is removed.
///
/// # Errors
/// When it cannot be removed.
pub fn leave(
    local: &LocalRun,
    outcome: &Outcome,
    show: RunDisplay,
    output: &mut Output,
) -> Result<(), RunError> {
    let Some(folder) = local.folder.parent().filter(|_| local.stands_for.is_some()) else {
        return Ok(());
    };
    if outcome.changes.is_empty() && !outcome.may_go_on() && !has_changes(&local.folder) {
        return remove_worktree(folder).map_err(RunError::internal);
    }
    if show.format == OutputFormat::Text {
        output.line(format_args!("worktree: {}", local.folder.display()));
    }
    Ok(())
}

/// Whether something in a worktree is not as its commit has it. In doubt it is not.
fn has_changes(folder: &Path) -> bool {
    let Ok(Workspace { repo, .. }) = local_run::open(folder) else { return folder.exists() };
    let look = || {
        let head = repo.commit_of("HEAD")?;
        let paths = repo.uncommitted_paths(usize::MAX)?;
        // Files that go through a filter may only look changed.
        Ok::<_, RepoError>(paths.iter().any(|path| !repo.is_as_in(&head, path)))
    };
    look().unwrap_or(true)
}
