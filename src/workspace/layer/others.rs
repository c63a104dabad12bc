//! What others did to the checkout while a command wrote to its layer, and what of theirs is in the
//! way of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::Stat;
use rustix::io::Errno;

use super::{Layer, LayerChange, on_layer};
use crate::checkout::{EntryKind, FileError, file_error};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::OnDisk;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

impl Repo {
    /// Whether something that stays in the checkout is in the way of what the layer has at a path:
    /// a folder that is not empty, or a file or link on the way there. What goes has to be gone
    /// already; folders with nothing in them make way.
    ///
    /// # Errors
    /// When the checkout cannot be read.
    pub fn is_blocked(&self, path: &RepoPath, change: LayerChange) -> Result<bool, RepoError> {
        if change == LayerChange::Removed {
            return Ok(false);
        }
        let mut above = path.parent();
        while !above.is_root() {
            match self.checkout.entry(&above) {
                Ok(Some(entry)) if entry.kind == EntryKind::Folder => break,
                Ok(None) => above = above.parent(),
                Ok(Some(_)) | Err(FileError::Link(_)) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(match self.checkout.entry(path)?.map(|entry| entry.kind) {
            None => false,
            Some(EntryKind::File | EntryKind::Link) => change == LayerChange::Folder,
            Some(EntryKind::Folder) => {
                change == LayerChange::Written && !self.checkout.take_away_empty(path)
            }
            Some(EntryKind::Other) => true,
        })
    }

    /// Whether somebody else changed a path of the checkout since the last command began, and not
    /// to what the layer has there. What was brought already is nobody else's.
    ///
    /// # Errors
    /// When either cannot be read.
    pub fn is_changed_by_others(
        &self,
        layer: &Layer,
        path: &RepoPath,
        change: LayerChange,
    ) -> Result<bool, RepoError> {
        let in_layer = layer.stored(path)?;
        if change == LayerChange::Written && in_layer == OnDisk::Nothing {
            return Ok(false);
        }
        let stat = match self.checkout.beneath.stat(path) {
            Ok(Some(stat)) => stat,
            // Behind a link that somebody else put there, git knows no path either.
            Ok(None) | Err(Errno::LOOP) => return Ok(false),
            Err(errno) => return Err(file_error(path, errno).into()),
        };
        Ok(is_changed_since_beginning(layer, &stat)? && self.checkout.stored(path)? != in_layer)
    }

    /// Returns which paths that the layer has written somebody else removed from the checkout since
    /// the last command began: `base`, a commit of the checkout's files before it, has them. To be
    /// asked before anything is brought, because that changes folders as well.
    ///
    /// # Errors
    /// When the checkout, the layer or the commit cannot be read.
    pub fn removed_by_others(
        &self,
        layer: &Layer,
        base: &CommitId,
        changes: &BTreeMap<RepoPath, LayerChange>,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let tree = self.find(base)?.tree()?;
        let mut removed = BTreeSet::new();
        for (path, _) in changes.iter().filter(|(_, change)| **change == LayerChange::Written) {
            if matches!(self.checkout.beneath.stat(path), Ok(None))
                && layer.stored(path)? != OnDisk::Nothing
                && is_changed_since_beginning(layer, &self.nearest_folder(path)?)?
                && stored_in(&self.git, &tree, path)?.is_some()
            {
                removed.insert(path.clone());
            }
        }
        Ok(removed)
    }

    /// Returns the folder around a path that is there.
    fn nearest_folder(&self, path: &RepoPath) -> Result<Stat, RepoError> {
        let mut above = path.parent();
        loop {
            match self.checkout.beneath.stat(&above) {
                Ok(Some(stat)) => return Ok(stat),
                Ok(None) if !above.is_root() => above = above.parent(),
                Ok(None) => return Err(file_error(&above, Errno::NOENT).into()),
                Err(errno) => return Err(file_error(&above, errno).into()),
            }
        }
    }
}

/// Whether something of the checkout was changed since the last command began.
fn is_changed_since_beginning(layer: &Layer, stat: &Stat) -> Result<bool, RepoError> {
    let began = fs::metadata(layer.began());
    let began = began.map_err(|source| on_layer(&RepoPath::root(), source))?;
    let changed = (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX));
    Ok(changed > (began.ctime(), began.ctime_nsec()))
}
