//! `TaskBudget`: what a task may spend, and what it and its sub-tasks have spent.

use std::time::Duration;

use crate::session::event::Event;
use crate::session::outcome::ChargedUsage;
use locum_policy::budget::{Budget, Spent};

/// Fewest turns that a sub-task is started with: one to work, one to report.
pub(crate) const SUB_TASK_TURNS: u32 = 2;

/// What a task may spend, and what it has.
#[derive(Clone, Debug, Default)]
pub struct TaskBudget {
    /// What it may spend.
    pub budget: Budget,
    /// What it and its sub-tasks spent.
    pub spent: Spent,
    /// True when some of that was estimated or had no price.
    pub spent_is_estimate: bool,
    /// What its own requests used up.
    pub own: ChargedUsage,
    /// Wall time it took, with its sub-tasks.
    pub wall: Duration,
    /// Which part of that had passed at its last reply.
    pub(super) replied: Duration,
}

impl TaskBudget {
    /// Returns what requests used up, its own and those of its sub-tasks.
    pub fn charged(&self) -> ChargedUsage {
        let Spent { turns, usage, cost_usd, .. } = self.spent;
        ChargedUsage { turns, usage, cost_usd, is_estimate: self.spent_is_estimate }
    }

    /// Returns what is left.
    pub fn rest(&self) -> Budget {
        self.budget.rest(&self.spent)
    }

    /// Counts an event of the task or of one of its sub-tasks.
    pub(crate) fn apply(&mut self, event: &Event) {
        if let Some(charged) = event.charged() {
            self.spent.turns = self.spent.turns.saturating_add(charged.turns);
            self.spent.usage.add(charged.usage);
            self.spent.cost_usd += charged.cost_usd;
            self.spent_is_estimate |= charged.is_estimate;
        }
        if matches!(event, Event::Answered { .. }) {
            self.spent.tool_calls = self.spent.tool_calls.saturating_add(1);
        }
    }

    /// Notes a reply of the task's own model.
    pub(crate) fn note_reply(&mut self) {
        self.replied = self.wall;
    }

    /// Returns the wall time since the task's last reply.
    pub(crate) fn since_reply(&self) -> Duration {
        self.wall.saturating_sub(self.replied)
    }

    /// Counts wall time.
    pub(crate) fn pass(&mut self, passed: Duration) {
        self.wall = self.wall.saturating_add(passed);
        self.spent.seconds = self.wall.as_secs();
    }

    /// Counts a file whose changed lines went from `before` to `after`; `None` is an unchanged
    /// file.
    pub(crate) fn change_file(&mut self, before: Option<u32>, after: Option<u32>) {
        let step = |count: u32, before: u32, after: u32| {
            count.saturating_add(after).saturating_sub(before)
        };
        let Spent { files, diff_lines, .. } = &mut self.spent;
        *files = step(*files, before.is_some().into(), after.is_some().into());
        *diff_lines = step(*diff_lines, before.unwrap_or(0), after.unwrap_or(0));
    }
}
