//! Pushes: under a permit, with a lease where a ref moves, repeated only where the answer was lost.
//!
//! In: a commit and where it goes. Out: the ref is there, or why not. What a push moves is looked
//! up before it is repeated.
#![expect(
    clippy::disallowed_methods,
    reason = "the empty repository that is pushed from is made here"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use tempfile::TempDir;

use crate::carried::{CLAIM_REFS, JOBS_REF, MEMORY_REF, SESSION_REFS, SPENT_REF};
use crate::git_binary::process::{GitInvocation, failed};
use crate::git_binary::{GitBinary, listed, retry, words};
use crate::remote::Remote;
use crate::repo::{CommitId, RepoError};
use locum_base::retry::RetryWaits;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent, PublicationKind};

/// Why a commit is not pushed onto a branch.
const NOT_ON_TOP: &str = "the branch has commits this one does not build on";

/// What a push moves: a ref at the remote, and the commit it names then; `None` takes it away.
#[derive(Clone, Copy)]
struct RefMove<'a> {
    name: &'a str,
    to: Option<&'a CommitId>,
}

impl GitBinary {
    /// Moves a branch of the remote from exactly the first of two commits to the second, which
    /// builds on it; from `None`, the branch is new. A branch that is anywhere else is a refusal:
    /// what somebody else pushed stays, and one that was deleted is not recreated.
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
        branch: &str,
        moves: (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        if !permit.covers(&Intent::Publish(PublicationKind::Commit)) {
            return Err(RepoError::NotPermitted);
        }
        self.push_permitted(remote, branch, moves).await
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
        self.push_ref(remote, RefMove { name: &name, to: Some(to) }, &lease).await
    }

    pub(super) async fn push_permitted(
        &self,
        remote: &Remote,
        branch: &str,
        (from, to): (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        let name = branch_ref(to, branch)?;
        // A lease is a push with force onto what is expected there.
        if let Some(from) = from
            && !self.builds_on(to, from).await?
        {
            return Err(RepoError::PushRefused(NOT_ON_TOP.to_owned()));
        }
        self.move_ref(remote, &name, (from, Some(to))).await
    }

    /// Returns whether a commit of this repository is another one, or builds on it.
    async fn builds_on(&self, commit: &CommitId, base: &CommitId) -> Result<bool, RepoError> {
        if base.oid().is_err() {
            return Err(RepoError::NoRevision(base.0.clone()));
        }
        let arguments = words(&["merge-base", "--is-ancestor", &base.0, &commit.0]);
        let ask = GitInvocation::local("merge-base", arguments, &self.folder)
            .env("GIT_NO_REPLACE_OBJECTS", "1".to_owned());
        Ok(ask.run(&self.caller).await?.status.success())
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

    /// Moves the ref of the memory across runs, as [`GitBinary::push_session`] does.
    ///
    /// # Errors
    /// As there; [`RepoError::NotPermitted`] when the permit is for writing no entry.
    pub async fn push_memory(
        &self,
        permit: &Permit<impl Act>,
        remote: &Remote,
        (from, to): (Option<&CommitId>, &CommitId),
    ) -> Result<(), RepoError> {
        let intents = permit.act().intents();
        if !intents.iter().any(|intent| matches!(intent, Intent::MemoryWrite(_))) {
            return Err(RepoError::NotPermitted);
        }
        self.move_ref(remote, MEMORY_REF, (from, Some(to))).await
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

    pub(super) async fn move_ref(
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
        self.push_ref(remote, RefMove { name, to }, &lease).await
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
        while let Err(error) = self.push_once(remote, asked, "--dry-run").await {
            self.wait(&mut waits, error).await?;
        }
        Ok(())
    }

    /// Pushes, again where that failed for a moment. Whether a push whose answer was lost took
    /// effect is looked up before it is repeated, and before a refusal of the repeated one counts.
    async fn push_ref(
        &self,
        remote: &Remote,
        moves: RefMove<'_>,
        flag: &str,
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
        let asked = self.ask_refs(remote, name);
        let Ok(answer) = asked.succeed(&self.caller).await else { return false };
        let there = listed(&answer).into_iter().find(|(known, _)| known == name);
        there.map(|(_, commit)| commit).as_ref() == to
    }

    async fn push_once(
        &self,
        remote: &Remote,
        RefMove { name, to }: RefMove<'_>,
        flag: &str,
    ) -> Result<(), RepoError> {
        if self.only_reads {
            return Err(RepoError::PushRefused("this job only reads".to_owned()));
        }
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
        arguments.push(flag.into());
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

/// Returns why the remote refused, from the porcelain lines of a push and git's other messages;
/// `None` when it never came to an answer.
pub(super) fn refusal(porcelain: &str, messages: &str) -> Option<String> {
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
            "fetch first" | "non-fast-forward" => NOT_ON_TOP,
            "stale info" => "what is there now is not what was there before",
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
