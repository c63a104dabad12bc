//! Labels, reviewers, assignees and milestone of pull requests: given once, when one is opened, and
//! never in the way of what is published.

use serde_json::{Value, json};

use crate::action::again::commit_to_main;
use crate::action::fixture::{ActionFixture, Ask};
use crate::support::github::Fault;

const DETAILS: &str = "publish: { allow: [comment, commit, pull-request, label], labels: [robot], \
                       reviewers: [alice, nobody, acme/security, other/team], assignees: [eve, \
                       ghost], milestone: '2.0' }";

fn asked(fixture: &ActionFixture) -> Vec<Value> {
    fixture.server.pulls()[0]["asked"].as_array().cloned().unwrap_or_default()
}

fn requests(fixture: &ActionFixture, end: &str) -> usize {
    fixture.server.writes().iter().filter(|write| write.ends_with(end)).count()
}

#[test]
fn a_new_pull_request_gets_them_and_an_updated_one_asks_nobody_again() {
    let fixture = ActionFixture::publishing(DETAILS);
    fixture.server.add_milestone(3, "1.0");
    fixture.server.add_milestone(4, "2.0");
    let step = fixture.fresh(&Ask::comment("/locum code say hello"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let pull = fixture.server.pulls()[0].clone();
    assert_eq!(asked(&fixture), [json!("alice"), json!("security")]);
    assert_eq!(pull["assignees"], json!([{ "login": "eve" }]));
    assert_eq!((&pull["milestone"], &pull["labels"]), (&json!(4), &json!([{ "name": "robot" }])));
    let summary = fixture.stage.read("summary");
    for said in [
        "no review was requested of `nobody`",
        "no review was requested of `other/team`",
        "`ghost` cannot be assigned",
    ] {
        assert!(summary.contains(said), "{said} in {summary}");
    }
    assert!(!summary.contains("Not published"), "{summary}");

    let writes = requests(&fixture, "/requested_reviewers");
    let more = Ask { ids: (56, 4343), ..Ask::comment("/locum code say more") };
    let again = fixture.fresh(&more);
    assert_eq!(again.output("pull-request-number"), step.output("pull-request-number"));
    assert_eq!(requests(&fixture, "/requested_reviewers"), writes);
    assert_eq!((requests(&fixture, "/assignees"), requests(&fixture, "/labels")), (1, 1));
}

#[test]
fn a_forge_that_refuses_all_of_them_leaves_the_pull_request_published() {
    let fixture = ActionFixture::publishing(DETAILS);
    let refused = Fault::status("POST /repos/acme/app/pulls/", 403, "Resource not accessible");
    fixture.server.fail(refused.lasting());
    let step = fixture.fresh(&Ask::comment("/locum code say hello"));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    assert!(step.output("pull-request-number").parse::<u64>().is_ok(), "{step:?}");
    assert_eq!(asked(&fixture), Vec::<Value>::new());
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("is not in milestone `2.0`"), "{summary}");
    assert!(summary.contains("no open milestone has this title"), "{summary}");
}

#[test]
fn a_policy_without_pull_requests_asks_nobody() {
    let publish = "publish: { allow: [comment, commit], reviewers: [alice], milestone: '2.0' }";
    let fixture = ActionFixture::publishing(publish);
    fixture.fresh(&Ask::comment("/locum code say hello"));
    assert_eq!(requests(&fixture, "/requested_reviewers"), 0);
    assert_eq!(fixture.server.pulls(), Vec::<Value>::new());
}

#[test]
fn a_job_says_who_looks_at_its_pull_requests() {
    let fixture = ActionFixture::publishing(DETAILS);
    let job = fixture.stage.read("checkout/.locum/jobs/touch.yml");
    let publish = "publish: { labels: [deps], reviewers: [eve], assignees: [], milestone: '1.0' }";
    commit_to_main(&fixture, ".locum/jobs/touch.yml", &format!("{job}{publish}\n"));
    fixture.server.add_milestone(3, "1.0");
    let step = fixture.fresh(&Ask { event: "schedule", ..Ask::comment("") });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    let pull = fixture.server.pulls()[0].clone();
    assert_eq!((asked(&fixture), &pull["milestone"]), (vec![json!("eve")], &json!(3)));
    assert_eq!(
        (&pull["labels"], requests(&fixture, "/assignees")),
        (&json!([{ "name": "deps" }]), 0)
    );
}
