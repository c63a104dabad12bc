//! A session that a person, the time or the budget stopped is let go on, with more to spend where
//! that is asked; or a new one goes on with its conversation.
//!
//! In: the journal of a session that is not at work, and what a person asks for. Out: one more line
//! in it, or why not; or what the new session begins with. The caller checks who may ask.

use std::path::Path;

use jiff::Timestamp;

use crate::session::earlier::{EarlierConversation, UnpublishedWork};
use crate::session::event::{Event, JournalLine};
use crate::session::journal::{Journal, JournalError};
use crate::session::messages::MESSAGE_LIMIT_BYTES;
use crate::session::outcome::OutcomeWord;
use crate::session::recorded::TouchedPath;
use crate::session::state::SessionState;
use locum_base::chat::Message;
use locum_base::image::Image;
use locum_policy::budget::raise::{AbovePolicy, NewLimits};
use locum_policy::budget::{Budget, Exhausted};

/// What a person asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct GoOnRequest {
    /// Who asks: the user at the command line.
    pub by: String,
    /// What it may spend from now on.
    pub limits: NewLimits,
    /// The policy's budget, where it may not be passed.
    pub most: Option<Budget>,
    /// What they want besides; with it, a session that ended by itself goes on.
    pub words: Option<String>,
    /// Images that belong to these words.
    pub images: Vec<Image>,
}

/// Why a session does not go on.
#[derive(Debug, thiserror::Error)]
pub enum GoOnError {
    /// It ended by itself.
    #[error("the session ended as `{}`, so there is nothing to add to", .0.as_str())]
    NotStopped(OutcomeWord),
    /// It waits for a decision of a person.
    #[error("the session is `{}` and takes nothing until somebody decides", .0.as_str())]
    Undecided(OutcomeWord),
    /// A limit would stop it at once.
    #[error("the {0}")]
    UsedUp(Exhausted),
    /// Too many words.
    #[error("what it is to do besides has at most {MESSAGE_LIMIT_BYTES} bytes")]
    Length,
    /// Only the policy may raise a limit so far.
    #[error(transparent)]
    AbovePolicy(#[from] AbovePolicy),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Lets a session go on: writes it into the journal, where nothing stands in the way. Returns what
/// it may spend in all.
///
/// # Errors
/// Why it does not go on; nothing is written then.
pub fn go_on(folder: &Path, request: GoOnRequest, now: Timestamp) -> Result<Budget, GoOnError> {
    let mut journal = Journal::resume(folder)?;
    let budget = budget_of(&SessionState::of(journal.past()), &request)?;
    let GoOnRequest { by, words, images, limits: _, most: _ } = request;
    let event = Event::Continued { by, budget, words, images };
    journal.append(&JournalLine { at: now, event })?;
    Ok(budget)
}

/// Returns what a session that goes on may spend in all; nothing is written.
///
/// # Errors
/// Why it would not go on.
pub fn budget_of(state: &SessionState, request: &GoOnRequest) -> Result<Budget, GoOnError> {
    if let Some(outcome) = state.outcome.as_ref().filter(|outcome| !outcome.was_stopped()) {
        if outcome.pending().next().is_some() {
            return Err(GoOnError::Undecided(outcome.word));
        }
        if request.words.is_none() {
            return Err(GoOnError::NotStopped(outcome.word));
        }
    }
    if request.words.as_ref().is_some_and(|words| words.len() > MESSAGE_LIMIT_BYTES) {
        return Err(GoOnError::Length);
    }
    let (before, spent) = state.spending();
    let budget = request.limits.applied(&before, &spent);
    budget.ask_anything(&spent).map_err(GoOnError::UsedUp)?;
    if let Some(most) = request.most {
        most.ask_raise(&before, &budget)?;
    }
    Ok(budget)
}

/// Returns what an ended session leaves to the one that goes on with its conversation; `None` where
/// its model never replied. A reply with a call that was never answered is left out.
pub fn conversation_of(state: &SessionState) -> Option<EarlierConversation> {
    let root = state.root()?;
    let mut messages = Vec::clone(&root.conversation.messages);
    let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
    if root.turn.open().next().is_some() {
        messages.truncate(messages.iter().rposition(is_reply)?);
    }
    messages.iter().rposition(is_reply)?;
    let touched = state.tree.touched.iter().map(|(path, diff_lines)| TouchedPath {
        path: path.clone(),
        diff_lines: *diff_lines,
        amount: None,
    });
    let work = state.tree.checkpoint.as_ref().map(|checkpoint| UnpublishedWork {
        checkpoint: checkpoint.clone(),
        touched: touched.collect(),
    });
    Some(EarlierConversation {
        session: state.start.as_ref()?.id.clone(),
        messages,
        turns: root.conversation.earlier.turns.saturating_add(root.turn.number),
        work,
        result: result_of(state),
    })
}

/// Returns the results of a session and of those whose work it went on with, each in a paragraph.
fn result_of(state: &SessionState) -> String {
    let earlier = state.start.as_ref().and_then(|start| start.earlier.as_ref());
    let before = earlier.filter(|earlier| earlier.work.is_some()).map(|one| one.result.as_str());
    let is_done =
        |word| matches!(word, OutcomeWord::Done | OutcomeWord::Partial | OutcomeWord::ChecksFailed);
    let own = state.outcome.as_ref().filter(|outcome| is_done(outcome.word));
    let results = before.into_iter().chain(own.map(|outcome| outcome.summary.trim()));
    results.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}
