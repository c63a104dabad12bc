//! What a command changed in the checkout: git's view of it before and after, compared.
//!
//! In: two snapshots. Out: the files that are different between them. A file that was dirty before
//! and was left alone is not touched; ignored files count only where they are protected, and names
//! that are no [`RepoPath`] never do. A snapshot costs one `git status`, a walk through git's index
//! and through the folders that git does not ignore, and one look at each dirty file; a program
//! that changes a file and sets its times back is still seen, by the time of its inode.

use std::collections::{BTreeMap, BTreeSet};

use git2::{Delta, DiffOptions, IndexEntryExtendedFlag, IndexEntryFlag};

use crate::closed::{ClosedLook, ClosedPlaces};
use crate::file_stamp::FileStamp;
use crate::git_binary::GitBinary;
use crate::guarded::Guarded;
use crate::recorded_files::RecordedFiles;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::path::RepoPath;

/// Fields in front of the path of a plain entry of `git status`.
const PLAIN_FIELDS: usize = 8;

/// Times one looks until nothing is closed any more: folders first, then the files in them.
const LOOKS_LIMIT: usize = 4;

/// The checkout as git sees it at one moment: the commit, and every changed or untracked file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    head: Option<CommitId>,
    pub(crate) dirty: BTreeMap<RepoPath, Option<FileStamp>>,
    /// Files that git ignores, and folders with all that is in them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) ignored: BTreeSet<RepoPath>,
    /// What git does not show and no command may change; `None` where nobody looked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) guarded: Option<Guarded>,
    /// What its owner may not look into, and stays so.
    #[serde(default, skip_serializing_if = "ClosedPlaces::is_empty")]
    pub(crate) closed: ClosedPlaces,
    /// The dirty files as they were; `None` where nobody recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<RecordedFiles>,
}

impl Repo {
    /// Looks at the checkout before a command that may write. Nothing is changed.
    ///
    /// # Errors
    /// When `git status` fails.
    pub async fn snapshot(&self, git: &GitBinary) -> Result<Snapshot, RepoError> {
        self.look_once(git, &mut ClosedLook::new(None)).await
    }

    /// Looks at the checkout after a command, of which there is a look before. What the command
    /// closed to its owner is opened.
    ///
    /// # Errors
    /// When `git status` fails.
    pub async fn snapshot_after(
        &self,
        git: &GitBinary,
        before: &Snapshot,
    ) -> Result<Snapshot, RepoError> {
        let mut tries = 0;
        loop {
            let mut closed = ClosedLook::new(Some(&before.closed));
            let snapshot = self.look_once(git, &mut closed).await?;
            tries += 1;
            if !closed.opened || tries == LOOKS_LIMIT {
                return Ok(snapshot);
            }
        }
    }

    async fn look_once(
        &self,
        git: &GitBinary,
        closed: &mut ClosedLook<'_>,
    ) -> Result<Snapshot, RepoError> {
        let status = git.status().await?;
        let mut snapshot = parse_status(&status);
        if let Some(head) = &snapshot.head {
            // What git compared knows no attributes, so it takes line ends for a change.
            for path in self.converted_as_in(head, changed_in_checkout(&status)) {
                snapshot.dirty.remove(&path);
            }
        }
        self.look_further(&mut snapshot, &repositories_in(&status), closed);
        for path in snapshot.dirty.keys() {
            self.open_if_new(path, closed);
        }
        self.keep_guarded(&mut snapshot);
        let unwatched = self.unwatched_changes(snapshot.head.as_ref());
        snapshot.dirty.extend(unwatched.into_iter().map(|path| (path, None)));
        for (path, stamp) in &mut snapshot.dirty {
            // A path behind a link that is new is not there any more as git knows it.
            *stamp = self.stamp(path);
        }
        snapshot.closed = std::mem::take(&mut closed.closed);
        Ok(snapshot)
    }

    /// Returns the files that are different in two snapshots; also those that differ between their
    /// commits.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn touched(
        &self,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let mut touched = before.difference(after);
        // What lay in another repository before is not this one's to look after.
        touched.retain(|path| {
            !before.had_repository_around(path)
                || !matches!(self.other_repository(path), Ok(Some(_)))
        });
        if let (Some(old), Some(new)) = (&before.head, &after.head)
            && old != new
        {
            touched.extend(self.paths_between(old, new)?);
        }
        touched.extend(self.planted(before, after, &touched));
        touched.extend(self.guarded_difference(before, after));
        Ok(touched)
    }

    /// Returns the changed files among those marked `assume-unchanged` or `skip-worktree`, which
    /// `git status` leaves out. None where the index has a form that only git itself reads.
    fn unwatched_changes(&self, head: Option<&CommitId>) -> Vec<RepoPath> {
        let Ok(mut index) = self.git.index() else { return Vec::new() };
        if index.read(false).is_err() {
            return Vec::new();
        }
        let unwatched = index.iter().filter_map(|entry| {
            let extended = IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended);
            let is_left_out = extended.is_skip_worktree();
            let is_unwatched =
                is_left_out || IndexEntryFlag::from_bits_truncate(entry.flags).is_valid();
            let path = repo_path(&entry.path).filter(|_| is_unwatched)?;
            let is_there = || self.checkout.entry(&path).is_ok_and(|entry| entry.is_some());
            (!is_left_out || is_there()).then_some(path)
        });
        let is_changed = |path: &RepoPath| {
            head.is_none_or(|head| {
                let changes = self.changes(head, &BTreeSet::from([path.clone()]));
                !changes.is_ok_and(|changes| changes.is_empty())
            })
        };
        unwatched.filter(is_changed).collect()
    }

    fn paths_between(
        &self,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let mut options = DiffOptions::new();
        options.ignore_submodules(true);
        let diff = self.git.diff_tree_to_tree(
            Some(&self.tree_of(old)?),
            Some(&self.tree_of(new)?),
            Some(&mut options),
        )?;
        let changed = diff.deltas().filter(|delta| delta.status() != Delta::Unmodified);
        let files = changed
            .flat_map(|delta| [delta.old_file().path_bytes(), delta.new_file().path_bytes()]);
        Ok(files.flatten().filter_map(repo_path).collect())
    }
}

