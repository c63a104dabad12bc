//! Work that was kept and not published survives the run that was to go on with it: one that fails, or
//! whose own work cannot be kept.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::conversation::{BRANCH, HELLO, earlier, note, says, start};
use crate::action::fixture::{ActionFixture, WorkflowStep};

/// Lets the model fail, and go on.
const FAILS: &str = "/locum go on now";
const GOES_ON: &str = "/locum go on please";

/// A run whose work is kept and not published.
fn kept() -> (ActionFixture, WorkflowStep) {
    let fixture = ActionFixture::new();
    let done =
        json!({ "calls": [{ "tool": "attempt_completion", "args": { "result": "Went on." } }] });
    fixture.script_first("go on please", &[done]);
    let fails = json!({ "expect": { "contains": ["what nobody says"] }, "say": "no" });
    fixture.script_first("go on now", &[fails]);
    let [path, content] = ["src/hello.txt", "hello\n"];
    let write = json!({ "tool": "write_to_file", "args": { "path": path, "content": content } });
    let result = json!({ "result": "Said hello to everyone." });
    let said = json!([{ "tool": "attempt_completion", "args": result }]);
    fixture.script_first("say hello", &[json!({ "calls": [write] }), json!({ "calls": said })]);
    fixture.refuse_branches("not now");
    let asks = fixture.server.add_comment(7, "alice", "User", HELLO);
    let first = says(&fixture, asks, HELLO);
    assert_eq!(first.output("outcome"), "not-published", "{first:?}");
    fixture.decline("exit 0");
    (fixture, first)
}

/// A run went on with the work of a session, and published it.
fn went_on(fixture: &ActionFixture, step: &WorkflowStep, with: &str) {
    assert_eq!(step.output("outcome"), "done", "{} {step:?}", note(fixture));
    let earlier = earlier(fixture, step);
    assert_eq!(earlier["session"], json!(with), "{}", note(fixture));
    assert_ne!(earlier["work"], Value::Null, "{earlier}");
    assert_eq!(fixture.branches(), [format!("{BRANCH} 1")]);
    let changed = fixture.remote(&["diff", "--name-only", "main", BRANCH]);
    assert!(changed.contains("src/hello.txt\n"), "{changed}");
    assert_eq!((fixture.server.pulls().len(), fixture.ended_sessions().len()), (1, 1));
}

#[test]
fn a_run_that_goes_on_and_fails_at_once_leaves_the_work_where_it_was() {
    let (fixture, first) = kept();
    let before = fixture.ended_sessions();
    let failed = says(&fixture, 156, FAILS);
    assert_eq!(failed.output("outcome"), "failed", "{failed:?}");
    assert_eq!(fixture.ended_sessions(), before);
    let comment = fixture.server.comments(7).pop().unwrap();
    let (go_on, retry) = (comment.find("/locum go on\n"), comment.find("/locum retry\n"));
    assert!(go_on.is_some() && go_on < retry, "{comment}");
    assert!(comment.contains("What the run before did is kept."), "{comment}");
    went_on(&fixture, &says(&fixture, 157, GOES_ON), first.output("session-id"));
}

#[test]
fn what_asked_to_go_on_is_not_the_request_that_is_tried_again() {
    let (fixture, _) = kept();
    let asks = fixture.server.add_comment(7, "alice", "User", FAILS);
    says(&fixture, asks, FAILS);
    let step = says(&fixture, 157, "/locum retry");
    let start = start(&fixture, &step);
    assert!(start["message"].as_str().unwrap().starts_with("say hello"), "{start}");
    assert_eq!((step.output("outcome"), &start["earlier"]), ("done", &Value::Null), "{step:?}");
    assert_eq!(fixture.ended_sessions().len(), 1);
}

#[test]
fn work_stays_until_the_run_that_goes_on_with_it_has_kept_or_published_its_own() {
    let (fixture, first) = kept();
    let before = fixture.ended_sessions();
    fixture.decline("grep -Eq '^0+ .* refs/locum/sessions/|refs/heads/' && exit 1; exit 0");
    let second = says(&fixture, 156, "/locum code say another");
    assert_eq!(second.output("outcome"), "not-published", "{second:?}");
    assert_eq!(fixture.ended_sessions(), before);
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(comment.contains("What the run before did is kept."), "{comment}");
    fixture.decline("exit 0");
    went_on(&fixture, &says(&fixture, 157, GOES_ON), first.output("session-id"));
}
