//! The change that a task in review mode begins with, as material for its first message: what the
//! run's commit and the work so far change of the base.
//!
//! In: the mode, and where the task will work. Out: text, empty where nothing changed. Files that
//! the mode may not read are left out, and a change that cannot be shown costs no run.

use std::collections::BTreeSet;

use crate::session::live::Session;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::access;
use locum_modes::prompts::task::{UntrustedText, fenced};
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::Workspace;
use locum_workspace::diff::FileChange;

/// The mode whose tasks begin with the change.
const REVIEW: &str = "review";

/// Most files of a change that are looked at.
const FILES_LIMIT: usize = 500;

/// Most bytes of a change that are shown; other files are named.
const SHOWN_LIMIT_BYTES: usize = 40 * 1024;

impl Session<'_> {
    /// Returns the change under review as a paragraph behind a first message; empty in other modes
    /// and where nothing changed.
    pub(crate) fn under_review(
        &self,
        mode: &str,
        workspace: &Workspace,
        owner: Option<TaskId>,
    ) -> String {
        if mode != REVIEW {
            return String::new();
        }
        let (repo, start) = (&workspace.repo, &self.start().base);
        let base = repo.merge_base(self.parts.trusted, start).unwrap_or_else(|_| start.clone());
        let committed = repo.changed_paths(&base, start, FILES_LIMIT).unwrap_or_default();
        let touched =
            [None, owner].into_iter().flat_map(|owner| self.state.tree(owner).touched.keys());
        let mut paths: BTreeSet<RepoPath> = touched.cloned().chain(committed).collect();
        paths.retain(|path| self.may_be_reviewed(mode, path));
        let changes = repo.changes(&base, &paths).unwrap_or_else(|error| {
            tracing::warn!(%error, "a review begins without the change");
            Vec::new()
        });
        if changes.is_empty() {
            return String::new();
        }
        let origin = format!("compared with commit {}", base.0);
        let what = "the change under review";
        fenced(&UntrustedText { what, origin: &origin, text: &shown(&changes) })
    }

    fn may_be_reviewed(&self, mode: &str, path: &RepoPath) -> bool {
        let intent = Intent::Read(path.clone());
        let by_mode = |mode| access::check_intent(mode, ToolName::ReadFile, &intent).is_ok();
        self.parts.modes.find(mode).is_some_and(by_mode)
            && self.parts.run.policy.decide(&intent, &self.facts(mode)).decision == Decision::Allow
    }
}

/// Returns the patches as far as there is room for whole ones; other files by name and figures.
fn shown(changes: &[FileChange]) -> String {
    let (mut text, mut named) = (String::new(), String::new());
    for change in changes {
        if text.len() + change.patch.len() <= SHOWN_LIMIT_BYTES {
            text.push_str(change.patch.trim_end());
            text.push('\n');
        } else {
            let FileChange { path, added, removed, .. } = change;
            named.push_str(&format!("Not shown, read it: {path} (+{added} -{removed})\n"));
        }
    }
    text + &named
}

#[cfg(test)]
mod tests {
    use super::{SHOWN_LIMIT_BYTES, shown};
    use locum_base::path::RepoPath;
    use locum_workspace::diff::between;

    #[test]
    fn what_has_no_room_is_named() {
        let change = |path: &str, after: &str| {
            between(&RepoPath::parse(path).unwrap(), Some(b"a\n"), after.as_bytes()).unwrap()
        };
        let large = "b\n".repeat(SHOWN_LIMIT_BYTES / 2);
        let text = shown(&[change("large", &large), change("small", "c\n")]);
        assert!(text.starts_with("diff --git a/small b/small"), "{}", &text[..200]);
        assert!(text.ends_with("Not shown, read it: large (+20480 -1)\n"));
    }
}
