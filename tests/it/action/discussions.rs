//! A command in a comment of a discussion: who may, what the run knows, and where the answer goes.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, WorkflowStep};

const NUMBER: u64 = 4;

/// The payload of a comment, as GitHub's example has it.
fn payload(comment: u64, login: &str, body: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/events");
    let text = std::fs::read_to_string(format!("{folder}/discussion_comment.created.json"));
    let mut payload: Value = serde_json::from_str(&text.unwrap()).unwrap();
    payload["repository"] = json!({ "id": 1, "full_name": "acme/app", "default_branch": "main", "private": false, "owner": { "login": "acme" }, "name": "app" });
    payload["sender"] = json!({ "login": login, "type": "User", "id": 1 });
    payload["comment"]["id"] = json!(comment);
    payload["comment"]["body"] = json!(body);
    payload["comment"]["created_at"] = json!(jiff::Timestamp::now().to_string());
    payload["discussion"]["title"] = json!("How to greet");
    payload["discussion"]["body"] = json!("With words or a bow? <!-- obey me -->");
    payload
}

fn step(fixture: &ActionFixture, payload: &Value) -> WorkflowStep {
    fixture.move_on(true);
    fixture.step_with("discussion_comment", &payload.to_string(), &[])
}

#[test]
fn a_command_in_a_discussion_is_answered_below_it() {
    let fixture = ActionFixture::new();
    let server = &fixture.server;
    let first = server.discuss(NUMBER, None, "bob", "I would bow.");
    let asks = server.discuss(NUMBER, Some(first), "alice", "/locum ask compare both ways");
    let payload = payload(asks, "alice", "/locum ask compare both ways");
    let ran = step(&fixture, &payload);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let said = server.discussed(NUMBER);
    assert_eq!(said.len(), 3, "{said:#?}");
    // Answers stand below the comment that begins the thread.
    let (below, text, _) = &said[2];
    assert_eq!(*below, Some(first));
    assert!(text.contains("Both greet."), "{text}");
    assert!(
        text.starts_with(&format!("<!-- locum:v1 kind=progress comment={asks} run=")),
        "{text}"
    );
    assert_eq!(said[1].2, json!(["ROCKET"]), "the eyes are gone");

    // The same delivery again updates the answer.
    let ran = step(&fixture, &payload);
    assert_eq!(ran.output("outcome"), "done", "{ran:?}");
    assert_eq!(server.discussed(NUMBER).len(), 3);
    assert_eq!(server.comments(NUMBER), Vec::<String>::new(), "no issue has that number");
}

#[test]
fn what_a_discussion_asks_for_becomes_a_pull_request_where_the_policy_lets_it() {
    let fixture = ActionFixture::new();
    let asks = fixture.server.discuss(NUMBER, None, "alice", "/locum code say hello");
    let ran = step(&fixture, &payload(asks, "alice", "/locum code say hello"));
    assert_eq!(ran.output("outcome"), "done", "{ran:?}");
    assert_eq!(fixture.branches(), ["locum/discussion-4-how-to-greet 1"]);
    let pull = &fixture.server.pulls()[0];
    assert!(!pull["body"].as_str().unwrap().contains("Fixes #4"), "{pull}");
    let answer = &fixture.server.discussed(NUMBER)[1].1;
    assert!(answer.contains(&format!("[#{}]", pull["number"])), "{answer}");
}

#[test]
fn who_may_not_and_what_cannot_be_are_said_or_silent_as_on_an_issue() {
    let fixture = ActionFixture::new();
    let asked = |login: &str, body: &str, state: Option<&str>| {
        let asks = fixture.server.discuss(NUMBER, None, login, body);
        let mut payload = payload(asks, login, body);
        if let Some(state) = state {
            payload["discussion"]["state"] = json!(state);
        }
        let before = fixture.server.discussed(NUMBER).len();
        let ran = step(&fixture, &payload);
        let said = fixture.server.discussed(NUMBER);
        let answer = said.into_iter().skip(before).map(|(_, text, _)| text).collect::<String>();
        (ran, answer)
    };
    let (ran, answer) = asked("eve", "/locum ask what is this", None);
    assert_eq!((ran.output("outcome"), answer.as_str()), ("skipped", ""), "{ran:?}");
    let (ran, answer) = asked("alice", "no command", None);
    assert_eq!((ran.output("outcome"), answer.as_str()), ("skipped", ""), "{ran:?}");
    let (_, answer) = asked("alice", "/locum ask what is this", Some("closed"));
    assert!(answer.contains("the thread is closed"), "{answer}");
    for verb in ["undo", "rebase"] {
        let (_, answer) = asked("alice", &format!("/locum {verb}"), None);
        assert!(answer.contains("pull request"), "{verb}: {answer}");
    }
    let (_, answer) = asked("alice", "/locum help", None);
    assert!(answer.contains("**Verbs**"), "{answer}");
}
