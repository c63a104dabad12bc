//! `Step`: what a session does next, read off its state alone, so that a resumed session does what the killed one would have.

use crate::base::id::TaskId;
use crate::policy::budget::Exhausted;
use crate::session::state::State;
use crate::tools::Control;

/// Mistakes in a row after which a task has failed.
pub const MISTAKE_LIMIT: u32 = 5;

/// What a session does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Start the root task.
    BeginRoot,
    /// Answer the first calls that have no answer.
    Answer(TaskId),
    /// Make a checkpoint of what was touched.
    Save,
    /// Do what an answered call asked for.
    Settle(TaskId, Control),
    /// Say something to a reply that called no tool.
    Remind(TaskId),
    /// Give the task up: its changes pass the budget.
    ChangesExhausted(TaskId, Exhausted),
    /// Give the task up: too many mistakes.
    GiveUp(TaskId),
    /// Ask the model for its next reply.
    Ask(TaskId),
    /// The root task ended.
    Finish,
}

/// Returns what a session that began and has not ended does next.
#[must_use]
pub fn next(state: &State) -> Step {
    if state.tasks.is_empty() {
        return Step::BeginRoot;
    }
    let Some(task) = state.active() else { return Step::Finish };
    if task.first_unanswered().is_some() {
        return Step::Answer(task.id);
    }
    if !state.unsaved.is_empty() {
        return Step::Save;
    }
    if let Err(exhausted) = task.budget.ask_changes(&task.spent) {
        return Step::ChangesExhausted(task.id, exhausted);
    }
    if let Some(control) = task.owed.front() {
        return Step::Settle(task.id, control.clone());
    }
    if task.unreminded {
        return Step::Remind(task.id);
    }
    if task.mistakes_in_a_row >= MISTAKE_LIMIT {
        return Step::GiveUp(task.id);
    }
    Step::Ask(task.id)
}
