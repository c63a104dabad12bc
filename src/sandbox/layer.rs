//! The folders of a layer that commands write to instead of the checkout.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use locum_base::path::RepoPath;

/// The folders of a copy-on-write layer over a checkout, on one file system and outside the
/// checkout.
#[derive(Clone, Copy, Debug)]
pub struct LayerFolders<'a> {
    /// What was written, as overlayfs keeps it.
    pub upper: &'a Path,
    /// An empty folder for the kernel's own use.
    pub work: &'a Path,
    /// Git's own folders that lie outside the checkout.
    pub git: &'a [GitLayer],
}

/// A folder of git's that lies outside the checkout, as that of a linked worktree does: copied on
/// write, so that it stays as it is.
#[derive(Debug)]
pub struct GitLayer {
    /// The folder, with no link on the way.
    pub folder: PathBuf,
    /// What was written, as overlayfs keeps it.
    pub upper: PathBuf,
    /// An empty folder for the kernel's own use.
    pub work: PathBuf,
}

/// A folder of a checkout that is also seen in another tree of files, which lacks it: copied on
/// write, so that the checkout stays as it is.
#[derive(Debug)]
pub struct SharedFolder {
    /// Where it is in the checkout, and is seen.
    pub path: RepoPath,
    /// What is seen there, the uppermost first: no links on the way.
    pub lower: Vec<PathBuf>,
    /// What was written, as overlayfs keeps it.
    pub upper: PathBuf,
    /// An empty folder for the kernel's own use.
    pub work: PathBuf,
}

/// A checkout that another tree of files stands for: commands find that tree where the checkout is,
/// and in it what git ignores of the checkout.
#[derive(Clone, Copy, Debug)]
pub struct StandIn<'a> {
    /// Root of the checkout.
    pub root: &'a Path,
    /// What is seen of it.
    pub shared: &'a [SharedFolder],
    /// Git's folder of both, where that lies in the checkout.
    pub common: Option<&'a MovedGit>,
}

/// A folder of git's that lies in a checkout which another tree of files stands for: it has to be
/// somewhere else there.
#[derive(Debug)]
pub struct MovedGit {
    /// The folder.
    pub folder: PathBuf,
    /// Where it is seen: an empty folder.
    pub seen_at: PathBuf,
    /// The file that says where it is.
    pub named_in: PathBuf,
}

impl SharedFolder {
    /// Whether something that is seen in it has a folder at a path of the checkout.
    pub(crate) fn has_folder(&self, path: &Path) -> bool {
        let Ok(inner) = path.strip_prefix(self.path.as_str()) else { return false };
        std::iter::once(&self.upper).chain(&self.lower).any(|place| place.join(inner).is_dir())
    }
}

impl<'a> LayerFolders<'a> {
    /// Returns those of a layer over one folder alone.
    pub fn over(upper: &'a Path, work: &'a Path) -> Self {
        Self { upper, work, git: &[] }
    }

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

/// Removes a folder that commands wrote to, also where they let nobody look into it or change it.
///
/// # Errors
/// When something of it cannot be removed.
pub fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(folder)?;
            fs::remove_dir_all(folder)
        }
        removed => removed,
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
