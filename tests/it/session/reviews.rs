//! What a task in review mode begins with.

use crate::session::fixture::{Fixture, POLICY};
use pretty_assertions::assert_eq;

#[test]
fn a_review_begins_with_the_change_as_far_as_it_may_be_read() {
    let policy = format!("{POLICY}  - deny: \"read(src/hidden.txt)\"\n    modes: [review]\n");
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "write them" } }]
      - calls: [{ tool: new_task, args: { mode: review, message: "look at it" } }]
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
  - mode: code
    turns:
      - expect: { not_contains: ["the change under review"] }
        calls:
          - { tool: write_to_file, args: { path: src/b.txt, content: "brand new\n" } }
          - { tool: write_to_file, args: { path: src/hidden.txt, content: "not for review\n" } }
          - { tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE" } }
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
  - mode: review
    turns:
      - expect: { contains: ["[material: the change under review", "-two", "+2", "+brand new"], not_contains: ["not for review"] }
        calls: [{ tool: attempt_completion, args: { result: "fine" } }]
"#;
    let ran = Fixture::with_policy(script, &policy).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.changed().len()), ("done", 3), "{:?}", ran.answers("new_task"));
}

#[test]
fn a_mode_that_reads_looks_at_the_change_and_one_that_edits_has_git_for_it() {
    let policy = format!("{POLICY}  - deny: \"read(src/hidden.txt)\"\n    modes: [ask]\n");
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "write them" } }]
      - calls: [{ tool: new_task, args: { mode: ask, message: "what is new?" } }]
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
  - mode: code
    turns:
      - calls:
          - { tool: write_to_file, args: { path: src/b.txt, content: "brand new\n" } }
          - { tool: write_to_file, args: { path: src/hidden.txt, content: "not for them\n" } }
          - { tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE" } }
      - calls: [{ tool: show_changes, args: {} }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
  - mode: ask
    turns:
      - calls:
          - { tool: show_changes, args: {} }
          - { tool: show_changes, args: { path: src/b.txt } }
          - { tool: show_changes, args: { path: src/hidden.txt } }
          - { tool: show_changes, args: { path: docs } }
      - calls: [{ tool: attempt_completion, args: { result: "seen" } }]
"#;
    let ran = Fixture::with_policy(script, &policy).in_mode("orchestrator").run();
    // What is refused is answered first.
    let [in_code, hidden, all, one, none] =
        <[String; 5]>::try_from(ran.answers("show_changes")).unwrap();
    assert!(in_code.contains("show_changes") && !in_code.contains("diff --git"), "{in_code}");
    assert!(all.contains("2 files, +2 -1") && !all.contains("hidden"), "{all}");
    assert!(all.contains("-two\n+2\n") && all.contains("+brand new"), "{all}");
    assert!(one.starts_with("diff --git a/src/b.txt b/src/b.txt"), "{one}");
    assert!(!hidden.contains("not for them"), "{hidden}");
    assert!(none.starts_with("Nothing differs from commit "), "{none}");
}
