//! Holds and questions: how a session stops for a person, and how what they say is written down so
//! that it goes on at exactly that call.
//!
//! A hold is named by a hash of the session, its policy, the call with its arguments and what was
//! held of it; a question by one of the call that asks. So a yes covers that call and no other, and
//! only once: the answered call never waits again. In: an ended session's journal and a person's
//! words. Out: one more line in it, or why not. Who may say it is the caller's matter.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::session::Session;
use crate::session::calls::reasons;
use crate::session::event::{Decided, Event, JournalLine, PersonsWord, SessionStart};
use crate::session::journal::{Journal, JournalError};
use crate::session::outcome::{HeldCall, OutcomeWord, Question};
use crate::session::state::State;
use crate::session::stop::Stop;
use crate::session::task::WaitingCall;
use crate::tools::dispatch::Call;
use locum_base::chat::ToolCall;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::text::Clipped;
use locum_policy::Permit;
use locum_policy::approval::Approval;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Refusal, Verdict};
use locum_workspace::{Workspace, diff};

/// After so long a hold or question is over: what it was about may no longer be what anybody has in
/// mind.
pub const WAIT_LIMIT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Bytes of a held call's arguments that are shown.
pub const ARGUMENTS_LIMIT_BYTES: usize = 4 * 1024;

/// Bytes of a held edit's diff that are shown.
pub const DIFF_LIMIT_BYTES: usize = 16 * 1024;

/// Bytes of what a person says that are taken.
pub const WORDS_LIMIT_BYTES: usize = 32 * 1024;

/// Digits of a name.
const ID_DIGITS: usize = 16;

/// Largest file a diff is shown of.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// What a session waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A yes or no.
    Hold(Box<HeldCall>),
    /// An answer.
    Question(Question),
}

