//! Looks for what `git status` does not show of a checkout, and puts protected files back.
//!
//! In: what git ignores, and which folders it takes for repositories of their own. Out: what lies
//! there. Folders that git ignores are build output; of them only their own `.git` is looked at.

use std::collections::BTreeSet;

use rustix::fs::FileType;

use crate::checkout::EntryKind;
use crate::closed::ClosedLook;
use crate::guarded::Guarded;
use crate::repo::{Repo, RepoError};
use crate::stored::{OnDisk, StoredFile};
use crate::touched::Snapshot;
use crate::write::{Executable, names_git_folder};
use locum_base::path::RepoPath;
use locum_policy::paths::protected;

/// Largest protected file that is put back, in bytes.
const KEPT_FILE_BYTES: i64 = 1 << 20;

/// What is held of all protected files together, in bytes.
const KEPT_BYTES: usize = 16 << 20;

/// What of another repository's `.git` decides what git starts, besides its hooks.
const GIT_SETTINGS: &[&str] = &["config", "config.worktree", "commondir"];

impl Repo {
    /// Looks for what `git status` does not show. Of the folders that it takes for repositories of
    /// their own, `repositories`, the files are noted one by one. What a command closed is opened.
    pub(crate) fn look_further(
        &self,
        snapshot: &mut Snapshot,
        repositories: &BTreeSet<RepoPath>,
        closed: &mut ClosedLook<'_>,
    ) {
        let mut guarded = Guarded::default();
        let mut ahead = vec![(RepoPath::root(), false)];
        while let Some((folder, inside)) = ahead.pop() {
            let inside = inside || repositories.contains(&folder);
            self.open_if_new(&folder, closed);
            for (path, kind) in self.checkout.listed(&folder).entries {
                if path.name().is_some_and(names_git_folder) {
                    if path.as_str() != ".git" {
                        self.note_git(path, &mut guarded);
                    }
                    continue;
                }
                let is_ignored =
                    snapshot.ignored.contains(&path) || (inside && self.is_ignored(&path, kind));
                match kind {
                    EntryKind::Folder if is_ignored => {
                        if let Ok(git) = path.join(".git") {
                            self.note_git(git, &mut guarded);
                        }
                        snapshot.ignored.insert(path);
                    }
                    EntryKind::Folder => ahead.push((path, inside)),
                    EntryKind::File | EntryKind::Link if inside => {
                        if is_ignored {
                            snapshot.ignored.insert(path);
                        } else {
                            snapshot.dirty.insert(path, None);
                        }
                    }
                    EntryKind::File | EntryKind::Link | EntryKind::Other => {}
                }
            }
        }
        let mut files = BTreeSet::new();
        for path in snapshot.ignored.iter().filter(|path| is_guarded(path)) {
            self.note_protected(path, &mut files, closed);
        }
        for path in files {
            if let Some(stamp) = self.stamp(&path) {
                guarded.files.insert(path, stamp);
            }
        }
        snapshot.guarded = Some(guarded);
    }

    /// Keeps what protected files hold, so that a change of them can be taken back.
    pub(crate) fn keep_guarded(&self, snapshot: &mut Snapshot) {
        let Some(guarded) = &mut snapshot.guarded else { return };
        let mut left = KEPT_BYTES;
        for (path, stamp) in &guarded.files {
            if stamp.size_bytes > KEPT_FILE_BYTES {
                continue;
            }
            if let Ok(OnDisk::Stored(stored)) = self.checkout.stored(path)
                && stored.content.len() <= left
            {
                left -= stored.content.len();
                guarded.kept.insert(path.clone(), stored);
            }
        }
    }

