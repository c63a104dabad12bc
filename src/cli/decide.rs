//! `locum session approve|deny|answer`: the decision on what a session stopped for, written into
//! its journal; `resume` continues from there.
//!
//! The user at the command line owns the checkout, so their right to decide is not checked.

use std::path::PathBuf;

use crate::cli::output::Output;
use crate::cli::session_args::{SessionAnswerArgs, SessionApproveArgs, SessionDenyArgs};
use crate::cli::session_folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use locum_agent::session::event::{PersonDecision, RecordedDecision};
use locum_agent::session::hold::{self, DecisionError};
use locum_base::clock::Clock;

/// Approves the pending call.
///
/// # Errors
/// When the session does not wait for exactly that.
pub fn approve(
    args: &SessionApproveArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let session = PendingSession { session: &args.id, id: &args.hold, folder: &args.session_dir };
    record(session, PersonDecision::Approve, context, output)
}

/// Rejects the pending call.
///
/// # Errors
/// As [`approve`].
pub fn deny(
    args: &SessionDenyArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let word = PersonDecision::Deny { reason: args.reason.clone() };
    let session = PendingSession { session: &args.id, id: &args.hold, folder: &args.session_dir };
    record(session, word, context, output)
}

/// Answers the pending question.
///
/// # Errors
/// As [`approve`].
pub fn answer(
    args: &SessionAnswerArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let word = PersonDecision::Answer { text: args.text.clone() };
    let session =
        PendingSession { session: &args.id, id: &args.question, folder: &args.session_dir };
    record(session, word, context, output)
}

/// What waits for a decision.
struct PendingSession<'a> {
    /// The session's ID, or the start of it.
    session: &'a str,
    /// The ID of the hold or question.
    id: &'a str,
    /// The folder of sessions, where a flag names it.
    folder: &'a Option<PathBuf>,
}

fn record(
    PendingSession { session, id, folder }: PendingSession<'_>,
    word: PersonDecision,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&sessions_folder(context, folder.as_deref())?, session)?;
    let user = context.environment.get("USER").map_or_else(
        || "the command line".to_owned(),
        |user| format!("{user} at the command line"),
    );
    let decided = RecordedDecision { id: id.to_owned(), by: user, word };
    hold::decide(&folder, decided, SystemClock::start().now()).map_err(|error| match error {
        DecisionError::Journal(error) => RunError::internal(error.to_string()),
        error @ (DecisionError::NothingWaits(_)
        | DecisionError::OtherWaits { .. }
        | DecisionError::WrongKind(_)
        | DecisionError::Expired { .. }
        | DecisionError::Length) => RunError::usage("ID", error.to_string())
            .hint(format!("`locum session show {session}` shows what waits")),
    })?;
    let name = folder.file_name().unwrap_or_default().display().to_string();
    output.line(format!("recorded; continue with `locum session resume {name}`"));
    Ok(ExitStatus::Done)
}
