//! Recording and playing again, through the binary: the same run comes out, and a request that is
//! another one is named.

use std::path::Path;
use std::process::{Command, Stdio};

use locum_workspace::seed;
use pretty_assertions::assert_eq;

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      [\"read(**)\", \"edit(src/**)\"]\n";
const SCRIPT: &str = r#"
version: 1
name: a change
tasks:
  - turns:
      - say: I read it first.
        calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "new\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "It is new." } }]
"#;

/// Runs in a fresh checkout whose file holds these words; returns the exit code, what was said, and
/// the file afterwards.
fn run(folder: &Path, words: &str, flags: &[&str]) -> (Option<i32>, String, String) {
    run_under(POLICY, folder, words, flags)
}

fn run_under(
    policy: &str,
    folder: &Path,
    words: &str,
    flags: &[&str],
) -> (Option<i32>, String, String) {
    let checkout = folder.join("checkout");
    let _ = std::fs::remove_dir_all(&checkout);
    seed::repository(
        &checkout,
        &[(".locum/policy.yml", policy), ("src/a.txt", words)],
        "first commit",
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_locum"));
    command
        .current_dir(&checkout)
        .env_clear()
        .env("HOME", folder)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null());
    let output = command
        .args(["run", "make it new", "--session-dir"])
        .arg(folder.join("sessions"))
        .args(flags)
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code(), said, std::fs::read_to_string(checkout.join("src/a.txt")).unwrap())
}

#[test]
fn a_recorded_run_is_played_again_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.yml"), SCRIPT).unwrap();
    let recorded =
        run(folder.path(), "old\n", &["--script", "../script.yml", "--record", "../run.cassette"]);
    assert_eq!((recorded.0, recorded.2.as_str()), (Some(0), "new\n"), "{}", recorded.1);
    let cassette = std::fs::read_to_string(folder.path().join("run.cassette")).unwrap();
    assert_eq!(cassette.lines().count(), 4, "{cassette}");
    let played = run(folder.path(), "old\n", &["--replay", "../run.cassette"]);
    assert_eq!((played.0, played.2.as_str()), (Some(0), "new\n"), "{}", played.1);
    let other = run(folder.path(), "older\n", &["--replay", "../run.cassette"]);
    assert!(other.0 == Some(3) && other.2 == "older\n", "{other:?}");
    assert!(
        other.1.contains("turn 2: `answers` is not what was recorded") && other.1.contains("older"),
        "{}",
        other.1
    );
    let tolerated = run(
        folder.path(),
        "older\n",
        &["--replay", "../run.cassette", "--replay-tolerate", "answers,before"],
    );
    assert_eq!((tolerated.0, tolerated.2.as_str()), (Some(0), "new\n"), "{}", tolerated.1);
    let planned = run(
        folder.path(),
        "old\n",
        &["--script", "../script.yml", "--record", "../unused.cassette", "--dry-run"],
    );
    assert!(
        planned.0 == Some(0) && !folder.path().join("unused.cassette").exists(),
        "{}",
        planned.1
    );
}

const DELEGATING_POLICY: &str = "version: 1\nmodes: { default: orchestrator, allow: \
                                 [orchestrator, code], delegation: { from: [orchestrator] } \
                                 }\nrules:\n  - allow: [\"read(**)\"]\n";
const DELEGATING: &str = r#"
version: 1
name: a part
tasks:
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Look at it." } }]
      - calls: [{ tool: attempt_completion, args: { result: "It is old." } }]
  - mode: code
    turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - calls: [{ tool: attempt_completion, args: { result: "old" } }]
"#;

#[test]
fn a_difference_in_a_sub_task_is_told_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.yml"), DELEGATING).unwrap();
    let run =
        |words: &str, flags: &[&str]| run_under(DELEGATING_POLICY, folder.path(), words, flags);
    assert_eq!(
        run("old\n", &["--script", "../script.yml", "--record", "../run.cassette"]).0,
        Some(0)
    );
    assert_eq!(run("old\n", &["--replay", "../run.cassette"]).0, Some(0));
    let other = run("old\nolder\n", &["--replay", "../run.cassette"]);
    assert!(
        other.0 == Some(3) && !other.1.contains("task 0, turn 2"),
        "the parent asks for nothing more: {}",
        other.1
    );
    let why = other.1.lines().find(|line| line.starts_with("Why: ")).unwrap();
    assert!(
        why.contains("task 1, turn 2: `answers` is not what was recorded, from line ")
            && why.contains("older"),
        "{why}"
    );
}
