//! `CheckoutUpdate`: files of the checkout become what another commit has, all of them or none.
//!
//! In: two commits and the paths in which they differ. Out: what stands in the way, found before
//! anything is written; or the files as the second commit has them. Where writing fails half way,
//! what was written is taken back. Whether the files may be written, the caller has decided.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use crate::attributes::Attributes;
use crate::checkout::{EntryKind, FileError};
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::{OnDisk, StoredFile};
use crate::trees::stored_in;
use locum_base::path::RepoPath;

/// Two commits, and the paths that are to become what the second one has.
#[derive(Clone, Copy, Debug)]
pub struct CheckoutUpdate<'a> {
    /// What the checkout has of the paths, as far as nobody else changed them.
    pub before: &'a CommitId,
    /// What it is to have.
    pub after: &'a CommitId,
    /// The paths in which they differ.
    pub paths: &'a BTreeSet<RepoPath>,
}

/// Why a path cannot become what it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The path that was to change.
    pub path: RepoPath,
    /// What stands in the way, as part of a sentence: `a folder stands in its place`.
    pub what: String,
}

impl Repo {
    /// Returns what stands in the way of an update, at most one obstacle a path. A path that is
    /// what it is to be has none.
    ///
    /// # Errors
    /// When git cannot read a commit.
    pub fn obstacles(&self, update: &CheckoutUpdate<'_>) -> Result<Vec<Obstacle>, RepoError> {
        let (old, new) = (self.tree_of(update.before)?, self.tree_of(update.after)?);
        let mut old_attributes = Attributes::new(&self.git, &old);
        let mut new_attributes = Attributes::new(&self.git, &new);
        let mut coming: BTreeMap<&RepoPath, StoredFile> = BTreeMap::new();
        for path in update.paths {
            if let Some(stored) = stored_in(&self.git, &new, path)? {
                coming.insert(path, stored);
            }
        }
        let going: BTreeSet<&RepoPath> =
            update.paths.iter().filter(|path| !coming.contains_key(path)).collect();
        let mut found = Vec::new();
        for path in update.paths {
            let there = match self.on_disk(path) {
                Ok(there) => there,
                Err(error) => {
                    found.push(Obstacle { path: path.clone(), what: unseen(&error) });
                    continue;
                }
            };
            let before = stored_in(&self.git, &old, path)?;
            let wanted = coming.get(path);
            let (mut as_before, mut as_after) = (None, None);
            if let Some(stored) = there {
                let (old, new) = (old_attributes.of(path)?, new_attributes.of(path)?);
                as_before = Some(self.kept(path, &old, stored.clone(), before.as_ref()));
                as_after = Some(self.kept(path, &new, stored, wanted));
            }
            if as_after.as_ref() == wanted {
                continue;
            }
            let what = if as_before != before {
                Some("has changes of somebody else, which are in no commit".to_owned())
            } else if wanted.is_some() {
                self.in_the_way(path, &going)
            } else {
                None
            };
            found.extend(what.map(|what| Obstacle { path: path.clone(), what }));
        }
        Ok(found)
    }

    /// Performs an update. Returns the first path that could not be written, if any: every file
    /// is then what it was before.
    ///
    /// # Errors
    /// When git cannot read a commit, and when what was written cannot be taken back.
    pub fn update_checkout(
        &self,
        update: &CheckoutUpdate<'_>,
    ) -> Result<Option<Obstacle>, RepoError> {
        let new = self.checked_out(update.after, update.paths)?.files;
        let folders = self.folders_above(update.paths);
        // What has to go goes first: a file may stand where a folder is needed, or the other way
        // round.
        let going = update.paths.iter().rev().filter(|path| !new.contains_key(path));
        let coming = update.paths.iter().filter(|path| new.contains_key(path));
        // Each with what the checkout had: of a file that goes through a filter, only it has that.
        let mut written: Vec<(&RepoPath, Option<StoredFile>)> = Vec::new();
        for path in going.chain(coming) {
            let wanted = new.get(path);
            let done = self.on_disk(path).and_then(|there| {
                if there.as_ref() == wanted {
                    return Ok(());
                }
                // Noted first: a link is gone before the file is there that takes its place.
                written.push((path, there));
                self.checkout.put_stored(path, wanted)
            });
            let Err(error) = done else { continue };
            self.checkout.take_away_empty_parents(path, &|folder| folders.contains(folder));
            self.roll_back(&written, &folders)?;
            let what = format!("could not be written: {error}");
            return Ok(Some(Obstacle { path: path.clone(), what }));
        }
        Ok(None)
    }

