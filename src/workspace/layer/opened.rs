//! Opens what commands closed in a layer: folders that nobody may look into or change, and files
//! that nobody may read. Git keeps neither, so nothing of it is brought into the checkout.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// What the owner of a folder needs.
const FOLDER: u32 = 0o700;
/// What the owner of a file needs.
const FILE: u32 = 0o400;

/// Opens a folder of a layer to its owner.
///
/// # Errors
/// When it cannot be looked at or opened.
pub(super) fn open(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    if mode & FOLDER == FOLDER { Ok(()) } else { set_mode(folder, mode | FOLDER) }
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
    let opened =
        rustix::fs::open(place, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let same = format!("/proc/self/fd/{}", opened.as_raw_fd());
    fs::set_permissions(same, Permissions::from_mode(mode))
}
