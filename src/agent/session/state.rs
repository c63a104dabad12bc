//! `SessionState`: everything a session knows, computed from its events and from nothing else.
//!
//! In: journal lines in order, live or read back. Out: the tasks, what was spent, refused, run,
//! touched. So a resumed session stands where the killed one stood after its last whole line.

mod budgets;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::session::background_runs::BackgroundRuns;
use crate::session::checked::CheckedWork;
use crate::session::checkout_changes::CheckoutChanges;
use crate::session::command_report::CommandReport;
use crate::session::ending::EditAttempts;
use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::hook_history::HookHistory;
use crate::session::messages::PersonMessage;
use crate::session::met_text::MetText;
use crate::session::outcome::{ApprovedCall, Outcome, PendingDecision, RefusedCall};
use crate::session::recorded::{RecordedDecision, TouchedPath};
use crate::session::task::TaskState;
use crate::session::task::turn::WaitingCall;
use crate::session::tool_counts::ToolCounts;
use crate::tools::dispatch;
use crate::tools::kept_output::KeptOutput;
use crate::tools::memory::entry::MemoryChange;
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::access::TaskPurpose;
use locum_policy::approval::Approval;
use locum_policy::budget::{Budget, Spent};
use locum_policy::intent::Intent;
use locum_policy::verdict::{Refusal, RefusedBy};

/// Everything a session knows.
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    /// What it is to do; `None` before its first event.
    pub start: Option<Box<SessionStart>>,
    /// Every task, by its number.
    pub tasks: Vec<TaskState>,
    /// The tasks that run, in the order they began: a task stands after its parent.
    pub running: Vec<TaskId>,
    /// Every refusal, in order.
    pub refusals: Vec<RefusedCall>,
    /// Held calls that were approved, in order.
    pub approved: Vec<ApprovedCall>,
    /// Commands that were run, in order.
    pub commands: Vec<CommandReport>,
    /// How often each tool was called.
    pub tools: ToolCounts,
    /// Answers that are kept whole, with the task that each was given to.
    pub outputs: Vec<(TaskId, KeptOutput)>,
    /// What is known of checks.
    pub checked: CheckedWork,
    /// What is known of hooks.
    pub hooks: HookHistory,
    /// What became of attempts to change files.
    pub edits: EditAttempts,
    /// What was changed in the run's checkout.
    pub tree: CheckoutChanges,
    /// What was changed in the worktrees of sub-tasks, by the task each belongs to.
    pub isolated: BTreeMap<TaskId, CheckoutChanges>,
    /// What readers of the outcome have to know, in order, each once.
    pub notes: Vec<String>,
    /// What waits for a decision since the session stopped.
    pub pending: Vec<PendingDecision>,
    /// The tools of MCP servers there were when it began: a hash of each, by server and tool.
    pub servers: BTreeMap<String, BTreeMap<String, String>>,
    /// What it keeps for later runs, in order, each note once.
    pub memory: Vec<MemoryChange>,
    /// What it met that may be anyone's text.
    pub(crate) met: MetText,
    /// What people wrote to it, in order.
    pub messages: Vec<PersonMessage>,
    /// How it ended, once it did.
    pub outcome: Option<Box<Outcome>>,
    /// What a maintainer decided on the mode it was to begin in.
    pub start_decided: Option<RecordedDecision>,
    background: BackgroundRuns,
    last_at: Option<Timestamp>,
}

impl SessionState {
    /// Computes the state a journal leads to.
    pub fn of(lines: &[JournalLine]) -> Self {
        let mut state = Self::default();
        for line in lines {
            state.apply(line);
        }
        state
    }

    /// Returns a task.
    pub fn task(&self, id: TaskId) -> Option<&TaskState> {
        self.tasks.get(usize::try_from(id.0).ok()?)
    }

    /// Returns the tasks that run and wait for no sub-task, in the order they began.
    pub fn at_work(&self) -> impl Iterator<Item = &TaskState> {
        let runs = |waiting: &WaitingCall| {
            waiting.child.is_some_and(|child| self.running.contains(&child))
        };
        let running = self.running.iter().filter_map(|id| self.task(*id));
        running.filter(move |task| {
            task.isolation.next_to_start(&task.turn).is_some()
                || !task.turn.waiting.iter().any(runs)
        })
    }

    /// Returns the task whose worktree a task works in; `None` for the run's own checkout.
    pub fn tree_owner(&self, id: TaskId) -> Option<TaskId> {
        let mut task = self.task(id);
        while let Some(found) = task {
            if found.isolation.isolated {
                return Some(found.id);
            }
            task = found.parent.and_then(|parent| self.task(parent));
        }
        None
    }

