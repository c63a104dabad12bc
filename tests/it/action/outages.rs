//! GitHub on a bad night: what a run does when it does not answer, answers late, or loses replies.

use locum::run::action::ActionEnd;
use locum_agent::session::outcome::OutcomeWord;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::claims::{act, block_on, clock_in, never};
use crate::action::fixture::{ActionFixture, Ask};
use crate::support::github::Fault;

const GATE: &str = "GET /repos/acme/app/collaborators/alice/permission";

fn limit(to: &str) -> Fault {
    Fault::status(to, 403, "API rate limit exceeded")
        .with_header("x-ratelimit-remaining", "0")
        .with_header("x-ratelimit-reset", "4102444800")
}

#[test]
fn a_gate_that_is_not_answered_lets_nobody_in_and_ends_red() {
    for fault in [
        Fault::status(GATE, 503, "down").lasting(),
        limit(GATE).lasting(),
        Fault::status(GATE, 403, "not for this token").lasting(),
    ] {
        let said = fault.status.to_string();
        let fixture = ActionFixture::new();
        fixture.server.fail(fault);
        let step = fixture.step(&Ask::comment("/locum code say hello"));
        assert_eq!(
            (step.code, step.output("outcome"), step.output("conclusion")),
            (Some(1), "failed", "failure"),
            "{step:?}"
        );
        assert_eq!(fixture.server.writes(), Vec::<String>::new());
        let summary = fixture.stage.read("summary");
        assert!(summary.contains("what `alice` may do here"), "{said}: {summary}");
    }
}

#[test]
fn an_odd_answer_about_somebody_is_an_answer_and_lets_nobody_in() {
    let fixture = ActionFixture::new();
    fixture.server.permit("mallory", json!({ "permission": "pull" }));
    let step = fixture.step(&Ask { login: "mallory", ..Ask::comment("/locum code say hello") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn whoever_restarted_a_job_is_no_one_while_the_gate_is_not_answered() {
    let fixture = ActionFixture::new();
    fixture.server.fail(limit("GET /repos/acme/app/collaborators/bob/permission"));
    let step = fixture.step(&Ask {
        inputs: &[("GITHUB_TRIGGERING_ACTOR", "bob")],
        ..Ask::comment("/locum code say hello")
    });
    assert_eq!((step.code, step.output("outcome")), (Some(1), "failed"), "{step:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
}

#[test]
fn a_comment_does_not_stay_at_work_because_one_answer_was_bad() {
    for fault in [
        Fault::status("PATCH /repos/acme/app/issues/comments", 502, "Bad Gateway"),
        Fault::status("PATCH /repos/acme/app/issues/comments", 429, "slow down")
            .with_header("retry-after", "1"),
    ] {
        let fixture = ActionFixture::new();
        fixture.server.fail(fault);
        let step = fixture.step(&Ask::comment("/locum code say hello"));
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        let comments = fixture.server.comments(7);
        assert_eq!(comments.len(), 1, "{comments:#?}");
        assert!(comments[0].contains("**locum: done**"), "{}", comments[0]);
    }
}

#[test]
fn a_pull_request_is_opened_once_although_its_answer_was_limited_or_lost() {
    let to = "POST /repos/acme/app/pulls";
    for fault in [
        Fault::status(to, 429, "slow down").with_header("retry-after", "1"),
        Fault::status(to, 502, "Bad Gateway"),
        Fault::status(to, 502, "Bad Gateway").performed(),
    ] {
        let fixture = ActionFixture::new();
        fixture.server.fail(fault);
        let step = fixture.step(&Ask::comment("/locum code say hello"));
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        let pulls = fixture.server.pulls();
        assert_eq!(pulls.len(), 1, "{pulls:#?}");
        assert_eq!(step.output("pull-request-number"), pulls[0]["number"].to_string());
    }
}

#[test]
fn what_publishing_reads_is_waited_for_as_what_it_writes() {
    let to = "GET /repos/acme/app/pulls?state=closed";
    let limit = "You have exceeded a secondary rate limit";
    for fault in [
        Fault::status(to, 403, limit).with_header("retry-after", "60"),
        Fault::status(to, 429, "slow down"),
    ] {
        let fixture = ActionFixture::new();
        fixture.server.fail(fault);
        let ask = Ask::comment("/locum code say hello");
        let end = block_on(act(&fixture, "a-", &ask, &clock_in(0), never));
        let ActionEnd::Ran(ran) = end else { panic!("nothing ran") };
        assert_eq!(ran.outcome.word, OutcomeWord::Done, "{:?}", ran.outcome.reason);
        assert_eq!(fixture.server.pulls().len(), 1);
        assert!(fixture.server.comments(7)[0].contains("**locum: done**"));
    }
}

#[test]
fn what_the_forge_says_of_a_failure_is_no_command_to_the_runner() {
    let fixture = ActionFixture::new();
    let said = "no\n::set-output name=x::y\n##[error]z\r::stop-commands::q";
    fixture.server.fail(Fault::status("POST /repos/acme/app/pulls", 422, said));
    let step = fixture.step(&Ask::comment("/locum code say hello"));
    assert!(step.err.contains("set-output name=x::y"), "{step:?}");
    for line in step.err.split(['\n', '\r']) {
        assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{step:?}");
    }
}
