//! Branches that move on while a run works: its change follows them, or it says what conflicts.

use std::process::Stdio;

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::action::git_data;
use crate::action::trigger_phrase;
use crate::support::stage::Ran;

const BRANCH: &str = "locum/issue-7-greeting-is-missing";
/// Asked for when a run knows where it starts from, and has not begun.
const AT_START: &str = "GET /repos/acme/app/issues/";

/// Somebody's commit of one file on a branch of the remote.
pub(crate) fn push(fixture: &ActionFixture, branch: &str, path: &str, text: &str) {
    let stage = &fixture.stage;
    let remote = stage.path("remotes/acme/app.git");
    let remote = remote.to_str().unwrap();
    stage.git(&["fetch", "-q", remote, &format!("+{branch}:refs/heads/theirs")]);
    stage.git(&["switch", "-q", "theirs"]);
    stage.write(&format!("checkout/{path}"), text);
    stage.commit("by somebody");
    stage.git(&["push", "-q", remote, &format!("theirs:{branch}")]);
    stage.git(&["switch", "-q", "main"]);
}

/// Runs a step on another machine; what is done meanwhile is done before it works.
fn while_it_works(
    fixture: &ActionFixture,
    ask: &Ask<'_>,
    meanwhile: impl FnOnce(),
) -> WorkflowStep {
    let gate = fixture.server.close_gate(&format!("{AT_START}{}/comments?per_page", ask.number));
    let mut command = fixture.elsewhere("a-", ask);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait();
    meanwhile();
    gate.open();
    fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()))
}

fn publishing(sign: &str) -> ActionFixture {
    let fixture = ActionFixture::publishing(&format!(
        "publish: {{ allow: [comment, commit, pull-request], draft: false, sign: {sign} }}"
    ));
    git_data::serve(&fixture, true);
    fixture
}

#[test]
fn a_pull_request_is_opened_from_the_base_as_it_is_then() {
    for sign in ["git", "api"] {
        let fixture = publishing(sign);
        let ask = Ask::comment("/locum code say hello");
        let step = while_it_works(&fixture, &ask, || push(&fixture, "main", "src/new.txt", "x\n"));
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        assert_eq!(
            fixture.remote(&["rev-parse", &format!("{BRANCH}~1")]),
            fixture.remote(&["rev-parse", "main"])
        );
        let changed = fixture.remote(&["diff", "--name-only", "main", BRANCH]);
        assert_eq!(changed, "src/hello.txt\n");
        let pull = fixture.server.pulls()[0].clone();
        assert_eq!(pull["draft"], false);
        assert!(pull["body"].as_str().unwrap().contains("was rebased onto"), "{pull}");
        assert!(fixture.stage.read("a-summary").contains("was rebased onto"));
        assert!(fixture.server.comments(7)[0].contains("was rebased onto"));
    }
}

#[test]
fn a_conflict_with_the_base_makes_a_draft_that_says_so() {
    for (word, inputs) in [("/locum", &[] as &[(&str, &str)]), ("!agent", trigger_phrase::INPUTS)] {
        let fixture = publishing("git");
        let body = format!("{word} code improve it");
        let ask = Ask { inputs, ..Ask::comment(&body) };
        let meanwhile = || push(&fixture, "main", "src/lib.txt", "other\n");
        let step = while_it_works(&fixture, &ask, meanwhile);
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        let pull = fixture.server.pulls()[0].clone();
        assert_eq!(pull["draft"], true);
        let body = pull["body"].as_str().unwrap();
        assert!(body.contains("conflicts with it in `src/lib.txt`"), "{body}");
        let comment = fixture.server.comments(7)[0].clone();
        let said =
            format!("conflicts with it in `src/lib.txt`; `{word} rebase` there resolves that.");
        assert!(comment.contains(&said), "{comment}");
    }
}

