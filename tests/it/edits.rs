//! Edits through the binary: they land where they were meant, or nothing changes and the answer
//! says what to do instead.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(cp:*)"]
"#;

fn script(calls: &str) -> String {
    format!(
        "version: 1\ntasks:\n  - turns:\n{calls}      - calls: [{{ tool: attempt_completion, args: \
         {{ result: ok }} }}]\n"
    )
}

fn stage(text: &str) -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), ("src/a.txt", text), ("src/b.txt", "other\n")])
}

/// The answers to the calls, in order, without the last.
fn answers(stage: &Stage, calls: &str) -> Vec<String> {
    let ran = stage.play(&script(calls), &[]);
    // Where every edit is refused, the run has failed.
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    let mut answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    answers.pop();
    answers
}

#[test]
fn an_edit_of_text_that_stands_twice_is_refused_and_one_with_its_line_lands_when_sent_again() {
    let stage = stage("x\ny\nx\n");
    let calls = r#"
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\nx\n=======\nz\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\n:start_line:3\n-------\nx\n=======\nz\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\n:start_line:3\n-------\nx\n=======\nz\n>>>>>>> REPLACE\n" } }]
"#;
    let answers = answers(&stage, calls.trim_start_matches('\n'));
    assert!(answers[0].contains("stands at lines 1 and 3"), "{}", answers[0]);
    assert!(answers[1].contains("line 3 was named. Send the same call again"), "{}", answers[1]);
    assert!(answers[2].ends_with("it reads now:\n1 | x\n2 | y\n3 | z"), "{}", answers[2]);
    assert_eq!(stage.read("checkout/src/a.txt"), "x\ny\nz\n");
}

#[test]
fn a_file_that_a_command_changed_is_read_again_before_it_is_edited() {
    let stage = stage("one\n");
    let calls = r#"
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - calls: [{ tool: execute_command, args: { command: "cp src/b.txt src/a.txt" } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "two\n" } }]
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\nother\n=======\nthree\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "two\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "two\n" } }]
"#;
    let answers = answers(&stage, calls.trim_start_matches('\n'));
    for refused in [&answers[2], &answers[3]] {
        assert!(
            refused.contains("since you last read or wrote it. Call `read_file` on it"),
            "{refused}"
        );
    }
    assert!(answers[5].starts_with("Replaced the content of `src/a.txt`"), "{}", answers[5]);
    assert!(answers[6].contains("you have not read it. Call `read_file`"), "{}", answers[6]);
    assert_eq!(
        [stage.read("checkout/src/a.txt"), stage.read("checkout/src/b.txt")],
        ["two\n", "other\n"]
    );
}

#[test]
fn a_resumed_run_knows_what_was_read_before() {
    let policy = POLICY
        .replace("rules:", "rules:\n  - hold: \"edit(src/held.txt)\"\n    reason: a person looks");
    let stage = Stage::with(&[
        (".locum/policy.yml", &policy),
        ("src/a.txt", "one\n"),
        ("src/b.txt", "b\n"),
    ]);
    let calls = r#"
      - calls: [{ tool: read_file, args: { path: src/a.txt } }, { tool: read_file, args: { path: src/b.txt } }]
      - calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "held\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "two\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "two\n" } }]
"#;
    let ran = stage.play(&script(calls.trim_start_matches('\n')), &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let report = ran.json();
    let (session, hold) =
        (report["session"].as_str().unwrap(), report["held"]["id"].as_str().unwrap());
    stage.write("checkout/src/b.txt", "by a person\n");
    let ran = stage.run(&["session", "approve", session, hold]);
    assert!(ran.code.is_some(), "{ran:?}");
    let ran = stage.run(&["session", "resume", session]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        [stage.read("checkout/src/a.txt"), stage.read("checkout/src/b.txt")],
        ["two\n", "by a person\n"]
    );
}

#[test]
fn a_whole_file_is_not_replaced_by_a_remark() {
    let text = "line\n".repeat(182);
    let stage = stage(&text);
    let calls = r#"
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "def f():\n    # ... existing code ...\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "short\n" } }]
"#;
    let answers = answers(&stage, calls.trim_start_matches('\n'));
    assert!(
        answers[1].contains("stands for text of `src/a.txt` that would be lost"),
        "{}",
        answers[1]
    );
    assert!(
        answers[2].contains(
            "has 182 lines, and this would leave 1. To change a part of it use `apply_diff`"
        ),
        "{}",
        answers[2]
    );
    assert_eq!(stage.read("checkout/src/a.txt"), text);
}
