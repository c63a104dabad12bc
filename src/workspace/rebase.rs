//! A run's commit on another base, where a branch moved on while the run worked; and a base merged
//! into a branch.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use git2::{FileFavor, MergeOptions, Signature};

use crate::merge::{Conflict, MergeOutcome, MergeSides};
use crate::repo::{CommitId, Repo, RepoError};

/// What came of a commit on another base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebaseOutcome {
    /// The same change, as a commit on the new base.
    Commit(CommitId),
    /// The new base holds the change already.
    Contained,
    /// The new base changed the same lines or files.
    Conflicts(Vec<Conflict>),
}

impl Repo {
    /// Makes a commit again on another base: `theirs` builds on `base`, `ours` is the new one. No
    /// ref moves.
    ///
    /// # Errors
    /// When a commit is not there or git fails.
    pub fn rebase(&self, sides: &MergeSides<'_>) -> Result<RebaseOutcome, RepoError> {
        let merged = match self.merge(sides)? {
            MergeOutcome::Whole { commit, .. } => self.find(&commit)?,
            MergeOutcome::Conflicts(conflicts) => return Ok(RebaseOutcome::Conflicts(conflicts)),
        };
        let (onto, change) = (self.find(sides.ours)?, self.find(sides.theirs)?);
        if merged.tree_id() == onto.tree_id() {
            return Ok(RebaseOutcome::Contained);
        }
        let message = change.message().unwrap_or_default();
        let (author, committer) = (change.author(), change.committer());
        let tree = merged.tree()?;
        let id = self.git.commit(None, &author, &committer, message, &tree, &[&onto])?;
        Ok(RebaseOutcome::Commit(CommitId::of(id)))
    }

