//! What tools see of a layer: build output that commands left there, and in a worktree what it
//! shares with the checkout that it stands for.

use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

use rustix::io::Errno;

use super::{Layer, is_whiteout};
use crate::checkout::{Checkout, CheckoutEntry, EntryKind, FileError, ReadableFolder};
use crate::links::{self, FollowError, OnTheWay};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Act;

impl Layer {
    /// Reads a regular file that commands left in the layer, or that is shared: build output.
    /// `path` is as for [`Checkout::read`].
    ///
    /// # Errors
    /// See [`FileError`]; what is not in the layer is missing.
    pub fn read(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, FileError> {
        self.tree_at(path).read(permit, path, limit_bytes)
    }

    /// Opens a regular file that commands left in the layer, or that is shared, for reading. `path`
    /// is as for [`Checkout::read`].
    ///
    /// # Errors
    /// See [`FileError`]; what is not in the layer is missing.
    pub fn open_file(&self, permit: &Permit<impl Act>, path: &RepoPath) -> Result<File, FileError> {
        self.tree_at(path).open_file(permit, path)
    }

    /// Whether commands left a folder in the layer, or one is shared there.
    pub fn has_folder(&self, path: &RepoPath) -> bool {
        matches!(self.entry(path), Some(entry) if entry.kind == EntryKind::Folder)
    }

    /// Returns what commands left at a path; `None` where that is nothing, or only a mark that
    /// something of the checkout is gone. In a folder that is shared, it is all that they see.
    pub fn entry(&self, path: &RepoPath) -> Option<CheckoutEntry> {
        let entry = self.tree_of(path)?.entry(path).ok().flatten();
        entry.filter(|entry| entry.kind != EntryKind::Other)
    }

    /// Returns the root of the tree of files that has what [`Layer::entry`] returns.
    pub fn found_in(&self, path: &RepoPath) -> Option<&Path> {
        let tree = self.tree_of(path)?;
        let entry = tree.entry(path).ok().flatten()?;
        (entry.kind != EntryKind::Other).then(|| tree.root())
    }

    /// Takes a permit that covers reading a folder as the right to read what the layer has there,
    /// in each of its trees of files, the uppermost first.
    ///
    /// # Errors
    /// When the permit does not cover `read` of exactly this path.
    pub fn readable_folders(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
    ) -> Result<Vec<ReadableFolder<'_>>, FileError> {
        match self.shared_at(path) {
            Some(shared) => shared.others().map(|tree| tree.folder(permit, path)).collect(),
            None => Ok(vec![self.upper.folder(permit, path)?]),
        }
    }

    /// Whether a path is in a folder that git ignores and that is shared with the checkout this one
    /// stands for, or is one.
    pub fn is_shared(&self, path: &RepoPath) -> bool {
        self.shared_at(path).is_some()
    }

    /// Follows the links in shared folders on the way to a path that leads through none of the
    /// checkout's own: each as commands find it, in whichever tree of files that is. Where it leads
    /// out of the shared folders, links of the checkout may follow.
    ///
    /// # Errors
    /// When it lies outside, or there are too many links.
    pub fn resolve(&self, path: &RepoPath) -> Result<RepoPath, FileError> {
        let look = |at: &RepoPath| {
            let tree = self.shared_at(at).and_then(|shared| shared.tree_of(at));
            let target = tree.and_then(|tree| tree.link_target(at).ok());
            Ok::<_, Infallible>(match tree.zip(target) {
                Some((tree, target)) => {
                    let roots = std::iter::once(tree.root()).chain(self.seen_root()).collect();
                    OnTheWay::Link { target, roots }
                }
                None => OnTheWay::NotALink,
            })
        };
        links::follow(RepoPath::root(), path.as_str(), look).map_err(|error| match error {
            FollowError::Loop => FileError::Io { path: path.clone(), source: Errno::LOOP.into() },
            FollowError::Outside
            | FollowError::Missing
            | FollowError::Unnamable
            | FollowError::Unread(_) => FileError::Outside(path.clone()),
        })
    }

    /// Returns what commands call the root where this checkout stands for another one.
    fn seen_root(&self) -> Option<&Path> {
        self.stands_for().map(|other| other.root)
    }

    /// Whether commands see something else than the checkout has at a path, or nothing: they
    /// replaced or removed it, or a folder above it.
    pub fn covers(&self, path: &RepoPath) -> bool {
        if let Some(shared) = self.shared_at(path) {
            return shared.covers(path);
        }
        let mut at = RepoPath::root();
        for part in path.parts() {
            let Ok(next) = at.child(part) else { return false };
            at = next;
            match self.facts(&at) {
                Err(_) => return false,
                Ok(facts) if facts.is_dir() => {
                    if at != *path && self.is_opaque(&at) {
                        return true;
                    }
                }
                Ok(facts) => {
                    return facts.is_file() || facts.is_symlink() || is_whiteout(&facts);
                }
            }
        }
        false
    }

    /// Returns the tree of files that has what commands left at a path, or what is shared there.
    fn tree_of(&self, path: &RepoPath) -> Option<&Checkout> {
        match self.shared_at(path) {
            Some(shared) => shared.tree_of(path),
            None => Some(&self.upper),
        }
    }

    /// As [`Layer::tree_of`]; where there is nothing, it is missing in the tree.
    fn tree_at(&self, path: &RepoPath) -> &Checkout {
        self.tree_of(path).unwrap_or(&self.upper)
    }
}
