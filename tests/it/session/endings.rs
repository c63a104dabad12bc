//! How runs end that do not end by themselves: limits, questions, holds, faults, cancellation.

use crate::session::fixture::{Fixture, POLICY, turns};
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use pretty_assertions::assert_eq;

const WRITE_FOREVER: &str = r#"
- calls: [{ tool: write_to_file, args: { path: src/1.txt, content: "1\n1\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/2.txt, content: "2\n2\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/3.txt, content: "3\n3\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/4.txt, content: "4\n4\n" } }]
"#;

#[test]
fn each_limit_of_the_budget_stops_the_run_and_keeps_the_work() {
    for (budget, files) in [
        ("turns: 2", 2),
        ("tool_calls: 3", 3),
        ("files: 1", 2),
        ("diff_lines: 5", 3),
        ("tokens: 1", 0),
        ("minutes: 0", 0),
    ] {
        let ran = Fixture::with_policy(
            &turns(WRITE_FOREVER),
            &format!("{POLICY}\nbudget: {{ {budget} }}"),
        )
        .run();
        let word = if budget == "minutes: 0" { "timed-out" } else { "budget-exhausted" };
        assert_eq!((ran.word(), ran.changed().len()), (word, files), "{budget}: {}", ran.reason());
        assert!(ran.outcome.checkpoint.is_some() == (files > 0), "{budget}");
    }
}

/// An orchestrator whose sub-task reads until its budget is used up.
const ENDLESS_CHILD: &str = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Read it all." } }]
      - expect: { contains: ["Sub-task 1 did not succeed", "budget of 7 turns is used up", "The budget ends: 2 of 10 turns"] }
        calls: [{ tool: attempt_completion, args: { result: "put down what there is" } }]
  - mode: code
    contains: "You may spend: 7 turns, "
    turns:
"#;

#[test]
fn a_sub_task_leaves_its_parent_two_turns_to_end() {
    let reads: String = (1..=8)
        .map(|limit| {
            format!(
                "      - calls: [{{ tool: read_file, args: {{ path: src/a.txt, limit: {limit} }} \
                 }}]\n"
            )
        })
        .collect();
    let script = format!("{}{reads}", ENDLESS_CHILD.trim_start_matches('\n'));
    let policy = format!("{POLICY}\nbudget: {{ turns: 10 }}");
    let ran = Fixture::with_policy(&script, &policy).in_mode("orchestrator").run();
    assert_eq!(
        (ran.word(), ran.outcome.summary.as_str()),
        ("nothing-to-do", "put down what there is"),
        "{}",
        ran.reason()
    );
    assert_eq!(ran.outcome.spent.turns, 9);
    // With less than four turns there is none to hand on.
    let few = format!("{POLICY}\nbudget: {{ turns: 4 }}");
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Read it all." } }]
      - expect: { contains: ["Too little of the budget is left for a sub-task: 3 turns, "] }
        calls: [{ tool: attempt_completion, args: { result: "no room" } }]
"#;
    let ran = Fixture::with_policy(script, &few).in_mode("orchestrator").run();
    assert_eq!((ran.outcome.summary.as_str(), ran.outcome.tasks.len()), ("no room", 1));
}

#[test]
fn a_question_ends_as_the_policy_says() {
    let script = turns(
        r#"
- calls: [{ tool: ask_followup_question, args: { question: "Which?", follow_up: ["this", "that"] } }]
- expect: { contains: ["this"], not_contains: ["that"] }
  calls: [{ tool: attempt_completion, args: { result: "took this" } }]
"#,
    );
    let asked = Fixture::new(&script).run();
    let question = asked.outcome.question.as_ref().unwrap();
    assert_eq!(
        (asked.word(), question.text.as_str(), question.suggestions.len()),
        ("needs-input", "Which?", 2)
    );
    let first = Fixture::with_policy(&script, &format!("{POLICY}\nquestions: first")).run();
    assert_eq!((first.word(), first.outcome.summary.as_str()), ("nothing-to-do", "took this"));
    let fail = Fixture::with_policy(&script, &format!("{POLICY}\nquestions: fail")).run();
    assert_eq!(fail.word(), "failed");
    assert!(fail.reason().contains("Which?"), "{}", fail.reason());
}

#[test]
fn a_hold_pauses_or_refuses_as_the_policy_says() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "x" } }]
- calls: [{ tool: attempt_completion, args: { result: "went on" } }]
"#,
    );
    let paused = Fixture::new(&script).run();
    assert_eq!(paused.word(), "on-hold");
    for named in ["src/held.txt", "a person looks at this one", "policy.yml:"] {
        assert!(paused.reason().contains(named), "{named} in {}", paused.reason());
    }
    let refused = Fixture::with_policy(&script, &format!("{POLICY}\non_hold: refuse")).run();
    assert_eq!((refused.word(), refused.outcome.refusals.len()), ("refused", 1));
}

