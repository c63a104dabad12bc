//! The progress comment: the run's events folded into what people want to see, posted at most every ten seconds.
//!
//! In: events as they come, through a channel that only keeps the latest state. Out: postings. It never stops the run: a forge that
//! does not answer costs the comment, not the work.

use std::time::Duration;

use tokio::sync::watch;

use crate::base::clock::Clock;
use crate::base::id::TaskId;
use crate::policy::budget::Spent;
use crate::report::comment::{self, Progress};
use crate::run::publish::{Published, Publisher};
use crate::session::event::Event;
use crate::session::outcome::TaskReport;
use crate::tools::Todo;

/// Shortest time between two edits of the comment.
const PAUSE: Duration = Duration::from_secs(10);

/// What people see of a run at work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    tasks: Vec<TaskReport>,
    todos: Vec<Todo>,
    spent: Spent,
    estimated: bool,
}

impl Board {
    /// Takes an event in; returns whether people would see a difference.
    pub fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::TaskStarted { task, parent, mode, message, todos, .. } => {
                let title = message.lines().next().unwrap_or_default().to_owned();
                self.tasks.push(TaskReport { task: *task, parent: *parent, mode: mode.clone(), title, completed: None, turns: 0 });
                if *task == TaskId::default() {
                    self.todos.clone_from(todos);
                }
            }
            Event::Replied { task, usage, estimated, cost_usd, priced, .. } => {
                self.spent.turns += 1;
                self.spent.usage.add(*usage);
                self.spent.cost_usd += cost_usd;
                self.estimated |= *estimated || !priced;
                if let Some(report) = self.task(*task) {
                    report.turns += 1;
                }
            }
            Event::Answered { .. } => self.spent.tool_calls += 1,
            Event::TodosChanged { task, todos } if *task == TaskId::default() => self.todos.clone_from(todos),
            Event::ModeSwitched { task, to, .. } => {
                if let Some(report) = self.task(*task) {
                    report.mode.clone_from(to);
                }
            }
            Event::TaskEnded { task, completed, .. } => {
                if let Some(report) = self.task(*task) {
                    report.completed = Some(*completed);
                }
            }
            Event::Started(_)
            | Event::Resumed
            | Event::Reminded { .. }
            | Event::Judged { .. }
            | Event::Performing { .. }
            | Event::TodosChanged { .. }
            | Event::Checkpointed { .. }
            | Event::Ended(_) => return false,
        }
        true
    }

    /// Returns it in the report's terms.
    #[must_use]
    pub fn progress(&self) -> Progress<'_> {
        Progress { tasks: &self.tasks, todos: &self.todos, spent: &self.spent, spent_is_estimate: self.estimated }
    }

    fn task(&mut self, id: TaskId) -> Option<&mut TaskReport> {
        self.tasks.iter_mut().find(|report| report.task == id)
    }
}

/// Posts the board whenever it changed, until the sender is gone. The final comment is `publish`'s.
pub async fn keep_posting(publisher: &Publisher<'_>, mut boards: watch::Receiver<Board>, clock: &dyn Clock) {
    let Some(number) = publisher.prepared.plan.subject.thread() else { return };
    let mut published = Published::default();
    loop {
        let body = comment::progress(&publisher.comment_facts(), &boards.borrow_and_update().progress());
        publisher.post(publisher.comment(number, &body), &mut published).await;
        if !published.notes.is_empty() {
            // The policy or the forge said no; it will not say yes ten seconds later.
            return;
        }
        clock.sleep(PAUSE).await;
        if boards.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Board;
    use crate::base::chat::{Reply, Usage};
    use crate::base::id::TaskId;
    use crate::policy::budget::Budget;
    use crate::session::event::Event;
    use pretty_assertions::assert_eq;

    #[test]
    fn shows_the_tree_of_tasks_and_what_was_spent() {
        let started = |task: u32, parent: Option<u32>, mode: &str| Event::TaskStarted {
            task: TaskId(task),
            parent: parent.map(TaskId),
            parent_call: None,
            mode: mode.to_owned(),
            message: format!("do {task}\nmore"),
            todos: Vec::new(),
            budget: Budget::default(),
        };
        let usage = Usage { input: 10, output: 2, ..Usage::default() };
        let replied = |task: u32| Event::Replied {
            task: TaskId(task),
            reply: Reply::default(),
            usage,
            estimated: false,
            cost_usd: 0.5,
            priced: true,
            withheld: Vec::new(),
        };
        let mut board = Board::default();
        for event in [started(0, None, "orchestrator"), replied(0), started(1, Some(0), "code"), replied(1)] {
            assert!(board.apply(&event), "{event:?}");
        }
        board.apply(&Event::TaskEnded { task: TaskId(1), result: "done".into(), completed: true });
        let seen: Vec<_> = board.tasks.iter().map(|task| (task.mode.as_str(), task.title.as_str(), task.completed, task.turns)).collect();
        assert_eq!(seen, [("orchestrator", "do 0", None, 1), ("code", "do 1", Some(true), 1)]);
        assert_eq!((board.spent.turns, board.spent.usage.input, board.spent.cost_usd), (2, 20, 1.0));
        assert!(!board.apply(&Event::Resumed));
    }
}
