//! Which files of a checkout count, and that one run at a time works in it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use locum_testing::repository::{commit_all, init};
use locum_workspace::repo::Repo;
use pretty_assertions::assert_eq;

use super::Setup;
use crate::support::stage::Stage;

const SCRIPT: &str = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: attempt_completion, \
                      args: { result: r } }]\n";

const POLICY: &str = "version: 1\nmodes: { default: ask, allow: [ask] }\nrules:\n  - allow: \
                      \"read(src/**)\"\n";

fn committed(files: &[(&str, &str)]) -> Setup {
    let setup = Setup::new().file("README.md", "# It\n");
    let setup = files.iter().fold(setup, |setup, (path, text)| setup.file(path, text));
    commit_all(&init(setup.0.path()), "first");
    setup.file("script.yml", SCRIPT)
}

#[test]
fn a_policy_that_is_not_committed_is_neither_used_nor_passed_over() {
    let setup = committed(&[]).file(".locum/policy.yml", POLICY);
    for words in ["run x --script script.yml", "run x --script script.yml --dry-run"] {
        let run = setup.run(words);
        assert_eq!(run.code, Some(2), "{run:?}");
        for said in [".locum/policy.yml: is not in commit", "--policy built-in"] {
            assert!(run.err.contains(said), "{run:?}");
        }
    }
    let built_in = setup.run("run x --script script.yml --dry-run --policy built-in");
    assert!(built_in.code == Some(0) && built_in.out.contains("built-in"), "{built_in:?}");
    let named = setup.run("run x --script script.yml --dry-run --policy .locum/policy.yml");
    assert_eq!((named.code, named.err.as_str()), (Some(0), ""), "{named:?}");
}

#[test]
fn what_differs_from_the_commit_is_said_by_everything_that_asks_or_uses_it() {
    let setup = committed(&[(".locum/policy.yml", POLICY)]);
    let ask = "policy explain --mode ask read(src/a)";
    let all =
        ["run x --script script.yml --dry-run", "policy check", ask, "run x --script script.yml"];
    for words in all {
        assert!(!setup.run(words).err.contains("differs"), "{words}");
    }
    let setup = setup.file(".locum/policy.yml", &POLICY.replace("src", "docs"));
    for words in all {
        let run = setup.run(words);
        assert!(run.err.contains("note: `.locum/policy.yml` differs from commit"), "{run:?}");
    }
    let doctor = setup.run("doctor");
    assert!(doctor.out.contains("`.locum/policy.yml` differs from commit"), "{doctor:?}");
    for words in ["policy check --at HEAD", &format!("{ask} --at HEAD")] {
        let run = setup.run(words);
        assert!(!run.err.contains("differs"), "{run:?}");
    }
}

#[test]
fn an_index_that_only_git_reads_is_refused_with_its_cure_before_the_run() {
    let setup = committed(&[(".locum/policy.yml", POLICY), ("src/a", "a"), ("docs/b", "b")]);
    let git = |words: &str| {
        let mut command = Command::new("git");
        let ended = command.args(words.split(' ')).current_dir(setup.0.path()).status().unwrap();
        assert!(ended.success(), "{words}");
    };
    let run = || setup.run("run x --script script.yml --mode ask --publish none");
    let split = ("update-index --split-index", "update-index --no-split-index");
    let sparse = (
        "sparse-checkout set --cone --sparse-index src",
        "sparse-checkout reapply --no-sparse-index",
    );
    for (made, cure) in [split, sparse] {
        git(made);
        let refused = run();
        assert_eq!(refused.code, Some(2), "{refused:?}");
        for said in ["git's index of the checkout cannot be read", cure] {
            assert!(refused.err.contains(said), "{refused:?}");
        }
        let doctor = setup.run("doctor");
        assert!(doctor.out.contains(cure), "{doctor:?}");
        git(cure);
        assert_eq!(run().code, Some(0), "{made}");
    }
}

#[test]
fn one_run_at_a_time_works_in_a_checkout() {
    let setup = committed(&[(".locum/policy.yml", POLICY)]);
    let repo = Repo::open(setup.0.path()).unwrap();
    let lock = repo.lock_run().unwrap().named(Some("abc")).unwrap();
    let refused = setup.run("run x --script script.yml --mode ask");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for said in ["session abc", "is at work in this checkout", "--wait"] {
        assert!(refused.err.contains(said), "{refused:?}");
    }
    assert_eq!(setup.run("run x --script script.yml --mode ask --dry-run").code, Some(0));
    let mut waiting = setup
        .command("run x --script script.yml --mode ask --publish none --wait")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(waiting.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("session abc") && first.ends_with("waiting"), "{first}");
    drop(lock);
    let rest: Vec<String> = lines.map(|line| line.unwrap()).collect();
    assert_eq!(waiting.wait().unwrap().code(), Some(0), "{rest:?}");
    let after = setup.run("run x --script script.yml --mode ask --publish none");
    assert_eq!(after.code, Some(0), "{after:?}");
}

