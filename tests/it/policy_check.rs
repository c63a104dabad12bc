//! `locum policy check`, through the binary: mistakes as people and programs see them.

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::Value as Json;

fn check(policy: &str, arguments: &[&str]) -> Ran {
    let stage = Stage::with(&[(".locum/policy.yml", policy)]);
    stage.run(&[&["policy", "check"], arguments].concat())
}

#[test]
fn every_mistake_shows_its_line_with_a_caret_and_what_was_meant() {
    let policy = "version: 1\nrules:\n  - allow: \"comand(ls)\"\n    triger: [comment]\nmodes: { \
                  switching: dirct }\n";
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
    assert_eq!((ran.code, ran.err.matches("unknown key").count()), (Some(2), 99));
    assert!(
        ran.err.contains("4901 more mistakes are not listed"),
        "{}",
        ran.err.get(..300).unwrap()
    );
}

#[test]
fn a_file_that_is_not_utf8_is_told_of_with_its_place() {
    let stage = Stage::with(&[]);
    stage.write("checkout/.locum/policy.yml", b"version: 1\nrules: \xff\n");
    let ran = stage.run(&["policy", "check"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "error: .locum/policy.yml:2:8: is not UTF-8 text\nhint: save it as UTF-8\n")
    );
}

#[test]
fn warnings_end_with_0_unless_they_are_denied() {
    let policy = "version: 1\nrules:\n  - allow: \"edit(src/**)\"\n    jobs: [updat]\n  - allow: \
                  \"edit(.github/**)\"\n";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".locum/jobs/update.yml", "version: 1\nmode: code\nsteps: [{ run: ls }]\n"),
    ]);
    let ran = stage.run(&["policy", "check"]);
    assert_eq!(ran.code, Some(0));
    let expected = "warning: .locum/policy.yml:5: allows nothing: protected from edits: decides \
                    what automation runs\nwarning: .locum/policy.yml:3: there is no job `updat`; \
                    did you mean `update`?\n.locum/policy.yml: ok, 2 warnings\n";
    assert_eq!(ran.out, expected);
    assert_eq!(stage.run(&["policy", "check", "--deny-warnings"]).code, Some(2));
    assert_eq!(stage.run(&["policy", "check", "--deny-warnings", "--json"]).code, Some(2));
    stage.write("checkout/.locum/policy.yml", "version: 1\nrules:\n  - allow: \"edit(src/**)\"\n");
    assert_eq!(stage.run(&["policy", "check", "--deny-warnings"]).code, Some(0));
}

#[test]
fn rules_that_a_session_did_not_need_are_named() {
    let policy = "version: 1\nmodes: { default: code }\nrules:\n  - allow: \"edit(src/**)\"\n  - \
                  allow: \"edit(docs/**)\"\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy)]);
    let script = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "a\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "Done." } }]
"#;
    let ran = stage.play(script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    let ran = stage.run(&["policy", "check", "--session", &session]);
    let expected = "warning: .locum/policy.yml:5: `edit(docs/**)` allowed nothing in what was \
                    looked at\n.locum/policy.yml: ok, 1 warning\n";
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), expected), "{}", ran.err);
    assert_eq!(stage.run(&["policy", "check", "--session", "nope"]).code, Some(2));
}

