//! `Repo`: git objects and refs of the checkout. It never asks about the whole tree: the run knows what it touched.

use std::collections::BTreeSet;
use std::path::Path;

use crate::base::path::RepoPath;
use crate::workspace::diff::FileChange;

/// Git objects and refs of the checkout.
pub struct Repo {
    _git: git2::Repository,
}

/// Why git did not do it.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// The folder is no git repository.
    #[error("`{0}` is not a git repository")]
    NotARepository(String),
    /// The repository has no commit yet.
    #[error("the repository has no commit yet")]
    Empty,
    /// A ref or revision is not there.
    #[error("revision `{0}` does not exist")]
    NoRevision(String),
    /// libgit2 said no.
    #[error("git: {0}")]
    Git(#[from] git2::Error),
    /// Reading or writing a file failed.
    #[error(transparent)]
    File(#[from] crate::workspace::checkout::FileError),
    /// The remote refused a push.
    #[error("the remote refused the push: {0}")]
    PushRefused(String),
    /// The `git` program failed.
    #[error("`git {command}` failed: {message}")]
    Binary {
        /// Its first words.
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

impl Repo {
    /// Opens the repository that holds `folder`.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(_folder: &Path) -> Result<Self, RepoError> {
        todo!()
    }

    /// Returns the root of the checkout.
    #[must_use]
    pub fn root(&self) -> &Path {
        todo!()
    }

    /// Returns the commit a revision names (`HEAD`, `main`, `origin/main`, a full id).
    ///
    /// # Errors
    /// When there is none; [`RepoError::Empty`] for `HEAD` of a repository without commits.
    pub fn commit_of(&self, _revision: &str) -> Result<CommitId, RepoError> {
        todo!()
    }

    /// Returns the name of the branch `HEAD` is on; `None` when detached.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        todo!()
    }

    /// Reads one file of a commit; `None` when it is not there or not a regular file. At most `limit_bytes`.
    ///
    /// # Errors
    /// When the commit is not there or the file is larger.
    pub fn file_at(&self, _commit: &CommitId, _path: &RepoPath, _limit_bytes: u64) -> Result<Option<TreeFile>, RepoError> {
        todo!()
    }

    /// Lists the files of a commit below a folder, sorted, at most `limit` of them; none when the folder is not there.
    ///
    /// # Errors
    /// When the commit is not there.
    pub fn list_at(&self, _commit: &CommitId, _folder: &RepoPath, _limit: usize) -> Result<Vec<RepoPath>, RepoError> {
        todo!()
    }

    /// Records the touched files on the private ref `refs/locum/{session}`, as a child of the checkpoint before or of `base`.
    ///
    /// # Errors
    /// When a file cannot be read or git fails; the ref is then as it was.
    pub fn checkpoint(&self, _session: &str, _base: &CommitId, _touched: &BTreeSet<RepoPath>, _label: &str) -> Result<CommitId, RepoError> {
        todo!()
    }

    /// Brings the touched files back to what they are in a commit; files that are not in it are removed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn restore(&self, _commit: &CommitId, _touched: &BTreeSet<RepoPath>) -> Result<(), RepoError> {
        todo!()
    }

    /// Compares the touched files with a commit; files that are equal are left out.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn changes(&self, _base: &CommitId, _touched: &BTreeSet<RepoPath>) -> Result<Vec<FileChange>, RepoError> {
        todo!()
    }

    /// Makes a commit object; no ref moves.
    ///
    /// # Errors
    /// When a file cannot be read or git fails.
    pub fn commit(&self, _commit: &NewCommit<'_>) -> Result<CommitId, RepoError> {
        todo!()
    }
}
