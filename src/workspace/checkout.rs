//! `Checkout`: the files beneath one root, opened without ever leaving it.

use std::path::{Path, PathBuf};

use crate::base::path::RepoPath;
use crate::policy::Permit;
use crate::policy::intent::Act;

/// The files beneath one root. Shared by concurrent readers.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is no such file.
    #[error("`{0}` does not exist")]
    Missing(RepoPath),
    /// A link or mount on the way leads out of the checkout.
    #[error("`{0}` leads out of the repository")]
    Outside(RepoPath),
    /// The path is a folder where a file is needed, a device, a pipe or a socket.
    #[error("`{path}` is {what}")]
    NotAFile {
        /// The path.
        path: RepoPath,
        /// What it is: `a directory`, `a named pipe`.
        what: &'static str,
    },
    /// The file is larger than the limit.
    #[error("`{path}` has {size_bytes} bytes, more than the {limit_bytes} that are read")]
    TooLarge {
        /// The path.
        path: RepoPath,
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// The permit was given for something else.
    #[error("`{0}` is not covered by the permit")]
    NotPermitted(RepoPath),
    /// The operating system said no.
    #[error("`{path}`: {source}")]
    Io {
        /// The path.
        path: RepoPath,
        /// What it said.
        source: std::io::Error,
    },
}

impl Checkout {
    /// Opens the checkout at `root`.
    ///
    /// # Errors
    /// When it is not a readable folder.
    pub fn open(_root: &Path) -> std::io::Result<Self> {
        todo!()
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Follows every link on the way and returns where the path really lies; the last parts may not exist yet.
    ///
    /// # Errors
    /// When it lies outside.
    pub fn resolve(&self, _path: &RepoPath) -> Result<RepoPath, FileError> {
        todo!()
    }

    /// Reads a regular file of at most `limit_bytes`. `path` is a resolved path covered by the permit (`read` or `edit`).
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn read(&self, _permit: &Permit<impl Act>, _path: &RepoPath, _limit_bytes: u64) -> Result<Vec<u8>, FileError> {
        todo!()
    }

    /// Replaces or creates a regular file in one step (written beside, synced, renamed over), parents included, permissions
    /// kept. `path` is a resolved path the permit covers as an edit.
    ///
    /// # Errors
    /// See [`FileError`]; the file is then as it was.
    pub fn write(&self, _permit: &Permit<impl Act>, _path: &RepoPath, _content: &[u8]) -> Result<(), FileError> {
        todo!()
    }
}
