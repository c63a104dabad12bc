//! Work that was kept and not published survives the run that was to go on with it: one that fails,
//! is killed or stopped, or whose own work cannot be kept.

use std::process::{Child, Stdio};

use pretty_assertions::assert_eq;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::action::conversation::{BRANCH, HELLO, earlier, note, says, start};
use crate::action::events::of_pull_request;
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::stage::Ran;

/// Asked for when a run has done its work and is about to publish.
const AT_END: &str = "GET /repos/acme/app/pulls?state=closed";
/// Lets the model fail, and go on.
const FAILS: &str = "/locum go on now";
const GOES_ON: &str = "/locum go on please";

/// A run whose work is kept and not published.
fn kept() -> (ActionFixture, WorkflowStep) {
    let fixture = ActionFixture::new();
    let done =
        json!({ "calls": [{ "tool": "attempt_completion", "args": { "result": "Went on." } }] });
    fixture.script_first("go on please", std::slice::from_ref(&done));
    let fails = json!({ "expect": { "contains": ["what nobody says"] }, "say": "no" });
    fixture.script_first("go on now", std::slice::from_ref(&fails));
    let [path, content] = ["src/hello.txt", "hello\n"];
    let write = json!({ "tool": "write_to_file", "args": { "path": path, "content": content } });
    let result = json!({ "result": "Said hello to everyone." });
    let said = json!([{ "tool": "attempt_completion", "args": result }]);
    fixture.script_first("say hello", &[json!({ "calls": [write] }), json!({ "calls": said })]);
    // What asks for something else may have that request as material.
    let writes = |path: &str| {
        let args = json!({ "path": path, "content": "new\n" });
        json!({ "calls": [{ "tool": "write_to_file", "args": args }] })
    };
    fixture.script_first("say another", &[writes("src/other.txt"), done.clone()]);
    fixture.script_first("go on and hold", &[writes("src/held/a.txt"), done.clone()]);
    fixture.script_first("explain it now", &[fails]);
    fixture.script_first("look at it", &[done]);
    fixture.refuse_branches("not now");
    let asks = fixture.server.add_comment(7, "alice", "User", HELLO);
    let first = says(&fixture, asks, HELLO);
    assert_eq!(first.output("outcome"), "not-published", "{first:?}");
    fixture.decline("exit 0");
    (fixture, first)
}

/// The run of a comment, once it is about to publish.
fn at_end(fixture: &ActionFixture, ask: &Ask<'_>) -> Child {
    let gate = fixture.server.close_gate(AT_END);
    let mut command = fixture.elsewhere(&format!("at-{}-", ask.ids.0), ask);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait();
    std::mem::forget(gate);
    child
}

fn ask(id: u64, body: &str) -> Ask<'_> {
    Ask { ids: (id, 4000 + id), ..Ask::comment(body) }
}

/// The same workflow run, started again.
fn again(fixture: &ActionFixture, ask: Ask<'_>) -> WorkflowStep {
    fixture.stage.write("summary", "");
    fixture.fresh(&Ask { inputs: &[("GITHUB_RUN_ATTEMPT", "2")], ..ask })
}

