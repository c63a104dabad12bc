//! What the ways to a place below a root ask of the system: one call that leads there in one step,
//! where there is one, and how a folder is opened that is only a start of further calls.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use locum_base::path::RepoPath;

/// Opens a folder, and nothing else, as the start of further calls.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The same where it takes the right to read the folder.
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens `path` below `root` in one step; no link is followed on the way.
///
/// # Errors
/// `EXDEV` for a way out, `ELOOP` for a link, `ENOSYS` where the kernel cannot do it.
#[cfg(target_os = "linux")]
pub(super) fn open_in_one_step(
    root: impl AsFd,
    path: &RepoPath,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let no_way_out =
        ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(root, path.as_str(), flags, Mode::empty(), no_way_out)
}

/// Only Linux can do it.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_in_one_step(
    _root: impl AsFd,
    _path: &RepoPath,
    _flags: OFlags,
) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Opens a folder by its name in another one.
///
/// # Errors
/// `ELOOP` for a link, `ENOTDIR` for anything else that is not a folder.
pub(super) fn open_folder(above: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    use rustix::fs::{AtFlags, FileType, openat, statat};
    match openat(&above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
        // Systems differ in what they say of a link.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let is_link = FileType::from_raw_mode(found.st_mode) == FileType::Symlink;
            Err(if is_link { Errno::LOOP } else { Errno::NOTDIR })
        }
        opened => opened,
    }
}