    /// Returns what is guarded and differs between two looks.
    pub(crate) fn guarded_difference(
        &self,
        before: &Snapshot,
        after: &Snapshot,
    ) -> BTreeSet<RepoPath> {
        // A look of an older release did not see it.
        let (Some(old), Some(new)) = (&before.guarded, &after.guarded) else {
            return BTreeSet::new();
        };
        let mut found: BTreeSet<RepoPath> = old.git_difference(new).collect();
        let stamp = |snapshot: &Snapshot, guarded: &Guarded, path: &RepoPath| {
            let listed = snapshot.dirty.get(path).copied().flatten();
            guarded.files.get(path).copied().or(listed)
        };
        for path in old.files.keys().chain(new.files.keys()) {
            let is_same = stamp(before, old, path) == stamp(after, new, path)
                || old.kept.get(path).is_some_and(|kept| self.holds_still(path, kept))
                || (!old.files.contains_key(path) && before.was_build_output(path));
            if !is_same {
                found.insert(path.clone());
            }
        }
        found
    }

    /// Puts a protected file back to what it held before a command; false where nothing has that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_back(&self, before: &Snapshot, path: &RepoPath) -> Result<bool, RepoError> {
        let Some(guarded) = &before.guarded else { return Ok(false) };
        let (Some(stored), Some(stamp)) = (guarded.kept.get(path), guarded.files.get(path)) else {
            return Ok(false);
        };
        if stored.mode == git2::FileMode::Link {
            self.checkout.put_stored(path, Some(stored))?;
        } else {
            if self.checkout.entry(path)?.is_some_and(|entry| entry.kind == EntryKind::Link) {
                self.checkout.take_away(path)?;
            }
            self.checkout.put_file(path, &stored.content, Executable::Bits(stamp.mode))?;
        }
        Ok(true)
    }

    fn holds_still(&self, path: &RepoPath, kept: &StoredFile) -> bool {
        matches!(self.checkout.stored(path), Ok(OnDisk::Stored(now)) if now == *kept)
    }

    fn note_git(&self, git: RepoPath, guarded: &mut Guarded) {
        let Some(stamp) = self.stamp(&git) else { return };
        if FileType::from_raw_mode(stamp.mode) == FileType::Directory {
            let settings = GIT_SETTINGS.iter().filter_map(|name| git.join(name).ok());
            let hooks = git.join("hooks").map(|hooks| self.checkout.listed(&hooks).entries);
            let hooks = hooks.into_iter().flatten().map(|(path, _)| path);
            for path in settings.chain(hooks) {
                if let Some(stamp) = self.stamp(&path) {
                    guarded.git.insert(path, stamp);
                }
            }
            guarded.git.insert(git, stamp.of_place());
        } else {
            guarded.git.insert(git, stamp);
        }
    }

    /// Whether nobody could see before a command what lies at a path now, because a person had
    /// closed it or a folder around it; a command may have opened or moved it since.
    pub fn was_unseen(&self, before: &Snapshot, path: &RepoPath) -> bool {
        self.was_closed(&before.closed, path)
    }

    fn is_ignored(&self, path: &RepoPath, kind: EntryKind) -> bool {
        let asked = if kind == EntryKind::Folder { format!("{path}/") } else { path.to_string() };
        self.git.is_path_ignored(asked).unwrap_or(false)
    }
}

impl Snapshot {
    /// Whether a path lay in a folder that git ignored, and that holds what is made again.
    fn was_build_output(&self, path: &RepoPath) -> bool {
        std::iter::successors(Some(path.parent()), |folder| Some(folder.parent()))
            .take_while(|folder| !folder.is_root())
            .any(|folder| self.ignored.contains(&folder) && !is_guarded(&folder))
    }
}

/// Whether what git ignores is guarded, or what would be in it. Folders of tools in the root, which
/// are protected for nothing but the dot they begin with, are not.
fn is_guarded(path: &RepoPath) -> bool {
    let deeper = |below: &str| {
        RepoPath::parse(&format!("x/{path}{below}"))
            .is_ok_and(|deeper| protected(&deeper).is_some())
    };
    let is_in_root = path.parts().count() == 1;
    deeper("") || deeper("/x") || (is_in_root && protected(path).is_some())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests close what a person or a command closes")]
mod tests;
