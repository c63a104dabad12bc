//! `Repo`: git objects and refs of the checkout. It never asks about the whole tree: the run knows
//! what it touched.
//!
//! In: names of commits. Out: commits, and files of them. What differs is in `changes`, recording
//! in `checkpoint` and `commit`; whatever needs the network or a look at every file is
//! `git_binary`'s. libgit2 runs no hook, filter or monitor that a repository configures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use git2::{
    BranchType, Commit, ErrorCode, FileMode, ObjectType, Oid, Repository, RepositoryOpenFlags,
    RepositoryState, Signature, Tree, TreeEntry,
};

use crate::checkout::{Checkout, FileError};
use locum_base::path::RepoPath;

/// Git objects and refs of the checkout.
pub struct Repo {
    pub(super) git: Repository,
    pub(super) checkout: Checkout,
}

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// The folder is not a git repository.
    #[error("`{0}` is not a git repository")]
    NotARepository(String),
    /// The repository has no files beside it.
    #[error("`{0}` is a bare repository; a checkout is needed")]
    Bare(String),
    /// The repository belongs to another user, and git does not trust it.
    #[error(
        "`{0}` belongs to another user; to use it, run `git config --global --add safe.directory \
         {0}`"
    )]
    NotTrusted(String),
    /// The repository has no commit yet.
    #[error("the repository has no commit yet")]
    Empty,
    /// A ref or revision is not there.
    #[error("revision `{0}` does not exist")]
    NoRevision(String),
    /// A name cannot be one of a branch or ref.
    #[error("`{0}` is not a valid branch name")]
    BadName(String),
    /// A branch is checked out, so that it may not move below its files.
    #[error("branch `{0}` is checked out and cannot be moved")]
    BranchInUse(String),
    /// A branch holds commits that the new one does not build on.
    #[error("branch `{0}` has commits that the new one does not build on; it is never overwritten")]
    NotFastForward(String),
    /// A file is kept by git through a filter, which is a program and is not run.
    #[error("`{path}` uses the git filter `{filter}`, which is never run; it cannot be committed")]
    Filtered {
        /// Path in the checkout.
        path: RepoPath,
        /// The filter's name in `.gitattributes`.
        filter: String,
    },
    /// The index has a form that only git itself reads, or none.
    #[error("git's index of the checkout cannot be read: {0}")]
    Index(git2::Error),
    /// libgit2 reports an error.
    #[error("git: {0}")]
    Git(#[from] git2::Error),
    /// Reading or writing a file failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The permit was given for something else.
    #[error("the permit does not cover publishing commits")]
    NotPermitted,
    /// The remote refused a push.
    #[error("the remote refused the push: {0}")]
    PushRefused(String),
    /// A commit has something that the forge cannot be given path by path.
    #[error("the commit cannot be recreated through the forge: {0}")]
    NotRebuildable(String),
    /// The checkout of a sub-task cannot be made or removed.
    #[error("the worktree `{folder}`: {message}")]
    Worktree {
        /// Folder of the worktree.
        folder: String,
        /// What the operating system said.
        message: String,
    },
    /// The `git` program failed.
    #[error("`git {command}` failed: {message}")]
    Binary {
        /// First words of the command.
        command: String,
        /// The end of what it printed.
        message: String,
    },
}

/// Names one commit: 40 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

/// A text file of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Where it lies.
    pub path: RepoPath,
    /// Its content; bytes that are no UTF-8 are replaced.
    pub text: String,
}

/// A commit about to be made from a base and the files a run touched.
#[derive(Clone, Debug)]
pub struct NewCommit<'a> {
    /// The parent, and the tree it starts from.
    pub parent: &'a CommitId,
    /// Paths taken from the checkout; a path missing there is removed.
    pub touched: &'a BTreeSet<RepoPath>,
    /// Subject, body and trailers.
    pub message: &'a str,
    /// Name and e-mail of author and committer.
    pub author: (&'a str, &'a str),
}

