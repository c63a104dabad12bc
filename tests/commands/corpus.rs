//! The fuzz targets of `tests/fuzz`, without a fuzzer: every text of the vectors, slipped here and there, the same for the same
//! seed.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::generate::{Dice, Taste, accident, script};

#[path = "../fuzz/entry.rs"]
mod entry;

/// When a text counts as one the parser does not come back from; far above what any takes, also on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);

/// Texts of a file of vectors, whatever their key.
fn texts(file: &str) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            Value::Object(values) => values.values().for_each(|value| collect(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let path = format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(), &mut found);
    found
}

fn check(seed: u64, count: usize, corpus: &[String], target: fn(&str)) {
    let mut dice = Dice::new(seed);
    for round in 0..count {
        let mut text = corpus[dice.roll(corpus.len())].clone();
        for _ in 0..dice.roll(4) {
            text = accident(&mut dice, &text);
        }
        let begin = Instant::now();
        target(&text);
        assert!(begin.elapsed() < LONGEST, "round {round}: {text:?} took {:?}", begin.elapsed());
    }
}

#[test]
fn no_script_breaks_the_reader_of_commands() {
    let mut corpus = texts("security/commands.json");
    let mut dice = Dice::new(5);
    let taste = Taste { expansions: 20, redirects: 20, accidents: 50, compounds: 30 };
    corpus.extend((0..500).map(|_| script(&mut dice, taste)));
    check(6, 1000, &corpus, entry::command);
}

#[test]
fn no_text_breaks_the_reader_of_policies() {
    let mut corpus = vec![std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/examples/policy.yml")).unwrap()];
    corpus.push(std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/policy.yml")).unwrap());
    check(7, 100, &corpus, entry::policy);
}

#[test]
fn no_text_breaks_the_readers_of_diffs() {
    let mut corpus = texts("peers/apply_diff.json");
    corpus.extend(texts("peers/apply_patch.json"));
    check(8, 3000, &corpus, entry::diff);
}

#[test]
fn no_text_breaks_the_readers_of_events_and_comments() {
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/security/events.json")).unwrap())
            .unwrap();
    let mut corpus: Vec<String> = file["cases"].as_array().unwrap().iter().map(|case| format!("issue_comment\n{case}")).collect();
    corpus.extend(texts("security/events.json"));
    check(9, 2000, &corpus, entry::event);
}
