//! Sub-tasks beside each other: each works in a worktree of its own and what it changed is merged
//! where its parent works, in the order of the calls.
//!
//! Which calls belong together, what they begin with and what each may spend is one line of the
//! journal (`forked`), so that a resumed session starts what a killed one had not. The parent waits
//! for all of them; then each result is taken over or refused as a whole (`brought`). A merge
//! depends on commits alone and writes what it wrote before, so a kill in the middle of one does no
//! harm. What is not taken over stays on a private ref. Nobody's uncommitted work is copied or
//! written over: where there is some, sub-tasks run one after another.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use crate::session::Session;
use crate::session::calls::Permitted;
use crate::session::event::{Event, ForkedCall};
use crate::session::id::SessionId;
use crate::session::outcome::OutcomeWord;
use crate::session::stop::Stop;
use crate::session::task::{Brought, WaitingCall};
use crate::session::work::{Done, Place, Work};
use crate::tools::dispatch::Call;
use crate::tools::flow::new_task::{NewTask, Priority};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::merge::{Conflict, Merged, Sides};
use locum_workspace::repo::CommitId;
use locum_workspace::touched::Snapshot;
use locum_workspace::worktree::{Making, remove_worktree};

/// The folder of worktrees, beside the journal.
const TREES_FOLDER: &str = "trees";

/// Returns the name a checkout's checkpoints go by, below `refs/locum/`.
pub(crate) fn ref_of(session: &SessionId, owner: Option<TaskId>) -> String {
    owner.map_or_else(|| session.to_string(), |owner| format!("trees/{session}/{owner}"))
}

/// Says what became of the changes of a sub-task, for its parent; `written` are the files it wrote.
pub(crate) fn told(brought: &Brought, written: &str) -> String {
    let Some(kept) = &brought.kept else { return format!("Files written: {written}") };
    let stays =
        format!("It wrote: {written}. Its files are kept on `{kept}`, where git can read them.");
    if brought.conflicts.is_empty() {
        return format!("Nothing of what it changed was taken over. {stays}");
    }
    let conflicts = brought.conflicts.iter().map(|conflict| {
        let sides =
            if conflict.sides.is_empty() { String::new() } else { format!("\n{}", conflict.sides) };
        format!("- `{}`: {}{sides}\n", conflict.path, conflict.what)
    });
    format!(
        "Nothing of what it changed was taken over, because it contradicts what is here by \
         now:\n\n{}\n{stays} Have the rest done again on top of what is here.",
        conflicts.collect::<String>()
    )
}

impl<'a> Session<'a> {
    /// Returns how many sub-tasks of a task may work beside each other.
    pub(crate) fn beside_each_other(&self) -> usize {
        usize::try_from(self.parts.run.policy.settings().modes.delegation.parallel)
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Starts the sub-tasks that neighbouring calls ask for: one in its parent's checkout, several
    /// in worktrees.
    pub(crate) fn delegate(
        &mut self,
        id: TaskId,
        group: Vec<Permitted>,
    ) -> Result<Option<Work<'a>>, Stop> {
        let mut wanted: Vec<(WaitingCall, NewTask)> = Vec::new();
        for Permitted { waiting, permit } in group {
            let Call::NewTask(call) = permit.act() else { continue };
            match self.delegation_refused(id, call, wanted.len())? {
                Some(text) => self.refuse_steering(id, &waiting, text)?,
                None => wanted.push((waiting, call.clone())),
            }
        }
        if wanted.len() > 1 {
            let calls = wanted.into_iter().map(|(waiting, _)| waiting).collect();
            return self.look(id, |snapshot| Done::LookedBeforeFork { calls, snapshot }).map(Some);
        }
        wanted
            .first()
            .map_or(Ok(()), |(waiting, call)| self.start_alone(id, waiting, call))
            .map(|()| None)
    }

    fn start_alone(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &NewTask,
    ) -> Result<(), Stop> {
        let parent = self.task(id)?;
        let rest = parent.budget.carve(&parent.spent, None);
        self.start_task(id, waiting, call, None, rest)
    }

    /// Writes down which sub-tasks begin together; only the first of them where somebody has work
    /// of their own in the checkout.
    pub(crate) fn fork(
        &mut self,
        id: TaskId,
        calls: &[WaitingCall],
        snapshot: &Snapshot,
    ) -> Result<(), Stop> {
        let owner = self.state.tree_owner(id);
        let touched = &self.state.tree(owner).touched;
        if snapshot.dirty().any(|path| !touched.contains_key(path)) {
            let Some(first) = calls.first() else { return Ok(()) };
            return match self.new_task_of(id, first)? {
                Some(call) => self.start_alone(id, first, &call),
                None => Ok(()),
            };
        }
        self.save_unsaved(owner)?;
        let Some(from) = self.saved(owner) else { return Ok(()) };
        let mut shares: Vec<(String, u32)> = Vec::new();
        for waiting in calls {
            if let Some(call) = self.new_task_of(id, waiting)? {
                shares.push((waiting.call.id.clone(), call.priority().shares()));
            }
        }
        let parent = self.task(id)?;
        let rest = parent.budget.carve(&parent.spent, None);
        // One share stays with the parent, which has to make something of the results.
        let all = shares
            .iter()
            .map(|(_, shares)| *shares)
            .fold(Priority::NORMAL_SHARES, u32::saturating_add);
        let calls = shares
            .into_iter()
            .map(|(call, shares)| ForkedCall { call, budget: rest.share(shares, all) })
            .collect();
        self.emit(Event::Forked { task: id, calls, from })
    }

