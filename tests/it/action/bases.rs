//! The branch that pull requests are made against, and the name of the branch that they are made
//! from, where the workflow names them.

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::action::moved::push;

const BRANCH: &str = "locum/issue-7-greeting-is-missing";
const HELLO: &str = "/locum code say hello";
const ON_RELEASE: &[(&str, &str)] = &[("INPUT_BASE_BRANCH", "release")];

/// A repository whose default branch is ahead of the branch of a release.
fn released() -> ActionFixture {
    let fixture = ActionFixture::new();
    fixture.remote(&["branch", "release", "main"]);
    fixture.add_to_main(&[("src/unreleased.txt", "new\n")]);
    fixture
}

/// What our branch has that a base has not: how many commits, and the files they change.
fn brings(fixture: &ActionFixture, base: &str) -> (String, String) {
    let commits = fixture.remote(&["rev-list", "--count", &format!("{base}..{BRANCH}")]);
    let files = fixture.remote(&["diff", "--name-only", &format!("{base}...{BRANCH}")]);
    (commits.trim().to_owned(), files)
}

fn journal(step: &WorkflowStep) -> String {
    std::fs::read_to_string(step.output("transcript-path")).unwrap()
}

/// Checks that a step failed before a model was asked, and returns the only comment.
fn not_started(fixture: &ActionFixture, step: &WorkflowStep) -> String {
    assert_eq!((step.code, step.output("outcome")), (Some(2), "failed"), "{step:?}");
    assert_eq!(step.output("session-id"), "");
    assert!(fixture.branches().is_empty() && fixture.server.pulls().is_empty());
    let comments = fixture.server.comments(7);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert!(comments[0].contains("no model was asked"), "{}", comments[0]);
    comments[0].clone()
}

#[test]
fn a_pull_request_brings_its_base_the_change_of_the_run_and_nothing_else() {
    for is_shallow in [true, false] {
        let fixture = released();
        fixture.move_on(is_shallow);
        let ask = Ask { inputs: ON_RELEASE, ..Ask::comment(HELLO) };
        let step = fixture.step(&ask);
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        assert_eq!(fixture.server.pulls()[0]["base"]["ref"], "release");
        assert_eq!(brings(&fixture, "release"), ("1".to_owned(), "src/hello.txt\n".to_owned()));
        assert!(!journal(&step).contains("what this pull request changes"), "{step:?}");

        // A second command starts from the branch, and sees what it has beyond that base.
        fixture.move_on(is_shallow);
        let more = Ask::comment("/locum code say more");
        let step = fixture.step(&Ask { ids: (56, 4343), inputs: ON_RELEASE, ..more });
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        let files = "src/hello.txt\nsrc/more.txt\n".to_owned();
        assert_eq!(brings(&fixture, "release"), ("2".to_owned(), files));
        assert_eq!(fixture.server.pulls().len(), 1);
        let journal = journal(&step);
        assert!(journal.contains("what this pull request changes"), "{journal}");
        assert!(!journal.contains("unreleased"), "{journal}");
    }
}

#[test]
fn without_the_input_a_run_starts_from_the_default_branch() {
    let fixture = released();
    let step = fixture.step(&Ask::comment(HELLO));
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert_eq!(fixture.server.pulls()[0]["base"]["ref"], "main");
    assert_eq!(brings(&fixture, "main"), ("1".to_owned(), "src/hello.txt\n".to_owned()));
    assert_eq!(brings(&fixture, "release").0, "2");
}

#[test]
fn the_policy_is_that_of_the_default_branch_whatever_the_base_is() {
    let fixture = released();
    let policy = fixture.stage.read("checkout/.locum/policy.yml");
    let narrow = policy.replacen("\"edit(src/**)\", ", "", 1);
    assert_ne!(narrow, policy);
    push(&fixture, "release", ".locum/policy.yml", &narrow);
    let step = fixture.step(&Ask { inputs: ON_RELEASE, ..Ask::comment(HELLO) });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert_eq!(brings(&fixture, "release").0, "1");
}

#[test]
fn a_base_that_does_not_exist_is_told_before_any_model_is_asked() {
    let inputs = [("INPUT_BASE_BRANCH", "nope")];
    let fixture = ActionFixture::new();
    let step = fixture.step(&Ask { inputs: &inputs, ..Ask::comment(HELLO) });
    let comment = not_started(&fixture, &step);
    let what = "input `base-branch`: the repository has no branch `nope`";
    assert!(comment.contains(what), "{comment}");
    // A run on a pull request has its base.
    fixture.pull_request(false);
    let ask = Ask { number: 8, ids: (56, 4343), ..Ask::comment(HELLO) };
    let step = fixture.step(&Ask { inputs: &inputs, ..ask });
    assert_eq!((step.code, step.output("branch-name")), (Some(0), "feature"), "{step:?}");
}

#[test]
fn a_branch_for_changes_that_can_never_be_ours_is_told_before_any_model_is_asked() {
    for (template, what) in [
        ("main", "would be `main`, which they are merged into"),
        ("release", "would be `release`, which they are merged into"),
        ("work", "`work` cannot name a branch of ours"),
    ] {
        let fixture = released();
        let main = fixture.remote(&["rev-parse", "main"]);
        let inputs = [("INPUT_BRANCH_TEMPLATE", template), ("INPUT_BASE_BRANCH", "release")];
        let step = fixture.step(&Ask { inputs: &inputs, ..Ask::comment(HELLO) });
        let comment = not_started(&fixture, &step);
        for part in ["input `branch-template`", what, "`locum/{subject}-{slug}`"] {
            assert!(comment.contains(part), "{part}: {comment}");
        }
        assert_eq!(fixture.remote(&["rev-parse", "main"]), main);
    }
    let fixture = released();
    let inputs = [("INPUT_BRANCH_TEMPLATE", "bot/{subject}"), ("INPUT_BASE_BRANCH", "release")];
    let step = fixture.step(&Ask { inputs: &inputs, ..Ask::comment(HELLO) });
    assert_eq!((step.code, step.output("branch-name")), (Some(0), "bot/issue-7"), "{step:?}");
}
