//! `Stop`: why a task or a whole session cannot continue, as an outcome word and one sentence for
//! readers.

use crate::session::journal::JournalError;
use crate::session::outcome::{OutcomeWord, PendingDecision};
use locum_models::ModelError;
use locum_policy::budget::Exhausted;
use locum_policy::spending_limit::ReachedLimit;
use locum_workspace::repo::RepoError;

/// Why it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How far it reaches.
    pub reach: StopScope,
    /// The outcome when it ends the session.
    pub word: OutcomeWord,
    /// Why, as a sentence without a full stop; empty for `done`.
    pub reason: String,
    /// What a maintainer has to decide first.
    pub waiting: Option<Box<PendingDecision>>,
    /// What else has to be decided, in other tasks.
    pub also_waiting: Vec<PendingDecision>,
    /// The limit of the budget that is reached.
    pub exhausted: Option<Box<Exhausted>>,
    /// Whether the machine was at fault, git or a disk: the session can be resumed once the cause
    /// is gone.
    pub fault: bool,
    /// Whether a model was at fault, or the way to it: asked later, it may answer.
    pub outage: bool,
}

/// How far a stop reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopScope {
    /// Only the task at work: a sub-task's parent gets the reason and continues; for the root
    /// task it is the session.
    Task,
    /// Every task, whichever of them stopped.
    Session,
}

impl Stop {
    /// Ends the task at work.
    pub fn task(word: OutcomeWord, reason: impl Into<String>) -> Self {
        Self { reach: StopScope::Task, ..Self::session(word, reason) }
    }

    /// Ends the session as failed.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::session(OutcomeWord::Failed, reason)
    }

    /// Ends the session because of a fault of the machine.
    pub fn fault(reason: impl Into<String>) -> Self {
        Self { fault: true, ..Self::failed(reason) }
    }

    /// Ends the session.
    pub fn session(word: OutcomeWord, reason: impl Into<String>) -> Self {
        Self {
            reach: StopScope::Session,
            word,
            reason: reason.into(),
            waiting: None,
            also_waiting: Vec::new(),
            exhausted: None,
            fault: false,
            outage: false,
        }
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        let word = if exhausted.unit == "minutes" {
            OutcomeWord::TimedOut
        } else {
            OutcomeWord::BudgetExhausted
        };
        let reason = exhausted.to_string();
        Self { exhausted: Some(Box::new(exhausted)), ..Self::task(word, reason) }
    }
}

impl From<ReachedLimit> for Stop {
    fn from(reached: ReachedLimit) -> Self {
        Self::session(OutcomeWord::BudgetExhausted, reached.to_string())
    }
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        Self::failed(format!("the journal cannot be written, so nothing more was done: {error}"))
    }
}

impl From<RepoError> for Stop {
    fn from(error: RepoError) -> Self {
        Self::fault(format!("the checkout could not be recorded: {error}"))
    }
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        let advice = advice(&error);
        let reason = format!("{error}{advice}");
        let outage = !matches!(error, ModelError::TooLong { .. } | ModelError::Script { .. });
        // A replayed run ends at the first request its script does not have: a parent that
        // continued would only differ too.
        if matches!(error, ModelError::Script { .. }) {
            Self::failed(reason)
        } else if matches!(error, ModelError::Unaffordable { .. }) {
            Self::task(OutcomeWord::BudgetExhausted, reason)
        } else {
            Self { outage, ..Self::task(OutcomeWord::Failed, reason) }
        }
    }
}

/// Returns what to do about a model's error, to stand behind it; empty where the error says it.
pub fn advice(error: &ModelError) -> &'static str {
    match error {
        ModelError::Unauthorized { .. } => {
            "; check the variable that holds the key and what the key may use"
        }
        ModelError::TooLong { .. } => {
            "; use a model with a larger window, or give it a smaller task"
        }
        ModelError::Rejected { .. }
        | ModelError::QuotaExhausted { .. }
        | ModelError::Unavailable { .. }
        | ModelError::NotConnected { .. }
        | ModelError::Unreachable { .. }
        | ModelError::Garbled { .. }
        | ModelError::Unaffordable { .. }
        | ModelError::Script { .. } => "",
    }
}
