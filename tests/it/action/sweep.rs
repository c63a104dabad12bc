//! What runs leave behind: comments that say "working" for ever, and requests that nothing
//! answered.

use std::process::Stdio;

use jiff::{SignedDuration, Timestamp};
use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask};
use crate::support::github::Fault;

const GATE: &str = "GET /repos/acme/app/collaborators/alice/permission";

/// What is written from now on was written so many minutes ago.
fn ago(fixture: &ActionFixture, minutes: i64) {
    let at = Timestamp::now().checked_sub(SignedDuration::from_mins(minutes)).unwrap();
    fixture.server.set_time(&at.to_string());
}

/// A comment of a run of ours that says it works.
fn working(fixture: &ActionFixture, run: u64) -> u64 {
    let body = format!(
        "<!-- locum:v1 kind=progress comment=5{run} run={run} -->\n**locum: working** · mode code"
    );
    fixture.server.add_comment(7, "locum-bot", "Bot", &body)
}

fn body(fixture: &ActionFixture, run: u64) -> String {
    let line = format!("run={run} -->");
    let comments = fixture.server.comments(7);
    comments.into_iter().find(|body| body.lines().next().unwrap().ends_with(&line)).unwrap()
}

#[test]
fn the_next_run_on_a_thread_closes_what_a_dead_one_left_there() {
    for claims in [true, false] {
        let fixture = ActionFixture::new();
        if !claims {
            fixture.refuse_claims();
        }
        ago(&fixture, 30);
        working(&fixture, 99);
        fixture.server.react("issues/comments/599", "eyes");
        let of_another = "<!-- locum:v1 kind=progress comment=5 run=98 -->\n**locum: working**";
        fixture.server.add_comment(7, "mallory", "User", of_another);
        let step = fixture.step(&Ask::comment("/locum code say hello"));
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        let left = body(&fixture, 99);
        assert_eq!(left.contains("**locum: ended without a result**"), claims, "{left}");
        assert_eq!(left.contains("`/locum retry` starts the last request"), claims, "{left}");
        let log = "[log] (link removed)";
        assert_eq!(left.contains(&format!("a result** · {log}")), claims, "{left}");
        assert!(body(&fixture, 98).contains("**locum: working**"), "it is not ours");
        let reactions = fixture.server.reactions();
        let of_request =
            reactions.iter().filter(|one| one["path"].as_str().unwrap().contains("/599/"));
        let of_request: Vec<_> = of_request.map(|one| one["content"].as_str().unwrap()).collect();
        assert_eq!(of_request, if claims { vec!["confused"] } else { vec!["eyes"] });
    }
}

#[test]
fn a_sweep_closes_only_what_is_known_to_be_over() {
    let fixture = ActionFixture::new();
    ago(&fixture, 7 * 60);
    working(&fixture, 94);
    ago(&fixture, 30);
    for run in [95, 96, 97] {
        working(&fixture, run);
    }
    fixture.server.add_run(95, Some("cancelled"));
    fixture.server.add_run(96, None);
    let step = fixture.sweep();
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert!(step.out.contains("2 comments of ended runs closed"), "{step:?}");
    assert!(body(&fixture, 95).contains("ended as `cancelled` before it could say so"));
    assert!(body(&fixture, 94).contains("Nothing has been heard of it for six hours"));
    for alive in [96, 97] {
        assert!(body(&fixture, alive).contains("**locum: working**"), "{alive}");
    }
    let writes = fixture.server.writes().len();
    assert!(fixture.sweep().out.contains("0 comments"), "nothing is left");
    assert_eq!(fixture.server.writes().len(), writes);
}

#[test]
fn what_a_dead_run_published_is_named_in_its_comment() {
    let fixture = ActionFixture::new();
    ago(&fixture, 30);
    let step = fixture.step(&Ask { ids: (55, 95), ..Ask::comment("/locum code say hello") });
    let number = step.output("pull-request-number").to_owned();
    // It died before it could say so; another one died before it published anything.
    let marker = "<!-- locum:v1 kind=progress comment=55 run=95 -->";
    fixture.server.change_comment(7, &format!("{marker}\n**locum: working** · mode code"));
    working(&fixture, 96);
    for run in [95, 96] {
        fixture.server.add_run(run, Some("failure"));
    }
    fixture.sweep();
    let opened = body(&fixture, 95);
    assert!(
        opened.contains(&format!("What it published is in pull request [#{number}]")),
        "{opened}"
    );
    let lost = body(&fixture, 96);
    assert!(lost.contains("What it had not published is lost."), "{lost}");
}

