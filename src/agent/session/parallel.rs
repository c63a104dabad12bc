//! Parallel sub-tasks: each works in a worktree of its own and what it changed is merged where its
//! parent works, in the order of the calls.
//!
//! Which calls belong together, what they begin with and what each may spend is one line of the
//! journal (`parallel`). So a resumed session starts what a killed one had not. The parent waits
//! for all of them; then each result is merged or refused as a whole (`brought` in the journal). A
//! merge depends on commits alone and writes what it wrote before, so a kill in the middle of one
//! does no harm. What is not merged stays on a private ref. Uncommitted work of others is neither
//! copied nor written over: where there is some, sub-tasks run one after another. As many begin
//! together as can work with their shares (`budget_shares`).

use std::collections::BTreeSet;

use crate::session::budget_shares::{self, SharedBudget, WantedShare};
use crate::session::event::Event;
use crate::session::held_changes;
use crate::session::judged::PermittedCall;
use crate::session::live::Session;
use crate::session::recorded::ParallelCall;
use crate::session::stop::Stop;
use crate::session::task::TaskEnd;
use crate::session::task::isolation::{MergeResult, SubTaskShare};
use crate::session::task::turn::WaitingCall;
use crate::session::unmerged::KEPT_PATCHES_LIMIT_BYTES;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::flow::new_task::NewTask;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_modes::ToolGroup;
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::checkout_update::{CheckoutUpdate, Obstacle};
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::merge::{Conflict, MergeOutcome, MergeSides};
use locum_workspace::repo::CommitId;
use locum_workspace::touched::Snapshot;

/// Most files of a sub-task that its parent reads the figures of.
const FILES_SHOWN: usize = 50;

/// Most conflicts of a sub-task that its parent reads.
const CONFLICTS_SHOWN: usize = 50;

/// Bytes of lines in conflict that a task reads, of all its sub-tasks of one reply together.
const SIDES_LIMIT_BYTES: usize = 24 * 1024;

/// How the sub-tasks of one reply run that do not all run in parallel.
const ONE_BY_ONE: &str = "run one after another, not in parallel";
const IN_GROUPS: &str = "run in smaller groups, not all in parallel";

/// Reports to its parent what a sub-task changed and what became of it.
pub(crate) fn report(result: &MergeResult, changes: &[FileChange]) -> String {
    let Some(kept_ref) = &result.kept_ref else {
        return match listed(changes) {
            files if files.is_empty() => "It changed no file.".to_owned(),
            files => format!("Files it changed:{files}"),
        };
    };
    let stays = format!(
        "Its files are kept on `{kept_ref}`, where git can read them:{}\n\n`git show \
         {kept_ref}:PATH` shows one.",
        listed(changes)
    );
    if result.conflicts.is_empty() {
        return format!("None of its changes were merged. {stays}");
    }
    let line = |conflict: &Conflict| {
        let sides =
            if conflict.sides.is_empty() { String::new() } else { format!("\n{}", conflict.sides) };
        format!("- `{}`: {}{sides}\n", conflict.path, conflict.what)
    };
    let conflicts: String = result.conflicts.iter().take(CONFLICTS_SHOWN).map(line).collect();
    let more = match result.conflicts.len().saturating_sub(CONFLICTS_SHOWN) {
        0 => String::new(),
        more => format!("- and {more} more\n"),
    };
    format!(
        "None of its changes were merged: they conflict with the current files.\n\n{conflicts}\
         {more}\n{stays} `git diff {kept_ref} -- PATH` compares one with the current file. Redo \
         them on top of the current files."
    )
}

/// Lists changed files with their figures, one line each.
fn listed(changes: &[FileChange]) -> String {
    let line = |change: &FileChange| {
        let what = match change.kind {
            ChangeKind::Added => " (new)",
            ChangeKind::Modified => "",
            ChangeKind::Deleted => " (deleted)",
        };
        let FileChange { path, added, removed, .. } = change;
        match change.binary_bytes {
            Some(bytes) => format!("\n- `{path}`{what} binary, {bytes} bytes"),
            None => format!("\n- `{path}`{what} +{added} -{removed}"),
        }
    };
    let lines: String = changes.iter().take(FILES_SHOWN).map(line).collect();
    match changes.len().checked_sub(FILES_SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{lines}\n- and {more} more"),
        None => lines,
    }
}

