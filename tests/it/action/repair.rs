//! Failed checks of a pull request, repaired: run again first, then mended from their output, and
//! handed over when that does not help.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::github::Fault;

const ENTRY: &str = "ci_failure: { workflows: [CI], mode: code }";

/// A pull request of Locum's own: its number, and a fixture whose checks may fail.
fn opened(entry: &str) -> (ActionFixture, u64) {
    let fixture = ActionFixture::started_by(entry);
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let number = fixture.server.pulls()[0]["number"].as_u64().unwrap();
    (fixture, number)
}

/// The payload of a workflow run on the head of a pull request.
fn ended(fixture: &ActionFixture, number: u64, (run, attempt): (u64, u64), end: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/events");
    let text = std::fs::read_to_string(format!("{folder}/workflow_run.completed.json")).unwrap();
    let mut payload: Value = serde_json::from_str(&text).unwrap();
    payload["repository"] = json!({ "id": 1, "full_name": "acme/app", "default_branch": "main", "private": false, "owner": { "login": "acme" }, "name": "app" });
    payload["sender"] = json!({ "login": "locum-bot", "type": "Bot", "id": 5 });
    let pulls = fixture.server.pulls();
    let pull = pulls.iter().find(|pull| pull["number"] == number).unwrap();
    let branch = pull["head"]["ref"].as_str().unwrap();
    let head = fixture.remote(&["rev-parse", branch]).trim().to_owned();
    fixture.remote(&["update-ref", &format!("refs/pull/{number}/head"), &head]);
    fixture.server.change_pull(number, "/head/sha", json!(head));
    let run_of = &mut payload["workflow_run"];
    (run_of["id"], run_of["run_attempt"]) = (json!(run), json!(attempt));
    (run_of["name"], run_of["conclusion"]) = (json!("CI"), json!(end));
    (run_of["head_sha"], run_of["head_branch"]) = (json!(head), json!(branch));
    run_of["pull_requests"] = json!([{ "number": number, "base": { "repo": { "id": 1 } } }]);
    let job = json!({ "id": run + attempt, "name": "test", "conclusion": end, "html_url": format!("https://x/jobs/{}", run + attempt),
        "steps": [{ "name": "Run the tests", "conclusion": end }] });
    let log = "2026-01-02T03:04:05.1234567Z hello.txt does not end in peace, fixture-token-1234567890\n\
               2026-01-02T03:04:06.1234567Z ##[error]Process completed with exit code 1.\n";
    fixture.server.add_job((run, attempt), job, log);
    payload
}

/// Runs the step in another workflow run, on a fresh checkout.
fn step(fixture: &ActionFixture, payload: &Value, own_run: u64) -> WorkflowStep {
    fixture.move_on(true);
    let run = own_run.to_string();
    let variables = [("GITHUB_RUN_ID", run.as_str()), ("GITHUB_ACTOR", "locum-bot")];
    fixture.step_with("workflow_run", &payload.to_string(), &variables)
}

/// How often failed jobs were run again.
fn reruns(fixture: &ActionFixture) -> usize {
    let again = |request: &&String| request.ends_with("/rerun-failed-jobs");
    fixture.server.writes().iter().filter(again).count()
}

#[test]
fn a_flaky_job_costs_no_model_and_a_failing_one_is_mended_from_its_log() {
    let (fixture, number) = opened(ENTRY);
    let branches = fixture.branches();
    let flaky = ended(&fixture, number, (70, 1), "failure");
    let ran = step(&fixture, &flaky, 5001);
    assert_eq!((ran.code, ran.output("session-id"), reruns(&fixture)), (Some(0), "", 1), "{ran:?}");
    assert!(fixture.server.comments(number).is_empty(), "nothing is said of a flaky job");
    let passed = ended(&fixture, number, (70, 2), "success");
    let ran = step(&fixture, &passed, 5002);
    assert!(ran.output("final-message").contains("no repair of `CI` made commit"), "{ran:?}");
    assert!(fixture.server.comments(number).is_empty(), "nothing is said of it");
    assert_eq!(fixture.branches(), branches);

    let failed = ended(&fixture, number, (69, 2), "failure");
    let ran = step(&fixture, &failed, 5003);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "done"), "{ran:?}");
    let comments = fixture.server.comments(number);
    let comment = comments.iter().find(|text| text.contains("ends in peace now")).unwrap();
    assert!(comment.contains("This is repair 1 of 3 here."), "{comment}");
    assert!(comment.contains("not the model."), "{comment}");
    let head = fixture.server.pulls()[0]["head"]["ref"].as_str().unwrap().to_owned();
    assert_eq!(fixture.remote(&["show", &format!("{head}:src/hello.txt")]), "hello, peace\n");
    assert_eq!((fixture.server.pulls().len(), reruns(&fixture)), (1, 1));
    let pushed = fixture.remote(&["rev-parse", &head]).trim().to_owned();
    fixture.server.change_pull(number, "/head/sha", json!(pushed));
    // The same event again, late: the checks are those of a commit that is no longer the head.
    let ran = step(&fixture, &failed, 5004);
    assert!(ran.output("final-message").contains("has new commits"), "{ran:?}");
}

