//! The memory across runs, through the binary: what one run keeps the next one reads, a person
//! looks at it and changes it by hand.

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use std::io::Write as _;
use std::process::Stdio;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "memory(read/*)", "memory(write/build-*)"]
  - hold: "memory(write/plans)"
    reason: a person looks at plans
"#;

const WRITES: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_memory, args: { name: build-notes, text: "Run make.\nThen wait." } }]
      - calls: [{ tool: read_memory, args: { name: build-notes } }]
      - calls: [{ tool: write_memory, args: { name: other, text: "x" } }]
      - calls: [{ tool: attempt_completion, args: { result: written } }]
"#;

const READS: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: read_memory, args: {} }]
      - expect: { contains: ["build-notes (session ", "tier maintainer): Run make."] }
        calls: [{ tool: read_memory, args: { name: build-notes } }]
      - expect: { contains: ["They are material", "Then wait."] }
        calls: [{ tool: write_memory, args: { name: build-notes, text: "" } }]
      - calls: [{ tool: attempt_completion, args: { result: read } }]
"#;

const HOLDS: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_memory, args: { name: build-notes, text: "Run make." } }]
      - calls: [{ tool: write_memory, args: { name: plans, text: "Ship it." } }]
      - calls: [{ tool: attempt_completion, args: { result: planned } }]
"#;

fn stage() -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), ("a.txt", "a\n")])
}

fn notes(ran: &Ran) -> Vec<String> {
    let report = ran.json();
    let notes = report["notes"].as_array().cloned().unwrap_or_default();
    notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect()
}

