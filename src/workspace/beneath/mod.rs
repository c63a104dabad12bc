//! `Beneath`: opens what lies below one folder and nothing else, however the tree changes
//! meanwhile.
//!
//! In: a [`RepoPath`]. Out: a descriptor of exactly that place, reached through real folders only;
//! a link anywhere on the way is `ELOOP`, a way out `EXDEV`. The kernel does it in one step
//! (`openat2`) where it can; otherwise folder after folder is opened without following. Permits are
//! checked in `checkout`.
//!
//! Some file systems find a file by other names than its own: macOS ignores case and how letters
//! are composed. Rules that deny ignore case, too. Of names that are more than ASCII, only the one
//! that is in the folder is found by a walk.

mod system;

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::beneath::system::{FOLDER, open_folder, open_in_one_step};
use crate::links::{self, FollowError, OnTheWay};
use locum_base::path::RepoPath;

/// Times an opening is tried again when the kernel saw the tree move below it.
const OPEN_TRIES: usize = 8;

/// Opens what lies below one folder.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
    resolver: PathResolution,
}

/// What leads to a place below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathResolution {
    /// By `openat2`, in one step.
    Openat2,
    /// Folder by folder, none of them a link.
    Walk,
}

impl Beneath {
    /// Opens the root, with the best resolver this kernel has.
    ///
    /// # Errors
    /// When it is not a folder or may not be opened.
    pub(super) fn open_root(folder: &Path) -> Result<Self, Errno> {
        let root = rustix::fs::openat(CWD, folder, FOLDER, Mode::empty())?;
        let probe = open_in_one_step(&root, &RepoPath::root(), FOLDER);
        Ok(Self {
            root,
            resolver: if probe.is_ok() { PathResolution::Openat2 } else { PathResolution::Walk },
        })
    }

    /// Opens the root with a given resolver.
    #[cfg(test)]
    pub(super) fn open_root_by(folder: &Path, resolver: PathResolution) -> Result<Self, Errno> {
        Ok(Self { resolver, ..Self::open_root(folder)? })
    }

    /// Opens `path`; neither it nor a folder on the way may be a link.
    ///
    /// # Errors
    /// `ELOOP` for a link, else what the kernel says.
    pub(super) fn open(&self, path: &RepoPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match self.resolver {
            PathResolution::Openat2 => self.open_by_kernel(path, flags),
            PathResolution::Walk if path.is_root() => {
                rustix::fs::openat(&self.root, ".", flags, Mode::empty())
            }
            PathResolution::Walk => {
                let folder = self.walk(&path.parent(), MissingFolder::Refuse)?;
                refuse_other_name(&folder, name_of(path)?)?;
                let opened = rustix::fs::openat(&folder, name_of(path)?, flags, Mode::empty());
                // A folder flag on a link says ENOTDIR; `openat2` says ELOOP.
                match opened {
                    Err(Errno::NOTDIR) if self.is_link(&folder, path) => Err(Errno::LOOP),
                    opened => opened,
                }
            }
        }
    }

    /// Opens a folder for use as the start of further calls.
    ///
    /// # Errors
    /// `ELOOP` for a link, `ENOTDIR` for anything else that is not a folder.
    pub(super) fn folder(&self, path: &RepoPath) -> Result<OwnedFd, Errno> {
        match self.resolver {
            PathResolution::Openat2 => self.open_by_kernel(path, FOLDER),
            PathResolution::Walk => self.walk(path, MissingFolder::Refuse),
        }
    }

    /// Lists a folder.
    ///
    /// # Errors
    /// As [`Beneath::folder`], and when it may not be read.
    pub(super) fn list(&self, path: &RepoPath) -> Result<Dir, Errno> {
        list(self.folder(path)?)
    }

    /// Opens a folder and makes what is missing of it.
    ///
    /// # Errors
    /// As [`Beneath::folder`].
    pub(super) fn folder_made(&self, path: &RepoPath) -> Result<OwnedFd, Errno> {
        match self.folder(path) {
            Err(Errno::NOENT) => self.walk(path, MissingFolder::Make),
            found => found,
        }
    }

