//! What runs may spend together, counted in the repository: from one machine to the next, and never
//! uncounted.

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask, WorkflowStep};

const SPENT: &str = "refs/locum/spent";

fn with(budget: &str) -> ActionFixture {
    ActionFixture::publishing(&format!(
        "publish: {{ allow: [comment, commit, pull-request, label] }}\nbudget: {budget}"
    ))
}

/// The next comment, on a machine that knows nothing of the one before.
fn says(fixture: &ActionFixture, number: u64, id: u64) -> WorkflowStep {
    fixture.move_on(true);
    fixture.step(&Ask { ids: (id, id + 4000), number, ..Ask::comment("/locum code say hello") })
}

fn record(fixture: &ActionFixture) -> serde_json::Value {
    serde_json::from_str(&fixture.remote(&["show", &format!("{SPENT}:spent.json")])).unwrap()
}

#[test]
fn a_ceiling_holds_from_one_machine_to_the_next() {
    for (budget, words) in [
        ("{ daily: { runs: 1 } }", "the daily ceiling of 1 runs"),
        ("{ per_thread: { runs: 1 } }", "the thread's ceiling of 1 runs"),
    ] {
        let fixture = with(budget);
        let step = says(&fixture, 7, 55);
        assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
        let kept = record(&fixture);
        assert_eq!(
            (kept["legs"][0]["under_way"].clone(), kept["legs"][0]["thread"].clone()),
            (false.into(), 7.into()),
            "{kept}"
        );
        assert!(
            kept["legs"][0]["amount"]["tokens"].as_u64().unwrap() < 2_000_000,
            "what was not spent is free again: {kept}"
        );

        let step = says(&fixture, 7, 56);
        assert_eq!((step.code, step.output("outcome")), (Some(6), "budget-exhausted"), "{step:?}");
        assert!(
            fixture.server.comments(7).iter().any(|body| body.contains(words)),
            "{:#?}",
            fixture.server.comments(7)
        );
        assert_eq!(
            record(&fixture)["legs"].as_array().unwrap().len(),
            1,
            "what may not begin is not counted"
        );
    }
}

#[test]
fn a_policy_without_ceilings_keeps_no_count() {
    let fixture = ActionFixture::new();
    assert_eq!(says(&fixture, 7, 55).output("outcome"), "done");
    assert_eq!(fixture.kept_sessions(), Vec::<String>::new());
}

#[test]
fn nothing_runs_uncounted() {
    let fixture = with("{ daily: { runs: 9 } }");
    let main = fixture.remote(&["rev-parse", "main"]);
    fixture.remote(&["update-ref", SPENT, main.trim()]);
    let step = says(&fixture, 7, 55);
    assert_eq!(step.code, Some(2), "{step:?}");
    assert!(
        step.err.contains(SPENT) && step.err.contains("it is unusable: there is no record in it"),
        "{step:?}"
    );
    let comments = fixture.server.comments(7);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    assert!(!comments[0].contains("working") && comments[0].contains(SPENT), "{comments:#?}");

    let fixture = with("{ daily: { runs: 9 } }");
    fixture.refuse_pushes();
    let step = says(&fixture, 7, 55);
    assert_eq!(step.code, Some(1), "{step:?}");
    assert!(step.err.contains("permissions: contents: write"), "{step:?}");
    assert_eq!(fixture.server.pulls().len(), 0);
}