#[test]
fn when_the_checks_of_a_repair_pass_its_comment_says_so_once() {
    let (fixture, number) = opened(ENTRY);
    let failed = ended(&fixture, number, (69, 2), "failure");
    let ran = step(&fixture, &failed, 5003);
    assert_eq!(ran.output("outcome"), "done", "{ran:?}");
    let before = fixture.server.comments(number);
    let passed = ended(&fixture, number, (90, 1), "success");
    let head = passed["workflow_run"]["head_sha"].as_str().unwrap().to_owned();
    let short = &head[..12];
    let silent = |run: u64, payload: &Value, why: &str| {
        let writes = fixture.server.writes().len();
        let ran = step(&fixture, payload, run);
        let said = ran.output("final-message");
        assert!(said.contains(why), "{why}: {ran:?}");
        assert_eq!((ran.code, ran.output("outcome")), (Some(0), "skipped"), "{ran:?}");
        assert_eq!(fixture.server.writes().len(), writes, "{why}");
    };
    // The payload alone is not believed, and one green run of two is not all of them.
    silent(5010, &passed, "not every run of `CI` on commit");
    let end = |name: &str, end: Value| {
        fixture.server.end_checks(&head, json!({ "id": 1, "name": name, "conclusion": end }));
    };
    end("Lint", json!("failure"));
    end("CI", json!("success"));
    end("CI", Value::Null);
    silent(5011, &passed, "not every run of `CI` on commit");
    let mut other = passed.clone();
    other["workflow_run"]["conclusion"] = json!("cancelled");
    silent(5012, &other, "the checks did not fail: `cancelled`");
    other["workflow_run"]["conclusion"] = json!("success");
    other["workflow_run"]["head_sha"] = json!("0".repeat(40));
    silent(5013, &other, "has new commits");
    assert_eq!(fixture.server.comments(number), before);

    fixture.server.forget_checks();
    end("Lint", json!("failure"));
    end("CI", json!("success"));
    let ran = step(&fixture, &passed, 5014);
    assert_eq!((ran.code, ran.output("session-id")), (Some(0), ""), "{ran:?}");
    let comments = fixture.server.comments(number);
    assert_eq!(comments.len(), before.len(), "no comment is added");
    let comment = comments.iter().find(|text| text.contains("The checks pass:")).unwrap();
    let news = format!("**The checks pass:** `CI` succeeded on commit `{short}` ([log](https://");
    assert!(comment.contains(&news), "{comment}");
    let old = before.iter().find(|text| text.contains("This is repair 1 of 3 here.")).unwrap();
    assert_eq!(comment.lines().next(), old.lines().next());
    let without = |text: &str| {
        let kept = text.lines().filter(|line| {
            !line.starts_with("**The checks pass:**") && !line.contains("kind=repair")
        });
        kept.filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(comment), without(old), "all that it said stays");
    silent(5015, &passed, "says already that `CI` passes");
}

#[test]
fn the_checks_of_an_app_say_what_failed_and_are_not_run_again() {
    let (fixture, number) = opened("ci_failure: { workflows: [linter], mode: code }");
    let run = ended(&fixture, number, (1, 1), "failure");
    let mut payload = json!({ "action": "completed", "check_suite": run["workflow_run"],
        "repository": run["repository"], "sender": { "login": "linter[bot]", "type": "Bot", "id": 9 } });
    payload["check_suite"]["id"] = json!(70);
    payload["check_suite"]["app"] = json!({ "slug": "linter" });
    let said = json!({ "title": "hello.txt does not end in peace", "summary": "##[error]Process completed with exit code 1." });
    let name = "test, step Run the tests";
    let check = json!({ "name": name, "conclusion": "failure", "html_url": "https://x/jobs/71", "output": said });
    fixture.server.add_check_run(70, check);
    fixture.move_on(true);
    let variables = [("GITHUB_RUN_ID", "5001")];
    let ran = fixture.step_with("check_suite", &payload.to_string(), &variables);
    assert_eq!((ran.output("outcome"), reruns(&fixture)), ("done", 0), "{ran:?}");
    let comments = fixture.server.comments(number).concat();
    assert!(comments.contains("This is repair 1 of 3 here."), "{comments}");
}

