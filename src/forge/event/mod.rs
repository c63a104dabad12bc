//! `Trigger`: what happened, read from a webhook payload; claims of the payload that must be
//! checked are marked as such.
//!
//! In: the event's name and its JSON. Out: the trigger, or why there is none. Permissions are
//! checked later: an event of a known kind and action is a trigger, whoever caused it.

mod json;
mod read;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::json::JsonNode;

/// GitHub sends no payload above 25 MB:
/// <https://docs.github.com/en/webhooks/webhook-events-and-payloads>.
pub const PAYLOAD_LIMIT_BYTES: usize = 25 * 1024 * 1024;

/// One event that may start a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// What kind of event.
    pub kind: EventKind,
    /// `owner/name`; empty where the payload does not say (schedules).
    pub repository: String,
    /// The default branch, as the payload says; may be empty like `repository`.
    pub default_branch: String,
    /// True when only members see the repository, as the payload says.
    #[serde(default)]
    pub is_private: bool,
    /// When it happened, where the payload says.
    #[serde(default)]
    pub happened_at: Option<Timestamp>,
    /// Who did it.
    pub actor: Actor,
    /// The issue or pull request it happened on.
    pub subject: Option<EventSubject>,
    /// What the payload calls the action: `created`, `opened`; the type of a
    /// `repository_dispatch`; may be empty.
    #[serde(default)]
    pub action: String,
    /// The commit an event is about, for pull requests, pushes, checks and merge queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<EventHead>,
    /// The checks that ended, for `workflow_run` and `check_suite`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<EventChecks>,
    /// What else the event says, in words of others: notes of a release, the payload of a dispatch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<EventText>,
    /// The issue's body before it was edited, for edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_before: Option<String>,
    /// The comment that asks, for comment events.
    pub comment: Option<Comment>,
    /// The label put on, for label events.
    pub label: Option<String>,
    /// Login of who the issue was assigned to, for assignments.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Inputs of `workflow_dispatch`; text only.
    pub inputs: BTreeMap<String, String>,
    /// The cron expression, for schedule events.
    pub schedule: Option<String>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A comment on an issue or pull request was created.
    IssueComment,
    /// A label was put on an issue.
    IssueLabeled,
    /// An issue was assigned to an account.
    IssueAssigned,
    /// The body of an issue was edited.
    IssueEdited,
    /// An issue was opened.
    IssueOpened,
    /// A comment in a discussion was created, or an answer to one.
    DiscussionComment,
    /// A comment on a line of a pull request was created.
    ReviewComment,
    /// A review was submitted, with a summary.
    ReviewSummary,
    /// A pull request was opened, pushed to, made ready or labelled.
    PullRequest,
    /// A workflow or the checks of an app ended.
    ChecksEnded,
    /// A branch was pushed to.
    Push,
    /// Something happened to a release.
    Release,
    /// A merge queue asks for checks.
    MergeGroup,
    /// Another program sent an event.
    RepositoryDispatch,
    /// Some other event, for which the workflow itself says what is to be done.
    Other,
    /// Someone started the workflow by hand.
    Dispatch,
    /// A schedule started the workflow: the event that says least.
    #[default]
    Schedule,
}

/// Who did it, by the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Login at the time of the event.
    pub login: String,
    /// Number of the account, which stays when the login changes.
    #[serde(default)]
    pub id: Option<u64>,
    /// True for a user account (`User`), false for a bot or an organisation.
    pub is_user: bool,
    /// The payload's `author_association`: a claim, shown but never decisive.
    pub association: String,
}

/// An issue or pull request, as the payload has it: the text at the time of the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSubject {
    /// Number in the repository.
    pub number: u64,
    /// Title at the time of the event.
    pub title: String,
    /// Body at the time of the event.
    pub body: String,
    /// Login of its author.
    pub author: String,
    /// True for a pull request.
    pub is_pull_request: bool,
    /// True for a discussion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_discussion: bool,
    /// True when open.
    pub is_open: bool,
    /// True when the conversation is locked.
    pub is_locked: bool,
    /// Commit of the pull request's head, where the payload has it.
    pub head_sha: Option<String>,
}

impl EventSubject {
    /// Returns what it is, in words.
    pub fn kind(&self) -> &'static str {
        match (self.is_pull_request, self.is_discussion) {
            (true, _) => "pull request",
            (false, true) => "discussion",
            (false, false) => "issue",
        }
    }
}

/// The commit an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventHead {
    /// Its name, 40 hexadecimal digits.
    pub sha: String,
    /// The branch it is on; empty where the payload names none.
    pub branch: String,
    /// The branch it is to be merged into, for pull requests and merge queues.
    pub target: Option<String>,
    /// The commit before a push.
    pub before: Option<String>,
    /// True for the draft of a pull request.
    pub is_draft: bool,
    /// Labels of the pull request.
    pub labels: Vec<String>,
}

