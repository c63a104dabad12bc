//! What MCP servers write, through the binary: judged like what a command writes, and never in the
//! checkout before that.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp::{DEFINED, play, stage};
use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code, ask] }
mcp: { env: { helper: [HELPER_KEY] } }
rules:
  - allow: ["read(**)", "edit(src/**)", "mcp(helper/*)"]
  - hold: "edit(src/held.txt)"
    reason: a person looks at this one
  - deny: "edit(src/denied.txt)"
    reason: nobody changes this one
"#;

fn prepared() -> Stage {
    stage(&[
        (".mcp.json", DEFINED),
        (".locum/policy.yml", POLICY),
        (".gitignore", "cache/\n"),
        ("src/lib.txt", "text\n"),
        ("src/old.txt", "old\n"),
        ("src/denied.txt", "before\n"),
    ])
}

fn files(steps: Value) -> (&'static str, Value) {
    ("mcp--helper--files", json!({ "do": steps }))
}

fn session(stage: &Stage) -> String {
    format!("state/locum/sessions/{}", stage.sessions()[0])
}

#[test]
fn what_a_server_writes_is_judged_path_by_path() {
    let stage = prepared();
    let ran = play(
        &stage,
        &[
            files(json!([
                ["write", "src/new/file.txt", "new"],
                ["write", "src/lib.txt", "of the server"],
                ["remove", "src/old.txt"],
                ["write", "src/denied.txt", "of the server"],
                ["write", "docs/unnamed.txt", "of the server"],
                ["write", ".github/workflows/ci.yml", "of the server"],
                ["write", "cache/warm", "kept"],
            ])),
            ("read_file", json!({ "path": "src/lib.txt" })),
            ("write_to_file", json!({ "path": "src/lib.txt", "content": "of the model\n" })),
            files(json!([
                ["read", "src/lib.txt"],
                ["read", "src/new/file.txt"],
                ["read", "src/old.txt"],
                ["read", "src/denied.txt"],
                ["read", "docs/unnamed.txt"],
                ["read", "cache/warm"],
                ["write", "src/lib.txt", "of the server again\n"],
            ])),
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    let first = &answers[0];
    assert!(first.contains("done, done, done, done, done, done, done"), "{first}");
    assert!(
        first.ends_with("Files changed: src/lib.txt, src/new/file.txt, src/old.txt")
            && first.contains("kept out of the checkout: ")
            && first.contains("`edit(.github/workflows/ci.yml)`: protected from edits")
            && first.contains("no rule allows `edit(docs/unnamed.txt)`")
            && first.contains("`edit(src/denied.txt)`: nobody changes this one"),
        "{first}"
    );
    assert!(answers[1].contains("1 | of the server"), "{}", answers[1]);
    assert!(
        answers[3].contains("of the model\n, new, nothing, before\n, nothing, kept, done"),
        "a server sees what was brought, what others wrote, and no more: {}",
        answers[3]
    );
    assert_eq!(stage.read("checkout/src/lib.txt"), "of the server again\n");
    assert_eq!(stage.names("checkout/src"), ["denied.txt", "lib.txt", "new"]);
    assert_eq!(stage.read("checkout/src/denied.txt"), "before\n");
    for unmade in ["docs", ".github", "cache"] {
        assert!(!stage.path(&format!("checkout/{unmade}")).exists(), "{unmade}");
    }
    let report = ran.json();
    assert!(report["refusals"].to_string().contains("edit(src/denied.txt)"), "{report:#}");
    let kept = stage.path(&format!("{}/layers/taken-helper/kept", session(&stage)));
    let call = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(call.join("src/denied.txt")).unwrap(), "of the server");
}

#[test]
fn without_namespaces_a_server_writes_nothing() {
    let [_, stage] = Stage::in_both_worlds(prepared);
    let steps = json!([["write", "src/lib.txt", "of the server"], ["read", "src/lib.txt"]]);
    let ran = play(&stage, &[files(steps)]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (_, answer) = &stage.answers()[0];
    assert!(answer.contains("refused, text\n"), "{answer}");
    assert_eq!(stage.read("checkout/src/lib.txt"), "text\n");
}

#[test]
fn a_mode_that_changes_no_files_throws_away_what_a_server_writes() {
    let stage = prepared();
    stage.write("checkout/.locum/policy.yml", &POLICY.replace("default: code", "default: ask"));
    stage.commit("asks");
    let ran = play(&stage, &[files(json!([["write", "src/lib.txt", "of the server"]]))]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (_, answer) = &stage.answers()[0];
    assert!(answer.contains("what the server wrote (1 file) was thrown away"), "{answer}");
    assert_eq!(stage.read("checkout/src/lib.txt"), "text\n");
}

#[test]
fn what_is_held_of_what_a_server_writes_waits_for_a_person() {
    let stage = prepared();
    let steps = json!([["write", "src/held.txt", "held"], ["write", "src/new.txt", "new"]]);
    let ran = play(&stage, &[files(steps)]);
    assert_eq!((ran.code, ran.json()["outcome"].as_str()), (Some(5), Some("on-hold")), "{ran:?}");
    assert_eq!(stage.names("checkout/src"), ["denied.txt", "lib.txt", "new.txt", "old.txt"]);
    let (session, hold) = (stage.sessions()[0].clone(), ran.json()["held"]["id"].clone());
    let approved = stage.run(&["session", "approve", &session, hold.as_str().unwrap()]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let mut resume = stage.locum(&["session", "resume", &session]);
    let resumed: Ran = resume.env("HELPER_KEY", "the-key-of-the-helper").output().unwrap().into();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(stage.read("checkout/src/held.txt"), "held");
    assert!(stage.answers()[0].1.contains("A person approved the changes of `src/held.txt`"));
}

#[test]
fn what_a_server_wrote_before_it_ended_or_was_killed_is_judged() {
    let stage = prepared();
    let steps = json!([
        ["write", "src/new.txt", "new"],
        ["write", "src/denied.txt", "of the server"],
        ["crash", ""],
    ]);
    let ran = play(&stage, &[files(steps), files(json!([["read", "src/new.txt"]]))]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    assert!(
        answers[0].contains("is over: it ended")
            && answers[0].contains("Files changed: src/new.txt")
            && answers[0].contains("`edit(src/denied.txt)`"),
        "{}",
        answers[0]
    );
    assert!(answers[1].contains("\nnew\n"), "one that was started again: {}", answers[1]);

    // As if this program had been killed after the server wrote.
    let folder = session(&stage);
    let journal = stage.read(&format!("{folder}/journal.jsonl"));
    let announced = |line: &&str| line.contains("\"event\":\"performing\"");
    let end = journal.lines().position(|line| announced(&line)).unwrap();
    let lines: Vec<&str> = journal.lines().take(end + 1).collect();
    stage.write(&format!("{folder}/journal.jsonl"), &format!("{}\n", lines.join("\n")));
    std::fs::remove_file(stage.path("checkout/src/new.txt")).unwrap();
    let layer = format!("{folder}/layers/server-helper/upper");
    stage.write(&format!("{layer}/src/late.txt"), "late");
    stage.write(&format!("{layer}/src/denied.txt"), "late");
    let id = stage.sessions()[0].clone();
    let mut resume = stage.locum(&["session", "resume", &id]);
    let resumed: Ran = resume.env("HELPER_KEY", "the-key-of-the-helper").output().unwrap().into();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let (_, answer) = &stage.answers()[0];
    assert!(
        answer.contains("Files changed: src/late.txt") && answer.contains("`edit(src/denied.txt)`"),
        "{answer}"
    );
    assert_eq!(stage.read("checkout/src/late.txt"), "late");
    assert_eq!(stage.read("checkout/src/denied.txt"), "before\n");
}
