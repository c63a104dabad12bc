//! `Layer`: what commands wrote over a checkout, in a folder of its own, until it is judged.
//!
//! In: an upper folder as overlayfs leaves it. Out: the changed paths as git would see them, and
//! each of them brought into the checkout or kept out. What git ignores stays in the layer from
//! command to command, so builds stay warm and the checkout is as it was. Nothing is undone: what
//! is not brought was never there.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

mod git;
pub mod ignored;
pub(crate) mod kept;
mod other_repositories;
mod others;
mod place;
mod seen;
mod settled;
mod shared_trees;
mod taken;

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::checkout::{Checkout, EntryKind, FileError, file_error};
use crate::layer::shared_trees::SharedTrees;
use crate::opened;
use crate::repo::{Repo, RepoError};
use crate::shared::{self, SharedFolders};
use crate::stored::OnDisk;
use locum_base::path::RepoPath;
use locum_sandbox::{GitLayer, LayerFolders, SharedFolder, StandIn};

/// The attribute of a folder that hides what lies below it; its value is `y`.
const OPAQUE: &str = "user.overlay.opaque";

/// Folder of a layer with what was written to folders that another checkout shares.
const SHARED_FOLDER: &str = "shared";

/// A copy-on-write layer over a checkout. No two commands may write to it at once.
#[derive(Debug)]
pub struct Layer {
    folder: PathBuf,
    work: PathBuf,
    upper: Checkout,
    shared: Option<SharedFolders>,
    trees: Vec<SharedTrees>,
    git: Vec<GitLayer>,
}

/// What commands made of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerChange {
    /// A file or link that is new or different.
    Written,
    /// A file or link that is gone.
    Removed,
    /// A new folder with nothing in it.
    Folder,
}

/// What is different in a layer, besides what git ignores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerChanges {
    /// By path.
    pub paths: BTreeMap<RepoPath, LayerChange>,
    /// Names that no [`RepoPath`] can express; nothing can be brought to them.
    pub unnamed: Vec<String>,
    /// What could not be read, and why: too large, or too deep down. It is not brought either.
    pub unread: BTreeMap<RepoPath, String>,
}

impl LayerChanges {
    /// How many paths there are in all.
    pub fn count(&self) -> usize {
        [self.paths.len(), self.unnamed.len(), self.unread.len()].iter().sum()
    }
}

/// Where a layer lies over something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// A folder of the checkout is seen through it.
    Seen,
    /// Nothing of the checkout is.
    Hidden,
}

