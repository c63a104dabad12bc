//! Where work comes from and results go: GitHub, and `local`, which is a folder.
//!
//! A [`Forge`] is asked for what is there and is given what is to be published. Reads need no
//! permit. Every write takes one, which only a policy can give.
//!
//! # What comes in
//!
//! 1. [`event::parse`] makes an [`event::Trigger`] of a webhook payload. Its claims are checked
//!    with the forge: a payload is only what somebody sent.
//! 2. [`command::parse`] finds `/locum ...` in a comment, outside code and quotes.
//! 3. [`Forge::permission`] says what the author may do. Whether that is enough is decided
//!    elsewhere.
//!
//! # What goes out
//!
//! [`sanitise`] cleans every text that leaves: no pings, no closing keywords, no secrets. A
//! [`posts::Posting`] is what would be published, a [`posts::Receipt`] what was.
//!
//! # The forges
//!
//! [`github::GitHub`] speaks to the API through octocrab. [`local::LocalForge`] writes numbered
//! files into a folder. To add another, implement [`Forge`].

pub mod alerts;
pub mod attachments;
pub mod checks;
pub mod command;
pub mod commits;
pub mod event;
pub mod github;
pub mod local;
pub mod posts;
pub mod pull_requests;
pub mod sanitise;
pub mod threads;

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde::Deserialize as _;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::alerts::AlertSource;
use crate::checks::FailedCheck;
use crate::commits::{CommitAuthor, ForgeCommit};
use crate::event::{EventChecks, EventSubject};
use crate::posts::{OwnReaction, Posting, ReactionTarget, Receipt};
use crate::pull_requests::{ListedPullRequest, PullRequestFilter};
use crate::threads::ReviewThread;
use locum_policy::Permit;

/// A place where work comes from and results go. Reads need no permit, every write takes one.
pub trait Forge: Send + Sync {
    /// Returns the forge's name in messages: `github`, `local`.
    fn name(&self) -> &'static str;