    /// Returns what a branch and its base contradict each other in, since the last commit they have
    /// in common.
    ///
    /// # Errors
    /// When there is no such commit here, or git fails.
    pub fn conflicts_between(
        &self,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<Vec<Conflict>, RepoError> {
        let base = self.merge_base(ours, theirs)?;
        let mut touched = BTreeSet::new();
        for side in [ours, theirs] {
            touched.extend(self.changed_paths(&base, side, usize::MAX)?);
        }
        let (base, touched, their_name) = (&base, &touched, "base");
        Ok(match self.merge(&MergeSides { base, ours, theirs, their_name, touched })? {
            MergeOutcome::Conflicts(conflicts) => conflicts,
            MergeOutcome::Whole { .. } => Vec::new(),
        })
    }

    /// Merges another branch into a commit; where both sides contradict each other, ours stays. No
    /// ref moves.
    ///
    /// # Errors
    /// When the two have no commit in common here, or git fails.
    pub fn merge_keeping_ours(
        &self,
        (ours, theirs): (&CommitId, &CommitId),
        message: &str,
        (name, email): (&str, &str),
    ) -> Result<CommitId, RepoError> {
        let base = self.merge_base(ours, theirs)?;
        let (ours, theirs) = (self.find(ours)?, self.find(theirs)?);
        let mut options = MergeOptions::new();
        options.find_renames(true).file_favor(FileFavor::Ours);
        let (before, our_tree, their_tree) = (self.tree_of(&base)?, ours.tree()?, theirs.tree()?);
        let mut index = self.git.merge_trees(&before, &our_tree, &their_tree, Some(&options))?;
        let conflicts = index.conflicts()?.collect::<Result<Vec<_>, _>>()?;
        for conflict in conflicts {
            for side in [&conflict.ancestor, &conflict.our, &conflict.their].into_iter().flatten() {
                index.remove_path(Path::new(OsStr::from_bytes(&side.path)))?;
            }
            if let Some(mut kept) = conflict.our {
                // The bits of a stage in a merge.
                kept.flags &= !0x3000;
                index.add(&kept)?;
            }
        }
        let tree = self.git.find_tree(index.write_tree_to(&self.git)?)?;
        let who = Signature::now(name, email)?;
        let id = self.git.commit(None, &who, &who, message, &tree, &[&ours, &theirs])?;
        Ok(CommitId::of(id))
    }

    /// Returns whether a commit builds on another, as far as the history is here.
    pub fn builds_on(&self, commit: &CommitId, base: &CommitId) -> bool {
        let (Ok(commit), Ok(base)) = (commit.oid(), base.oid()) else { return false };
        let history = self.history();
        history.is_ok_and(|git| git.graph_descendant_of(commit, base).unwrap_or(false))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::RebaseOutcome;
    use crate::fixture::{RepoFixture, paths};
    use crate::merge::MergeSides;
    use crate::repo::{CommitId, NewCommit};

    /// Makes a commit of one file on a base; the checkout holds it as well.
    fn commit(fixture: &RepoFixture, base: &CommitId, path: &str, text: &str) -> CommitId {
        fixture.write(path, text);
        let author = ("Locum", "locum@example.org");
        let touched = paths(&[path]);
        let new = NewCommit { parent: base, touched: &touched, message: "change\n", author };
        fixture.repo.commit(&new).unwrap()
    }

    #[test]
    fn a_base_is_merged_and_what_was_resolved_stays() {
        let fixture = RepoFixture::new();
        let base = fixture.base.clone();
        let ours = commit(&fixture, &base, "src/lib.rs", "one\nrun\nthree\n");
        let theirs = commit(&fixture, &base, "src/lib.rs", "one\nsomebody\nthree\n");
        let theirs = commit(&fixture, &theirs, "other", "by somebody\n");
        let conflicts = fixture.repo.conflicts_between(&ours, &theirs).unwrap();
        assert_eq!(conflicts.len(), 1, "{conflicts:?}");
        let resolved = commit(&fixture, &ours, "src/lib.rs", "one\nboth\nthree\n");
        let author = ("Locum", "locum@example.org");
        let merged =
            fixture.repo.merge_keeping_ours((&resolved, &theirs), "merge\n", author).unwrap();
        let text = |path: &str| {
            fixture.repo.file_at(&merged, &crate::fixture::path(path), 99).unwrap().unwrap().text
        };
        assert_eq!(
            (text("src/lib.rs").as_str(), text("other").as_str()),
            ("one\nboth\nthree\n", "by somebody\n")
        );
        assert!(fixture.repo.builds_on(&merged, &theirs) && fixture.repo.builds_on(&merged, &ours));
        assert_eq!(fixture.repo.conflicts_between(&merged, &theirs).unwrap(), []);

        // A file that one side changed and the other one removed.
        fixture.remove("old/only");
        let author = ("Locum", "locum@example.org");
        let touched = paths(&["old/only"]);
        let new = NewCommit { parent: &base, touched: &touched, message: "m", author };
        let removed = fixture.repo.commit(&new).unwrap();
        let changed = commit(&fixture, &base, "old/only", "changed\n");
        for (ours, theirs, stays) in [(&removed, &changed, false), (&changed, &removed, true)] {
            let merged = fixture.repo.merge_keeping_ours((ours, theirs), "m", author).unwrap();
            let file =
                fixture.repo.file_at(&merged, &crate::fixture::path("old/only"), 99).unwrap();
            assert_eq!(file.is_some(), stays);
        }
    }

    #[test]
    fn a_change_is_made_again_on_a_base_that_moved_on() {
        let fixture = RepoFixture::new();
        let base = fixture.base.clone();
        let theirs = commit(&fixture, &base, "new", "by the run\n");
        let ours = commit(&fixture, &base, "other", "by somebody\n");
        let sides = |ours, theirs| MergeSides {
            base: &fixture.base,
            ours,
            theirs,
            their_name: "change",
            touched: &*Box::leak(Box::new(paths(&["new", "src/lib.rs"]))),
        };
        let Ok(RebaseOutcome::Commit(made)) = fixture.repo.rebase(&sides(&ours, &theirs)) else {
            panic!("nothing is in conflict");
        };
        assert_eq!(
            fixture.repo.message_of(&made).unwrap(),
            ("change\n".to_owned(), Some(ours.clone()))
        );
        let changed = fixture.repo.changed_paths(&base, &made, 9).unwrap();
        assert_eq!(changed, ["new", "other"].map(crate::fixture::path));
        assert!(fixture.repo.builds_on(&made, &base) && !fixture.repo.builds_on(&base, &made));
        assert_eq!(fixture.repo.rebase(&sides(&made, &theirs)).unwrap(), RebaseOutcome::Contained);

        let theirs = commit(&fixture, &base, "src/lib.rs", "one\nrun\nthree\n");
        let ours = commit(&fixture, &base, "src/lib.rs", "one\nsomebody\nthree\n");
        let outcome = fixture.repo.rebase(&sides(&ours, &theirs)).unwrap();
        let RebaseOutcome::Conflicts(conflicts) = outcome else { panic!("{outcome:?}") };
        assert_eq!(conflicts.len(), 1);
    }
}
