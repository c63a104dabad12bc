//! The checkouts of a session: the run's own and the worktrees of isolated sub-tasks, each with its
//! checkpoints on a private ref.
//!
//! In: the task that owns a worktree; `None` is the run's own checkout. Worktrees are created when
//! first needed and recreated after a kill.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use crate::session::event::Event;
use crate::session::held_changes::named;
use crate::session::live::Session;
use crate::session::outcome::OutcomeWord;
use crate::session::rewind;
use crate::session::stop::Stop;
use crate::session::task_env::TaskCheckout;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::prompts::task;
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::Workspace;
use locum_workspace::copied::IgnoredFolders;
use locum_workspace::repo::CommitId;
use locum_workspace::worktree::{WorktreeOrigin, remove_worktree};

/// The folder of worktrees, next to the journal.
const TREES_FOLDER: &str = "trees";

impl<'a> Session<'a> {
    /// Returns the name a checkout's checkpoints go by, below `refs/locum/`.
    pub(crate) fn ref_of(&self, owner: Option<TaskId>) -> String {
        let session = &self.start().id;
        owner.map_or_else(|| session.to_string(), |owner| format!("trees/{session}/{owner}"))
    }

    /// Returns the ref that keeps what a sub-task changed in a worktree of its own.
    pub(crate) fn kept_ref(&self, child: TaskId) -> String {
        format!("refs/locum/{}", self.ref_of(Some(child)))
    }

    /// Makes a checkpoint of what was touched in a checkout since the last one and counts the lines
    /// changed.
    pub(crate) fn save(&mut self, owner: Option<TaskId>) -> Result<(), Stop> {
        let place = self.place_of(owner)?;
        let there =
            self.state.at_work().filter(|task| self.state.tree_owner(task.id) == owner).last();
        let label = there
            .map_or("end".to_owned(), |task| format!("task {} turn {}", task.id, task.turn.number));
        let Some(base) = self.start_of(owner) else { return Ok(()) };
        let paths = &self.state.tree(owner).unsaved;
        let commit = place.repo.checkpoint(&self.ref_of(owner), &base, paths, &label)?;
        let touched = rewind::touched(&place.repo, &base, paths)?;
        self.emit(Event::Checkpointed {
            tree: owner,
            commit,
            touched,
            uncommitted: BTreeSet::new(),
        })
    }

    /// Makes a checkpoint of what no checkpoint has.
    pub(crate) fn save_unsaved(&mut self, owner: Option<TaskId>) -> Result<(), Stop> {
        if self.state.tree(owner).unsaved.is_empty() { Ok(()) } else { self.save(owner) }
    }

    /// Returns the commit that holds all that is safe of a checkout.
    pub(crate) fn saved(&self, owner: Option<TaskId>) -> Option<CommitId> {
        self.state.tree(owner).checkpoint.clone().or_else(|| self.start_of(owner))
    }

    /// Returns the commit a checkout began with.
    pub(crate) fn start_of(&self, owner: Option<TaskId>) -> Option<CommitId> {
        match owner {
            Some(_) => self.state.tree(owner).start.clone(),
            None => Some(self.start().base.clone()),
        }
    }

