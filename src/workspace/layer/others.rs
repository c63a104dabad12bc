//! What others did to the checkout while a command wrote to its layer, and what of theirs is in the
//! way of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Stat;
use rustix::io::Errno;

use super::{Layer, LayerChange, on_layer};
use crate::checkout::{EntryKind, FileError, file_error};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::{OnDisk, StoredFile};
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
        // What cannot be read is not what the layer has.
        let is_same = || self.checkout.stored(path).is_ok_and(|there| there == in_layer);
        Ok(is_changed_since_beginning(layer, &stat)? && !is_same())
    }

    /// Returns which paths that the layer changed somebody else removed from the checkout since the
    /// last command began, or put other files in the place of by renaming a folder, which leaves
    /// the files in it as old as they are. `base` is a commit of the checkout's files before the
    /// command. To be asked before anything is brought, because that changes folders as well.
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
        let (mut removed, mut folders) = (BTreeSet::new(), BTreeMap::new());
        for (path, change) in changes {
            let is_written = *change == LayerChange::Written;
            if is_written && layer.facts(path).is_err() {
                // It was brought already.
                continue;
            }
            let is_removed = match self.checkout.beneath.stat(path) {
                Ok(None) => {
                    is_written
                        && is_changed_since_beginning(layer, &self.nearest_folder(path)?)?
                        && stored_in(&self.git, &tree, path)?.is_some()
                }
                Ok(Some(_)) => {
                    // What cannot be read is not what the layer has.
                    let in_layer = layer.stored(path)?;
                    let is_same = self.checkout.stored(path).is_ok_and(|there| there == in_layer);
                    self.is_in_renamed_folder(layer, path, &mut folders)?
                        && !is_same
                        && !self.is_as_in(base, path)
                }
                // It is known to be there or not when it is brought.
                Err(_) => false,
            };
            if is_removed {
                removed.insert(path.clone());
            }
        }
        Ok(removed)
    }

    /// Whether a folder that a path lies in may be another one than when the last command began:
    /// renaming it changed both it and the folder around it. `known` are folders that were asked
    /// for before, with whether they changed.
    fn is_in_renamed_folder(
        &self,
        layer: &Layer,
        path: &RepoPath,
        known: &mut BTreeMap<RepoPath, bool>,
    ) -> Result<bool, RepoError> {
        let (mut folder, mut is_inner_changed) = (path.parent(), false);
        loop {
            let is_changed = match known.get(&folder) {
                Some(is_changed) => *is_changed,
                None => match self.checkout.beneath.stat(&folder) {
                    Ok(Some(stat)) => is_changed_since_beginning(layer, &stat)?,
                    Ok(None) | Err(_) => false,
                },
            };
            known.insert(folder.clone(), is_changed);
            if is_inner_changed && is_changed {
                return Ok(true);
            }
            if folder.is_root() {
                return Ok(false);
            }
            (is_inner_changed, folder) = (is_changed, folder.parent());
        }
    }

    /// Whether what the checkout has at a path that git ignores is the work of somebody else since
    /// the run began, and not what the layer has there. `base` is a commit with what the run itself
    /// wrote.
    ///
    /// # Errors
    /// When the checkout cannot be read.
    pub(crate) fn is_output_of_others(
        &self,
        layer: &Layer,
        path: &RepoPath,
        (output, base): (&StoredFile, Option<&CommitId>),
    ) -> Result<bool, RepoError> {
        let stat = match self.checkout.beneath.stat(path) {
            Ok(Some(stat)) => stat,
            Ok(None) | Err(Errno::LOOP) => return Ok(false),
            Err(errno) => return Err(file_error(path, errno).into()),
        };
        let made = noted(&layer.made())?;
        let mut is_changed = changed(&stat) > made;
        let mut folder = path.parent();
        while !is_changed && !folder.is_root() {
            if let Ok(Some(stat)) = self.checkout.beneath.stat(&folder) {
                // It was renamed, and nothing in it was.
                is_changed = changed(&stat) > made && modified(&stat) <= made;
            }
            folder = folder.parent();
        }
        Ok(is_changed
            && !matches!(self.checkout.stored(path), Ok(OnDisk::Stored(there)) if there == *output)
            && !base.is_some_and(|base| self.is_as_in(base, path)))
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
    Ok(changed(stat) > noted(&layer.began())?)
}

/// Returns when a note of a layer was made: seconds and nanoseconds by the clock of files.
fn noted(note: &Path) -> Result<(i64, i64), RepoError> {
    let facts = fs::metadata(note).map_err(|source| on_layer(&RepoPath::root(), source))?;
    Ok((facts.ctime(), facts.ctime_nsec()))
}

fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(i64::MAX))
}

fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(i64::MAX))
}
