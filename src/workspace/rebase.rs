//! A run's commit on another base: where a branch moved on while the run worked.

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

    /// Returns whether a commit builds on another, as far as the history is here.
    pub fn builds_on(&self, commit: &CommitId, base: &CommitId) -> bool {
        let (Ok(commit), Ok(base)) = (commit.oid(), base.oid()) else { return false };
        self.git.graph_descendant_of(commit, base).unwrap_or(false)
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
    fn a_change_is_made_again_on_a_base_that_moved_on() {
        let fixture = RepoFixture::new();
        let base = fixture.base.clone();
        let theirs = commit(&fixture, &base, "new", "by the run\n");
        let ours = commit(&fixture, &base, "other", "by somebody\n");
        let sides = |ours, theirs| MergeSides {
            base: &fixture.base,
            ours,
            theirs,
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
