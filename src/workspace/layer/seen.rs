//! What tools see of a layer: build output that commands left there.

use std::fs::File;

use super::{Layer, is_whiteout};
use crate::checkout::{CheckoutEntry, EntryKind, FileError, ReadableFolder};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Act;

impl Layer {
    /// Reads a regular file that commands left in the layer: build output. `path` is as for
    /// [`Checkout::read`](crate::checkout::Checkout::read).
    ///
    /// # Errors
    /// See [`FileError`]; what is not in the layer is missing.
    pub fn read(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, FileError> {
        self.upper.read(permit, path, limit_bytes)
    }

    /// Opens a regular file that commands left in the layer, for reading. `path` is as for
    /// [`Checkout::read`](crate::checkout::Checkout::read).
    ///
    /// # Errors
    /// See [`FileError`]; what is not in the layer is missing.
    pub fn open_file(&self, permit: &Permit<impl Act>, path: &RepoPath) -> Result<File, FileError> {
        self.upper.open_file(permit, path)
    }

    /// Whether commands left a folder in the layer.
    pub fn has_folder(&self, path: &RepoPath) -> bool {
        matches!(self.entry(path), Some(entry) if entry.kind == EntryKind::Folder)
    }

    /// Returns what commands left at a path; `None` where that is nothing, or only a mark that
    /// something of the checkout is gone.
    pub fn entry(&self, path: &RepoPath) -> Option<CheckoutEntry> {
        self.upper.entry(path).ok().flatten().filter(|entry| entry.kind != EntryKind::Other)
    }

    /// Takes a permit that covers reading a folder as the right to read what the layer has there.
    ///
    /// # Errors
    /// When the permit does not cover `read` of exactly this path.
    pub fn folder(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
    ) -> Result<ReadableFolder<'_>, FileError> {
        self.upper.folder(permit, path)
    }

    /// Whether commands see something else than the checkout has at a path, or nothing: they
    /// replaced or removed it, or a folder above it.
    pub fn covers(&self, path: &RepoPath) -> bool {
        let mut at = RepoPath::root();
        for part in path.parts() {
            let Ok(next) = at.join(part) else { return false };
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
}
