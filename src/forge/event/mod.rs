//! `Trigger`: what happened, read from a webhook payload; claims of the payload that must be
//! checked are marked as such.
//!
//! In: the event's name and its JSON. Out: the trigger, or why there is none. Permissions are
//! checked later: an event of a known kind and action is a trigger, whoever caused it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// A comment on a line of a pull request was created.
    ReviewComment,
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
    /// Id at the forge.
    pub id: u64,
    /// Its text at the time of the event.
    pub body: String,
    /// Its address on the web.
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
    let malformed = |message: String| EventError::Malformed { name: name.to_owned(), message };
    if payload.len() > PAYLOAD_LIMIT_BYTES {
        return Err(malformed(format!("{} bytes, {PAYLOAD_LIMIT_BYTES} at most", payload.len())));
    }
    // serde_json refuses JSON nested deeper than 128 levels by itself.
    let root: Value =
        serde_json::from_str(payload).map_err(|error| malformed(format!("not JSON: {error}")))?;
    let root = JsonNode { value: &root, path: String::new() };
    let action = root
        .get("action")
        .and_then(|action| action.value.as_str().map(str::to_owned))
        .unwrap_or_default();
    let kind = match (name, action.as_str()) {
        ("issue_comment", "created") => EventKind::IssueComment,
        ("issues", "labeled") => EventKind::IssueLabeled,
        ("issues", "assigned") => EventKind::IssueAssigned,
        ("issues", "edited") => EventKind::IssueEdited,
        ("pull_request_review_comment", "created") => EventKind::ReviewComment,
        ("workflow_dispatch", _) => EventKind::Dispatch,
        ("schedule", _) => EventKind::Schedule,
        (_, _) => return Err(EventError::Ignored { name: name.to_owned(), action }),
    };
    read(kind, &root).map_err(malformed)
}

fn read(kind: EventKind, root: &JsonNode<'_>) -> Result<Trigger, String> {
    let repository = root.get("repository");
    let mut trigger = Trigger { kind, ..Trigger::default() };
    if kind != EventKind::Schedule || repository.is_some() {
        let repository = root.need("repository")?;
        trigger.repository = repository.text("full_name")?;
        trigger.default_branch = repository.text("default_branch")?;
        trigger.is_private = repository.flag("private")?.unwrap_or(true);
    }
    match kind {
        EventKind::IssueComment | EventKind::ReviewComment => {
            let comment = root.need("comment")?;
            trigger.actor = read_actor(root, &comment)?;
            trigger.subject = Some(match kind {
                EventKind::ReviewComment => read_pull_request(&root.need("pull_request")?)?,
                _ => read_issue(&root.need("issue")?)?,
            });
            trigger.happened_at = comment.time("created_at")?;
            trigger.comment = Some(read_comment(&comment, kind)?);
        }
        EventKind::IssueLabeled | EventKind::IssueAssigned | EventKind::IssueEdited => {
            let issue = root.need("issue")?;
            trigger.actor = read_actor(root, &issue)?;
            trigger.happened_at = issue.time("updated_at")?;
            match kind {
                EventKind::IssueLabeled => {
                    trigger.label = Some(root.need("label")?.text("name")?);
                }
                EventKind::IssueAssigned => {
                    trigger.assignee = Some(root.need("assignee")?.text("login")?);
                }
                _ => trigger.body_before = root.body_before()?,
            }
            trigger.subject = Some(read_issue(&issue)?);
        }
        EventKind::Dispatch => {
            trigger.actor = read_actor(root, root)?;
            trigger.inputs =
                root.get("inputs").map_or_else(|| Ok(BTreeMap::new()), |inputs| inputs.texts())?;
        }
        EventKind::Schedule => {
            trigger.schedule = root.text_or_none("schedule")?.filter(|cron| !cron.is_empty())
        }
    }
    Ok(trigger)
}

/// Reads who did it: the sender, with the association that the comment or issue claims of its own
/// author.
fn read_actor(root: &JsonNode<'_>, claim: &JsonNode<'_>) -> Result<Actor, String> {
    let sender = root.need("sender")?;
    let association = claim.text_or_none("author_association")?.unwrap_or_default();
    let is_user = sender.text_or_none("type")?.as_deref() == Some("User");
    Ok(Actor {
        login: sender.text("login")?,
        id: sender.number_or_none("id")?,
        is_user,
        association,
    })
}

