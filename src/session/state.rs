//! `State`: everything a session knows, computed from its events and from nothing else.
//!
//! In: journal lines in order, the live ones and those read back alike. Out: the tasks, what was spent, refused, run, touched.
//! A resumed session therefore stands exactly where the killed one stood after its last whole line.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use crate::base::chat::Usage;
use crate::base::id::TaskId;
use crate::base::path::RepoPath;
use crate::policy::verdict::Refusal;
use crate::session::event::{Event, JournalLine, SessionStart, TouchedPath};
use crate::session::outcome::{CommandReport, Outcome, RefusedCall};
use crate::session::task::{TaskEnd, TaskState};
use crate::tools::{Observation, Todo};
use crate::workspace::repo::CommitId;

/// Everything a session knows.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What it is to do; `None` before its first event.
    pub start: Option<Box<SessionStart>>,
    /// Every task, by its number.
    pub tasks: Vec<TaskState>,
    /// The tasks that run: the root task first, the one that is at work last.
    pub running: Vec<TaskId>,
    /// Every refusal, in order.
    pub refusals: Vec<RefusedCall>,
    /// Commands that were run, in order.
    pub commands: Vec<CommandReport>,
    /// Every path the run touched, with its lines changed since the base; `None` for those that are as they were there.
    pub touched: BTreeMap<RepoPath, Option<u32>>,
    /// Paths touched since the last checkpoint.
    pub unsaved: BTreeSet<RepoPath>,
    /// The last checkpoint.
    pub checkpoint: Option<CommitId>,
    /// True when some tokens were estimated or had no price.
    pub spent_is_estimate: bool,
    /// How it ended, once it did.
    pub outcome: Option<Box<Outcome>>,
    last_at: Option<Timestamp>,
}

impl State {
    /// Computes the state a journal leads to.
    #[must_use]
    pub fn of(lines: &[JournalLine]) -> Self {
        let mut state = Self::default();
        for line in lines {
            state.apply(line);
        }
        state
    }

