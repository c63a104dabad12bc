//! Changes that are set aside: what a command made of some paths, as commits that no branch has, so
//! that a person can decide on them later and elsewhere. In: a layer, or the checkout. Out: two
//! commits, kept by a ref of their own until somebody has decided, and their difference in the
//! checkout.
#![expect(clippy::disallowed_methods, reason = "copies lie outside the checkout")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use git2::{FileMode, Tree};
use serde::{Deserialize, Serialize};

use crate::attributes::Attributes;
use crate::checkout::{Checkout, EntryKind, FileError, file_error};
use crate::checkpoint::checkpoint_ref;
use crate::diff::{FileChange, compare};
use crate::layer::{Layer, LayerChange};
use crate::moved_out::move_entry;
use crate::opened;
use crate::repo::{CommitId, Repo, RepoError, entry_at};
use crate::stored::{OnDisk, StoredFile};
use crate::trees::{TreeChanges, stored_in};
use crate::write::names_git_folder;
use locum_base::path::RepoPath;

/// The message of both commits.
const MESSAGE: &str = "changes that wait for a decision";

/// Copies of one place's git data that are kept, and one more.
const COPIES_LIMIT: u32 = 100;

/// Changes that are set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The checkout without them.
    pub before: CommitId,
    /// The checkout with them: a child of `before`.
    pub after: CommitId,
}

/// What becomes of a file that is too large to be read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeFiles {
    /// It stays where it is as well.
    Copied,
    /// It goes, which takes no room and no time.
    Moved,
}

impl Repo {
    /// Sets aside what a layer made of these paths. Neither the layer nor the checkout changes.
    /// `base` is a commit of the checkout's files.
    ///
    /// # Errors
    /// When a file cannot be read or git fails.
    pub fn set_aside(
        &self,
        layer: &Layer,
        base: &CommitId,
        paths: &BTreeMap<RepoPath, LayerChange>,
    ) -> Result<SetAside, RepoError> {
        let parent = self.find(base)?;
        let names = paths.keys().cloned().collect();
        let tree = self.tree_with(&parent.tree()?, &names)?;
        let before = self.own_commit(MESSAGE, &tree, &[&parent])?;
        let mut changes = TreeChanges::default();
        let mut attributes = Attributes::new(&self.git, &tree);
        for (path, change) in paths {
            let stored = match change {
                LayerChange::Written => layer.stored(path)?,
                LayerChange::Removed => OnDisk::Nothing,
                LayerChange::Folder => continue,
            };
            let stored = match stored {
                OnDisk::Stored(stored) => OnDisk::Stored(attributes.of(path)?.kept(stored)),
                other => other,
            };
            changes.note(&self.git, path, &stored)?;
        }
        let tree = self.git.find_tree(changes.apply(&self.git, &tree)?)?;
        self.set_aside_as(before, &tree)
    }

