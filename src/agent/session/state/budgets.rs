//! A budget that is raised while a session waits or after it ended: what it means for its tasks.
//!
//! In: the new budget. Out: the budgets of all running tasks, and a message to each about its own.

use crate::session::state::SessionState;
use locum_base::id::TaskId;
use locum_modes::prompts::reminders;
use locum_policy::budget::Budget;

impl SessionState {
    /// Gives the session a new budget. Sub-tasks that run get their part of what it is more, and
    /// every task at work reads what it may spend now.
    pub(super) fn raise(&mut self, budget: &Budget) {
        let Some(start) = &mut self.start else { return };
        let before = std::mem::replace(&mut start.budget, *budget);
        let Some(root) = self.tasks.first_mut() else { return };
        let root_before = std::mem::replace(&mut root.budgeting.budget, *budget);
        if root_before == *budget && before == *budget {
            return;
        }
        let root = root.id;
        self.hand_on(root, &budget.beyond(&root_before));
        for id in self.running.clone() {
            self.with_task(id, |task| {
                let rest = reminders::may_spend(&task.budgeting.rest());
                for message in task.turn.remind(reminders::goes_on(&rest)) {
                    task.conversation.push(message);
                }
                task.nudges.budget_raised();
            });
        }
    }

    /// Adds to the budgets of running sub-tasks, in equal shares where several work in parallel.
    fn hand_on(&mut self, parent: TaskId, more: &Budget) {
        let is_child =
            |id: &&TaskId| self.task(**id).is_some_and(|task| task.parent == Some(parent));
        let children: Vec<TaskId> = self.running.iter().filter(is_child).copied().collect();
        let count = u32::try_from(children.len()).unwrap_or(u32::MAX);
        let more = if count > 1 { more.share(1, count.saturating_add(1)) } else { *more };
        for child in children {
            self.with_task(child, |task| {
                task.budgeting.budget = task.budgeting.budget.and(&more);
            });
            self.hand_on(child, &more);
        }
    }
}