#[test]
fn a_model_that_does_not_answer_has_failed_and_says_why() {
    for (fault, words) in [
        ("unavailable: \"provider is down\"", "provider is down"),
        ("garbled: \"<html>\"", "<html>"),
    ] {
        let ran = Fixture::new(&turns(&format!("- fail: {{ {fault} }}"))).run();
        assert_eq!(ran.word(), "failed");
        assert!(ran.reason().contains(words), "{}", ran.reason());
    }
}

#[test]
fn a_stop_from_outside_kills_the_command_and_keeps_the_work() {
    let fixture = Fixture::new(&turns(
        r#"
- calls:
    - { tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }
    - { tool: execute_command, args: { command: "sleep 600" } }
"#,
    ));
    let ran = fixture.run_cancelled_at(
        |event| matches!(event, Event::Judged { call, .. } if call.ends_with("-2")),
    );
    assert_eq!((ran.word(), ran.changed()), ("cancelled", vec!["src/b.txt"]));
    assert!(ran.reason().contains("sleep 600"), "{}", ran.reason());
    assert!(ran.outcome.checkpoint.is_some());
    assert!(matches!(ran.lines.last().map(|line| &line.event), Some(Event::Ended(_))));
}

#[test]
fn the_wall_time_ends_a_run_whose_model_says_nothing() {
    let mut fixture = Fixture::new(&turns("- say: never asked"));
    fixture.minutes = Some(0);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.reason()), ("timed-out", "the wall time of 0 minutes is over"));
}

#[test]
fn an_unknown_or_disallowed_mode_starts_nothing() {
    let script = turns("- say: never asked");
    assert_eq!(Fixture::new(&script).in_mode("nonsense").run().word(), "failed");
    let policy =
        POLICY.replace("allow: [orchestrator, architect, code,", "allow: [orchestrator, code,");
    assert_eq!(Fixture::with_policy(&script, &policy).in_mode("architect").run().word(), "refused");
}