/// What the default branch is called, as far as a clone knows it: as it was cloned, else by one of
/// git's usual names.
const DEFAULT_BRANCHES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

impl Repo {
    /// Opens the repository that holds `folder`.
    ///
    /// # Errors
    /// When there is none, it has no checkout, or its checkout is not the one that holds `folder`.
    pub fn open(folder: &Path) -> Result<Self, RepoError> {
        let shown = folder.display().to_string();
        let absent = |_| RepoError::NotARepository(shown.clone());
        let folder = folder.canonicalize().map_err(absent)?;
        // Objects are only ever made of ids that were just read or written: looking each one up
        // again doubles the cost.
        git2::opts::strict_object_creation(false);
        let no_ceilings: [PathBuf; 0] = [];
        let git = Repository::open_ext(&folder, RepositoryOpenFlags::empty(), no_ceilings)
            .map_err(|error| match error.code() {
                ErrorCode::NotFound => RepoError::NotARepository(shown.clone()),
                ErrorCode::Owner => RepoError::NotTrusted(shown.clone()),
                _ => RepoError::Git(error),
            })?;
        let root = git.workdir().ok_or_else(|| RepoError::Bare(shown.clone()))?;
        let checkout = Checkout::open(root).map_err(absent)?;
        // `core.worktree` may name a place that has nothing to do with the requested folder.
        if !folder.starts_with(checkout.root()) {
            return Err(RepoError::NotARepository(shown));
        }
        Ok(Self { git, checkout })
    }

    /// Returns the root of the checkout, absolute and free of links.
    pub fn root(&self) -> &Path {
        self.checkout.root()
    }

    /// Reads the index, without which nobody can tell what a command changed.
    ///
    /// # Errors
    /// When it is sparse or split, which only git itself reads, or broken.
    pub fn check_index(&self) -> Result<(), RepoError> {
        let read = self.git.index().and_then(|mut index| index.read(false));
        read.map_err(RepoError::Index)
    }

