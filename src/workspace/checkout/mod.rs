//! `Checkout`: the files beneath one root, opened without ever leaving it.
//!
//! In: paths and the permits that cover them. Out: content and facts of regular files, or why not;
//! folders to search in. What is opened is the resolved path itself: a link put there after it was
//! judged is refused, not followed. Whether a path may be read or edited is the policy's business;
//! that nothing is written inside `.git` is held here a second time.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::beneath::{Beneath, bits_as};
use crate::opened;
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};

/// The files beneath one root. Shared by concurrent readers.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    pub(super) beneath: Beneath,
}

/// A folder a permit allows to read with everything below it: what lists and searches work with.
/// Shared by threads.
#[derive(Clone, Debug)]
pub struct ReadableFolder<'a> {
    checkout: &'a Checkout,
    path: RepoPath,
}

/// What is in a folder.
#[derive(Debug)]
pub(super) struct FolderEntries {
    /// Each path with what it is.
    pub(super) entries: Vec<(RepoPath, EntryKind)>,
    /// Whether these are all: false where the folder cannot be listed, and where something in it
    /// has a name that is no [`RepoPath`], or cannot be looked at.
    pub(super) is_whole: bool,
}

/// What lies at a path, seen without following a last link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckoutEntry {
    /// File, folder, link or something else.
    pub kind: EntryKind,
    /// Size in bytes; of a link, the length of its target.
    pub size_bytes: u64,
    /// Whether its owner may execute it.
    pub executable: bool,
    /// Who may read, write and execute it, as bits.
    pub permissions: u32,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, executable or not.
    File,
    /// A folder, which may be empty.
    Folder,
    /// A symbolic link, which is not followed.
    Link,
    /// A device, a named pipe, a socket.
    Other,
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file does not exist.
    #[error("`{0}` does not exist")]
    Missing(RepoPath),
    /// A link or mount on the way leads out of the checkout.
    #[error("`{0}` leads out of the repository")]
    Outside(RepoPath),
    /// A link stands where a real file or folder stood when the path was resolved, or it never was
    /// resolved.
    #[error("`{0}` is a link or lies behind one; only its real path can be opened")]
    Link(RepoPath),
    /// The path is a folder where a file is needed, a device, a pipe or a socket.
    #[error("`{path}` is {what}")]
    NotAFile {
        /// Path in the checkout.
        path: RepoPath,
        /// What it is: `a directory`, `a named pipe`.
        what: &'static str,
    },
    /// The file of a commit is not UTF-8 text.
    #[error("`{0}` is not UTF-8 text")]
    NotText(RepoPath),
    /// A part of the path is a name of git's own folder.
    #[error("`{0}` lies in git's own folder, which is never written to")]
    GitFolder(RepoPath),
    /// With it, a folder is a repository to git.
    #[error(
        "`{path}` is not written, because git would take `{folder}` for a repository of its own, \
         by what lies there (HEAD, config, objects, refs or commondir), and start programs that \
         its settings name"
    )]
    GitData {
        /// Path in the checkout.
        path: RepoPath,
        /// The folder.
        folder: RepoPath,
    },
    /// The file is larger than the limit.
    #[error("`{path}` has {size_bytes} bytes, more than the {limit_bytes} that are read")]
    TooLarge {
        /// Path in the checkout.
        path: RepoPath,
        /// Size of the file in bytes.
        size_bytes: u64,
        /// Largest size that is read, in bytes.
        limit_bytes: u64,
    },
    /// The permit was given for something else.
    #[error("`{0}` is not covered by the permit")]
    NotPermitted(RepoPath),
    /// The operating system reports an error.
    #[error("`{path}`: {source}")]
    Io {
        /// Path in the checkout.
        path: RepoPath,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl Checkout {
    /// Opens the checkout at `root`.
    ///
    /// # Errors
    /// When it is not a readable folder.
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        let beneath = Beneath::open_root(&root)?;
        Ok(Self { root, beneath })
    }

    /// Returns the root, absolute and free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path of a place beneath the root, for messages and as the folder a
    /// command starts in.
    pub fn absolute(&self, path: &RepoPath) -> PathBuf {
        if path.is_root() { self.root.clone() } else { self.root.join(path.as_str()) }
    }

    /// Follows every link on the way and returns where the path really lies; the last parts may not
    /// exist yet.
    ///
    /// # Errors
    /// When it lies outside.
    pub fn resolve(&self, path: &RepoPath) -> Result<RepoPath, FileError> {
        self.beneath.follow(path, &self.root).map_err(|errno| match errno {
            Errno::LOOP => FileError::Io { path: path.clone(), source: errno.into() },
            errno => file_error(path, errno),
        })
    }

    /// Follows every link on the way to `path` but not a link at its end: the name itself, to
    /// remove it.
    ///
    /// # Errors
    /// When it lies outside.
    pub fn resolve_name(&self, path: &RepoPath) -> Result<RepoPath, FileError> {
        let Some(name) = path.name() else { return Ok(RepoPath::root()) };
        self.resolve(&path.parent())?.child(name).map_err(|_| FileError::Outside(path.clone()))
    }

    /// Looks at a resolved path; `None` when nothing is there.
    ///
    /// # Errors
    /// When a folder on the way is a link or may not be looked into.
    pub fn entry(&self, path: &RepoPath) -> Result<Option<CheckoutEntry>, FileError> {
        let stat = self.beneath.stat(path).map_err(|errno| file_error(path, errno))?;
        Ok(stat.map(|stat| CheckoutEntry::of(&stat)))
    }

    /// Reads a regular file of at most `limit_bytes`. `path` is a resolved path covered by the
    /// permit (`read` or `edit`).
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn read(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, FileError> {
        let mut content = Vec::new();
        read_limited(self.open_file(permit, path)?, path, limit_bytes, &mut content)?;
        Ok(content)
    }

    /// Opens a regular file for reading; at once, whatever lies there. `path` is as for
    /// [`Checkout::read`].
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn open_file(&self, permit: &Permit<impl Act>, path: &RepoPath) -> Result<File, FileError> {
        if !permit.covers(&Intent::Read(path.clone()))
            && !permit.covers(&Intent::Edit(path.clone()))
        {
            return Err(FileError::NotPermitted(path.clone()));
        }
        self.open_regular(path)
    }

    /// Takes a permit that covers reading a folder (or file) as the right to read all that lies
    /// below it.
    ///
    /// # Errors
    /// When the permit does not cover `read` of exactly this path.
    pub fn folder(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
    ) -> Result<ReadableFolder<'_>, FileError> {
        if !permit.covers(&Intent::Read(path.clone())) {
            return Err(FileError::NotPermitted(path.clone()));
        }
        Ok(ReadableFolder { checkout: self, path: path.clone() })
    }

    /// Returns what is in a folder, on behalf of whoever checked the right to. Names that are no
    /// [`RepoPath`] are left out.
    fn names(&self, folder: &RepoPath) -> Result<Vec<RepoPath>, FileError> {
        let mut paths = Vec::new();
        for entry in self.beneath.list(folder).map_err(|errno| file_error(folder, errno))? {
            let entry = entry.map_err(|errno| file_error(folder, errno))?;
            let name = entry.file_name().to_str().unwrap_or_default();
            if !matches!(name, "" | "." | "..") {
                paths.extend(folder.child(name).ok());
            }
        }
        Ok(paths)
    }

    /// The same of a folder that a command may have closed: it is opened to its owner first.
    /// Nothing where that does not work.
    pub(super) fn opened_names(&self, folder: &RepoPath) -> Vec<RepoPath> {
        if let Ok(found) = self.beneath.folder(folder) {
            // Where that does not work, listing says so.
            let _ = opened::open_at(&found);
        }
        self.names(folder).unwrap_or_default()
    }

    /// Returns what is in a folder and what each of it is, on behalf of whoever checked the right
    /// to. A folder that is closed stays so. In what is no folder, there is nothing.
    pub(super) fn listed(&self, folder: &RepoPath) -> FolderEntries {
        let listed = match self.beneath.list(folder) {
            Ok(listed) => listed,
            Err(errno) => {
                let is_whole = matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
                return FolderEntries { entries: Vec::new(), is_whole };
            }
        };
        let mut found = FolderEntries { entries: Vec::new(), is_whole: true };
        for entry in listed {
            let Ok(entry) = entry else {
                found.is_whole = false;
                continue;
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let path = name.to_str().ok().and_then(|name| folder.child(name).ok());
            let kind = path.as_ref().and_then(|path| match entry.file_type() {
                FileType::Unknown => self.entry(path).ok().flatten().map(|entry| entry.kind),
                kind => Some(EntryKind::of(kind)),
            });
            match path.zip(kind) {
                Some(entry) => found.entries.push(entry),
                None => found.is_whole = false,
            }
        }
        found
    }

    /// Reads where a link points, as written, on behalf of whoever checked the right to.
    pub(super) fn link_target(&self, path: &RepoPath) -> Result<Vec<u8>, FileError> {
        let target = self.beneath.read_link(path).map_err(|errno| file_error(path, errno))?;
        Ok(target.into_bytes())
    }

    /// Opens a regular file for reading on behalf of whoever checked the right to.
    pub(super) fn open_regular(&self, path: &RepoPath) -> Result<File, FileError> {
        let opened = self.beneath.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY);
        let file = opened.map_err(|errno| match errno {
            // Opening a socket or a device without a driver.
            Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
                FileError::NotAFile { path: path.clone(), what: "a socket or a device" }
            }
            errno => file_error(path, errno),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| file_error(path, errno))?;
        refuse_unless_regular(path, &stat)?;
        Ok(File::from(file))
    }
}