/// Ends a run from outside, as a job that is cancelled.
fn cancelled(fixture: &ActionFixture, ask: &Ask<'_>) -> WorkflowStep {
    let child = at_end(fixture, ask);
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(process, Signal::TERM).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    let step = fixture.ended(&format!("at-{}-", ask.ids.0), ran);
    assert_eq!(step.output("outcome"), "cancelled", "{step:?}");
    step
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
    let before = fixture.ended_sessions();
    let asks = fixture.server.add_comment(7, "alice", "User", FAILS);
    says(&fixture, asks, FAILS);
    let step = says(&fixture, 157, "/locum retry");
    let start = start(&fixture, &step);
    assert!(start["message"].as_str().unwrap().starts_with("say hello"), "{start}");
    assert_eq!((step.output("outcome"), &start["earlier"]), ("done", &Value::Null), "{step:?}");
    // What was done before is not thrown away.
    let there = fixture.ended_sessions();
    assert!(there.len() == 2 && there.contains(&before[0]), "{there:?}");
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

#[test]
fn a_killed_run_that_went_on_is_gone_on_before() {
    for same in [true, false] {
        let (fixture, first) = kept();
        let before = fixture.ended_sessions();
        let mut child = at_end(&fixture, &ask(156, GOES_ON));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(fixture.ended_sessions(), before);
        let step = if same {
            again(&fixture, ask(156, GOES_ON))
        } else {
            fixture.server.add_run(4156, Some("cancelled"));
            says(&fixture, 157, GOES_ON)
        };
        went_on(&fixture, &step, first.output("session-id"));
    }
}

#[test]
fn a_run_that_was_cancelled_and_is_started_again_goes_on_with_what_it_kept() {
    let (fixture, _) = kept();
    let second = cancelled(&fixture, &ask(156, GOES_ON));
    assert_eq!(fixture.ended_sessions().len(), 1);
    went_on(&fixture, &again(&fixture, ask(156, GOES_ON)), second.output("session-id"));

    let fixture = ActionFixture::new();
    let first = cancelled(&fixture, &ask(55, HELLO));
    went_on(&fixture, &again(&fixture, ask(55, HELLO)), first.output("session-id"));
    // What it published is made anew.
    let step = again(&fixture, ask(55, HELLO));
    assert_eq!((step.code, earlier(&fixture, &step)), (Some(0), Value::Null), "{step:?}");
    assert_eq!(note(&fixture), "");
}

#[test]
fn a_pull_request_of_earlier_work_has_the_words_of_who_made_it_first() {
    let (fixture, _) = kept();
    says(&fixture, 156, FAILS);
    says(&fixture, 157, GOES_ON);
    let pulls = fixture.server.pulls();
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert!(pull["title"].as_str().unwrap().starts_with("Said hello"), "{pull}");
    let body = pull["body"].as_str().unwrap();
    let (made, went_on) = (body.find("Said hello"), body.find("Went on."));
    assert!(made.is_some() && made < went_on, "{body}");
    // The comment says what its own run did.
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(!comment.contains("Said hello to"), "{comment}");
}

#[test]
fn a_run_that_did_something_else_leaves_work_that_is_not_published_where_it_is() {
    for other in ["/locum ask look at it", "/locum code --model=fixed look at it"] {
        let (fixture, first) = kept();
        let before = fixture.ended_sessions();
        let second = says(&fixture, 156, other);
        assert_eq!(second.code, Some(0), "{second:?}");
        let there = fixture.ended_sessions();
        assert!(there.len() == 2 && there.contains(&before[0]), "{other}: {there:?}");
        // Its comment says so.
        let comment = fixture.server.comments(7).pop().unwrap();
        let stays = "what it changed and did not publish stays in `refs/locum/sessions/";
        assert!(comment.contains(stays), "{other}: {comment}");
        let mode = comment.contains("`/locum code go on` resumes it");
        assert_eq!(mode, other.contains("ask"), "{comment}");
        went_on(&fixture, &says(&fixture, 157, GOES_ON), first.output("session-id"));
    }
}

#[test]
fn a_run_in_another_mode_that_fails_names_the_work_before_it() {
    let (fixture, first) = kept();
    let failed = says(&fixture, 156, "/locum ask explain it now");
    assert_eq!(failed.output("outcome"), "failed", "{failed:?}");
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(comment.contains("What the run before did is kept."), "{comment}");
    went_on(&fixture, &says(&fixture, 157, GOES_ON), first.output("session-id"));
}

#[test]
fn work_that_cannot_be_gone_on_with_any_more_stays_and_is_named() {
    let (fixture, first) = kept();
    let before = fixture.ended_sessions();
    let second = says(&fixture, 156, "/locum code --model=fixed say another");
    assert_eq!(second.output("outcome"), "done", "{second:?}");
    // Its change would go onto a branch that holds another one by now.
    let third = says(&fixture, 157, GOES_ON);
    assert_eq!(earlier(&fixture, &third)["session"], json!(second.output("session-id")));
    let comment = fixture.server.comments(7).pop().unwrap();
    let said = format!(
        "Note: the conversation of session {} is not resumed: the branch has new commits since; \
         what it changed and did not publish stays in `refs/locum/sessions/",
        first.output("session-id")
    );
    assert!(comment.contains(&said), "{said}: {comment}");
    assert!(fixture.ended_sessions().contains(&before[0]), "{:?}", fixture.ended_sessions());
}

#[test]
fn a_pull_request_of_a_run_that_went_on_and_waited_has_the_words_of_who_made_it() {
    let (fixture, _) = kept();
    let held = says(&fixture, 156, "/locum code go on and hold");
    assert_eq!(held.output("outcome"), "on-hold", "{held:?}");
    let approved = says(&fixture, 157, &format!("/locum approve {}", fixture.waiting(7)));
    assert_eq!(approved.output("outcome"), "done", "{approved:?}");
    let pulls = fixture.server.pulls();
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert!(pull["title"].as_str().unwrap().starts_with("Said hello"), "{pull}");
    let body = pull["body"].as_str().unwrap();
    let (made, went_on) = (body.find("Said hello"), body.find("Went on."));
    assert!(made.is_some() && made < went_on, "{body}");
}

#[test]
fn an_event_of_a_pull_request_that_is_started_again_does_not_go_on_with_another_request() {
    let entry = "pull_request: { on: [opened, synchronize], mode: ask, tiers: [maintainer] }";
    let fixture = ActionFixture::started_by(entry);
    let head = fixture.pull_request(false);
    let event = |name: &str, run: &str, attempt: &str| {
        let payload = of_pull_request(name, "alice", &head).to_string();
        let inputs = [("GITHUB_RUN_ID", run), ("GITHUB_RUN_ATTEMPT", attempt)];
        fixture.step_with("pull_request", &payload, &inputs)
    };
    let first = event("pull_request.opened", "4101", "1");
    assert_eq!(first.output("outcome"), "done", "{first:?}");
    let line = |body: &str| body.lines().nth(1).unwrap_or_default().to_owned();
    let [said] = fixture.server.comments(8).try_into().unwrap();
    // The second event's run took the comment over, named what was before it, and was killed.
    let killed = format!(
        "<!-- locum:v1 kind=progress comment=pull-request run=4102 -->\n{}\n**locum: working**",
        line(&said)
    );
    fixture.server.change_last_comment(8, &killed);
    fixture.move_on(true);
    fixture.stage.write("summary", "");
    let again = event("pull_request.synchronize", "4102", "2");
    assert_eq!(again.output("outcome"), "done", "{again:?}");
    assert_eq!(
        (earlier(&fixture, &again), note(&fixture).as_str()),
        (Value::Null, ""),
        "{again:?}"
    );
}