impl Layer {
    /// Opens the layer in `folder`, which is outside the checkout; made if missing.
    ///
    /// # Errors
    /// When it cannot be made or read.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let upper = folder.join("upper");
        fs::create_dir_all(&upper)?;
        let folder = folder.canonicalize()?;
        let layer = Self {
            work: folder.join("work"),
            upper: Checkout::open(&upper)?,
            folder,
            shared: None,
            trees: Vec::new(),
            git: Vec::new(),
        };
        layer.end()?;
        Ok(layer)
    }

    /// Returns what a sandbox needs to know of it.
    pub fn folders(&self) -> LayerFolders<'_> {
        LayerFolders { upper: self.upper.root(), work: &self.work, git: &self.git }
    }

    /// Returns the checkout that this one stands for; `None` where it stands for none.
    pub fn stands_for(&self) -> Option<StandIn<'_>> {
        self.shared.as_ref().map(SharedFolders::stands_for)
    }

    /// Returns the folders of another checkout that are seen through it.
    pub(super) fn shared(&self) -> &[SharedFolder] {
        self.shared.as_ref().map_or(&[], |shared| &shared.folders)
    }

    pub(super) fn stand(&mut self, shared: SharedFolders) -> io::Result<()> {
        self.trees = SharedTrees::of(&shared.folders)?;
        self.shared = Some(shared);
        Ok(())
    }

    /// Makes the folders for what is written to a shared folder.
    pub(super) fn share(&self, path: RepoPath, lower: Vec<PathBuf>) -> io::Result<SharedFolder> {
        shared::make(&self.folder.join(SHARED_FOLDER), path, lower)
    }

    pub(super) fn upper_at(&self, path: &RepoPath) -> PathBuf {
        self.upper.absolute(path)
    }

    /// Reads what git would keep of a path that commands left in the layer.
    pub(super) fn stored(&self, path: &RepoPath) -> Result<OnDisk, FileError> {
        self.upper.stored(path)
    }

    /// Notes that a command is about to start: what changes in the checkout from here on is the
    /// work of others.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn begin(&self) -> io::Result<()> {
        // A command that was cut off, or a trial, may have left something.
        self.end()?;
        self.remove_git_locks()?;
        if !self.made().exists() {
            fs::write(self.made(), "")?;
        }
        fs::write(self.began(), "")
    }

    /// Makes a layer ready that may be there from before. The note of a command that was cut off
    /// stays: what changed in the checkout since then is the work of others.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn begin_again(&self) -> io::Result<()> {
        if self.began().exists() { self.end() } else { self.begin() }
    }

    /// Empties the kernel's own folder after a command.
    ///
    /// # Errors
    /// When it cannot be emptied.
    fn end(&self) -> io::Result<()> {
        for shared in self.shared() {
            LayerFolders::over(&shared.upper, &shared.work).empty_work()?;
        }
        for git in &self.git {
            LayerFolders::over(&git.upper, &git.work).empty_work()?;
        }
        self.folders().empty_work()
    }

    /// Where it is noted when the last command began.
    fn began(&self) -> PathBuf {
        self.folder.join("began")
    }

    /// Where it is noted when the first command began.
    fn made(&self) -> PathBuf {
        self.folder.join("made")
    }

    /// Whether no link that a command made lies on the way to a path, or is it.
    pub fn has_no_link(&self, path: &RepoPath) -> bool {
        if self.shared().iter().any(|folder| path.is_within(&folder.path)) {
            return false;
        }
        let mut at = RepoPath::root();
        for part in path.parts() {
            let Ok(next) = at.child(part) else { return false };
            match self.facts(&next) {
                Ok(facts) if facts.is_symlink() => return false,
                Ok(facts) if facts.is_dir() => {}
                Ok(_) => return true,
                // Everything below it is the checkout's.
                Err(error) => return error.kind() == io::ErrorKind::NotFound,
            }
            at = next;
        }
        true
    }

    /// Whether something is at a path of the layer itself.
    pub(super) fn has(&self, path: &RepoPath) -> bool {
        self.facts(path).is_ok()
    }

    pub(super) fn facts(&self, path: &RepoPath) -> io::Result<Metadata> {
        fs::symlink_metadata(self.upper.absolute(path))
    }

    pub(super) fn names(&self, folder: &RepoPath) -> io::Result<Vec<Result<RepoPath, PathBuf>>> {
        let mut names = Vec::new();
        let folder_at = self.upper.absolute(folder);
        opened::open(&folder_at)?;
        for entry in fs::read_dir(folder_at)? {
            let entry = entry?;
            let name = entry.file_name();
            let path = name.to_str().and_then(|name| folder.child(name).ok());
            names.push(path.ok_or_else(|| entry.path()));
        }
        Ok(names)
    }

    fn is_opaque(&self, folder: &RepoPath) -> bool {
        is_opaque(&self.upper.absolute(folder))
    }
}

impl Repo {
    /// Returns what is different in a layer over this checkout. No command may be writing to it.
    ///
    /// # Errors
    /// When the layer or the checkout cannot be read.
    pub fn layer_changes(&self, layer: &Layer) -> Result<LayerChanges, RepoError> {
        layer.end().map_err(|source| on_layer(&RepoPath::root(), source))?;
        let mut changes = LayerChanges::default();
        self.changes_below(layer, &RepoPath::root(), Below::Seen, &mut changes)?;
        Ok(changes)
    }

    /// Makes a path of the checkout what the layer has there, in one step; on behalf of whoever
    /// judged it. Times of change are kept, so that builds see no change of their own.
    ///
    /// # Errors
    /// When it cannot be written; the file is then as it was.
    pub fn bring(
        &self,
        layer: &Layer,
        path: &RepoPath,
        change: LayerChange,
    ) -> Result<(), RepoError> {
        match change {
            LayerChange::Removed => {
                let stays = |folder: &RepoPath| layer.has_folder(folder);
                return Ok(self.checkout.remove_stored(path, &stays)?);
            }
            LayerChange::Folder => {
                let made = self.checkout.beneath.folder_made(path);
                return made.map(drop).map_err(|errno| file_error(path, errno).into());
            }
            LayerChange::Written => {}
        }
        let OnDisk::Stored(stored) = layer.stored(path)? else { return Ok(()) };
        self.checkout.put_stored(path, Some(&stored))?;
        if let Ok(modified) = layer.facts(path).and_then(|facts| facts.modified())
            && let Ok(file) = self.checkout.open_regular(path)
        {
            // A file of somebody else keeps the time it was written.
            let _ = file.set_modified(modified);
        }
        Ok(())
    }

