//! `locum session checkpoints|diff|restore`: what a session's files were after each step, and the
//! way back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::cli::local_run::{self, Waiting};
use crate::cli::output::Output;
use crate::cli::recorded_run::{self, local_of};
use crate::cli::session::args::{SessionCheckpointsArgs, SessionDiffArgs, SessionRestoreArgs};
use crate::cli::session::folder::{believed_sessions_folder, find};
use crate::cli::{CommandContext, ExitStatus, decide};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::kept_folder::check_outside;
use locum_agent::report::figures;
use locum_agent::report::markdown::visible;
use locum_agent::session::event::{JournalLine, SessionStart};
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::Journal;
use locum_agent::session::rewind::{self, Checkpoint, RewindError, Rewound, without_content};
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_base::path::RepoPath;
use locum_workspace::Workspace;
use locum_workspace::repo::{CommitId, RepoError};

/// A checkpoint as it is listed.
#[derive(Serialize)]
struct CheckpointRow {
    checkpoint: usize,
    at: String,
    /// What the run was at.
    step: String,
    commit: String,
    files: Vec<String>,
    /// Lines by which these files differ from where the run started.
    lines: u32,
}

/// Lists the checkpoints of a session.
///
/// # Errors
/// When there is no such session, or its journal cannot be read.
pub(in crate::cli) fn list(
    args: &SessionCheckpointsArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let session = RecordedSession::open(&args.id, args.session_dir.as_deref(), context)?;
    let labels = session.labels(context);
    let rows: Vec<CheckpointRow> = rewind::checkpoints(&session.lines)
        .into_iter()
        .map(|Checkpoint { number, at, commit, touched, .. }| CheckpointRow {
            checkpoint: number,
            at: at.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
            step: labels
                .iter()
                .find(|(known, _)| *known == commit)
                .map_or_else(|| "gone from git".to_owned(), |(_, label)| label.clone()),
            commit: commit.0,
            lines: touched.iter().filter_map(|touched| touched.diff_lines).sum(),
            files: touched.iter().map(|touched| touched.path.to_string()).collect(),
        })
        .collect();
    if args.json {
        output.json(&rows);
        return Ok(ExitStatus::Done);
    }
    output.table(
        ["N", "MADE", "STEP", "COMMIT", "LINES", "FILES"],
        rows.iter().map(|row| {
            [
                row.checkpoint.to_string(),
                row.at.clone(),
                visible(&row.step),
                row.commit.chars().take(12).collect(),
                row.lines.to_string(),
                figures::clip(&visible(&row.files.join(" ")), 60),
            ]
        }),
    );
    if rows.is_empty() {
        output.talk("the session changed no file");
    }
    Ok(ExitStatus::Done)
}

/// Shows what changed between two checkpoints.
///
/// # Errors
/// When there is no such session or checkpoint, or git no longer has it.
pub(in crate::cli) fn diff(
    args: &SessionDiffArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let session = RecordedSession::open(&args.id, args.session_dir.as_deref(), context)?;
    let all = rewind::checkpoints(&session.lines);
    let (from, to) = match (args.from, args.to) {
        (None, _) => (0, all.len()),
        (Some(number), None) => (number.saturating_sub(1), number),
        (Some(from), Some(to)) => (from, to),
    };
    let start = session.start()?;
    if start.is_imported() {
        let what = "the session was imported to be read: its checkpoints are not here";
        return Err(RunError::usage("ID", what));
    }
    let commit = |number: usize| -> Result<CommitId, RunError> {
        if number == 0 {
            return Ok(start.base.clone());
        }
        let found = rewind::checkpoint(&session.lines, number).map_err(refused)?;
        Ok(found.commit)
    };
    let end = commit(to)?;
    let ends = (commit(from)?, end);
    let touched = all.iter().flat_map(|checkpoint| &checkpoint.touched);
    let paths: BTreeSet<RepoPath> = touched.map(|touched| touched.path.clone()).collect();
    let workspace = session.workspace(context)?;
    let changes = workspace
        .repo
        .changes_between((&ends.0, &ends.1), &paths)
        .map_err(|error| refused(error.into()))?;
    if args.json {
        output.json(&json!({ "from": from, "to": to, "changes": changes }));
        return Ok(ExitStatus::Done);
    }
    if changes.is_empty() {
        output.talk("nothing is different");
        return Ok(ExitStatus::Done);
    }
    output.patch(&figures::diff(&changes));
    Ok(ExitStatus::Done)
}

/// Brings the files of a session back to a checkpoint.
///
/// # Errors
/// When there is no such session or checkpoint, or another run works in the checkout.
pub(in crate::cli) fn restore(
    args: &SessionRestoreArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let session = RecordedSession::open(&args.id, args.session_dir.as_deref(), context)?;
    if args.and_conversation && args.number == 0 {
        return Err(RunError::usage("N", "there is no conversation before the first checkpoint")
            .hint("start the task again with `locum run`"));
    }
    let rewound = session.go_back(args.number, Waiting::Never, context, output)?;
    let branched =
        if args.and_conversation { Some(session.branch(args.number, context)?) } else { None };
    if args.json {
        output.json(&json!({
            "checkpoint": args.number,
            "saved_as": rewound.before,
            "files": rewound.paths.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "unfiltered": rewound.unfiltered.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "session": branched.as_ref().map(SessionId::as_str),
        }));
        return Ok(ExitStatus::Done);
    }
    let number = args.number;
    output.line(format_args!("the files are as they were at checkpoint {number}"));
    if !rewound.unfiltered.is_empty() {
        output.line(format_args!("but not all: {}", without_content(&rewound.unfiltered)));
    }
    if let Some(before) = rewound.before {
        output.line(format_args!("what they were before is checkpoint {before}"));
    }
    if let Some(branched) = branched {
        output.line(format_args!(
            "session {branched} goes on from there: `locum session resume {branched}`"
        ));
    }
    Ok(ExitStatus::Done)
}

