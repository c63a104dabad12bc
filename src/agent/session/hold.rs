//! Holds and questions: what a session waits for, and how a maintainer's decision is recorded so
//! that it resumes at exactly that call.
//!
//! A hold is named by a hash of the session, its policy, the call with its arguments and what was
//! held of it; a question by one of the call that asks. So an approval covers that call and no
//! other, and only once: the answered call never waits again. In: an ended session's journal and a
//! maintainer's decision. Out: one more line in it, or why not. The caller checks who may decide.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::journal::{Journal, JournalError};
use crate::session::messages::MESSAGE_LIMIT_BYTES;
use crate::session::outcome::PendingDecision;
use crate::session::recorded::{PersonDecision, RecordedDecision};
use crate::session::state::SessionState;
use locum_base::chat::ToolCall;
use locum_base::id::TaskId;
use locum_policy::verdict::Verdict;

/// Time after which a hold or question expires: its approval may no longer be wanted.
pub const WAIT_LIMIT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Most bytes of an answer that are accepted.
pub const WORDS_LIMIT_BYTES: usize = 32 * 1024;

/// Digits of a name.
const ID_DIGITS: usize = 16;

/// Why a decision is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// The session does not wait for a decision.
    #[error("the session is not waiting for a decision: {0}")]
    NothingWaits(String),
    /// Something else waits.
    #[error("`{target}` is not the pending decision, which is `{waiting}`")]
    OtherWaits {
        /// Id that the decision names.
        target: String,
        /// Id of the pending decision.
        waiting: String,
    },
    /// A hold is approved or denied, a question answered.
    #[error("{0}")]
    WrongKind(&'static str),
    /// It is over.
    #[error("it has waited since {since}, longer than the {days} days a hold or question stays open", days = WAIT_LIMIT.as_hours() / 24)]
    Expired {
        /// When the session stopped for it.
        since: Timestamp,
    },
    /// An answer without words, or too long.
    #[error("an answer has 1 to {WORDS_LIMIT_BYTES} bytes")]
    Length,
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl PendingDecision {
    /// Returns the event that records a decision.
    ///
    /// # Errors
    /// When it is about something else, of the wrong kind, or too late.
    fn decided(
        &self,
        decision: RecordedDecision,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Event, DecisionError> {
        if now.duration_since(since) > WAIT_LIMIT {
            return Err(DecisionError::Expired { since });
        }
        let fits = match (self, &decision.word) {
            (Self::Hold(_), PersonDecision::Approve) => decision.note.len() <= MESSAGE_LIMIT_BYTES,
            (Self::Hold(_), PersonDecision::Deny { reason }) => reason.len() <= WORDS_LIMIT_BYTES,
            (Self::Question(_), PersonDecision::Answer { text }) => {
                (1..=WORDS_LIMIT_BYTES).contains(&text.trim().len())
            }
            (Self::Hold(_), PersonDecision::Answer { .. }) => {
                return Err(DecisionError::WrongKind(
                    "a call waits there, which is approved or denied, not answered",
                ));
            }
            (Self::Question(_), PersonDecision::Approve | PersonDecision::Deny { .. }) => {
                return Err(DecisionError::WrongKind(
                    "a question waits there, which is answered, not approved or denied",
                ));
            }
        };
        if !fits {
            return Err(DecisionError::Length);
        }
        let (task, call) = self.call();
        Ok(Event::Decided { task, call: call.to_owned(), decision })
    }
}

/// Writes a decision into the journal of an ended session, which resumes there. Where several calls
/// wait, each is decided by itself, in any order.
///
/// # Errors
/// When the session waits for nothing, for something else, or too long already; when the journal is
/// in use or cannot be written.
pub fn decide(
    folder: &Path,
    decision: RecordedDecision,
    now: Timestamp,
) -> Result<(), DecisionError> {
    let mut journal = Journal::resume(folder)?;
    let state = SessionState::of(journal.past());
    let waiting = waiting_for(&state, &decision)?;
    let event = waiting.decided(decision, state.last_at().unwrap_or(now), now)?;
    Ok(journal.append(&JournalLine { at: now, event })?)
}

/// Returns what a decision is about.
fn waiting_for<'s>(
    state: &'s SessionState,
    decision: &RecordedDecision,
) -> Result<&'s PendingDecision, DecisionError> {
    let named =
        |pending: &&PendingDecision| !pending.id().is_empty() && pending.id() == decision.id;
    if let Some(waiting) = state.pending.iter().find(named) {
        return Ok(waiting);
    }
    let calls = || state.tasks.iter().flat_map(|task| &task.turn.waiting);
    let decided = || calls().filter_map(|call| call.decided.as_ref());
    let nothing = |why: String| Err(DecisionError::NothingWaits(why));
    if decided().chain(&state.start_decided).any(|decided| decided.id == decision.id) {
        return nothing("that was decided already".to_owned());
    }
    if !state.pending.is_empty() {
        let waiting: Vec<&str> = state.pending.iter().map(PendingDecision::id).collect();
        let waiting = waiting.join("` or `");
        return Err(DecisionError::OtherWaits { target: decision.id.clone(), waiting });
    }
    match &state.outcome {
        Some(outcome) => nothing(format!("it ended as `{}`", outcome.word.as_str())),
        None if state.start_decided.is_some() || decided().next().is_some() => {
            nothing("that was decided already".to_owned())
        }
        None => nothing("it has not ended".to_owned()),
    }
}

/// Names a held call: the same call held for the same reasons under the same policy, in this
/// session.
pub(crate) fn hold_id(
    start: &SessionStart,
    task: TaskId,
    call: &ToolCall,
    verdicts: &[Verdict],
) -> String {
    let held = verdicts.iter().map(|verdict| (verdict.intent.as_str(), verdict.rule()));
    name_of(&serde_json::json!([
        start.id,
        start.policy_hash,
        start.base,
        task,
        call,
        held.collect::<Vec<_>>()
    ]))
}

/// Names a question by the call that asks it.
pub(crate) fn question_id(start: &SessionStart, task: TaskId, call: &ToolCall) -> String {
    name_of(&serde_json::json!([start.id, task, call]))
}

fn name_of(facts: &serde_json::Value) -> String {
    format!("{:.ID_DIGITS$x}", Sha256::digest(facts.to_string()))
}
