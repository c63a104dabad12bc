//! Worktrees of sub-tasks: the files of a commit in a folder of their own, with an index and a
//! `HEAD` of their own, on the objects and refs of the repository.
//!
//! In: a commit and a folder outside of the checkout. Out: a [`Workspace`] there. Files that git
//! keeps through a filter have the content there that they have in the checkout. What makes it a
//! worktree lies next to its files and not below the repository's `.git/worktrees`. So it is
//! invisible to the repository, and removing it means removing the folder. A folder that was being
//! made when the run was killed is recreated.
#![expect(
    clippy::disallowed_methods,
    reason = "makes and removes whole checkouts of our own, outside of the one that is worked in"
)]

use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;

use crate::Workspace;
use crate::checkout::Checkout;
use crate::private::make_private;
use crate::repo::{CommitId, Repo, RepoError};

/// Written last: says that the files are all there.
const READY: &str = "ready";

/// The file in which git looks for what all worktrees have in common.
pub(super) const COMMON_FILE: &str = "commondir";

/// An empty folder beside it, where commands find that if they find the worktree elsewhere.
pub(super) const COMMON_FOLDER: &str = "common";

/// Returns where the files of a worktree lie in the folder that was made for it.
pub fn files_of(folder: &Path) -> PathBuf {
    folder.join("files")
}

/// Where a worktree comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeOrigin {
    /// It already existed, and is as it was left.
    Found,
    /// It holds the files of the commit.
    New,
}

impl Repo {
    /// Opens the worktree in `folder`, making it from a commit where it is not there as a whole.
    ///
    /// # Errors
    /// When files cannot be written or git fails.
    pub fn worktree(
        &self,
        folder: &Path,
        commit: &CommitId,
    ) -> Result<(Workspace, WorktreeOrigin), RepoError> {
        let making = if folder.join("git").join(READY).is_file() {
            WorktreeOrigin::Found
        } else {
            WorktreeOrigin::New
        };
        match making {
            WorktreeOrigin::New => self.make_worktree(folder, commit)?,
            WorktreeOrigin::Found => self.link_worktree(folder)?,
        }
        let root = files_of(folder);
        let checkout = Checkout::open(&root).map_err(|error| unusable(&root, &error))?;
        Ok((Workspace { checkout, repo: Self::open(&root)? }, making))
    }

    fn make_worktree(&self, folder: &Path, commit: &CommitId) -> Result<(), RepoError> {
        let found = self.find(commit)?;
        remove_worktree(folder)?;
        let failed = |error: std::io::Error| unusable(folder, &error);
        let (git, files) = (folder.join("git"), files_of(folder));
        make_private(folder).map_err(failed)?;
        std::fs::create_dir_all(git.join(COMMON_FOLDER)).map_err(failed)?;
        std::fs::create_dir(&files).map_err(failed)?;
        std::fs::write(git.join("HEAD"), format!("{commit}\n")).map_err(failed)?;
        self.link_worktree(folder)?;
        let made = Self::open(&files)?;
        let tree = made.git.find_tree(found.tree_id())?;
        made.git.checkout_tree(
            tree.as_object(),
            Some(CheckoutBuilder::new().force().recreate_missing(true)),
        )?;
        self.copy_filtered(&made, &tree)?;
        std::fs::write(git.join(READY), "").map_err(failed)
    }

    /// Writes where the parts of a worktree are: when it is made, and again once its folder or the
    /// repository was moved.
    fn link_worktree(&self, folder: &Path) -> Result<(), RepoError> {
        let failed = |error: std::io::Error| unusable(folder, &error);
        let git = folder.join("git").canonicalize().map_err(failed)?;
        let files = files_of(folder).canonicalize().map_err(failed)?;
        let common = self.git.commondir().canonicalize().map_err(failed)?;
        let link = files.join(".git");
        for (file, text) in [
            (git.join(COMMON_FILE), common.display().to_string()),
            (git.join("gitdir"), link.display().to_string()),
            (link, format!("gitdir: {}", git.display())),
        ] {
            let text = format!("{text}\n");
            if std::fs::read_to_string(&file).is_ok_and(|there| there == text) {
                continue;
            }
            // Whatever stands there goes: nothing is written through a link.
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
                Ok(()) | Err(_) => std::fs::write(&file, text).map_err(failed),
            }?;
        }
        Ok(())
    }
}