#[test]
fn a_commit_for_a_pull_request_lands_on_what_was_pushed_meanwhile_or_is_shown() {
    for (path, lands) in [("src/new.txt", true), ("src/lib.txt", false)] {
        let fixture = publishing("git");
        fixture.pull_request(false);
        let ask = Ask { number: 8, ..Ask::comment("/locum code improve it") };
        let step = while_it_works(&fixture, &ask, || push(&fixture, "feature", path, "x\n"));
        let tip = fixture.remote(&["log", "-2", "--format=%s", "feature"]);
        let comment = fixture.server.comments(8)[0].clone();
        if lands {
            assert_eq!(step.output("branch-name"), "feature", "{step:?}");
            assert_eq!(tip, "Improved\nby somebody\n");
        } else {
            assert_eq!(step.output("branch-name"), "", "{step:?}");
            assert_eq!(tip, "by somebody\ntake over\n");
            assert!(comment.contains("conflicts with it") && comment.contains("+better"));
        }
    }
}

#[test]
fn a_second_command_lands_on_what_was_pushed_to_its_pull_request_meanwhile() {
    let fixture = publishing("git");
    fixture.fresh(&Ask::comment("/locum code say hello"));
    let ask = Ask { ids: (56, 4343), ..Ask::comment("/locum code say more") };
    let step = while_it_works(&fixture, &ask, || push(&fixture, BRANCH, "src/new.txt", "x\n"));
    assert_eq!(step.output("branch-name"), BRANCH, "{step:?}");
    assert_eq!(fixture.branches(), [format!("{BRANCH} 3")]);
    assert_eq!(fixture.server.pulls().len(), 1);
}

#[test]
fn a_pull_request_that_is_over_gets_no_commit_and_its_branch_is_not_recreated() {
    let merged = Some("2026-01-02T03:00:00Z");
    for (sign, merged_at, keeps_branch) in
        [("git", merged, false), ("git", merged, true), ("git", None, true), ("api", merged, false)]
    {
        let fixture = publishing(sign);
        fixture.pull_request(false);
        let ask = Ask { number: 8, ..Ask::comment("/locum code say hello") };
        let step = while_it_works(&fixture, &ask, || {
            fixture.server.close_pull(8, merged_at);
            if !keeps_branch {
                fixture.remote(&["update-ref", "-d", "refs/heads/feature"]);
            }
        });
        let ended = (step.code, step.output("outcome"), step.output("branch-name"));
        assert_eq!(ended, (Some(8), "not-published", ""), "{step:?}");
        let tip = fixture.remote(&["for-each-ref", "--format=%(subject)", "refs/heads/feature"]);
        assert_eq!(tip, if keeps_branch { "take over\n" } else { "" });
        let comment = fixture.server.comments(8)[0].clone();
        for said in
            ["**locum: not published**", "was merged or closed while the run", "reopen", "+hello"]
        {
            assert!(comment.contains(said), "{said}: {comment}");
        }
    }
}

#[test]
fn a_branch_that_is_deleted_while_a_run_works_is_not_recreated() {
    // That of a pull request of somebody, and one of ours.
    for (number, branch, task) in [(8, "feature", "say hello"), (7, BRANCH, "say more")] {
        let fixture = publishing("git");
        if number == 8 {
            fixture.pull_request(false);
        } else {
            fixture.fresh(&Ask::comment("/locum code say hello"));
        }
        let body = format!("/locum code {task}");
        let ask = Ask { number, ids: (56, 4343), ..Ask::comment(&body) };
        let step = while_it_works(&fixture, &ask, || {
            fixture.remote(&["update-ref", "-d", &format!("refs/heads/{branch}")]);
        });
        assert_eq!((step.code, step.output("outcome")), (Some(8), "not-published"), "{step:?}");
        let left = fixture.remote(&["for-each-ref", &format!("refs/heads/{branch}")]);
        assert_eq!(left, "", "{step:?}");
        let comment = fixture.server.comments(number).pop().unwrap();
        let gone = format!("the branch `{branch}` is gone by now, and is not recreated");
        assert!(comment.contains(&gone), "{comment}");
    }
}