#[test]
fn an_ended_session_stays_ended() {
    let fixture =
        Fixture::new(&turns(r#"- calls: [{ tool: attempt_completion, args: { result: "r" } }]"#));
    let ran = fixture.run();
    let again = fixture.resume();
    assert_eq!(again.outcome, ran.outcome);
    assert_eq!(Journal::read(&fixture.journal).unwrap(), ran.lines);
}

#[test]
fn a_fault_of_git_ends_no_session_for_good() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/c.txt, content: "c\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let fixture = Fixture::new(&script);
    // Where Locum's refs would be, there is a file.
    let in_the_way = fixture.root.join(".git/refs/locum");
    std::fs::write(&in_the_way, "").unwrap();
    for _ in 0..2 {
        let failed = match Journal::read(&fixture.journal) {
            Err(_) => fixture.run(),
            Ok(_) => fixture.resume(),
        };
        assert_eq!((failed.word(), failed.outcome.fault), ("failed", true));
    }
    std::fs::remove_file(&in_the_way).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt", "src/c.txt"]));
    assert_eq!((ran.outcome.spent.turns, ran.outcome.fault), (3, false), "no turn is taken again");
    assert_eq!(fixture.resume().word(), "done");
}

#[test]
fn a_run_ends_as_its_model_reports() {
    let write =
        "- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: \"b\\n\" } }]\n";
    for (arguments, word, reason) in [
        ("result: r, status: done", "done", ""),
        ("result: r, status: completed, reason: ignored", "done", ""),
        (
            "result: r, status: partial, reason: \"b.txt only\"",
            "partial",
            "the model reports: b.txt only",
        ),
        (
            "result: r, status: partial",
            "partial",
            "the model reports that a part of the task is left",
        ),
        (
            "result: r, status: failed, reason: \"no network\"",
            "failed",
            "the model reports: no network",
        ),
        ("result: r, status: error", "failed", "the model reports that the task could not be done"),
    ] {
        let end = format!("- calls: [{{ tool: attempt_completion, args: {{ {arguments} }} }}]\n");
        for before in [write, ""] {
            let ran = Fixture::new(&turns(&format!("{before}{end}"))).run();
            let word = if word == "done" && before.is_empty() { "nothing-to-do" } else { word };
            assert_eq!((ran.word(), ran.reason()), (word, reason), "{arguments}");
            assert_eq!(ran.outcome.summary, "r");
        }
    }
    let odd = Fixture::new(&turns(
        r#"
- calls: [{ tool: attempt_completion, args: { result: r, status: maybe } }]
- expect: { contains: ["`done`, `partial` or `failed`"] }
  calls: [{ tool: attempt_completion, args: { result: r, status: failed } }]
"#,
    ));
    assert_eq!(odd.run().word(), "failed");
}

#[test]
fn a_parent_reads_that_its_sub_task_did_not_succeed() {
    for (arguments, said) in [
        (
            "status: failed, reason: \"no such flag\"",
            ("did not succeed: in mode code, after ", " s, the model reports: no such flag."),
        ),
        (
            "status: partial",
            (
                "did not succeed: in mode code, after ",
                " s, the model reports that a part of the task is left.",
            ),
        ),
        ("status: done", ("completed in mode code, after ", " s.")),
    ] {
        let script = format!(
            r#"
- mode: code
  turns:
    - calls: [{{ tool: write_to_file, args: {{ path: src/b.txt, content: "b\n" }} }}]
    - calls: [{{ tool: attempt_completion, args: {{ result: "the rest is open", {arguments} }} }}]
- mode: orchestrator
  turns:
    - calls: [{{ tool: new_task, args: {{ mode: code, message: "Do it." }} }}]
    - expect: {{ contains: ["Sub-task 1 {}", "{}", "the rest is open", "- `src/b.txt` (new) +1"] }}
      calls: [{{ tool: attempt_completion, args: {{ result: r }} }}]
"#,
            said.0, said.1
        );
        let ran = Fixture::new(&script).in_mode("orchestrator").run();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
        assert_eq!(ran.outcome.tasks[1].completed, Some(arguments == "status: done"));
    }
}

#[test]
fn a_mode_that_could_have_had_a_file_changed_says_that_none_was() {
    let idle = r#"
- turns:
    - calls: [{ tool: update_todo_list, args: { todos: "- [x] look" } }]
    - calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    for (mode, word) in [
        ("orchestrator", "nothing-to-do"),
        ("coordinator", "nothing-to-do"),
        ("code", "nothing-to-do"),
        ("ask", "done"),
    ] {
        assert_eq!(Fixture::new(idle).in_mode(mode).run().word(), word, "{mode}");
    }
    let asked = r#"
- mode: orchestrator
  turns:
    - calls: [{ tool: new_task, args: { mode: ask, message: "Say it." } }]
    - calls: [{ tool: attempt_completion, args: { result: r } }]
- mode: ask
  turns:
    - calls: [{ tool: attempt_completion, args: { result: "it is so" } }]
"#;
    assert_eq!(Fixture::new(asked).in_mode("orchestrator").run().word(), "done");
}

#[test]
fn a_run_whose_every_edit_failed_or_was_refused_is_not_green() {
    let write = |path: &str| {
        format!(
            "- calls: [{{ tool: write_to_file, args: {{ path: {path}, content: \"x\\n\" }} }}]\n"
        )
    };
    let search = "- calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: \"<<<<<<< \
                  SEARCH\\nnot there\\n=======\\nx\\n>>>>>>> REPLACE\" } }]\n";
    let end = "- calls: [{ tool: attempt_completion, args: { result: done } }]\n";
    for (edits, word, named) in [
        (write("src/secret.txt"), "refused", "src/secret.txt"),
        (write("README.md"), "refused", "README.md"),
        (search.to_owned(), "failed", "src/a.txt"),
        (format!("{search}{}", write("src/secret.txt")), "refused", "src/secret.txt"),
        (format!("{}{}", write("src/secret.txt"), write("src/b.txt")), "done", ""),
        (format!("{search}{}", write("src/b.txt")), "done", ""),
        (String::new(), "nothing-to-do", ""),
    ] {
        let ran = Fixture::new(&turns(&format!("{edits}{end}"))).run();
        assert_eq!(ran.word(), word, "{edits}: {}", ran.reason());
        assert!(ran.reason().contains(named), "{edits}: {}", ran.reason());
    }
}
