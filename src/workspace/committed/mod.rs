//! What a commit changes, read from git's objects alone: neither the checkout nor any configuration
//! or attribute has a say in it.
//!
//! In: a base and a commit made on it. Out: every path that differs, what it was and is, the lines
//! that are new in it, where its links lead. Also names that differ from others of their folder by
//! case or invisible characters only. Judging them is the caller's part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{FileMode, ObjectType, Oid, Repository, Tree};

use crate::diff::{self, NewLines};
use crate::git_data::makes_git_data;
use crate::links::{self, OnTheWay};
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::path::RepoPath;
use locum_policy::paths::plain_spelling;

/// Paths a commit may change before no more are looked at.
pub const PATHS_LIMIT: usize = 10_000;

/// Largest file whose lines are read, in bytes.
const READ_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// Folders in folders before no deeper is looked.
const DEPTH_LIMIT: usize = 200;

/// What a commit changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitChanges {
    /// The commits it builds on.
    pub parents: Vec<CommitId>,
    /// Every path that differs from the base, in order. Not all of them when there are more than
    /// [`PATHS_LIMIT`].
    pub paths: Vec<CommittedPath>,
    /// New names that some disks take for the same as old ones: (new, old).
    pub collisions: Vec<(String, String)>,
    /// Paths that are new or changed in folders that git takes for repositories: (path, folder).
    pub git_data: Vec<(RepoPath, RepoPath)>,
    /// True when something was too much to look at.
    pub is_cut: bool,
}

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedPath {
    /// The path; the error is what can be shown of a name that is none.
    pub path: Result<RepoPath, String>,
    /// What the base has there.
    pub before: CommittedFile,
    /// What the commit has there.
    pub after: CommittedFile,
    /// Lines that are new in it.
    pub lines: NewLines,
}

/// What a tree has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommittedFile {
    /// No file: it was added, or is deleted.
    Nothing,
    /// A regular file, by its blob.
    File {
        /// Whether it may be executed.
        executable: bool,
        /// Size of the file in bytes.
        size_bytes: u64,
    },
    /// A symbolic link, by its target.
    Link {
        /// Where it points, as written.
        target: String,
        /// Where that is in the commit; `None` when it is outside, a loop or no path.
        leads_to: Option<RepoPath>,
    },
    /// A commit of another repository.
    Submodule,
}

/// An entry of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TreeEntry {
    id: Oid,
    mode: i32,
    kind: Option<ObjectType>,
}

struct CommitWalk<'r> {
    git: &'r Repository,
    root: &'r Tree<'r>,
    found: CommitChanges,
}

impl Repo {
    /// Returns what a commit changes of a base.
    ///
    /// # Errors
    /// When an object cannot be read.
    pub fn committed(
        &self,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<CommitChanges, RepoError> {
        let (before, commit) = (self.tree_of(base)?, self.find(commit)?);
        let after = commit.tree()?;
        let parents = commit.parent_ids().map(CommitId::of).collect();
        let mut walk = CommitWalk {
            git: &self.git,
            root: &after,
            found: CommitChanges { parents, ..CommitChanges::default() },
        };
        walk.compare(Some(&before), Some(&after), &mut Vec::new())?;
        Ok(walk.found)
    }

    /// Returns true when two commits hold the same files and build on the same commits.
    ///
    /// # Errors
    /// When one is not there.
    pub fn is_same_change(&self, one: &CommitId, other: &CommitId) -> Result<bool, RepoError> {
        let (one, other) = (self.find(one)?, self.find(other)?);
        Ok(one.tree_id() == other.tree_id() && one.parent_ids().eq(other.parent_ids()))
    }
}

impl CommitWalk<'_> {
    fn compare(
        &mut self,
        before: Option<&Tree<'_>>,
        after: Option<&Tree<'_>>,
        folder: &mut Vec<Vec<u8>>,
    ) -> Result<(), RepoError> {
        if folder.len() > DEPTH_LIMIT {
            self.found.is_cut = true;
            return Ok(());
        }
        let (old, new) = (entries(before), entries(after));
        self.note_collisions(&old, &new, folder);
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (old.get(name).copied(), new.get(name).copied());
            if was == is {
                continue;
            }
            if self.found.paths.len() >= PATHS_LIMIT {
                self.found.is_cut = true;
                return Ok(());
            }
            folder.push(name.clone());
            self.entry(was, is, folder)?;
            folder.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        was: Option<TreeEntry>,
        is: Option<TreeEntry>,
        at: &mut Vec<Vec<u8>>,
    ) -> Result<(), RepoError> {
        let tree = |entry: Option<TreeEntry>| {
            entry.filter(TreeEntry::is_folder).map(|entry| self.git.find_tree(entry.id)).transpose()
        };
        let (old_tree, new_tree) = (tree(was)?, tree(is)?);
        let (was, is) =
            (was.filter(|entry| !entry.is_folder()), is.filter(|entry| !entry.is_folder()));
        if was.is_some() || is.is_some() {
            let path = path_of(at);
            let (before, old) = self.kept(was, path.as_ref().ok())?;
            let (after, new) = self.kept(is, path.as_ref().ok())?;
            let lines = diff::new_lines(&old, &new);
            if let (Ok(path), true) = (&path, is.is_some()) {
                let is_there =
                    |path: &RepoPath| self.root.get_path(Path::new(path.as_str())).is_ok();
                let folder = makes_git_data(path, is_there);
                self.found.git_data.extend(folder.map(|folder| (path.clone(), folder)));
            }
            self.found.paths.push(CommittedPath { path, before, after, lines });
        }
        if old_tree.is_some() || new_tree.is_some() {
            self.compare(old_tree.as_ref(), new_tree.as_ref(), at)?;
        }
        Ok(())
    }