/// Removes a worktree with all that is in it; one that is not there is removed already.
///
/// # Errors
/// When something in it cannot be removed.
pub fn remove_worktree(folder: &Path) -> Result<(), RepoError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unusable(folder, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> RepoError {
    RepoError::Worktree { folder: folder.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{WorktreeOrigin, remove_worktree};
    use crate::fixture::{RepoFixture, path, paths};

    #[test]
    fn a_worktree_is_a_checkout_of_its_own_that_nobody_else_sees() {
        let fixture = RepoFixture::new();
        fixture.write("src/lib.rs", "by the run\n");
        let start =
            fixture.repo.checkpoint("s1", &fixture.base, &paths(&["src/lib.rs"]), "x").unwrap();
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("trees/1");
        let (made, making) = fixture.repo.worktree(&folder, &start).unwrap();
        assert_eq!(making, WorktreeOrigin::New);
        let root = made.checkout.root().to_owned();
        assert_eq!(std::fs::read_to_string(root.join("src/lib.rs")).unwrap(), "by the run\n");
        assert!(std::fs::symlink_metadata(root.join("link")).unwrap().is_symlink());
        assert_eq!(
            (made.repo.branch(), made.repo.commit_of("HEAD").unwrap()),
            (None, start.clone())
        );

        // What happens in it stays in it, and is known to the repository by its commits.
        std::fs::write(root.join("src/lib.rs"), "by the child\n").unwrap();
        let theirs =
            made.repo.checkpoint("trees/s1/1", &start, &paths(&["src/lib.rs"]), "y").unwrap();
        assert_eq!(
            fixture.repo.file_at(&theirs, &path("src/lib.rs"), 99).unwrap().unwrap().text,
            "by the child\n"
        );
        assert_eq!(
            std::fs::read_to_string(fixture.root.join("src/lib.rs")).unwrap(),
            "by the run\n"
        );
        assert_eq!(fixture.repo.commit_of("HEAD").unwrap(), fixture.base);
        assert_eq!(fixture.repo.git.worktrees().unwrap().len(), 0);

        let (_again, making) = fixture.repo.worktree(&folder, &start).unwrap();
        assert_eq!(
            (making, std::fs::read_to_string(root.join("src/lib.rs")).unwrap().as_str()),
            (WorktreeOrigin::Found, "by the child\n")
        );
        remove_worktree(&folder).unwrap();
        remove_worktree(&folder).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn one_that_was_not_finished_is_recreated() {
        let fixture = RepoFixture::new();
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().join("1");
        drop(fixture.repo.worktree(&folder, &fixture.base).unwrap());
        std::fs::remove_file(folder.join("git/ready")).unwrap();
        std::fs::remove_file(folder.join("files/latin")).unwrap();
        let (made, making) = fixture.repo.worktree(&folder, &fixture.base).unwrap();
        assert_eq!(making, WorktreeOrigin::New);
        assert!(made.checkout.root().join("latin").exists());
    }

    #[tokio::test]
    async fn git_finds_nothing_changed_in_a_new_one_and_what_changes_later() {
        let fixture = RepoFixture::new();
        let outside = tempfile::tempdir().unwrap();
        let (made, _) = fixture.repo.worktree(&outside.path().join("1"), &fixture.base).unwrap();
        let env = std::collections::BTreeMap::from([(
            "PATH".to_owned(),
            "/usr/local/bin:/usr/bin:/bin".to_owned(),
        )]);
        let git = crate::git_binary::GitBinary::new(&made.repo, &env);
        let before = made.repo.snapshot(&git).await.unwrap();
        assert!(before.dirty().next().is_none(), "{before:?}");
        std::fs::write(made.checkout.root().join("new"), "x").unwrap();
        let after = made.repo.snapshot(&git).await.unwrap();
        assert_eq!(made.repo.touched(&before, &after).unwrap(), paths(&["new"]));
    }
}
