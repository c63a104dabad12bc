//! Work of sub-tasks that their parent does not have: reports name it however a run ends, and a
//! command gets it.

use std::process::Command;

use crate::session::fixture::Fixture;
use crate::session::parallel::{end, fixture, kept, nothing_is_left, overwrite, said, write};
use locum_agent::report::json::RunReport;
use locum_agent::report::summary::{DiffSection, terminal};
use locum_agent::session::event::Event;
use locum_agent::session::hold;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::recorded::PersonDecision;
use pretty_assertions::assert_eq;
use serde_json::json;

/// A sub-task that is soon over, and one that reads for long before it does what is `last`.
fn one_is_over(last: &str) -> Fixture {
    let first = format!("{}{}", write("src/x1.txt", "1\\n"), end("first"));
    let reads: String = (1..=12)
        .map(|limit| {
            format!(
                "- calls: [{{ tool: read_file, args: {{ path: src/a.txt, limit: {limit} }} }}]\n"
            )
        })
        .collect();
    let second = format!("{}{reads}{last}{}", write("src/x2.txt", "2\\n"), end("second"));
    fixture(&[("1", &first), ("2", &second)], r#""first", "second""#)
}

const LOOK: &str = "- calls: [{ tool: list_files, args: { path: src } }]\n";

fn looks(event: &Event) -> bool {
    matches!(event, Event::Answered { tool, .. } if tool == "list_files")
}

/// The report has what both sub-tasks wrote, and how to get it.
fn names_both(outcome: &Outcome, state: &str) {
    let text = terminal(outcome, DiffSection::Shown);
    let report = serde_json::to_value(RunReport::new(outcome, &[])).unwrap();
    for number in [1_usize, 2] {
        let kept = format!("refs/locum/trees/0123456789abcdef/{number}");
        let command = format!("git checkout {kept} -- src/x{number}.txt");
        let headline = format!("{state}, so not part of the change: code: Part {number}. (1 file");
        for words in [&headline, &format!("\n  {command}\n"), &format!("+{number}\n")] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let task = &report["tasks"][number];
        assert_eq!((&task["kept"], &task["kept_command"]), (&json!(kept), &json!(command)));
        assert_eq!(task["changes"][0]["path"], format!("src/x{number}.txt"));
        assert!(task["changes"][0]["patch"].as_str().unwrap().contains(&format!("+{number}\n")));
    }
}

#[test]
fn a_run_that_is_stopped_names_what_its_sub_tasks_had_done() {
    let fixture = one_is_over(LOOK);
    let ran = fixture.run_cancelled_at(looks);
    assert_eq!((ran.word(), ran.changed().len()), ("cancelled", 0), "{}", ran.reason());
    let completed: Vec<_> = ran.outcome.tasks.iter().map(|task| task.completed).collect();
    assert_eq!(completed, [None, Some(true), None]);
    names_both(&ran.outcome, "Not merged");
    assert_eq!(kept(&fixture).len(), 2);
    nothing_is_left(&fixture);
}

#[test]
fn a_run_that_fails_names_what_its_sub_tasks_had_done() {
    let never = LOOK.replacen("- ", "- expect: { contains: [\"said by nobody\"] }\n  ", 1);
    let ran = one_is_over(&never).run();
    assert_eq!((ran.word(), ran.changed().len()), ("failed", 0), "{}", ran.reason());
    names_both(&ran.outcome, "Not merged");
}

#[test]
fn sub_tasks_without_changes_are_not_named() {
    let read = "- calls: [{ tool: read_file, args: { path: src/a.txt } }]\n";
    let first = format!("{read}{}", end("first"));
    let second = format!("{read}{LOOK}{}", end("second"));
    let fixture = fixture(&[("1", &first), ("2", &second)], r#""first", "second""#);
    let ran = fixture.run_cancelled_at(looks);
    assert_eq!(ran.word(), "cancelled", "{}", ran.reason());
    let is_named = |text: &str| text.contains("ot merged") || text.contains("refs/locum/trees");
    assert!(!is_named(&terminal(&ran.outcome, DiffSection::Shown)));
    assert_eq!(kept(&fixture), Vec::<String>::new());
}

#[test]
fn a_run_on_hold_names_what_is_not_merged_yet_and_merges_it_later() {
    let held =
        format!("{}{}{}", write("src/x2.txt", "2\\n"), write("src/held.txt", "h\\n"), end("held"));
    let first = format!("{}{}", write("src/x1.txt", "1\\n"), end("first"));
    let fixture = fixture(&[("1", &first), ("2", &held)], r#""first", "held""#);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len()), ("on-hold", 0), "{}", ran.reason());
    names_both(&ran.outcome, "Not merged yet");
    let yes = said(&ran.outcome.held.unwrap().id, PersonDecision::Approve);
    hold::decide(&fixture.journal, yes, ran.lines.last().unwrap().at).unwrap();
    let ran = fixture.resume();
    let changed = vec!["src/held.txt", "src/x1.txt", "src/x2.txt"];
    assert_eq!((ran.word(), ran.changed()), ("done", changed), "{}", ran.reason());
    assert!(ran.outcome.tasks.iter().all(|task| task.kept_ref.is_none()));
    assert_eq!(kept(&fixture), Vec::<String>::new());
}

#[test]
fn the_command_of_a_report_gets_what_was_not_merged_with_what_it_deletes() {
    let first = format!("{}{}", overwrite("src/a.txt", "one\\n2\\nthree\\n"), end("first"));
    let deletes = "- calls: [{ tool: read_file, args: { path: src/a.txt } }, { tool: delete_file, \
                   args: { path: src/a.txt } }]\n";
    let second = format!(
        "{deletes}{}{}{}",
        write("src/a.txt/inner.txt", "i\\n"),
        write("\"src/it's.txt\"", "d\\n"),
        end("second")
    );
    let fixture = fixture(&[("1", &first), ("2", &second)], r#""conflict with the current files""#);
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/a.txt"]), "{}", ran.reason());
    let kept = ran.outcome.tasks[2].kept_ref.clone().unwrap();
    let command = ran.outcome.tasks[2].kept_command().unwrap();
    assert_eq!(
        command,
        format!(
            "rm -f -- src/a.txt && git checkout {kept} -- src/a.txt/inner.txt 'src/it'\\''s.txt'"
        )
    );
    let done = Command::new("sh")
        .args(["-c", &command])
        .current_dir(&fixture.root)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(fixture.file("src/a.txt/inner.txt").as_deref(), Some("i\n"));
    assert_eq!(fixture.file("src/it's.txt").as_deref(), Some("d\n"));
}
