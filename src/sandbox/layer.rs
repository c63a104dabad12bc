//! The folders of a layer that commands write to instead of the checkout.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::{fs, io};

/// The folders of a copy-on-write layer over a checkout, on one file system and outside the
/// checkout.
#[derive(Clone, Copy, Debug)]
pub struct LayerFolders<'a> {
    /// What was written, as overlayfs keeps it.
    pub upper: &'a Path,
    /// An empty folder for the kernel's own use.
    pub work: &'a Path,
}

impl LayerFolders<'_> {
    /// Empties the kernel's own folder after a command. The kernel leaves folders there that
    /// nobody may look into.
    ///
    /// # Errors
    /// When it cannot be emptied.
    pub fn empty_work(self) -> io::Result<()> {
        if self.work.exists() {
            open_up(self.work)?;
            fs::remove_dir_all(self.work)?;
        }
        fs::create_dir(self.work)
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}
