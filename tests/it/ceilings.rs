//! What runs may spend together, counted in the state directory: one run after the other, killed
//! ones, a record that is damaged.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::stage::{Ran, Stage};

const POLICY: &str =
    "version: 1\nmodes: { default: ask, allow: [ask] }\nrules: [{ allow: 'read(**)' }]\n";

/// One reply that the provider counts with 190,000 tokens.
const SCRIPT: &str = "version: 1
tasks:
  - turns:
      - calls: [{ tool: attempt_completion, args: { result: looked } }]
        usage: { input: 189000, output: 1000 }
";

fn stage(budget: &str) -> Stage {
    Stage::with(&[(".locum/policy.yml", &format!("{POLICY}budget: {budget}\n")), ("a.txt", "a\n")])
}

fn word(ran: &Ran) -> String {
    ran.json()["outcome"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

fn play(stage: &Stage) -> Ran {
    stage.play(SCRIPT, &["--output-format", "json"])
}

fn record_file(stage: &Stage) -> String {
    let names = stage.names("state/locum/ceilings");
    let name =
        names.iter().find(|name| name.ends_with(".json")).unwrap_or_else(|| panic!("{names:?}"));
    format!("state/locum/ceilings/{name}")
}

/// Makes the record say that the last run never ended.
fn as_if_killed(stage: &Stage) {
    let file = record_file(stage);
    let mut record: Value = serde_json::from_str(&stage.read(&file)).unwrap();
    record["legs"][0]["under_way"] = json!(true);
    record["legs"][0]["amount"]["tokens"] = json!(1_000_000);
    stage.write(&file, &record.to_string());
}

#[test]
fn the_runs_of_a_day_stay_below_their_ceiling_together() {
    let stage = stage("{ daily: { tokens: 400k } }");
    assert_eq!((word(&play(&stage)), word(&play(&stage))), ("done".to_owned(), "done".to_owned()));
    let ran = play(&stage);
    assert_eq!(
        (ran.code, word(&ran)),
        (Some(0), "done".to_owned()),
        "20,000 tokens are left, which a first request fits in: {ran:?}"
    );
    let ran = play(&stage);
    assert_eq!((ran.code, word(&ran)), (Some(6), "budget-exhausted".to_owned()), "{ran:?}");
    let told = ran.json()["reason"].as_str().unwrap().to_owned();
    assert!(
        told.contains(
            "the daily ceiling of 400000 tokens is reached: other runs have 570000 of it, this \
             one spent 0"
        ),
        "{told}"
    );
}

#[test]
fn a_run_that_was_killed_counts_with_what_its_journal_says() {
    let stage = stage("{ daily: { tokens: 400k } }");
    assert_eq!(word(&play(&stage)), "done");
    as_if_killed(&stage);
    assert_eq!(word(&play(&stage)), "done", "what it did not spend is free again");
    let record: Value = serde_json::from_str(&stage.read(&record_file(&stage))).unwrap();
    let amounts: Vec<_> = record["legs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|leg| leg["amount"]["tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(amounts, [190_000, 190_000]);

    as_if_killed(&stage);
    std::fs::remove_dir_all(stage.path("state/locum/sessions")).unwrap();
    assert_eq!(
        word(&play(&stage)),
        "budget-exhausted",
        "without its journal it counts with all it might have spent"
    );
}

#[test]
fn a_damaged_record_is_told_and_nothing_runs() {
    let stage = stage("{ daily: { runs: 5 } }");
    assert_eq!(word(&play(&stage)), "done");
    let file = record_file(&stage);
    for damaged in ["", "{\"version\":1,\"legs\":[", "[]"] {
        stage.write(&file, damaged);
        let ran = play(&stage);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.err.contains("spending record is unusable") && ran.err.contains("hint: delete `"),
            "{ran:?}"
        );
        assert_eq!(stage.sessions().len(), 1, "a session that cannot be counted leaves nothing");
    }
    std::fs::remove_file(stage.path(&file)).unwrap();
    assert_eq!(word(&play(&stage)), "done");
}

#[test]
fn the_plan_shows_the_ceilings_and_mistakes_in_them_are_told() {
    let dry = stage("{ daily: { runs: 5, cost_usd: 20 }, per_thread: { tokens: 3M } }")
        .play(SCRIPT, &["--dry-run"]);
    for row in ["a day     5 runs · $20.00 at most", "a thread  3000000 tokens at most"] {
        assert!(dry.out.contains(row), "{row} in {}", dry.out);
    }
    let ran = stage("{ daily: { run: 5, tokens: many } }").run(&["policy", "check"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for told in ["unknown key `run`", "did you mean `runs`?", "`tokens`"] {
        assert!(ran.err.contains(told) || ran.out.contains(told), "{told} in {ran:?}");
    }
}
