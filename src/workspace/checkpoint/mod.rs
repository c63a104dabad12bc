//! Checkpoints: snapshots of the touched files on a private ref, and the way back to one.
//!
//! A checkpoint is a commit on `refs/locum/{session}`, child of the one before or of the base. It
//! costs what changed, not what the repository holds. Neither the user's branches nor the index is
//! ever looked at.

use std::collections::{BTreeMap, BTreeSet};

use git2::{Reference, Tree};

use crate::attributes::Attributes;
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::{OnDisk, StoredFile};
use crate::trees::{TreeChanges, stored_in};
use locum_base::path::RepoPath;

/// Files of a commit as a checkout has them.
#[derive(Debug, Default)]
pub(super) struct CheckedOut<'p> {
    /// What each of them is.
    pub(super) files: BTreeMap<&'p RepoPath, StoredFile>,
    /// Those of which that is what git has, since their content is nowhere.
    unfiltered: BTreeSet<RepoPath>,
}

impl Repo {
    /// Records the touched files on the private ref `refs/locum/{session}`, as a child of the
    /// checkpoint before or of `base`. Returns the checkpoint before (or the base) when nothing is
    /// different from it.
    ///
    /// # Errors
    /// When a file cannot be read or git fails; the ref is then as it was.
    pub fn checkpoint(
        &self,
        session: &str,
        base: &CommitId,
        touched: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<CommitId, RepoError> {
        self.checkpoint_with(session, base, label, |parent| self.tree_with(parent, touched))
    }

    /// Records the tree that is made of the one of the checkpoint before.
    pub(super) fn checkpoint_with<'r>(
        &'r self,
        session: &str,
        base: &CommitId,
        label: &str,
        change: impl FnOnce(&Tree<'r>) -> Result<Tree<'r>, RepoError>,
    ) -> Result<CommitId, RepoError> {
        let name = checkpoint_ref(session)?;
        let parent = match self.git.refname_to_id(&name) {
            Ok(id) => self.git.find_commit(id)?,
            Err(_) => self.find(base)?,
        };
        let tree = change(&parent.tree()?)?;
        if tree.id() == parent.tree_id() {
            return Ok(CommitId::of(parent.id()));
        }
        let made = self.own_commit(label, &tree, &[&parent])?;
        self.set_own_ref(&name, made.oid()?, "locum: checkpoint")?;
        Ok(made)
    }

    /// Lets the checkpoints of a session begin with one of another.
    ///
    /// # Errors
    /// When the commit is gone, or git cannot write the ref.
    pub fn begin_checkpoints(&self, session: &str, with: &CommitId) -> Result<(), RepoError> {
        let id = self.find(with)?.id();
        self.set_own_ref(&checkpoint_ref(session)?, id, "locum: from a checkpoint")
    }

    /// Lists a session's checkpoints, latest first, with their labels; none when it has none. At
    /// most `limit`.
    ///
    /// # Errors
    /// When git cannot read them.
    pub fn checkpoints(
        &self,
        session: &str,
        base: &CommitId,
        limit: usize,
    ) -> Result<Vec<(CommitId, String)>, RepoError> {
        let Ok(latest) = self.git.refname_to_id(&checkpoint_ref(session)?) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut next = Some(self.git.find_commit(latest)?);
        while let Some(commit) =
            next.filter(|commit| found.len() < limit && CommitId::of(commit.id()) != *base)
        {
            found
                .push((CommitId::of(commit.id()), commit.message().unwrap_or_default().to_owned()));
            next = commit.parents().next();
        }
        Ok(found)
    }

    /// Forgets a session's checkpoints; one that has none is forgotten already.
    ///
    /// # Errors
    /// When git cannot remove the ref.
    pub fn drop_checkpoints(&self, session: &str) -> Result<(), RepoError> {
        self.remove_own_ref(&checkpoint_ref(session)?)
    }

    /// Brings the touched files back to what they are in a commit; files that are not in it are
    /// removed. Returns those that are now what git has of them and not their content, because only
    /// a filter makes that.
    ///
    /// # Errors
    /// When a file cannot be written; the others before it are then already back.
    pub fn restore(
        &self,
        commit: &CommitId,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let CheckedOut { files: wanted, mut unfiltered } = self.checked_out(commit, touched)?;
        // What has to go goes first: a file may stand where a folder is needed, or the other way
        // round.
        for path in touched.iter().rev().filter(|path| !wanted.contains_key(path)) {
            self.checkout.put_stored(path, None)?;
        }
        for (path, stored) in &wanted {
            // What is not written keeps its time of change, by which git knows it.
            let is_there = matches!(self.checkout.stored(path), Ok(OnDisk::Stored(there))
                if there == *stored);
            if is_there {
                unfiltered.remove(*path);
            } else {
                self.checkout.put_stored(path, Some(stored))?;
            }
        }
        Ok(unfiltered)
    }

    /// Returns what touched files are in a commit, with the line ends of a checkout; files that
    /// are not in it are left out. A file that goes through a filter is what the checkout has,
    /// where the filter makes that of what the commit has, or what Git LFS has of it.
    pub(super) fn checked_out<'p>(
        &self,
        commit: &CommitId,
        touched: &'p BTreeSet<RepoPath>,
    ) -> Result<CheckedOut<'p>, RepoError> {
        let tree = self.tree_of(commit)?;
        let mut attributes = Attributes::new(&self.git, &tree);
        let mut found = CheckedOut::default();
        for path in touched {
            if let Some(stored) = stored_in(&self.git, &tree, path)? {
                let own = attributes.of(path)?;
                let there = self.filtered_form(path, &own, &stored);
                if there.is_none() && self.is_unfiltered(path, &own, &stored) {
                    found.unfiltered.insert(path.clone());
                }
                found.files.insert(path, there.unwrap_or_else(|| own.checked_out(stored)));
            }
        }
        Ok(found)
    }

    /// Writes the tree that `base` becomes when the touched paths are as in the checkout.
    pub(super) fn tree_with(
        &self,
        base: &Tree<'_>,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<Tree<'_>, RepoError> {
        let mut changes = TreeChanges::default();
        let mut attributes = Attributes::new(&self.git, base);
        for path in touched {
            let on_disk = match self.checkout.stored(path)? {
                OnDisk::Stored(stored) => {
                    let own = attributes.of(path)?;
                    let is_filtered = own.filter.is_some();
                    let before =
                        is_filtered.then(|| stored_in(&self.git, base, path)).transpose()?;
                    OnDisk::Stored(self.kept(path, &own, stored, before.flatten().as_ref()))
                }
                other => other,
            };
            changes.note(&self.git, path, &on_disk)?;
        }
        Ok(self.git.find_tree(changes.apply(&self.git, base)?)?)
    }
}

/// Returns the private ref of a session.
pub(super) fn checkpoint_ref(session: &str) -> Result<String, RepoError> {
    let name = format!("refs/locum/{session}");
    if Reference::is_valid_name(&name) { Ok(name) } else { Err(RepoError::BadName(name)) }
}

#[cfg(test)]
mod tests;
