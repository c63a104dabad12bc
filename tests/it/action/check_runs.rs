//! Check runs on a pull request's commit: how a run ended and what it found, once for each mode.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask};
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