impl Session<'_> {
    /// Compares what an ended sub-task changed with what it began with, once. Patches stay only
    /// where nothing was merged: they are nowhere else in a report.
    pub(crate) fn measure(&mut self, child: TaskId) -> Result<(), Stop> {
        let task = self.task(child)?;
        let isolation = &task.isolation;
        let Some(start) = isolation.start.clone().filter(|_| isolation.changes.is_none()) else {
            return Ok(());
        };
        let is_kept = isolation.merge.as_ref().is_some_and(|merge| merge.kept_ref.is_some());
        let touched: BTreeSet<RepoPath> = task.touched.iter().cloned().collect();
        let mut changes = Vec::new();
        if !touched.is_empty() {
            changes = self.place(child)?.repo.changes(&start, &touched)?;
        }
        self.limit_patches(&mut changes, if is_kept { KEPT_PATCHES_LIMIT_BYTES } else { 0 });
        self.emit(Event::WorkMeasured { task: child, changes })
    }

    /// Says to a task and in the report how its sub-tasks run instead of all in parallel, and why.
    fn note_sharing(&mut self, id: TaskId, how: &str, why: &str) -> Result<(), Stop> {
        let text = format!("Sub-tasks of task {id} {how}: {why}.");
        if self.state.notes.contains(&text) {
            return Ok(());
        }
        let text = self.parts.run.redactor.redact(&text);
        self.emit(Event::Noted { task: id, text: text.clone() })?;
        self.emit(Event::Reminded { task: id, text, mistake: false, about: None })
    }

    /// Returns how many sub-tasks of a task may work in parallel.
    pub(crate) fn parallel_limit(&self) -> usize {
        let delegation = &self.parts.run.policy.settings().modes.delegation;
        usize::try_from(delegation.parallel).unwrap_or(usize::MAX).max(1)
    }

    /// Starts the sub-tasks that neighbouring calls ask for: one in its parent's checkout, several
    /// in worktrees.
    pub(crate) fn delegate(&mut self, id: TaskId, group: Vec<PermittedCall>) -> Result<(), Stop> {
        let mut wanted: Vec<(WaitingCall, NewTask)> = Vec::new();
        for PermittedCall { waiting, permit, .. } in group {
            let CheckedCall::NewTask(call) = permit.act() else { continue };
            match self.delegation_refused(id, call, wanted.len())? {
                Some(text) => self.answer_mistake(id, &waiting, text)?,
                None => wanted.push((waiting, call.clone())),
            }
        }
        match wanted.as_slice() {
            [] => Ok(()),
            [(waiting, call)] => self.start_alone(id, waiting, call),
            _ => self.look(id, move |session, snapshot| session.plan(id, &wanted, &snapshot)),
        }
    }

    fn start_alone(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        call: &NewTask,
    ) -> Result<(), Stop> {
        // What it changes is compared with what is safe when it begins.
        self.save_unsaved(self.state.tree_owner(id))?;
        let budget = self.task(id)?.rest_for_sub_task();
        self.start_task(id, waiting, call, SubTaskShare { budget, tree: None })
    }

    /// Records which sub-tasks begin together: as many as can work with their shares, and only the
    /// first of them where the checkout has uncommitted work of others. The rest begin after them.
    fn plan(
        &mut self,
        id: TaskId,
        wanted: &[(WaitingCall, NewTask)],
        snapshot: &Snapshot,
    ) -> Result<(), Stop> {
        let owner = self.state.tree_owner(id);
        let (place, saved) = (self.place_of(owner)?, self.saved(owner));
        let touched = &self.state.tree(owner).touched;
        // What differs by its line ends or a filter alone is in a commit.
        let is_safe = |path: &RepoPath| {
            touched.contains_key(path)
                || saved.as_ref().is_some_and(|saved| place.repo.is_as_in(saved, path))
        };
        let of_others: Vec<&RepoPath> = snapshot.dirty().filter(|path| !is_safe(path)).collect();
        let in_the_way = if of_others.is_empty() {
            None
        } else {
            let may_read = self.readable(id)?;
            let files = of_others.into_iter().filter(|path| may_read(path));
            let files = held_changes::named(files);
            Some(format!("the checkout has changes of somebody else in no commit ({files})"))
        };
        // Files that were merged last count once they are safe.
        self.save_unsaved(owner)?;
        let rest = self.task(id)?.rest_for_sub_task();
        let mut wishes = Vec::new();
        for (_, call) in wanted {
            let changes_files = self.may_change_files(&call.mode)?;
            wishes.push(WantedShare { priority: call.priority, changes_files });
        }
        let SharedBudget { budgets, too_few } = budget_shares::share(&rest, &wishes);
        let too_little =
            too_few.map(|unit| format!("too few {unit} are left to be shared among them"));
        let is_alone = in_the_way.is_some() || budgets.is_empty();
        let how = if is_alone { ONE_BY_ONE } else { IN_GROUPS };
        if let Some(why) = in_the_way.or(too_little) {
            self.note_sharing(id, how, &why)?;
        }
        if is_alone {
            let Some((waiting, call)) = wanted.first() else { return Ok(()) };
            return self.start_alone(id, waiting, call);
        }
        let calls = wanted.iter().zip(budgets);
        let calls = calls
            .map(|((waiting, _), budget)| ParallelCall { call: waiting.call.id.clone(), budget })
            .collect();
        let Some(from) = self.saved(owner) else { return Ok(()) };
        self.emit(Event::ParallelStarted { task: id, calls, from })
    }

    /// Returns true for a mode whose tasks may change files, by themselves or through sub-tasks.
    fn may_change_files(&self, slug: &str) -> Result<bool, Stop> {
        let mode = self.mode(slug)?;
        let changes = [ToolGroup::Edit, ToolGroup::Command];
        let may_change = mode.groups.iter().any(|entry| changes.contains(&entry.group));
        Ok(may_change || self.parts.run.policy.may_delegate(&self.facts(slug)))
    }

    /// Starts the next of the parallel sub-tasks of a task.
    pub(crate) fn start_parallel(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.task(id)?;
        let Some((from, parallel, waiting)) = task.isolation.next_to_start(&task.turn) else {
            return Ok(());
        };
        let (from, budget, waiting) = (from.clone(), parallel.budget, waiting.clone());
        let system_prompt = self.system_prompt(id)?;
        let parsed = self
            .task_env(id)?
            .with(|context| dispatch::parse(&waiting.call, &system_prompt.offered, context));
        match parsed {
            Ok(CheckedCall::NewTask(call)) => {
                self.start_task(id, &waiting, &call, SubTaskShare { budget, tree: Some(from) })
            }
            Ok(_) => self.answer_mistake(id, &waiting, "This call starts no sub-task.".to_owned()),
            Err(error) => self.answer_mistake(id, &waiting, error.0),
        }
    }

    /// Merges what an ended sub-task changed in its own worktree where its parent works, or keeps
    /// it for another try.
    pub(crate) fn merge_child(&mut self, child: TaskId) -> Result<(), Stop> {
        self.save_unsaved(Some(child))?;
        let task = self.task(child)?;
        let parent = task.parent.unwrap_or_default();
        let completed = task.ended.as_ref().is_some_and(TaskEnd::is_completed);
        let tree = self.state.tree(Some(child));
        let mut result = MergeResult::default();
        if let (Some(base), Some(theirs)) = (tree.start.clone(), tree.checkpoint.clone())
            && base != theirs
        {
            if completed {
                let owner = self.state.tree_owner(parent);
                self.save_unsaved(owner)?;
                result = self.merge(child, owner, &base, &theirs)?;
                result.conflicts = self.shown(parent, result.conflicts)?;
            }
            if !completed || !result.conflicts.is_empty() {
                result.kept_ref = Some(self.kept_ref(child));
            }
        }
        let MergeResult { merged, conflicts, kept_ref } = result;
        self.emit(Event::WorkMerged { task: child, taken: merged, conflicts, kept_ref })
    }

    /// Merges into the parent's checkout, unless something stands in the way.
    fn merge(
        &mut self,
        child: TaskId,
        owner: Option<TaskId>,
        base: &CommitId,
        theirs: &CommitId,
    ) -> Result<MergeResult, Stop> {
        let mut result = MergeResult::default();
        let Some(ours) = self.saved(owner) else { return Ok(result) };
        let place = self.place_of(owner)?;
        let written: BTreeSet<RepoPath> =
            self.state.tree(Some(child)).touched.keys().cloned().collect();
        let touched = self.state.tree(owner).touched.keys().chain(&written).cloned().collect();
        let (ours, their_name, touched) = (&ours, "sub-task", &touched);
        let sides = MergeSides { base, ours, theirs, their_name, touched };
        let (commit, changed) = match place.repo.merge(&sides)? {
            MergeOutcome::Whole { commit, changed } => (commit, changed),
            MergeOutcome::Conflicts(conflicts) => return Ok(MergeResult { conflicts, ..result }),
        };
        let mode = self.task(child)?.mode.clone();
        // What the sub-task wrote was judged there; what only the merge changes, because the other
        // side moved it, is judged here.
        for path in changed.difference(&written) {
            let verdict = self.edit_verdict(&mode, path)?;
            if verdict.decision != Decision::Allow {
                result.conflicts.push(conflict(path, verdict.reason()));
            }
        }
        // As it was before the merge, or as it is after one that was cut off: anything else is work
        // of others.
        let update = CheckoutUpdate { before: ours, after: &commit, paths: &changed };
        result.conflicts.extend(place.repo.obstacles(&update)?.into_iter().map(of_obstacle));
        if !result.conflicts.is_empty() {
            return Ok(result);
        }
        match place.repo.update_checkout(&update)? {
            None => result.merged = changed.into_iter().collect(),
            Some(obstacle) => result.conflicts.push(of_obstacle(obstacle)),
        }
        Ok(result)
    }

    /// Returns whether a task may read a file.
    pub(crate) fn readable(&self, id: TaskId) -> Result<impl Fn(&RepoPath) -> bool, Stop> {
        let facts = self.facts(&self.task(id)?.mode);
        let policy = self.parts.run.policy;
        Ok(move |path: &RepoPath| {
            policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
        })
    }

    /// Returns conflicts as the parent may see them: without secrets, without lines of files it may
    /// not read, and without those that are too long for its conversation.
    fn shown(&self, parent: TaskId, conflicts: Vec<Conflict>) -> Result<Vec<Conflict>, Stop> {
        let may_read = self.readable(parent)?;
        let mut room_bytes = SIDES_LIMIT_BYTES.saturating_sub(self.sides_shown(parent)?);
        let shown = |conflict: Conflict| {
            if conflict.sides.is_empty() || !may_read(&conflict.path) {
                return Conflict { sides: String::new(), ..conflict };
            }
            let sides = self.parts.run.redactor.redact(&conflict.sides);
            if let Some(left) = room_bytes.checked_sub(sides.len()) {
                room_bytes = left;
                return Conflict { sides, ..conflict };
            }
            let what = format!("{}, too long to be shown here", conflict.what);
            Conflict { path: conflict.path, what, sides: String::new() }
        };
        Ok(conflicts.into_iter().map(shown).collect())
    }

    /// Returns the bytes of lines in conflict that a task reads of the sub-tasks of its last reply.
    fn sides_shown(&self, parent: TaskId) -> Result<usize, Stop> {
        let waiting = self.task(parent)?.turn.waiting.iter();
        let children = waiting.filter_map(|waiting| self.state.task(waiting.child?));
        let merges = children.filter_map(|child| child.isolation.merge.as_ref());
        Ok(merges.flat_map(|merge| &merge.conflicts).map(|conflict| conflict.sides.len()).sum())
    }
}

fn conflict(path: &RepoPath, what: String) -> Conflict {
    Conflict { path: path.clone(), what, sides: String::new() }
}

fn of_obstacle(obstacle: Obstacle) -> Conflict {
    Conflict { path: obstacle.path, what: obstacle.what, sides: String::new() }
}
