//! `locum policy check`, through the binary: mistakes as people and programs see them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use pretty_assertions::assert_eq;
use serde_json::Value as Json;
use support::stage::{Ran, Stage};

fn check(policy: &str, arguments: &[&str]) -> Ran {
    let stage = Stage::with(&[(".locum/policy.yml", policy)]);
    stage.run(&[&["policy", "check"], arguments].concat())
}

#[test]
fn every_mistake_shows_its_line_with_a_caret_and_what_was_meant() {
    let policy = "version: 1\nrules:\n  - allow: \"comand(ls)\"\n    triger: [comment]\nmodes: { switching: dirct }\n";
    let ran = check(policy, &[]);
    assert_eq!(ran.code, Some(2));
    let expected = r#"error: .locum/policy.yml:3:12: unknown kind of pattern `comand`; did you mean `command`?
  3 |   - allow: "comand(ls)"
    |            ^^^^^^^^^^^^
error: .locum/policy.yml:4:5: unknown key `triger`
  4 |     triger: [comment]
    |     ^^^^^^
hint: did you mean `triggers`?
error: .locum/policy.yml:5:21: `switching` cannot be `dirct`
  5 | modes: { switching: dirct }
    |                     ^^^^^
hint: did you mean `direct`?
"#;
    assert_eq!(ran.err, expected);
    let ran = check(policy, &["--json"]);
    let printed: Json = serde_json::from_str(&ran.out).unwrap();
    let places: Vec<(u64, u64)> = printed["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["line"].as_u64().unwrap(), error["column"].as_u64().unwrap()))
        .collect();
    assert_eq!((ran.code, places), (Some(2), vec![(3, 12), (4, 5), (5, 21)]));
}

#[test]
fn a_file_of_nothing_but_mistakes_is_told_of_in_bounded_length() {
    let policy: String = (0..5_000).map(|number| format!("k{number}: 1\n")).collect();
    let ran = check(&policy, &[]);
    assert_eq!((ran.code, ran.err.matches("unknown key").count()), (Some(2), 100));
    assert!(ran.err.contains("4901 more mistakes are not listed"), "{}", ran.err.get(..300).unwrap());
}

#[test]
fn a_file_that_is_not_utf8_is_told_of_with_its_place() {
    let stage = Stage::with(&[]);
    stage.write("checkout/.locum/policy.yml", b"version: 1\nrules: \xff\n");
    let ran = stage.run(&["policy", "check"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: .locum/policy.yml:2:8: is not UTF-8 text\nhint: save it as UTF-8\n"));
}
