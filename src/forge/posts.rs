//! `Posting`: what would be published; `Receipt`: what was.

use serde::{Deserialize, Serialize};

use locum_policy::intent::{Act, Intent, PublicationKind};

/// Something to publish. Texts are final: already redacted, sanitised and cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Posting {
    /// A reaction on the comment (or issue) that started the run.
    Reaction {
        /// Comment or issue that gets it.
        target: ReactionTarget,
        /// Which: `eyes`, `rocket`, `+1`, `confused`.
        content: String,
    },
    /// A reaction of our own is taken back.
    Withdrawal(OwnReaction),
    /// A comment on an issue or pull request, found again by its marker and then edited.
    Comment {
        /// Issue or pull request.
        number: u64,
        /// The hidden first line that names it: `<!-- locum:v1 ... -->`; part of `body`.
        marker: String,
        /// The whole body, marker included.
        body: String,
        /// The marker of a comment of ours that it takes the place of, where none has its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    /// A reply in the thread of a review comment, found again and edited like `Comment`.
    Reply {
        /// Number of the pull request.
        number: u64,
        /// The review comment that is answered.
        comment: u64,
        /// The hidden first line that names it; part of `body`.
        marker: String,
        /// The whole body, marker included.
        body: String,
    },
    /// An answer to a comment of a discussion, found again and edited like `Comment`.
    DiscussionReply {
        /// Number of the discussion.
        number: u64,
        /// The comment that is answered.
        comment: u64,
        /// The hidden first line that names it; part of `body`.
        marker: String,
        /// The whole body, marker included.
        body: String,
    },
    /// A review of a pull request: comments on its lines, nothing approved and nothing refused. The
    /// same one again changes its text only.
    Review {
        /// Number of the pull request.
        number: u64,
        /// The commit whose lines are meant.
        commit: String,
        /// The hidden first line that names it; part of `body`.
        marker: String,
        /// The whole body, marker included.
        body: String,
        /// Comments on lines, each with its range.
        comments: Vec<LineComment>,
    },
    /// A thread on lines of a pull request is marked as resolved.
    Resolution {
        /// Number of the pull request.
        number: u64,
        /// The thread's name at the forge.
        thread: String,
    },
    /// A pull request from a pushed branch; an open one from the same branch is updated.
    PullRequest {
        /// Branch to merge.
        head: String,
        /// Branch to merge into.
        base: String,
        /// Title in plain text.
        title: String,
        /// Body in Markdown.
        body: String,
        /// Whether it starts as a draft.
        draft: bool,
    },
    /// An issue of our own; an open one with the same marker is updated.
    Issue {
        /// Its number, where it is known to be there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// The hidden first line that names it; part of `body`.
        marker: String,
        /// Title in plain text.
        title: String,
        /// The whole body, marker included.
        body: String,
    },
    /// Labels added to an issue or pull request.
    Labels {
        /// Issue or pull request.
        number: u64,
        /// Names of the labels.
        labels: Vec<String>,
    },
    /// A review asked of somebody on a pull request.
    ReviewRequest {
        /// Number of the pull request.
        number: u64,
        /// Login of a user, or a team as `organisation/team`.
        reviewer: String,
    },
    /// Users that a pull request is assigned to.
    Assignees {
        /// Number of the pull request.
        number: u64,
        /// Logins of the users.
        logins: Vec<String>,
    },
    /// A check run of our own on a commit; the one with the same name there is updated.
    CheckRun(CheckRun),
    /// Failed jobs of a workflow run that are run again.
    Rerun {
        /// Number of the workflow run.
        run: u64,
    },
    /// The milestone that a pull request belongs to.
    Milestone {
        /// Number of the pull request.
        number: u64,
        /// Title of an open milestone.
        title: String,
    },
}

/// A check run: how something ended, with remarks on lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The commit that shows it.
    pub commit: String,
    /// Its name, by which it is found again.
    pub name: String,
    /// How it ended.
    pub conclusion: CheckConclusion,
    /// One line of plain text.
    pub title: String,
    /// Body in Markdown.
    pub summary: String,
    /// Remarks on lines. The forge only ever adds to those that are there.
    pub annotations: Vec<CheckAnnotation>,
    /// Page with more about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details_url: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckConclusion {
    /// It passed.
    Success,
    /// It failed.
    Failure,
    /// Neither.
    Neutral,
}

impl CheckConclusion {
    /// Returns the forge's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Neutral => "neutral",
        }
    }
}

/// A remark of a check run on lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckAnnotation {
    /// Path of the file.
    pub path: String,
    /// First line, counted from 1.
    #[serde(rename = "start_line")]
    pub first: u32,
    /// Last line; the same as the first for one line.
    #[serde(rename = "end_line")]
    pub last: u32,
    /// How bad it is.
    #[serde(rename = "annotation_level")]
    pub level: CheckLevel,
    /// What it is, in a few words.
    #[serde(default)]
    pub title: Option<String>,
    /// What is said, in plain text.
    #[serde(default)]
    pub message: Option<String>,
}

/// How bad a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckLevel {
    /// Worth knowing.
    Notice,
    /// Worth a change.
    Warning,
    /// Stands in the way.
    Failure,
}

/// A comment on lines of a pull request, as they are at its head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineComment {
    /// Path of the file.
    pub path: String,
    /// First line, counted from 1.
    pub first: u32,
    /// Last line; the same as the first for one line.
    pub last: u32,
    /// Body in Markdown.
    pub body: String,
}

/// What a reaction is put on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReactionTarget {
    /// A comment of an issue or pull request.
    IssueComment(u64),
    /// A comment on a line of a pull request.
    ReviewComment(u64),
    /// An issue or pull request itself.
    Issue(u64),
    /// A comment of a discussion, or an answer to one.
    DiscussionComment {
        /// Number of the discussion.
        discussion: u64,
        /// Number of the comment.
        comment: u64,
    },
}

/// A reaction that we put on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnReaction {
    /// Comment or issue that has it.
    pub target: ReactionTarget,
    /// Its id at the forge.
    pub id: u64,
}

impl Posting {
    /// Returns the kind of what would be published.
    pub(crate) fn publication(&self) -> PublicationKind {
        match self {
            Self::Reaction { .. }
            | Self::Withdrawal(_)
            | Self::Comment { .. }
            | Self::Reply { .. }
            | Self::DiscussionReply { .. } => PublicationKind::Comment,
            Self::Review { .. } | Self::Resolution { .. } => PublicationKind::Review,
            Self::PullRequest { .. }
            | Self::ReviewRequest { .. }
            | Self::Assignees { .. }
            | Self::Milestone { .. } => PublicationKind::PullRequest,
            Self::Labels { .. } => PublicationKind::Label,
            Self::Issue { .. } => PublicationKind::Issue,
            Self::CheckRun(_) | Self::Rerun { .. } => PublicationKind::Check,
        }
    }
}

impl Act for Posting {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(self.publication())]
    }
}

/// Proof of one publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Kind of what was published.
    pub publication: PublicationKind,
    /// Its number or id at the forge.
    pub id: u64,
    /// Its address on the web.
    pub url: String,
    /// True when something published before was changed instead.
    pub updated: bool,
}