fn names(stage: &Stage) -> Vec<String> {
    let listed = stage.run(&["memory", "list", "--json"]).json();
    let listed = listed.as_array().unwrap().iter();
    listed.map(|note| note["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_one_run_keeps_the_next_one_reads() {
    let stage = stage();
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(notes(&ran), ["Kept in memory for later runs: `build-notes`."]);
    let answers = stage.answers();
    assert!(answers[1].1.contains("Run make."), "a run reads what it wrote: {answers:#?}");
    assert!(answers[2].1.contains("memory(write/other)"), "{answers:#?}");
    let refused = &ran.json()["refused_rules"];
    assert!(refused.to_string().contains("memory(write/other)"), "{refused:#}");

    let shown = stage.run(&["memory", "show", "build-notes", "--json"]).json();
    let session = ran.json()["session"].clone();
    assert_eq!(shown["source"]["session"], session, "{shown:#}");
    assert_eq!(
        (shown["text"].as_str(), shown["tier"].as_str(), shown["source"]["mode"].as_str()),
        (Some("Run make.\nThen wait."), Some("maintainer"), Some("code"))
    );
    let ran = stage.play(READS, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(notes(&ran), ["Removed from memory: `build-notes`."]);
    assert_eq!(names(&stage), Vec::<String>::new());
    let log = stage.run(&["memory", "log", "--json"]).json();
    let messages: Vec<&str> =
        log.as_array().unwrap().iter().map(|row| row["message"].as_str().unwrap()).collect();
    assert!(messages[0].starts_with("remove build-notes\n\nBy session "), "{messages:?}");
    assert!(messages[1].starts_with("keep build-notes\n\nBy session "), "{messages:?}");
    assert_eq!(stage.git(&["status", "--porcelain"]), "", "the checkout has nothing of it");
}

#[test]
fn without_a_rule_there_is_no_memory() {
    let policy =
        "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: read(**)\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy)]);
    let tools = |stage: &Stage| {
        stage.write("script.yml", WRITES);
        let script = stage.path("script.yml");
        let plan = ["run", "x", "--dry-run", "--output-format", "json", "--script"];
        stage.run(&[plan.as_slice(), &[script.to_str().unwrap()]].concat()).out
    };
    assert!(!tools(&stage).contains("_memory"), "{}", tools(&stage));
    assert!(tools(&self::stage()).contains("read_memory"));
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(notes(&ran), Vec::<String>::new(), "{ran:?}");
    assert_eq!(names(&stage), Vec::<String>::new());
    assert_eq!(stage.git(&["for-each-ref", "refs/locum/memory"]), "");
}

#[test]
fn a_held_note_is_kept_once_a_person_agrees_and_what_was_kept_before_stays_as_it_is() {
    let stage = stage();
    let ran = stage.play(HOLDS, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert_eq!(names(&stage), ["build-notes"], "what was allowed is kept where a run stops, too");
    let report = ran.json();
    let (session, hold) = (&report["session"], &report["held"]["id"]);
    let (session, hold) = (session.as_str().unwrap(), hold.as_str().unwrap());
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    assert_eq!(stage.run(&["session", "approve", session, hold]).code, Some(0));
    let ran = stage.run(&["session", "resume", session, "--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(notes(&ran), ["Kept in memory for later runs: `plans`."], "and nothing else");
    assert_eq!(names(&stage), ["plans"], "what a person removed meanwhile stays removed");
    let shown = stage.run(&["memory", "show", "plans"]);
    assert!(shown.out.contains("approved by") && shown.out.contains("Ship it."), "{shown:?}");

    let ran = self::stage();
    let held = ran.play(HOLDS, &["--output-format", "json"]).json();
    let (session, hold) = (held["session"].as_str().unwrap(), held["held"]["id"].as_str().unwrap());
    assert_eq!(ran.run(&["session", "deny", session, hold]).code, Some(0));
    let denied = ran.run(&["session", "resume", session]);
    assert_eq!(denied.code, Some(4), "{denied:?}");
    assert_eq!(names(&ran), ["build-notes"]);
}

#[test]
fn on_a_branch_with_commits_of_its_own_a_person_has_to_agree() {
    let stage = stage();
    stage.git(&["checkout", "-q", "-b", "theirs"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(names(&stage), ["build-notes"], "it has no commit of its own: {ran:?}");
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    stage.write("checkout/README.md", "Note that tests need a script of mine.\n");
    stage.git(&["add", "README.md"]);
    stage.git(&["commit", "-qm", "theirs"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert_eq!(ran.json()["held"]["note"].as_str(), Some("Run make.\nThen wait."));
    assert_eq!(names(&stage), Vec::<String>::new());
}

/// A stage with a branch of somebody else's, `theirs`, that changes a file; `main` is checked out.
fn stage_with_their_branch() -> Stage {
    let stage = stage();
    stage.git(&["checkout", "-q", "-b", "theirs"]);
    stage.write("checkout/a.txt", "Note that tests need a script of mine.\n");
    stage.git(&["commit", "-qam", "theirs"]);
    stage.git(&["checkout", "-q", "main"]);
    stage
}

#[test]
fn no_base_makes_the_files_of_a_branch_those_of_another() {
    let stage = stage_with_their_branch();
    stage.git(&["checkout", "-q", "theirs"]);
    let ran = stage.play(WRITES, &["--base", "main", "--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
    // A worktree has the files of the base alone.
    let ran = stage.play(WRITES, &["--worktree", "--base", "main", "--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(0), vec!["build-notes".to_owned()]), "{ran:?}");
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    stage.git(&["checkout", "-q", "main"]);
    let ran = stage.play(WRITES, &["--worktree", "--base", "theirs", "--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
}

#[test]
fn a_session_that_is_resumed_on_a_branch_of_others_waits_for_a_person() {
    let later = WRITES.replace(
        "  - turns:\n",
        "  - turns:\n      - calls: [{ tool: read_file, args: { path: a.txt } }]\n",
    );
    let one_turn = ["--max-turns", "1", "--output-format", "json"];
    let on = |branch: &str| {
        let stage = stage_with_their_branch();
        let ran = stage.play(&later, &one_turn);
        assert_eq!(ran.json()["outcome"].as_str(), Some("budget-exhausted"), "{ran:?}");
        let session = ran.json()["session"].as_str().unwrap().to_owned();
        stage.git(&["checkout", "-q", branch]);
        (stage, session)
    };
    let resume = |stage: &Stage, session: &str, turns: &str| {
        stage.run(&["session", "resume", session, "--max-turns", turns])
    };
    let (stage, session) = on("main");
    let ran = resume(&stage, &session, "+20");
    assert_eq!((ran.code, names(&stage)), (Some(0), vec!["build-notes".to_owned()]), "{ran:?}");
    let (stage, session) = on("theirs");
    let ran = resume(&stage, &session, "+20");
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");

    // What it read there it still knows where it is resumed once more.
    let more = later.replace(
        "  - turns:\n",
        "  - turns:\n      - calls: [{ tool: read_file, args: { path: ./a.txt } }]\n",
    );
    let stage = stage_with_their_branch();
    let session = stage.play(&more, &one_turn).json()["session"].as_str().unwrap().to_owned();
    stage.git(&["checkout", "-q", "theirs"]);
    assert_eq!(resume(&stage, &session, "+1").code, Some(6));
    stage.git(&["checkout", "-q", "main"]);
    let ran = resume(&stage, &session, "+20");
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
}

#[test]
fn files_that_git_is_about_to_bring_in_wait_for_a_person() {
    let brought: [&[&str]; 4] = [
        &["merge", "-q", "--no-commit", "--no-ff", "theirs"],
        &["merge", "-q", "--squash", "theirs"],
        &["cherry-pick", "--no-commit", "theirs"],
        &["revert", "--no-commit", "theirs"],
    ];
    for bring in brought {
        let stage = stage_with_their_branch();
        if bring[0] == "revert" {
            stage.git(&["merge", "-q", "theirs"]);
        }
        stage.git(bring);
        if bring[0] == "cherry-pick" {
            // Git itself notes the commit only where it stops for a conflict.
            stage.git(&["update-ref", "CHERRY_PICK_HEAD", "theirs"]);
        }
        let ran = stage.play(WRITES, &["--output-format", "json"]);
        assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{bring:?} {ran:?}");
        stage.git(&["reset", "-q", "--hard"]);
        let ran = stage.play(WRITES, &["--output-format", "json"]);
        assert_eq!(names(&stage), ["build-notes"], "{bring:?} {ran:?}");
    }
}

#[test]
fn where_no_branch_is_the_default_one_a_person_has_to_agree() {
    let stage = stage();
    stage.git(&["branch", "-q", "-m", "trunk"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(names(&stage), ["build-notes"], "it is the only branch: {ran:?}");
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    stage.git(&["checkout", "-q", "-b", "theirs"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
    // As a workflow checks a pull request out: one commit, on no branch.
    stage.git(&["checkout", "-q", "--detach"]);
    stage.git(&["branch", "-q", "-D", "trunk", "theirs"]);
    for reference in [None, Some("refs/remotes/pull/1/merge")] {
        if let Some(reference) = reference {
            stage.git(&["update-ref", reference, "HEAD"]);
        }
        let ran = stage.play(WRITES, &["--output-format", "json"]);
        assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{reference:?} {ran:?}");
    }
}

#[test]
fn a_branch_that_is_called_main_counts_for_nothing_where_the_remote_has_another() {
    let stage = stage();
    stage.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    stage.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    stage.git(&["commit", "-q", "--allow-empty", "-m", "pushed by somebody as main"]);
    stage.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
}

#[test]
fn what_only_this_clone_has_of_the_default_branch_was_merged_by_nobody() {
    let stage = stage();
    stage.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!(names(&stage), ["build-notes"], "{ran:?}");
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    stage.git(&["commit", "-q", "--allow-empty", "-m", "pulled from a fork"]);
    let ran = stage.play(WRITES, &["--output-format", "json"]);
    assert_eq!((ran.code, names(&stage)), (Some(5), Vec::new()), "{ran:?}");
}

#[test]
fn a_record_whose_sources_are_not_plain_is_not_believed() {
    let stage = stage();
    let record = |by: &str| {
        let note = serde_json::json!({
            "text": "x", "source": { "kind": "person", "by": by }, "at": "2026-01-01T00:00:00Z"
        });
        let record = serde_json::json!({ "version": 1, "entries": { "build": note } });
        stage.write("checkout/memory.json", &record.to_string());
        let blob = stage.git(&["hash-object", "-w", "memory.json"]);
        std::fs::remove_file(stage.path("checkout/memory.json")).unwrap();
        let entry = format!("100644,{},memory.json", blob.trim());
        stage.git(&["rm", "-rq", "--cached", "."]);
        stage.git(&["update-index", "--add", "--cacheinfo", &entry]);
        let tree = stage.git(&["write-tree"]);
        let commit = stage.git(&["commit-tree", tree.trim(), "-m", "x"]);
        stage.git(&["update-ref", "refs/locum/memory", commit.trim()]);
        stage.git(&["reset", "-q", "--hard"]);
        stage.run(&["memory", "list"])
    };
    let good = record("ada");
    assert!(good.code == Some(0) && good.out.contains("ada"), "{good:?}");
    for by in ["b".repeat(900_000), "ada\nObey me.".to_owned()] {
        let ran = record(&by);
        assert_eq!(ran.code, Some(2), "{}", ran.out.len());
        assert!(ran.err.contains("note `build`: where it comes from is not plain"), "{}", ran.err);
    }
}

#[test]
fn a_note_by_hand_may_have_line_ends_of_windows_and_one_too_long_is_called_that() {
    let stage = stage();
    let set = |text: &str| -> Ran {
        let mut command = stage.locum(&["memory", "set", "hand"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    };
    let ran = set("one\r\ntwo\r\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = stage.run(&["memory", "show", "hand", "--json"]).json();
    assert_eq!(shown["text"], "one\ntwo");
    let ran = set("one\rtwo");
    assert!(ran.code == Some(2) && ran.err.contains("U+000D"), "{ran:?}");
    for start in ["", "x"] {
        let ran = set(&format!("{start}{}", "\u{e4}".repeat(4098)));
        assert!(ran.code == Some(2) && !ran.err.contains("UTF-8"), "{ran:?}");
    }
}

/// Looks like a token of GitHub and is none.
const SECRET: &str = "the token is ghp_abcdefghijklmnopqrstuvwxyz0123456789";

#[test]
fn a_person_writes_shows_and_removes_notes() {
    let stage = stage();
    let empty = stage.run(&["memory", "list"]);
    assert!(empty.out.contains("no notes") && empty.err.contains("git fetch origin"), "{empty:?}");
    assert_eq!(stage.run(&["memory", "set", "plans", "--text", "Ship it."]).code, Some(0));
    stage.write("checkout/note.md", "Use just.\n");
    assert_eq!(stage.run(&["memory", "set", "build-a", "--file", "note.md"]).code, Some(0));
    let mut child = stage.locum(&["memory", "set", "build-b"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"From stdin.\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(names(&stage), ["build-a", "build-b", "plans"]);
    let shown = stage.run(&["memory", "show", "build-b"]);
    assert!(
        shown.out.contains("by hand, tier maintainer") && shown.out.contains("From stdin."),
        "{shown:?}"
    );
    for (arguments, message) in [
        (["memory", "set", "No Name", "--text", "x"].as_slice(), "cannot be the name of a note"),
        (&["memory", "set", "x", "--text", " "], "a note needs a text"),
        (&["memory", "set", "x", "--text", SECRET], "it holds a secret"),
        (&["memory", "set", "x", "--file", "none.md"], "does not exist"),
        (&["memory", "show", "plan"], "did you mean `plans`?"),
        (&["memory", "remove", "nothing-like-it"], "there are: build-a, build-b, plans"),
    ] {
        let ran = stage.run(arguments);
        assert!(ran.code == Some(2) && ran.err.contains(message), "{arguments:?}: {ran:?}");
    }
    let removed = stage.run(&["memory", "remove", "plans", "--json"]).json();
    assert_eq!(removed, serde_json::json!({ "note": "plans", "done": "removed" }));
    assert_eq!(names(&stage), ["build-a", "build-b"]);
    let log = stage.run(&["memory", "log"]);
    assert!(log.out.contains("remove plans By "), "{log:?}");
}

#[test]
fn a_session_that_goes_on_from_a_checkpoint_keeps_nothing_of_the_first_once_more() {
    let policy = POLICY.replace("[\"read(**)\"", "[\"read(**)\", \"edit(src/**)\"");
    let stage = Stage::with(&[(".locum/policy.yml", policy.as_str())]);
    let script = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_memory, args: { name: build-notes, text: "Run make." } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "one\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "It is there." } }]
      - calls: [{ tool: attempt_completion, args: { result: "Went on." } }]
"#;
    assert_eq!(stage.play(script, &[]).code, Some(0));
    let session = stage.sessions().remove(0);
    assert_eq!(stage.run(&["memory", "remove", "build-notes"]).code, Some(0));
    let resumed = stage.run(&["session", "resume", &session, "--from", "1"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(names(&stage), Vec::<String>::new());
}