    /// Looks at `path` itself, a link included; `None` when nothing is there.
    ///
    /// # Errors
    /// As [`Beneath::folder`] for the folders on the way.
    pub(super) fn stat(&self, path: &RepoPath) -> Result<Option<Stat>, Errno> {
        if path.is_root() {
            return rustix::fs::fstat(&self.root).map(Some);
        }
        let found = self.folder(&path.parent()).and_then(|folder| {
            refuse_other_name(&folder, name_of(path)?)?;
            stat_in(folder, name_of(path)?)
        });
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Reads where the link at `path` points.
    ///
    /// # Errors
    /// `EINVAL` when it is not a link.
    pub(super) fn read_link(&self, path: &RepoPath) -> Result<CString, Errno> {
        rustix::fs::readlinkat(self.folder(&path.parent())?, name_of(path)?, Vec::new())
    }

    /// Follows every link in `path` as text, without opening anything for use. `root` is this
    /// folder's own absolute path, for links that name it. Parts that do not exist stay as they
    /// are.
    ///
    /// # Errors
    /// `EXDEV` when a link leads out, `ELOOP` after too many, `ENOTDIR` below a file, `EILSEQ` for
    /// a target that is no [`RepoPath`].
    pub(super) fn follow(&self, path: &RepoPath, root: &Path) -> Result<RepoPath, Errno> {
        let look = |at: &RepoPath| match self.read_link(at) {
            Ok(target) => Ok(OnTheWay::Link { target: target.into_bytes(), roots: vec![root] }),
            Err(Errno::INVAL) => Ok(OnTheWay::NotALink),
            Err(Errno::NOENT) => Ok(OnTheWay::Nothing),
            Err(errno) => Err(errno),
        };
        links::follow(RepoPath::root(), path.as_str(), look).map_err(|error| match error {
            FollowError::Outside => Errno::XDEV,
            FollowError::Missing => Errno::NOENT,
            FollowError::Loop => Errno::LOOP,
            FollowError::Unnamable => Errno::ILSEQ,
            FollowError::Unread(errno) => errno,
        })
    }

    fn open_by_kernel(&self, path: &RepoPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut tries = 0;
        loop {
            tries += 1;
            match open_in_one_step(&self.root, path, flags) {
                Err(Errno::AGAIN | Errno::INTR) if tries < OPEN_TRIES => {}
                // O_PATH with O_DIRECTORY on a link says ENOTDIR.
                Err(Errno::NOTDIR) if self.leads_through_link(path) => return Err(Errno::LOOP),
                opened => return opened,
            }
        }
    }

    /// Returns true when `path` or a folder on the way is a link; only asked to name an error.
    fn leads_through_link(&self, path: &RepoPath) -> bool {
        matches!(self.walk(path, MissingFolder::Refuse), Err(Errno::LOOP))
    }

    fn walk(&self, path: &RepoPath, missing: MissingFolder) -> Result<OwnedFd, Errno> {
        let mut folder = open_folder(&self.root, ".")?;
        for part in path.parts() {
            let next = match (open_folder(&folder, part), missing) {
                (Err(Errno::NOENT), MissingFolder::Make) => {
                    match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => open_folder(&folder, part)?,
                        Err(errno) => return Err(errno),
                    }
                }
                (opened, MissingFolder::Make | MissingFolder::Refuse) => opened?,
            };
            refuse_other_name(&folder, part)?;
            folder = next;
        }
        Ok(folder)
    }

    fn is_link(&self, folder: impl AsFd, path: &RepoPath) -> bool {
        name_of(path)
            .and_then(|name| stat_in(folder, name))
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    }
}

/// What a walk does about a folder that is not there.
#[derive(Clone, Copy)]
enum MissingFolder {
    Refuse,
    Make,
}

/// Returns the last part of a path as the name of a file.
///
/// # Errors
/// `EISDIR` for the root.
pub(super) fn name_of(path: &RepoPath) -> Result<&str, Errno> {
    path.name().ok_or(Errno::ISDIR)
}

/// Looks at a name in an open folder, not following a link.
///
/// # Errors
/// `ENOENT` and whatever else the kernel says.
pub(super) fn stat_in(folder: impl AsFd, name: &str) -> Result<Stat, Errno> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Refuses a name by which the file system finds what has another one. Not asked on Linux, which
/// finds a file by its own name.
///
/// # Errors
/// `ENOENT` when no entry has this very name although one is found by it.
pub(super) fn refuse_other_name(folder: impl AsFd, name: &str) -> Result<(), Errno> {
    if cfg!(target_os = "linux") || name.is_ascii() {
        return Ok(());
    }
    refuse_unlisted(folder, name)
}

/// Refuses a name that leads to something and is not listed. The whole folder is looked through.
fn refuse_unlisted(folder: impl AsFd, name: &str) -> Result<(), Errno> {
    match stat_in(&folder, name) {
        // Nothing is found by it; whoever opens it is told so.
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
        Ok(_) if has_entry(folder, name)? => Ok(()),
        Ok(_) => Err(Errno::NOENT),
    }
}

/// Turns the error of [`refuse_other_name`] into that of a name which is taken.
pub(super) fn taken(errno: Errno) -> Errno {
    if errno == Errno::NOENT { Errno::EXIST } else { errno }
}

/// Returns the bits of a mode in another type: systems differ in theirs.
pub(super) fn bits_as<T: Default>(bits: impl TryInto<T>) -> T {
    bits.try_into().unwrap_or_default()
}

/// Lists an open folder. Not every descriptor of one can be listed itself.
fn list(folder: impl AsFd) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Dir::new(rustix::fs::openat(folder, ".", flags, Mode::empty())?)
}

/// Whether a folder has an entry of exactly this name.
fn has_entry(folder: impl AsFd, name: &str) -> Result<bool, Errno> {
    for entry in list(folder)? {
        if entry?.file_name().to_bytes() == name.as_bytes() {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