/// Why what a person said changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    /// The session does not wait for anyone.
    #[error("the session waits for nobody: {0}")]
    NothingWaits(String),
    /// Something else waits.
    #[error("`{asked}` is not what waits: that is `{waiting}`")]
    OtherWaits {
        /// What was named.
        asked: String,
        /// What waits.
        waiting: String,
    },
    /// A hold takes yes or no, a question words.
    #[error("{0}")]
    WrongKind(&'static str),
    /// It is over.
    #[error("it has waited since {since}, longer than the {days} days a hold or question stays open", days = WAIT_LIMIT.as_hours() / 24)]
    Expired {
        /// Since when.
        since: Timestamp,
    },
    /// An answer without words, or too long.
    #[error("an answer has 1 to {WORDS_LIMIT_BYTES} bytes")]
    Length,
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Waiting {
    /// Returns what an ended session waits for; `None` when it does not.
    #[must_use]
    pub fn of(state: &State) -> Option<Self> {
        let outcome = state.outcome.as_deref()?;
        match outcome.word {
            OutcomeWord::OnHold => outcome.held.clone().map(Self::Hold),
            OutcomeWord::NeedsInput => outcome.question.clone().map(Self::Question),
            OutcomeWord::Done
            | OutcomeWord::NothingToDo
            | OutcomeWord::Refused
            | OutcomeWord::BudgetExhausted
            | OutcomeWord::TimedOut
            | OutcomeWord::Failed
            | OutcomeWord::Cancelled => None,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Hold(held) => &held.id,
            Self::Question(question) => &question.id,
        }
    }

    fn place(&self) -> (TaskId, String) {
        match self {
            Self::Hold(held) => (held.task, held.call.clone()),
            Self::Question(question) => (question.task, question.call.clone()),
        }
    }

    /// Returns the event by which a person's word is recorded.
    ///
    /// # Errors
    /// When it is about something else, of the wrong kind, or too late.
    fn decided(
        &self,
        decision: Decided,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Event, NotDecided> {
        if self.id().is_empty() || self.id() != decision.id {
            return Err(NotDecided::OtherWaits {
                asked: decision.id,
                waiting: self.id().to_owned(),
            });
        }
        if now.duration_since(since) > WAIT_LIMIT {
            return Err(NotDecided::Expired { since });
        }
        match (self, &decision.word) {
            (Self::Hold(_), PersonsWord::Approve) => {}
            (Self::Hold(_), PersonsWord::Deny { reason }) if reason.len() <= WORDS_LIMIT_BYTES => {}
            (Self::Question(_), PersonsWord::Answer { text })
                if (1..=WORDS_LIMIT_BYTES).contains(&text.trim().len()) => {}
            (Self::Hold(_), PersonsWord::Answer { .. }) => {
                return Err(NotDecided::WrongKind(
                    "a call waits there, which is approved or denied, not answered",
                ));
            }
            (Self::Question(_), PersonsWord::Approve | PersonsWord::Deny { .. }) => {
                return Err(NotDecided::WrongKind(
                    "a question waits there, which is answered, not approved or denied",
                ));
            }
            (Self::Hold(_), PersonsWord::Deny { .. })
            | (Self::Question(_), PersonsWord::Answer { .. }) => return Err(NotDecided::Length),
        }
        let (task, call) = self.place();
        Ok(Event::Decided { task, call, decision })
    }
}

/// Writes what a person said into the journal of an ended session; the session then goes on there
/// when it is resumed.
///
/// # Errors
/// When the session waits for nothing, for something else, or too long already; when the journal is
/// in use or cannot be written.
pub fn decide(folder: &Path, decision: Decided, now: Timestamp) -> Result<(), NotDecided> {
    let mut journal = Journal::resume(folder)?;
    let state = State::of(journal.past());
    let Some(waiting) = Waiting::of(&state) else {
        let why = match &state.outcome {
            Some(outcome) => format!("it ended as `{}`", outcome.word.as_str()),
            None if state
                .tasks
                .iter()
                .flat_map(|task| &task.waiting)
                .any(|call| call.decided.is_some()) =>
            {
                "that was decided already".to_owned()
            }
            None => "it has not ended".to_owned(),
        };
        return Err(NotDecided::NothingWaits(why));
    };
    let event = waiting.decided(decision, state.last_at().unwrap_or(now), now)?;
    Ok(journal.append(&JournalLine { at: now, event })?)
}

/// Names a held call: the same call held for the same reasons under the same policy, in this
/// session.
fn hold_id(start: &SessionStart, task: TaskId, call: &ToolCall, verdicts: &[Verdict]) -> String {
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

fn question_id(start: &SessionStart, task: TaskId, call: &ToolCall) -> String {
    name_of(&serde_json::json!([start.id, task, call]))
}

fn name_of(facts: &serde_json::Value) -> String {
    let hash: String =
        Sha256::digest(facts.to_string()).iter().map(|byte| format!("{byte:02x}")).collect();
    hash.chars().take(ID_DIGITS).collect()
}

impl Session<'_> {
    /// Returns the yes that covers a held call, or the no to it; `None` while nobody said anything
    /// to exactly this hold.
    pub(crate) fn decision_on(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        refusal: &Refusal,
    ) -> Option<Result<Approval, Decided>> {
        let decided = waiting.decided.as_ref()?;
        if decided.id != hold_id(self.state.start.as_ref()?, id, &waiting.call, &refusal.verdicts) {
            return None;
        }
        match &decided.word {
            PersonsWord::Approve => {
                let intents =
                    refusal.verdicts.iter().map(|verdict| verdict.intent.clone()).collect();
                Some(Ok(Approval { hold: decided.id.clone(), by: decided.by.clone(), intents }))
            }
            PersonsWord::Deny { .. } => Some(Err(decided.clone())),
            PersonsWord::Answer { .. } => None,
        }
    }

    /// Returns the stop at a held call, with what people need to decide on it.
    pub(crate) fn hold(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        headline: &str,
        call: &Call,
        refusal: &Refusal,
    ) -> Result<Stop, Stop> {
        let mode = self.task(id)?.mode.clone();
        let place = self.place(id)?;
        let Some(start) = &self.state.start else {
            return Ok(Stop::session(OutcomeWord::OnHold, "a rule says hold"));
        };
        let diff = self.preview(&place, &mode, call).map(|diff| {
            Clipped::head_tail(&self.parts.run.redactor.redact(&diff), DIFF_LIMIT_BYTES).text
        });
        let held = HeldCall {
            id: hold_id(start, id, &waiting.call, &refusal.verdicts),
            task: id,
            call: waiting.call.id.clone(),
            mode,
            tool: waiting.call.name.clone(),
            headline: headline.to_owned(),
            arguments: Clipped::head_tail(&waiting.call.arguments, ARGUMENTS_LIMIT_BYTES).text,
            verdicts: refusal.verdicts.clone(),
            diff,
        };
        let stop = Stop::session(
            OutcomeWord::OnHold,
            format!("`{headline}` needs a person: {}", reasons(refusal)),
        );
        Ok(Stop { waiting: Some(Box::new(Waiting::Hold(Box::new(held)))), ..stop })
    }

    /// Returns the stop at a question.
    pub(crate) fn ask_people(
        &self,
        id: TaskId,
        waiting: &WaitingCall,
        text: String,
        suggestions: Vec<String>,
    ) -> Stop {
        let name = self
            .state
            .start
            .as_ref()
            .map(|start| question_id(start, id, &waiting.call))
            .unwrap_or_default();
        let question =
            Question { id: name, task: id, call: waiting.call.id.clone(), text, suggestions };
        let stop = Stop::session(OutcomeWord::NeedsInput, "a question has to be answered first");
        Stop { waiting: Some(Box::new(Waiting::Question(question))), ..stop }
    }

    /// Returns what a person answered to the question this call asks; `None` while nobody did.
    pub(crate) fn answer_to<'w>(
        &self,
        id: TaskId,
        waiting: &'w WaitingCall,
    ) -> Option<(&'w str, &'w str)> {
        let decided = waiting.decided.as_ref()?;
        let named = decided.id == question_id(self.state.start.as_ref()?, id, &waiting.call);
        match &decided.word {
            PersonsWord::Answer { text } if named => Some((&decided.by, text)),
            PersonsWord::Answer { .. } | PersonsWord::Approve | PersonsWord::Deny { .. } => None,
        }
    }

    /// Returns what an edit would change; `None` for other calls, and where the file may not be
    /// read.
    fn preview(&self, place: &Workspace, mode: &str, call: &Call) -> Option<String> {
        let path = call
            .intents()
            .into_iter()
            .find_map(|intent| if let Intent::Edit(path) = intent { Some(path) } else { None })?;
        let permit: Permit<Look> =
            self.parts.run.policy.admit(Look(path.clone()), &self.facts(mode)).ok()?;
        let before = place.checkout.read(&permit, &path, FILE_LIMIT_BYTES).ok();
        let after = call.content_after(before.as_deref())?;
        diff::between(&path, before.as_deref(), &after).map(|change| change.patch)
    }
}

/// The act of looking at a file that a held call would change.
struct Look(RepoPath);

impl Act for Look {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.0.clone())]
    }
}