    /// Starts the next sub-task of a fork.
    pub(crate) fn start_forked(&mut self, id: TaskId) -> Result<(), Stop> {
        let Some((from, forked, waiting)) = self.task(id)?.to_be_forked() else { return Ok(()) };
        let (from, budget, waiting) = (from.clone(), forked.budget, waiting.clone());
        match self.new_task_of(id, &waiting)? {
            Some(call) => self.start_task(id, &waiting, &call, Some(from), budget),
            None => Ok(()),
        }
    }

    /// Returns the sub-task a call asks for; one that asks for none any more is answered with why.
    fn new_task_of(&mut self, id: TaskId, waiting: &WaitingCall) -> Result<Option<NewTask>, Stop> {
        let brief = self.brief(id)?;
        let text = match self.parse(id, &brief, waiting)? {
            Ok(Call::NewTask(call)) => return Ok(Some(call)),
            Ok(_) => "This call starts no sub-task.".to_owned(),
            Err(error) => error.0,
        };
        self.refuse_steering(id, waiting, text).map(|()| None)
    }

    /// Merges what an ended sub-task changed in its own worktree where its parent works, or keeps
    /// it for another try.
    pub(crate) fn bring_back(&mut self, child: TaskId) -> Result<(), Stop> {
        self.save_unsaved(Some(child))?;
        let task = self.task(child)?;
        let (parent, completed) =
            (task.parent.unwrap_or_default(), task.ended.as_ref().is_some_and(|end| end.completed));
        let tree = self.state.tree(Some(child));
        let (Some(base), Some(theirs)) = (tree.start.clone(), tree.checkpoint.clone()) else {
            return self.emit(Event::Brought {
                task: child,
                taken: Vec::new(),
                conflicts: Vec::new(),
                kept: None,
            });
        };
        let owner = self.state.tree_owner(parent);
        let mut conflicts = Vec::new();
        if completed {
            self.save_unsaved(owner)?;
            match self.merge(child, owner, &base, &theirs)? {
                Ok(taken) => {
                    return self.emit(Event::Brought { task: child, taken, conflicts, kept: None });
                }
                Err(found) => conflicts = self.shown(parent, found)?,
            }
        }
        let session = self
            .state
            .start
            .as_ref()
            .map_or_else(|| self.parts.start.id.clone(), |start| start.id.clone());
        let kept = Some(format!("refs/locum/{}", ref_of(&session, Some(child))));
        self.emit(Event::Brought { task: child, taken: Vec::new(), conflicts, kept })
    }

    /// Merges and brings the result into the parent's checkout; returns the paths that changed
    /// there, or what stands in the way.
    fn merge(
        &mut self,
        child: TaskId,
        owner: Option<TaskId>,
        base: &CommitId,
        theirs: &CommitId,
    ) -> Result<Result<Vec<RepoPath>, Vec<Conflict>>, Stop> {
        let Some(ours) = self.saved(owner) else { return Ok(Ok(Vec::new())) };
        let place = self.place_of(owner)?;
        let written: BTreeSet<RepoPath> =
            self.state.tree(Some(child)).touched.keys().cloned().collect();
        let touched = self.state.tree(owner).touched.keys().chain(&written).cloned().collect();
        let (commit, changed) =
            match place.repo.merge(&Sides { base, ours: &ours, theirs, touched: &touched })? {
                Merged::Whole { commit, changed } => (commit, changed),
                Merged::Conflicts(conflicts) => return Ok(Err(conflicts)),
            };
        let mode = self.task(child)?.mode.clone();
        let mut conflicts = Vec::new();
        // What the sub-task wrote was judged there; what only the merge changes, because the other
        // side moved it, is judged here.
        for path in changed.difference(&written) {
            let verdict = self.edit_verdict(&mode, path)?;
            if verdict.decision != Decision::Allow {
                conflicts.push(Conflict {
                    path: path.clone(),
                    what: verdict.reason(),
                    sides: String::new(),
                });
            }
        }
        let differs = |commit: &CommitId| -> Result<BTreeSet<RepoPath>, Stop> {
            Ok(place
                .repo
                .changes(commit, &changed)?
                .into_iter()
                .map(|change| change.path)
                .collect())
        };
        // As it was before the merge, or as it is after one that was cut off: anything else is
        // somebody else's.
        for path in differs(&ours)?.intersection(&differs(&commit)?) {
            let what = "has changes of somebody else, which are in no commit".to_owned();
            conflicts.push(Conflict { path: path.clone(), what, sides: String::new() });
        }
        if conflicts.is_empty() {
            place.repo.restore(&commit, &changed)?;
            return Ok(Ok(changed.into_iter().collect()));
        }
        Ok(Err(conflicts))
    }