impl ReadableFolder<'_> {
    /// Returns the folder's path.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    /// Returns the root that it is beneath.
    pub fn root(&self) -> &Path {
        self.checkout.root()
    }

    /// Returns the folder's absolute path, to walk from.
    pub fn absolute(&self) -> PathBuf {
        self.checkout.absolute(&self.path)
    }

    /// Opens a regular file at or below this folder; links are refused, so a walk that does not
    /// follow them loses nothing.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn open_file(&self, path: &RepoPath) -> Result<File, FileError> {
        self.refuse_elsewhere(path)?;
        self.checkout.open_regular(path)
    }

    /// Reads a regular file at or below this folder into `content`, which is emptied first and can
    /// be used again and again.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn read_into(
        &self,
        path: &RepoPath,
        limit_bytes: u64,
        content: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        content.clear();
        read_limited(self.open_file(path)?, path, limit_bytes, content)
    }

    /// Looks at a place at or below this folder; `None` when nothing is there.
    ///
    /// # Errors
    /// See [`FileError`].
    pub fn entry(&self, path: &RepoPath) -> Result<Option<CheckoutEntry>, FileError> {
        self.refuse_elsewhere(path)?;
        self.checkout.entry(path)
    }

    fn refuse_elsewhere(&self, path: &RepoPath) -> Result<(), FileError> {
        if path.is_within(&self.path) { Ok(()) } else { Err(FileError::NotPermitted(path.clone())) }
    }
}

