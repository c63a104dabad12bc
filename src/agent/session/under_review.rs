//! The change that a task in review mode begins with, as material for its first message: what the
//! run's commit and the work so far change of the base; where a user started the run in a checkout,
//! what its commit and its files have beyond the review's base. `show_changes` shows the same. A
//! run on a pull request begins with it in every mode, in less room.
//!
//! In: the mode, and where the task will work. Out: text, empty where nothing changed. Files that
//! the mode may not read are left out, and a change that cannot be shown costs no run.

use crate::session::live::Session;
use crate::tools::search::changes::{ChangeHead, ChangeRange, shown};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::access;
use locum_modes::prompts::task::{UntrustedText, fenced};
use locum_policy::intent::Intent;
use locum_policy::verdict::Decision;
use locum_workspace::Workspace;

/// The mode whose tasks begin with the change.
const REVIEW: &str = "review";

/// Most bytes of a change that are shown for a review; other files are named.
const REVIEW_LIMIT_BYTES: usize = 40 * 1024;

/// The same for other work on a pull request.
const WORK_LIMIT_BYTES: usize = 12 * 1024;

impl Session<'_> {
    /// Returns what the run's own commit changes of its base, for the first message of the run;
    /// empty where it is no other branch's.
    pub(crate) fn of_pull_request(&self, mode: &str) -> String {
        let base = &self.start().base;
        let is_other = self.parts.trusted != base && self.parts.review_base != Some(base);
        if mode == REVIEW || !is_other {
            return self.under_review(mode, self.parts.workspace, None);
        }
        let what = "what this pull request changes";
        self.change_as_material(mode, self.parts.workspace, None, (what, WORK_LIMIT_BYTES))
    }

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
        let what = "the change under review";
        self.change_as_material(mode, workspace, owner, (what, REVIEW_LIMIT_BYTES))
    }

    fn change_as_material(
        &self,
        mode: &str,
        workspace: &Workspace,
        owner: Option<TaskId>,
        (what, limit_bytes): (&str, usize),
    ) -> String {
        let seen = |path: &RepoPath| self.may_be_reviewed(mode, path);
        let changes = match self.change_range(owner).changes(&workspace.repo, seen) {
            Ok(changes) if changes.files.is_empty() => return String::new(),
            Ok(changes) => changes,
            Err(error) => {
                tracing::warn!(%error, "the task begins without the change");
                return String::new();
            }
        };
        let origin = format!("compared with commit {}", changes.base.0);
        let has_tool = self
            .parts
            .modes
            .find(mode)
            .is_some_and(|mode| access::has_tool(mode, ToolName::ShowChanges, &[]));
        let otherwise =
            if has_tool { "Not shown, use `show_changes`" } else { "Not shown, read it" };
        let text = shown(&changes.files, limit_bytes, otherwise);
        fenced(&UntrustedText { what, origin: &origin, text: &text })
    }

    /// Returns what a task looks at when it looks at the change.
    pub(crate) fn change_range(&self, owner: Option<TaskId>) -> ChangeRange {
        let touched =
            [None, owner].into_iter().flat_map(|owner| self.state.tree(owner).touched.keys());
        let touched = touched.cloned().collect();
        match self.parts.review_base {
            Some(base) => {
                ChangeRange { against: base.clone(), head: ChangeHead::Checkout, touched }
            }
            None => ChangeRange {
                against: self.parts.trusted.clone(),
                head: ChangeHead::Commit(self.start().base.clone()),
                touched,
            },
        }
    }

    fn may_be_reviewed(&self, mode: &str, path: &RepoPath) -> bool {
        let intent = Intent::Read(path.clone());
        let by_mode = |mode| access::check_intent(mode, ToolName::ReadFile, &intent).is_ok();
        self.parts.modes.find(mode).is_some_and(by_mode)
            && self.parts.run.policy.decide(&intent, &self.facts(mode)).decision == Decision::Allow
    }
}
