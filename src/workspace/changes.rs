//! What the checkout changes of a commit, in the paths a run touched.

use std::collections::BTreeSet;

use git2::{DiffDelta, Repository};

use crate::attributes::Attributes;
use crate::diff::{FileChange, compare};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::OnDisk;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

impl Repo {
    /// Returns the last commit that two have in common.
    ///
    /// # Errors
    /// When there is none, or it is not here.
    pub fn merge_base(&self, one: &CommitId, two: &CommitId) -> Result<CommitId, RepoError> {
        Ok(CommitId::of(self.history()?.merge_base(one.oid()?, two.oid()?)?))
    }

    /// Opens the history as it is now: libgit2 reads only once where it is cut, and a fetch moves
    /// that.
    pub(super) fn history(&self) -> Result<Repository, RepoError> {
        Ok(Repository::open(self.git.path())?)
    }

    /// Returns the paths in which two commits differ, at most `limit`, in git's order. Names that
    /// are no [`RepoPath`] are left out.
    ///
    /// # Errors
    /// When a commit is not there.
    pub fn changed_paths(
        &self,
        from: &CommitId,
        to: &CommitId,
        limit: usize,
    ) -> Result<Vec<RepoPath>, RepoError> {
        let (old, new) = (self.tree_of(from)?, self.tree_of(to)?);
        let diff = self.git.diff_tree_to_tree(Some(&old), Some(&new), None)?;
        let path = |delta: DiffDelta<'_>| {
            let file = delta.new_file().path().or_else(|| delta.old_file().path())?.to_str()?;
            RepoPath::parse(file).ok()
        };
        Ok(diff.deltas().filter_map(path).take(limit).collect())
    }

    /// Compares the touched files with a commit; files that are equal are left out. Sorted by path.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn changes(
        &self,
        base: &CommitId,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<Vec<FileChange>, RepoError> {
        let tree = self.tree_of(base)?;
        let mut attributes = Attributes::new(&self.git, &tree);
        let mut changes = Vec::new();
        for path in touched {
            let before = stored_in(&self.git, &tree, path)?;
            let after = match self.checkout.stored(path)? {
                OnDisk::Stored(stored) => Some(attributes.of(path)?.kept(stored)),
                OnDisk::Other | OnDisk::Nothing => None,
            };
            changes.extend(compare(path, before.as_ref(), after.as_ref()));
        }
        Ok(changes)
    }
}
