//! `show_changes`: what the branch and the work so far change of the base, as a diff.
//!
//! It is for modes that read and do not edit: what they look at was made by others. A task in
//! review mode begins with the same change as material, and asks here for what had no room there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::diff::FileChange;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// Most files of a range that are looked for.
const PATHS_LIMIT: usize = 10_000;

/// Most files that are compared.
const FILES_LIMIT: usize = 500;

/// Most bytes of patches in one answer; other files are named.
const SHOWN_LIMIT_BYTES: usize = 14 * 1024;

/// What is compared with what: the checkout, in the files that a branch and a run changed, with the
/// commit the branch began at.
#[derive(Clone, Debug)]
pub struct ChangeRange {
    /// The head of the branch the change is for, or the commit where it began.
    pub against: CommitId,
    /// What the branch has.
    pub head: ChangeHead,
    /// What the run wrote since.
    pub touched: BTreeSet<RepoPath>,
}

/// What a branch has before a run writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeHead {
    /// A commit.
    Commit(CommitId),
    /// The checkout's commit, and what is not committed in it.
    Checkout,
}

/// What a range changes.
#[derive(Debug)]
pub struct RangeChanges {
    /// The commit it was compared with.
    pub base: CommitId,
    /// Sorted by path; files that are equal are left out.
    pub files: Vec<FileChange>,
}

impl ChangeRange {
    /// Compares those of its files that are wanted, at most 500.
    ///
    /// # Errors
    /// When a commit or a file cannot be read.
    pub fn changes(
        &self,
        repo: &Repo,
        wanted: impl Fn(&RepoPath) -> bool,
    ) -> Result<RangeChanges, RepoError> {
        let (head, uncommitted) = match &self.head {
            ChangeHead::Commit(commit) => (commit.clone(), Vec::new()),
            ChangeHead::Checkout => (repo.commit_of("HEAD")?, repo.uncommitted_paths(PATHS_LIMIT)?),
        };
        // Without a common commit, or where a shallow checkout does not have it, what is not in
        // the commit is all that is known.
        let base = repo.merge_base(&self.against, &head).unwrap_or_else(|_| head.clone());
        let committed = repo.changed_paths(&base, &head, PATHS_LIMIT).unwrap_or_default();
        let written = self.touched.iter().cloned().chain(uncommitted);
        let all: BTreeSet<RepoPath> = written.chain(committed).collect();
        let paths = all.into_iter().filter(wanted).take(FILES_LIMIT).collect();
        Ok(RangeChanges { files: repo.changes(&base, &paths)?, base })
    }
}

/// Returns the patches as far as there is room for whole ones, then the other files by name and
/// figures, behind `otherwise`.
pub fn shown(changes: &[FileChange], limit_bytes: usize, otherwise: &str) -> String {
    let (mut text, mut named) = (String::new(), String::new());
    for change in changes {
        if text.len() + change.patch.len() <= limit_bytes {
            text.push_str(change.patch.trim_end());
            text.push('\n');
        } else {
            let FileChange { path, added, removed, .. } = change;
            named.push_str(&format!("{otherwise}: {path} (+{added} -{removed})\n"));
        }
    }
    text + &named
}

/// A look at the change, all of it or below a path.
#[derive(Clone, Debug)]
pub struct ShowChanges {
    place: ResolvedPath,
}

impl Tool for ShowChanges {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Show as a diff what this branch and the work so far change \
        of the base, or of the commit where an earlier review ended. Files that have no room are \
        named: ask for them one by one.";
    const REQUIRED: &'static [&'static str] = &[];
    const PEERS: PeerWords = PeerWords { renames: &[FOLDER], ..PeerWords::NONE };

    fn properties() -> Value {
        json!({
            "path": {
                "type": ["string", "null"],
                "description": "File or folder; default everything"
            }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place = arguments.optional_place("path", "the file or folder", context)?;
        arguments.finish()?;
        Ok(Self { place })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("show changes of {}", self.place.asked)
    }

    async fn perform(
        &self,
        _permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let Some(range) = context.given.range else {
            return Err(CallError("There is no change to show here.".to_owned()));
        };
        let place = &self.place.real;
        let wanted = |path: &RepoPath| path.is_within(place) && (context.visible)(path);
        let RangeChanges { base, files } = range
            .changes(context.repo, wanted)
            .map_err(|error| CallError(format!("Cannot show the change: {error}.")))?;
        Ok(Observation::said(match files.as_slice() {
            [] if place.is_root() => format!("Nothing differs from commit {base}."),
            [] => format!("Nothing differs from commit {base} in {}.", self.place.asked),
            // One file is given whole; what is too long for an answer is kept and can be read on.
            [file] => file.patch.clone(),
            files => {
                let (added, removed) = files.iter().fold((0, 0), |(added, removed), file| {
                    (added + file.added, removed + file.removed)
                });
                let figures = format!("{} files, +{added} -{removed}", files.len());
                let text = shown(files, SHOWN_LIMIT_BYTES, "Not shown, ask for it by its path");
                format!("Compared with commit {base}: {figures}\n\n{text}")
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::shown;
    use locum_base::path::RepoPath;
    use locum_workspace::diff::between;

    #[test]
    fn what_has_no_room_is_named() {
        let change = |path: &str, after: &str| {
            between(&RepoPath::parse(path).unwrap(), Some(b"a\n"), after.as_bytes()).unwrap()
        };
        let large = "b\n".repeat(500);
        let text = shown(&[change("large", &large), change("small", "c\n")], 1_000, "Not shown");
        assert!(text.starts_with("diff --git a/small b/small"), "{text}");
        assert!(text.ends_with("Not shown: large (+500 -1)\n"));
    }
}
