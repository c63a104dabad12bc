//! The layer of a program that keeps running: what it wrote is taken out of the layer while the
//! program still has it.
//!
//! In: such a layer, and an empty one. Out: the second has what the first had, besides what git
//! ignores, and is judged like that of a command. Files are moved, so that none is there half.
//! Folders that the checkout has stay, since the program may be in one of them. Whoever takes
//! renews the program's view afterwards.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::{Below, Layer, LayerChanges, OPAQUE, on_layer};
use crate::checkout::EntryKind;
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;
use locum_sandbox::remove_all;

impl Repo {
    /// Takes what a running program wrote to its layer into another layer.
    ///
    /// # Errors
    /// When something cannot be moved; taking again goes on.
    pub fn take(&self, live: &Layer, taken: &Layer) -> Result<(), RepoError> {
        self.take_below(live, taken, &RepoPath::root())
    }

    fn take_below(&self, live: &Layer, taken: &Layer, at: &RepoPath) -> Result<(), RepoError> {
        let io = |path: &RepoPath| {
            let path = path.clone();
            move |source| on_layer(&path, source)
        };
        for name in live.names(at).map_err(io(at))? {
            let path = match name {
                Ok(path) => path,
                Err(name) => {
                    let below = name.strip_prefix(live.upper.root()).unwrap_or(&name);
                    move_over(&name, &taken.upper.root().join(below)).map_err(io(at))?;
                    continue;
                }
            };
            let facts = live.facts(&path).map_err(io(&path))?;
            if self.stays(live, &path, facts.is_dir())? {
                continue;
            }
            let (from, to) = (live.upper_at(&path), taken.upper_at(&path));
            if !facts.is_dir() {
                move_over(&from, &to).map_err(io(&path))?;
                continue;
            }
            let (is_opaque, is_new) = (live.is_opaque(&path), !self.has_folder(&path));
            if is_opaque || is_new {
                make_way(&to).and_then(|()| fs::create_dir_all(&to)).map_err(io(&path))?;
            }
            let errno = |errno: Errno| io(&path)(errno.into());
            if is_opaque {
                rustix::fs::lsetxattr(&to, OPAQUE, b"y", XattrFlags::empty()).map_err(errno)?;
            }
            self.take_below(live, taken, &path)?;
            if is_opaque {
                rustix::fs::lremovexattr(&from, OPAQUE).map_err(errno)?;
            }
            if is_new {
                remove_if_empty(&from).map_err(errno)?;
            }
        }
        Ok(())
    }

    /// Makes a running program's layer ready for the next request. What the program wrote since the
    /// last one, and somebody else changed in the checkout after that, is kept out, below
    /// [`Layer::kept`] and `label`; returns these paths.
    ///
    /// # Errors
    /// When the layer or the checkout cannot be read, or something not be moved.
    pub fn leave_stale(&self, live: &Layer, label: &str) -> Result<Vec<RepoPath>, RepoError> {
        let mut changes = LayerChanges::default();
        self.changes_below(live, &RepoPath::root(), Below::Seen, &mut changes)?;
        let mut stale = Vec::new();
        for path in changes.paths.into_keys() {
            let Ok(written) = live.facts(&path) else { continue };
            let Ok(Some(stat)) = self.checkout.beneath.stat(&path) else { continue };
            let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX));
            if changed <= (written.ctime(), written.ctime_nsec()) || written.is_dir() {
                continue;
            }
            let kept_out = live.keep_out(&path, label).and_then(|()| {
                match fs::remove_file(live.upper_at(&path)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    Ok(()) | Err(_) => Ok(()),
                }
            });
            kept_out.map_err(|source| on_layer(&path, source))?;
            stale.push(path);
        }
        self.prune(live, &RepoPath::root())?;
        Ok(stale)
    }

    /// Removes folders with nothing in them that the checkout lacks: it had them when something in
    /// them was changed.
    fn prune(&self, live: &Layer, at: &RepoPath) -> Result<(), RepoError> {
        for path in live.names(at).map_err(|source| on_layer(at, source))?.into_iter().flatten() {
            let facts = live.facts(&path).map_err(|source| on_layer(&path, source))?;
            if !facts.is_dir() || self.stays(live, &path, true)? {
                continue;
            }
            self.prune(live, &path)?;
            if !self.has_folder(&path) {
                let removed = remove_if_empty(&live.upper_at(&path));
                removed.map_err(|errno| on_layer(&path, errno.into()))?;
            }
        }
        Ok(())
    }

    fn has_folder(&self, path: &RepoPath) -> bool {
        let entry = self.checkout.entry(path).ok().flatten();
        entry.is_some_and(|entry| entry.kind == EntryKind::Folder)
    }
}

/// Moves a file, link or mark into another layer.
fn move_over(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::symlink_metadata(to).is_ok_and(|facts| facts.is_dir()) {
        remove_all(to)?;
    }
    fs::rename(from, to)
}

/// Removes what is no folder.
fn make_way(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(facts) if !facts.is_dir() => fs::remove_file(path),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn remove_if_empty(folder: &Path) -> Result<(), Errno> {
    match rustix::fs::rmdir(folder) {
        Ok(()) | Err(Errno::NOTEMPTY | Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