impl Snapshot {
    /// Returns the files that had changes that are in no commit.
    pub fn dirty(&self) -> impl Iterator<Item = &RepoPath> {
        self.dirty.keys()
    }

    /// Returns true when a path held what is in no commit: changes, or what git does not keep, or
    /// what nobody could see.
    pub fn is_dirty(&self, path: &RepoPath) -> bool {
        let is_guarded = || self.guarded.as_ref().is_some_and(|guarded| guarded.holds(path));
        self.dirty.contains_key(path) || is_guarded() || self.closed.hides(path)
    }

    /// Returns true when a path can be put back to what it held, although that is in no commit.
    pub fn keeps(&self, path: &RepoPath) -> bool {
        self.guarded.as_ref().is_some_and(|guarded| guarded.keeps(path))
    }

    /// Returns what is ignored and was not in a snapshot before.
    pub(crate) fn newly_ignored(&self, before: &Self) -> impl Iterator<Item = &RepoPath> {
        self.ignored.iter().filter(|path| !before.is_dirty(path) && !before.ignores(path))
    }

    /// Returns the files whose state differs: dirty in one only, or dirty in both and not the same.
    fn difference(&self, after: &Self) -> BTreeSet<RepoPath> {
        let differs = |path: &&RepoPath| {
            self.dirty.get(*path) != after.dirty.get(*path) && !self.ignores(path)
        };
        self.dirty.keys().chain(after.dirty.keys()).filter(differs).cloned().collect()
    }

    /// Whether a folder above a path had a `.git`.
    fn had_repository_around(&self, path: &RepoPath) -> bool {
        let above = std::iter::successors(Some(path.parent()), |path| Some(path.parent()));
        above
            .take_while(|folder| !folder.is_root())
            .filter_map(|folder| folder.join(".git").ok())
            .any(|git| self.guarded.as_ref().is_some_and(|guarded| guarded.git.contains_key(&git)))
    }

    fn ignores(&self, path: &RepoPath) -> bool {
        !self.dirty.contains_key(path)
            && std::iter::successors(Some(path.clone()), |path| Some(path.parent()))
                .take_while(|path| !path.is_root())
                .any(|path| self.ignored.contains(&path))
    }
}

/// Reads the second porcelain format of `git status -z`; the stamps are left empty.
fn parse_status(status: &[u8]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for entry in status.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(entry);
        if let Some(head) = text.strip_prefix("# branch.oid ") {
            snapshot.head = (head != "(initial)").then(|| CommitId(head.to_owned()));
        }
        // The path comes last, after as many fields as the kind of entry has.
        let fields = match entry.first() {
            Some(b'1') => PLAIN_FIELDS,
            Some(b'u') => 10,
            Some(b'?' | b'!') => 1,
            _ => continue,
        };
        let path = entry.splitn(fields + 1, |byte| *byte == b' ').nth(fields);
        let Some(path) = path else { continue };
        if entry.starts_with(b"!") {
            snapshot.ignored.extend(repo_path(path.strip_suffix(b"/").unwrap_or(path)));
        } else if let Some(path) = repo_path(path).filter(|_| !path.ends_with(b"/")) {
            snapshot.dirty.insert(path, None);
        }
    }
    snapshot
}

/// Reads which files are in the index as in the commit and look otherwise in the checkout.
fn changed_in_checkout(status: &[u8]) -> Vec<RepoPath> {
    let path = |entry: &[u8]| {
        let fields = entry.strip_prefix(b"1 .M ")?;
        repo_path(fields.splitn(PLAIN_FIELDS - 1, |byte| *byte == b' ').last()?)
    };
    status.split(|byte| *byte == 0).filter_map(path).collect()
}

/// Reads which untracked folders git takes for repositories of their own: it lists no file of them.
fn repositories_in(status: &[u8]) -> BTreeSet<RepoPath> {
    let entries = status.split(|byte| *byte == 0);
    entries.filter_map(|entry| repo_path(entry.strip_prefix(b"? ")?.strip_suffix(b"/")?)).collect()
}

fn repo_path(bytes: &[u8]) -> Option<RepoPath> {
    RepoPath::parse(std::str::from_utf8(bytes).ok()?).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
#[expect(clippy::disallowed_types, reason = "a test has git write an index")]
mod tests;
