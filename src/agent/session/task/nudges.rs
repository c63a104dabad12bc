//! `Nudges`: what keeps a model on its way: mistakes it made in a row, calls it repeats, what it
//! was reminded of, and the edit its mode denied.

use std::collections::BTreeSet;

use crate::session::event::Event;
use crate::session::repetition::RecentCalls;
use crate::session::task::turn::{Turn, WaitingCall};
use crate::session::task::unfit::{CallsBefore, UnfitCall};
use crate::tools::Observation;
use crate::tools::dispatch;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::verdict::{Refusal, Verdict};

/// What marks a task that was reminded of its budget.
pub(crate) const BUDGET_LOW: &str = "budget";
/// What marks a task that was asked to end, because its budget does.
pub(crate) const BUDGET_ENDS: &str = "end of the budget";
/// What marks a task that was told that it may change no more.
pub(crate) const CHANGES_FULL: &str = "changes";
const BUDGET_MARKS: &[&str] = &[BUDGET_LOW, BUDGET_ENDS, CHANGES_FULL];

/// What keeps a model on its way.
#[derive(Clone, Debug, Default)]
pub struct Nudges {
    /// Turns in a row in which the model made mistakes and nothing it called succeeded.
    pub mistakes_in_a_row: u32,
    /// What the last mistake was about.
    pub last_mistake: Option<String>,
    /// Whether it was to end the task with a question.
    pub ended_with_question: bool,
    /// Whether a completion was sent back because a command beside it did not succeed.
    pub ended_beside_failure: bool,
    /// The last calls, for noticing repetition.
    pub recent: RecentCalls,
    /// What it was reminded of that it is reminded of once.
    pub reminded_of: BTreeSet<String>,
    /// The edit that its mode denied its last call, and the tool it was to be made with.
    pub last_denied_edit: Option<(ToolName, RepoPath)>,
    /// What the policy refused since the conversation was last shortened.
    pub refused: BTreeSet<RefusalKind>,
    made_mistake: bool,
    succeeded: bool,
}

/// What refusals of one kind have in common: what the model was told of the first holds for all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusalKind(String);

impl RefusalKind {
    /// Takes the kind of a refusal: its first reason, and what would be allowed instead.
    pub(crate) fn of(refusal: &Refusal) -> Self {
        let reason = refusal.verdicts.first().map(Verdict::reason).unwrap_or_default();
        Self(format!("{reason} {}", refusal.hint.as_deref().unwrap_or_default()))
    }
}

/// Most kinds of refusals that are remembered of a task.
const REFUSALS_LIMIT: usize = 64;

impl Nudges {
    /// Takes an event in; `turn` is as it was before.
    pub(crate) fn apply(&mut self, event: &Event, turn: &Turn) {
        if let Event::Replied { .. } = event {
            (self.made_mistake, self.succeeded) = (false, false);
        } else if let Event::Reminded { text, mistake, about, .. } = event {
            self.reminded_of.extend(about.clone());
            if *mistake {
                self.mistakes_in_a_row = self.mistakes_in_a_row.saturating_add(1);
                self.last_mistake = Some(text.clone());
                self.ended_with_question = false;
            }
        } else if let Event::Answered { call, observation, refusal, mistake, .. } = event {
            // Whatever else it does then, it is no longer about that edit.
            let denied = refusal.as_ref().filter(|_| *mistake);
            let waiting = turn.call(call);
            self.last_denied_edit =
                denied.zip(waiting).and_then(|(no, waiting)| denied_edit(waiting, no));
            if let Some(refusal) = refusal.as_ref().filter(|_| !mistake)
                && self.refused.len() < REFUSALS_LIMIT
            {
                self.refused.insert(RefusalKind::of(refusal));
            }
            self.answered(call, observation, *mistake, turn);
        } else if let Event::ModeSwitched { .. } = event {
            self.last_denied_edit = None;
            self.refused.clear();
        } else if let Event::Compacted { .. } = event {
            // Rules it was shown once may be among what was left out.
            self.reminded_of.clear();
            self.refused.clear();
        }
    }

    /// Returns why a call of a turn is not even looked at; `None` for one that is.
    pub(crate) fn unfit(&self, turn: &Turn, waiting: &WaitingCall) -> Option<UnfitCall> {
        let (asked, sent_back) = (self.ended_with_question, self.ended_beside_failure);
        let before = CallsBefore { recent: &self.recent, asked, sent_back };
        UnfitCall::of(turn, waiting, &before)
    }

    /// Notes that there is more to spend: the end comes nearer once more.
    pub(crate) fn budget_raised(&mut self) {
        BUDGET_MARKS.iter().for_each(|mark| {
            self.reminded_of.remove(*mark);
        });
    }

    fn answered(&mut self, call: &str, observation: &Observation, mistake: bool, turn: &Turn) {
        let Some(waiting) = turn.open().find(|waiting| waiting.call.id == call) else { return };
        let unfit = self.unfit(turn, waiting);
        self.recent.push(&waiting.call, observation);
        self.succeeded |= !observation.is_error;
        if mistake {
            self.made_mistake = true;
            self.last_mistake = Some(observation.text.clone());
            self.ended_with_question = unfit == Some(UnfitCall::CompletesWithQuestion);
            self.ended_beside_failure |= unfit == Some(UnfitCall::CompletesBesideFailure);
        }
        if turn.open().count() > 1 {
            return;
        }
        if self.succeeded {
            self.mistakes_in_a_row = 0;
        } else if self.made_mistake {
            self.mistakes_in_a_row = self.mistakes_in_a_row.saturating_add(1);
        }
    }
}

/// Returns the edit that a mode's own restriction denied a call.
fn denied_edit(waiting: &WaitingCall, refusal: &Refusal) -> Option<(ToolName, RepoPath)> {
    let tool = dispatch::meant(&waiting.call)?;
    let edit = |verdict: &Verdict| {
        RepoPath::parse(verdict.intent.strip_prefix("edit(")?.strip_suffix(')')?).ok()
    };
    Some((tool, refusal.verdicts.iter().find_map(edit)?))
}
