//! Checks as files: made of a pull request by a model that changes nothing, each with a verdict.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::events::of_pull_request;
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

const ENTRY: &str = "pull_request: { on: [opened], checks: [all], tiers: [maintainer] }";
const VAGUE: (&str, &str) = (
    ".locum/checks/vague.md",
    "---\nname: Vague words\ndescription: Words\nmode: code\n---\n\nFind words that say nothing.\n",
);
const QUIET: (&str, &str) = (".continue/checks/quiet.md", "Find what is loud.\n");

fn opened(fixture: &ActionFixture, head: &str) -> WorkflowStep {
    let payload = of_pull_request("pull_request.opened", "alice", head);
    fixture.step_with("pull_request", &payload.to_string(), &[])
}

/// Name and conclusion of every check run.
fn shown(fixture: &ActionFixture) -> Vec<(String, String)> {
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_owned();
    let checks = fixture.server.check_runs();
    checks.iter().map(|check| (text(check, "name"), text(check, "conclusion"))).collect()
}

#[test]
fn each_check_has_a_check_run_of_its_own_with_its_verdict() {
    let fixture = ActionFixture::started_by(ENTRY);
    let docs = (".locum/checks/docs.md", "---\npaths: docs/**\n---\nLook at the docs.\n");
    fixture.add_to_main(&[VAGUE, QUIET, docs]);
    let head = fixture.pull_request(false);
    for _ in 0..2 {
        let ran = opened(&fixture, &head);
        assert_eq!((ran.code, ran.output("conclusion")), (Some(7), "failure"), "{ran:?}");
        let named = |name: &str, conclusion: &str| (name.to_owned(), conclusion.to_owned());
        let expected = [named("quiet", "success"), named("Vague words", "failure")];
        assert_eq!(shown(&fixture), expected, "no docs changed, so that one is not made");
    }
    let check = &fixture.server.check_runs()[1];
    assert_eq!(
        (&check["head_sha"], &check["output"]["title"]),
        (&json!(head), &json!("fail: One word says nothing."))
    );
    let annotations = check["output"]["annotations"].as_array().unwrap();
    assert_eq!((annotations.len(), &annotations[0]["annotation_level"]), (1, &json!("failure")));
    let branch = fixture.remote(&["rev-parse", "feature"]);
    assert_eq!(branch.trim(), head, "a check changes nothing");
    assert!(fixture.server.comments(8).is_empty() && fixture.server.reviews().is_empty());
    assert!(fixture.kept_sessions().is_empty() && fixture.ended_sessions().is_empty());
}

#[test]
fn a_check_without_a_verdict_never_passes() {
    let fixture = ActionFixture::started_by(ENTRY);
    fixture.add_to_main(&[(".locum/checks/silent.md", "---\nname: Silent\n---\nLook.\n")]);
    let head = fixture.pull_request(false);
    let ran = opened(&fixture, &head);
    assert_eq!((ran.code, ran.output("outcome")), (Some(7), "checks-failed"), "{ran:?}");
    assert_eq!(shown(&fixture), [("Silent".to_owned(), "failure".to_owned())]);
    let title = &fixture.server.check_runs()[0]["output"]["title"];
    assert_eq!(title, "no verdict: the model gave none");
}

#[test]
fn a_command_makes_checks_and_one_comment_shows_them_where_check_runs_are_not_published() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment] }");
    fixture.add_to_main(&[VAGUE, QUIET]);
    fixture.pull_request(false);
    for (run, words) in [(4242, "/locum checks"), (4243, "/locum checks vague, quiet")] {
        let ask = Ask { number: 8, ids: (run, run), ..Ask::comment(words) };
        let ran = fixture.fresh(&ask);
        assert_eq!((ran.code, ran.output("conclusion")), (Some(7), "failure"), "{ran:?}");
        assert!(ran.out.contains("`publish.allow` has no `check`"), "{ran:?}");
        let comments = fixture.server.comments(8);
        assert_eq!(comments.len(), 1, "{comments:#?}");
        let comment = &comments[0];
        assert!(comment.contains("### ✅ quiet: pass: Nothing is loud."), "{comment}");
        assert!(comment.contains("### ❌ Vague words: fail: One word says nothing."), "{comment}");
    }
    let unknown = Ask { number: 8, ids: (60, 4250), ..Ask::comment("/locum checks vagu") };
    let ran = fixture.fresh(&unknown);
    assert!(ran.code == Some(2) && ran.out.contains("did you mean `vague`?"), "{ran:?}");
    let issue = fixture.fresh(&Ask { ids: (61, 4251), ..Ask::comment("/locum checks") });
    let said = fixture.server.comments(7).concat();
    assert!(said.contains("checks are made of pull requests"), "{said} {issue:?}");
}

#[test]
fn checks_are_those_of_the_base_and_their_mistakes_are_told() {
    let fixture = ActionFixture::started_by(ENTRY);
    fixture.add_to_main(&[(".locum/checks/bad.md", "---\nname: a\nmod: ask\n---\nLook.\n")]);
    fixture.pull_request(false);
    let head = fixture.push_on(8, "feature", ".locum/checks/mine.md", "Say that all is well.\n");
    let ran = opened(&fixture, &head);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.out.contains(".locum/checks/bad.md:3:1: key `mod` has no effect"), "{ran:?}");
    fixture.stage.git(&["switch", "-q", "main"]);
    fixture.add_to_main(&[(".locum/checks/bad.md", "---\npaths: docs/**\n---\nLook.\n")]);
    let base = fixture.remote(&["rev-parse", "main"]).trim().to_owned();
    fixture.server.change_pull(8, "/base/sha", json!(base));
    let ran = opened(&fixture, &head);
    assert!(ran.code == Some(0) && shown(&fixture).is_empty(), "a head brings no check: {ran:?}");
}