    /// Returns conflicts as the parent may see them: without secrets, and without lines of files it
    /// may not read.
    fn shown(&self, parent: TaskId, conflicts: Vec<Conflict>) -> Result<Vec<Conflict>, Stop> {
        let facts = self.facts(&self.task(parent)?.mode);
        let may_read = |path: &RepoPath| {
            self.parts.run.policy.decide(&Intent::Read(path.clone()), &facts).decision
                == Decision::Allow
        };
        let shown = |conflict: Conflict| {
            let sides = if may_read(&conflict.path) {
                self.parts.run.redactor.redact(&conflict.sides)
            } else {
                String::new()
            };
            Conflict { sides, ..conflict }
        };
        Ok(conflicts.into_iter().map(shown).collect())
    }

    fn save_unsaved(&mut self, owner: Option<TaskId>) -> Result<(), Stop> {
        if self.state.tree(owner).unsaved.is_empty() { Ok(()) } else { self.save(owner) }
    }

    /// Returns the commit that holds all that is safe of a checkout.
    pub(crate) fn saved(&self, owner: Option<TaskId>) -> Option<CommitId> {
        self.state.tree(owner).checkpoint.clone().or_else(|| self.start_of(owner))
    }

    /// Returns the commit a checkout began with.
    pub(crate) fn start_of(&self, owner: Option<TaskId>) -> Option<CommitId> {
        let own = || self.state.start.as_ref().map(|start| start.base.clone());
        if owner.is_some() { self.state.tree(owner).start.clone() } else { own() }
    }

    /// Returns where a task works.
    pub(crate) fn place(&mut self, id: TaskId) -> Result<Place<'a>, Stop> {
        self.place_of(self.state.tree_owner(id))
    }

    /// Returns a checkout; a worktree is made, or made again, when it is first needed.
    pub(crate) fn place_of(&mut self, owner: Option<TaskId>) -> Result<Place<'a>, Stop> {
        let Some(owner) = owner else { return Ok(Place::Own(self.parts.workspace)) };
        if let Some(open) = self.apart.get(&owner) {
            return Ok(Place::Apart(Rc::clone(open)));
        }
        let failed = |error| {
            Stop::task(OutcomeWord::Failed, format!("its worktree cannot be made: {error}"))
        };
        let tree = self.state.tree(Some(owner));
        let (Some(start), Some(session)) = (&tree.start, &self.state.start) else {
            return Err(Stop::session(
                OutcomeWord::Failed,
                format!("the journal does not say what task {owner} begins with"),
            ));
        };
        let (workspace, making) =
            self.parts.workspace.repo.worktree(&self.tree_folder(owner), start).map_err(failed)?;
        if let (Making::New, Some(checkpoint)) = (making, &tree.checkpoint) {
            let touched = tree.touched.keys().cloned().collect();
            workspace
                .repo
                .take_up(&ref_of(&session.id, Some(owner)), checkpoint, &touched)
                .map_err(failed)?;
        }
        let workspace = Rc::new(workspace);
        self.apart.insert(owner, Rc::clone(&workspace));
        Ok(Place::Apart(workspace))
    }

    fn tree_folder(&self, owner: TaskId) -> PathBuf {
        self.journal.folder().join(TREES_FOLDER).join(owner.to_string())
    }

    /// Removes the worktree of a sub-task whose result its parent has, and the ref of what was
    /// taken over.
    pub(crate) fn leave_worktree(&mut self, child: TaskId) -> Result<(), Stop> {
        let task = self.task(child)?;
        let Some(brought) = task.brought.as_ref().filter(|_| task.apart) else { return Ok(()) };
        if let Some(start) = self.state.start.as_ref().filter(|_| brought.kept.is_none()) {
            self.parts.workspace.repo.drop_checkpoints(&ref_of(&start.id, Some(child)))?;
        }
        self.apart.remove(&child);
        Ok(remove_worktree(&self.tree_folder(child))?)
    }

    /// Removes every worktree at the end of a session; what is not taken over yet is safe by its
    /// checkpoints.
    pub(crate) fn leave_worktrees(&mut self) -> Result<(), Stop> {
        let apart: Vec<TaskId> = self.state.apart.keys().copied().collect();
        if apart.is_empty() {
            return Ok(());
        }
        for child in apart {
            self.leave_worktree(child)?;
        }
        self.apart.clear();
        Ok(remove_worktree(&self.journal.folder().join(TREES_FOLDER))?)
    }

    /// Returns the commits that sub-tasks whose work is not taken over yet need to go on.
    pub(crate) fn apart_commits(&self) -> Vec<CommitId> {
        let open = self.state.tasks.iter().filter(|task| task.apart && task.brought.is_none());
        let commits = open.flat_map(|task| {
            let tree = self.state.tree(Some(task.id));
            tree.start.iter().chain(&tree.checkpoint)
        });
        commits.cloned().collect()
    }
}
