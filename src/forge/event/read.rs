//! Reads what each kind of event says from its payload.

use std::collections::BTreeMap;

use crate::event::json::JsonNode;
use crate::event::{
    Actor, Comment, EventChecks, EventHead, EventKind, EventSubject, EventText, Trigger,
};

/// Reads an event of a kind.
///
/// # Errors
/// Says what is missing or odd, and where.
pub(super) fn read(kind: EventKind, root: &JsonNode<'_>) -> Result<Trigger, String> {
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
        EventKind::DiscussionComment => {
            let comment = root.need("comment")?;
            trigger.actor = read_actor(root, &comment)?;
            trigger.subject = Some(read_discussion(&root.need("discussion")?)?);
            trigger.happened_at = comment.time("created_at")?;
            trigger.comment = Some(read_comment(&comment, kind)?);
        }
        EventKind::ReviewSummary => {
            let review = root.need("review")?;
            trigger.actor = read_actor(root, &review)?;
            trigger.subject = Some(read_pull_request(&root.need("pull_request")?)?);
            trigger.happened_at = review.time("submitted_at")?;
            trigger.comment = Some(read_comment(&review, kind)?);
        }
        EventKind::IssueOpened
        | EventKind::IssueLabeled
        | EventKind::IssueAssigned
        | EventKind::IssueEdited => {
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
                EventKind::IssueEdited => trigger.body_before = root.body_before()?,
                _ => {}
            }
            trigger.subject = Some(read_issue(&issue)?);
        }
        EventKind::PullRequest => {
            let pull = root.need("pull_request")?;
            trigger.actor = read_actor(root, &pull)?;
            trigger.happened_at = pull.time("updated_at")?;
            trigger.label = root.get("label").map(|label| label.text("name")).transpose()?;
            trigger.head = Some(head_of_pull_request(&pull)?);
            trigger.subject = Some(read_pull_request(&pull)?);
        }
        EventKind::ChecksEnded => {
            let (checks, head) = read_checks(root)?;
            trigger.actor = read_actor(root, root)?;
            (trigger.checks, trigger.head) = (Some(checks), Some(head));
        }
        EventKind::Push => {
            trigger.actor = read_actor(root, root)?;
            let branch = root.text("ref")?;
            trigger.head = Some(EventHead {
                sha: root.text("after")?,
                branch: branch.strip_prefix("refs/heads/").unwrap_or_default().to_owned(),
                before: root.text_or_none("before")?,
                ..EventHead::default()
            });
        }
        EventKind::Release => {
            let release = root.need("release")?;
            trigger.actor = read_actor(root, &release)?;
            let author = release.get("author").map(|author| author.text("login")).transpose()?;
            trigger.text = Some(EventText {
                what: format!("the notes of release {}", release.text("tag_name")?),
                author: author.unwrap_or_else(|| "ghost".to_owned()),
                text: release.text_or_none("body")?.unwrap_or_default(),
            });
        }
        EventKind::MergeGroup => {
            trigger.actor = read_actor(root, root)?;
            let group = root.need("merge_group")?;
            let target = group.text("base_ref")?;
            trigger.head = Some(EventHead {
                sha: group.text("head_sha")?,
                target: Some(target.strip_prefix("refs/heads/").unwrap_or(&target).to_owned()),
                ..EventHead::default()
            });
        }
        EventKind::RepositoryDispatch => {
            trigger.actor = read_actor(root, root)?;
            if let Some(payload) = root.get("client_payload") {
                trigger.inputs = payload.plain_texts();
                trigger.text = Some(EventText {
                    what: "the payload of the event".to_owned(),
                    author: trigger.actor.login.clone(),
                    text: payload.value.to_string(),
                });
            }
        }
        EventKind::Other => {
            trigger.actor = read_actor(root, root)?;
            trigger.subject = match (root.get("pull_request"), root.get("issue")) {
                (Some(pull), _) => Some(read_pull_request(&pull)?),
                (None, Some(issue)) => Some(read_issue(&issue)?),
                (None, None) => None,
            };
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
        in_reply_to: comment.number_or_none("in_reply_to_id")?,
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

/// Reads a discussion. One that is being moved or deleted is not open.
fn read_discussion(discussion: &JsonNode<'_>) -> Result<EventSubject, String> {
    let is_locked = discussion.flag("locked")?.unwrap_or(false);
    Ok(EventSubject { is_discussion: true, is_locked, ..read_subject(discussion)? })
}

fn read_pull_request(pull: &JsonNode<'_>) -> Result<EventSubject, String> {
    Ok(EventSubject {
        is_pull_request: true,
        is_locked: pull.flag("locked")?.unwrap_or(false),
        head_sha: Some(pull.need("head")?.text("sha")?),
        ..read_subject(pull)?
    })
}

fn head_of_pull_request(pull: &JsonNode<'_>) -> Result<EventHead, String> {
    let head = pull.need("head")?;
    Ok(EventHead {
        sha: head.text("sha")?,
        branch: head.text("ref")?,
        target: Some(pull.need("base")?.text("ref")?),
        is_draft: pull.flag("draft")?.unwrap_or(false),
        labels: pull.each("labels", |label| label.text("name"))?,
        before: None,
    })
}

/// Reads the checks of a `workflow_run` or a `check_suite`.
fn read_checks(root: &JsonNode<'_>) -> Result<(EventChecks, EventHead), String> {
    let (checks, is_run) = match root.get("workflow_run") {
        Some(run) => (run, true),
        None => (root.need("check_suite")?, false),
    };
    let name = if is_run {
        checks.text_or_none("name")?
    } else {
        match checks.get("app") {
            Some(app) => match app.text_or_none("slug")? {
                Some(slug) => Some(slug),
                None => app.text_or_none("name")?,
            },
            None => None,
        }
    };
    let head = EventHead {
        sha: checks.text("head_sha")?,
        branch: checks.text_or_none("head_branch")?.unwrap_or_default(),
        ..EventHead::default()
    };
    let read = EventChecks {
        id: checks.number("id")?,
        is_workflow: is_run,
        name: name.unwrap_or_default(),
        conclusion: checks.text_or_none("conclusion")?.unwrap_or_default(),
        attempt: checks.number_or_none("run_attempt")?.unwrap_or(1),
        url: checks.text_or_none("html_url")?.unwrap_or_default(),
        pull_requests: own_pull_requests(root, &checks)?,
    };
    Ok((read, head))
}

/// Reads the pull requests of this repository that a commit is the head of: the forge also lists
/// those that other repositories of its network have from it.
fn own_pull_requests(root: &JsonNode<'_>, checks: &JsonNode<'_>) -> Result<Vec<u64>, String> {
    let own = root.need("repository")?.number_or_none("id")?;
    let number = |pull: &JsonNode<'_>| {
        let base = pull.get("base").and_then(|base| base.get("repo"));
        let base = base.map(|repo| repo.number_or_none("id")).transpose()?.flatten();
        let is_foreign = base.zip(own).is_some_and(|(base, own)| base != own);
        Ok((!is_foreign).then_some(pull.number("number")?))
    };
    Ok(checks.each("pull_requests", number)?.into_iter().flatten().collect())
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
