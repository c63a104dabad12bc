//! `/locum rebase`: a branch is brought up to its base, by the program or by a model.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::action::moved::push;

const BRANCH: &str = "locum/issue-7-greeting-is-missing";

fn publishing(more: &str) -> ActionFixture {
    ActionFixture::publishing(&format!(
        "publish: {{ allow: [comment, commit, pull-request], draft: false{more} }}"
    ))
}

fn rebase(fixture: &ActionFixture, number: u64) -> WorkflowStep {
    let ask = Ask::comment("/locum rebase the short way");
    fixture.fresh(&Ask { number, ids: (56, 4343), ..ask })
}

fn parents(fixture: &ActionFixture, branch: &str) -> usize {
    fixture.remote(&["log", "-1", "--format=%P", branch]).split_whitespace().count()
}

/// Whether a branch has all that the default branch has.
fn is_up_to_date(fixture: &ActionFixture, branch: &str) -> bool {
    fixture.remote(&["rev-list", "--count", &format!("{branch}..main")]).trim() == "0"
}

#[test]
fn a_base_without_conflicts_is_merged_and_no_model_is_asked() {
    let fixture = publishing("");
    fixture.fresh(&Ask::comment("/locum code say hello"));
    push(&fixture, "main", "src/new.txt", "x\n");
    let step = rebase(&fixture, 7);
    assert_eq!(step.code, Some(0), "{step:?}");
    assert!(step.output("final-message").contains("is merged into"), "{step:?}");
    assert!(is_up_to_date(&fixture, BRANCH) && parents(&fixture, BRANCH) == 2);
    assert_eq!(fixture.remote(&["diff", "--name-only", "main", BRANCH]), "src/hello.txt\n");
    assert!(fixture.server.comments(7)[1].contains("`main` is merged into"));
    assert!(format!("{:?}", fixture.server.reactions().last()).contains("rocket"));
    // On the pull request of somebody, and where there is nothing to do.
    fixture.move_on(false);
    fixture.pull_request(false);
    let tip = fixture.remote(&["rev-parse", "feature"]);
    let step = rebase(&fixture, 8);
    assert!(step.output("final-message").contains("is up to date"), "{step:?}");
    assert_eq!(fixture.remote(&["rev-parse", "feature"]), tip);
}

/// Makes the change that is rebased: of an issue by a run, or of a pull request by its author.
/// Returns its branch.
fn improved(fixture: &ActionFixture, number: u64) -> &'static str {
    if number == 7 {
        fixture.fresh(&Ask::comment("/locum code improve it"));
        return BRANCH;
    }
    fixture.pull_request(false);
    push(fixture, "feature", "src/lib.txt", "text\nbetter\n");
    let tip = fixture.remote(&["rev-parse", "feature"]);
    fixture.remote(&["update-ref", "refs/pull/8/head", "feature"]);
    fixture.server.change_pull(8, "/head/sha", tip.trim().into());
    "feature"
}

#[test]
fn conflicts_are_a_task_and_the_merge_holds_what_came_of_it() {
    for number in [7, 8] {
        let fixture = publishing("");
        let branch = improved(&fixture, number);
        push(&fixture, "main", "src/lib.txt", "theirs\n");
        push(&fixture, "main", "src/new.txt", "x\n");
        let step = rebase(&fixture, number);
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        assert_eq!(step.output("branch-name"), branch);
        assert!(is_up_to_date(&fixture, branch) && parents(&fixture, branch) == 2);
        let text = fixture.remote(&["show", &format!("{branch}:src/lib.txt")]);
        assert_eq!(text, "theirs\nbetter\n");
        assert_eq!(fixture.remote(&["show", &format!("{branch}:src/new.txt")]), "x\n");
    }
}

#[test]
fn a_conflict_that_is_left_open_is_not_published_and_one_that_keeps_the_branch_is() {
    let kept = json!({ "path": "src/lib.txt", "content": "text\nbetter\n" });
    let keep = json!([{ "tool": "write_to_file", "args": kept }]);
    let end =
        json!([{ "tool": "attempt_completion", "args": { "result": "The branch is right." } }]);
    let turns = |calls: &[&Value]| -> Vec<Value> {
        calls.iter().map(|calls| json!({ "calls": calls })).collect()
    };
    let (left, resolved) = (turns(&[&end]), turns(&[&keep, &end]));
    for (number, turns, kept) in
        [(7, &left, false), (7, &resolved, true), (8, &left, false), (8, &resolved, true)]
    {
        let fixture = publishing("");
        fixture.script_first("Resolve the conflicts", turns);
        let branch = improved(&fixture, number);
        let tip = fixture.remote(&["rev-parse", branch]);
        push(&fixture, "main", "src/lib.txt", "theirs\n");
        let step = rebase(&fixture, number);
        let expected = if kept { (Some(0), "done") } else { (Some(8), "not-published") };
        assert_eq!((step.code, step.output("outcome")), expected, "{step:?}");
        assert_eq!(is_up_to_date(&fixture, branch), kept);
        assert_eq!(fixture.remote(&["rev-parse", branch]) == tip, !kept);
        let comment = fixture.server.comments(number).pop().unwrap();
        if kept {
            let text = fixture.remote(&["show", &format!("{branch}:src/lib.txt")]);
            assert_eq!((text.as_str(), parents(&fixture, branch)), ("text\nbetter\n", 2));
            assert!(comment.contains("`main` is merged into the branch.\n"), "{comment}");
            assert!(!comment.contains("(0 files"), "{comment}");
            let opened = if number == 7 { "pull-request-number" } else { "branch-name" };
            assert_ne!(step.output(opened), "", "{step:?}");
        } else {
            assert!(comment.contains("conflicts are not resolved in `src/lib.txt`"), "{comment}");
            assert!(comment.contains("say which side is right"), "{comment}");
        }
    }
}

#[test]
fn what_cannot_be_brought_up_to_its_base_is_refused_with_the_reason() {
    let fixture = publishing("");
    let step = rebase(&fixture, 7);
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert!(fixture.server.comments(7)[0].contains("no open pull request of Locum"));
    fixture.move_on(false);
    fixture.pull_request(true);
    assert!(rebase(&fixture, 8).output("final-message").contains("comes from a fork"));

    let fixture = publishing(", sign: api");
    fixture.pull_request(false);
    assert!(rebase(&fixture, 8).output("final-message").contains("`sign: api`"));
}