#[test]
fn the_rule_of_two_is_told_of_and_accepted_in_words() {
    let rules = "rules:\n  - allow: [\"mcp(issues/*)\", \"fetch(*)\"]\n    modes: [ask]\n";
    let ran = check(&format!("version: 1\n{rules}"), &[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.starts_with("error: .locum/policy.yml:3:30: in mode `ask`, strangers' text ("),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains(
            "\n  3 |   - allow: [\"mcp(issues/*)\", \"fetch(*)\"]\n    |                              ^^^^^^^^^^\nhint: take one"
        ),
        "{}",
        ran.err
    );
    let ran = check(
        &format!(
            "version: 1\nmodes: {{ accept_risk: {{ ask: that server holds public data only }} \
             }}\n{rules}"
        ),
        &[],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.starts_with("accepted risk: in mode ask, ")
            && ran.out.contains(": that server holds public data only\n"),
        "{}",
        ran.out
    );
}

#[test]
fn checks_with_mistakes_and_names_of_none_are_told() {
    let policy = "version: 1\ntriggers: { pull_request: { checks: [policy, al] } }\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), (".locum/checks/api.md", "Look.\n")]);
    let ran = stage.run(&["policy", "check"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("there is no check `al`"), "{ran:?}");
    stage.write("checkout/.locum/checks/api.md", "---\npaths: 3\n---\nLook.\n");
    stage.commit("mistake");
    let ran = stage.run(&["policy", "check"]);
    let told = ".locum/checks/api.md:2:8: `paths` holds patterns, found a number";
    assert!(ran.code == Some(2) && ran.err.contains(told), "{ran:?}");
    let doctor = stage.run(&["doctor", "--json"]);
    assert!(doctor.out.contains(told), "{doctor:?}");
    for (mode, is_known) in [("nope", false), ("ask", true)] {
        stage.write("checkout/.locum/checks/api.md", &format!("---\nmode: {mode}\n---\nLook.\n"));
        stage.commit("a mode");
        let (ran, doctor) = (stage.run(&["policy", "check"]), stage.run(&["doctor", "--json"]));
        let told = format!("there is no mode `{mode}`");
        assert_eq!(ran.code, Some(if is_known { 0 } else { 2 }), "{ran:?}");
        assert_eq!(ran.err.contains(&told), !is_known, "{ran:?}");
        assert_eq!(doctor.out.contains(&told), !is_known, "{doctor:?}");
    }
}

#[test]
fn a_way_to_start_a_run_that_is_open_to_nobody_is_told() {
    let policy = |tiers: &str| {
        format!(
            "version: 1\ntriggers: {{ comment: {{ prefix: /locum }}, label: {{ name: x{tiers} }} }}\n"
        )
    };
    let stage = Stage::with(&[(".locum/policy.yml", &policy(""))]);
    let told = "`triggers.label` starts nothing: it has no `tiers`";
    let ran = stage.run(&["policy", "check"]);
    assert!(ran.code == Some(0) && ran.out.contains(told), "{ran:?}");
    let problem = "`triggers.comment` starts nothing";
    assert!(stage.run(&["doctor", "--json"]).out.contains(problem));
    stage.write("checkout/.locum/policy.yml", &policy(", tiers: [maintainer]"));
    stage.commit("tiers");
    let ran = stage.run(&["policy", "check"]);
    assert!(!ran.out.contains("starts nothing"), "{ran:?}");
    assert!(!stage.run(&["doctor", "--json"]).out.contains("starts nothing"));
}

#[test]
fn an_explanation_for_a_job_that_does_not_exist_says_so() {
    let stage = Stage::with(&[(".locum/jobs/tidy.yml", "version: 1\ntask: Tidy.\n")]);
    let explain = |job: &str| stage.run(&["policy", "explain", "read(a)", "--job", job]);
    let ran = explain("tydy");
    assert!(ran.err.contains("there is no job `tydy`"), "{ran:?}");
    assert!(ran.err.contains("did you mean `tidy`?"), "{ran:?}");
    assert!(!explain("tidy").err.contains("there is no job"));
}

#[test]
fn mistakes_of_every_file_that_a_run_reads_are_shown_together() {
    let stage = Stage::with(&[
        (".locum/policy.yml", "version: 1\ntriger: 1\n"),
        (".locum/jobs/nightly.yml", "version: 1\ntsk: hi\n"),
        (".locum/checks/api.md", "---\npaths: 3\n---\nLook.\n"),
        (".kilocodemodes", "customModes: 3\n"),
        (".locumignore", &"a\n".repeat(5_001)),
    ]);
    let ran = stage.run(&["policy", "check", "--json"]);
    let printed: Json = serde_json::from_str(&ran.out).unwrap();
    let files: Vec<&str> = printed["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["file"].as_str().unwrap())
        .collect();
    assert_eq!((ran.code, printed["hash"].is_null()), (Some(2), true), "{printed}");
    for file in [
        ".locum/policy.yml",
        ".locum/jobs/nightly.yml",
        ".locum/checks/api.md",
        ".kilocodemodes",
        ".locumignore",
    ] {
        assert!(files.contains(&file), "{file}: {printed}");
    }
    // One that is named is read alone.
    stage.write("checkout/other.yml", "version: 1\n");
    assert_eq!(stage.run(&["policy", "check", "other.yml"]).code, Some(0));
}