    /// Returns what an entry is, and the content that is compared.
    fn kept(
        &self,
        entry: Option<TreeEntry>,
        path: Option<&RepoPath>,
    ) -> Result<(CommittedFile, Vec<u8>), RepoError> {
        let Some(entry) = entry else { return Ok((CommittedFile::Nothing, Vec::new())) };
        if entry.kind != Some(ObjectType::Blob) {
            return Ok((CommittedFile::Submodule, Vec::new()));
        }
        let (size, _) = self.git.odb()?.read_header(entry.id)?;
        let size_bytes = u64::try_from(size).unwrap_or(u64::MAX);
        let content = if size_bytes > READ_LIMIT_BYTES {
            Vec::new()
        } else {
            self.git.find_blob(entry.id)?.content().to_vec()
        };
        let file = if entry.mode == i32::from(FileMode::Link) {
            let target = std::str::from_utf8(&content).ok();
            let leads_to = path.zip(target).and_then(|(path, target)| self.follow(path, target));
            CommittedFile::Link { target: String::from_utf8_lossy(&content).into_owned(), leads_to }
        } else {
            let executable = entry.mode == i32::from(FileMode::BlobExecutable);
            CommittedFile::File { executable, size_bytes }
        };
        Ok((file, content))
    }

    /// Follows a link and every other link on its way, in the commit. Parts that are not there stay
    /// as they are.
    fn follow(&self, link: &RepoPath, target: &str) -> Option<RepoPath> {
        if target.is_empty() || target.starts_with('/') {
            return None;
        }
        let look = |at: &RepoPath| {
            let entry = self.root.get_path(Path::new(at.as_str())).ok();
            let is_link =
                |entry: &git2::TreeEntry<'_>| entry.filemode() == i32::from(FileMode::Link);
            let Some(entry) = entry.filter(is_link) else { return Ok(OnTheWay::NotALink) };
            let target = self.git.find_blob(entry.id())?.content().to_vec();
            Ok::<_, git2::Error>(OnTheWay::Link { target, roots: Vec::new() })
        };
        links::follow(link.parent(), target, look).ok()
    }

    fn note_collisions(
        &mut self,
        old: &BTreeMap<Vec<u8>, TreeEntry>,
        new: &BTreeMap<Vec<u8>, TreeEntry>,
        folder: &[Vec<u8>],
    ) {
        let added = new.keys().filter(|name| !old.contains_key(*name));
        let added: Vec<(&Vec<u8>, String)> =
            added.filter_map(|name| Some((name, plain_name(name)?))).collect();
        if added.is_empty() {
            return;
        }
        let mut known: BTreeMap<String, &Vec<u8>> = BTreeMap::new();
        for name in new.keys().filter(|name| old.contains_key(*name)) {
            known.extend(plain_name(name).map(|plain| (plain, name)));
        }
        for (name, plain) in added {
            if let Some(other) = known.insert(plain, name) {
                self.found.collisions.push((shown(folder, name), shown(folder, other)));
            }
        }
    }
}

impl TreeEntry {
    fn is_folder(&self) -> bool {
        self.kind == Some(ObjectType::Tree)
    }
}

fn entries(tree: Option<&Tree<'_>>) -> BTreeMap<Vec<u8>, TreeEntry> {
    let entries = tree.into_iter().flat_map(Tree::iter);
    entries
        .map(|entry| {
            (
                entry.name_bytes().to_vec(),
                TreeEntry { id: entry.id(), mode: entry.filemode(), kind: entry.kind() },
            )
        })
        .collect()
}

/// A name of a tree is a path only when it means the same in every spelling: git has no names like
/// `a/../b`.
fn path_of(parts: &[Vec<u8>]) -> Result<RepoPath, String> {
    let lossy = || {
        parts
            .iter()
            .map(|part| String::from_utf8_lossy(part).escape_debug().to_string())
            .collect::<Vec<_>>()
            .join("/")
    };
    let names = parts
        .iter()
        .map(|part| std::str::from_utf8(part))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| lossy())?;
    let path = RepoPath::parse(&names.join("/")).map_err(|_| lossy())?;
    if path.parts().eq(names.iter().copied()) { Ok(path) } else { Err(lossy()) }
}

fn plain_name(name: &[u8]) -> Option<String> {
    let path = RepoPath::parse(std::str::from_utf8(name).ok()?).ok()?;
    plain_spelling(&path).map(|plain| plain.as_str().to_owned())
}

fn shown(folder: &[Vec<u8>], name: &[u8]) -> String {
    folder
        .iter()
        .map(Vec::as_slice)
        .chain([name])
        .map(String::from_utf8_lossy)
        .collect::<Vec<_>>()
        .join("/")
}

#[cfg(test)]
mod tests;