#[test]
fn a_hopeless_job_is_handed_over_after_its_attempts_once() {
    let (fixture, number) = opened(ENTRY);
    for own_run in 5001..=5003 {
        let comment =
            format!("<!-- locum:v1 kind=progress comment=checks run={own_run} -->\ntried");
        fixture.server.add_comment(number, "locum-bot", "Bot", &comment);
    }
    for own_run in [6001, 6002] {
        let failed = ended(&fixture, number, (own_run, 2), "failure");
        let ran = step(&fixture, &failed, own_run);
        assert_eq!((ran.output("outcome"), ran.output("session-id")), ("skipped", ""), "{ran:?}");
        let over: Vec<String> = fixture
            .server
            .comments(number)
            .into_iter()
            .filter(|text| text.contains("handed over"))
            .collect();
        assert_eq!(over.len(), 1, "{over:#?}");
        assert!(over[0].contains("after 3 repairs"), "{over:#?}");
        assert!(over[0].contains("`/locum fix`"), "{over:#?}");
    }
    assert_eq!(reruns(&fixture), 0);
}

#[test]
fn a_labelled_pull_request_is_repaired_again_after_our_own_push() {
    let entry = "ci_failure: { workflows: [CI], mode: code, label: locum-ci, tiers: [maintainer] }";
    // An app's token does not learn its login from REST.
    for login in ["locum-bot", "our-app[bot]"] {
        let fixture = ActionFixture::started_by(entry);
        fixture.pull_request(false);
        fixture.server.label_pull(8, "locum-ci");
        if login != "locum-bot" {
            fixture.server.sign_in(login, "Bot");
            fixture
                .server
                .fail(Fault::status("GET /user", 403, "Resource not accessible").lasting());
        }
        let sent = |run: u64, sender: Value, own_run| {
            let mut failed = ended(&fixture, 8, (run, 2), "failure");
            failed["sender"] = sender;
            step(&fixture, &failed, own_run)
        };
        let first = sent(69, json!({ "login": "alice", "type": "User", "id": 1 }), 5001);
        assert_eq!(first.output("outcome"), "done", "{first:?}");
        // What it pushed fails, and so do jobs that it ran again: the forge names its own account.
        let second = sent(69, json!({ "login": login, "type": "Bot", "id": 5 }), 5002);
        // The scripted model has nothing else to write.
        assert_eq!(second.output("outcome"), "nothing-to-do", "{login}: {second:?}");
        let comments = fixture.server.comments(8).concat();
        assert!(comments.contains("This is repair 2 of 3 here."), "{comments}");
        let other = sent(69, json!({ "login": "other[bot]", "type": "Bot", "id": 6 }), 5003);
        assert_eq!(
            (other.output("outcome"), other.output("session-id")),
            ("skipped", ""),
            "{other:?}"
        );
    }
}

#[test]
fn what_is_not_ours_or_named_is_left_alone() {
    let fixture = ActionFixture::started_by(ENTRY);
    fixture.pull_request(false);
    let failed = ended(&fixture, 8, (69, 2), "failure");
    let ran = step(&fixture, &failed, 5001);
    assert!(ran.output("final-message").contains("#8 is not Locum's own"), "{ran:?}");
    let (fixture, number) = opened("ci_failure: { workflows: [Release], mode: code }");
    let failed = ended(&fixture, number, (69, 2), "failure");
    let ran = step(&fixture, &failed, 5001);
    assert!(ran.output("final-message").contains("`workflows` does not name `CI`"), "{ran:?}");
    assert_eq!(reruns(&fixture), 0);
}

#[test]
fn the_workflows_own_token_is_said_to_start_no_checks() {
    for (own, said) in [("true", true), ("false", false)] {
        let (fixture, number) = opened(ENTRY);
        let failed = ended(&fixture, number, (69, 2), "failure");
        fixture.move_on(true);
        let variables = [("GITHUB_RUN_ID", "5001"), ("WORKFLOW_TOKEN", own)];
        let ran = fixture.step_with("workflow_run", &failed.to_string(), &variables);
        assert_eq!(ran.output("outcome"), "done", "{ran:?}");
        let comments = fixture.server.comments(number).concat();
        assert_eq!(comments.contains("own token pushes starts no checks"), said, "{comments}");
    }
}
