//! `docs/json.md` and `docs/sessions.md` show what programs read: the keys of a real report, and
//! events that the journal has.

use std::collections::BTreeSet;

use pretty_assertions::assert_eq;
use regex::Regex;
use serde_json::Value;

use crate::docs::{documents, read};
use crate::support::stage::Stage;

const POLICY: &str = r#"
version: 1
rules:
  - allow: ["read(**)", "edit(src/**)", "command(ls:*)", "command(test:*)"]
publish: { allow: [commit], success: ["test -e src/new.rs"] }
"#;

const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: code
    turns:
      - calls:
          - { tool: write_to_file, args: { path: src/new.rs, content: "// allowed\n" } }
          - { tool: write_to_file, args: { path: Makefile, content: "all:\n" } }
      - calls: [{ tool: execute_command, args: { command: ls src } }]
      - calls: [{ tool: attempt_completion, args: { result: "One file written, one refused." } }]
"#;

fn report() -> Value {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/lib.rs", "pub fn a() {}\n")]);
    let ran = stage.play(SCRIPT, &["--mode", "code", "--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.json()
}

/// Every key of a value with the keys above it, as `refusals.verdicts.reason`.
fn keys(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (key, below) in entries {
                let path = format!("{above}{key}");
                found.insert(path.clone());
                keys(below, &format!("{path}."), found);
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                keys(entry, above, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_report_that_is_shown_has_the_keys_of_a_real_one() {
    let page = read("docs/json.md");
    let sample = page.split("<!-- json: report -->\n```json\n").nth(1).unwrap();
    let sample: Value = serde_json::from_str(sample.split("\n```").next().unwrap()).unwrap();
    let (mut shown, mut real) = (BTreeSet::new(), BTreeSet::new());
    keys(&sample, "", &mut shown);
    let report = report();
    keys(&report, "", &mut real);
    assert_eq!(shown.difference(&real).collect::<Vec<_>>(), Vec::<&String>::new());
    for key in report.as_object().unwrap().keys() {
        let row = Regex::new(&format!(r"(?m)^\| [^|]*`{key}`[^|]* \|")).unwrap();
        assert!(row.is_match(&page), "docs/json.md does not explain `{key}`");
    }
}

#[test]
fn every_json_of_a_page_can_be_read() {
    let block = Regex::new(r"(?ms)^```json\n(.*?)^```$").unwrap();
    let mut seen = 0;
    for document in documents() {
        for found in block.captures_iter(&read(&document)) {
            let read = serde_json::from_str::<Value>(&found[1]);
            assert!(read.is_ok(), "{document}: {read:?}");
            seen += 1;
        }
    }
    assert!(seen > 1, "the blocks were not found");
}

#[test]
fn the_events_that_are_listed_are_those_of_the_journal() {
    let page = read("docs/sessions.md");
    let source = read("src/agent/session/event.rs");
    let variants = source.split("pub enum Event {").nth(1).unwrap();
    let variant = Regex::new(r"(?m)^    ([A-Z]\w+)[ ,({]").unwrap();
    let upper = Regex::new("([a-z])([A-Z])").unwrap();
    let known: BTreeSet<String> = variant
        .captures_iter(variants)
        .map(|found| upper.replace_all(&found[1], "${1}_$2").to_lowercase())
        .collect();
    let table = page.split("| `event` | what happened |\n").nth(1).unwrap();
    let rows = table.lines().skip(1).take_while(|row| row.starts_with('|'));
    let word = Regex::new("`([a-z_]+)`").unwrap();
    let mut count = 0;
    for row in rows {
        let first = row.split(" | ").next().unwrap();
        for found in word.captures_iter(first) {
            assert!(known.contains(&found[1]), "`{}` is not an event", &found[1]);
            count += 1;
        }
    }
    assert!(count > 10, "the table was not found");
}