    /// Returns what was changed in a worktree, or in the run's own checkout.
    pub fn tree(&self, owner: Option<TaskId>) -> &CheckoutChanges {
        owner.and_then(|owner| self.isolated.get(&owner)).unwrap_or(&self.tree)
    }

    fn tree_mut(&mut self, owner: Option<TaskId>) -> &mut CheckoutChanges {
        owner.and_then(|owner| self.isolated.get_mut(&owner)).unwrap_or(&mut self.tree)
    }

    /// Returns the root task.
    pub fn root(&self) -> Option<&TaskState> {
        self.tasks.first()
    }

    /// Returns what the session may spend in all, and what it spent.
    pub fn spending(&self) -> (Budget, Spent) {
        let begun = || self.start.as_ref().map(|start| (start.budget, Spent::default()));
        let root = self.root().map(|root| (root.budgeting.budget, root.budgeting.spent));
        root.or_else(begun).unwrap_or_default()
    }

    /// Returns the wall time the session took until `now`, without the time it lay dead.
    pub fn wall_until(&self, now: Timestamp) -> Duration {
        let wall = self.root().map_or(Duration::ZERO, |root| root.budgeting.wall);
        wall.saturating_add(self.last_at.map_or(Duration::ZERO, |since| passed(since, now)))
    }

    /// Returns true when some tokens were estimated or had no price.
    pub fn spent_is_estimate(&self) -> bool {
        self.root().is_some_and(|root| root.budgeting.spent_is_estimate)
    }