fn read_comment(comment: &JsonNode<'_>, kind: EventKind) -> Result<Comment, String> {
    let mut place = None;
    if kind == EventKind::ReviewComment {
        let line = comment.number_or_none("line")?.or(comment.number_or_none("original_line")?);
        place = Some((comment.text("path")?, line));
    }
    Ok(Comment {
        id: comment.number("id")?,
        body: comment.text_or_none("body")?.unwrap_or_default(),
        url: comment.text_or_none("html_url")?.unwrap_or_default(),
        place,
    })
}

fn read_issue(issue: &JsonNode<'_>) -> Result<EventSubject, String> {
    Ok(EventSubject {
        is_pull_request: issue.get("pull_request").is_some(),
        is_locked: issue.flag("locked")?.unwrap_or(false),
        ..read_subject(issue)?
    })
}

fn read_pull_request(pull: &JsonNode<'_>) -> Result<EventSubject, String> {
    Ok(EventSubject {
        is_pull_request: true,
        is_locked: pull.flag("locked")?.unwrap_or(false),
        head_sha: Some(pull.need("head")?.text("sha")?),
        ..read_subject(pull)?
    })
}

fn read_subject(subject: &JsonNode<'_>) -> Result<EventSubject, String> {
    let author = subject.get("user").map(|user| user.text("login")).transpose()?;
    Ok(EventSubject {
        number: subject.number("number")?,
        title: subject.text_or_none("title")?.unwrap_or_default(),
        body: subject.text_or_none("body")?.unwrap_or_default(),
        // The account may be gone; its words stay.
        author: author.unwrap_or_else(|| "ghost".to_owned()),
        is_open: subject.text("state")? == "open",
        ..EventSubject::default()
    })
}

/// A JSON value that knows where it stands.
struct JsonNode<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> JsonNode<'a> {
    /// Returns a member; one that is null counts as absent.
    fn get(&self, key: &str) -> Option<JsonNode<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(JsonNode { value, path: self.path_of(key) })
    }

    fn need(&self, key: &str) -> Result<JsonNode<'a>, String> {
        self.get(key).ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { format!("$.{key}") } else { format!("{}.{key}", self.path) }
    }

    fn text(&self, key: &str) -> Result<String, String> {
        self.text_or_none(key)?.ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    fn text_or_none(&self, key: &str) -> Result<Option<String>, String> {
        self.member(key, "text", |value| value.as_str().map(str::to_owned))
    }

    fn number(&self, key: &str) -> Result<u64, String> {
        self.number_or_none(key)?.ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    fn number_or_none(&self, key: &str) -> Result<Option<u64>, String> {
        self.member(key, "a number", Value::as_u64)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.member(key, "true or false", Value::as_bool)
    }

    fn time(&self, key: &str) -> Result<Option<Timestamp>, String> {
        self.member(key, "a time", |value| value.as_str().and_then(|text| text.parse().ok()))
    }

    fn member<T>(
        &self,
        key: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(node) = self.get(key) else { return Ok(None) };
        read(node.value).map(Some).ok_or_else(|| format!("`{}` is not {what}", node.path))
    }

    /// Reads what a body was before an edit; `None` where the edit was about something else.
    fn body_before(&self) -> Result<Option<String>, String> {
        let body = self.get("changes").and_then(|changes| changes.get("body"));
        body.map_or(Ok(None), |body| body.text_or_none("from"))
    }

    /// Reads an object of plain values as texts.
    fn texts(&self) -> Result<BTreeMap<String, String>, String> {
        let members =
            self.value.as_object().ok_or_else(|| format!("`{}` is not an object", self.path))?;
        members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| match value {
                Value::String(text) => Ok((key.clone(), text.clone())),
                Value::Bool(_) | Value::Number(_) => Ok((key.clone(), value.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    Err(format!("`{}` is not text", self.path_of(key)))
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
