//! What the checkout changes of a commit, in the paths a run touched.

use std::collections::BTreeSet;

use git2::{DiffDelta, Repository, StatusOptions, StatusShow, Tree};

use crate::attributes::{Attributes, PathAttributes};
use crate::diff::{FileChange, compare};
use crate::filtered::SeenFiles;
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

    /// Returns the files that are not as they are in the checkout's commit, new ones included and
    /// ignored ones not, at most `limit`. Files that only look changed can be among them.
    ///
    /// # Errors
    /// When the checkout cannot be looked through.
    pub fn uncommitted_paths(&self, limit: usize) -> Result<Vec<RepoPath>, RepoError> {
        let mut options = StatusOptions::new();
        options.show(StatusShow::IndexAndWorkdir).include_untracked(true);
        options.recurse_untracked_dirs(true).exclude_submodules(true).no_refresh(true);
        let statuses = self.git.statuses(Some(&mut options))?;
        let paths = statuses.iter().filter_map(|entry| RepoPath::parse(entry.path().ok()?).ok());
        Ok(paths.take(limit).collect())
    }

    /// Compares paths in two commits; those that are equal are left out. Sorted by path.
    ///
    /// # Errors
    /// When a commit is gone or cannot be read.
    pub fn changes_between(
        &self,
        (from, to): (&CommitId, &CommitId),
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Vec<FileChange>, RepoError> {
        let (before, after) = (self.tree_of(from)?, self.tree_of(to)?);
        let mut changes = Vec::new();
        for path in paths {
            let stored = stored_in(&self.git, &before, path)?;
            changes.extend(compare(
                path,
                stored.as_ref(),
                stored_in(&self.git, &after, path)?.as_ref(),
            ));
        }
        Ok(changes)
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
                OnDisk::Stored(stored) => {
                    Some(self.kept(path, &attributes.of(path)?, stored, before.as_ref()))
                }
                OnDisk::Other | OnDisk::Nothing => None,
            };
            changes.extend(compare(path, before.as_ref(), after.as_ref()));
        }
        Ok(changes)
    }

    /// Whether the checkout has at a path what git keeps there in a commit, whatever `git status`
    /// says of its line ends or of a filter. What cannot be read is another file.
    pub fn is_as_in(&self, commit: &CommitId, path: &RepoPath) -> bool {
        let Ok(tree) = self.tree_of(commit) else { return false };
        let own = Attributes::new(&self.git, &tree).of(path);
        own.is_ok_and(|own| self.is_as_kept(&tree, (path, &own), &SeenFiles::default()))
    }

    /// Returns those of some paths at which the checkout has what git keeps there in a commit, and
    /// that may look otherwise because of line ends or a filter.
    pub(super) fn converted_as_in(&self, commit: &CommitId, paths: Vec<RepoPath>) -> Vec<RepoPath> {
        let Ok(tree) = self.tree_of(commit) else { return Vec::new() };
        let (mut attributes, seen) = (Attributes::new(&self.git, &tree), SeenFiles::default());
        let mut is_same = |path: &RepoPath| {
            let own = attributes.of(path);
            own.is_ok_and(|own| own.converts() && self.is_as_kept(&tree, (path, &own), &seen))
        };
        paths.into_iter().filter(|path| is_same(path)).collect()
    }

    fn is_as_kept(
        &self,
        tree: &Tree<'_>,
        (path, own): (&RepoPath, &PathAttributes),
        seen: &SeenFiles,
    ) -> bool {
        let is_same = || -> Result<bool, RepoError> {
            let Some(before) = stored_in(&self.git, tree, path)? else { return Ok(false) };
            let OnDisk::Stored(stored) = self.checkout.stored(path)? else { return Ok(false) };
            Ok(self.kept_as_seen(seen, (path, own), stored, Some(&before)) == before)
        };
        is_same().unwrap_or(false)
    }
}
