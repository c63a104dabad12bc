//! `Step`: what a session does next, read off its state alone, so that a resumed session does what
//! the killed one would have.

use crate::session::state::SessionState;
use crate::session::task::TaskState;
use crate::tools::Control;
use locum_base::id::TaskId;
use locum_policy::budget::Exhausted;

/// Mistakes in a row after which a task has failed.
pub const MISTAKE_LIMIT: u32 = 5;

/// What a session does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Start the root task.
    BeginRoot,
    /// Start the next of several parallel sub-tasks.
    StartParallel(TaskId),
    /// Answer the first calls that have no answer.
    Answer(TaskId),
    /// Make a checkpoint of what was touched where this task works.
    Save(TaskId),
    /// Perform the control that an answered call requested.
    Settle(TaskId, Control),
    /// Say something to a reply that called no tool.
    Nudge(TaskId),
    /// Give the task up: its changes pass the budget.
    ChangesExhausted(TaskId, Exhausted),
    /// Give the task up: too many mistakes.
    GiveUp(TaskId),
    /// Ask the model for its next reply.
    Ask(TaskId),
    /// The root task ended.
    Finish,
}

/// Returns what a session that began and has not ended does next; `None` when every task that could
/// go on is not `free`.
pub fn next(state: &SessionState, free: impl Fn(TaskId) -> bool) -> Option<Step> {
    if state.tasks.is_empty() {
        return free(TaskId::default()).then_some(Step::BeginRoot);
    }
    if state.running.is_empty() {
        return Some(Step::Finish);
    }
    state.at_work().find(|task| free(task.id)).map(|task| next_of(state, task))
}

fn next_of(state: &SessionState, task: &TaskState) -> Step {
    if task.isolation.next_to_start(&task.turn).is_some() {
        return Step::StartParallel(task.id);
    }
    if task.first_unanswered().is_some() {
        return Step::Answer(task.id);
    }
    if !state.tree(state.tree_owner(task.id)).unsaved.is_empty() {
        return Step::Save(task.id);
    }
    if let Err(exhausted) = task.budgeting.budget.ask_changes(&task.budgeting.spent) {
        return Step::ChangesExhausted(task.id, exhausted);
    }
    if let Some(control) = task.turn.pending_controls.front() {
        return Step::Settle(task.id, control.clone());
    }
    if task.turn.needs_nudge {
        return Step::Nudge(task.id);
    }
    if task.nudges.mistakes_in_a_row >= MISTAKE_LIMIT {
        return Step::GiveUp(task.id);
    }
    Step::Ask(task.id)
}

impl Step {
    /// Returns the task it is a step of; the root task's name where it is one of the session.
    pub fn task(&self) -> TaskId {
        match self {
            Self::BeginRoot | Self::Finish => TaskId::default(),
            Self::StartParallel(task)
            | Self::Answer(task)
            | Self::Save(task)
            | Self::Settle(task, _)
            | Self::Nudge(task)
            | Self::ChangesExhausted(task, _)
            | Self::GiveUp(task)
            | Self::Ask(task) => *task,
        }
    }
}
