//! `locum session approve|deny|answer`: a person's word on what a session stopped for, written into
//! its journal; `resume` goes on from there.
//!
//! The person at the command line is the owner of the checkout: nobody is asked who may.

use std::path::Path;

use crate::cli::args::{SessionAnswerArgs, SessionApproveArgs, SessionDenyArgs};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::session::{find, sessions_folder};
use crate::cli::{Context, ExitStatus};
use crate::run::clock::SystemClock;
use locum_agent::session::event::{Decided, PersonsWord};
use locum_agent::session::hold::{self, NotDecided};
use locum_base::clock::Clock;

/// Says yes to a held call.
///
/// # Errors
/// When the session does not wait for exactly that.
pub fn approve(
    args: &SessionApproveArgs,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    record(&args.id, &args.hold, PersonsWord::Approve, args.session_dir.as_deref(), context, output)
}

/// Says no to a held call.
///
/// # Errors
/// As [`approve`].
pub fn deny(
    args: &SessionDenyArgs,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let word = PersonsWord::Deny { reason: args.reason.clone() };
    record(&args.id, &args.hold, word, args.session_dir.as_deref(), context, output)
}

/// Answers a question.
///
/// # Errors
/// As [`approve`].
pub fn answer(
    args: &SessionAnswerArgs,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let word = PersonsWord::Answer { text: args.text.clone() };
    record(&args.id, &args.question, word, args.session_dir.as_deref(), context, output)
}

fn record(
    session: &str,
    id: &str,
    word: PersonsWord,
    session_dir: Option<&Path>,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let folder = find(&sessions_folder(context, session_dir)?, session)?;
    let user = context.environment.get("USER").map_or_else(
        || "the command line".to_owned(),
        |user| format!("{user} at the command line"),
    );
    let decided = Decided { id: id.to_owned(), by: user, word };
    hold::decide(&folder, decided, SystemClock::start().now()).map_err(|error| match error {
        NotDecided::Journal(error) => Failure::internal(error.to_string()),
        error @ (NotDecided::NothingWaits(_)
        | NotDecided::OtherWaits { .. }
        | NotDecided::WrongKind(_)
        | NotDecided::Expired { .. }
        | NotDecided::Length) => Failure::usage("ID", error.to_string())
            .hint(format!("`locum session show {session}` shows what waits")),
    })?;
    let name = folder.file_name().unwrap_or_default().display().to_string();
    output.line(format!("recorded; `locum session resume {name}` goes on"));
    Ok(ExitStatus::Done)
}
