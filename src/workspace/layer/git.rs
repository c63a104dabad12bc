//! What commands write to git's folders: an index, a stash, a branch. It stays in the layer, also
//! where git's folders lie outside the checkout, as those of a linked worktree do.

use std::fs;
use std::io;

use rustix::fs::{AtFlags, unlinkat};

use super::{Layer, SHARED_FOLDER, on_layer};
use crate::checkout::{Checkout, EntryKind};
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;
use locum_sandbox::{GitLayer, LayerFolders, Sandbox};

/// Git's folder in a checkout.
pub(super) const GIT_FOLDER: &str = ".git";

/// How the folder begins, among those of shared folders, of what is written to a folder of git's.
pub(super) const GIT_PLACE: &str = "git-";

/// Where git keeps the last stash.
const STASH: &str = "refs/stash";

/// Folders of git's in which locks lie at any depth.
const FOLDERS: &[&str] = &["refs", "worktrees"];

impl Repo {
    /// Lets commands write to git's folders outside of this checkout, in a layer over it; where a
    /// folder can have none, it is only read.
    ///
    /// # Errors
    /// When the folders of the layer cannot be made.
    pub fn lay_over_git(&self, layer: &mut Layer, sandbox: &Sandbox) -> Result<(), RepoError> {
        let failed = |source| on_layer(&RepoPath::root(), source);
        let root = self.root().canonicalize().map_err(failed)?;
        for (name, git) in [("common", self.git.commondir()), ("own", self.git.path())] {
            let folder = git.canonicalize().map_err(failed)?;
            let covered = layer.git.iter().any(|git| folder.starts_with(&git.folder));
            // What lies over a folder would lie over a checkout in it, too.
            if covered || folder.starts_with(&root) || root.starts_with(&folder) {
                continue;
            }
            let place = layer.folder.join(SHARED_FOLDER).join(format!("{GIT_PLACE}{name}"));
            let git = GitLayer { folder, upper: place.join("upper"), work: place.join("work") };
            fs::create_dir_all(&git.upper).map_err(failed)?;
            let folders = LayerFolders::over(&git.upper, &git.work);
            folders.empty_work().map_err(failed)?;
            if sandbox.can_layer_folder(&git.folder, folders) {
                folders.empty_work().map_err(failed)?;
                layer.git.push(git);
            }
        }
        Ok(())
    }

    /// Whether commands left a stash in a layer that the repository itself does not have.
    pub fn has_stash_in(&self, layer: &Layer) -> bool {
        let own = layer.upper_at(&RepoPath::root()).join(GIT_FOLDER);
        let uppers = layer.git.iter().map(|git| git.upper.clone()).chain([own]);
        let known = self.git.refname_to_id(STASH).ok().map(|id| id.to_string());
        let stashes = uppers.filter_map(|git| fs::read_to_string(git.join(STASH)).ok());
        stashes.into_iter().any(|stash| Some(stash.trim()) != known.as_deref())
    }
}

impl Layer {
    /// Removes the locks that a command which was cut off has left: no other command works there.
    /// What a link leads to is left alone.
    ///
    /// # Errors
    /// When the folders of the layer cannot be opened.
    pub(super) fn remove_git_locks(&self) -> io::Result<()> {
        if let Ok(own) = RepoPath::root().join(GIT_FOLDER) {
            remove_locks(&self.upper, &own);
        }
        for git in &self.git {
            remove_locks(&Checkout::open(&git.upper)?, &RepoPath::root());
        }
        Ok(())
    }
}

/// Removes the locks directly in a folder of git's, and those of refs and worktrees.
fn remove_locks(upper: &Checkout, git: &RepoPath) {
    let mut ahead = vec![git.clone()];
    while let Some(folder) = ahead.pop() {
        for path in upper.opened_names(&folder) {
            let name = path.name().unwrap_or_default();
            match upper.entry(&path).ok().flatten().map(|entry| entry.kind) {
                Some(EntryKind::Folder) if folder != *git || FOLDERS.contains(&name) => {
                    ahead.push(path);
                }
                Some(EntryKind::File) if name.ends_with(".lock") => {
                    // Git reports one that stays.
                    let found = upper.beneath.folder(&folder);
                    let _ = found.and_then(|found| unlinkat(found, name, AtFlags::empty()));
                }
                Some(_) | None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::layer::Layer;

    #[test]
    fn locks_that_a_command_left_are_gone_for_the_next_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(folder.path()).unwrap();
        let git = layer.folders().upper.join(".git");
        let locks = ["index.lock", "config.lock", "refs/heads/a/b.lock", "worktrees/w/HEAD.lock"];
        let kept = ["index", "refs/heads/a/b", "objects/x.lock", "../src/Cargo.lock"];
        for file in locks.iter().chain(&kept) {
            let at = git.join(file);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, "").unwrap();
        }
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("Cargo.lock"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), git.join("refs/link")).unwrap();
        layer.begin().unwrap();
        assert_eq!(locks.map(|file| git.join(file).exists()), [false; 4]);
        assert_eq!(kept.map(|file| git.join(file).exists()), [true; 4]);
        fs::remove_dir_all(&git).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &git).unwrap();
        layer.begin().unwrap();
        assert!(elsewhere.path().join("Cargo.lock").exists());
    }
}
