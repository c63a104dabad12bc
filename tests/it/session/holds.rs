//! Runs that stop for a person, what the person says, and how they go on at exactly that call.

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use jiff::{SignedDuration, Timestamp};
use locum_agent::session::event::Event;
use locum_agent::session::hold::{DecisionError, WAIT_LIMIT, decide};
use locum_agent::session::recorded::{PersonDecision, RecordedDecision};
use pretty_assertions::assert_eq;
use std::path::Path;

const HELD: &str = r#"
- calls:
    - { tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }
    - { tool: write_to_file, args: { path: src/held.txt, content: "held\n" } }
- calls: [{ tool: attempt_completion, args: { result: "went on" } }]
"#;

fn now() -> Timestamp {
    Timestamp::from_second(1_700_001_000).unwrap()
}

fn said(id: &str, word: PersonDecision) -> RecordedDecision {
    RecordedDecision { id: id.to_owned(), by: "alice".to_owned(), word, note: String::new() }
}

fn hold_of(ran: &Ran) -> String {
    ran.outcome.held.as_ref().unwrap().id.clone()
}

#[test]
fn shows_what_is_held_and_goes_on_there_once_approved() {
    let fixture = Fixture::new(&turns(HELD));
    let paused = fixture.run();
    let held = paused.outcome.held.clone().unwrap();
    assert_eq!(
        (paused.word(), held.headline.as_str(), held.mode.as_str()),
        ("on-hold", "write src/held.txt", "code")
    );
    assert_eq!((held.verdicts.len(), held.verdicts[0].intent.as_str()), (1, "edit(src/held.txt)"));
    assert!(
        held.arguments.contains("held\\n") && held.diff.unwrap().contains("+held"),
        "{:?}",
        held.arguments
    );
    assert_eq!(fixture.file("src/held.txt"), None);

    decide(&fixture.journal, said(&held.id, PersonDecision::Approve), now()).unwrap();
    let ran = fixture.resume();
    assert_eq!(
        (ran.word(), ran.changed(), ran.outcome.refusals.len()),
        ("done", vec!["src/b.txt", "src/held.txt"], 0)
    );
    let approved = &ran.outcome.approved;
    assert_eq!(
        (approved.len(), approved[0].approval.by.as_str(), approved[0].approval.hold.as_str()),
        (1, "alice", held.id.as_str())
    );
    let judged = |line: &locum_agent::session::event::JournalLine| matches!(&line.event, Event::Judged { approval: Some(yes), .. } if yes.by == "alice");
    assert_eq!(
        ran.lines.iter().filter(|line| judged(line)).count(),
        1,
        "the permit names the yes it rests on"
    );
    assert_eq!(ran.outcome.spent.turns, 2, "no turn is taken again");
    assert!(
        ran.outcome.spent.seconds < 500,
        "the time it waited does not count: {}",
        ran.outcome.spent.seconds
    );
}

#[test]
fn a_no_is_told_to_the_model() {
    let fixture = Fixture::new(&turns(HELD));
    let id = hold_of(&fixture.run());
    decide(
        &fixture.journal,
        said(&id, PersonDecision::Deny { reason: "not that file".to_owned() }),
        now(),
    )
    .unwrap();
    let ran = fixture.resume();
    assert_eq!(
        (ran.word(), ran.changed(), ran.outcome.refusals.len()),
        ("done", vec!["src/b.txt"], 1)
    );
    let answers = ran.answers("write_to_file");
    assert!(answers[1].contains("alice said no: not that file"), "{answers:?}");
}

