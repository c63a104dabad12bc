//! Work that could not be published: never `done`, and every surface says so alike.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::github::Fault;

const ASK: &str = "/locum code say hello";
const PULLS: &str = "POST /repos/acme/app/pulls";
const EDITS: &str = "PATCH /repos/acme/app/issues/comments";
const BRANCH: &str = "locum/issue-7-greeting-is-missing";

/// The reactions that are left on the request.
fn reactions(fixture: &ActionFixture) -> Vec<Value> {
    fixture.server.reactions().iter().map(|one| one["content"].clone()).collect()
}

/// Checks every surface but the comment, and returns the summary.
fn is_not_published(fixture: &ActionFixture, step: &WorkflowStep, why: &str) -> String {
    assert_eq!(
        (step.code, step.output("outcome"), step.output("conclusion")),
        (Some(8), "not-published", "failure"),
        "{step:?}"
    );
    let annotation = step.out.lines().find(|line| line.starts_with("::error title=locum::"));
    assert!(
        annotation.is_some_and(|line| line.contains("::not published: ") && line.contains(why)),
        "{why}: {step:?}"
    );
    assert_eq!(reactions(fixture), [json!("confused")], "{why}");
    let summary = fixture.stage.read("summary");
    assert!(summary.starts_with("**locum: not published**"), "{summary}");
    assert!(summary.contains(why), "{why}: {summary}");
    assert!(!summary.contains("\n\n\n"), "{summary}");
    let ends: Vec<&str> = step.out.lines().filter(|line| line.starts_with("outcome ")).collect();
    assert!(ends.len() == 1 && ends[0].starts_with("outcome not-published · "), "{step:?}");
    let shown = fixture
        .stage
        .locum(&["session", "show", "--json", step.output("session-id")])
        .env("XDG_STATE_HOME", fixture.stage.path("state"))
        .env("LOCUM_SESSION_DIR", fixture.stage.path("tmp/locum/sessions"))
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
    assert_eq!(
        (&shown["outcome"]["outcome"], &shown["outcome"]["exit_code"]),
        (&json!("not-published"), &json!(8)),
        "{shown:#}"
    );
    assert!(shown["outcome"]["hindrance"]["why"].as_str().unwrap().contains(why), "{shown:#}");
    summary
}

/// Checks that the comment says it, and returns it.
fn told(fixture: &ActionFixture, parts: &[&str]) -> String {
    let comment = fixture.server.comments(7).pop().unwrap();
    let first = comment.lines().find(|line| !line.starts_with("<!--")).unwrap_or_default();
    assert!(first.starts_with("**locum: not published**"), "{comment}");
    for part in parts {
        assert!(comment.contains(part), "{part}: {comment}");
    }
    comment
}

#[test]
fn a_forbidden_pull_request_names_the_setting_and_links_the_page_that_opens_it() {
    let fixture = ActionFixture::new();
    let said = "GitHub Actions is not permitted to create or approve pull requests.";
    fixture.server.fail(Fault::status(PULLS, 403, said).lasting());
    let step = fixture.step(&Ask::comment(ASK));
    let summary = is_not_published(&fixture, &step, "not permitted to create or approve");
    let page = format!("/acme/app/compare/main...{BRANCH}?expand=1");
    let setting = "Allow GitHub Actions to create and approve pull requests";
    // The test's own forge has no pages that a comment may link.
    told(&fixture, &["+hello", setting, &format!("The branch `{BRANCH}` is pushed")]);
    assert!(summary.contains(&page) && summary.contains(setting), "{summary}");
    assert_eq!(step.output("branch-name"), BRANCH);
    assert!(std::fs::metadata(step.output("patch-path")).is_ok_and(|file| file.len() > 0));
    // Once it is permitted, the same request opens it from the same branch.
    fixture.server.heal();
    let step = fixture.step(&Ask::comment(ASK));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert_eq!(fixture.server.pulls().len(), 1);
    assert!(fixture.server.comments(7)[0].contains("**locum: done**"));
}