#[test]
fn a_run_in_a_worktree_leaves_the_checkout_to_whoever_works_there() {
    const WRITES: &str = "version: 1\ntasks:\n  - contains: write\n    turns:\n      - calls: [{ \
                          tool: execute_command, args: { command: \"cat deps/x; pwd; git log \
                          --oneline; echo y > src/new; echo y > deps/y\" } }]\n      - calls: [{ \
                          tool: attempt_completion, args: { result: r } }]\n  - turns:\n      - \
                          calls: [{ tool: attempt_completion, args: { result: r } }]\n";
    const CONTAINED: &str = "version: 1\nmodes: { default: code, allow: [code] }\ncommands: { \
                             contained: allow }\nrules:\n  - allow: [\"read(**)\", \
                             \"edit(src/**)\"]\n";
    let setup =
        committed(&[(".locum/policy.yml", CONTAINED), (".gitignore", "deps/\n"), ("src/a", "a\n")])
            .file("deps/x", "dependency\n")
            .file("script.yml", WRITES)
            .file("src/mine", "not committed\n");
    let repo = Repo::open(setup.0.path()).unwrap();
    let lock = repo.lock_run().unwrap();
    // A session in the checkout would have no layer.
    let state = tempfile::tempdir().unwrap();
    let run = |task: &str| -> super::Run {
        let words = format!("run {task} --script script.yml --worktree --publish none");
        let mut command = setup.command(&words);
        command.env("PATH", "/usr/bin:/bin").env("XDG_STATE_HOME", state.path());
        command.output().unwrap().into()
    };
    let ran = run("write");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let made = ran.out.lines().find_map(|line| line.strip_prefix("worktree: "));
    let made = made.unwrap_or_else(|| panic!("{ran:?}"));
    let made = std::path::Path::new(made);
    assert_eq!(std::fs::read_to_string(made.join("src/new")).unwrap(), "y\n");
    assert!(!made.join("src/mine").exists() && !setup.0.path().join("src/new").exists());
    assert!(!setup.0.path().join("deps/y").exists(), "what is ignored is copied on write");
    let sessions = state.path().join("locum/sessions");
    let session = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
    let root = setup.0.path().canonicalize().unwrap().display().to_string();
    assert!(journal.contains(&format!("dependency\\n{root}\\n")), "{journal}");

    let nothing = run("x");
    assert!(nothing.code == Some(0) && !nothing.out.contains("worktree:"), "{nothing:?}");
    let left = std::fs::read_dir(state.path().join("locum/worktrees")).unwrap();
    assert_eq!(left.count(), 1, "a worktree without changes is removed");
    drop(lock);
}

/// Asks what becomes of a script in a checkout.
fn is_contained(stage: &Stage) -> bool {
    let mut command = stage.locum(&["policy", "explain", "--json", "command(python3 -c 1)"]);
    let output = command.output().unwrap();
    let answers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    answers[0]["contained"] == true && output.status.code() == Some(0)
}

#[test]
fn doctor_and_explain_say_where_commands_are_not_contained() {
    let policy = "version: 1\ncommands: { contained: allow }\nrules:\n  - allow: \"read(**)\"\n";
    let [with, without] =
        Stage::in_both_worlds(|| Stage::with(&[(".locum/policy.yml", policy), ("src/a", "")]));
    assert!(is_contained(&with) && !is_contained(&without));
    let doctor = |stage: &Stage| stage.run(&["doctor", "--json"]).json();
    assert_eq!(doctor(&with)["weaker"], serde_json::Value::Null);
    let weaker = doctor(&without)["weaker"].as_array().cloned().unwrap_or_default();
    assert!(weaker.iter().any(|what| what.as_str().unwrap().contains("judged by their words")));
    let shown = without.run(&["doctor"]);
    assert!(shown.out.contains("weaker"), "{shown:?}");
}

#[test]
fn doctor_says_what_becomes_of_commands_without_a_sandbox() {
    for (network, allowed, said) in [
        ("open", true, "not sandboxed: `commands.sandbox: off`"),
        ("policy", false, "which nothing enforces with `commands.sandbox: off`"),
    ] {
        let policy = format!(
            "version: 1\ncommands: {{ sandbox: off, network: {network} }}\nrules:\n  - allow: \
             \"read(**)\"\n"
        );
        let stage = Stage::with(&[(".locum/policy.yml", &policy), ("src/a", "")]);
        let found = stage.run(&["doctor", "--json"]).json();
        let commands = found["commands"].as_str().unwrap();
        assert!(commands.contains(said), "{network}: {commands}");
        assert_eq!(found["commands_run"], allowed, "{network}");
    }
}

#[test]
fn every_check_may_write_and_one_that_does_not_start_says_so() {
    let policy = "version: 1\nmodes: { default: code, allow: [code, debug] }\ncommands: { \
                  contained: allow }\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\"]\n\
                  publish:\n  as: pull-request\n  allow: [commit, pull-request, label]\n  success: [\"cp src/a src/one\", \
                  \"cp src/a src/two\", \"no-such-program x\"]\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("src/a", "a\n")]);
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: write_to_file, args: { \
                  path: src/b, content: b } }]\n      - calls: [{ tool: attempt_completion, args: \
                  { result: r } }]\n";
    let ran = stage.play(script, &["--publish", "local"]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    let session = &stage.sessions()[0];
    let text = stage.read(&format!("state/locum/sessions/{session}/postings/001-pull-request.md"));
    assert!(
        text.contains("✅ `cp src/a src/one` · ✅ `cp src/a src/two` · ❌ `no-such-program x`"),
        "{text}"
    );
    assert!(text.contains("`no-such-program x`"), "{text}");
    assert!(!text.contains("layer"), "{text} {ran:?}");
    assert!(!stage.path("checkout/src/one").exists());
}

#[test]
fn what_is_not_published_without_a_thread_says_why() {
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                  [\"read(**)\", \"edit(src/**)\"]\npublish: { as: pull-request, allow: \
                  [pull-request, label] }\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("src/a", "a\n")]);
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: write_to_file, args: { \
                  path: src/b, content: b } }]\n      - calls: [{ tool: attempt_completion, args: \
                  { result: r } }]\n";
    let ran = stage.play(script, &["--publish", "local"]);
    assert!(ran.out.contains("not published: "), "{ran:?}");
    assert!(ran.out.contains("publish(commit)"), "{ran:?}");
}
