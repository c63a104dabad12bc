//! `Session`: a session at work, and what its steps have in common: how it changes ([`emit`]) and
//! how a task waits ([`wait`]).
//!
//! The loop alone changes a session. Whatever it waits for (a model's reply, tools at work, a look
//! at the checkout) is a future that borrows nothing of it. So the futures of several tasks run in
//! parallel; each carries what the session does when it is over. A task has at most one of them.
//! The steps themselves stand in the modules above, the loop on top.
//!
//! [`emit`]: Session::emit
//! [`wait`]: Session::wait

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::stream::FuturesUnordered;

use crate::session::compaction::ContextOverflow;
use crate::session::estimate::TokenCount;
use crate::session::event::{Event, JournalLine, SessionStart};
use crate::session::in_flight::{AbandonedRequests, RunSpent};
use crate::session::journal::Journal;
use crate::session::model::TaskModel;
use crate::session::parts::SessionParts;
use crate::session::state::SessionState;
use crate::session::stop::Stop;
use crate::session::system_prompt::{PromptContext, SystemPrompt};
use crate::session::task::TaskState;
use crate::session::task_env::TaskEnv;
use crate::tools::VisionSupport;
use crate::tools::background::BackgroundCommands;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::access::TaskPurpose;
use locum_modes::{Mode, ModeSet};
use locum_policy::intent::Facts;
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::layer::Layer;
use locum_workspace::layer::ignored::IgnoredChanges;
use locum_workspace::touched::Snapshot;

/// Something a task waits for, and what the session does when it is over.
type PendingWork<'a> = LocalBoxFuture<'a, (TaskId, Continuation<'a>)>;

/// What a session does when something a task waited for is over.
type Continuation<'a> = Box<dyn FnOnce(&mut Session<'a>) -> Result<(), Stop> + 'a>;

/// What a system prompt depends on: mode, whether it may delegate, whether it is the root task's,
/// whether it has had commands in the background, purpose, variables of the modes before.
type PromptKey = (String, bool, bool, bool, TaskPurpose, BTreeMap<String, String>);

/// A session at work.
pub(crate) struct Session<'a> {
    pub(crate) parts: SessionParts<'a>,
    pub(crate) journal: Journal,
    pub(crate) state: SessionState,
    /// Set when an event could not be written: nothing more is done then.
    pub(crate) journal_broken: bool,
    /// Set at the session's end: no hook is asked any more.
    pub(crate) ending: bool,
    /// Set while hooks are asked about the session as a whole: no step is taken meanwhile.
    pub(crate) only_hooks: bool,
    /// What tasks wait for.
    pub(crate) under_way: FuturesUnordered<PendingWork<'a>>,
    /// The tasks that wait.
    pub(crate) busy: BTreeSet<TaskId>,
    /// Worktrees of sub-tasks that are open.
    pub(crate) worktrees: BTreeMap<TaskId, Rc<Workspace>>,
    /// Layers over the run's checkout and over those of sub-tasks; `None` where there can be none.
    pub(crate) layers: BTreeMap<Option<TaskId>, Option<Rc<Layer>>>,
    /// What was different in a layer, before the last command, of what git ignores.
    pub(crate) ignored_before: BTreeMap<Option<TaskId>, IgnoredChanges>,
    /// Commands that tasks have in the background.
    pub(crate) background: BTreeMap<TaskId, Rc<BackgroundCommands>>,
    /// Whether commands are contained here.
    pub(crate) contained: bool,
    /// By mode, whether git's objects hold files that a task in it may not read.
    pub(crate) hidden_history: BTreeMap<String, bool>,
    /// The last look at the checkout with files in no commit that were recorded, and whose and in
    /// which mode it was.
    pub(crate) recorded_look: Option<((Option<TaskId>, String), Snapshot)>,
    /// Paths that permitted calls since the last turns were about.
    pub(crate) paths_in_play: Vec<(TaskId, RepoPath)>,
    /// Tasks whose model refused a request as too long.
    pub(crate) overflows: BTreeMap<TaskId, ContextOverflow>,
    /// Tasks whose last reply was cut at what was left of the budget.
    pub(crate) cut_by_budget: BTreeSet<TaskId>,
    /// Which part of conversations has been counted for estimates.
    pub(crate) counted: BTreeMap<TaskId, TokenCount>,
    /// Requests that were dropped before they were over.
    pub(crate) abandoned: AbandonedRequests<'a>,
    /// What the run has spent, for the requests under way.
    pub(crate) run_spent: RunSpent,
    prompts: BTreeMap<PromptKey, Rc<SystemPrompt>>,
}