#[test]
fn a_yes_is_for_one_call_of_one_name_in_time() {
    let fixture = Fixture::new(&turns(HELD));
    let id = hold_of(&fixture.run());
    let refused = |id: &str, word: PersonDecision, at: Timestamp| {
        decide(&fixture.journal, said(id, word), at).unwrap_err()
    };
    assert!(matches!(
        refused("0123456789abcdef", PersonDecision::Approve, now()),
        DecisionError::OtherWaits { .. }
    ));
    assert!(matches!(
        refused("", PersonDecision::Approve, now()),
        DecisionError::OtherWaits { .. }
    ));
    assert!(matches!(
        refused(&id, PersonDecision::Answer { text: "yes".to_owned() }, now()),
        DecisionError::WrongKind(_)
    ));
    let late =
        now().checked_add(WAIT_LIMIT).unwrap().checked_add(SignedDuration::from_hours(1)).unwrap();
    assert!(matches!(refused(&id, PersonDecision::Approve, late), DecisionError::Expired { .. }));
    assert_eq!(fixture.resume().word(), "on-hold", "nothing of that was a yes");

    decide(&fixture.journal, said(&id, PersonDecision::Approve), now()).unwrap();
    assert!(
        matches!(refused(&id, PersonDecision::Approve, now()), DecisionError::NothingWaits(_)),
        "twice"
    );
    assert_eq!(fixture.resume().word(), "done");
    assert!(
        matches!(refused(&id, PersonDecision::Approve, now()), DecisionError::NothingWaits(_)),
        "after the end"
    );
}

#[test]
fn the_same_call_again_is_held_again() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "one\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "one\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let fixture = Fixture::new(&script);
    let first = hold_of(&fixture.run());
    decide(&fixture.journal, said(&first, PersonDecision::Approve), now()).unwrap();
    let again = fixture.resume();
    assert_eq!((again.word(), again.changed()), ("on-hold", vec!["src/held.txt"]));
    assert_ne!(hold_of(&again), first);
}

#[test]
fn what_is_denied_stays_denied_beside_an_approved_hold() {
    let policy = POLICY.replace("\"command(touch:*)\", ", "").replace(
        "  - hold: \"edit(src/held.txt)\"",
        "  - hold: \"command(touch:*)\"\n    modes: [code]\n  - hold: \"edit(src/held.txt)\"",
    );
    let script = turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "touch src/secret.txt" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::with_policy(&script, &policy).run();
    assert_eq!((ran.word(), ran.outcome.refusals.len()), ("nothing-to-do", 1), "{}", ran.reason());
}

#[test]
fn what_an_approved_command_changes_is_held_to_the_rules() {
    for (target, changed) in
        [("held", vec!["src/held.txt"]), ("secret", vec![]), ("free", vec!["src/free.txt"])]
    {
        let copy = format!("sh -c 'cp src/a.txt src/{target}.txt'");
        let policy = POLICY.replace(
            "  - hold: \"edit(src/held.txt)\"",
            &format!("  - hold: \"command({copy})\"\n  - hold: \"edit(src/held.txt)\""),
        );
        let script = turns(&format!(
            "- calls: [{{ tool: execute_command, args: {{ command: \"{copy}\" }} }}]\n- calls: \
             [{{ tool: attempt_completion, args: {{ result: r }} }}]"
        ));
        let fixture = Fixture::with_policy(&script, &policy);
        let id = hold_of(&fixture.run());
        decide(&fixture.journal, said(&id, PersonDecision::Approve), now()).unwrap();
        let ran = fixture.resume();
        assert_eq!(
            (ran.word() != "on-hold", ran.changed()),
            (true, changed.clone()),
            "{target}: {}",
            ran.reason()
        );
        let covered = ran.outcome.approved[0].approval.intents.len();
        assert_eq!(covered, 1 + changed.len(), "{target}");
    }
}

#[test]
fn a_kill_at_any_line_of_an_approved_command_runs_it_at_most_once() {
    let policy = POLICY.replace("\"command(./step.sh)\", ", "").replace(
        "  - hold: \"edit(src/held.txt)\"",
        "  - hold: \"command(./step.sh)\"\n    modes: [code]\n  - hold: \"edit(src/held.txt)\"",
    );
    let script = turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let whole = Fixture::with_policy(&script, &policy);
    let id = hold_of(&whole.run());
    decide(&whole.journal, said(&id, PersonDecision::Approve), now()).unwrap();
    let ran = whole.resume();
    assert_eq!(
        (ran.word(), whole.file("src/steps.txt").as_deref()),
        ("done", Some("stepped\n")),
        "{}",
        ran.reason()
    );
    let decided =
        ran.lines.iter().position(|line| matches!(line.event, Event::Decided { .. })).unwrap();
    for lines in decided + 2..ran.lines.len() {
        let fixture = Fixture::with_policy(&script, &policy);
        let id = hold_of(&fixture.run());
        decide(&fixture.journal, said(&id, PersonDecision::Approve), now()).unwrap();
        assert!(fixture.resume_killed_at(lines).is_none(), "{lines}");
        let resumed = fixture.resume();
        assert_eq!(resumed.outcome.approved.len(), 1, "{lines}");
        let times = fixture.file("src/steps.txt").map_or(0, |text| text.lines().count());
        assert!(times <= 1, "killed at line {lines}: ran {times} times");
    }
}