    /// Returns git's own folders: the checkout's, and the one it shares with its worktrees where
    /// that is another.
    pub fn git_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.git.path().to_owned(), self.git.commondir().to_owned()];
        folders.dedup();
        folders
    }

    /// Returns the address of a remote by its name; `None` where there is none.
    pub fn remote_url(&self, name: &str) -> Option<String> {
        let remote = self.git.find_remote(name).ok()?;
        remote.url().ok().map(str::to_owned)
    }

    /// Returns the commit a revision names (`HEAD`, `main`, `origin/main`, a full id).
    ///
    /// # Errors
    /// When there is none; [`RepoError::Empty`] for `HEAD` of a repository without commits.
    pub fn commit_of(&self, revision: &str) -> Result<CommitId, RepoError> {
        let unborn =
            matches!(self.git.head(), Err(error) if error.code() == ErrorCode::UnbornBranch);
        if revision == "HEAD" && unborn {
            return Err(RepoError::Empty);
        }
        let absent = |_| RepoError::NoRevision(revision.to_owned());
        let object = self.git.revparse_single(revision).map_err(absent)?;
        Ok(CommitId::of(object.peel(ObjectType::Commit).map_err(absent)?.id()))
    }

    /// Returns true when the repository holds only the newest part of its history.
    pub fn is_shallow(&self) -> bool {
        self.git.is_shallow()
    }

    /// Returns the name of the branch `HEAD` is on; `None` when detached.
    pub fn branch(&self) -> Option<String> {
        let head = self.git.find_reference("HEAD").ok()?;
        let target = head.symbolic_target().ok().flatten()?;
        target.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// Returns the tip of the default branch, as far as this clone knows it: the remote's, as it
    /// was cloned, else a branch with one of git's usual names.
    pub fn default_branch_tip(&self) -> Option<CommitId> {
        DEFAULT_BRANCHES.iter().find_map(|name| self.commit_of(name).ok())
    }

    /// Returns true where the checkout's files come from a commit that the default branch has, and
    /// git is not bringing others into them: by a merge, also a squashed one, a cherry-pick, a
    /// revert, a rebase or patches.
    pub fn has_files_of_default_branch(&self) -> bool {
        let brings_none =
            matches!(self.git.state(), RepositoryState::Clean | RepositoryState::Bisect)
                && !self.git.path().join("SQUASH_MSG").exists();
        brings_none && self.commit_of("HEAD").is_ok_and(|head| self.is_in_default_branch(&head))
    }

    /// Returns true for a commit that the default branch has: the remote's where one is known,
    /// since what a clone adds to its own nobody there has seen, else this clone's. Where none has
    /// such a name, the only branch there is counts; without a branch, none does.
    fn is_in_default_branch(&self, commit: &CommitId) -> bool {
        let tip = self.default_branch_tip().or_else(|| self.only_branch_tip());
        tip.is_some_and(|tip| {
            tip == *commit || self.merge_base(&tip, commit).is_ok_and(|base| base == *commit)
        })
    }

    /// Returns the tip of the only branch, where there is no other, here or at a remote.
    fn only_branch_tip(&self) -> Option<CommitId> {
        let mut branches = self.git.branches(None).ok()?;
        let (branch, kind) = branches.next()?.ok()?;
        if kind != BranchType::Local || branches.next().is_some() {
            return None;
        }
        branch.get().target().map(|tip| CommitId(tip.to_string()))
    }

    /// Reads one file of a commit; `None` when it is not there or not a regular file. At most
    /// `limit_bytes`.
    ///
    /// # Errors
    /// When the commit is not there or the file is larger.
    pub fn file_at(
        &self,
        commit: &CommitId,
        path: &RepoPath,
        limit_bytes: u64,
    ) -> Result<Option<TreeFile>, RepoError> {
        let tree = self.tree_of(commit)?;
        let entry = entry_at(&tree, path)?.filter(|entry| is_regular(entry.filemode()));
        let Some(entry) = entry else { return Ok(None) };
        let (size, _) = self.git.odb()?.read_header(entry.id())?;
        let size_bytes = u64::try_from(size).unwrap_or(u64::MAX);
        if size_bytes > limit_bytes {
            return Err(FileError::TooLarge { path: path.clone(), size_bytes, limit_bytes }.into());
        }
        let blob = self.git.find_blob(entry.id())?;
        Ok(Some(TreeFile {
            path: path.clone(),
            text: String::from_utf8_lossy(blob.content()).into_owned(),
        }))
    }

    /// Reads one file of a commit that must be a regular file of UTF-8 text if it is there at all.
    /// At most `limit_bytes`.
    ///
    /// # Errors
    /// As [`Self::file_at`], and for other bytes, a folder, and a link or submodule on the way.
    pub fn text_at(
        &self,
        commit: &CommitId,
        path: &RepoPath,
        limit_bytes: u64,
    ) -> Result<Option<String>, RepoError> {
        let tree = self.tree_of(commit)?;
        let mut at = RepoPath::root();
        for part in path.parts() {
            at = at.child(part).map_err(|_| FileError::Missing(path.clone()))?;
            let Some(mode) = entry_at(&tree, &at)?.map(|entry| entry.filemode()) else {
                return Ok(None);
            };
            let what = match mode {
                mode if mode == i32::from(FileMode::Link) => "a symbolic link",
                mode if mode == i32::from(FileMode::Commit) => "a submodule",
                mode if mode == i32::from(FileMode::Tree) && at == *path => "a folder",
                _ => continue,
            };
            return Err(FileError::NotAFile { path: at, what }.into());
        }
        let Some(file) = self.file_at(commit, path, limit_bytes)? else { return Ok(None) };
        let is_text = entry_at(&tree, path)?
            .map(|entry| self.git.find_blob(entry.id()))
            .transpose()?
            .is_none_or(|blob| std::str::from_utf8(blob.content()).is_ok());
        if is_text { Ok(Some(file.text)) } else { Err(FileError::NotText(path.clone()).into()) }
    }

    /// Lists what lies at the root of a commit, in git's order, each with whether it is a folder.
    /// Names that are no [`RepoPath`] are left out.
    ///
    /// # Errors
    /// When the commit is not there.
    pub fn root_entries(&self, commit: &CommitId) -> Result<Vec<(RepoPath, bool)>, RepoError> {
        let tree = self.tree_of(commit)?;
        let entries = tree.iter().filter_map(|entry| {
            let path = RepoPath::root().child(entry.name().ok()?).ok()?;
            Some((path, entry.kind() == Some(ObjectType::Tree)))
        });
        Ok(entries.collect())
    }

    /// Lists the regular files of a commit below a folder, sorted, at most `limit` of them; none
    /// when the folder is not there. Names that are no [`RepoPath`] are left out.
    ///
    /// # Errors
    /// When the commit is not there.
    pub fn list_at(
        &self,
        commit: &CommitId,
        folder: &RepoPath,
        limit: usize,
    ) -> Result<Vec<RepoPath>, RepoError> {
        let root = self.tree_of(commit)?;
        let tree = if folder.is_root() {
            Some(root)
        } else {
            let entry = entry_at(&root, folder)?;
            let entry = entry.filter(|entry| entry.kind() == Some(ObjectType::Tree));
            entry.map(|entry| self.git.find_tree(entry.id())).transpose()?
        };
        let mut found = Vec::new();
        if let Some(tree) = tree {
            self.list_below(&tree, folder, limit, &mut found)?;
        }
        Ok(found)
    }

    pub(super) fn find(&self, commit: &CommitId) -> Result<Commit<'_>, RepoError> {
        let absent = |_| RepoError::NoRevision(commit.0.clone());
        self.git.find_commit(commit.oid().map_err(absent)?).map_err(absent)
    }

    pub(super) fn tree_of(&self, commit: &CommitId) -> Result<Tree<'_>, RepoError> {
        Ok(self.find(commit)?.tree()?)
    }

    /// Makes a commit that never becomes a part of the user's history; no ref moves.
    pub(super) fn own_commit(
        &self,
        message: &str,
        tree: &Tree<'_>,
        parents: &[&Commit<'_>],
    ) -> Result<CommitId, RepoError> {
        let author = Signature::now("locum", "locum@localhost")?;
        Ok(CommitId::of(self.git.commit(None, &author, &author, message, tree, parents)?))
    }

    /// Git's own order of a tree is the order of whole paths.
    fn list_below(
        &self,
        tree: &Tree<'_>,
        folder: &RepoPath,
        limit: usize,
        found: &mut Vec<RepoPath>,
    ) -> Result<(), RepoError> {
        for entry in tree {
            if found.len() >= limit {
                return Ok(());
            }
            let Some(path) = entry.name().ok().and_then(|name| folder.child(name).ok()) else {
                continue;
            };
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    self.list_below(&self.git.find_tree(entry.id())?, &path, limit, found)?
                }
                _ if is_regular(entry.filemode()) => found.push(path),
                _ => {}
            }
        }
        Ok(())
    }
}

impl CommitId {
    pub(super) fn of(id: Oid) -> Self {
        Self(id.to_string())
    }

    pub(super) fn oid(&self) -> Result<Oid, git2::Error> {
        Oid::from_str(&self.0)
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Returns what a tree has at a path, if anything.
///
/// # Errors
/// When git cannot read it.
pub(super) fn entry_at(
    tree: &Tree<'_>,
    path: &RepoPath,
) -> Result<Option<TreeEntry<'static>>, RepoError> {
    match tree.get_path(Path::new(path.as_str())) {
        Ok(entry) => Ok(Some(entry)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn is_regular(mode: i32) -> bool {
    [FileMode::Blob, FileMode::BlobExecutable, FileMode::BlobGroupWritable]
        .map(i32::from)
        .contains(&mode)
}

#[cfg(test)]
mod tests;
