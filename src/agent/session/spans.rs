//! Spans of the log: the run's holds those of its tasks, a task's those of its sub-tasks and turns,
//! a turn's those of its calls.
//!
//! In: a task of the session. Out: a span made from what the journal says of it, so that a resumed
//! run writes under the same ones.

use tracing::{Span, info_span};

use crate::session::live::Session;
use crate::session::task::turn::{Turn, WaitingCall};
use crate::tools::dispatch::CheckedCall;
use locum_base::id::TaskId;
use locum_policy::Permit;

impl Session<'_> {
    /// Returns the span of a task.
    pub(crate) fn task_span(&self, id: TaskId) -> Span {
        let Some(task) = self.state.task(id) else { return Span::current() };
        let outer = task.parent.map_or_else(Span::current, |parent| self.task_span(parent));
        info_span!(parent: &outer, "task", task = %id, mode = %task.mode)
    }

    /// Returns the span of the turn that a task is in: the one whose reply is awaited, or whose
    /// calls are performed.
    pub(crate) fn turn_span(&self, id: TaskId) -> Span {
        let turns = self.state.task(id).map_or(0, |task| {
            let Turn { number, waiting, .. } = &task.turn;
            if waiting.is_empty() { *number } else { number.saturating_sub(1) }
        });
        info_span!(parent: &self.task_span(id), "turn", turn = turns)
    }
}

/// Returns the span of a call of a turn.
pub(crate) fn call_span(turn: &Span, waiting: &WaitingCall, permit: &Permit<CheckedCall>) -> Span {
    info_span!(parent: turn, "call", call = %waiting.call.id, tool = %permit.act().tool())
}
