//! Opens what commands closed: folders that nobody may look into or change, and files that nobody
//! may read. Git keeps neither, so nothing of it is brought into the checkout.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// What the owner of a folder needs.
const FOLDER: u32 = 0o700;
/// What the owner of a file needs.
const FILE: u32 = 0o400;

/// Opens a folder to its owner.
///
/// # Errors
/// When it cannot be looked at or opened.
pub(super) fn open(folder: &Path) -> io::Result<()> {
    open_at(&at(folder)?)
}

/// The same of a folder that a descriptor leads to.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn open_at(folder: &OwnedFd) -> io::Result<()> {
    let mode = File::from(folder.try_clone()?).metadata()?.permissions().mode();
    if mode & FOLDER == FOLDER { Ok(()) } else { set_mode_at(folder, mode | FOLDER) }
}

/// Lets the owner of a file of a layer read it. Where that does not work, reading says so.
pub(super) fn readable(file: &Path, facts: &Metadata) {
    let mode = facts.permissions().mode();
    if facts.is_file() && mode & FILE == 0 {
        let _ = set_mode(file, mode | FILE);
    }
}

/// Changes the mode of what is there, and never of what a link leads to that a running program put
/// in its place.
pub(super) fn set_mode(place: &Path, mode: u32) -> io::Result<()> {
    set_mode_at(&at(place)?, mode)
}

/// Opens what is at a path, which may be closed, for its mode alone.
#[cfg(target_os = "linux")]
fn at(place: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(place, flags, Mode::empty())?)
}

/// The same where it takes the right to read it.
#[cfg(not(target_os = "linux"))]
fn at(place: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(place, flags, Mode::empty())?)
}

/// A descriptor for the mode alone cannot change it itself.
#[cfg(target_os = "linux")]
fn set_mode_at(place: &OwnedFd, mode: u32) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let same = format!("/proc/self/fd/{}", place.as_raw_fd());
    std::fs::set_permissions(same, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(target_os = "linux"))]
fn set_mode_at(place: &OwnedFd, mode: u32) -> io::Result<()> {
    let mode = rustix::fs::RawMode::try_from(mode & 0o7777).unwrap_or_default();
    Ok(rustix::fs::fchmod(place, Mode::from_raw_mode(mode))?)
}
