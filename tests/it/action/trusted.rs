//! Which policy judges a pull request: that of its base as it is now, within the bounds of the
//! default branch's, which nobody chooses by opening one.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};
use crate::action::moved::push;

const FILE: &str = ".locum/policy.yml";
const PUBLISH: &str = "publish: { allow: [comment, commit, pull-request] }";

/// The policy of the default branch.
fn policy(fixture: &ActionFixture) -> String {
    fixture.stage.read(&format!("checkout/{FILE}"))
}

/// A policy that lets strangers ask.
fn open_to_strangers(policy: &str) -> String {
    let open = policy.replacen("tiers: [maintainer]", "tiers: [maintainer, stranger]", 1);
    assert_ne!(open, policy);
    open
}

/// Makes a branch with a policy the base of pull request 8, as whoever opened it may.
fn retarget(fixture: &ActionFixture, policy: &str) {
    let stage = &fixture.stage;
    stage.git(&["switch", "-q", "-c", "old"]);
    stage.write(&format!("checkout/{FILE}"), policy);
    stage.commit("old");
    stage.git(&["push", "-q", stage.path("remotes/acme/app.git").to_str().unwrap(), "old:old"]);
    let base = stage.git(&["rev-parse", "old"]).trim().to_owned();
    stage.git(&["switch", "-q", "main"]);
    fixture.server.change_pull(8, "/base/ref", json!("old"));
    fixture.server.change_pull(8, "/base/sha", json!(base));
}

fn asks(fixture: &ActionFixture, login: &str, body: &str) -> WorkflowStep {
    fixture.step(&Ask { number: 8, login, ..Ask::comment(body) })
}

/// Strangers start nothing, and get no answer; a maintainer does.
fn only_maintainers_ask(fixture: &ActionFixture) -> WorkflowStep {
    let step = asks(fixture, "eve", "/locum ask look at it");
    assert_eq!((step.code, step.output("outcome")), (Some(0), "skipped"), "{step:?}");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    let asked = asks(fixture, "alice", "/locum ask look at it");
    assert_eq!((asked.code, asked.output("outcome")), (Some(0), "done"), "{asked:?}");
    step
}

#[test]
fn a_pull_request_is_judged_by_its_base_as_that_is_now() {
    for is_shallow in [false, true] {
        let fixture = ActionFixture::new();
        let narrow = policy(&fixture);
        fixture.add_to_main(&[(FILE, &open_to_strangers(&narrow))]);
        // Its base is remembered as it is now.
        fixture.pull_request(true);
        fixture.add_to_main(&[(FILE, &narrow)]);
        fixture.move_on(is_shallow);
        only_maintainers_ask(&fixture);
    }
}

#[test]
fn a_base_that_moves_judges_with_its_new_policy() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    let own = policy(&fixture);
    retarget(&fixture, &own);
    let without_edits = own.replacen("\"edit(src/**)\", ", "", 1);
    assert_ne!(without_edits, own);
    push(&fixture, "old", FILE, &without_edits);
    let step = asks(&fixture, "alice", "/locum code say hello");
    assert_eq!((step.code, step.output("outcome")), (Some(4), "refused"), "{step:?}");
    push(&fixture, "old", FILE, &own);
    let step =
        fixture.step(&Ask { number: 8, ids: (56, 4343), ..Ask::comment("/locum code say hello") });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
}

#[test]
fn nobody_gets_in_by_the_policy_of_a_base_of_their_choice() {
    let fixture = ActionFixture::new();
    fixture.pull_request(true);
    retarget(&fixture, &open_to_strangers(&policy(&fixture)));
    let step = only_maintainers_ask(&fixture);
    let why = "tier `stranger` may not start runs this way, by the policy of the default branch";
    assert!(step.output("final-message").contains(why), "{step:?}");
}

#[test]
fn what_forks_may_do_is_what_both_policies_let_them() {
    for (at_default, outcome) in [("read-only", "refused"), ("allow", "done")] {
        let forks = |kind: &str| format!("forks: {kind}");
        let fixture = ActionFixture::started_by(&forks(at_default));
        fixture.pull_request(true);
        let own = policy(&fixture).replacen(&forks(at_default), &forks("allow"), 1);
        retarget(&fixture, &format!("{own}# the policy of a release\n"));
        let step = asks(&fixture, "alice", "/locum code say hello");
        assert_eq!(step.output("outcome"), outcome, "{at_default}: {step:?}");
    }
}

#[test]
fn a_run_spends_no_more_than_both_policies_let_it() {
    for (at_base, turns) in [("30", "7 turns"), ("3", "3 turns")] {
        let fixture = ActionFixture::publishing(&format!("{PUBLISH}\nbudget: {{ turns: 7 }}"));
        fixture.pull_request(false);
        let own = policy(&fixture).replacen("turns: 7", &format!("turns: {at_base}"), 1);
        retarget(&fixture, &own);
        let inputs = [("INPUT_DRY_RUN", "true")];
        let step = fixture.step(&Ask {
            number: 8,
            inputs: &inputs,
            ..Ask::comment("/locum code say hello")
        });
        let plan = step.output("final-message");
        let budget = plan.lines().find(|line| line.starts_with("budget")).unwrap_or_default();
        assert!(budget.contains(&format!(" {turns} ")), "{step:?}");
    }
}

#[test]
fn a_base_with_a_policy_starts_nothing_where_the_default_branch_has_none() {
    let fixture = ActionFixture::new();
    fixture.pull_request(false);
    retarget(&fixture, &policy(&fixture));
    std::fs::remove_file(fixture.stage.path(&format!("checkout/{FILE}"))).unwrap();
    fixture.stage.commit("no policy");
    let step = asks(&fixture, "alice", "/locum ask look at it");
    assert_eq!((step.code, step.output("outcome")), (Some(2), "failed"), "{step:?}");
    assert!(step.output("final-message").contains("there is no policy in commit"), "{step:?}");
}
