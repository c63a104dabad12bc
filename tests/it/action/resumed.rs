//! A run that goes on by a decision and is stopped from outside: it goes on once more, from the
//! same place, and nothing is published twice.

use std::process::{Child, Stdio};

use jiff::Timestamp;
use pretty_assertions::assert_eq;
use rustix::process::{Pid, Signal, kill_process};

use crate::action::claims::claims;
use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::support::github::Gate;
use crate::support::stage::Ran;

/// Asked for when a run has done its work and is about to publish.
const AT_END: &str = "GET /repos/acme/app/pulls?state=closed";
const PULLS: &str = "POST /repos/acme/app/pulls";

/// A run that waits for a person, and the command that approves.
fn held(fixture: &ActionFixture) -> String {
    fixture.server.set_time(&Timestamp::now().to_string());
    let step = fixture.step(&Ask::comment("/locum code hold it"));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    format!("/locum approve {}", fixture.waiting(7))
}

fn approves(body: &str) -> Ask<'_> {
    Ask { ids: (56, 4343), ..Ask::comment(body) }
}

fn again(body: &str) -> Ask<'_> {
    Ask { inputs: &[("GITHUB_RUN_ATTEMPT", "2")], ..approves(body) }
}

/// The run that somebody approved, once it stands before a request.
fn at_work(fixture: &ActionFixture, approve: &str, gate: &str) -> (Child, Gate) {
    let gate = fixture.server.close_gate(gate);
    let mut command = fixture.elsewhere("a-", &approves(approve));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait();
    let comment = comment(fixture);
    let lines: Vec<&str> = comment.lines().collect();
    assert!(lines[1].starts_with("<!-- locum:v1 kind=session "), "{comment}");
    assert_eq!(lines[2], "<!-- locum:v1 kind=resumed comment=56 run=4343 -->");
    assert!(lines[3].starts_with("**locum: working**"), "{comment}");
    (child, gate)
}