    /// Returns a task.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&TaskState> {
        self.tasks.get(usize::try_from(id.0).ok()?)
    }

    /// Returns the task that is at work.
    #[must_use]
    pub fn active(&self) -> Option<&TaskState> {
        self.running.last().and_then(|id| self.task(*id))
    }

    /// Returns the root task.
    #[must_use]
    pub fn root(&self) -> Option<&TaskState> {
        self.tasks.first()
    }

    /// Takes one more line in.
    pub fn apply(&mut self, line: &JournalLine) {
        self.pass_time(line);
        match &line.event {
            Event::Started(start) => self.start = Some(start.clone()),
            Event::Resumed => {}
            Event::TaskStarted { task, parent, parent_call, mode, message, todos, budget } => {
                let parent = parent.zip(parent_call.clone());
                self.start_task(TaskState::new(*task, parent, mode.clone(), message.clone(), *budget), todos);
            }
            Event::Replied { task, reply, usage, estimated, cost_usd, priced } => {
                self.spend(*usage, *cost_usd);
                self.spent_is_estimate |= *estimated || !*priced;
                self.with_task(*task, |task| task.replied(reply.clone()));
            }
            Event::Reminded { task, text, mistake } => self.with_task(*task, |task| task.reminded(text.clone(), *mistake)),
            Event::Judged { task, call, headline, command, verdicts: _ } => self.with_task(*task, |task| {
                if let Some(waiting) = task.waiting_call_mut(call) {
                    waiting.headline = Some(headline.clone());
                    waiting.command.clone_from(command);
                }
            }),
            Event::Performing { task, call, before } => self.with_task(*task, |task| {
                if let Some(waiting) = task.waiting_call_mut(call) {
                    waiting.performing = Some(before.clone());
                }
            }),
            Event::Answered { task, call, tool: _, observation, refusal, mistake } => {
                self.answer(*task, call, observation, refusal.as_deref());
                self.with_task(*task, |task| task.answered(call, observation, *mistake));
            }
            Event::TodosChanged { task, todos } => self.with_task(*task, |task| {
                task.todos.clone_from(todos);
                task.owed.pop_front();
            }),
            Event::ModeSwitched { task, from: _, to, reason: _ } => self.with_task(*task, |task| {
                task.mode.clone_from(to);
                task.owed.pop_front();
            }),
            Event::Checkpointed { commit, touched } => self.save(commit, touched),
            Event::TaskEnded { task, result, completed } => {
                let end = TaskEnd { result: result.clone(), completed: *completed };
                self.with_task(*task, |task| task.ended = Some(end));
                self.running.retain(|running| running != task);
            }
            Event::Ended(outcome) => self.outcome = Some(outcome.clone()),
        }
    }

    fn with_task(&mut self, id: TaskId, change: impl FnOnce(&mut TaskState)) {
        if let Some(task) = usize::try_from(id.0).ok().and_then(|index| self.tasks.get_mut(index)) {
            change(task);
        }
    }

    fn with_running(&mut self, mut change: impl FnMut(&mut TaskState)) {
        for id in &self.running {
            if let Some(task) = usize::try_from(id.0).ok().and_then(|index| self.tasks.get_mut(index)) {
                change(task);
            }
        }
    }

    /// Counts the wall time between two lines; the time a session lay dead does not count.
    fn pass_time(&mut self, line: &JournalLine) {
        let since = self.last_at.replace(line.at);
        if matches!(line.event, Event::Resumed) {
            return;
        }
        let passed = since.map_or(Duration::ZERO, |since| Duration::try_from(line.at.duration_since(since)).unwrap_or_default());
        self.with_running(|task| {
            task.wall = task.wall.saturating_add(passed);
            task.spent.seconds = task.wall.as_secs();
        });
    }

    fn start_task(&mut self, mut task: TaskState, todos: &[Todo]) {
        task.todos = todos.to_vec();
        if let (Some(parent), Some(call)) = (task.parent, task.parent_call.clone()) {
            task.depth = self.task(parent).map_or(0, |parent| parent.depth.saturating_add(1));
            let child = task.id;
            self.with_task(parent, |parent| {
                if let Some(waiting) = parent.waiting_call_mut(&call) {
                    waiting.child = Some(child);
                }
            });
        }
        self.running.push(task.id);
        self.tasks.push(task);
    }

    fn spend(&mut self, usage: Usage, cost_usd: f64) {
        self.with_running(|task| {
            task.spent.turns = task.spent.turns.saturating_add(1);
            task.spent.usage.add(usage);
            task.spent.cost_usd += cost_usd;
        });
    }

    fn answer(&mut self, id: TaskId, call: &str, observation: &Observation, refusal: Option<&Refusal>) {
        let Some(task) = self.task(id) else { return };
        let Some(waiting) = task.waiting_call(call) else { return };
        let mode = task.mode.clone();
        let headline = waiting.headline.clone().unwrap_or_else(|| waiting.call.name.clone());
        let command = waiting.command.clone().unwrap_or_else(|| headline.clone());
        if let Some(exit) = observation.exit {
            self.commands.push(CommandReport { command, exit });
        }
        if let Some(refusal) = refusal {
            self.refusals.push(RefusedCall { task: id, mode, headline, refusal: refusal.clone() });
        }
        for path in &observation.touched {
            self.touched.entry(path.clone()).or_default();
            self.unsaved.insert(path.clone());
        }
        self.with_running(|task| {
            task.spent.tool_calls = task.spent.tool_calls.saturating_add(1);
            task.touched.extend(observation.touched.iter().cloned());
        });
    }

    fn save(&mut self, commit: &CommitId, touched: &[TouchedPath]) {
        self.checkpoint = Some(commit.clone());
        self.unsaved.clear();
        for TouchedPath { path, diff_lines } in touched {
            let before = self.touched.insert(path.clone(), *diff_lines).flatten();
            self.with_running(|task| {
                task.spent.files = step(task.spent.files, before.is_some().into(), diff_lines.is_some().into());
                task.spent.diff_lines = step(task.spent.diff_lines, before.unwrap_or(0), diff_lines.unwrap_or(0));
            });
        }
    }
}

/// Returns a count in which one part changed from `before` to `after`.
fn step(count: u32, before: u32, after: u32) -> u32 {
    count.saturating_add(after).saturating_sub(before)
}