    /// Sets aside what the checkout has at these paths. The checkout does not change. `base` is
    /// what they were before.
    ///
    /// # Errors
    /// When a file cannot be read or git fails.
    pub fn set_aside_written(
        &self,
        base: &CommitId,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<SetAside, RepoError> {
        let tree = self.tree_with(&self.find(base)?.tree()?, paths)?;
        self.set_aside_as(base.clone(), &tree)
    }

    /// Keeps what a session set aside, whatever git cleans up, until [`Repo::drop_aside`] or
    /// [`Repo::forget_session`].
    ///
    /// # Errors
    /// When it is not there, or git cannot write the ref.
    pub fn keep_aside(&self, session: &str, aside: &SetAside) -> Result<(), RepoError> {
        let id = self.find(&aside.after)?.id();
        self.set_own_ref(&aside_ref(session, aside)?, id, "locum: waits for a decision")
    }

    /// Lets go of what a session set aside; git removes it in time.
    ///
    /// # Errors
    /// When git cannot remove the ref.
    pub fn drop_aside(&self, session: &str, aside: &SetAside) -> Result<(), RepoError> {
        self.remove_own_ref(&aside_ref(session, aside)?)
    }

    fn set_aside_as(&self, before: CommitId, tree: &Tree<'_>) -> Result<SetAside, RepoError> {
        let after = self.own_commit(MESSAGE, tree, &[&self.find(&before)?])?;
        Ok(SetAside { before, after })
    }

    /// Returns the paths that are neither as before nor as set aside, or where something stands in
    /// the way: somebody else changed them.
    ///
    /// # Errors
    /// When git fails.
    pub fn aside_conflicts(
        &self,
        aside: &SetAside,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Vec<RepoPath>, RepoError> {
        let differing = |commit: &CommitId| -> Result<BTreeSet<RepoPath>, RepoError> {
            Ok(self.changes(commit, paths)?.into_iter().map(|change| change.path).collect())
        };
        let (before, after) = (differing(&aside.before)?, differing(&aside.after)?);
        let (written, goes) = self.written_and_gone(aside, paths)?;
        let is_blocked =
            |path: &&RepoPath| written.contains(*path) && self.is_in_the_way(path, &goes);
        let is_of_others =
            |path: &&RepoPath| before.contains(*path) && after.contains(*path) || is_blocked(path);
        Ok(paths.iter().filter(is_of_others).cloned().collect())
    }

    fn written_and_gone(
        &self,
        aside: &SetAside,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<(BTreeSet<RepoPath>, BTreeSet<RepoPath>), RepoError> {
        let tree = self.tree_of(&aside.after)?;
        let is_written = |path: &RepoPath| matches!(entry_at(&tree, path), Ok(Some(_)));
        Ok(paths.iter().cloned().partition(is_written))
    }

    /// Brings what was set aside into the checkout, on behalf of whoever approved it; doing it
    /// again changes nothing. Returns the paths that somebody else changed: then nothing is
    /// brought.
    ///
    /// # Errors
    /// When a file cannot be written or git fails.
    pub fn bring_aside(
        &self,
        aside: &SetAside,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Vec<RepoPath>, RepoError> {
        let of_others = self.aside_conflicts(aside, paths)?;
        if of_others.is_empty() {
            let (written, goes) = self.written_and_gone(aside, paths)?;
            for path in goes.iter().rev() {
                self.checkout.put_stored(path, None)?;
            }
            for path in &written {
                // Folders with nothing in them make way.
                self.checkout.take_away_empty(path);
            }
            self.restore(&aside.after, paths)?;
        }
        Ok(of_others)
    }

    /// Whether the checkout has something other than a file at a path, or other than a folder on
    /// the way there, that stays once these paths are gone.
    fn is_in_the_way(&self, path: &RepoPath, goes: &BTreeSet<RepoPath>) -> bool {
        let above = std::iter::successors(Some(path.parent()), |folder| Some(folder.parent()));
        for folder in above.take_while(|folder| !folder.is_root()) {
            match self.checkout.entry(&folder) {
                Ok(None) | Err(FileError::Link(_)) => {}
                Ok(Some(entry)) if entry.kind == EntryKind::Folder => break,
                Ok(Some(_)) if goes.contains(&folder) => {}
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        match self.checkout.entry(path).ok().flatten().map(|entry| entry.kind) {
            None | Some(EntryKind::File | EntryKind::Link) => false,
            Some(EntryKind::Folder) => self.holds_more(path, goes),
            Some(EntryKind::Other) => true,
        }
    }

    /// Whether something is in a folder besides folders and these paths.
    fn holds_more(&self, folder: &RepoPath, goes: &BTreeSet<RepoPath>) -> bool {
        let found = self.checkout.listed(folder);
        !found.is_whole
            || found.entries.iter().any(|(path, kind)| match kind {
                EntryKind::Folder => self.holds_more(path, goes),
                EntryKind::File | EntryKind::Link | EntryKind::Other => !goes.contains(path),
            })
    }

    /// Returns what was set aside of these paths, as diffs.
    ///
    /// # Errors
    /// When git cannot read it.
    pub fn aside_changes(
        &self,
        aside: &SetAside,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Vec<FileChange>, RepoError> {
        let (before, after) = (self.tree_of(&aside.before)?, self.tree_of(&aside.after)?);
        let mut changes = Vec::new();
        for path in paths {
            let [before, after] = [&before, &after].map(|tree| stored_in(&self.git, tree, path));
            changes.extend(compare(path, before?.as_ref(), after?.as_ref()));
        }
        Ok(changes)
    }

    /// Takes paths of the checkout back to what they are in a commit. What they held is kept below
    /// `kept`, a folder outside of it, on this disk or another. A `.git` goes as a whole. Returns
    /// what [`Repo::restore`] does.
    ///
    /// # Errors
    /// When a file cannot be read or written, or a `.git` cannot be moved: it stays then.
    pub fn take_back(
        &self,
        commit: &CommitId,
        paths: &BTreeSet<RepoPath>,
        kept: &Path,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let (git, files): (BTreeSet<RepoPath>, _) =
            paths.iter().cloned().partition(|path| path.name().is_some_and(names_git_folder));
        for path in &git {
            self.move_out(path, kept)?;
        }
        self.copy_out(&files, kept, LargeFiles::Moved)?;
        self.restore(commit, &files)
    }

    /// Moves the git data of another repository out of the checkout, to where git takes it for
    /// none. What cannot be moved stays: it may be a person's, and nothing else has it.
    fn move_out(&self, path: &RepoPath, kept: &Path) -> Result<(), RepoError> {
        let (Some(name), Some(entry)) = (path.name(), self.checkout.entry(path)?) else {
            return Ok(());
        };
        if path.as_str() == ".git" {
            return Err(FileError::GitFolder(path.clone()).into());
        }
        let io = |source| FileError::Io { path: path.clone(), source };
        let folder = self.checkout.beneath.folder(&path.parent());
        let folder = folder.map_err(|errno| file_error(path, errno))?;
        if entry.kind == EntryKind::Folder {
            opened::open(&self.checkout.absolute(path)).map_err(io)?;
        }
        let around = kept.join(path.parent().as_str());
        fs::create_dir_all(&around).map_err(io)?;
        let is_free = |to: &PathBuf| fs::symlink_metadata(to).is_err();
        let mut places = (1..COPIES_LIMIT).map(|count| around.join(format!("git-data-{count}")));
        let to = places.find(is_free).ok_or_else(|| {
            let why = format!("`{}` has {} copies already", around.display(), COPIES_LIMIT - 1);
            io(io::Error::new(io::ErrorKind::AlreadyExists, why))
        })?;
        move_entry(&folder, name, &to).map_err(io)?;
        self.checkout.take_away_empty_parents(path, &|_| false);
        Ok(())
    }

    /// Copies what the checkout has at these paths to below a folder outside of it, before it is
    /// changed. What cannot be read is moved there; what is too large to be read whole is treated as
    /// `large` says. A copy that is there already is kept.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn copy_out(
        &self,
        paths: &BTreeSet<RepoPath>,
        folder: &Path,
        large: LargeFiles,
    ) -> Result<(), RepoError> {
        for path in paths {
            let to = folder.join(path.as_str());
            if fs::symlink_metadata(&to).is_ok() {
                continue;
            }
            let io = |source| FileError::Io { path: path.clone(), source };
            match self.checkout.stored(path) {
                Ok(OnDisk::Stored(stored)) => copy(&stored, &to).map_err(io)?,
                Ok(OnDisk::Other | OnDisk::Nothing) => {}
                Err(FileError::TooLarge { .. }) if large == LargeFiles::Copied => {
                    let mut from = self.checkout.open_regular(path)?;
                    made(&to).and_then(|mut to| io::copy(&mut from, &mut to)).map_err(io)?;
                }
                // A second name would change with the file.
                Err(_) => self.checkout.move_file_out(path, &to).map_err(io)?,
            }
        }
        Ok(())
    }
}

impl Checkout {
    /// Moves a file to a place outside the checkout.
    fn move_file_out(&self, path: &RepoPath, to: &Path) -> io::Result<()> {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        let folder = self.beneath.folder(&path.parent())?;
        move_entry(&folder, path.name().unwrap_or_default(), to)
    }
}

/// Returns the ref of what a session set aside, beside those of its sub-tasks, which are numbers.
fn aside_ref(session: &str, aside: &SetAside) -> Result<String, RepoError> {
    checkpoint_ref(&format!("trees/{session}/aside-{}", aside.after.0))
}

/// Makes the file of a copy.
fn made(to: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::File::create(to)
}

/// Writes a copy; of a link, a file that says where it leads.
fn copy(stored: &StoredFile, to: &Path) -> io::Result<()> {
    made(to)?.write_all(&stored.content)?;
    if stored.mode == FileMode::BlobExecutable {
        fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a person makes folders behind a session")]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, path, paths};

    #[test]
    fn nothing_is_brought_where_a_folder_or_a_file_of_somebody_else_is_in_the_way() {
        let fixture = RepoFixture::new();
        let held = paths(&["src/lib.rs", "new", "deep/new"]);
        for file in ["src/lib.rs", "new", "deep/new"] {
            fixture.write(file, "run\n");
        }
        let aside = fixture.repo.set_aside_written(&fixture.base, &held).unwrap();
        fixture.repo.restore(&fixture.base, &held).unwrap();
        let at = |name: &str| fixture.root.join(name);

        fixture.write("new/in/it", "mine\n");
        assert_eq!(fixture.repo.bring_aside(&aside, &held).unwrap(), [path("new")]);
        fixture.write("deep", "mine\n");
        let of_others = fixture.repo.bring_aside(&aside, &held).unwrap();
        assert_eq!(of_others, [path("deep/new"), path("new")]);
        assert_eq!(fs::read_to_string(at("src/lib.rs")).unwrap(), "one\ntwo\nthree\n");

        // Folders with nothing in them make way.
        fixture.remove("new/in/it");
        fixture.remove("deep");
        fs::create_dir_all(at("new/in")).unwrap();
        for _ in 0..2 {
            assert_eq!(fixture.repo.bring_aside(&aside, &held).unwrap(), []);
            assert_eq!(fs::read_to_string(at("new")).unwrap(), "run\n");
            assert_eq!(fs::read_to_string(at("deep/new")).unwrap(), "run\n");
        }
    }

    #[test]
    fn a_file_takes_the_place_of_a_folder_whose_files_go_with_it() {
        let fixture = RepoFixture::new();
        let held = paths(&["old", "old/only"]);
        fixture.remove("old/only");
        let _ = fs::remove_dir(fixture.root.join("old"));
        fixture.write("old", "run\n");
        let aside = fixture.repo.set_aside_written(&fixture.base, &held).unwrap();
        fixture.repo.restore(&fixture.base, &held).unwrap();
        assert!(fixture.root.join("old/only").exists());
        assert_eq!(fixture.repo.bring_aside(&aside, &held).unwrap(), []);
        assert_eq!(fs::read_to_string(fixture.root.join("old")).unwrap(), "run\n");
    }
}