/// A session as its journal records it.
pub(in crate::cli) struct RecordedSession {
    folder: PathBuf,
    lines: Vec<JournalLine>,
}

impl RecordedSession {
    /// Finds a session and reads its journal.
    ///
    /// # Errors
    /// When there is none, or its journal cannot be read.
    pub(in crate::cli) fn open(
        id: &str,
        session_dir: Option<&Path>,
        context: &CommandContext,
    ) -> Result<Self, RunError> {
        let folder = find(&believed_sessions_folder(context, session_dir)?, id)?;
        let lines = recorded_run::lines_of(&folder)?;
        Ok(Self { folder, lines })
    }

    fn start(&self) -> Result<Box<SessionStart>, RunError> {
        SessionState::of(&self.lines)
            .start
            .ok_or_else(|| RunError::usage("ID", "the session was killed before it began"))
    }

    /// Opens the repository of the session: the checkout it worked in, else the one asked from.
    fn workspace(&self, context: &CommandContext) -> Result<Workspace, RunError> {
        let start = self.start()?;
        match local_of(&start) {
            Ok(local) => {
                let local = recorded_run::located(local, &start.base, context)?;
                recorded_run::checkout(&local, &self.folder)
            }
            Err(_) => local_run::open(&context.folder),
        }
    }

    /// Returns what git says each checkpoint was made at.
    fn labels(&self, context: &CommandContext) -> Vec<(CommitId, String)> {
        let all = || {
            let (workspace, start) = (self.workspace(context).ok()?, self.start().ok()?);
            workspace.repo.checkpoints(start.id.as_str(), &start.base, usize::MAX).ok()
        };
        all().unwrap_or_default()
    }

    /// Brings the files back to a checkpoint, where nobody else works on them.
    ///
    /// # Errors
    /// When there is no such checkpoint, or a run is at work.
    pub(in crate::cli) fn go_back(
        &self,
        number: usize,
        waiting: Waiting,
        context: &CommandContext,
        output: &mut Output,
    ) -> Result<Rewound, RunError> {
        local_of(&*self.start()?)?;
        if Journal::is_held(&self.folder) {
            return Err(RunError::usage("ID", "the session is at work")
                .hint("stop it where it runs (Ctrl-C, SIGTERM)"));
        }
        let workspace = self.workspace(context)?;
        let _lock = local_run::lock(&workspace, waiting, output)?;
        self.go_back_in(&workspace, number, context)
    }

    /// Brings the files of a checkout that is locked back to a checkpoint.
    ///
    /// # Errors
    /// When there is no such checkpoint, or a file cannot be written.
    pub(in crate::cli) fn go_back_in(
        &self,
        workspace: &Workspace,
        number: usize,
        context: &CommandContext,
    ) -> Result<Rewound, RunError> {
        check_outside("session_dir", &self.folder, workspace.checkout.root())?;
        let now = SystemClock::start().now();
        rewind::restore(&self.folder, &workspace.repo, number, &decide::person(context), now)
            .map_err(refused)
    }

    /// Makes a session whose conversation ends at a checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(in crate::cli) fn branch(
        &self,
        number: usize,
        context: &CommandContext,
    ) -> Result<SessionId, RunError> {
        let id = SessionId::fresh();
        let into = self.folder.with_file_name(id.as_str());
        let workspace = self.workspace(context)?;
        let now = SystemClock::start().now();
        rewind::branch(&self.folder, &workspace.repo, number, (&id, &into), now)
            .map_err(refused)?;
        Ok(id)
    }
}

/// Returns why there is no way back, with what to do about it.
pub(in crate::cli) fn refused(error: RewindError) -> RunError {
    match error {
        RewindError::Partly { before, .. } => {
            RunError::usage("N", error.to_string()).hint(format!(
                "move away what stands there and try again, or undo it: `locum session restore ID \
             {before}`"
            ))
        }
        RewindError::Unknown { made, .. } => {
            let hint = if made == 0 { "it changed no file" } else { "0 is where it started" };
            RunError::usage("N", error.to_string())
                .hint(format!("`locum session checkpoints ID` lists them; {hint}"))
        }
        RewindError::Repo(RepoError::File(_)) => RunError::usage("N", error.to_string())
            .hint("move away what stands there, and try again"),
        RewindError::Repo(_) => RunError::usage("N", error.to_string())
            .hint("git may have removed the checkpoints, or another clone has them"),
        RewindError::Journal(_) => RunError::internal(error.to_string()),
    }
}
