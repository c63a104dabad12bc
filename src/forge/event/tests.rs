//! Payloads of events.

use super::{EventError, EventKind, parse};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn comment_event() -> Value {
    json!({
        "action": "created",
        "issue": {"number": 7, "title": "A test fails", "body": null, "state": "open", "locked": false, "user": {"login": "carol"}},
        "comment": {"id": 11, "body": "/locum fix", "html_url": "https://github.example/acme/app/issues/7#c11", "created_at": "2026-01-02T03:04:05Z",
            "author_association": "MEMBER", "user": {"login": "alice"}},
        "repository": {"full_name": "acme/app", "default_branch": "main", "private": false},
        "sender": {"login": "alice", "type": "User"},
    })
}

fn with(mut event: Value, pointer: &str, value: Value) -> String {
    *event.pointer_mut(pointer).unwrap() = value;
    event.to_string()
}

fn message(name: &str, payload: &str) -> String {
    parse(name, payload).unwrap_err().to_string()
}

#[test]
fn reads_a_comment_on_an_issue_and_on_a_pull_request() {
    let trigger = parse("issue_comment", &comment_event().to_string()).unwrap();
    assert_eq!(trigger.kind, EventKind::IssueComment);
    assert_eq!(
        (trigger.repository.as_str(), trigger.default_branch.as_str(), trigger.is_private),
        ("acme/app", "main", false)
    );
    assert_eq!(
        (trigger.actor.login.as_str(), trigger.actor.is_user, trigger.actor.association.as_str()),
        ("alice", true, "MEMBER")
    );
    assert_eq!(trigger.happened_at.unwrap().to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(trigger.comment.unwrap().body, "/locum fix");
    let subject = trigger.subject.unwrap();
    assert_eq!(
        (
            subject.number,
            subject.is_open,
            subject.is_pull_request,
            subject.body.as_str(),
            subject.author.as_str()
        ),
        (7, true, false, "", "carol")
    );

    let mut event = comment_event();
    event["issue"]["pull_request"] = json!({"url": "x"});
    assert!(parse("issue_comment", &event.to_string()).unwrap().subject.unwrap().is_pull_request);
}

#[test]
fn reads_review_comments_labels_dispatches_and_schedules() {
    let mut event = comment_event();
    event["pull_request"] =
        json!({"number": 5, "title": "t", "state": "open", "user": null, "head": {"sha": "abc"}});
    event["comment"]["path"] = json!("src/lib.rs");
    event["comment"]["line"] = json!(null);
    event["comment"]["original_line"] = json!(3);
    let trigger = parse("pull_request_review_comment", &event.to_string()).unwrap();
    assert_eq!(trigger.comment.unwrap().place, Some(("src/lib.rs".to_owned(), Some(3))));
    assert_eq!(trigger.subject.as_ref().unwrap().head_sha.as_deref(), Some("abc"));
    assert_eq!(trigger.subject.unwrap().author, "ghost");

    let mut event = comment_event();
    event["action"] = json!("labeled");
    event["label"] = json!({"name": "locum"});
    assert_eq!(parse("issues", &event.to_string()).unwrap().label.as_deref(), Some("locum"));

    event["action"] = json!("assigned");
    event["assignee"] = json!({"login": "locum-bot"});
    event["sender"]["id"] = json!(583_231);
    let trigger = parse("issues", &event.to_string()).unwrap();
    assert_eq!(
        (trigger.kind, trigger.assignee.as_deref(), trigger.actor.id),
        (EventKind::IssueAssigned, Some("locum-bot"), Some(583_231))
    );

    event["action"] = json!("edited");
    event["changes"] = json!({"body": {"from": "before"}});
    let trigger = parse("issues", &event.to_string()).unwrap();
    assert_eq!(
        (trigger.kind, trigger.body_before.as_deref()),
        (EventKind::IssueEdited, Some("before"))
    );
    event["changes"] = json!({"title": {"from": "before"}});
    assert_eq!(parse("issues", &event.to_string()).unwrap().body_before, None);

    let event = json!({"inputs": {"task": "x", "dry": true, "none": null}, "repository": comment_event()["repository"], "sender": comment_event()["sender"]});
    let inputs = parse("workflow_dispatch", &event.to_string()).unwrap().inputs;
    assert_eq!(
        inputs.into_iter().collect::<Vec<_>>(),
        [("dry".to_owned(), "true".to_owned()), ("task".to_owned(), "x".to_owned())]
    );

    let trigger = parse("schedule", r#"{"schedule": "0 5 * * 1"}"#).unwrap();
    assert_eq!(
        (trigger.kind, trigger.schedule.as_deref(), trigger.repository.as_str()),
        (EventKind::Schedule, Some("0 5 * * 1"), "")
    );
}

#[test]
fn a_program_is_not_a_user() {
    for kind in ["Bot", "Organization", "Mannequin"] {
        let payload = with(comment_event(), "/sender/type", json!(kind));
        assert!(!parse("issue_comment", &payload).unwrap().actor.is_user);
    }
}

#[test]
fn other_events_and_actions_start_nothing() {
    for (name, action) in [
        ("issue_comment", "edited"),
        ("issue_comment", "deleted"),
        ("issues", "opened"),
        ("push", ""),
        ("gollum", "created"),
        ("pull_request_target", "opened"),
    ] {
        let payload = with(comment_event(), "/action", json!(action));
        assert_eq!(
            parse(name, &payload).unwrap_err(),
            EventError::Ignored { name: name.to_owned(), action: action.to_owned() }
        );
    }
}

#[test]
fn names_the_place_of_what_is_wrong() {
    let broken = |pointer: &str, value: Value| {
        message("issue_comment", &with(comment_event(), pointer, value))
    };
    assert_eq!(
        broken("/issue/number", json!("7")),
        "payload of `issue_comment`: `$.issue.number` is not a number"
    );
    assert_eq!(broken("/sender", json!(null)), "payload of `issue_comment`: `$.sender` is missing");
    assert_eq!(
        broken("/comment/body", json!({"a": 1})),
        "payload of `issue_comment`: `$.comment.body` is not text"
    );
    assert_eq!(
        broken("/repository", json!([])),
        "payload of `issue_comment`: `$.repository.full_name` is missing"
    );
    assert!(message("issue_comment", "{").contains("not JSON"));
    assert!(message("issue_comment", &"[".repeat(200_000)).contains("not JSON"));
    assert!(
        message("issue_comment", &" ".repeat(super::PAYLOAD_LIMIT_BYTES + 1)).contains("at most")
    );
}