impl CheckoutEntry {
    fn of(stat: &Stat) -> Self {
        Self {
            kind: EntryKind::of(FileType::from_raw_mode(stat.st_mode)),
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            executable: stat.st_mode & 0o100 != 0,
            permissions: bits_as::<u32>(stat.st_mode) & 0o777,
        }
    }
}

impl EntryKind {
    fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

/// Refuses everything that is not a regular file.
pub(super) fn refuse_unless_regular(path: &RepoPath, stat: &Stat) -> Result<(), FileError> {
    let what = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => return Err(FileError::Link(path.clone())),
        FileType::Directory => "a directory",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "not a regular file",
    };
    Err(FileError::NotAFile { path: path.clone(), what })
}

/// Returns the error that describes what the kernel answered about a path.
pub(super) fn file_error(path: &RepoPath, errno: Errno) -> FileError {
    let path = path.clone();
    match errno {
        Errno::NOENT => FileError::Missing(path),
        Errno::XDEV => FileError::Outside(path),
        Errno::LOOP => FileError::Link(path),
        Errno::ISDIR => FileError::NotAFile { path, what: "a directory" },
        Errno::NOTDIR => FileError::NotAFile { path, what: "below a file, not below a directory" },
        errno => FileError::Io { path, source: errno.into() },
    }
}

/// Reads a whole file of at most `limit_bytes` to the end of `content`.
pub(super) fn read_limited(
    file: File,
    path: &RepoPath,
    limit_bytes: u64,
    content: &mut Vec<u8>,
) -> Result<(), FileError> {
    let io = |source| FileError::Io { path: path.clone(), source };
    let too_large =
        |size_bytes| FileError::TooLarge { path: path.clone(), size_bytes, limit_bytes };
    let size_bytes = file.metadata().map_err(io)?.len();
    if size_bytes > limit_bytes {
        return Err(too_large(size_bytes));
    }
    content.reserve(usize::try_from(size_bytes).unwrap_or(0).saturating_add(1));
    // One byte more than allowed: a file may grow, or hide its size, while it is read.
    let read_bytes = file.take(limit_bytes.saturating_add(1)).read_to_end(content).map_err(io)?;
    let read_bytes = u64::try_from(read_bytes).unwrap_or(u64::MAX);
    if read_bytes > limit_bytes { Err(too_large(read_bytes)) } else { Ok(()) }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
