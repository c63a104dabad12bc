//! Parallel sub-tasks: each works in a worktree of its own and what it changed is merged where its
//! parent works, in the order of the calls.
//!
//! Which calls belong together, what they begin with and what each may spend is one line of the
//! journal (`parallel`). So a resumed session starts what a killed one had not. The parent waits
//! for all of them; then each result is merged or refused as a whole (`brought` in the journal). A
//! merge depends on commits alone and writes what it wrote before, so a kill in the middle of one
//! does no harm. What is not merged stays on a private ref. Uncommitted work of others is neither
//! copied nor written over: where there is some, sub-tasks run one after another.

use std::collections::BTreeSet;

use crate::session::event::Event;
use crate::session::held_changes;
use crate::session::judged::PermittedCall;
use crate::session::live::Session;
use crate::session::recorded::ParallelCall;
use crate::session::stop::Stop;
use crate::session::task::TaskEnd;
use crate::session::task::budgeting::SUB_TASK_TURNS;
use crate::session::task::isolation::{MergeResult, SubTaskShare};
use crate::session::task::turn::WaitingCall;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::flow::new_task::{NewTask, TaskPriority};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::merge::{Conflict, MergeOutcome, MergeSides};
use locum_workspace::repo::CommitId;
use locum_workspace::touched::Snapshot;

/// Most files of a sub-task that its parent reads the figures of.
const FILES_TOLD: usize = 50;

/// Bytes of patches that are kept of changes that were not merged, all of a sub-task together.
const KEPT_PATCHES_LIMIT_BYTES: usize = 64 * 1024;

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
    let conflicts = result.conflicts.iter().map(|conflict| {
        let sides =
            if conflict.sides.is_empty() { String::new() } else { format!("\n{}", conflict.sides) };
        format!("- `{}`: {}{sides}\n", conflict.path, conflict.what)
    });
    format!(
        "None of its changes were merged: they conflict with the current files.\n\n{}\n{stays} \
         Redo them on top of the current files.",
        conflicts.collect::<String>()
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
    let lines: String = changes.iter().take(FILES_TOLD).map(line).collect();
    match changes.len().checked_sub(FILES_TOLD).filter(|more| *more > 0) {
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
        let mut room_bytes = if is_kept { KEPT_PATCHES_LIMIT_BYTES } else { 0 };
        for change in &mut changes {
            let patch = std::mem::take(&mut change.patch);
            if self.parts.run.redactor.finds_secret(&patch) {
                change.withheld = true;
            } else if let Some(left) = room_bytes.checked_sub(patch.len()) {
                (room_bytes, change.patch) = (left, patch);
            }
        }
        self.emit(Event::WorkMeasured { task: child, changes })
    }

    /// Says to a task and in the report why its sub-tasks run one after another.
    fn note_one_by_one(&mut self, id: TaskId, why: &str) -> Result<(), Stop> {
        let text = format!("Sub-tasks of task {id} run one after another, not in parallel: {why}.");
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

    /// Records which sub-tasks begin together; only the first of them where the checkout has
    /// uncommitted work of others.
    fn plan(
        &mut self,
        id: TaskId,
        wanted: &[(WaitingCall, NewTask)],
        snapshot: &Snapshot,
    ) -> Result<(), Stop> {
        let owner = self.state.tree_owner(id);
        let touched = &self.state.tree(owner).touched;
        let of_others: Vec<&RepoPath> =
            snapshot.dirty().filter(|path| !touched.contains_key(*path)).collect();
        let in_the_way = if of_others.is_empty() {
            None
        } else {
            let may_read = self.readable(id)?;
            let files = of_others.into_iter().filter(|path| may_read(path));
            let files = held_changes::named(files);
            Some(format!("the checkout has changes of somebody else in no commit ({files})"))
        };
        let rest = self.task(id)?.rest_for_sub_task();
        let shares = wanted.iter().map(|(_, call)| call.priority.shares());
        // One share stays with the parent, which has to make something of the results.
        let all = shares.fold(TaskPriority::NORMAL_SHARES, u32::saturating_add);
        let calls = wanted.iter().map(|(waiting, call)| ParallelCall {
            call: waiting.call.id.clone(),
            budget: rest.share(call.priority.shares(), all),
        });
        let calls: Vec<ParallelCall> = calls.collect();
        let too_little = calls.iter().any(|call| call.budget.turns < SUB_TASK_TURNS).then(|| {
            format!("{} turns are left, too few to be shared among {}", rest.turns, calls.len())
        });
        if let Some(why) = in_the_way.or(too_little) {
            self.note_one_by_one(id, &why)?;
            let Some((waiting, call)) = wanted.first() else { return Ok(()) };
            return self.start_alone(id, waiting, call);
        }
        self.save_unsaved(owner)?;
        let Some(from) = self.saved(owner) else { return Ok(()) };
        self.emit(Event::ParallelStarted { task: id, calls, from })
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
        if let (Some(base), Some(theirs)) = (tree.start.clone(), tree.checkpoint.clone()) {
            if completed {
                let owner = self.state.tree_owner(parent);
                self.save_unsaved(owner)?;
                result = self.merge(child, owner, &base, &theirs)?;
                result.conflicts = self.shown(parent, result.conflicts)?;
            }
            if !completed || !result.conflicts.is_empty() {
                result.kept_ref = Some(format!("refs/locum/{}", self.ref_of(Some(child))));
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
        let (commit, changed) =
            match place.repo.merge(&MergeSides { base, ours: &ours, theirs, touched: &touched })? {
                MergeOutcome::Whole { commit, changed } => (commit, changed),
                MergeOutcome::Conflicts(conflicts) => {
                    return Ok(MergeResult { conflicts, ..result });
                }
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
        let differs = |commit: &CommitId| -> Result<BTreeSet<RepoPath>, Stop> {
            Ok(place
                .repo
                .changes(commit, &changed)?
                .into_iter()
                .map(|change| change.path)
                .collect())
        };
        // As it was before the merge, or as it is after one that was cut off: anything else is work
        // of others.
        for path in differs(&ours)?.intersection(&differs(&commit)?) {
            let what = "has changes of somebody else, which are in no commit".to_owned();
            result.conflicts.push(conflict(path, what));
        }
        if result.conflicts.is_empty() {
            place.repo.restore(&commit, &changed)?;
            result.merged = changed.into_iter().collect();
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

    /// Returns conflicts as the parent may see them: without secrets, and without lines of files it
    /// may not read.
    fn shown(&self, parent: TaskId, conflicts: Vec<Conflict>) -> Result<Vec<Conflict>, Stop> {
        let may_read = self.readable(parent)?;
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
}

fn conflict(path: &RepoPath, what: String) -> Conflict {
    Conflict { path: path.clone(), what, sides: String::new() }
}
