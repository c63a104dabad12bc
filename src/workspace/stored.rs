//! `StoredFile`: what git keeps of a path, read from the checkout and put back there.

use git2::FileMode;

use crate::checkout::{Checkout, EntryKind, FileError, read_limited};
use crate::write::{Executable, FILE_LIMIT_BYTES};
use locum_base::path::RepoPath;

/// What git keeps of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredFile {
    /// A file, one that may be executed, or a symbolic link.
    pub(super) mode: FileMode,
    /// Content in bytes; of a link, where it points as written.
    pub(super) content: Vec<u8>,
}

/// What a path of the checkout is to git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OnDisk {
    /// Something git keeps.
    Stored(StoredFile),
    /// A folder, or something git does not keep: a pipe, a socket, a device.
    Other,
    /// Nothing; also when the way there leads through a link, because git knows no such path.
    Nothing,
}

impl Checkout {
    /// Reads what git would keep of a path, on behalf of whoever was permitted to write it.
    pub(super) fn stored(&self, path: &RepoPath) -> Result<OnDisk, FileError> {
        let entry = match self.entry(path) {
            Ok(Some(entry)) => entry,
            Ok(None) | Err(FileError::Link(_)) => return Ok(OnDisk::Nothing),
            Err(error) => return Err(error),
        };
        match entry.kind {
            EntryKind::File => {
                let mode = if entry.executable { FileMode::BlobExecutable } else { FileMode::Blob };
                let mut content = Vec::new();
                read_limited(self.open_regular(path)?, path, FILE_LIMIT_BYTES, &mut content)?;
                Ok(OnDisk::Stored(StoredFile { mode, content }))
            }
            EntryKind::Link => {
                let content = self.link_target(path)?;
                Ok(OnDisk::Stored(StoredFile { mode: FileMode::Link, content }))
            }
            EntryKind::Folder | EntryKind::Other => Ok(OnDisk::Other),
        }
    }

    /// Reads the link at a path; `None` where there is none.
    pub(super) fn stored_link(&self, path: &RepoPath) -> Option<StoredFile> {
        let entry = self.entry(path).ok().flatten()?;
        let content = (entry.kind == EntryKind::Link).then(|| self.link_target(path).ok())??;
        Some(StoredFile { mode: FileMode::Link, content })
    }

    /// Says why what is at a path cannot be recorded; `None` where it can, or nothing is there.
    pub fn unrecorded(&self, path: &RepoPath) -> Option<String> {
        let entry = match self.entry(path) {
            Ok(Some(entry)) => entry,
            Ok(None) | Err(FileError::Link(_)) => return None,
            Err(error) => return Some(error.to_string()),
        };
        let (size_bytes, limit_bytes) = (entry.size_bytes, FILE_LIMIT_BYTES);
        if entry.kind != EntryKind::File {
            return None;
        }
        if size_bytes > limit_bytes {
            let error = FileError::TooLarge { path: path.clone(), size_bytes, limit_bytes };
            return Some(error.to_string());
        }
        self.open_regular(path).err().map(|error| error.to_string())
    }

    /// Makes a path what git keeps of it, on behalf of whoever was permitted to write it. A path
    /// that is so already is left alone; folders that become empty go too.
    pub(super) fn put_stored(
        &self,
        path: &RepoPath,
        stored: Option<&StoredFile>,
    ) -> Result<(), FileError> {
        let Some(wanted) = stored else { return self.remove_stored(path, &|_| false) };
        let there = match self.stored(path) {
            // It is not what is wanted, which has been read.
            Err(FileError::TooLarge { .. }) => OnDisk::Nothing,
            there => there?,
        };
        match (wanted, there) {
            (wanted, OnDisk::Stored(there)) if *wanted == there => Ok(()),
            (StoredFile { mode: FileMode::Link, content }, _) => self.put_link(path, content),
            (StoredFile { mode, content }, there) => {
                if matches!(there, OnDisk::Stored(StoredFile { mode: FileMode::Link, .. })) {
                    self.take_away(path)?;
                }
                self.put_file(path, content, Executable::Set(*mode == FileMode::BlobExecutable))
            }
        }
    }

    /// Removes the file or link at a path, on behalf of whoever was permitted to, and folders that
    /// become empty, unless they have to stay.
    pub(super) fn remove_stored(
        &self,
        path: &RepoPath,
        stays: &dyn Fn(&RepoPath) -> bool,
    ) -> Result<(), FileError> {
        match self.entry(path).map(|entry| entry.map(|entry| entry.kind)) {
            Ok(Some(EntryKind::File | EntryKind::Link)) => {
                self.take_away(path)?;
                self.take_away_empty_parents(path, stays);
                Ok(())
            }
            Ok(Some(EntryKind::Folder | EntryKind::Other) | None) | Err(FileError::Link(_)) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}
