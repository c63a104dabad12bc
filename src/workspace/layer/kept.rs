//! Which part of a layer stays when it is removed: what is kept out of the checkout, in the folder
//! of the session.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::git::{GIT_FOLDER, GIT_PLACE};
use super::{Layer, SHARED_FOLDER};
use crate::shared;
use locum_base::path::RepoPath;
use locum_sandbox::remove_all;

/// Longest path at which something is kept by its own name, in bytes.
const LONGEST_KEPT_BYTES: usize = 3_500;

/// Build output that a run brought into the checkout, with when each file changed by that, in
/// nanoseconds.
pub(crate) type BroughtFiles = BTreeMap<RepoPath, i64>;

impl Layer {
    /// Returns the build output that was brought when the run was stopped before; none where that
    /// is not known.
    pub(crate) fn brought(&self) -> BroughtFiles {
        let text = fs::read_to_string(self.brought_note()).unwrap_or_default();
        let file = |line: &str| {
            let (changed_ns, path) = line.split_once(' ')?;
            Some((RepoPath::parse(path).ok()?, changed_ns.parse().ok()?))
        };
        text.lines().filter_map(file).collect()
    }

    /// Notes the build output that was brought, for a run that is resumed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn note_brought(&self, files: &BroughtFiles) -> io::Result<()> {
        let line = |(path, changed_ns): (&RepoPath, &i64)| format!("{changed_ns} {path}\n");
        fs::write(self.brought_note(), files.iter().map(line).collect::<String>())
    }

    fn brought_note(&self) -> PathBuf {
        self.folder.join("brought")
    }

    /// Returns where what was kept out of the checkout lies.
    pub fn kept(&self) -> PathBuf {
        self.folder.join("kept")
    }

    /// Keeps the file or link that was written to a path out of the checkout, below
    /// [`Layer::kept`] and `label`. Of a folder, and of what was removed, there is nothing to keep.
    ///
    /// # Errors
    /// When it cannot be moved there.
    pub fn keep_out(&self, path: &RepoPath, label: &str) -> io::Result<()> {
        let from = self.upper.absolute(path);
        if !fs::symlink_metadata(&from).is_ok_and(|facts| facts.is_file() || facts.is_symlink()) {
            return Ok(());
        }
        self.keep(path, label)
    }

    /// The same for what could not be read: a folder is kept as a whole.
    ///
    /// # Errors
    /// When it cannot be moved there.
    pub fn keep_whole(&self, path: &RepoPath, label: &str) -> io::Result<()> {
        if !self.has_folder(path) {
            return self.keep_out(path, label);
        }
        self.keep(path, label)
    }

    fn keep(&self, path: &RepoPath, label: &str) -> io::Result<()> {
        let to = self.place_to_keep(Path::new(path.as_str()), label)?;
        // By the folder that it is in: its whole name may be too long, too.
        let (folder, name) = (self.upper.beneath.folder(&path.parent())?, path.name());
        Ok(rustix::fs::renameat(folder, name.unwrap_or_default(), rustix::fs::CWD, to)?)
    }

    /// Keeps what lies at `at` in the layer, and what no [`RepoPath`] can express, by the name that
    /// it has.
    ///
    /// # Errors
    /// When it cannot be moved there.
    pub(super) fn keep_unnamed(&self, at: &Path, label: &str) -> io::Result<()> {
        let name = at.strip_prefix(self.upper.root()).unwrap_or(at);
        fs::rename(at, self.place_to_keep(name, label)?)
    }

    /// Returns a free place for what has this name in the layer, in a folder that is there.
    fn place_to_keep(&self, name: &Path, label: &str) -> io::Result<PathBuf> {
        let mut to = self.kept().join(label).join(name);
        // The kernel takes no longer one, and a folder has longer ones in it.
        let is_long = to.as_os_str().len() > LONGEST_KEPT_BYTES;
        let name = if is_long { Path::new("long-path") } else { name };
        if is_long {
            to = self.kept().join(label).join(name);
        }
        let mut number = 2_usize;
        while fs::symlink_metadata(&to).is_ok() {
            to = self.kept().join(format!("{label}-{number}")).join(name);
            number += 1;
        }
        fs::create_dir_all(to.parent().unwrap_or(&self.folder))?;
        Ok(to)
    }

    /// Whether a path was kept out of the checkout under `label`.
    pub fn is_kept_out(&self, path: &RepoPath, label: &str) -> bool {
        fs::symlink_metadata(self.kept().join(label).join(path.as_str())).is_ok()
    }

    /// Removes the layer; what was kept out of the checkout stays.
    ///
    /// # Errors
    /// When something of it cannot be removed.
    pub fn discard(&self) -> io::Result<()> {
        self.end()?;
        fs::remove_dir(&self.work)?;
        shared::discard(&self.folder.join(SHARED_FOLDER))?;
        remove_all(self.upper.root())?;
        for note in [self.began(), self.made(), self.brought_note()] {
            match fs::remove_file(note) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        // It stays where something was kept out.
        let _ = fs::remove_dir(&self.folder);
        Ok(())
    }

    /// Removes the layers of a session that stopped and may be resumed, besides a stash that commands
    /// made, with git's objects: it may be the only place that has what the checkout lacks. An index
    /// or a branch would hide what is done in the repository meanwhile.
    ///
    /// # Errors
    /// When something of them cannot be removed.
    pub fn discard_all_but_git(session_folder: &Path) -> io::Result<()> {
        let folder = Self::place(session_folder, "");
        if !folder.exists() {
            return Ok(());
        }
        let mut discarded = Ok(());
        for entry in fs::read_dir(folder)? {
            let one = Self::open(&entry?.path()).and_then(|layer| layer.discard_but_git());
            discarded = discarded.and(one);
        }
        discarded
    }

    fn discard_but_git(&self) -> io::Result<()> {
        self.end()?;
        // What lies over git's folders outside of the checkout is in the shared folder.
        let shared = self.folder.join(SHARED_FOLDER);
        keep_only(self.upper.root(), |name| name == GIT_FOLDER)?;
        keep_only(&shared, |name| name.starts_with(GIT_PLACE))?;
        let places = if shared.exists() { Some(fs::read_dir(&shared)?) } else { None };
        let mut uppers = vec![self.upper.root().join(GIT_FOLDER)];
        for place in places.into_iter().flatten() {
            uppers.push(place?.path().join("upper"));
        }
        uppers.iter().try_for_each(|git| keep_only_stash(git))
    }

    /// Removes every layer in a folder, and the folder. Where something was kept out of a checkout,
    /// that stays.
    ///
    /// # Errors
    /// When something of them cannot be removed.
    pub(super) fn discard_all(folder: &Path) -> io::Result<()> {
        if !folder.exists() {
            return Ok(());
        }
        let mut discarded = Ok(());
        for entry in fs::read_dir(folder)? {
            // What is wrong with one layer keeps no other.
            let one = Self::open(&entry?.path()).and_then(|layer| layer.discard());
            discarded = discarded.and(one);
        }
        let _ = fs::remove_dir(folder);
        discarded
    }
}

/// Removes all of a layer over git's folder but its objects, and the stash with its log.
fn keep_only_stash(git: &Path) -> io::Result<()> {
    keep_only(git, |name| matches!(name, "objects" | "refs" | "logs"))?;
    keep_only(&git.join("refs"), |name| name == "stash")?;
    keep_only(&git.join("logs"), |name| name == "refs")?;
    keep_only(&git.join("logs/refs"), |name| name == "stash")
}

/// Removes all of a folder, if it is one, but the entries whose names are kept.
fn keep_only(folder: &Path, is_kept: impl Fn(&str) -> bool) -> io::Result<()> {
    if !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&is_kept) {
            continue;
        }
        let at = entry.path();
        if entry.file_type()?.is_dir() { remove_all(&at) } else { fs::remove_file(at) }?;
    }
    Ok(())
}
