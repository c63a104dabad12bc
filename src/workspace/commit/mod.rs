//! Commits and branches a run makes for publication. `HEAD`, the index and the files stay as they
//! are.

use std::collections::BTreeSet;

use git2::{Branch, Signature, Tree};

use crate::attributes::Attributes;
use crate::repo::{CommitId, NewCommit, Repo, RepoError};
use crate::stored::OnDisk;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

impl Repo {
    /// Makes a commit object; no ref moves.
    ///
    /// # Errors
    /// When a file cannot be read or git fails; [`RepoError::Filtered`] for a changed file that git
    /// keeps through a program.
    pub fn commit(&self, commit: &NewCommit<'_>) -> Result<CommitId, RepoError> {
        let parent = self.find(commit.parent)?;
        let before = parent.tree()?;
        self.refuse_filtered(&before, commit.touched)?;
        let tree = self.tree_with(&before, commit.touched)?;
        let (name, email) = commit.author;
        let author = Signature::now(name, email)?;
        let id = self.git.commit(None, &author, &author, commit.message, &tree, &[&parent])?;
        Ok(CommitId::of(id))
    }

    /// Makes a branch point to a commit: a new branch, or an old one the commit builds on.
    ///
    /// # Errors
    /// [`RepoError::BadName`], [`RepoError::BranchInUse`] for a branch some checkout is on,
    /// [`RepoError::NotFastForward`].
    pub fn set_branch(&self, name: &str, commit: &CommitId) -> Result<(), RepoError> {
        if !Branch::name_is_valid(name)? || name == "HEAD" {
            return Err(RepoError::BadName(name.to_owned()));
        }
        let target = self.find(commit)?;
        let Ok(existing) = self.git.find_branch(name, git2::BranchType::Local) else {
            self.git.branch(name, &target, false)?;
            return Ok(());
        };
        let Some(tip) = existing.get().target() else {
            return Err(RepoError::NotFastForward(name.to_owned()));
        };
        if tip == target.id() {
            return Ok(());
        }
        if existing.is_head()
            || self.branch().as_deref() == Some(name)
            || self.is_on_other_checkout(name)
        {
            return Err(RepoError::BranchInUse(name.to_owned()));
        }
        // A shallow clone may not know the way between the two: then it is not known to build on
        // it.
        if !self.git.graph_descendant_of(target.id(), tip).unwrap_or(false) {
            return Err(RepoError::NotFastForward(name.to_owned()));
        }
        // Moves it only if it still is where it was looked at.
        self.git.reference_matching(
            &format!("refs/heads/{name}"),
            target.id(),
            true,
            tip,
            "locum: new commit",
        )?;
        Ok(())
    }

    fn refuse_filtered(
        &self,
        tree: &Tree<'_>,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<(), RepoError> {
        let mut attributes = Attributes::new(&self.git, tree);
        for path in touched {
            let Some(filter) = attributes.of(path)?.filter else { continue };
            let before = stored_in(&self.git, tree, path)?;
            let now = self.checkout.stored(path)?;
            if matches!(&now, OnDisk::Stored(now) if before.as_ref() != Some(now)) {
                return Err(RepoError::Filtered { path: path.clone(), filter });
            }
        }
        Ok(())
    }

    fn is_on_other_checkout(&self, branch: &str) -> bool {
        let names = self
            .git
            .worktrees()
            .map(|names| names.iter().flatten().flatten().map(str::to_owned).collect::<Vec<_>>());
        names.unwrap_or_default().iter().any(|name| {
            let other = self
                .git
                .find_worktree(name)
                .and_then(|worktree| git2::Repository::open_from_worktree(&worktree));
            let head = other.and_then(|other| {
                Ok(other.find_reference("HEAD")?.symbolic_target()?.map(str::to_owned))
            });
            head.is_ok_and(|head| head.as_deref() == Some(format!("refs/heads/{branch}").as_str()))
        })
    }
}

#[cfg(test)]
mod tests;