#[test]
fn a_refused_push_names_the_rule_that_refuses_it() {
    for (said, cure) in [
        (
            "error: GH006: Protected branch update failed for refs/heads/x.",
            "Restrict who can push to matching branches",
        ),
        (
            "error: GH013: Repository rule violations found for refs/heads/x. - Commits must have \
             verified signatures.",
            "sign: api",
        ),
        ("error: GH013: Repository rule violations found for refs/heads/x.", "Rulesets"),
    ] {
        let fixture = ActionFixture::new();
        fixture.refuse_branches(said);
        let step = fixture.step(&Ask::comment(ASK));
        is_not_published(&fixture, &step, "the remote refused the push");
        told(&fixture, &[cure, "+hello"]);
        assert_eq!((step.output("branch-name"), fixture.server.pulls().len()), ("", 0));
    }
}

#[test]
fn a_limit_that_lasts_ends_red_too() {
    let fixture = ActionFixture::new();
    let limit = Fault::status(PULLS, 429, "slow down").with_header("retry-after", "3600");
    fixture.server.fail(limit.lasting());
    let step = fixture.step(&Ask::comment(ASK));
    is_not_published(&fixture, &step, "asks to wait 3600 s");
    told(&fixture, &["ask again later"]);
}

#[test]
fn an_answer_that_cannot_be_written_is_none() {
    let fixture = ActionFixture::new();
    let said = "Repository was archived so is read-only.";
    for to in [EDITS, "POST /repos/acme/app/issues/7/comments"] {
        fixture.server.fail(Fault::status(to, 403, said).lasting());
    }
    let step = fixture.step(&Ask::comment("/locum ask look at it"));
    let summary = is_not_published(&fixture, &step, "could not be written");
    assert!(summary.contains("Unarchive this repository"), "{summary}");
}

#[test]
fn a_commit_through_the_api_that_is_refused_is_no_commit() {
    let fixture =
        ActionFixture::publishing("publish: { allow: [comment, commit, pull-request], sign: api }");
    let said = "Resource not accessible by integration";
    crate::action::git_data::serve(&fixture, true);
    fixture.server.fail(Fault::status("POST /repos/acme/app/git/trees", 403, said).lasting());
    let step = fixture.step(&Ask::comment(ASK));
    is_not_published(&fixture, &step, said);
    told(&fixture, &["contents: write", "+hello"]);
}

#[test]
fn what_is_not_meant_to_be_published_and_what_only_decorates_is_no_failure() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment, commit] }");
    let step = fixture.step(&Ask::comment(ASK));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(comment.contains("publish(pull-request)") && comment.contains("+hello"), "{comment}");

    let fixture = ActionFixture::publishing(
        "publish: { allow: [comment, commit, pull-request, label], labels: [locum] }",
    );
    let labels = "POST /repos/acme/app/issues/";
    fixture.server.fail(Fault::status(&format!("{labels}comments/55/reactions"), 503, "x"));
    fixture.server.fail(Fault::status(&format!("{labels}101/labels"), 403, "no labels"));
    let step = fixture.step(&Ask::comment(ASK));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
}

#[test]
fn a_step_that_may_end_green_still_says_that_nothing_was_published() {
    let fixture = ActionFixture::new();
    fixture.server.fail(Fault::status(PULLS, 403, "no").lasting());
    let inputs = [("INPUT_FAIL_ON", "failed")];
    let step = fixture.step(&Ask { inputs: &inputs, ..Ask::comment(ASK) });
    assert_eq!(
        (step.code, step.output("outcome"), step.output("conclusion")),
        (Some(0), "not-published", "neutral"),
        "{step:?}"
    );
    assert!(step.out.contains("::warning title=locum::not published"), "{step:?}");
    assert_eq!(reactions(&fixture), [json!("confused")]);
}