impl<'a> Session<'a> {
    /// Takes a session up where its journal ends.
    pub(crate) fn new(parts: SessionParts<'a>, journal: Journal, state: SessionState) -> Self {
        let run_spent = state.root().map(|root| root.budgeting.spent).unwrap_or_default();
        Self {
            parts,
            journal,
            state,
            journal_broken: false,
            ending: false,
            only_hooks: false,
            under_way: FuturesUnordered::new(),
            busy: BTreeSet::new(),
            worktrees: BTreeMap::new(),
            layers: BTreeMap::new(),
            ignored_before: BTreeMap::new(),
            background: BTreeMap::new(),
            contained: false,
            hidden_history: BTreeMap::new(),
            recorded_look: None,
            paths_in_play: Vec::new(),
            overflows: BTreeMap::new(),
            cut_by_budget: BTreeSet::new(),
            counted: BTreeMap::new(),
            abandoned: AbandonedRequests::default(),
            run_spent: RunSpent::new(Cell::new(run_spent)),
            prompts: BTreeMap::new(),
        }
    }

    /// Writes an event down, takes it into the state and shows it: the only way anything changes.
    pub(crate) fn emit(&mut self, event: Event) -> Result<(), Stop> {
        let line = JournalLine { at: self.parts.clock.now(), event };
        if let Err(error) = self.journal.append(&line) {
            self.journal_broken = true;
            return Err(error.into());
        }
        self.state.apply(&line);
        if let Some(root) = self.state.root() {
            self.run_spent.set(root.budgeting.spent);
        }
        self.end_background(&line.event);
        (self.parts.watch)(&line, &self.state);
        Ok(())
    }

