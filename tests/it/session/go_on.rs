//! Sessions that a limit or a person stopped, and that go on with more to spend.

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::event::Event;
use locum_agent::session::go_on::{GoOnError, GoOnRequest, go_on};
use locum_agent::session::journal::Journal;
use locum_agent::session::state::SessionState;
use locum_base::id::TaskId;
use locum_policy::budget::Budget;
use locum_policy::budget::raise::{NewLimit, NewLimits};
use pretty_assertions::assert_eq;

const FOUR_FILES: &str = r#"
- calls: [{ tool: write_to_file, args: { path: src/1.txt, content: "1\n1\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/2.txt, content: "2\n2\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/3.txt, content: "3\n3\n" } }, { tool: execute_command, args: { command: "./step.sh" } }]
- calls: [{ tool: write_to_file, args: { path: src/4.txt, content: "4\n4\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "all four" } }]
"#;
const CHANGED: [&str; 5] = ["src/1.txt", "src/2.txt", "src/3.txt", "src/4.txt", "src/steps.txt"];

fn with_budget(budget: &str) -> Fixture {
    Fixture::with_policy(&turns(FOUR_FILES), &format!("{POLICY}\nbudget: {{ {budget} }}"))
}

/// Lets a session go on with these limits, as a person at the command line.
fn add(fixture: &Fixture, limits: NewLimits, most: Option<Budget>) -> Result<Budget, GoOnError> {
    let lines = Journal::read(&fixture.journal).unwrap();
    let request = GoOnRequest {
        by: "ada at the command line".to_owned(),
        limits,
        most,
        words: None,
        images: Vec::new(),
    };
    go_on(&fixture.journal, request, lines.last().unwrap().at)
}

fn more(number: u32) -> NewLimits {
    NewLimits { turns: Some(NewLimit::More(number)), ..NewLimits::default() }
}

fn is_whole(ran: &Ran, fixture: &Fixture) {
    assert_eq!((ran.word(), ran.reason()), ("done", ""));
    assert_eq!((ran.changed(), ran.outcome.spent.turns), (CHANGED.to_vec(), 5));
    assert_eq!(fixture.file("src/steps.txt").as_deref(), Some("stepped\n"), "once");
}

#[test]
fn each_limit_that_stopped_a_run_can_be_raised_and_nothing_is_done_twice() {
    let some = Some(NewLimit::More(20));
    let limits = NewLimits::default();
    for (budget, raised) in [
        ("turns: 2", NewLimits { turns: some, ..limits }),
        ("tool_calls: 3", NewLimits { tool_calls: some, ..limits }),
        ("files: 1", NewLimits { files: some, ..limits }),
        ("diff_lines: 5", NewLimits { diff_lines: some, ..limits }),
        ("tokens: 1", NewLimits { tokens: Some(NewLimit::More(1_000_000)), ..limits }),
        ("minutes: 0", NewLimits { minutes: some, ..limits }),
    ] {
        let fixture = with_budget(budget);
        let stopped = fixture.run();
        let unit = budget.split(':').next().unwrap();
        let by = stopped.outcome.exhausted.as_ref().map(|limit| limit.unit.as_str());
        assert!(stopped.outcome.was_stopped() && by == Some(unit), "{budget}: {by:?}");
        assert_eq!(fixture.resume().outcome, stopped.outcome, "it stays stopped by itself");
        let nothing = add(&fixture, limits, None);
        if unit != "tokens" {
            assert!(matches!(nothing, Err(GoOnError::UsedUp(_))), "{budget}: {nothing:?}");
            assert_eq!(Journal::read(&fixture.journal).unwrap(), stopped.lines);
        }
        add(&fixture, raised, None).unwrap();
        is_whole(&fixture.resume(), &fixture);
    }
}

#[test]
fn a_run_that_somebody_stopped_goes_on_as_it_is() {
    let fixture = with_budget("turns: 9");
    let stopped = fixture.run_cancelled_at(
        |event| matches!(event, Event::Answered { task: TaskId(0), call, .. } if call.ends_with("2-1")),
    );
    assert_eq!((stopped.word(), stopped.outcome.exhausted.is_some()), ("cancelled", false));
    add(&fixture, NewLimits::default(), None).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", CHANGED.to_vec()), "{}", ran.reason());
    let ended = add(&fixture, more(5), None);
    assert!(matches!(ended, Err(GoOnError::NotStopped(_))), "{ended:?}");
}

#[test]
fn only_the_policy_raises_its_limits_where_nobody_looks() {
    let fixture = with_budget("turns: 2");
    fixture.run();
    let most = Some(Budget { turns: 4, ..Budget::default() });
    let above = add(&fixture, more(20), most);
    assert!(matches!(above, Err(GoOnError::AbovePolicy(_))), "{above:?}");
    assert_eq!(add(&fixture, more(2), most).unwrap().turns, 4);
}

#[test]
fn a_kill_at_any_line_after_that_loses_nothing() {
    // A command that is interrupted is not run again, so there is none.
    let command = ", { tool: execute_command, args: { command: \"./step.sh\" } }";
    let script = turns(&FOUR_FILES.replace(command, ""));
    let policy = format!("{POLICY}\nbudget: {{ turns: 2 }}");
    let stopped = || {
        let fixture = Fixture::with_policy(&script, &policy);
        let lines = fixture.run().lines.len();
        add(&fixture, more(20), None).unwrap();
        (fixture, lines + 1)
    };
    let (whole, first) = stopped();
    let last = whole.resume().lines.len();
    assert!(last > first + 10);
    for line in first + 1..=last {
        let (fixture, _) = stopped();
        assert!(fixture.resume_killed_at(line).is_none(), "{line}");
        let ran = fixture.resume();
        assert_eq!((ran.word(), ran.changed()), ("done", CHANGED[..4].to_vec()), "{line}");
        assert_eq!(ran.outcome.spent.turns, 5, "{line}");
    }
}

#[test]
fn the_model_reads_what_it_may_spend_from_here_and_so_does_its_sub_task() {
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Part." } }]
      - expect: { contains: ["goes on now. From here you may spend: 18 turns, "] }
        calls: [{ tool: attempt_completion, args: { result: "put together" } }]
  - mode: code
    turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - expect: { contains: ["goes on now. From here you may spend: 16 turns, "] }
        calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
"#;
    let policy = format!("{POLICY}\nbudget: {{ turns: 10 }}");
    let fixture = Fixture::with_policy(script, &policy).in_mode("orchestrator");
    let stopped = fixture.run_cancelled_at(
        |event| matches!(event, Event::Answered { tool, .. } if tool == "read_file"),
    );
    assert_eq!((stopped.word(), stopped.outcome.spent.turns), ("cancelled", 2));
    add(&fixture, more(18), None).unwrap();
    let state = SessionState::of(&Journal::read(&fixture.journal).unwrap());
    let turns: Vec<u32> = state.tasks.iter().map(|task| task.budgeting.budget.turns).collect();
    assert_eq!(turns, [20, 17], "the sub-task had 7 of 10, and has the same ten more");
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
}

#[test]
fn a_checkout_that_somebody_reset_meanwhile_is_noticed_and_left_as_it_is() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/1.txt, content: "1\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/2.txt, content: "2\n" } }]
- expect: { contains: ["somebody else changed files that it had changed: `src/1.txt`. They are as they were before the run.", "Read them again"] }
  calls: [{ tool: attempt_completion, args: { result: "one of two" } }]
"#,
    );
    let policy = format!("{POLICY}\nbudget: {{ turns: 2 }}");
    let fixture = Fixture::with_policy(&script, &policy);
    fixture.run();
    std::fs::remove_file(fixture.root.join("src/1.txt")).unwrap();
    add(&fixture, more(9), None).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/2.txt"]), "{}", ran.reason());
    assert_eq!(ran.outcome.notes.len(), 1, "{:?}", ran.outcome.notes);
    assert!(ran.outcome.notes[0].contains("`src/1.txt`"), "{:?}", ran.outcome.notes);
    assert_eq!(fixture.file("src/1.txt"), None);
}

#[test]
fn a_checkout_that_nobody_changed_is_no_news() {
    let fixture = with_budget("turns: 2");
    fixture.run();
    add(&fixture, more(9), None).unwrap();
    assert_eq!(fixture.resume().outcome.notes, Vec::<String>::new());
}
