//! The memory across runs of the Action: kept at the repository, never without a maintainer where
//! anyone else had a word in the run.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

fn fixture() -> ActionFixture {
    let rules = "publish: { allow: [comment, commit, pull-request] }";
    let fixture = ActionFixture::publishing(rules);
    let policy = fixture.stage.read("checkout/.locum/policy.yml");
    let rule = "rules:\n  - allow: [\"memory(read/*)\", \"memory(write/*)\"]\n";
    let policy = policy.replacen("rules:\n", rule, 1);
    let approve = "triggers:\n  approve: { tiers: [maintainer, collaborator] }\n";
    let policy = policy.replacen("triggers:\n", approve, 1);
    let turns = |contains: &str, tool: &str, arguments: Value, expected: &[&str]| {
        let first = json!({ "calls": [{ "tool": tool, "args": arguments }] });
        let done = json!([{ "tool": "attempt_completion", "args": { "result": "Done." } }]);
        let last = json!({ "expect": { "contains": expected }, "calls": done });
        json!({ "contains": contains, "turns": [first, last] })
    };
    let keeps = json!({ "name": "build", "text": "Run make." });
    let long = json!({ "name": "build", "text": long_note(), "padding": "x".repeat(5000) });
    let tasks = [
        turns("recall it", "read_memory", json!({ "name": "build" }), &["Run make."]),
        turns("keep it", "write_memory", keeps, &[]),
        turns("keep much", "write_memory", long, &[]),
    ];
    let tasks: String = tasks.iter().map(|task| format!("  - {task}\n")).collect();
    let script = fixture.stage.read("checkout/.locum/script.yml");
    let script = script.replacen("tasks:\n", &format!("tasks:\n{tasks}"), 1);
    fixture.add_to_main(&[(".locum/policy.yml", &policy), (".locum/script.yml", &script)]);
    fixture
}

/// A note as long as one may be, whose middle says what is not to be overlooked.
fn long_note() -> String {
    let half = "a line\n".repeat(290);
    format!("{half}The middle.\n{half}The end.")
}

fn dispatched(fixture: &ActionFixture, prompt: &str) -> WorkflowStep {
    let inputs = [("INPUT_PROMPT", prompt), ("INPUT_MODE", "code")];
    fixture.fresh(&Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") })
}

fn kept(fixture: &ActionFixture) -> String {
    if fixture.remote(&["for-each-ref", "refs/locum/memory"]).is_empty() {
        return String::new();
    }
    fixture.remote(&["show", "refs/locum/memory:memory.json"])
}

#[test]
fn a_run_by_hand_keeps_a_note_that_another_machine_reads() {
    let fixture = fixture();
    let step = dispatched(&fixture, "keep it");
    assert_eq!(step.code, Some(0), "{step:?}");
    assert!(kept(&fixture).contains("\"text\": \"Run make.\""), "{}", kept(&fixture));
    assert!(kept(&fixture).contains("\"trigger\": \"dispatch\""), "{}", kept(&fixture));
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("Kept in memory for later runs: `build`."), "{summary}");
    let step = dispatched(&fixture, "recall it");
    assert_eq!(step.code, Some(0), "{step:?}");
}

#[test]
fn what_an_issue_may_have_suggested_waits_for_a_maintainer() {
    let fixture = fixture();
    let step = fixture.fresh(&Ask::comment("/locum code keep it"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    assert_eq!(kept(&fixture), "");
    let comment = fixture.server.comments(7)[0].clone();
    for shown in ["keep the note build", "Run make.", "a maintainer has to agree"] {
        assert!(comment.contains(shown), "{shown} in {comment}");
    }
    let hold = fixture.waiting(7);
    fixture.move_on(true);
    let approve = format!("/locum approve {hold}");
    let step = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment(&approve) });
    assert_eq!(step.code, Some(0), "{step:?}");
    let record = kept(&fixture);
    for shown in ["\"text\": \"Run make.\"", "\"approved_by\": \"alice\"", "\"comment\""] {
        assert!(record.contains(shown), "{shown} in {record}");
    }
}

#[test]
fn the_maintainer_sees_the_whole_note_and_nobody_else_approves_it() {
    let fixture = fixture();
    let step = fixture.fresh(&Ask::comment("/locum code keep much"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let comment = fixture.server.comments(7)[0].clone();
    assert!(comment.contains(&long_note()), "{comment}");
    let approve = format!("/locum approve {}", fixture.waiting(7));
    fixture.server.permit("carol", json!({ "permission": "read", "role_name": "triage" }));
    let ask = Ask { login: "carol", ids: (56, 4343), ..Ask::comment(&approve) };
    let step = fixture.step(&ask);
    let said = step.output("final-message");
    assert!(said.contains("a note for later runs, which a maintainer has to approve"), "{step:?}");
    assert_eq!(kept(&fixture), "");
    let step = fixture.step(&Ask { ids: (57, 4444), ..Ask::comment(&approve) });
    assert_eq!(step.code, Some(0), "{step:?}");
    assert!(kept(&fixture).contains("The middle."), "{}", kept(&fixture));
}

#[test]
fn a_job_that_may_write_nothing_keeps_no_note_though_its_token_may() {
    let fixture = fixture();
    fixture.make_shallow();
    let inputs = [("INPUT_PROMPT", "keep it"), ("INPUT_MODE", "code"), ("INPUT_BUNDLE", "write")];
    let step =
        fixture.step(&Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") });
    assert_eq!(step.code, Some(0), "{step:?}");
    assert_eq!(kept(&fixture), "");
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("a job that may write nothing keeps no notes"), "{summary}");
}

#[test]
fn a_token_that_may_not_write_the_memory_does_not_fail_the_run() {
    let fixture = fixture();
    fixture.decline("grep -q refs/locum/memory && { echo 'not you' >&2; exit 1; }; exit 0");
    let step = dispatched(&fixture, "keep it");
    assert_eq!(step.code, Some(0), "{step:?}");
    assert_eq!(kept(&fixture), "");
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("The memory was not changed: `build`: "), "{summary}");
}
