//! What people write to a session while it works or when they let it go on: every task at work
//! reads it once, before its next turn.

use std::path::Path;

use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, turns};
use locum_agent::session::event::Event;
use locum_agent::session::go_on::{GoOnError, GoOnRequest, go_on};
use locum_agent::session::journal::Journal;
use locum_agent::session::messages::{PersonMessage, send};
use locum_policy::budget::raise::NewLimits;

/// Sends this to the session once an event comes.
fn told(fixture: Fixture, when: fn(&Event) -> bool, text: &'static str) -> Fixture {
    let folder = fixture.journal.clone();
    fixture.watched(move |event| {
        if when(event) {
            write_to(&folder, text);
        }
    })
}

fn write_to(session: &Path, text: &str) {
    let (id, by) = ("1".to_owned(), "ada".to_owned());
    let message = PersonMessage { id, by, text: text.to_owned(), images: Vec::new() };
    send(session, &message).unwrap();
}

fn is_read(event: &Event) -> bool {
    matches!(event, Event::Answered { tool, .. } if tool == "read_file")
}

fn completes(event: &Event) -> bool {
    matches!(event, Event::Answered { tool, .. } if tool == "attempt_completion")
}

const READ_AND_WRITE: &str = r#"
- calls: [{ tool: read_file, args: { path: src/a.txt } }]
- expect: { contains: ["ada writes to you:", "Keep the old name."] }
  calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "written" } }]
"#;

#[test]
fn a_message_is_read_before_the_next_turn_and_once() {
    let fixture = told(Fixture::new(&turns(READ_AND_WRITE)), is_read, "Keep the old name.");
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    let read = ran.lines.iter().filter(|line| matches!(line.event, Event::MessageRead { .. }));
    assert_eq!(read.count(), 1);
}

#[test]
fn a_result_given_before_a_message_was_read_is_not_the_last_word() {
    let script = turns(
        r#"
- calls: [{ tool: attempt_completion, args: { result: "done" } }]
- expect: { contains: ["ada writes to you:", "And b, too."] }
  calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "b as well" } }]
"#,
    );
    let ran = told(Fixture::new(&script), completes, "And b, too.").run();
    assert_eq!((ran.word(), ran.outcome.summary.as_str()), ("done", "b as well"));
    assert_eq!(ran.changed(), ["src/b.txt"]);
}

#[test]
fn without_a_turn_left_the_result_stands() {
    let script = turns("- calls: [{ tool: attempt_completion, args: { result: \"done\" } }]");
    let policy = format!("{}\nbudget: {{ turns: 1 }}", crate::session::fixture::POLICY);
    let fixture = told(Fixture::with_policy(&script, &policy), completes, "And b, too.");
    assert_eq!(fixture.run().outcome.summary, "done");
}

#[test]
fn a_sub_task_at_work_reads_it_and_then_its_parent() {
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Part." } }]
      - expect: { contains: ["ada writes to you:"] }
        calls: [{ tool: new_task, args: { mode: ask, message: "Look." } }]
      - calls: [{ tool: attempt_completion, args: { result: "put together" } }]
  - mode: code
    turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - expect: { contains: ["ada writes to you:", "Hurry."] }
        calls: [{ tool: attempt_completion, args: { result: "written" } }]
  - mode: ask
    turns:
      - expect: { not_contains: ["ada writes to you:"] }
        calls: [{ tool: attempt_completion, args: { result: "looked" } }]
"#;
    let fixture = told(Fixture::new(script).in_mode("orchestrator"), is_read, "Hurry.");
    let ran = fixture.run();
    assert_eq!(ran.outcome.summary, "put together", "{}", ran.reason());
}

#[test]
fn a_kill_at_any_line_loses_no_message_and_repeats_none() {
    // It may be read in any turn then.
    let script = READ_AND_WRITE
        .replace("expect: { contains: [\"ada writes to you:\", \"Keep the old name.\"] }\n  ", "");
    let fixture = || told(Fixture::new(&turns(&script)), is_read, "Keep the old name.");
    let lines = fixture().run().lines.len();
    for line in 2..=lines {
        let killed = fixture();
        assert!(killed.run_killed_at(line).is_none(), "{line}");
        // Whether or not it was sent before the kill.
        write_to(&killed.journal, "Keep the old name.");
        let ran = killed.resume();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{line}");
        let read = ran.lines.iter().filter(|line| matches!(line.event, Event::MessageRead { .. }));
        assert_eq!(read.count(), 1, "{line}");
    }
}

fn add(fixture: &Fixture, words: Option<&str>) -> Result<(), GoOnError> {
    let lines = Journal::read(&fixture.journal).unwrap();
    let request = GoOnRequest {
        by: "ada at the command line".to_owned(),
        limits: NewLimits::default(),
        most: None,
        words: words.map(str::to_owned),
        images: Vec::new(),
    };
    go_on(&fixture.journal, request, lines.last().unwrap().at).map(drop)
}

#[test]
fn a_session_that_ended_goes_on_with_words_and_with_nothing_else() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "b" } }]
- expect: { contains: ["ada at the command line writes to you:", "c as well"] }
  calls: [{ tool: write_to_file, args: { path: src/c.txt, content: "c\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "b and c" } }]
- expect: { contains: ["Once more."] }
  calls: [{ tool: attempt_completion, args: { result: "b and c, again" } }]
"#,
    );
    let fixture = Fixture::new(&script);
    assert_eq!(fixture.run().outcome.summary, "b");
    assert!(matches!(add(&fixture, None), Err(GoOnError::NotStopped(_))));
    let long = "x".repeat(17 * 1024);
    assert!(matches!(add(&fixture, Some(&long)), Err(GoOnError::Length)));
    add(&fixture, Some("c as well")).unwrap();
    let ran = fixture.resume();
    assert_eq!(ran.outcome.summary, "b and c", "{}", ran.reason());
    assert_eq!(ran.changed(), ["src/b.txt", "src/c.txt"]);
    add(&fixture, Some("Once more.")).unwrap();
    assert_eq!(fixture.resume().outcome.summary, "b and c, again");
}

#[test]
fn a_session_that_waits_for_a_decision_does_not_go_on_with_words() {
    let script = turns(
        "- calls: [{ tool: ask_followup_question, args: { question: \"Which?\", follow_up: [\"this\"] } }]",
    );
    let fixture = Fixture::new(&script);
    assert_eq!(fixture.run().word(), "needs-input");
    for words in [Some("c as well"), None] {
        assert!(matches!(add(&fixture, words), Err(GoOnError::Undecided(_))), "{words:?}");
    }
}