#[test]
fn an_answer_becomes_the_result_of_the_question() {
    let script = turns(
        r#"
- calls: [{ tool: ask_followup_question, args: { question: "Which?", follow_up: ["this", "that"] } }]
- expect: { contains: ["alice answered", "the other one"] }
  calls: [{ tool: attempt_completion, args: { result: "took the other" } }]
"#,
    );
    let fixture = Fixture::new(&script);
    let asked = fixture.run();
    let id = asked.outcome.question.unwrap().id;
    let answer = |text: &str| PersonDecision::Answer { text: text.to_owned() };
    assert!(matches!(
        decide(&fixture.journal, said(&id, PersonDecision::Approve), now()),
        Err(DecisionError::WrongKind(_))
    ));
    assert!(matches!(
        decide(&fixture.journal, said(&id, answer(" ")), now()),
        Err(DecisionError::Length)
    ));
    decide(&fixture.journal, said(&id, answer("the other one")), now()).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.outcome.summary.as_str()), ("nothing-to-do", "took the other"));
}

#[test]
fn an_edit_that_the_mode_forbids_is_listed_with_the_modes_words() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "x" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::new(&script).in_mode("architect").run();
    let refused = &ran.outcome.refusals;
    assert_eq!(
        (refused.len(), refused[0].refusal.verdicts[0].intent.as_str()),
        (1, "edit(src/a.txt)")
    );
    assert!(
        refused[0].refusal.verdicts[0].reason().contains("can only edit files matching"),
        "{refused:?}"
    );
}

/// A run whose command writes a file that is allowed and one that is held, with a layer or without.
fn writing_held(layered: bool) -> Fixture {
    let command = "sh -c 'echo b > src/b.txt; echo held > src/held.txt'";
    let script = turns(&format!(
        r#"
- calls: [{{ tool: execute_command, args: {{ command: "{command}" }} }}]
- calls: [{{ tool: attempt_completion, args: {{ result: "went on" }} }}]
"#
    ));
    let fixture = Fixture::with_policy(
        &script,
        &POLICY.replace("command(false)", &format!("command({command})")),
    );
    if layered { fixture } else { fixture.without_layer() }
}

#[test]
fn what_a_command_wrote_to_a_held_file_is_set_aside_until_a_person_decides() {
    for layered in [true, false] {
        let fixture = writing_held(layered);
        let paused = fixture.run();
        assert_eq!((paused.word(), paused.changed()), ("on-hold", vec!["src/b.txt"]), "{layered}");
        let held = paused.outcome.held.clone().unwrap();
        assert_eq!(held.verdicts[0].intent, "edit(src/held.txt)");
        assert!(held.headline.starts_with("run sh -c 'echo b"), "{}", held.headline);
        assert!(held.diff.unwrap().contains("+held"));
        assert_eq!((fixture.file("src/held.txt"), paused.outcome.needed_commits.len()), (None, 2));
        assert_eq!(fixture.resume().word(), "on-hold", "nobody said anything");

        decide(&fixture.journal, said(&held.id, PersonDecision::Approve), now()).unwrap();
        let ran = fixture.resume();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt", "src/held.txt"]));
        assert_eq!(fixture.file("src/held.txt").as_deref(), Some("held\n"));
        let approval = &ran.outcome.approved[0].approval;
        assert_eq!((approval.by.as_str(), approval.hold.as_str()), ("alice", held.id.as_str()));
        assert!(ran.outcome.refusals.is_empty() && ran.outcome.commands.len() == 1);
        assert!(
            ran.answers("execute_command")[0].contains("approved the changes of `src/held.txt`")
        );
    }
}

