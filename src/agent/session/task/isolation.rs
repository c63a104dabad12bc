//! `Isolation`: whether a task works in a worktree of its own, what became of its changes there,
//! and the parallel sub-tasks it starts.

use crate::session::event::Event;
use crate::session::recorded::ParallelCall;
use crate::session::task::turn::{Turn, WaitingCall};
use locum_base::path::RepoPath;
use locum_policy::budget::Budget;
use locum_workspace::diff::FileChange;
use locum_workspace::merge::Conflict;
use locum_workspace::repo::CommitId;

/// Where a task and its sub-tasks work.
#[derive(Clone, Debug, Default)]
pub struct Isolation {
    /// Whether it works in a worktree of its own.
    pub isolated: bool,
    /// The commit that what it changes is compared with; `None` for the root task.
    pub start: Option<CommitId>,
    /// What became of the changes it made there.
    pub merge: Option<MergeResult>,
    /// What a sub-task that ended changed, once it was compared.
    pub changes: Option<Vec<FileChange>>,
    /// The parallel sub-tasks it starts, until their calls are answered.
    pub parallel: Option<ParallelTasks>,
}

/// Sub-tasks of one turn that work in parallel, each in a worktree of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelTasks {
    /// The calls that ask for them, and what each may spend.
    pub calls: Vec<ParallelCall>,
    /// The commit each of them begins with.
    pub from: CommitId,
}

/// What a sub-task gets of its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct SubTaskShare {
    /// What it may spend.
    pub budget: Budget,
    /// The commit its own worktree begins with; `None` where it works in its parent's checkout.
    pub tree: Option<CommitId>,
}

/// What became of the changes that a sub-task made in its own worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeResult {
    /// Files that changed where its parent works.
    pub merged: Vec<RepoPath>,
    /// What stood in the way; nothing was merged then.
    pub conflicts: Vec<Conflict>,
    /// The ref its changes are kept on when they were not merged.
    pub kept_ref: Option<String>,
}

impl Isolation {
    /// Takes an event in; `turn` has taken it in already.
    pub(crate) fn apply(&mut self, event: &Event, turn: &Turn) {
        if let Event::ParallelStarted { calls, from, .. } = event {
            self.parallel = Some(ParallelTasks { calls: calls.clone(), from: from.clone() });
        } else if let Event::WorkMerged { taken, conflicts, kept_ref, .. } = event {
            let (merged, conflicts, kept_ref) =
                (taken.clone(), conflicts.clone(), kept_ref.clone());
            self.merge = Some(MergeResult { merged, conflicts, kept_ref });
        } else if let Event::WorkMeasured { changes, .. } = event {
            self.changes = Some(changes.clone());
        } else if turn.waiting.is_empty() {
            self.parallel = None;
        }
    }

    /// Returns the next call of the parallel sub-tasks whose own has not begun.
    pub fn next_to_start<'t>(
        &'t self,
        turn: &'t Turn,
    ) -> Option<(&'t CommitId, &'t ParallelCall, &'t WaitingCall)> {
        let parallel = self.parallel.as_ref()?;
        turn.open().filter(|waiting| waiting.child.is_none()).find_map(|waiting| {
            let call = parallel.calls.iter().find(|parallel| parallel.call == waiting.call.id)?;
            Some((&parallel.from, call, waiting))
        })
    }
}
