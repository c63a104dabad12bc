//! What the checkout changes of a commit, in the paths a run touched.

use std::collections::BTreeSet;

use crate::attributes::Attributes;
use crate::diff::{FileChange, compare};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::OnDisk;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

impl Repo {
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
