//! `StoredFile`: what git keeps of a path, read from the checkout and put back there.

use std::os::unix::ffi::OsStrExt as _;

use crate::checkout::{Checkout, EntryKind, FileError};
use crate::write::Executable;
use locum_base::path::RepoPath;

/// Largest file that is recorded, compared or restored, in bytes (GitHub takes no larger one).
pub(super) const FILE_LIMIT_BYTES: u64 = 100 * 1024 * 1024;

/// What git keeps of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoredFile {
    /// A regular file, executable or not.
    File {
        /// Content in bytes.
        content: Vec<u8>,
        /// Whether it may be executed.
        executable: bool,
    },
    /// A symbolic link, by its target.
    Link {
        /// Where it points, as written.
        target: Vec<u8>,
    },
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
                let mut content = Vec::new();
                self.read_regular(path, FILE_LIMIT_BYTES, &mut content)?;
                Ok(OnDisk::Stored(StoredFile::File { content, executable: entry.executable }))
            }
            EntryKind::Link => {
                let target = self.link_target(path)?.as_os_str().as_bytes().to_vec();
                Ok(OnDisk::Stored(StoredFile::Link { target }))
            }
            EntryKind::Folder | EntryKind::Other => Ok(OnDisk::Other),
        }
    }

    /// Makes a path what git keeps of it, on behalf of whoever was permitted to write it. A path
    /// that is so already is left alone; folders that become empty go too.
    pub(super) fn put_stored(
        &self,
        path: &RepoPath,
        stored: Option<&StoredFile>,
    ) -> Result<(), FileError> {
        let there = self.stored(path)?;
        match (stored, there) {
            (Some(wanted), OnDisk::Stored(there)) if *wanted == there => Ok(()),
            (Some(StoredFile::File { content, executable }), there) => {
                if matches!(there, OnDisk::Stored(StoredFile::Link { .. })) {
                    self.take_away(path)?;
                }
                self.put_file(path, content, Executable::Set(*executable))
            }
            (Some(StoredFile::Link { target }), _) => self.put_link(path, target),
            (None, OnDisk::Stored(_)) => {
                self.take_away(path)?;
                self.take_away_empty_parents(path);
                Ok(())
            }
            (None, OnDisk::Other | OnDisk::Nothing) => Ok(()),
        }
    }
}
