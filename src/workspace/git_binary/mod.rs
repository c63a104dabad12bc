//! The `git` binary, for what libgit2 cannot do or does slowly: status, fetch and push.
//!
//! In: a folder, and a remote with its token. Out: what changed in the checkout; refs fetched or
//! pushed, or why not. It always runs with neutralised configuration: no system or user settings,
//! no hook, monitor, pager, filter or credential helper of the repository starts, no prompt waits.
//! A token is handed over in memory that only git has open, never as an argument, a variable or a
//! file. What git prints is redacted. Time and output are bounded.
#![expect(
    clippy::disallowed_methods,
    reason = "the empty repository that is pushed from is made here"
)]

mod process;
mod retry;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::carried::{CLAIM_REFS, JOBS_REF, SESSION_REFS, SPENT_REF};
use crate::git_binary::process::{CallerEnv, GitInvocation, GitOutput, failed};
use crate::git_binary::retry::Patience;
use crate::remote::Remote;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::clock::Clock;
use locum_base::retry::{RetryBudget, RetryWaits};
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent, PublicationKind};

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
}

/// What a push moves: a ref at the remote, and the commit it names then; `None` takes it away.
#[derive(Clone, Copy)]
struct RefMove<'a> {
    name: &'a str,
    to: Option<&'a CommitId>,
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
        }
    }

    /// Tries again what a network or a busy remote fails, within a budget of waits.
    #[must_use]
    pub fn patient(self, clock: Arc<dyn Clock>, budget: Arc<RetryBudget>) -> Self {
        Self { patience: Some(Patience { clock, budget }), ..self }
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
        let mut arguments = words(&["ls-remote", "--quiet", "--refs", "--", remote.url()]);
        arguments.push(pattern.into());
        let list = GitInvocation::with_remote("ls-remote", remote, arguments, &self.folder);
        let answer = self.read(&list).await?;
        Ok(listed(&answer))
    }

    /// Pushes a commit to a branch of the remote. Never with force: a branch that moved meanwhile
    /// is a refusal.
    ///
    /// It is pushed from an empty repository that borrows this one's objects. So nothing that a
    /// command may have put into the repository's configuration (another address, a proxy, trust in
    /// any certificate) sees the token.
    ///
    /// # Errors
    /// [`RepoError::NotPermitted`], [`RepoError::BadName`], [`RepoError::PushRefused`] when the
    /// remote refuses (the branch moved, a hook or a rule declined, the token may not),
    /// [`RepoError::Binary`] for everything else.
    pub async fn push(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        commit: &CommitId,
        branch: &str,
    ) -> Result<(), RepoError> {
        if !permit.covers(&Intent::Publish(PublicationKind::Commit)) {
            return Err(RepoError::NotPermitted);
        }
        self.push_permitted(remote, commit, branch).await
    }

    /// Lets a branch of the remote name a commit in place of exactly the one it is at: for a branch
    /// that holds commits of ours and nothing else. One that moved meanwhile is a refusal.
    ///
    /// # Errors
    /// As [`GitBinary::push`].
    pub async fn replace_branch(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        branch: &str,
        (from, to): (&CommitId, &CommitId),
    ) -> Result<(), RepoError> {
        if !permit.covers(&Intent::Publish(PublicationKind::Commit)) {
            return Err(RepoError::NotPermitted);
        }
        let name = branch_ref(to, branch)?;
        let lease = format!("--force-with-lease={name}:{from}");
        self.push_ref(remote, RefMove { name: &name, to: Some(to) }, Some(&lease)).await
    }

    async fn push_permitted(
        &self,
        remote: &Remote,
        commit: &CommitId,
        branch: &str,
    ) -> Result<(), RepoError> {
        let name = branch_ref(commit, branch)?;
        self.push_ref(remote, RefMove { name: &name, to: Some(commit) }, None).await
    }

    /// Moves the ref of a carried session at the remote from one commit to another, `None` standing
    /// for no ref: at once, or not at all when it is not where it was looked at.
    ///
    /// # Errors
    /// As [`GitBinary::push`]; [`RepoError::NotPermitted`] when the permit is not for commenting,
    /// to which such a ref belongs.
    pub async fn push_session(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        session: &str,
        (from, to): (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        self.push_private(permit, remote, &format!("{SESSION_REFS}{session}"), (from, to)).await
    }

    /// Moves the ref that keeps count of what runs spent together, as [`GitBinary::push_session`]
    /// does.
    ///
    /// # Errors
    /// As there.
    pub async fn push_spent(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        (from, to): (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        self.push_private(permit, remote, SPENT_REF, (from, Some(to))).await
    }

    /// Moves the ref that claims a subject, as [`GitBinary::push_session`] does; a permit for
    /// commits covers it too.
    ///
    /// # Errors
    /// As there.
    pub async fn push_claim(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        subject: &str,
        moves: (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        let kinds = [PublicationKind::Comment, PublicationKind::Commit];
        permitted(permit, &kinds)?;
        self.move_ref(remote, &format!("{CLAIM_REFS}{subject}"), moves).await
    }

    /// Moves the ref that keeps how jobs ended, as [`GitBinary::push_session`] does; a permit for
    /// commits or issues covers it too.
    ///
    /// # Errors
    /// As there.
    pub async fn push_jobs(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        (from, to): (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        let kinds = [PublicationKind::Comment, PublicationKind::Commit, PublicationKind::Issue];
        permitted(permit, &kinds)?;
        self.move_ref(remote, JOBS_REF, (from, Some(to))).await
    }

    async fn push_private(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        name: &str,
        moves: (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        permitted(permit, &[PublicationKind::Comment])?;
        self.move_ref(remote, name, moves).await
    }

    async fn move_ref(
        &self,
        remote: &Remote,
        name: &str,
        (from, to): (Option<&CommitId>, Option<&CommitId>),
    ) -> Result<(), RepoError> {
        if !git2::Reference::is_valid_name(name) {
            return Err(RepoError::BadName(name.to_owned()));
        }
        let from = from.map_or("", |commit| commit.0.as_str());
        let lease = format!("--force-with-lease={name}:{from}");
        self.push_ref(remote, RefMove { name, to }, Some(&lease)).await
    }

    /// Asks a remote whether the token may push; pushes nothing, so it needs no permit.
    ///
    /// # Errors
    /// [`RepoError::PushRefused`] when it may not, [`RepoError::Binary`] when the remote cannot be
    /// asked.
    pub async fn check_push(&self, remote: &Remote, commit: &CommitId) -> Result<(), RepoError> {
        if commit.oid().is_err() {
            return Err(RepoError::NoRevision(commit.0.clone()));
        }
        let asked = RefMove { name: "refs/heads/locum-may-push", to: Some(commit) };
        let mut waits = RetryWaits::default();
        while let Err(error) = self.push_once(remote, asked, Some("--dry-run")).await {
            self.wait(&mut waits, error).await?;
        }
        Ok(())
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

    /// Pushes, again where that failed for a moment. Whether a push whose answer was lost took
    /// effect is looked up before it is repeated, and before a refusal of the repeated one counts.
    async fn push_ref(
        &self,
        remote: &Remote,
        moves: RefMove<'_>,
        flag: Option<&str>,
    ) -> Result<(), RepoError> {
        let mut waits = RetryWaits::default();
        loop {
            let error = match self.push_once(remote, moves, flag).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let unknown = retry::is_passing(&error);
            if !unknown && !waits.is_repeated() {
                return Err(error);
            }
            let given_up = self.wait(&mut waits, error).await.err();
            if self.is_moved(remote, moves).await {
                return Ok(());
            }
            if let Some(error) = given_up {
                return Err(error);
            }
        }
    }

    /// Returns whether a ref of a remote is known to be where a push was to move it.
    async fn is_moved(&self, remote: &Remote, RefMove { name, to }: RefMove<'_>) -> bool {
        let mut arguments = words(&["ls-remote", "--quiet", "--refs", "--", remote.url()]);
        arguments.push(name.into());
        let list = GitInvocation::with_remote("ls-remote", remote, arguments, &self.folder);
        let Ok(answer) = list.succeed(&self.caller).await else { return false };
        let there = listed(&answer).into_iter().find(|(known, _)| known == name);
        there.map(|(_, commit)| commit).as_ref() == to
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

    async fn push_once(
        &self,
        remote: &Remote,
        RefMove { name, to }: RefMove<'_>,
        flag: Option<&str>,
    ) -> Result<(), RepoError> {
        let refspec = format!("{}:{name}", to.map_or("", |commit| commit.0.as_str()));
        let flags = [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--no-signed",
        ];
        let mut arguments = words(&flags);
        arguments.extend(flag.map(OsString::from));
        arguments.extend(words(&["--", remote.url(), &refspec]));
        let borrowed = self.borrow_objects().map_err(|error| {
            failed("push", format!("cannot create a repository to push from: {error}"))
        })?;
        let push = GitInvocation::with_remote("push", remote, arguments, borrowed.path())
            .env("GIT_DIR", borrowed.path().display().to_string());
        let answer = push.run(&self.caller).await?;
        if answer.status.success() {
            return Ok(());
        }
        let said = push.redacted(&String::from_utf8_lossy(&answer.output), &self.caller);
        match refusal(&said, &answer.messages) {
            Some(reason) => Err(RepoError::PushRefused(reason)),
            None => Err(failed("push", answer.message())),
        }
    }

    /// Makes an empty repository that reads this one's objects and knows where its history was cut.
    fn borrow_objects(&self) -> std::io::Result<TempDir> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("refs"))?;
        fs::create_dir_all(at("objects/info"))?;
        fs::write(at("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(at("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
        fs::write(
            at("objects/info/alternates"),
            [self.common.join("objects").as_os_str().as_bytes(), b"\n"].concat(),
        )?;
        match fs::copy(self.common.join("shallow"), at("shallow")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(folder),
        }
    }
}

/// Refuses a permit that covers none of these.
fn permitted(permit: &Permit<impl Act>, kinds: &[PublicationKind]) -> Result<(), RepoError> {
    let covers = kinds.iter().any(|kind| permit.covers(&Intent::Publish(*kind)));
    covers.then_some(()).ok_or(RepoError::NotPermitted)
}

/// Reads the refs that a remote listed, each with its commit.
fn listed(answer: &GitOutput) -> Vec<(String, CommitId)> {
    let line = |line: &str| {
        let (commit, name) = line.split_once('\t')?;
        Some((name.to_owned(), CommitId(commit.to_owned())))
    };
    String::from_utf8_lossy(&answer.output).lines().filter_map(line).collect()
}

/// Returns the full name of a branch that may name a commit.
fn branch_ref(commit: &CommitId, branch: &str) -> Result<String, RepoError> {
    if !git2::Branch::name_is_valid(branch)? || branch == "HEAD" {
        return Err(RepoError::BadName(branch.to_owned()));
    }
    if commit.oid().is_err() {
        return Err(RepoError::NoRevision(commit.0.clone()));
    }
    Ok(format!("refs/heads/{branch}"))
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

/// Returns why the remote refused, from the porcelain lines of a push and git's other messages;
/// `None` when it never came to an answer.
fn refusal(porcelain: &str, messages: &str) -> Option<String> {
    let said: Vec<&str> =
        messages.lines().filter_map(|line| line.strip_prefix("remote: ")).map(str::trim).collect();
    let said = said.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let rejected = porcelain.lines().find_map(|line| line.strip_prefix("!\t"));
    if let Some(rejected) = rejected {
        let reason = rejected.rsplit('\t').next().unwrap_or(rejected);
        let reason = reason
            .rsplit_once('(')
            .and_then(|(_, reason)| reason.strip_suffix(')'))
            .unwrap_or(reason);
        let reason = match reason {
            "fetch first" | "non-fast-forward" => {
                "the branch has commits this one does not build on"
            }
            reason => reason,
        };
        return Some(if said.is_empty() { reason.to_owned() } else { format!("{reason}: {said}") });
    }
    let lower = messages.to_ascii_lowercase();
    let no_entry = [
        "authentication failed",
        "could not read username",
        "invalid credentials",
        "error: 401",
        "error: 403",
    ];
    no_entry.iter().any(|sign| lower.contains(sign)).then(|| {
        let last = messages.trim().lines().last().unwrap_or_default();
        format!("the token is missing, wrong or not allowed to write there: {last}")
    })
}

#[cfg(test)]
mod tests;
