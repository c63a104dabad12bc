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
