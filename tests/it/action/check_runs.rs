//! Check runs on a pull request's commit: how a run ended and what it found, once for each mode.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::events::of_pull_request;
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::github::Fault;

const REVIEWS: &str = "publish: { allow: [comment, review, check], as: review }";

#[test]
fn a_review_shows_its_findings_as_one_check_run_of_the_commit() {
    let fixture = ActionFixture::publishing(REVIEWS);
    let head = fixture.pull_request(false);
    for ids in [(55, 4242), (56, 4243)] {
        let review = Ask { number: 8, ids, ..Ask::comment("/locum ask look at it") };
        let step = fixture.fresh(&review);
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        let checks = fixture.server.check_runs();
        assert_eq!(checks.len(), 1, "{checks:#?}");
        let check = &checks[0];
        assert_eq!((&check["name"], &check["head_sha"]), (&json!("locum: ask"), &json!(head)));
        assert_eq!(
            (&check["status"], &check["conclusion"]),
            (&json!("completed"), &json!("success"))
        );
        let output = &check["output"];
        assert_eq!(output["title"], "done; 1 finding: 1 should fix");
        let summary = output["summary"].as_str().unwrap();
        assert!(summary.contains("Needs changes."), "{summary}");
        assert!(!summary.contains("<!-- locum:") && !summary.contains("@alice"), "{summary}");
        let found = json!({ "path": "src/lib.txt", "start_line": 1, "end_line": 1, "annotation_level": "warning",
            "title": "should fix, medium confidence", "message": "**should fix** `src/lib.txt:1` is vague" });
        assert_eq!(output["annotations"], json!([found]), "a nit is below the floor");
    }
}

#[test]
fn a_run_that_pushes_shows_at_its_own_commit_how_it_ended() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment, commit, check] }");
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(step.output("branch-name"), "feature", "{step:?}");
    let check = &fixture.server.check_runs()[0];
    assert_eq!(check["head_sha"], fixture.remote(&["rev-parse", "feature"]).trim());
    assert_eq!(check["output"]["annotations"], json!([]));
}

#[test]
fn no_check_run_is_made_without_the_policys_leave_or_the_tokens() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment, review], as: review }");
    fixture.pull_request(false);
    let ask = Ask { number: 8, ..Ask::comment("/locum ask look at it") };
    let step = fixture.step(&ask);
    assert_eq!((step.code, fixture.server.check_runs().len()), (Some(0), 0), "{step:?}");

    let fixture = ActionFixture::publishing(REVIEWS);
    fixture.pull_request(false);
    let message = "Resource not accessible by integration";
    fixture.server.fail(Fault::status("POST /repos/acme/app/check-runs", 403, message));
    let step = fixture.step(&ask);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("permissions: { checks: write }"), "{summary}");

    let fixture = ActionFixture::publishing(REVIEWS);
    let step = fixture.step(&Ask::comment("/locum ask look at it"));
    let checks = fixture.server.check_runs();
    assert!(step.code == Some(0) && checks.is_empty(), "an issue has no commit: {checks:#?}");
}

/// Runs the step for what a maintainer did to the pull request.
fn step(fixture: &ActionFixture, event: &str, head: &str) -> WorkflowStep {
    fixture.step_with("pull_request", &of_pull_request(event, "alice", head).to_string(), &[])
}

const CHECKED: &str =
    "pull_request: { on: [opened, synchronize], checks: [policy], tiers: [maintainer] }";

#[test]
fn a_pull_request_that_breaks_the_policy_is_told_at_the_line() {
    let fixture = ActionFixture::started_by(CHECKED);
    fixture.pull_request(false);
    let broken = "version: 1\nruls: []\n";
    let head = fixture.push_on(8, "feature", ".locum/policy.yml", broken);
    for _ in 0..2 {
        let ran = step(&fixture, "pull_request.opened", &head);
        assert_eq!((ran.code, ran.output("conclusion")), (Some(2), "failure"), "{ran:?}");
        assert!(ran.out.contains(".locum/policy.yml:2:1: unknown key `ruls`"), "{ran:?}");
        let checks = fixture.server.check_runs();
        assert_eq!(checks.len(), 1, "{checks:#?}");
        let check = &checks[0];
        assert_eq!(
            (&check["name"], &check["head_sha"]),
            (&json!("locum policy check"), &json!(head))
        );
        assert_eq!(check["conclusion"], "failure");
        let annotations = check["output"]["annotations"].as_array().unwrap();
        assert_eq!(annotations.len(), 1, "{annotations:#?}");
        let place =
            ["path", "start_line", "annotation_level"].map(|key| annotations[0][key].clone());
        assert_eq!(place, [json!(".locum/policy.yml"), json!(2), json!("failure")]);
        assert!(
            fixture.server.comments(8).is_empty(),
            "no model is asked and nothing else is said"
        );
    }
    let mended =
        "version: 1\nmodes: { default: code, allow: [code] }\nrules: [{ allow: ['read(**)'] }]\n";
    let head = fixture.push_on(8, "feature", ".locum/policy.yml", mended);
    let ran = step(&fixture, "pull_request.synchronize", &head);
    assert_eq!((ran.code, ran.output("conclusion")), (Some(0), "success"), "{ran:?}");
    assert_eq!(fixture.server.check_runs().len(), 2, "each commit has its own");
}

#[test]
fn the_policy_is_checked_beside_a_review_and_only_where_it_changes() {
    let entry = "pull_request: { on: [opened], mode: ask, checks: [policy], tiers: [maintainer] }";
    let fixture = ActionFixture::started_by(entry);
    let head = fixture.pull_request(false);
    let ran = step(&fixture, "pull_request.opened", &head);
    // The job of the base cannot run in the default mode of the new policy.
    assert_eq!((ran.code, ran.output("outcome")), (Some(2), "done"), "{ran:?}");
    let names: Vec<_> =
        fixture.server.check_runs().iter().map(|check| check["name"].clone()).collect();
    assert_eq!(names, [json!("locum policy check"), json!("locum: ask")]);

    let fixture = ActionFixture::started_by(CHECKED);
    fixture.pull_request(false);
    let base = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
    fixture.remote(&["update-ref", "refs/heads/feature", &base]);
    let head = fixture.push_on(8, "feature", "src/new.txt", "new\n");
    let ran = step(&fixture, "pull_request.opened", &head);
    assert_eq!((ran.code, ran.output("outcome")), (Some(0), "skipped"), "{ran:?}");
    assert!(fixture.server.check_runs().is_empty());
}