fn killed(fixture: &ActionFixture, approve: &str, gate: &str) {
    let (mut child, _) = at_work(fixture, approve, gate);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The run's own comment, of which there is one.
fn comment(fixture: &ActionFixture) -> String {
    let comments = fixture.server.comments(7);
    let mut own = comments.into_iter().filter(|body| body.contains("kind=progress"));
    let comment = own.next().unwrap();
    assert_eq!(own.next(), None);
    comment
}

/// Each reaction with the comment that it is on.
fn reactions(fixture: &ActionFixture) -> Vec<String> {
    let reactions = fixture.server.reactions();
    let shown = reactions.iter().map(|reaction| {
        let path = reaction["path"].as_str().unwrap();
        let comment = path.trim_end_matches("/reactions").rsplit('/').next().unwrap();
        format!("{comment} {}", reaction["content"].as_str().unwrap())
    });
    let mut shown: Vec<String> = shown.collect();
    shown.sort();
    shown
}

/// It was done, once.
fn done(fixture: &ActionFixture, step: &WorkflowStep) {
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let comment = comment(fixture);
    assert!(comment.contains("Approved by people: 1 call"), "{comment}");
    assert!(!comment.contains("kind=session"), "{comment}");
    assert_eq!((fixture.server.pulls().len(), claims(fixture).as_str()), (1, ""));
    assert_eq!(fixture.kept_sessions(), Vec::<String>::new());
    assert_eq!(fixture.branches(), ["locum/issue-7-greeting-is-missing 1"]);
    let changed = fixture.remote(&["diff", "--name-only", "main", step.output("branch-name")]);
    assert_eq!(changed, "src/held/a.txt\nsrc/hello.txt\n");
    let reactions = reactions(fixture);
    assert!(reactions.contains(&"55 rocket".to_owned()), "{reactions:?}");
    let left = |shown: &&String| shown.ends_with("eyes") || *shown == "55 confused";
    assert_eq!(reactions.iter().find(left), None);
}

#[test]
fn a_killed_run_goes_on_with_the_same_decision_when_its_job_is_started_again() {
    for gate in [AT_END, PULLS] {
        let fixture = ActionFixture::new();
        let approve = held(&fixture);
        killed(&fixture, &approve, gate);
        done(&fixture, &fixture.fresh(&again(&approve)));
        let late = fixture.fresh(&Ask { ids: (58, 4545), ..approves(&approve) });
        assert_eq!(late.output("outcome"), "skipped", "{late:?}");
        assert!(late.output("final-message").contains("nothing waits here"), "{late:?}");
    }
}

#[test]
fn another_decision_counts_once_the_run_of_the_first_is_known_to_be_over() {
    let fixture = ActionFixture::new();
    let approve = held(&fixture);
    killed(&fixture, &approve, PULLS);
    let other = Ask { ids: (57, 4444), ..approves(&approve) };
    let early = fixture.fresh(&other);
    assert_eq!(early.output("outcome"), "skipped", "{early:?}");
    for why in ["taken by comment 56 in workflow run 4343", "ask again when it has ended"] {
        assert!(early.output("final-message").contains(why), "{why}: {early:?}");
    }
    fixture.server.add_run(4343, Some("cancelled"));
    done(&fixture, &fixture.fresh(&other));
    assert!(reactions(&fixture).contains(&"56 confused".to_owned()), "{:?}", reactions(&fixture));
    let late = fixture.fresh(&again(&approve));
    assert_eq!(late.output("outcome"), "skipped", "{late:?}");
}

#[test]
fn a_run_that_is_stopped_from_outside_says_so_and_goes_on_from_the_decision() {
    for (same, other) in [(true, false), (false, true)] {
        let fixture = ActionFixture::new();
        let approve = held(&fixture);
        let (child, _gate) = at_work(&fixture, &approve, AT_END);
        let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
        let step = fixture.ended("a-", Ran::from(child.wait_with_output().unwrap()));
        assert_eq!((step.code, step.output("outcome")), (Some(130), "cancelled"), "{step:?}");
        let said = comment(&fixture);
        assert!(said.contains("start its workflow run again or decide again"), "{said}");
        assert!(!said.contains("/locum retry"), "{said}");
        if same {
            done(&fixture, &fixture.fresh(&again(&approve)));
        }
        if other {
            let ask = Ask { ids: (57, 4444), ..approves(&approve) };
            done(&fixture, &fixture.fresh(&ask));
        }
    }
}

#[test]
fn a_sweep_leaves_a_run_at_work_alone_and_closes_it_so_that_it_can_go_on() {
    let fixture = ActionFixture::new();
    let approve = held(&fixture);
    let (mut child, _gate) = at_work(&fixture, &approve, AT_END);
    fixture.move_on(true);
    fixture.server.add_run(4242, Some("success"));
    let swept = |closed: &str| {
        let step = fixture.sweep();
        assert!(step.out.contains(closed), "{closed}: {step:?}");
        comment(&fixture)
    };
    // It has its claim, whatever is known of its workflow run.
    assert!(swept("0 comments").contains("**locum: working**"));
    fixture.server.add_run(4343, Some("cancelled"));
    assert!(swept("0 comments").contains("**locum: working**"));
    fixture.remote(&["update-ref", "-d", "refs/locum/claims/issue-7"]);
    fixture.server.add_run(4343, None);
    assert!(swept("0 comments").contains("**locum: working**"), "its workflow run is at work");
    assert_eq!(reactions(&fixture), ["55 eyes", "56 eyes"]);
    let status = Ask { ids: (60, 4646), ..Ask::comment("/locum status") };
    fixture.step(&status);
    let told = fixture.server.comments(7).pop().unwrap();
    assert!(told.contains("· working ·") && !told.contains("Waiting for a decision"), "{told}");

    child.kill().unwrap();
    child.wait().unwrap();
    fixture.server.add_run(4343, Some("cancelled"));
    let closed = swept("1 comment of ended runs closed");
    for part in ["ended as `cancelled`", "To go on from the decision on `", "`/locum retry`"] {
        assert!(closed.contains(part), "{part}: {closed}");
    }
    assert_eq!(reactions(&fixture), ["55 confused", "56 confused", "60 rocket"]);
    fixture.step(&status);
    assert!(fixture.server.comments(7).pop().unwrap().contains("Waiting for a decision"));
    done(&fixture, &fixture.fresh(&again(&approve)));
}