    fn changes_below(
        &self,
        layer: &Layer,
        folder: &RepoPath,
        below: Below,
        changes: &mut LayerChanges,
    ) -> Result<(), RepoError> {
        let names = layer.names(folder).map_err(|source| on_layer(folder, source))?;
        for name in names {
            match name {
                Ok(path) => {
                    // What is wrong with one path says nothing of the others.
                    if let Err(error) = self.change_at(layer, &path, below, changes) {
                        // Nor does anything go that it would have taken the place of.
                        changes.paths.retain(|other, _| !other.is_within(&path));
                        changes.unread.insert(path, error.to_string());
                    }
                }
                Err(name) => {
                    let below = name.strip_prefix(layer.upper.root()).unwrap_or(&name);
                    changes.unnamed.push(below.display().to_string());
                }
            }
        }
        Ok(())
    }

    fn change_at(
        &self,
        layer: &Layer,
        path: &RepoPath,
        below: Below,
        changes: &mut LayerChanges,
    ) -> Result<(), RepoError> {
        let path = path.clone();
        let facts = layer.facts(&path).map_err(|source| on_layer(&path, source))?;
        if self.stays(layer, &path, facts.is_dir())? {
            return Ok(());
        }
        let lower = match below {
            Below::Seen => self.checkout.entry(&path).ok().flatten(),
            Below::Hidden => None,
        };
        let is_folder = lower.is_some_and(|lower| lower.kind == EntryKind::Folder);
        if facts.is_dir() {
            let opaque = layer.is_opaque(&path);
            if (opaque || !is_folder) && below == Below::Seen {
                self.removed_below(&path, changes)?;
            }
            let through = is_folder && !opaque;
            let inner = if through { Below::Seen } else { Below::Hidden };
            let before = changes.count();
            self.changes_below(layer, &path, inner, changes)?;
            if lower.is_none() && changes.count() == before {
                changes.paths.insert(path, LayerChange::Folder);
            }
        } else if facts.is_file() || facts.is_symlink() {
            if is_folder {
                self.removed_below(&path, changes)?;
            }
            opened::readable(&layer.upper_at(&path), &facts);
            if self.checkout.stored(&path)? == layer.stored(&path)? {
                changes.paths.remove(&path);
            } else {
                changes.paths.insert(path, LayerChange::Written);
            }
        } else if is_whiteout(&facts) && lower.is_some() {
            self.removed_below(&path, changes)?;
        }
        Ok(())
    }

    /// Notes that every file of the checkout at or below a path is gone, besides what git ignores.
    fn removed_below(&self, path: &RepoPath, changes: &mut LayerChanges) -> Result<(), RepoError> {
        let Ok(Some(entry)) = self.checkout.entry(path) else { return Ok(()) };
        let is_folder = entry.kind == EntryKind::Folder;
        if self.stays_in_layer(path, is_folder)? {
            return Ok(());
        }
        if !is_folder {
            changes.paths.insert(path.clone(), LayerChange::Removed);
            return Ok(());
        }
        let listed = fs::read_dir(self.checkout.absolute(path));
        for entry in listed.map_err(|source| on_layer(path, source))? {
            let name = entry.map_err(|source| on_layer(path, source))?.file_name();
            if let Some(inner) = name.to_str().and_then(|name| path.child(name).ok()) {
                self.removed_below(&inner, changes)?;
            }
        }
        Ok(())
    }

    /// Whether a path is none of the checkout's: git ignores it and has nothing there, or it
    /// belongs to another repository.
    pub(super) fn stays_in_layer(
        &self,
        path: &RepoPath,
        is_folder: bool,
    ) -> Result<bool, RepoError> {
        if path.name() == Some(".git") {
            return Ok(true);
        }
        if is_folder && self.is_of_another_repository(path)? {
            return Ok(true);
        }
        let asked = if is_folder { format!("{path}/") } else { path.to_string() };
        if !self.git.is_path_ignored(&asked)? {
            return Ok(false);
        }
        // The index of a large repository takes long to read.
        let index = self.git.index()?;
        let is_tracked = index.get_path(Path::new(path.as_str()), 0).is_some()
            || is_folder && index.find_prefix(&asked).is_ok();
        Ok(!is_tracked)
    }
}

/// Whether overlayfs marks with it that something of the checkout is gone.
fn is_whiteout(facts: &Metadata) -> bool {
    facts.file_type().is_char_device() && facts.rdev() == 0
}

/// Whether a folder of a layer hides what lies below it.
fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 2];
    let read = rustix::fs::lgetxattr(folder, OPAQUE, &mut value);
    read.is_ok_and(|length| value.get(..length) == Some(b"y"))
}

pub(super) fn on_layer(path: &RepoPath, source: io::Error) -> RepoError {
    FileError::Io { path: path.clone(), source }.into()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
