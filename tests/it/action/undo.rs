//! `undo`: the last commit of ours on a pull request is taken back by a commit on its branch.

use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::claims::claims;
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

/// Tells the server what the branch holds, as the real one knows by itself.
fn synchronise(fixture: &ActionFixture) {
    let head = fixture.remote(&["rev-parse", "feature"]).trim().to_owned();
    fixture.remote(&["update-ref", "refs/pull/8/head", &head]);
    fixture.server.change_pull(8, "/head/sha", json!(head));
    let log = fixture.remote(&["log", "--reverse", "-z", "--format=%H%n%B", "main..feature"]);
    let commits: Vec<_> = log
        .split('\0')
        .filter_map(|commit| commit.split_once('\n'))
        .map(|(sha, message)| json!({ "sha": sha, "commit": { "message": message } }))
        .collect();
    fixture.server.change_commits(&commits);
}

fn undo(fixture: &ActionFixture, id: u64) -> (WorkflowStep, String) {
    fixture.move_on(true);
    synchronise(fixture);
    let ask = Ask { number: 8, ids: (id, id + 4000), ..Ask::comment("/locum undo") };
    let step = fixture.step(&ask);
    let marker = format!("<!-- locum:v1 kind=answer comment={id} ");
    let comments = fixture.server.comments(8);
    let answer = comments.iter().find(|text| text.starts_with(&marker)).cloned();
    (step, answer.unwrap_or_default())
}

fn tree(fixture: &ActionFixture, revision: &str) -> String {
    fixture.remote(&["rev-parse", &format!("{revision}^{{tree}}")])
}

#[test]
fn takes_back_one_commit_after_the_other_and_nothing_of_others() {
    let fixture = ActionFixture::new();
    let head = fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(step.output("branch-name"), "feature", "{step:?}");
    let ours = fixture.remote(&["rev-parse", "feature"]).trim().to_owned();

    let (step, answer) = undo(&fixture, 60);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert_eq!(fixture.remote(&["rev-parse", "feature~1"]).trim(), ours);
    assert_eq!(tree(&fixture, "feature"), tree(&fixture, &head));
    let message = fixture.remote(&["log", "-1", "--format=%B", "feature"]);
    assert!(message.contains(&format!("This reverts commit {ours}.")), "{message}");
    let new = fixture.remote(&["rev-parse", "feature"]).trim().to_owned();
    for part in [&ours[..7], &new[..7], "`feature`"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }

    // The same comment again does nothing; another one finds nothing that is left.
    let (_, answer) = undo(&fixture, 60);
    assert!(answer.contains(&new[..7]), "{answer}");
    let (step, answer) = undo(&fixture, 61);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(answer.contains("no commit of Locum is left"), "{answer}");
    assert_eq!(fixture.remote(&["rev-parse", "feature"]).trim(), new);
}

#[test]
fn changes_nothing_on_an_issue_on_a_fork_or_without_leave() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask { ids: (60, 4060), ..Ask::comment("/locum undo") });
    assert!(fixture.server.comments(7)[0].contains("works on a pull request"));

    let fork = ActionFixture::new();
    let head = fork.pull_request(true);
    fork.step(&Ask { number: 8, ids: (60, 4060), ..Ask::comment("/locum undo") });
    assert!(fork.server.comments(8)[0].contains("comes from a fork"));
    assert_eq!(fork.remote(&["rev-parse", "refs/pull/8/head"]).trim(), head);

    let silent = ActionFixture::publishing("publish: { allow: [comment] }");
    silent.pull_request(false);
    let branch = silent.remote(&["rev-parse", "feature"]).trim().to_owned();
    let ours = "a change\n\nLocum-Session: 0199aabb\n";
    let tree = silent.remote(&["rev-parse", "main^{tree}"]).trim().to_owned();
    let author = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    let commit = ["commit-tree", &tree, "-p", &branch, "-m", ours];
    let made = silent.remote(&[author.as_slice(), &commit].concat()).trim().to_owned();
    silent.remote(&["update-ref", "refs/heads/feature", &made]);
    let (step, answer) = undo(&silent, 60);
    assert_eq!(silent.remote(&["rev-parse", "feature"]).trim(), made, "{step:?}");
    assert!(answer.contains("Not started") && answer.contains("publish"), "{answer}");
}

#[test]
fn reverts_nothing_while_a_run_works_on_the_pull_request() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    let step = fixture.step(&Ask { number: 8, ..Ask::comment("/locum code say hello") });
    assert_eq!(step.output("branch-name"), "feature", "{step:?}");
    let before = fixture.remote(&["rev-parse", "feature"]);
    synchronise(&fixture);
    let gate = fixture.server.close_gate("GET /repos/acme/app/issues/8/comments?per_page");
    let other = Ask { number: 8, ids: (59, 4059), ..Ask::comment("/locum code say another") };
    let mut command = fixture.elsewhere("a-", &other);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    let (step, answer) = undo(&fixture, 60);
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(answer.contains("workflow run 4059"), "{answer}");
    assert_eq!(fixture.remote(&["rev-parse", "feature"]), before);
    gate.open();
    assert!(child.wait().unwrap().success());
    let (_, answer) = undo(&fixture, 61);
    assert!(answer.contains("reverts"), "{answer}");
    assert_eq!(claims(&fixture), "");
}
