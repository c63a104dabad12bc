//! What commands write to git's folders: an index, a stash, a branch. It stays in the layer, also
//! where git's folders lie outside the checkout, as those of a linked worktree do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Layer, SHARED_FOLDER, is_there, on_layer};
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;
use locum_sandbox::{GitLayer, LayerFolders, Sandbox};

impl Repo {
    /// Lets commands write to git's folders outside of this checkout, in a layer over it; where a
    /// folder can have none, it is only read.
    ///
    /// # Errors
    /// When the folders of the layer cannot be made.
    pub fn lay_over_git(&self, layer: &mut Layer, sandbox: &Sandbox) -> Result<(), RepoError> {
        let failed = |source| on_layer(&RepoPath::root(), source);
        for (name, git) in [("common", self.git.commondir()), ("own", self.git.path())] {
            let folder = git.canonicalize().map_err(failed)?;
            let covered = layer.git.iter().any(|git| folder.starts_with(&git.folder));
            if covered || folder.starts_with(self.root()) {
                continue;
            }
            let place = layer.folder.join(SHARED_FOLDER).join(format!("git-{name}"));
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
}

impl Layer {
    /// Removes the locks that a command which was cut off has left: no other command works there.
    pub(super) fn remove_git_locks(&self) -> io::Result<()> {
        let own = self.upper.root().join(".git");
        for folder in self.git.iter().map(|git| &git.upper).chain([&own]) {
            remove_locks(folder, folder)?;
        }
        Ok(())
    }
}

/// Removes the locks directly in a folder of git's, and those of refs.
fn remove_locks(folder: &Path, git: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if is_there(&error) => return Err(error),
        Err(_) => return Ok(()),
        Ok(entries) => entries,
    };
    for entry in entries {
        let path: PathBuf = entry?.path();
        let facts = fs::symlink_metadata(&path)?;
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if facts.is_dir()
            && (folder != git || path.ends_with("refs") || path.ends_with("worktrees"))
        {
            remove_locks(&path, git)?;
        } else if facts.is_file() && is_lock {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
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
        layer.begin().unwrap();
        assert_eq!(locks.map(|file| git.join(file).exists()), [false; 4]);
        assert_eq!(kept.map(|file| git.join(file).exists()), [true; 4]);
    }
}
