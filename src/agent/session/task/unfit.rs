//! `UnfitCall`: why a call of a reply is not even looked at, whatever the policy says of it.
//!
//! In: the reply's calls, and what the task did lately. Out: the reason, by its kind; the words for
//! the model are made of it elsewhere.

use crate::session::repetition::RecentCalls;
use crate::session::task::turn::{Turn, WaitingCall};
use crate::tools::dispatch;
use crate::tools::tool::ToolEffect;
use locum_base::chat::StopReason;
use locum_base::json;
use locum_base::tool::ToolName;

/// Why a call is not even looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnfitCall {
    /// The reply was cut off in it.
    Cut,
    /// The provider withheld the rest of it.
    Filtered,
    /// It would write, keep, run or send a text with a hole where a secret was.
    Withheld,
    /// It goes on with a cycle of so many calls.
    Repeated(usize),
    /// It would end the task beside calls that failed.
    CompletesTooEarly,
    /// It would end the task beside a command that did not succeed, for the first time.
    CompletesBesideFailure,
    /// It would end the task with a question, and the last mistake was not the same.
    CompletesWithQuestion,
}

/// What a call is compared with.
pub(crate) struct CallsBefore<'a> {
    /// The last calls of the task.
    pub(crate) recent: &'a RecentCalls,
    /// Whether the last mistake was a completion with a question.
    pub(crate) asked: bool,
    /// Whether a completion beside a command that did not succeed was sent back.
    pub(crate) sent_back: bool,
}

impl UnfitCall {
    /// Returns why a call of this turn is not looked at; `None` for one that is.
    pub(crate) fn of(turn: &Turn, waiting: &WaitingCall, before: &CallsBefore<'_>) -> Option<Self> {
        let is_last = turn.waiting.last().is_some_and(|last| last.call.id == waiting.call.id);
        match turn.stop {
            StopReason::Length if is_last => return Some(Self::Cut),
            StopReason::Filtered if is_last => return Some(Self::Filtered),
            StopReason::End | StopReason::ToolUse | StopReason::Length | StopReason::Filtered => {}
        }
        if waiting.withheld && writes(waiting) {
            return Some(Self::Withheld);
        }
        if let Some(cycle) = before.recent.repeats(&waiting.call) {
            return Some(Self::Repeated(cycle));
        }
        if !completes(waiting) {
            return None;
        }
        // A completion comes last, so the calls beside it have been performed.
        let answers = || turn.waiting.iter().filter_map(|other| other.answer.as_ref());
        if answers().any(|answer| answer.is_error) {
            return Some(Self::CompletesTooEarly);
        }
        // What looks like a failure may be one of the answers that a command is run for.
        if !before.sent_back && answers().any(|answer| answer.command_failed) {
            return Some(Self::CompletesBesideFailure);
        }
        (asks(waiting) && !before.asked).then_some(Self::CompletesWithQuestion)
    }
}

/// Returns true for a call that ends the task.
pub(crate) fn completes(waiting: &WaitingCall) -> bool {
    ToolName::called(&waiting.call.name) == Some(ToolName::AttemptCompletion)
}

/// Returns true for a call whose result ends with a question.
fn asks(waiting: &WaitingCall) -> bool {
    let arguments = serde_json::from_str(&waiting.call.arguments).unwrap_or_default();
    json::text(&arguments, "result")
        .trim_end_matches([' ', '\n', '*', '_', ')', '"'])
        .ends_with('?')
}

/// Returns true for tools that would write, keep, run or send a text with a hole in it where a
/// secret was.
fn writes(waiting: &WaitingCall) -> bool {
    dispatch::meant(&waiting.call).is_some_and(|tool| {
        tool == ToolName::WriteMemory
            || matches!(dispatch::effect(tool), ToolEffect::Edits | ToolEffect::Runs)
    })
}