    /// Lets a task wait for `work`; then the session does `then`.
    pub(crate) fn wait<T: 'a>(
        &mut self,
        id: TaskId,
        work: impl Future<Output = T> + 'a,
        then: impl FnOnce(&mut Session<'a>, T) -> Result<(), Stop> + 'a,
    ) {
        self.busy.insert(id);
        let work = async move {
            let result = work.await;
            let continuation: Continuation<'a> =
                Box::new(move |session: &mut Session<'a>| then(session, result));
            (id, continuation)
        };
        self.under_way.push(work.boxed_local());
    }

    /// Lets a task wait for a look at the checkout it works in.
    pub(crate) fn look(
        &mut self,
        id: TaskId,
        then: impl FnOnce(&mut Session<'a>, Snapshot) -> Result<(), Stop> + 'a,
    ) -> Result<(), Stop> {
        let place = self.place(id)?;
        let git = GitBinary::new(&place.repo, self.parts.run.env);
        let look = async move { place.repo.snapshot(&git).await };
        self.wait(id, look, |session, snapshot| then(session, snapshot?));
        Ok(())
    }

    /// Lets a task wait for a look at the checkout after what ran since the look `before`.
    pub(crate) fn look_after(
        &mut self,
        id: TaskId,
        before: Snapshot,
        then: impl FnOnce(&mut Session<'a>, (Snapshot, Snapshot)) -> Result<(), Stop> + 'a,
    ) -> Result<(), Stop> {
        let place = self.place(id)?;
        let git = GitBinary::new(&place.repo, self.parts.run.env);
        let look = async move {
            let after = place.repo.snapshot_after(&git, &before).await;
            after.map(|after| (before, after))
        };
        self.wait(id, look, |session, looks| then(session, looks?));
        Ok(())
    }

    /// Returns what the session is to do: by its journal, once it has begun.
    pub(crate) fn start(&self) -> &SessionStart {
        self.state.start.as_deref().unwrap_or(&self.parts.start)
    }

    /// Returns a task.
    pub(crate) fn task(&self, id: TaskId) -> Result<&TaskState, Stop> {
        self.state.task(id).ok_or_else(|| Stop::failed(format!("the journal has no task {id}")))
    }

    /// Returns the name of the next task.
    pub(crate) fn next_task(&self) -> TaskId {
        TaskId(u32::try_from(self.state.tasks.len()).unwrap_or(u32::MAX))
    }

    /// Returns a mode by slug.
    pub(crate) fn mode(&self, slug: &str) -> Result<&'a Mode, Stop> {
        let modes: &'a ModeSet = self.parts.modes;
        modes.find(slug).ok_or_else(|| Stop::failed(format!("there is no mode `{slug}`")))
    }

    /// Returns who asks and how, with the mode a task is in.
    pub(crate) fn facts(&self, mode: &str) -> Facts {
        // A resumed run may find itself on another machine.
        let sandbox = self.parts.run.sandbox;
        let (sandboxed, contained) = (sandbox.holds(), self.contained);
        let begun = self.start().facts.clone();
        let outside_text =
            begun.outside_text || self.state.met_outside_text(sandbox.keeps_offline());
        Facts { mode: mode.to_owned(), sandboxed, contained, outside_text, ..begun }
    }

    /// Returns the model a task speaks with: its mode's own, else the one for its place.
    pub(crate) fn model_of(&self, task: &TaskState) -> TaskModel<'a> {
        let models = &self.parts.models;
        let own = models.own.get(&task.mode).copied();
        own.unwrap_or(if task.parent.is_none() { models.main } else { models.task })
    }

    /// Returns whether a task may start sub-tasks.
    pub(crate) fn may_delegate(&self, task: &TaskState) -> bool {
        let policy = self.parts.run.policy;
        task.depth < policy.settings().modes.delegation.depth
            && policy.may_delegate(&self.facts(&task.mode))
    }

    /// Returns the system prompt and the tools for a task as it is now.
    pub(crate) fn system_prompt(&mut self, id: TaskId) -> Result<Rc<SystemPrompt>, Stop> {
        let task = self.task(id)?;
        let may_delegate = self.may_delegate(task);
        let had_background = self.background.get(&id).is_some_and(|own| own.started() > 0);
        let is_root = task.parent.is_none();
        let before = task.left_modes.iter().filter_map(|slug| self.parts.modes.find(slug));
        let mut mode = Cow::Borrowed(self.mode(&task.mode)?);
        let kept = mode.kept_variables(before);
        let slug = task.mode.clone();
        let key = (slug, may_delegate, is_root, had_background, task.purpose, kept.clone());
        if let Some(system_prompt) = self.prompts.get(&key) {
            return Ok(Rc::clone(system_prompt));
        }
        if !kept.is_empty() {
            mode.to_mut().variables.extend(kept);
        }
        let model = self.model_of(task);
        let system_prompt = SystemPrompt::of(
            &PromptContext {
                mode: &mode,
                modes: self.parts.modes,
                policy: self.parts.run.policy,
                facts: &self.facts(&task.mode),
                may_delegate,
                purpose: task.purpose,
                included: model.included_tools,
                instructions: self.parts.instructions,
                servers: &self.parts.servers.offered(),
                had_background,
                place: &self.start().place,
            },
            model,
        );
        Ok(Rc::clone(self.prompts.entry(key).or_insert(Rc::new(system_prompt))))
    }

    /// Returns what the tools of a task work with.
    pub(crate) fn task_env(&mut self, id: TaskId) -> Result<TaskEnv<'a>, Stop> {
        let place = self.place(id)?;
        let task = self.task(id)?;
        let sees_images = self.model_of(task).sees_images;
        let owner = self.state.tree_owner(id);
        // What commands call the checkout, and what they find there, has to be known before the
        // first one is judged. In a worktree this is another checkout.
        let in_worktree = owner.is_some() || self.parts.stands_for.is_some();
        let layer = if self.contained || in_worktree {
            self.layer_over(owner)?
        } else {
            self.layers.get(&owner).cloned().flatten()
        };
        let mode = self.task(id)?.mode.clone();
        let git_hidden = layer.is_some() && self.hides_history(id, &mode)?;
        let background = self.background_of(id);
        let task = self.task(id)?;
        Ok(TaskEnv {
            run: self.parts.run,
            place,
            layer,
            git_hidden,
            mode: self.mode(&task.mode)?,
            facts: self.facts(&task.mode),
            skills: &self.parts.instructions.skills,
            commands: &self.parts.instructions.commands,
            image_models: self
                .parts
                .models
                .image_model
                .map_or(&[], |image_model| image_model.names),
            servers: self.parts.servers,
            vision: if sees_images { VisionSupport::Shown } else { VisionSupport::Blind },
            outputs: self.output_reader(id),
            background,
            known: Arc::clone(&task.known),
            range: self.change_range(owner),
            memory: self.memory(),
            rest: task.budgeting.rest(),
        })
    }
}
