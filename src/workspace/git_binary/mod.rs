//! The `git` binary, for what libgit2 cannot do or does slowly: status, fetch and push.
//!
//! In: a folder, and a remote with its token. Out: what changed in the checkout; refs fetched or
//! pushed, or why not. It always runs with neutralised configuration: no system or user settings,
//! no hook, monitor, pager, filter or credential helper of the repository starts, no prompt waits.
//! A token is handed over in memory that only git has open, never as an argument, a variable or a
//! file. What git prints is redacted. Time and output are bounded.

pub mod bundle;
mod process;
mod push;
mod retry;
mod settings_file;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::git_binary::process::{CallerEnv, GitInvocation, GitOutput};
use crate::git_binary::retry::Patience;
use crate::remote::Remote;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::clock::Clock;
use locum_base::retry::{RetryBudget, RetryWaits};

/// The tree without entries, of which attributes are read: none, so that no filter of the
/// repository runs.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The `git` binary at work in one checkout.
#[derive(Clone, Debug)]
pub struct GitBinary {
    folder: PathBuf,
    common: PathBuf,
    caller: CallerEnv,
    patience: Option<Patience>,
    only_reads: bool,
}

/// How much of a history is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDepth {
    /// All of it.
    Full,
    /// This many commits.
    Commits(u32),
}

impl GitBinary {
    /// Prepares the binary for a checkout; of `env`, the whole environment, it takes `PATH` and how
    /// to reach the network.
    pub fn new(repo: &Repo, env: &BTreeMap<String, String>) -> Self {
        Self {
            folder: repo.root().to_owned(),
            common: repo.git.commondir().to_owned(),
            caller: CallerEnv::of(env),
            patience: None,
            only_reads: false,
        }
    }

    /// Tries again what a network or a busy remote fails, within a budget of waits.
    #[must_use]
    pub fn patient(self, clock: Arc<dyn Clock>, budget: Arc<RetryBudget>) -> Self {
        Self { patience: Some(Patience { clock, budget }), ..self }
    }

    /// Refuses every push from now on, whatever the token may do.
    #[must_use]
    pub fn reading_only(self) -> Self {
        Self { only_reads: true, ..self }
    }

    /// Returns what `git status` says in its second porcelain format, entries closed by NUL: the
    /// commit, changed and untracked files one by one, ignored ones and insides of submodules not.
    /// The index is not written.
    ///
    /// # Errors
    /// When git fails, takes too long or has more to say than is taken.
    pub async fn status(&self) -> Result<Vec<u8>, RepoError> {
        let arguments = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "-z",
            "--branch",
            "--no-ahead-behind",
            "--untracked-files=all",
            "--ignored=matching",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let status = GitInvocation::local("status", words(&arguments), &self.folder)
            .env("GIT_ATTR_SOURCE", EMPTY_TREE.to_owned());
        status.succeed(&self.caller).await.map(|answer| answer.output)
    }

    /// Fetches what a refspec names (`+refs/pull/7/head:refs/locum/pull/7`); tags and `FETCH_HEAD`
    /// are left alone.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn fetch(
        &self,
        remote: &Remote,
        refspec: &str,
        depth: FetchDepth,
    ) -> Result<(), RepoError> {
        let mut arguments = words(&[
            "fetch",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
        ]);
        arguments.extend(depth.argument());
        arguments.extend(words(&["--", remote.url(), refspec]));
        let fetch = GitInvocation::with_remote("fetch", remote, arguments, &self.folder);
        self.read(&fetch).await.map(drop)
    }

    /// Returns Locum's own refs at a remote by their full names, each with its commit: carried
    /// sessions, claims, how jobs ended, and the count of what was spent.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn own_refs(&self, remote: &Remote) -> Result<Vec<(String, CommitId)>, RepoError> {
        self.list(remote, "refs/locum/*").await
    }

    /// Returns the commit that a ref at a remote is at, by its full name; `None` when there is no
    /// such ref.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn ref_tip(
        &self,
        remote: &Remote,
        full_name: &str,
    ) -> Result<Option<CommitId>, RepoError> {
        let listed = self.list(remote, full_name).await?;
        Ok(listed.into_iter().find_map(|(name, commit)| (name == full_name).then_some(commit)))
    }

    /// Returns the commit a branch of a remote is at; `None` when there is no such branch.
    ///
    /// # Errors
    /// [`RepoError::Binary`] with what git said.
    pub async fn branch_tip(
        &self,
        remote: &Remote,
        branch: &str,
    ) -> Result<Option<CommitId>, RepoError> {
        self.ref_tip(remote, &format!("refs/heads/{branch}")).await
    }

    async fn list(
        &self,
        remote: &Remote,
        pattern: &str,
    ) -> Result<Vec<(String, CommitId)>, RepoError> {
        let answer = self.read(&self.ask_refs(remote, pattern)).await?;
        Ok(listed(&answer))
    }

    /// Asks a remote for refs, outside of any repository. So nothing that a command may have put
    /// into the repository's configuration (another address, a proxy, trust in any certificate)
    /// sees the token, or answers in the remote's place.
    fn ask_refs<'a>(&'a self, remote: &'a Remote, pattern: &str) -> GitInvocation<'a> {
        let arguments = words(&["ls-remote", "--quiet", "--refs", "--", remote.url(), pattern]);
        GitInvocation::with_remote("ls-remote", remote, arguments, &self.folder)
            .env("GIT_DIR", "/dev/null".to_owned())
    }

    /// Reads from a remote, again where it failed for a moment.
    async fn read(&self, invocation: &GitInvocation<'_>) -> Result<GitOutput, RepoError> {
        let mut waits = RetryWaits::default();
        loop {
            match invocation.succeed(&self.caller).await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait(&mut waits, error).await?,
            }
        }
    }

    /// Waits before something is tried again.
    ///
    /// # Errors
    /// The error itself where it is not to be.
    async fn wait(&self, waits: &mut RetryWaits, error: RepoError) -> Result<(), RepoError> {
        match &self.patience {
            Some(patience) => patience.wait(waits, error).await,
            None => Err(error),
        }
    }
}

/// Reads the refs that a remote listed, each with its commit.
fn listed(answer: &GitOutput) -> Vec<(String, CommitId)> {
    let line = |line: &str| {
        let (commit, name) = line.split_once('\t')?;
        Some((name.to_owned(), CommitId(commit.to_owned())))
    };
    String::from_utf8_lossy(&answer.output).lines().filter_map(line).collect()
}

/// Returns the version that the binary reports.
///
/// # Errors
/// When the program does not exist or fails.
pub async fn version(folder: &Path, env: &BTreeMap<String, String>) -> Result<String, RepoError> {
    let ask = GitInvocation::local("--version", vec!["--version".into()], folder);
    let answer = ask.succeed(&CallerEnv::of(env)).await?;
    Ok(String::from_utf8_lossy(&answer.output).trim().trim_start_matches("git version ").to_owned())
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

impl FetchDepth {
    fn argument(self) -> Option<OsString> {
        match self {
            Self::Full => None,
            Self::Commits(count) => Some(format!("--depth={count}").into()),
        }
    }
}

#[cfg(test)]
mod tests;