    /// Returns when the last thing happened.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last_at
    }

    /// Returns true for a call that was approved.
    pub fn is_approved(&self, waiting: &WaitingCall) -> bool {
        waiting.decided.as_ref().is_some_and(|decided| {
            self.approved.iter().any(|call| call.approval.hold == decided.id)
        })
    }

    /// Takes one more line in.
    pub fn apply(&mut self, line: &JournalLine) {
        let event = &line.event;
        self.pass_time(line);
        let answered = event.task().and_then(|task| self.task(task)?.turn.answered_by(event));
        self.met = self.met.after(event, answered);
        self.checked.apply(event);
        self.hooks.apply(event);
        if let Some(task) = event.task() {
            self.with_line(task, |task| task.budgeting.apply(event));
        }
        if let Some(task) = event.task() {
            for ran in self.over_in_background(event, task) {
                self.ran(task, ran);
            }
        }
        self.apply_to_session(event);
        if let Some(task) = event.task() {
            self.with_task(task, |task| task.apply(event));
        }
    }

    /// Takes in what an event means for more than its own task.
    fn apply_to_session(&mut self, event: &Event) {
        match event {
            Event::Started(start) => self.begin(start),
            Event::ServersListed { servers } => self.servers.clone_from(servers),
            Event::TaskStarted { .. } => self.begin_task(event),
            Event::WorkMerged { task, taken, .. } => {
                if let Some(parent) = self.task(*task).and_then(|task| task.parent) {
                    self.touch(parent, taken);
                    self.checked.merged(*task, self.tree_owner(parent), taken);
                }
            }
            Event::Judged { task, headline, approval: Some(approval), .. } => {
                self.approve(*task, headline, approval);
            }
            Event::Decided { task, call, decision } => {
                self.outcome = None;
                self.pending.retain(|pending| pending.call() != (*task, call));
                if call.is_empty() {
                    self.start_decided = Some(decision.clone());
                }
                if !decision.note.is_empty() {
                    self.take_up(&decision.by, &decision.note, &[]);
                }
            }
            Event::Noted { text, .. } => {
                if !self.notes.contains(text) {
                    self.notes.push(text.clone());
                }
            }
            Event::Continued { budget, by, words, images } => {
                self.outcome = None;
                self.raise(budget);
                if let Some(words) = words {
                    self.take_up(by, words, images);
                }
            }
            Event::MessageReceived { message } => self.messages.push(message.clone()),
            Event::Resumed { .. } => {
                self.outcome = self.outcome.take().filter(|outcome| !outcome.fault);
                self.tasks.iter_mut().for_each(|task| task.turn.ask_hooks_again());
            }
            Event::Answered { .. } => self.answer(event),
            Event::Promoting { task, promotion, .. } => {
                self.touch(*task, &promotion.observation.touched);
            }
            Event::Checkpointed { tree, commit, touched, uncommitted } => {
                self.tree_mut(*tree).save(commit, uncommitted);
                self.count(*tree, touched);
            }
            Event::TaskEnded { task, .. } => self.running.retain(|running| running != task),
            Event::Ended(outcome) => {
                self.pending = outcome.pending().collect();
                self.outcome = Some(outcome.clone());
            }
            Event::ServerNoted { .. }
            | Event::ParallelStarted { .. }
            | Event::WorkMeasured { .. }
            | Event::Replied { .. }
            | Event::ReplyLost { .. }
            | Event::Consulted { .. }
            | Event::ImageGenerated { .. }
            | Event::ModelUsed { .. }
            | Event::Compacted { .. }
            | Event::Reminded { .. }
            | Event::MessageRead { .. }
            | Event::Judged { approval: None, .. }
            | Event::HooksRan { .. }
            | Event::Performing { .. }
            | Event::Checking { .. }
            | Event::Checked { .. }
            | Event::TodosChanged { .. }
            | Event::ModeSwitched { .. } => {}
        }
    }

    /// Begins with the work that an earlier session left.
    fn begin(&mut self, start: &SessionStart) {
        self.start = Some(Box::new(start.clone()));
        let Some(work) = start.earlier.as_ref().and_then(|earlier| earlier.work.as_ref()) else {
            return;
        };
        let touched = work.touched.iter().map(|file| (file.path.clone(), file.diff_lines));
        self.tree.touched = touched.collect();
        self.tree.checkpoint = Some(work.checkpoint.clone());
    }

    /// Begins a task, with what its session starts from or with a tree of its own.
    fn begin_task(&mut self, event: &Event) {
        let Event::TaskStarted { task, parent, parent_call, mode, message, budget, tree, .. } =
            event
        else {
            return;
        };
        let mut state = TaskState::new(*task, *parent, mode.clone(), message.clone(), *budget);
        if let Some(start) = self.start.as_ref().filter(|_| parent.is_none()) {
            if let Some(earlier) = &start.earlier {
                state.conversation.follow(earlier);
            }
            if !start.images.is_empty() {
                state.conversation.push(Message::Images { images: start.images.clone() });
            }
        }
        state.isolation.isolated = tree.is_some();
        state.isolation.start = parent.and_then(|parent| {
            let owner = self.tree_owner(parent);
            let base = || self.start.as_ref().map(|start| start.base.clone());
            let there = self.tree(owner);
            let saved = there.checkpoint.clone().or_else(|| there.start.clone());
            tree.clone().or(saved).or_else(base)
        });
        if let Some(start) = tree {
            let tree = CheckoutChanges { start: Some(start.clone()), ..CheckoutChanges::default() };
            self.isolated.insert(*task, tree);
        }
        self.start_task(state, parent_call.as_deref());
    }

    fn with_task(&mut self, id: TaskId, change: impl FnOnce(&mut TaskState)) {
        if let Some(task) = usize::try_from(id.0).ok().and_then(|index| self.tasks.get_mut(index)) {
            change(task);
        }
    }

    /// Changes a task and every task above it.
    fn with_line(&mut self, id: TaskId, mut change: impl FnMut(&mut TaskState)) {
        let mut next = Some(id);
        while let Some(id) = next {
            next = self.task(id).and_then(|task| task.parent);
            self.with_task(id, &mut change);
        }
    }

    /// Counts the wall time between two lines; the time a session lay dead does not count.
    fn pass_time(&mut self, line: &JournalLine) {
        let since = self.last_at.replace(line.at);
        if matches!(
            line.event,
            Event::Resumed { .. } | Event::Decided { .. } | Event::Continued { .. }
        ) {
            return;
        }
        let passed = since.map_or(Duration::ZERO, |since| passed(since, line.at));
        for id in self.running.clone() {
            self.with_task(id, |task| task.budgeting.pass(passed));
        }
    }

    /// Takes up what a person says with a decision or a resume. If the session had ended, its root
    /// task is at work again.
    fn take_up(&mut self, by: &str, words: &str, images: &[Image]) {
        let id = format!("beside the run, after {} messages", self.messages.len());
        let (by, text) = (by.to_owned(), words.to_owned());
        self.messages.push(PersonMessage { id, by, text, images: images.to_vec() });
        if let Some(root) = self.tasks.first_mut()
            && root.ended.take().is_some()
        {
            self.running.insert(0, root.id);
        }
    }

    fn start_task(&mut self, mut task: TaskState, parent_call: Option<&str>) {
        if let (Some(parent), Some(call)) = (task.parent, parent_call) {
            let above = self.task(parent);
            task.depth = above.map_or(0, |parent| parent.depth.saturating_add(1));
            // What its parent read is in what it was told.
            task.messages_read = above.map_or(0, |parent| parent.messages_read);
            self.with_task(parent, |parent| {
                let Some(waiting) = parent.turn.open_call(call) else { return };
                waiting.child = Some(task.id);
                if ToolName::called(&waiting.call.name) == Some(ToolName::RequestModeSwitch) {
                    task.purpose = TaskPurpose::Decide;
                }
            });
        }
        self.running.push(task.id);
        self.tasks.push(task);
    }

    fn approve(&mut self, task: TaskId, headline: &str, approval: &Approval) {
        if self.approved.iter().all(|known| known.approval.hold != approval.hold) {
            let (headline, approval) = (headline.to_owned(), approval.clone());
            self.approved.push(ApprovedCall { task, headline, approval });
        }
    }

    /// Counts files as changed where a task works, for it and the tasks above it that work there.
    fn touch(&mut self, id: TaskId, paths: &[RepoPath]) {
        let owner = self.tree_owner(id);
        // What a sub-task changed in a worktree of its own counts once it is merged.
        if !paths.is_empty() {
            self.edits.succeeded |= owner.is_none();
            self.checked.changed(owner, paths);
        }
        let tree = self.tree_mut(owner);
        for path in paths {
            tree.touched.entry(path.clone()).or_default();
            tree.unsaved.insert(path.clone());
        }
        let mut next = Some(id);
        while let Some(id) = next.filter(|id| self.tree_owner(*id) == owner) {
            next = self.task(id).and_then(|task| task.parent);
            self.with_task(id, |task| task.touched.extend(paths.iter().cloned()));
        }
    }

    fn over_in_background(&mut self, event: &Event, id: TaskId) -> Vec<CommandReport> {
        let task = usize::try_from(id.0).ok().and_then(|at| self.tasks.get(at));
        self.background.ended_by(event, task)
    }

    fn ran(&mut self, id: TaskId, ran: CommandReport) {
        self.with_line(id, |task| {
            if task.parent.is_some() {
                task.commands.push(ran.clone());
            }
        });
        self.commands.push(ran);
    }

    fn answer(&mut self, event: &Event) {
        let Event::Answered { task: id, call, observation, refusal, .. } = event else { return };
        let id = *id;
        self.pending.retain(|pending| pending.call() != (id, call));
        let Some(task) = self.task(id) else { return };
        let Some(waiting) = task.turn.call(call) else { return };
        let hold = waiting.decided.as_ref().map(|decided| decided.id.clone());
        let mode = task.mode.clone();
        // What it wrote was judged: it ran.
        let effect = waiting.performing.as_ref();
        let performed = effect.is_some_and(|effect| effect.promotion.is_some())
            && refusal.as_ref().is_some_and(|refusal| refusal.by == RefusedBy::Policy);
        let tool = dispatch::meant(&waiting.call);
        let called = tool.map_or_else(|| waiting.call.name.clone(), |tool| tool.to_string());
        let headline = waiting.headline.clone().unwrap_or_else(|| waiting.call.name.clone());
        let command = waiting.command.clone().unwrap_or_else(|| headline.clone());
        if let Some(output) = observation.output.clone() {
            self.outputs.push((id, output));
        }
        if let Some(write) = &observation.memory {
            self.remember(&mode, write);
        }
        if let (Some(exit), None) = (observation.exit, &observation.background) {
            let details = observation.command.clone();
            let ran = CommandReport { command, exit, details, background: None };
            if observation.touched.is_empty() {
                self.checked.ran(&ran);
            }
            self.ran(id, ran);
        }
        self.tools.count(&called, observation.is_error, refusal.is_some() && !performed);
        self.edits.answered(event, tool, &headline);
        if let Some(refusal) = refusal {
            let refusal = Refusal::clone(refusal);
            self.refusals.push(RefusedCall { task: id, mode, headline, refusal, performed });
        }
        // What an approved call changed was held, or allowed anyway: anything else was undone.
        if let Some(call) =
            self.approved.iter_mut().find(|call| hold.as_ref() == Some(&call.approval.hold))
        {
            call.approval.intents.extend(
                observation.touched.iter().map(|path| Intent::Edit(path.clone()).to_string()),
            );
        }
        self.touch(id, &observation.touched);
        self.checked.followed(self.tree_owner(id), &observation.edit_checks);
    }

    fn count(&mut self, owner: Option<TaskId>, touched: &[TouchedPath]) {
        let there: Vec<TaskId> =
            self.running.iter().copied().filter(|id| self.tree_owner(*id) == owner).collect();
        for file in touched {
            let before = self.tree_mut(owner).count(file);
            for id in &there {
                self.with_task(*id, |task| task.budgeting.change_file(before, file.diff_lines));
            }
        }
    }
}

fn passed(since: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