    /// Returns what keeps a file from standing at a path where git sees none; files that are
    /// `going` are removed first.
    fn in_the_way(&self, path: &RepoPath, going: &BTreeSet<&RepoPath>) -> Option<String> {
        let mut folders: Vec<RepoPath> = above(path).collect();
        folders.reverse();
        for folder in &folders {
            match self.checkout.entry(folder).map(|entry| entry.map(|entry| entry.kind)) {
                Ok(Some(EntryKind::Folder)) => {}
                Ok(None) => return None,
                Ok(Some(EntryKind::File | EntryKind::Link)) if going.contains(folder) => {
                    return None;
                }
                Ok(Some(kind)) => {
                    return Some(format!("`{folder}` is {}, not a folder", named(kind)));
                }
                Err(error) => return Some(unseen(&error)),
            }
        }
        match self.checkout.entry(path).map(|entry| entry.map(|entry| entry.kind)) {
            Ok(None | Some(EntryKind::File | EntryKind::Link)) => None,
            Ok(Some(EntryKind::Folder)) if self.goes(path, going) => None,
            Ok(Some(kind)) => Some(format!("{} stands in its place", named(kind))),
            Err(error) => Some(unseen(&error)),
        }
    }

    /// Returns true for a folder that goes with the last of its files: each of them is `going`.
    fn goes(&self, folder: &RepoPath, going: &BTreeSet<&RepoPath>) -> bool {
        let listed = self.checkout.listed(folder);
        let goes = |(path, kind): &(RepoPath, EntryKind)| match kind {
            EntryKind::Folder => self.goes(path, going),
            EntryKind::File | EntryKind::Link => going.contains(path),
            EntryKind::Other => false,
        };
        listed.is_whole && !listed.entries.is_empty() && listed.entries.iter().all(goes)
    }

    /// Returns the folders above some paths that are there now.
    fn folders_above(&self, paths: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
        let mut folders: BTreeSet<RepoPath> = paths.iter().flat_map(above).collect();
        folders.retain(|folder| {
            let entry = self.checkout.entry(folder).ok().flatten();
            entry.is_some_and(|entry| entry.kind == EntryKind::Folder)
        });
        folders
    }

    /// Reads what the checkout has at a path as a file or a link; `None` for anything else.
    fn on_disk(&self, path: &RepoPath) -> Result<Option<StoredFile>, FileError> {
        Ok(match self.checkout.stored(path)? {
            OnDisk::Stored(stored) => Some(stored),
            OnDisk::Other | OnDisk::Nothing => None,
        })
    }

    /// Makes written files what they were, in the opposite order; `folders` stay even where they
    /// become empty. All of them are tried, whichever fails.
    fn roll_back(
        &self,
        written: &[(&RepoPath, Option<StoredFile>)],
        folders: &BTreeSet<RepoPath>,
    ) -> Result<(), FileError> {
        let undone = written.iter().rev().map(|(path, before)| match before {
            Some(stored) => self.checkout.put_stored(path, Some(stored)),
            None => self.checkout.remove_stored(path, &|folder| folders.contains(folder)),
        });
        undone.fold(Ok(()), Result::and)
    }
}

/// Returns the folders above a path, the nearest first, without the root.
fn above(path: &RepoPath) -> impl Iterator<Item = RepoPath> + use<> {
    let next = |path: &RepoPath| Some(path.parent()).filter(|folder| !folder.is_root());
    successors(next(path), next)
}

fn named(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "a file",
        EntryKind::Folder => "a folder",
        EntryKind::Link => "a link",
        EntryKind::Other => "a pipe, a socket or a device",
    }
}

fn unseen(error: &FileError) -> String {
    format!("cannot be looked at: {error}")
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
