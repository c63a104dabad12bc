//! What a run does when the model does not do its part.

use crate::session::fixture::{Fixture, turns};
use pretty_assertions::assert_eq;

#[test]
fn a_model_that_never_calls_a_tool_has_failed() {
    let said = format!("- say: The bug is in a.txt.\n{}", "- say: That is all.\n".repeat(20));
    let ran = Fixture::new(&turns(&said)).run();
    assert_eq!((ran.word(), ran.outcome.spent.turns), ("failed", 6));
    assert_eq!(ran.outcome.summary, "The bug is in a.txt.\n\nThat is all.", "what it said stays");
    assert!(
        ran.reason().contains("5 mistakes in a row") && ran.reason().contains("called no tool"),
        "{}",
        ran.reason()
    );
    assert_eq!(ran.outcome.tasks[0].completed, None);
}

#[test]
fn one_reply_without_a_tool_is_forgiven() {
    let script = turns(
        r#"
- say: Let me think.
- expect: { contains: ["called no tool"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    assert_eq!(Fixture::new(&script).run().word(), "nothing-to-do");
}

#[test]
fn unknown_tools_and_bad_arguments_are_answered_and_counted() {
    let bad =
        "- calls: [{ tool: no_such_tool }]\n- calls: [{ tool: read_file, raw: '{\"path\": ' }]\n";
    let ran = Fixture::new(&turns(&bad.repeat(5))).run();
    assert_eq!((ran.word(), ran.outcome.spent.turns), ("failed", 5));
    assert_eq!(ran.answers("no_such_tool").len(), 3);
    let good = format!(
        "{bad}{bad}- calls: [{{ tool: read_file, args: {{ path: src/a.txt }} }}]\n{bad}- calls: \
         [{{ tool: attempt_completion, args: {{ result: r }} }}]\n"
    );
    assert_eq!(Fixture::new(&turns(&good)).run().word(), "nothing-to-do");
}

#[test]
fn tools_of_other_agents_without_a_counterpart_are_answered_and_no_mistakes() {
    let script = turns(
        r#"
- calls: [{ tool: LSP, args: { operation: hover, filePath: src/a.txt } }]
- expect: { contains: ["`list_code_definition_names` shows what a file defines", "Available here: `read_file`"] }
  calls: [{ tool: EnterPlanMode }, { tool: ExitPlanMode, args: { plan: p } }]
- expect: { contains: ["Nobody is there to approve a plan"] }
  calls: [{ tool: ToolSearch, args: { query: q } }]
- calls: [{ tool: todoread }]
- calls: [{ tool: batch, args: { tool_calls: [] } }]
- calls: [{ tool: wait_agent, args: { targets: [x] } }]
- calls: [{ tool: Architect, args: { prompt: p } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::new(&script).run();
    assert_eq!((ran.word(), ran.outcome.spent.turns), ("nothing-to-do", 8));
    let said = ran.answers("wait_agent");
    assert!(
        said[0].starts_with("There is no tool \"wait_agent\" here. `new_task` waits"),
        "{said:?}"
    );
}

#[test]
fn a_model_that_loops_is_refused_and_then_given_up() {
    let ran = Fixture::new(&turns(
        &"- calls: [{ tool: read_file, args: { path: src/a.txt } }]\n".repeat(20),
    ))
    .run();
    assert_eq!((ran.word(), ran.outcome.spent.turns), ("failed", 8));
    assert_eq!(
        ran.answers("read_file")
            .iter()
            .filter(|answer| answer.contains("3 times in a row"))
            .count(),
        5
    );
}

#[test]
fn a_call_cut_by_the_output_limit_is_not_performed() {
    let fixture = Fixture::new(&turns(
        r#"
- calls:
    - { tool: write_to_file, args: { path: src/whole.txt, content: "w\n" } }
    - { tool: write_to_file, args: { path: src/cut.txt, content: "c\n" } }
  stop: length
- expect: { contains: ["cut short"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/whole.txt"]));
    assert_eq!(fixture.file("src/cut.txt"), None);
}

#[test]
fn a_call_at_which_the_filter_stopped_the_reply_is_not_performed() {
    let fixture = Fixture::new(&turns(
        r#"
- calls:
    - { tool: write_to_file, args: { path: src/whole.txt, content: "w\n" } }
    - { tool: write_to_file, args: { path: src/cut.txt, content: "c\n" } }
  stop: filtered
- expect: { contains: ["filter stopped the reply at this call"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/whole.txt"]));
    assert_eq!(fixture.file("src/cut.txt"), None);
}

#[test]
fn a_task_does_not_end_in_the_turn_another_call_failed_in() {
    let ran = Fixture::new(&turns(
        r#"
- calls:
    - { tool: attempt_completion, args: { result: "too early" } }
    - { tool: read_file, args: { path: missing.txt } }
- expect: { contains: ["another call of the same reply failed"] }
  calls:
    - { tool: attempt_completion, args: { result: "now" } }
    - { tool: read_file, args: { path: src/a.txt } }
"#,
    ))
    .run();
    assert_eq!(
        (ran.word(), ran.outcome.summary.as_str()),
        ("nothing-to-do", "now"),
        "{}",
        ran.reason()
    );
    assert_eq!(ran.answers("read_file").len(), 2, "calls beside a completion are performed first");
}

#[test]
fn a_result_beside_a_command_that_did_not_succeed_is_sent_back_once() {
    let ends =
        |result: &str| format!("{{ tool: attempt_completion, args: {{ result: {result} }} }}");
    let reply = |command: &str, result: &str| {
        let runs = format!("{{ tool: execute_command, args: {{ command: \"{command}\" }} }}");
        format!("calls: [{runs}, {}]\n", ends(result))
    };
    let reads = "- expect: { contains: [\"a command of the same reply did not succeed\"] }\n  ";
    let early = format!("- {}{reads}", reply("false", "early"));
    for (script, turns_spent, word) in [
        (format!("{early}calls: [{}]\n", ends("now")), 2, "nothing-to-do"),
        (
            format!(
                "- {}{reads}calls: [{}]\n",
                reply("false", "early").replace("\"false\"", "\"false\", background: true"),
                ends("now")
            ),
            2,
            "nothing-to-do",
        ),
        // It saw the failure, and may be right that the task is done.
        (format!("{early}{}", reply("false", "now")), 2, "nothing-to-do"),
        (format!("- {}", reply("touch src/b.txt", "now")), 1, "done"),
    ] {
        let ran = Fixture::new(&turns(&script)).run();
        let spent = (ran.outcome.spent.turns, ran.outcome.summary.as_str());
        assert_eq!(spent, (turns_spent, "now"), "{script}: {}", ran.reason());
        assert_eq!(ran.word(), word, "{script}");
    }
    let parts = r#"
- mode: code
  turns:
    - calls:
        - { tool: execute_command, args: { command: "false" } }
        - { tool: attempt_completion, args: { result: early } }
    - calls: [{ tool: attempt_completion, args: { result: late } }]
- mode: orchestrator
  turns:
    - calls: [{ tool: new_task, args: { mode: code, message: "Do it." } }]
    - expect: { contains: ["late"], not_contains: ["early"] }
      calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let ran = Fixture::new(parts).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.outcome.spent.turns), ("nothing-to-do", 4), "{}", ran.reason());
}

#[test]
fn an_unknown_or_disallowed_mode_for_a_sub_task_is_answered() {
    let policy = crate::session::fixture::POLICY
        .replace("[orchestrator, architect, code,", "[orchestrator, code,");
    let script = r#"
  - turns:
      - calls: [{ tool: new_task, args: { mode: nonsense, message: m } }]
      - calls: [{ tool: new_task, args: { mode: architect, message: m } }]
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let ran = Fixture::with_policy(script, &policy).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.outcome.tasks.len()), ("nothing-to-do", 1), "{}", ran.reason());
    assert_eq!(ran.answers("new_task").len(), 2);
}

#[test]
fn what_a_sub_task_said_that_called_no_tool_reaches_its_parent() {
    let script = format!(
        r#"
- mode: code
  turns:
{}
- mode: orchestrator
  turns:
    - calls: [{{ tool: new_task, args: {{ mode: code, message: "Do it." }} }}]
    - expect: {{ contains: ["did not succeed", "5 mistakes in a row", "The bug is in a.txt."] }}
      calls: [{{ tool: attempt_completion, args: {{ result: r, status: failed }} }}]
"#,
        "    - say: The bug is in a.txt.\n".repeat(20)
    );
    let ran = Fixture::new(&script).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.outcome.tasks[1].completed), ("failed", Some(false)));
}

#[test]
fn a_result_that_ends_with_a_question_is_sent_back_once() {
    let end = |result: &str| {
        let said = serde_json::json!({ "result": result });
        format!("- calls: [{{ tool: attempt_completion, args: {said} }}]\n")
    };
    let told = "- expect: { contains: [\"ends with a question\"] }\n";
    let after = |result: &str| format!("{told}{}", end(result).replacen("- ", "  ", 1));
    for (script, turns_spent, summary) in [
        (end("Done. Shall I go on?") + &after("Done."), 2, "Done."),
        (end("**Shall I go on?** ") + &after("**Shall I go on?** "), 2, "**Shall I go on?**"),
        (end("What is `a?`? It is a pattern."), 1, "What is `a?`? It is a pattern."),
    ] {
        let ran = Fixture::new(&turns(&script)).run();
        assert_eq!(
            (ran.word(), ran.outcome.spent.turns),
            ("nothing-to-do", turns_spent),
            "{script}"
        );
        assert_eq!(ran.outcome.summary.trim(), summary);
    }
}