    /// Asks what a user may do in the repository. A forge may not know an app as somebody who may
    /// do anything ([`is_app`]).
    fn permission<'a>(
        &'a self,
        login: &'a str,
    ) -> BoxFuture<'a, Result<ForgePermission, ForgeError>>;

    /// Reads a pull request as it is now.
    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<PullRequest, ForgeError>>;

    /// Reads pull requests from branches of this repository, latest first.
    fn pull_requests<'a>(
        &'a self,
        filter: PullRequestFilter<'a>,
    ) -> BoxFuture<'a, Result<Vec<ListedPullRequest>, ForgeError>>;

    /// Reads which lines of a pull request's head a review can comment on: those its diff shows.
    fn commentable_lines(&self, number: u64)
    -> BoxFuture<'_, Result<CommentableLines, ForgeError>>;

    /// Reads the threads on lines of a pull request: all of them, or more than 500 are an error.
    fn review_threads(&self, number: u64) -> BoxFuture<'_, Result<Vec<ReviewThread>, ForgeError>>;

    /// Reads the commits that a pull request would merge, oldest first; the forge lists 250 at
    /// most.
    fn pull_request_commits(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<Vec<ListedCommit>, ForgeError>>;

    /// Reads an issue (or a pull request as one) as it is now.
    fn issue(&self, number: u64) -> BoxFuture<'_, Result<EventSubject, ForgeError>>;

    /// Finds our own issue that begins with exactly this line, open or not. Looks at the one with
    /// this number first, then through the 3,000 that changed last.
    fn own_issue<'a>(
        &'a self,
        marker: &'a str,
        number: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<OwnIssue>, ForgeError>>;

    /// Asks which login our own comments have; `None` where the forge does not say.
    fn own_login(&self) -> BoxFuture<'_, Option<String>>;

    /// Asks who makes the commits of this token: the account of the app that it is of. It is
    /// nobody's account where the token is a person's, or the forge does not say.
    fn commit_author(&self) -> BoxFuture<'_, CommitAuthor>;

    /// Reads our own comments on a thread whose first line starts with `marker`, oldest first; with
    /// `since`, those created since then.
    fn own_comments<'a>(
        &'a self,
        thread: Thread,
        marker: &'a str,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Vec<OwnComment>, ForgeError>>;

    /// Reads what was written on a thread, oldest first, on lines of a pull request too; with
    /// `since`, what was written since then.
    fn thread_comments(
        &self,
        thread: Thread,
        since: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<Vec<ThreadComment>, ForgeError>>;

    /// Fetches an image or file that someone attached to what they wrote, from the forge's own
    /// hosts and no other.
    fn attachment<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Vec<u8>, ForgeError>>;

    /// Reads what was written on any thread of the repository and changed since then, the latest
    /// change first; of very much, the latest.
    fn recent_comments(
        &self,
        since: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<PlacedComment>, ForgeError>>;

    /// Reads the reactions of ours that are on something, each with its name, such as `eyes`.
    fn own_reactions(
        &self,
        target: ReactionTarget,
    ) -> BoxFuture<'_, Result<Vec<(OwnReaction, String)>, ForgeError>>;

    /// Reads what failed of checks that ended, with the ends of their outputs.
    fn failed_checks<'a>(
        &'a self,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<FailedCheck>, ForgeError>>;

    /// Asks how every run of the workflow, or suite of the app, of these checks ended on a commit;
    /// `None` stands for one that has not.
    fn check_ends<'a>(
        &'a self,
        commit: &'a str,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<Option<String>>, ForgeError>>;

    /// Reads the latest open alerts of a source, one line each, in the words of others.
    fn alerts(&self, source: AlertSource) -> BoxFuture<'_, Result<Vec<String>, ForgeError>>;

    /// Asks how a workflow run ended; `None` while it has not.
    fn workflow_run_end<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ForgeError>>;

    /// Says how long reads may wait from now on; a forge that never waits does not mind.
    fn set_patience(&self, _patience: ReadPatience) {}

    /// Makes a commit, signed by the forge, on a branch; returns its name. One that
    /// already exists is not made again.
    fn commit(&self, permit: Permit<ForgeCommit>) -> BoxFuture<'_, Result<String, ForgeError>>;

    /// Publishes; publishing the same again updates.
    fn post(&self, permit: Permit<Posting>) -> BoxFuture<'_, Result<Receipt, ForgeError>>;
}

/// How long a read waits where the forge is busy or asks to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPatience {
    /// Seconds: nothing is lost when it fails, or it is asked again soon.
    Short,
    /// As long as a write, out of the same budget: what was done would be lost.
    AsWrites,
}

/// A commit of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedCommit {
    /// Its name, 40 hexadecimal digits.
    pub id: String,
    /// Its whole message.
    pub message: String,
}

/// Lines of a pull request's head that a review can comment on: for each file, first and last line
/// of what is shown of it.
pub type CommentableLines = BTreeMap<String, Vec<(u32, u32)>>;

/// An issue, pull request or discussion, as a place that is commented on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number in the repository.
    pub number: u64,
    /// Whether there are comments on lines of it as well.
    pub is_pull_request: bool,
    /// Whether it is a discussion.
    pub is_discussion: bool,
}

/// An issue of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIssue {
    /// Number in the repository.
    pub number: u64,
    /// True when open.
    pub is_open: bool,
    /// Title as it is now.
    pub title: String,
}

/// A comment of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnComment {
    /// Id at the forge.
    pub id: u64,
    /// Its text as it is now.
    pub body: String,
}

/// A comment on an issue or pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadComment {
    /// Id at the forge.
    pub id: u64,
    /// Login of its author; `ghost` for a deleted account.
    pub author: String,
    /// False for bots and organisations.
    pub is_user: bool,
    /// True when its author has contributed before, as the forge says.
    pub has_contributed: bool,
    /// When it was written, by the forge's clock.
    pub written_at: Option<Timestamp>,
    /// File and line it was written at, for one on a line of a pull request.
    pub place: Option<String>,
    /// True when we wrote it.
    pub is_own: bool,
    /// Its text as it is now.
    pub body: String,
}

