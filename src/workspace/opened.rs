//! Opens what commands closed: folders that nobody may look into or change, and files that nobody
//! may read. Git keeps neither, so nothing of it is brought into the checkout.

use std::ffi::CStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::path::Arg;

/// What the owner of a folder needs.
const FOLDER: u32 = 0o700;
/// What the owner of a file needs.
const FILE: u32 = 0o400;
/// What the owner of a file needs to work on it.
const WORK_FILE: u32 = 0o600;

/// Opens a folder to its owner.
///
/// # Errors
/// When it cannot be looked at or opened.
pub(super) fn open(folder: &Path) -> io::Result<()> {
    open_at(&at(CWD, folder)?)
}

/// The same of a folder that a descriptor leads to.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn open_at(folder: &OwnedFd) -> io::Result<()> {
    let mode = File::from(folder.try_clone()?).metadata()?.permissions().mode();
    if mode & FOLDER == FOLDER { Ok(()) } else { set_mode_at(folder, mode | FOLDER) }
}

/// Opens the folder or file of a name in a folder to its owner; of a link, nothing.
///
/// # Errors
/// As [`open`].
pub(super) fn open_in(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    open_as(folder, name, FILE)
}

/// The same of what stays where it is: a file that nobody may read can be written, too.
///
/// # Errors
/// As [`open`].
pub(super) fn open_to_work(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    open_as(folder, name, WORK_FILE)
}

fn open_as(folder: &OwnedFd, name: &CStr, file_bits: u32) -> io::Result<()> {
    let place = at(folder, name)?;
    let facts = File::from(place.try_clone()?).metadata()?;
    if !facts.is_dir() && !facts.is_file() {
        return Ok(());
    }
    let (needed, bits) = if facts.is_dir() { (FOLDER, FOLDER) } else { (FILE, file_bits) };
    let mode = facts.permissions().mode();
    if mode & needed == needed { Ok(()) } else { set_mode_at(&place, mode | bits) }
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
    set_mode_at(&at(CWD, place)?, mode)
}

/// Opens what has a name or path below a folder, and may be closed, for its mode alone.
#[cfg(target_os = "linux")]
fn at(folder: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// The same where it takes the right to read it.
#[cfg(not(target_os = "linux"))]
fn at(folder: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
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