#[test]
fn a_step_on_schedule_sweeps_although_no_job_is_due() {
    let fixture = ActionFixture::new();
    ago(&fixture, 30);
    working(&fixture, 95);
    fixture.server.add_run(95, Some("failure"));
    let step = fixture.step_with("schedule", r#"{ "schedule": "1 1 1 1 *" }"#, &[]);
    assert_eq!(step.code, Some(0), "{step:?}");
    assert!(body(&fixture, 95).contains("ended as `failure`"), "{step:?}");
}

#[test]
fn a_request_that_met_an_outage_is_answered_by_the_next_run_that_can() {
    let fixture = ActionFixture::new();
    ago(&fixture, 30);
    let asked = fixture.server.add_comment(7, "alice", "User", "/locum code say another");
    fixture.server.fail(Fault::status(GATE, 503, "down").lasting());
    let ask = Ask { ids: (asked, 4242), ..Ask::comment("/locum code say another") };
    assert_eq!(fixture.step(&ask).code, Some(1));
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    fixture.server.heal();
    ago(&fixture, 0);
    let step = fixture.step(&Ask { ids: (900, 4343), ..Ask::comment("/locum code say hello") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let replies: Vec<String> = fixture
        .server
        .comments(7)
        .into_iter()
        .filter(|body| body.contains("kind=unanswered"))
        .collect();
    assert_eq!(replies.len(), 1, "{replies:#?}");
    for part in ["**locum: not run**", "the request of `alice`", "locum code say another"] {
        assert!(replies[0].contains(part), "{part}: {}", replies[0]);
    }
    fixture.sweep();
    let again = fixture.server.comments(7);
    assert_eq!(again.iter().filter(|body| body.contains("kind=unanswered")).count(), 1, "once");
}

#[test]
fn only_requests_that_count_and_that_nothing_answered_are_answered() {
    let fixture = ActionFixture::new();
    let request = "/locum code say hello";
    ago(&fixture, 25 * 60);
    fixture.server.add_comment(7, "alice", "User", request);
    ago(&fixture, 60);
    fixture.server.add_comment(7, "eve", "User", request);
    fixture.server.add_comment(7, "alice", "User", "> /locum code say hello\n\nDid it?");
    fixture.server.add_comment(7, "other-app[bot]", "Bot", request);
    let answered = fixture.server.add_comment(7, "alice", "User", request);
    let body = format!("<!-- locum:v1 kind=answer comment={answered} run=3 -->\nNot started.");
    fixture.server.add_comment(7, "locum-bot", "Bot", &body);
    ago(&fixture, 5);
    fixture.server.add_comment(7, "alice", "User", request);
    let step = fixture.sweep();
    assert!(step.out.contains("0 requests that nothing had answered"), "{step:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn a_request_whose_run_died_once_it_had_seen_it_is_answered() {
    let fixture = ActionFixture::new();
    ago(&fixture, 60);
    let answered = fixture.server.add_comment(7, "alice", "User", "/locum code say hello");
    fixture.server.react(&format!("issues/comments/{answered}"), "eyes");
    fixture.server.react(&format!("issues/comments/{answered}"), "+1");
    ago(&fixture, 15);
    let late = fixture.server.add_comment(7, "alice", "User", "/locum code say hello");
    fixture.server.react(&format!("issues/comments/{late}"), "eyes");
    ago(&fixture, 25);
    let asked = fixture.server.add_comment(7, "alice", "User", "/locum code say another");
    let gate = fixture.server.close_gate("GET /repos/acme/app/issues/7/comments?per_page");
    let ask = Ask { ids: (asked, 4343), ..Ask::comment("/locum code say another") };
    let mut command = fixture.elsewhere("a-", &ask);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    gate.wait();
    fixture.server.react(&format!("issues/comments/{asked}"), "eyes");
    let sweep = || fixture.sweep().out;
    assert!(sweep().contains("0 requests"), "its run renews its claim");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fixture.server.comments(7).len(), 3, "{:?}", fixture.server.comments(7));
    let [run, check, job] = ["issue-7", "pr-7-check-docs", "job-docs-7"]
        .map(|name| format!("refs/locum/claims/{name}"));
    fixture.remote(&["update-ref", &check, &run]);
    fixture.remote(&["update-ref", "-d", &run]);
    assert!(sweep().contains("0 requests"), "a check that it asked for is at work");
    // A job whose name ends in the number of the issue is none on it.
    fixture.remote(&["update-ref", &job, &check]);
    fixture.remote(&["update-ref", "-d", &check]);
    // Neither does one on another issue count, although nobody can read it.
    fixture.remote(&["update-ref", "refs/locum/claims/issue-99", "refs/heads/main"]);
    let said = sweep();
    assert!(said.contains("1 request"), "{said}");
    let reply = fixture.server.comments(7).pop().unwrap();
    for part in ["**locum: not run**", "was stopped before it could say", "code say another"] {
        assert!(reply.contains(part), "{part}: {reply}");
    }
    let reactions = fixture.server.reactions();
    let shown = reactions
        .iter()
        .filter(|one| one["path"].as_str().unwrap().ends_with(&format!("/{asked}/reactions")));
    let shown: Vec<_> = shown.map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(shown, ["confused"]);
    assert!(sweep().contains("0 requests"), "once");
}