/// A comment and the thread it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedComment {
    /// Number of the issue or pull request.
    pub number: u64,
    /// The comment itself.
    pub comment: ThreadComment,
}

/// What a user may do in the repository, by the forge's own answer.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ForgePermission {
    /// No access beyond what is public.
    None,
    /// May read and comment.
    Read,
    /// May manage issues and pull requests, not push.
    Triage,
    /// May push.
    Write,
    /// May also manage the repository, but not its sensitive settings.
    Maintain,
    /// May do everything.
    Admin,
}

impl ForgePermission {
    /// Returns the forge's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Triage => "triage",
            Self::Write => "write",
            Self::Maintain => "maintain",
            Self::Admin => "admin",
        }
    }

    /// Reads the words of the forge's answer: the permission, and the role where one is named.
    /// Roles made by an organisation have names of their own; the permission says what they amount
    /// to. `None` for words this program does not know.
    pub fn from_words(permission: &str, role: Option<&str>) -> Option<Self> {
        let read = |word: &str| Self::deserialize(StrDeserializer::<ValueError>::new(word)).ok();
        // The permission has no words for maintain and triage: it reports them as write and read.
        read(permission).map(|known| match role.and_then(read) {
            Some(Self::Maintain) if known == Self::Write => Self::Maintain,
            Some(Self::Triage) if known == Self::Read => Self::Triage,
            Some(_) | None => known,
        })
    }
}

/// Returns whether a login is that of an app: `renovate[bot]`. No user can have one that ends so.
pub fn is_app(login: &str) -> bool {
    login.strip_suffix("[bot]").is_some_and(|name| !name.is_empty())
}

/// A pull request as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Number in the repository.
    pub number: u64,
    /// Title as it is now.
    pub title: String,
    /// Body as it is now, in Markdown.
    pub body: String,
    /// `open` or not.
    pub is_open: bool,
    /// Branch that would be changed.
    pub head_branch: String,
    /// Commit of that branch.
    pub head_sha: String,
    /// Branch it would be merged into.
    pub base_branch: String,
    /// True when the head lies in another repository.
    pub is_fork: bool,
    /// Login of its author; `ghost` for a deleted account.
    pub author: String,
    /// True when we may have opened it, by its author.
    pub is_own: bool,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// When somebody last pushed to the repository of the head, by the forge's clock.
    pub head_pushed_at: Option<Timestamp>,
}

/// Why the forge did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// The token is missing, wrong, or may not do this (401, 403).
    #[error("{forge} refused {action}: {message}")]
    Forbidden {
        /// Name of the forge.
        forge: &'static str,
        /// What was asked: `POST /repos/a/b/issues/1/comments`.
        action: String,
        /// Its words, clipped.
        message: String,
    },
    /// It does not exist (404, 410).
    #[error("{forge} does not know {what}")]
    NotFound {
        /// Name of the forge.
        forge: &'static str,
        /// The missing resource.
        what: String,
    },
    /// Too much was asked (403 or 429 with a limit's headers).
    #[error(
        "{forge} asks to wait{} before {action}",
        retry_after_s.map(|seconds| format!(" {seconds} s")).unwrap_or_default()
    )]
    RateLimited {
        /// Name of the forge.
        forge: &'static str,
        /// The request: method and path.
        action: String,
        /// Seconds to wait, where the forge says.
        retry_after_s: Option<u64>,
    },
    /// Something else exists in its place.
    #[error("{forge}: {what}")]
    Conflict {
        /// Name of the forge.
        forge: &'static str,
        /// What exists, and where.
        what: String,
    },
    /// The forge is busy, or the connection failed: whether it was done is not known.
    #[error("{forge} failed at {action}: {message}")]
    Unavailable {
        /// Name of the forge.
        forge: &'static str,
        /// The request: method and path.
        action: String,
        /// What happened, clipped.
        message: String,
    },
    /// Anything else: the request, the answer or the machine is wrong.
    #[error("{forge} failed at {action}: {message}")]
    Failed {
        /// Name of the forge.
        forge: &'static str,
        /// The request: method and path.
        action: String,
        /// What happened, clipped.
        message: String,
    },
}
