//! The fuzz targets of `tests/fuzz`, without a fuzzer: every text of the vectors, slipped here and
//! there, the same for the same seed.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::commands::entry;
use crate::commands::generate::{Dice, Taste, accident, script};

/// When a text counts as one the parser does not come back from; far above what any takes, also on
/// a busy machine.
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
    let mut corpus = vec![
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/examples/policy.yml"))
            .unwrap(),
    ];
    corpus.push(
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/policy.yml")).unwrap(),
    );
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
    let file: Value = serde_json::from_str(
        &std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/vectors/security/events.json"
        ))
        .unwrap(),
    )
    .unwrap();
    let mut corpus: Vec<String> = file["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| format!("issue_comment\n{case}"))
        .collect();
    corpus.extend(texts("security/events.json"));
    check(9, 2000, &corpus, entry::event);
}

#[test]
fn no_text_breaks_the_reader_of_addresses() {
    let mut corpus = texts("security/urls.json");
    corpus.push("https://docs.rs/a/../b?c#d\n//127.0.0.1/x".to_owned());
    corpus.push("http://0x7f.1:80/%2e%2e/\nhttp:/x".to_owned());
    check(10, 5000, &corpus, entry::url);
}

#[test]
fn no_text_breaks_the_readers_of_modes() {
    let mut corpus = Vec::new();
    for (kind, file) in [
        (".roomodes", "mode_validation.json"),
        (".kilocodemodes", "mode_validation.json"),
        (".locum/modes.yml", "mode_validation.json"),
    ] {
        corpus.extend(
            texts(&format!("peers/{file}")).into_iter().map(|text| format!("{kind}\n{text}")),
        );
    }
    let builtin = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/config/modes.yml"))
        .unwrap_or_default();
    corpus.push(format!(".locum/modes.yml\n{builtin}"));
    check(11, 300, &corpus, entry::modes);
}

/// Every spelling in which a value could be smuggled out.
fn spellings(value: &str) -> Vec<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let split = |between: &str| value.chars().map(String::from).collect::<Vec<_>>().join(between);
    vec![
        value.to_owned(),
        STANDARD.encode(value),
        URL_SAFE_NO_PAD.encode(format!("xy{value}z")),
        STANDARD.encode(STANDARD.encode(value)),
        hex.to_uppercase(),
        hex,
        value.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        value.bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        value.chars().map(|letter| format!("&#{};", u32::from(letter))).collect(),
        value.chars().rev().collect(),
        split("\u{200b}"),
        split("\u{2060}"),
        split("\u{1b}[0m"),
        split(" "),
        split("\n"),
        split("<!-- -->"),
        split("**"),
    ]
}

#[test]
fn what_was_filtered_is_filtered_already_and_holds_no_secret() {
    let mut dice = Dice::new(12);
    let mut corpus = texts("security/texts.json");
    corpus.retain(|text| text.len() < 2000);
    let spellings = spellings(entry::SECRET);
    for round in 0..120 {
        let mut text = corpus[dice.roll(corpus.len())].clone();
        let secret = &spellings[dice.roll(spellings.len())];
        let mut at = dice.roll(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        // What stands beside it must not be a part of its spelling.
        let edge = [" ", "\n", "`", "(", "\n\n    "][dice.roll(5)];
        text.insert_str(at, &format!("{edge}{secret}{edge}"));
        for _ in 0..dice.roll(3) {
            text = accident(&mut dice, &text);
        }
        let begin = Instant::now();
        entry::text(&text);
        assert!(begin.elapsed() < LONGEST, "round {round}: {text:?}");
    }
}

#[test]
fn every_entry_is_a_target_of_the_fuzzer() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let read = |file: &str| std::fs::read_to_string(format!("{root}/{file}")).unwrap();
    let entries = read("it/commands/entry.rs");
    let entries: Vec<&str> = entries
        .lines()
        .filter_map(|line| line.strip_prefix("pub(crate) fn ")?.split('(').next())
        .collect();
    assert!(entries.len() >= 7, "{entries:?}");
    for entry in entries {
        assert!(
            read("fuzz/Cargo.toml")
                .contains(&format!("name = \"{entry}\"\npath = \"targets/{entry}.rs\"")),
            "{entry}"
        );
        assert!(
            read(&format!("fuzz/targets/{entry}.rs"))
                .contains(&format!("|text: &str| entry::{entry}(text)")),
            "{entry}"
        );
    }
}