#[test]
fn what_is_denied_or_was_changed_by_somebody_else_meanwhile_stays_out() {
    for layered in [true, false] {
        let fixture = writing_held(layered);
        let id = hold_of(&fixture.run());
        let reason = "not that file".to_owned();
        decide(&fixture.journal, said(&id, PersonDecision::Deny { reason }), now()).unwrap();
        let ran = fixture.resume();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]));
        assert_eq!((fixture.file("src/held.txt"), ran.outcome.refusals.len()), (None, 1));
        let answers = ran.answers("execute_command");
        assert!(answers[0].contains("alice said no: not that file"), "{answers:?}");

        let fixture = writing_held(layered);
        let id = hold_of(&fixture.run());
        std::fs::write(fixture.root.join("src/held.txt"), "mine\n").unwrap();
        decide(&fixture.journal, said(&id, PersonDecision::Approve), now()).unwrap();
        let ran = fixture.resume();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]));
        assert_eq!(fixture.file("src/held.txt").as_deref(), Some("mine\n"));
        let answers = ran.answers("execute_command");
        assert!(answers[0].contains("somebody else changed `src/held.txt`"), "{answers:?}");
        let notes = &ran.outcome.notes;
        let note = "The approved changes of `src/held.txt` are not in the checkout, because";
        assert!(notes.len() == 1 && notes[0].starts_with(note), "{notes:?}");
    }
}

#[test]
fn a_kill_at_any_line_loses_nothing_that_is_held() {
    for layered in [true, false] {
        let lines = writing_held(layered).run().lines.len();
        for killed_at in 1..lines {
            let fixture = writing_held(layered);
            assert!(fixture.run_killed_at(killed_at).is_none());
            let paused = fixture.resume();
            // A command that was cut off is not run again; what it wrote counts all the same.
            if paused.word() == "on-hold" {
                decide(&fixture.journal, said(&hold_of(&paused), PersonDecision::Approve), now())
                    .unwrap();
                assert_eq!(fixture.resume().word(), "done", "killed at {killed_at}");
                assert_eq!(fixture.file("src/held.txt").as_deref(), Some("held\n"));
            }
            assert_eq!(fixture.file("src/held.txt").is_some(), fixture.file("src/b.txt").is_some());
        }
    }
}

#[test]
fn what_somebody_else_changed_while_a_command_wrote_to_it_is_not_set_aside() {
    let fixture = writing_held(true);
    let file = fixture.root.join("src/held.txt");
    let fixture = fixture.watched(move |event| {
        if !matches!(event, Event::Performing { .. }) {
            return;
        }
        let changed = |file: &Path| {
            std::fs::write(file, "mine\n").unwrap();
            std::fs::metadata(file).unwrap().modified().unwrap()
        };
        // The kernel's clock for files moves in steps.
        let first = changed(&file);
        while changed(&file) == first {}
    });
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]));
    assert_eq!(fixture.file("src/held.txt").as_deref(), Some("mine\n"));
    let answers = ran.answers("execute_command");
    assert!(answers[0].contains("somebody else changed it"), "{answers:?}");
}