/// Checks that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventChecks {
    /// Number of the workflow run, or of the suite of an app's checks.
    pub id: u64,
    /// True for a workflow run.
    pub is_workflow: bool,
    /// Name of the workflow, or slug of the app.
    pub name: String,
    /// How they ended, such as `failure`.
    pub conclusion: String,
    /// Which attempt of the workflow run it was, from 1.
    pub attempt: u64,
    /// Their address on the web; may be empty.
    pub url: String,
    /// Pull requests of this repository that the commit is the head of, as the payload says.
    pub pull_requests: Vec<u64>,
}

/// Words of others that an event brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventText {
    /// What it is, as in `the notes of release v1.2`.
    pub what: String,
    /// Who wrote it.
    pub author: String,
    /// The words.
    pub text: String,
}

/// The comment that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Id at the forge.
    pub id: u64,
    /// Its text at the time of the event.
    pub body: String,
    /// Its address on the web.
    pub url: String,
    /// The review comment that it answers, where it answers one.
    #[serde(default)]
    pub in_reply_to: Option<u64>,
    /// File and line, for review comments.
    pub place: Option<(String, Option<u64>)>,
}

/// Why a payload starts nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Events of this name, or with this action, start nothing.
    #[error(
        "event `{name}`{} starts nothing",
        if action.is_empty() { String::new() } else { format!(" ({action})") }
    )]
    Ignored {
        /// Name of the event.
        name: String,
        /// Its action; empty when it has none.
        action: String,
    },
    /// The payload is not what GitHub sends for this event.
    #[error("payload of `{name}`: {message}")]
    Malformed {
        /// Name of the event.
        name: String,
        /// Where and what.
        message: String,
    },
}

/// Reads a payload.
///
/// # Errors
/// When the event starts nothing or the payload is malformed.
pub fn parse(name: &str, payload: &str) -> Result<Trigger, EventError> {
    let (root, action) = object_of(name, payload)?;
    let root = JsonNode { value: &root, path: String::new() };
    let Some(kind) = kind_of(name, &action) else {
        return Err(EventError::Ignored { name: name.to_owned(), action });
    };
    let mut trigger = read::read(kind, &root)
        .map_err(|message| EventError::Malformed { name: name.to_owned(), message })?;
    trigger.action = action;
    Ok(trigger)
}

/// Returns the kind of an event; `None` for those that start nothing.
fn kind_of(name: &str, action: &str) -> Option<EventKind> {
    Some(match (name, action) {
        ("issue_comment", "created") => EventKind::IssueComment,
        ("discussion_comment", "created") => EventKind::DiscussionComment,
        ("issues", "opened") => EventKind::IssueOpened,
        ("issues", "labeled") => EventKind::IssueLabeled,
        ("issues", "assigned") => EventKind::IssueAssigned,
        ("issues", "edited") => EventKind::IssueEdited,
        ("pull_request_review_comment", "created") => EventKind::ReviewComment,
        ("pull_request_review", "submitted") => EventKind::ReviewSummary,
        (
            "pull_request" | "pull_request_target",
            "opened" | "reopened" | "ready_for_review" | "synchronize" | "labeled",
        ) => EventKind::PullRequest,
        ("workflow_run" | "check_suite", "completed") => EventKind::ChecksEnded,
        ("push", _) => EventKind::Push,
        ("release", "published" | "released" | "prereleased" | "created") => EventKind::Release,
        ("merge_group", "checks_requested") => EventKind::MergeGroup,
        ("repository_dispatch", _) => EventKind::RepositoryDispatch,
        ("workflow_dispatch", _) => EventKind::Dispatch,
        ("schedule", _) => EventKind::Schedule,
        (_, _) => return None,
    })
}

/// Reads an event of any name as one for which the workflow itself says what is to be done: it has
/// an actor, and a subject where the payload has one.
///
/// # Errors
/// When the payload is malformed.
pub fn parse_other(name: &str, payload: &str) -> Result<Trigger, EventError> {
    let (root, action) = object_of(name, payload)?;
    let root = JsonNode { value: &root, path: String::new() };
    let mut trigger = read::read(EventKind::Other, &root)
        .map_err(|message| EventError::Malformed { name: name.to_owned(), message })?;
    trigger.action = action;
    Ok(trigger)
}

/// Reads a payload as JSON, and its action.
fn object_of(name: &str, payload: &str) -> Result<(Value, String), EventError> {
    let malformed = |message: String| EventError::Malformed { name: name.to_owned(), message };
    if payload.len() > PAYLOAD_LIMIT_BYTES {
        return Err(malformed(format!("{} bytes, {PAYLOAD_LIMIT_BYTES} at most", payload.len())));
    }
    // serde_json refuses JSON nested deeper than 128 levels by itself.
    let root: Value =
        serde_json::from_str(payload).map_err(|error| malformed(format!("not JSON: {error}")))?;
    let action = root.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok((root, action))
}

#[cfg(test)]
mod tests;
