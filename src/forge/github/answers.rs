//! GitHub's answers, as far as they are read. What other servers that speak like it leave out is
//! optional.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What a collaborator may do.
#[derive(Deserialize)]
pub(super) struct Collaborator {
    pub(super) permission: String,
    pub(super) role_name: Option<String>,
}

/// Who wrote something, or who a token belongs to.
#[derive(Deserialize)]
pub(super) struct Account {
    pub(super) login: String,
    /// `User`, `Bot`, `Organization`.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

/// A comment, review or reaction.
#[derive(Deserialize)]
pub(super) struct Post {
    pub(super) id: u64,
    pub(super) body: Option<String>,
    pub(super) user: Option<Account>,
    pub(super) html_url: Option<String>,
    /// Reviews are submitted.
    #[serde(alias = "submitted_at")]
    pub(super) created_at: Option<Timestamp>,
}

/// A comment as it is read, perhaps on a line.
#[derive(Deserialize)]
pub(super) struct ReadComment {
    #[serde(flatten)]
    pub(super) post: Post,
    pub(super) author_association: Option<String>,
    /// File it is written at, for one on a line.
    pub(super) path: Option<String>,
    /// `None` once the line is gone.
    pub(super) line: Option<u64>,
}

/// An issue, or a pull request as one.
#[derive(Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) state: String,
    #[serde(default)]
    pub(super) locked: bool,
    pub(super) user: Option<Account>,
    pub(super) html_url: Option<String>,
    pub(super) pull_request: Option<IgnoredAny>,
}

/// A pull request, as the API answers it.
#[derive(Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) state: String,
    pub(super) html_url: Option<String>,
    pub(super) user: Option<Account>,
    #[serde(default)]
    pub(super) draft: bool,
    #[serde(default)]
    pub(super) labels: Vec<Label>,
    /// `None` unless it was merged.
    pub(super) merged_at: Option<Timestamp>,
    pub(super) head: Branch,
    pub(super) base: Branch,
}

/// A label of an issue or pull request.
#[derive(Deserialize)]
pub(super) struct Label {
    pub(super) name: String,
}

/// One end of a pull request.
#[derive(Deserialize)]
pub(super) struct Branch {
    #[serde(rename = "ref")]
    pub(super) name: String,
    pub(super) sha: String,
    /// `None` once the repository is deleted.
    pub(super) repo: Option<Repository>,
}

/// The repository a branch lies in.
#[derive(Deserialize)]
pub(super) struct Repository {
    pub(super) id: Option<u64>,
    pub(super) full_name: Option<String>,
    pub(super) pushed_at: Option<Timestamp>,
}

/// A file that a pull request changes.
#[derive(Deserialize)]
pub(super) struct ChangedFile {
    pub(super) filename: String,
    /// `None` for large and binary files.
    pub(super) patch: Option<String>,
}

/// A commit of a pull request.
#[derive(Deserialize)]
pub(super) struct PullCommit {
    pub(super) sha: String,
    pub(super) commit: CommitText,
}

/// What a commit says.
#[derive(Deserialize)]
pub(super) struct CommitText {
    pub(super) message: String,
}

/// What a branch points to.
#[derive(Deserialize)]
pub(super) struct Reference {
    pub(super) object: GitObject,
}

/// A blob, tree or commit by its name.
#[derive(Deserialize)]
pub(super) struct GitObject {
    pub(super) sha: String,
}

/// A commit that exists.
#[derive(Deserialize)]
pub(super) struct ExistingCommit {
    pub(super) tree: GitObject,
    pub(super) parents: Vec<GitObject>,
}

/// A commit just made.
#[derive(Deserialize)]
pub(super) struct CreatedCommit {
    pub(super) sha: String,
    pub(super) verification: Option<Verification>,
}

/// What the forge says of a commit's signature.
#[derive(Deserialize)]
pub(super) struct Verification {
    pub(super) verified: bool,
    pub(super) reason: Option<String>,
}

/// A comment as it is listed for the whole repository.
#[derive(Deserialize)]
pub(super) struct PlacedPost {
    #[serde(flatten)]
    pub(super) read: ReadComment,
    /// Address of the issue or pull request, for one on its thread.
    pub(super) issue_url: Option<String>,
    /// Address of the pull request, for one on a line.
    pub(super) pull_request_url: Option<String>,
}

/// A reaction on something.
#[derive(Deserialize)]
pub(super) struct Reaction {
    pub(super) id: u64,
    /// Its name, such as `eyes`.
    pub(super) content: String,
    pub(super) user: Option<Account>,
}

/// A run of a workflow.
#[derive(Deserialize)]
pub(super) struct WorkflowRun {
    /// `queued`, `in_progress`, `completed`.
    pub(super) status: String,
    /// `success`, `failure`, `cancelled`, `timed_out`.
    pub(super) conclusion: Option<String>,
}
