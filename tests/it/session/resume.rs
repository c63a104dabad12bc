//! A run killed right after any line of its journal and resumed ends like one that was not killed.

use std::os::unix::fs::PermissionsExt;

use crate::session::fixture::{Fixture, Ran};
use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::outcome::Outcome;
use pretty_assertions::assert_eq;

const SCRIPT: &str = r#"
  - mode: orchestrator
    turns:
      - calls:
          - { tool: update_todo_list, args: { todos: "- [ ] write" } }
          - { tool: new_task, args: { mode: code, message: "Write." } }
      - calls: [{ tool: new_task, args: { mode: ask, message: "Look." } }]
      - calls: [{ tool: attempt_completion, args: { result: "all done" } }]
  - mode: code
    turns:
      - calls:
          - { tool: read_file, args: { path: src/a.txt } }
          - { tool: list_files, args: { path: src } }
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\ntwo\n=======\ntwo\ntwo\n>>>>>>> REPLACE\n" } }]
      - calls:
          - { tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }
          - { tool: write_to_file, args: { path: src/secret.txt, content: "x" } }
          - { tool: execute_command, args: { command: "./step.sh" } }
      - say: no tool here
      - calls: [{ tool: apply_diff, args: { path: src/b.txt, diff: "<<<<<<< SEARCH\nb\n=======\nb\nb\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
  - mode: ask
    turns:
      - calls: [{ tool: read_file, args: { path: src/b.txt } }]
      - calls: [{ tool: attempt_completion, args: { result: "fine" } }]
"#;

fn fixture() -> Fixture {
    Fixture::new(SCRIPT).in_mode("orchestrator")
}

/// What must be the same: everything but the time it took and the names of commits.
fn essence(ran: &Ran) -> Outcome {
    let mut outcome = ran.outcome.clone();
    outcome.spent.seconds = 0;
    outcome.tasks.iter_mut().for_each(|task| task.seconds = 0);
    outcome.checkpoint = None;
    outcome.base.0.clear();
    outcome
}

/// Whether a command is about to run: edits note what was there before.
fn is_command(event: &Event) -> bool {
    matches!(event, Event::Performing { before, .. } if before.is_empty())
}

#[test]
fn a_kill_at_any_line_changes_nothing() {
    let whole = fixture();
    let expected = whole.run();
    assert_eq!(
        (expected.word(), expected.changed()),
        ("done", vec!["src/a.txt", "src/b.txt", "src/steps.txt"]),
        "{:?}",
        expected.outcome.refusals
    );
    for lines in 1..expected.lines.len() {
        let killed = fixture();
        assert!(killed.run_killed_at(lines).is_none(), "line {lines}");
        let last = expected.lines[lines - 1].event.clone();
        let resumed = killed.resume();
        if is_command(&last) {
            // A command is never run a second time; killed before it started, it has not run at
            // all, and that is told.
            assert_eq!(resumed.word(), "done");
            assert!(resumed.answers("execute_command")[0].contains("interrupted"));
            assert_eq!(killed.file("src/steps.txt"), None);
            continue;
        }
        assert_eq!(killed.tree(), whole.tree(), "after line {lines}: {last:?}");
        assert_eq!(essence(&resumed), essence(&expected), "after line {lines}: {last:?}");
    }
}

#[test]
fn an_edit_whose_effect_happened_before_the_kill_happens_once() {
    let expected = fixture().run();
    let performing =
        |event: &Event| matches!(event, Event::Performing { .. }) && !is_command(event);
    let at: Vec<usize> =
        (0..expected.lines.len()).filter(|at| performing(&expected.lines[*at].event)).collect();
    assert_eq!(at.len(), 3);
    for at in at {
        let killed = fixture();
        assert!(killed.run_killed_at(at + 2).is_none());
        // The answer is cut off again: the effect is there, its answer is not.
        cut_after(&killed, at);
        let resumed = killed.resume();
        assert_eq!(killed.file("src/a.txt").as_deref(), Some("one\ntwo\ntwo\nthree\n"));
        assert_eq!(killed.file("src/b.txt").as_deref(), Some("b\nb\n"));
        assert_eq!(essence(&resumed), essence(&expected));
    }
}

#[test]
fn a_file_whose_move_is_cut_off_keeps_its_permissions() {
    let policy = "version: 1\nmodes: { default: code }\nrules:\n  - allow: ['read(**)', \
                  'edit(**)']\n";
    let patch = "*** Begin Patch\\n*** Update File: step.sh\\n*** Move to: src/go.sh\\n@@\\n\
                 -#!/bin/sh\\n+#!/bin/bash\\n*** End Patch";
    for call in [
        "{ tool: move_file, args: { path: step.sh, to: src/go.sh } }".to_owned(),
        format!("{{ tool: apply_patch, args: {{ patch: \"{patch}\" }} }}"),
    ] {
        let script = format!(
            "  - mode: code\n    turns:\n      - calls: [{call}]\n      - calls: [{{ tool: \
             attempt_completion, args: {{ result: moved }} }}]\n"
        );
        let fixture = || {
            let fixture = Fixture::with_policy(&script, policy);
            let file = fixture.root.join("step.sh");
            std::fs::set_permissions(file, PermissionsExt::from_mode(0o751)).unwrap();
            fixture
        };
        let expected = fixture().run();
        let performing = |line: &JournalLine| matches!(line.event, Event::Performing { .. });
        let at = expected.lines.iter().position(performing).unwrap();
        // Killed before the move, after it and before its answer, and after its answer.
        for (lines, is_cut) in [(at + 1, false), (at + 2, true), (at + 2, false)] {
            let killed = fixture();
            assert!(killed.run_killed_at(lines).is_none());
            if is_cut {
                cut_after(&killed, at);
            }
            let resumed = killed.resume();
            assert_eq!(essence(&resumed), essence(&expected), "{call} {lines}");
            assert_eq!((resumed.word(), killed.file("step.sh")), ("done", None), "{call} {lines}");
            let moved = std::fs::metadata(killed.root.join("src/go.sh")).unwrap();
            assert_eq!(moved.permissions().mode() & 0o777, 0o751, "{call} {lines} {is_cut}");
        }
    }
}

#[test]
fn what_an_interrupted_command_changed_is_found_and_it_is_not_run_again() {
    let expected = fixture().run();
    let at = expected.lines.iter().position(|line| is_command(&line.event)).unwrap();
    let killed = fixture();
    assert!(killed.run_killed_at(at + 2).is_none());
    cut_after(&killed, at);
    let resumed = killed.resume();
    assert_eq!(
        (resumed.word(), resumed.changed()),
        ("done", expected.changed()),
        "{}",
        resumed.reason()
    );
    assert_eq!(killed.file("src/steps.txt").as_deref(), Some("stepped\n"), "it ran once");
    assert!(resumed.answers("execute_command")[0].contains("interrupted"));
    assert_eq!(resumed.outcome.commands.len(), 1, "a command that was cut off is reported");
}

/// Cuts a journal in the middle of the line after the one at `at`.
fn cut_after(killed: &Fixture, at: usize) {
    let path = killed.journal.join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    std::fs::write(&path, format!("{}{}", lines[..=at].concat(), &lines[at + 1][..20])).unwrap();
}

#[test]
fn two_kills_are_as_good_as_one() {
    let whole = fixture();
    let expected = whole.run();
    let killed = fixture();
    assert!(killed.run_killed_at(8).is_none());
    let again = locum_agent::session::journal::Journal::resume(&killed.journal).unwrap();
    let script =
        locum_models::scripted::script::ModelScript::parse("script.yml", &killed.script).unwrap();
    let model = locum_models::scripted::ScriptedModel::new(script);
    assert!(killed.run_with(&model, 14, again, None).is_none());
    let resumed = killed.resume();
    assert_eq!(killed.tree(), whole.tree());
    assert_eq!(essence(&resumed), essence(&expected));
}