/// Requests, or starts, that lead to a mode that a rule holds: each stops, is approved and goes on.
#[test]
fn a_held_mode_waits_for_a_person_wherever_it_is_come_into() {
    let held = format!("{POLICY}  - hold: \"mode(code)\"\n    reason: code needs a person\n");
    let direct = held.replace("modes: {", "modes: { switching: direct,");
    let alone = held.replace(" coordinator,", "");
    let parts = held.replace("modes: {", "modes: { delegation: { from: [ask] },");
    let write = r#"
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let call = |tool: &str, args: &str| {
        turns(&format!("- calls: [{{ tool: {tool}, args: {{ {args} }} }}]{write}"))
    };
    let coordinator = "  - mode: coordinator\n    turns:\n      - expect: { contains: [\"It may, \
                       after a person agreed, read\"] }\n        calls: [{ tool: coordinate_mode, \
                       args: { mode_slug: code, reason: \"to write\" } }]\n";
    let requested = call("request_mode_switch", "mode_slug: code, reason: x");
    let ways = [
        ("ask", &held, format!("{coordinator}{requested}"), "go on in code mode"),
        ("ask", &alone, requested.clone(), "go on in code mode"),
        ("ask", &direct, call("switch_mode", "mode_slug: code, reason: x"), "switch to code mode"),
        (
            "ask",
            &parts,
            format!(
                "  - contains: Part of it.\n    turns:\n{}  - turns:\n      - calls: [{{ tool: \
                 new_task, args: {{ mode: code, message: Part of it. }} }}]\n      - calls: [{{ tool: \
                 attempt_completion, args: {{ result: r }} }}]\n",
                turns(write).replace("  - turns:\n", "")
            ),
            "start a sub-task in code mode",
        ),
        ("code", &held, turns(write), "begin in code mode"),
    ];
    for (mode, policy, script, headline) in ways {
        let fixture = Fixture::with_policy(&script, policy).in_mode(mode);
        let paused = fixture.run();
        assert_eq!(paused.word(), "on-hold", "{headline}: {}", paused.reason());
        let held = paused.outcome.held.clone().unwrap();
        assert_eq!((held.headline.as_str(), held.mode.as_str()), (headline, mode));
        assert_eq!(held.verdicts[0].reason(), "code needs a person", "{headline}");
        let target = held.target.unwrap();
        let absent = ["generate_image", "web_fetch", "use_mcp_tool", "access_mcp_resource"];
        assert!(
            !absent.iter().any(|tool| target.tools.contains(&(*tool).to_owned())),
            "{target:?}"
        );
        assert_eq!(
            (target.slug.as_str(), target.tools.contains(&"write_to_file".to_owned())),
            ("code", true)
        );
        assert!(
            target.rights.contains("edit `src/**`") && target.role.contains("software engineer")
        );
        assert_eq!(fixture.file("src/b.txt"), None, "{headline}");

        let denied = PersonDecision::Deny { reason: "not today".to_owned() };
        let no = Fixture::with_policy(&script, policy).in_mode(mode);
        let id = hold_of(&no.run());
        decide(&no.journal, said(&id, denied), now()).unwrap();
        let ran = no.resume();
        assert_eq!((ran.changed(), no.file("src/b.txt")), (vec![], None), "{headline}");
        let told = ran.answers("request_mode_switch").concat()
            + &ran.answers("switch_mode").concat()
            + &ran.answers("new_task").concat()
            + ran.reason();
        assert!(told.contains("alice said no: not today"), "{headline}: {told}");

        decide(&fixture.journal, said(&held.id, PersonDecision::Approve), now()).unwrap();
        let ran = fixture.resume();
        assert_eq!(
            (ran.word(), ran.changed()),
            ("done", vec!["src/b.txt"]),
            "{headline}: {}",
            ran.reason()
        );
        let approved: Vec<&str> =
            ran.outcome.approved.iter().map(|call| call.approval.hold.as_str()).collect();
        assert_eq!(approved, [held.id.as_str()], "{headline}");
    }
    let refuses = held.replace("version: 1", "version: 1\non_hold: refuse");
    let ran = Fixture::with_policy(&requested, &refuses).in_mode("ask").run();
    assert_eq!((ran.changed(), ran.outcome.refusals.is_empty()), (vec![], false));
    assert!(ran.answers("request_mode_switch")[0].contains("code needs a person"));
}

#[test]
fn nobody_is_asked_for_what_cannot_be_done_anyway() {
    let held = format!("{POLICY}  - hold: \"mode(*)\"\n")
        .replace("modes: {", "modes: { switching: direct,");
    let script = turns(
        r#"
- calls: [{ tool: switch_mode, args: { mode_slug: ask, reason: x } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let fixture = Fixture::with_policy(&script, &held).in_mode("ask");
    let paused = fixture.run();
    let begin = paused.outcome.held.clone().unwrap();
    assert_eq!(begin.headline, "begin in ask mode");
    decide(&fixture.journal, said(&begin.id, PersonDecision::Approve), now()).unwrap();
    let ran = fixture.resume();
    assert!(ran.answers("switch_mode")[0].contains("Already in ask mode."), "{}", ran.reason());
}
