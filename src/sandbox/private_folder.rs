//! The folder that the commands of a run have for themselves: a home, and temporary files.
//!
//! In: nothing. Out: a folder that is gone with its [`PrivateFolder`]. A process that is killed
//! cannot remove its own; the next one does.
#![expect(clippy::disallowed_methods, reason = "what a killed process left is removed")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::layer::remove_all;

/// How its name begins.
const PREFIX: &str = "locum-commands-";

/// The file in it that its process keeps locked.
const LOCK: &str = "lock";

/// What that file is called before it is locked.
const UNLOCKED: &str = "unlocked";

/// Most folders of killed processes that one process removes.
const SWEPT_LIMIT: usize = 64;

/// A folder of this process, removed with all that is in it.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    _lock: File,
}

impl PrivateFolder {
    /// Makes the folder. Not in `/tmp` where there is a choice: then what commands leave in theirs
    /// can be kept for the next one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn make() -> io::Result<Self> {
        let usual = std::env::temp_dir();
        if usual.starts_with("/tmp")
            && let Ok(made) = Self::make_in(Path::new("/var/tmp"))
        {
            return Ok(made);
        }
        Self::make_in(&usual)
    }

    fn make_in(folder: &Path) -> io::Result<Self> {
        let owner_only = fs::Permissions::from_mode(0o700);
        let made = Builder::new().prefix(PREFIX).permissions(owner_only).tempdir_in(folder)?;
        let unlocked = made.path().join(UNLOCKED);
        let lock = File::create_new(&unlocked)?;
        // Without its lock, no other process removes the folder.
        if lock.try_lock().is_ok() {
            fs::rename(unlocked, made.path().join(LOCK))?;
        }
        let path = made.keep().canonicalize()?;
        sweep(folder, &path);
        Ok(Self { path, _lock: lock })
    }

    /// Returns where it is, with no link on the way.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What cannot be removed now the next process tries to.
        let _ = remove_all(&self.path);
    }
}

/// Removes what killed processes of this user left in a folder.
fn sweep(folder: &Path, own: &Path) {
    let Ok(owner) = fs::symlink_metadata(own).map(|facts| facts.uid()) else { return };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let left = named.map(|entry| entry.path()).filter(|path| path != own).filter(|path| {
        fs::symlink_metadata(path)
            .is_ok_and(|facts| facts.is_dir() && facts.uid() == owner && is_left(path))
    });
    for path in left.take(SWEPT_LIMIT) {
        let _ = remove_all(&path);
    }
}

/// Whether no process works in such a folder any more.
fn is_left(folder: &Path) -> bool {
    File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{LOCK, PREFIX, PrivateFolder};

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_or_new_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let in_use = PrivateFolder::make_in(folder.path()).unwrap();
        let mode = in_use.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let [left, new] = ["left", "new"].map(|name| folder.path().join(format!("{PREFIX}{name}")));
        for path in [&left.join("own/closed"), &new, &folder.path().join("other")] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(left.join(LOCK), "").unwrap();
        fs::set_permissions(left.join("own/closed"), fs::Permissions::from_mode(0o000)).unwrap();
        let next = PrivateFolder::make_in(folder.path()).unwrap();
        assert!(in_use.path().exists() && new.exists() && folder.path().join("other").exists());
        assert!(!left.exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
