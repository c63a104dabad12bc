//! Opens what commands closed in a layer: folders that nobody may look into or change, and files
//! that nobody may read. Git keeps neither, so nothing of it is brought into the checkout.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What the owner of a folder needs.
const FOLDER: u32 = 0o700;

/// Opens a folder of a layer to its owner.
///
/// # Errors
/// When it cannot be looked at or opened.
pub(super) fn open(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    if mode & FOLDER == FOLDER {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(mode | FOLDER))
}

/// Lets the owner of a file of a layer read it. Where that does not work, reading says so.
pub(super) fn readable(file: &Path, facts: &Metadata) {
    let mode = facts.permissions().mode();
    if facts.is_file() && mode & 0o400 == 0 {
        let _ = fs::set_permissions(file, Permissions::from_mode(mode | 0o400));
    }
}
