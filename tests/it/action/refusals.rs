//! Whose no it was: a person's, a secret's or the policy's, in comment, summary, outputs and exit
//! code alike; and what is said of a request that names what does not exist.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep, payload};

/// The first line of the last comment and of the summary, and both whole.
fn said(fixture: &ActionFixture, heading: &str) -> [String; 2] {
    let comment = fixture.server.comments(7).pop().unwrap();
    let summary = fixture.stage.read("summary");
    let last = summary.rsplit("**locum: ").next().unwrap();
    let summary = format!("**locum: {last}");
    for text in [&comment, &summary] {
        let first = text.lines().find(|line| !line.starts_with("<!--")).unwrap();
        assert!(first.starts_with(heading), "{heading}: {text}");
    }
    [comment, summary]
}

fn end(step: &WorkflowStep) -> (Option<i32>, &str, &str) {
    (step.code, step.output("outcome"), step.output("denied-count"))
}

#[test]
fn a_persons_no_is_theirs_and_ends_a_run_that_does_nothing_else_as_refused() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code hold two"));
    let step =
        fixture.step(&Ask { ids: (56, 4343), ..Ask::comment("/locum deny all not this week.") });
    assert_eq!(end(&step), (Some(4), "refused", "2"), "{step:?}");
    assert!(step.out.contains("locum::refused (2 calls denied by alice): no edit"), "{step:?}");
    for text in said(&fixture, "**locum: refused** · 2 calls denied by alice · mode code") {
        assert!(text.contains("denied by alice: not this week"), "{text}");
        assert!(text.contains("Refused: 2 calls denied by alice"), "{text}");
        assert!(!text.contains("instead:") && !text.contains("Refused by the policy"), "{text}");
    }
}

#[test]
fn a_persons_no_stands_out_in_a_run_that_is_done_otherwise() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code hold it"));
    let step = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment("/locum deny all") });
    assert_eq!(end(&step), (Some(0), "done", "1"), "{step:?}");
    said(&fixture, "**locum: done** · 1 call denied by alice · mode code");
}

#[test]
fn a_call_withheld_for_a_secret_is_counted_and_said() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask::comment("/locum code store a key"));
    assert_eq!(end(&step), (Some(4), "refused", "1"), "{step:?}");
    for text in said(&fixture, "**locum: refused** · 1 call withheld for a secret · mode code") {
        assert!(text.contains("was withheld, because it holds a secret"), "{text}");
        assert!(!text.contains("ghp_"), "{text}");
    }
    // Every edit refused by the policy is refused, too.
    let step =
        fixture.step(&Ask { ids: (57, 4344), ..Ask::comment("/locum code try the workflow") });
    assert_eq!(end(&step), (Some(4), "refused", "1"), "{step:?}");
    let [comment, _] = said(&fixture, "**locum: refused** · mode code");
    assert!(comment.contains("Refused by the policy: 1 denied"), "{comment}");
}

#[test]
fn a_button_with_a_mode_job_or_command_that_does_not_exist_fails_and_names_those_that_do() {
    let fixture = ActionFixture::new();
    let press = |inputs: serde_json::Value| {
        let ask = Ask { event: "workflow_dispatch", ..Ask::comment("") };
        let (event, mut payload) = payload(&ask);
        payload["inputs"] = inputs;
        fixture.step_with(event, &payload.to_string(), &[])
    };
    for (inputs, what, known) in [
        (
            json!({ "task": "say hello", "mode": "cod" }),
            "no mode `cod`; did you mean `code`?",
            "`ask`",
        ),
        (json!({ "job": "tuch" }), "no job `tuch`", "did you mean `touch`? known: touch"),
        (json!({ "task": "/gret" }), "/gret", "/greet"),
    ] {
        let step = press(inputs);
        assert_eq!((step.code, step.output("outcome")), (Some(2), "failed"), "{step:?}");
        let said = step.output("final-message");
        assert!(said.contains(what) && said.contains(known), "{step:?}");
        assert!(fixture.stage.read("summary").contains(what), "{step:?}");
    }
    let step = press(json!({ "task": "say hello", "mode": "code" }));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    // A comment is answered where it stands, and its workflow stays green.
    let step = fixture.step(&Ask::comment("/locum --mode=cod say hello"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(fixture.server.comments(7)[0].contains("did you mean `code`? Modes: "));
    // What a workflow names is listed as the policy lets it run.
    let inputs = [("INPUT_MODE", "cod"), ("INPUT_PROMPT", "say hello")];
    let ask = Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") };
    let step = fixture.step(&ask);
    assert_eq!(step.code, Some(2), "{step:?}");
    assert!(step.err.contains("did you mean `code`? known: architect, code, ask\n"), "{step:?}");
}

#[test]
fn a_command_whose_files_were_not_let_in_is_no_refused_command() {
    let fixture = ActionFixture::publishing(
        "publish: { allow: [comment, commit, pull-request] }\ncommands: { contained: allow }",
    );
    let runs = |command: &str| {
        let call = json!({ "tool": "execute_command", "args": { "command": command } });
        json!({ "calls": [call] })
    };
    let done = json!([{ "tool": "attempt_completion", "args": { "result": "Wrote it." } }]);
    let done = json!({ "calls": done });
    let writes = runs("echo a > src/in.txt; echo b > out.txt");
    fixture.script_first("write beside", &[writes, done.clone()]);
    let step = fixture.step(&Ask::comment("/locum code write beside"));
    assert_eq!(end(&step), (Some(0), "done", "0"), "{step:?}");
    let [comment, summary] = said(&fixture, "**locum: done** · mode code");
    let pulls = fixture.server.pulls();
    for text in [&comment, &summary, pulls[0]["body"].as_str().unwrap()] {
        assert!(text.contains("Not allowed to be written: 1 file"), "{text}");
        assert!(
            text.contains("edit(out.txt)") && !text.contains("Refused by the policy"),
            "{text}"
        );
    }
    // One that did not run is refused, and said once.
    let fixture = ActionFixture::new();
    let call = json!({ "path": "src/in.txt", "content": "a\n" });
    let edits = json!({ "calls": [{ "tool": "write_to_file", "args": call }] });
    fixture.script_first("write and push", &[edits, runs("git push --force"), done]);
    let step = fixture.step(&Ask::comment("/locum code write and push"));
    assert_eq!(end(&step), (Some(0), "done", "1"), "{step:?}");
    let [comment, _] = said(&fixture, "**locum: done** · mode code");
    assert!(comment.contains("Refused by the policy: 1 denied"), "{comment}");
    for text in [&comment, fixture.server.pulls()[0]["body"].as_str().unwrap()] {
        assert_eq!(text.matches("command(git push --force)").count(), 1, "{text}");
    }
}