    /// Returns where a task works.
    pub(crate) fn place(&mut self, id: TaskId) -> Result<TaskCheckout<'a>, Stop> {
        self.place_of(self.state.tree_owner(id))
    }

    /// Returns a checkout; a worktree is created, or recreated, when it is first needed.
    pub(crate) fn place_of(&mut self, owner: Option<TaskId>) -> Result<TaskCheckout<'a>, Stop> {
        let Some(owner) = owner else { return Ok(TaskCheckout::Own(self.parts.workspace)) };
        if let Some(open) = self.worktrees.get(&owner) {
            return Ok(TaskCheckout::Isolated(Rc::clone(open)));
        }
        let failed =
            |error| Stop::task(OutcomeWord::Failed, format!("cannot create its worktree: {error}"));
        let tree = self.state.tree(Some(owner));
        let Some(start) = &tree.start else {
            return Err(Stop::failed(format!("the journal has no start commit of task {owner}")));
        };
        let (workspace, making) =
            self.parts.workspace.repo.worktree(&self.tree_folder(owner), start).map_err(failed)?;
        let tree = tree.clone();
        if making == WorktreeOrigin::New {
            self.copy_ignored(owner, &workspace)?;
        }
        if let (WorktreeOrigin::New, Some(checkpoint)) = (making, &tree.checkpoint) {
            let touched = tree.touched.keys().cloned().collect();
            workspace
                .repo
                .take_up(&self.ref_of(Some(owner)), checkpoint, &touched)
                .map_err(failed)?;
        }
        if making == WorktreeOrigin::New {
            self.begin_again_over(owner)?;
        }
        let workspace = Rc::new(workspace);
        self.worktrees.insert(owner, Rc::clone(&workspace));
        Ok(TaskCheckout::Isolated(workspace))
    }

    /// Copies what git ignores where a sub-task's parent works into its worktree, if no layer can
    /// show it there.
    fn copy_ignored(&mut self, owner: TaskId, made: &Workspace) -> Result<(), Stop> {
        let task = self.task(owner)?;
        let (parent, mode) = (task.parent.unwrap_or_default(), task.mode.clone());
        let around = self.state.tree_owner(parent);
        if self.layer_over(around)?.is_some() {
            return Ok(());
        }
        let (facts, policy) = (self.facts(&mode), self.parts.run.policy);
        let readable = |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
        };
        let other = self.place_of(around)?;
        Ok(made.repo.copy_ignored(&other.repo, readable)?)
    }

    /// Says which ignored folders of its parent's checkout a sub-task finds in its own worktree;
    /// `None` when it finds all of them, or there are none.
    pub(crate) fn copied_folders(&mut self, parent: TaskId) -> Result<Option<String>, Stop> {
        let around = self.state.tree_owner(parent);
        if self.layer_over(around)?.is_some() {
            return Ok(None);
        }
        let session = self.journal.folder();
        let session = session.canonicalize().unwrap_or_else(|_| session.to_owned());
        let IgnoredFolders { copied, left_out } = self.place_of(around)?.repo.copyable(&session)?;
        Ok(task::copied_folders(&named(&copied), &named(&left_out)))
    }

    fn tree_folder(&self, owner: TaskId) -> PathBuf {
        self.journal.folder().join(TREES_FOLDER).join(owner.to_string())
    }

    /// Removes the worktree of a sub-task whose result its parent has, and the ref of what was
    /// merged.
    pub(crate) fn leave_worktree(&mut self, child: TaskId) -> Result<(), Stop> {
        let task = self.task(child)?;
        let Some(merge) = task.isolation.merge.as_ref().filter(|_| task.isolation.isolated) else {
            return Ok(());
        };
        if merge.kept_ref.is_none() {
            self.parts.workspace.repo.drop_checkpoints(&self.ref_of(Some(child)))?;
        }
        self.worktrees.remove(&child);
        Ok(remove_worktree(&self.tree_folder(child))?)
    }

    /// Removes every worktree at the end of a session; what is not merged yet is safe by its
    /// checkpoints.
    pub(crate) fn leave_worktrees(&mut self) -> Result<(), Stop> {
        let isolated: Vec<TaskId> = self.state.isolated.keys().copied().collect();
        if isolated.is_empty() {
            return Ok(());
        }
        for child in isolated {
            self.leave_worktree(child)?;
        }
        self.worktrees.clear();
        Ok(remove_worktree(&self.journal.folder().join(TREES_FOLDER))?)
    }

    /// Returns the commits that are needed to resume besides the checkpoint: of sub-tasks whose
    /// changes are not merged yet, and of changes that wait for a decision.
    pub(crate) fn needed_commits(&self) -> Vec<CommitId> {
        let open = self
            .state
            .tasks
            .iter()
            .filter(|task| task.isolation.isolated && task.isolation.merge.is_none());
        let commits = open.flat_map(|task| {
            let tree = self.state.tree(Some(task.id));
            tree.start.iter().chain(&tree.checkpoint)
        });
        let waiting = self.state.tasks.iter().flat_map(|task| task.turn.open());
        // Both by name: a checkout without its history has only so many commits below a name.
        let held = waiting.filter_map(|waiting| waiting.held_changes());
        let held = held.flat_map(|held| [&held.aside.before, &held.aside.after]);
        commits.chain(held).cloned().collect()
    }
}
