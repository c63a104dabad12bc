//! Unmerged work: what sub-tasks changed in worktrees of their own and their parents do not have
//! when a session ends, because a limit, a signal, a failure or a hold came first.
//!
//! In: the checkpoints of these worktrees, which outlive them. Out: what a report says of each. A
//! session that is resumed merges it all the same.

use crate::session::live::Session;
use crate::session::outcome::TaskReport;
use locum_workspace::diff::FileChange;

/// Bytes of patches that are kept of changes that were not merged, all of a sub-task together.
pub(crate) const KEPT_PATCHES_LIMIT_BYTES: usize = 64 * 1024;

impl Session<'_> {
    /// Adds to the reports of tasks what their parents do not have yet, and the ref it is kept on.
    pub(crate) fn add_unmerged(&self, reports: &mut [TaskReport]) {
        let repo = &self.parts.workspace.repo;
        for report in reports {
            let isolation = self.state.task(report.task).map(|task| &task.isolation);
            if !isolation.is_some_and(|isolation| isolation.isolated && isolation.merge.is_none()) {
                continue;
            }
            let tree = self.state.tree(Some(report.task));
            let (Some(start), Some(end)) = (&tree.start, &tree.checkpoint) else { continue };
            let touched = tree.touched.keys().cloned().collect();
            let mut changes = match repo.changes_between((start, end), &touched) {
                Ok(changes) if changes.is_empty() => continue,
                Ok(changes) => changes,
                // The ref is named all the same.
                Err(error) => {
                    tracing::warn!(task = %report.task, %error, "changes that were not merged");
                    Vec::new()
                }
            };
            self.limit_patches(&mut changes, KEPT_PATCHES_LIMIT_BYTES);
            report.changes = changes;
            report.kept_ref = Some(self.kept_ref(report.task));
        }
    }

    /// Leaves changes the patches that hold no secret, as many as fit into so many bytes.
    pub(crate) fn limit_patches(&self, changes: &mut [FileChange], mut room_bytes: usize) {
        for change in changes {
            let patch = std::mem::take(&mut change.patch);
            if self.parts.run.redactor.finds_secret(&patch) {
                change.withheld = true;
            } else if let Some(left) = room_bytes.checked_sub(patch.len()) {
                (room_bytes, change.patch) = (left, patch);
            }
        }
    }
}
