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
        ("issues", "closed"),
        ("pull_request", "closed"),
        ("gollum", "created"),
        ("pull_request_target", "assigned"),
        ("workflow_run", "requested"),
        ("release", "deleted"),
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

/// An example of a payload as the forge documents it, without addresses.
#[expect(clippy::disallowed_methods, reason = "a test reads its vectors")]
fn example(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/events");
    std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()
}

/// What is read of an example, in a line: kind, action, actor, subject, head, and what else it
/// says.
fn summary(name: &str) -> String {
    let (event, _) = name.split_once('.').unwrap_or((name, ""));
    let read = parse(event, &example(name)).unwrap();
    let mut words = vec![format!("{:?} {}", read.kind, read.action), read.actor.login.clone()];
    words.extend(read.subject.map(|subject| format!("#{} by {}", subject.number, subject.author)));
    words.extend(read.comment.map(|comment| format!("comment {}", comment.id)));
    words.extend(read.label);
    words.extend(read.head.map(|head| {
        let target = head.target.unwrap_or_default();
        let sha: String = head.sha.chars().take(7).collect();
        format!("{} at {sha} to {target:?} {:?}", head.branch, head.labels)
    }));
    words.extend(read.checks.map(|checks| {
        let super::EventChecks { id, name, conclusion, attempt, pull_requests, .. } = checks;
        format!("{id} {name:?} {conclusion} {attempt} {pull_requests:?}")
    }));
    words.extend(read.text.map(|text| format!("{}: {}", text.what, text.text)));
    words.join(" | ")
}

#[test]
fn reads_every_event_of_a_repository() {
    let names = [
        "pull_request.opened",
        "pull_request.synchronize",
        "pull_request.ready_for_review",
        "pull_request.labeled",
        "pull_request_review.submitted",
        "issues.opened",
        "issues.edited",
        "workflow_run.completed",
        "check_suite.completed",
        "push",
        "push.new-branch",
        "push.deleted-tag",
        "release.published",
        "merge_group.checks_requested",
        "repository_dispatch",
    ];
    let read: Vec<String> = names.iter().map(|name| summary(name)).collect();
    let expected = [
        "PullRequest opened | Codertocat | #2 by Codertocat | changes at ec26c3e to \"master\" \
         [\"bug\"]",
        "PullRequest synchronize | Codertocat | #2 by Codertocat | changes at ec26c3e to \
         \"master\" [\"bug\"]",
        "PullRequest ready_for_review | Codertocat | #2 by Codertocat | changes at ec26c3e to \
         \"master\" [\"bug\"]",
        "PullRequest labeled | Codertocat | #2 by Codertocat | bug | changes at ec26c3e to \
         \"master\" [\"bug\"]",
        "ReviewSummary submitted | Codertocat | #2 by Codertocat | comment 237895671",
        "IssueOpened opened | Codertocat | #1 by Codertocat",
        "IssueEdited edited | Codertocat | #1 by Codertocat",
        // The repository of the example is another one than its pull request's.
        "ChecksEnded completed | Codertocat | master at 3484a3f to \"\" [] | 289782451 \"\" \
         success 1 []",
        "ChecksEnded completed | Codertocat | changes at ec26c3e to \"\" [] | 118578147 \
         \"octocoders-linter\" success 1 [2]",
        "Push  | Codertocat |  at 0000000 to \"\" []",
        "Push  | Codertocat | master at 6113728 to \"\" []",
        "Push  | Codertocat |  at 0000000 to \"\" []",
        "Release published | Codertocat | the notes of release 0.0.1: ",
        "MergeGroup checks_requested | Codertocat |  at 2ffea6d to \"main\" []",
        "RepositoryDispatch on-demand-test | Codertocat | the payload of the event: \
         {\"unit\":false,\"integration\":true}",
    ];
    assert_eq!(read, expected);
}

#[test]
fn checks_are_of_pull_requests_of_this_repository_only() {
    let mut payload: Value = serde_json::from_str(&example("workflow_run.completed")).unwrap();
    let read = |payload: &Value| {
        let read = parse("workflow_run", &payload.to_string()).unwrap();
        read.checks.unwrap().pull_requests
    };
    assert_eq!(read(&payload), Vec::<u64>::new());
    let id = payload["repository"]["id"].clone();
    payload["workflow_run"]["pull_requests"][0]["base"]["repo"]["id"] = id;
    assert_eq!(read(&payload), [2]);
}

#[test]
fn an_event_of_any_name_has_an_actor_and_perhaps_a_subject() {
    let read = super::parse_other("pull_request", &example("pull_request.opened")).unwrap();
    assert_eq!(
        (read.kind, read.subject.map(|subject| subject.number)),
        (EventKind::Other, Some(2))
    );
    assert!(super::parse_other("watch", "{}").is_err());
}
