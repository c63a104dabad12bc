//! `Trigger`: what happened, read from a webhook payload; claims of the payload that must be checked are marked as such.

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// What kind of event.
    pub kind: EventKind,
    /// `owner/name`.
    pub repository: String,
    /// The default branch, as the payload says.
    pub default_branch: String,
    /// Who did it.
    pub actor: Actor,
    /// The issue or pull request it happened on.
    pub subject: Option<Subject>,
    /// The comment that asks, for comment events.
    pub comment: Option<Comment>,
    /// The label put on, for label events.
    pub label: Option<String>,
    /// Inputs of `workflow_dispatch`; text only.
    pub inputs: std::collections::BTreeMap<String, String>,
    /// The cron expression, for schedule events.
    pub schedule: Option<String>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A comment on an issue or pull request was created.
    IssueComment,
    /// A label was put on an issue.
    IssueLabeled,
    /// A comment on a line of a pull request was created.
    ReviewComment,
    /// Someone started the workflow by hand.
    Dispatch,
    /// The clock started the workflow.
    Schedule,
}

/// Who did it, by the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Login.
    pub login: String,
    /// True when the account is a person (`User`), not a bot or an organisation.
    pub is_user: bool,
    /// The payload's `author_association`: a claim, shown but never decisive.
    pub association: String,
}

/// An issue or pull request, as the payload has it: the text at the time of the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its number.
    pub number: u64,
    /// Title at the time of the event.
    pub title: String,
    /// Body at the time of the event.
    pub body: String,
    /// Login of its author.
    pub author: String,
    /// True for a pull request.
    pub is_pull_request: bool,
    /// True when open.
    pub is_open: bool,
    /// True when the conversation is locked.
    pub is_locked: bool,
    /// Commit of the pull request's head, where the payload has it.
    pub head_sha: Option<String>,
}

/// The comment that asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Its id.
    pub id: u64,
    /// Its text at the time of the event.
    pub body: String,
    /// Where people see it.
    pub url: String,
    /// File and line, for review comments.
    pub place: Option<(String, Option<u64>)>,
}

/// Why a payload starts nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Events of this name, or with this action, start nothing.
    #[error("event `{name}` ({action}) starts nothing")]
    Ignored {
        /// The event.
        name: String,
        /// Its action; empty when it has none.
        action: String,
    },
    /// The payload is not what GitHub sends for this event.
    #[error("payload of `{name}`: {message}")]
    Malformed {
        /// The event.
        name: String,
        /// Where and what.
        message: String,
    },
}

/// Reads a payload.
///
/// # Errors
/// When the event starts nothing or the payload is malformed.
pub fn parse(_name: &str, _payload: &str) -> Result<Trigger, EventError> {
    todo!()
}
