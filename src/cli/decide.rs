//! `locum session approve|deny|answer`: the decision on what a session stopped for, written into
//! its journal; `resume` continues from there.
//!
//! The user at the command line owns the checkout, so their right to decide is not checked.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::session::args::{
    SessionAnswerArgs, SessionApproveArgs, SessionDenyArgs, SessionSendArgs,
};
use crate::cli::session::folder::{believed_sessions_folder, find};
use crate::cli::{CommandContext, ExitStatus, always, given_images};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;
use locum_agent::session::hold::{self, DecisionError};
use locum_agent::session::journal::Journal;
use locum_agent::session::messages::{self, PersonMessage, SendError};
use locum_agent::session::recorded::{PersonDecision, RecordedDecision};
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_base::image::Image;

/// Approves the pending call.
///
/// # Errors
/// When the session does not wait for exactly that.
pub fn approve(
    args: &SessionApproveArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let word = PersonDecision::Approve;
    let decision = LocalDecision {
        ids: &args.hold,
        word,
        note: &args.note,
        always: args.always,
        as_json: args.json,
    };
    record(&args.id, args.session_dir.as_deref(), &decision, context, output)
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
    let decision =
        LocalDecision { ids: &args.hold, word, note: "", always: false, as_json: args.json };
    record(&args.id, args.session_dir.as_deref(), &decision, context, output)
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
    let ids = std::slice::from_ref(&args.question);
    let decision = LocalDecision { ids, word, note: "", always: false, as_json: args.json };
    record(&args.id, args.session_dir.as_deref(), &decision, context, output)
}

/// Sends words to a session at work.
///
/// # Errors
/// When it is not at work, or the words are none or too many.
pub fn send(
    args: &SessionSendArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&believed_sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let name = folder.file_name().unwrap_or_default().display().to_string();
    if !Journal::is_held(&folder) {
        return Err(RunError::usage("ID", format!("session {name} is not at work"))
            .hint(format!("let it go on: `locum session resume {name} \"TEXT\"`")));
    }
    let now = SystemClock::start().now();
    let id = format!("{:020}-{}", now.as_nanosecond(), std::process::id());
    let parse = |bytes: &[u8]| Image::parse(bytes).map_err(|error| format!("it {error}"));
    let images = given_images::of_message(&args.image, context, parse)?;
    let sent = json!({ "session": name, "message": id });
    let message = PersonMessage { id, by: person(context), text: args.text.clone(), images };
    messages::send(&folder, &message).map_err(|error| match error {
        SendError::Length | SendError::Full => RunError::usage("TEXT", error.to_string()),
        SendError::Io { .. } => RunError::internal(error.to_string()),
    })?;
    if args.json {
        output.json(&sent);
    } else {
        output.line("sent; the model reads it before its next turn");
    }
    Ok(ExitStatus::Done)
}

/// Returns the user at the command line, as the journal names them.
pub(super) fn person(context: &CommandContext) -> String {
    context
        .environment
        .get("USER")
        .map_or_else(|| "the command line".to_owned(), |user| format!("{user} at the command line"))
}

/// A decision at the command line.
struct LocalDecision<'a> {
    /// Names of what is decided on, or `all`.
    ids: &'a [String],
    word: PersonDecision,
    /// What is said beside a yes.
    note: &'a str,
    /// Whether a rule is to be proposed.
    always: bool,
    /// Whether the result is JSON.
    as_json: bool,
}

/// What was recorded, as programs read it.
#[derive(Serialize)]
struct RecordedRow<'a> {
    session: &'a str,
    /// Names of what was decided on.
    recorded: &'a [String],
    /// The change of the policy that was asked for; `null` without one.
    patch: Option<&'a str>,
    /// What is said beside it.
    notes: Vec<String>,
}

/// Records a decision on what waits in a session.
fn record(
    session: &str,
    session_dir: Option<&Path>,
    decision: &LocalDecision<'_>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&believed_sessions_folder(context, session_dir)?, session)?;
    // Copied out of a sentence, a name brings its full stop or comma along.
    let plain =
        |id: &String| id.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_owned();
    let mut ids: Vec<String> = decision.ids.iter().map(plain).collect();
    if ids == ["all"] {
        let lines =
            Journal::read(&folder).map_err(|error| RunError::internal(error.to_string()))?;
        let pending = SessionState::of(&lines).pending;
        ids = pending.iter().filter_map(|one| Some(one.hold()?.id.clone())).collect();
        if ids.is_empty() {
            return Err(RunError::usage("HOLD", "no call waits in this session"));
        }
    }
    let proposed =
        if decision.always { Some(always::proposed(&folder, &ids, context)?) } else { None };
    for (place, id) in ids.iter().cloned().enumerate() {
        let note = if place == 0 { decision.note.to_owned() } else { String::new() };
        let decided =
            RecordedDecision { id, by: person(context), word: decision.word.clone(), note };
        hold::decide(&folder, decided, SystemClock::start().now()).map_err(
            |error| match error {
                DecisionError::Journal(error) => RunError::internal(error.to_string()),
                error @ (DecisionError::NothingWaits(_)
                | DecisionError::OtherWaits { .. }
                | DecisionError::WrongKind(_)
                | DecisionError::Expired { .. }
                | DecisionError::Length) => RunError::usage("ID", error.to_string())
                    .hint(format!("`locum session show {session}` shows what waits")),
            },
        )?;
    }
    let name = folder.file_name().unwrap_or_default().display().to_string();
    if decision.as_json {
        let patch = proposed.as_ref().map(|rule| rule.patch.as_str());
        let notes = proposed.iter().flat_map(|rule| rule.notes()).map(|note| note.to_string());
        output.json(&RecordedRow {
            session: &name,
            recorded: &ids,
            patch: patch.filter(|patch| !patch.is_empty()),
            notes: notes.collect(),
        });
        return Ok(ExitStatus::Done);
    }
    output.line(format!("recorded; continue with `locum session resume {name}`"));
    if let Some(rule) = proposed {
        rule.notes().iter().for_each(|note| output.talk(note));
        if !rule.patch.is_empty() {
            output.line(visible(rule.patch.trim_end()));
        }
    }
    Ok(ExitStatus::Done)
}
