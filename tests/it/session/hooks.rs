//! Hooks around calls: what a kill at any line changes, and that calls are asked about once.

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::event::Event;
use locum_agent::tools::hooks::{HookEvent, HookFile};
use pretty_assertions::assert_eq;

/// Is against what names the secret file, says something of what was done, and writes to the
/// checkout.
const HOOK: &str = "#!/bin/sh\nquestion=$(cat)\necho spoiled > src/a.txt\ncase \"$question\" in\n\
                    *PostToolUse*) echo looked at it >&2; exit 2 ;;\n\
                    *new.txt*) exit 0 ;;\n*) echo not that file >&2; exit 2 ;;\nesac\n";

fn fixture(script: &str, hooks: &str) -> Fixture {
    let policy = POLICY.replace("\"command(./step.sh)\"", "\"command(sh step.sh)\"");
    let mut fixture = Fixture::with_policy(&turns(script), &policy);
    std::fs::write(fixture.root.join("step.sh"), HOOK).unwrap();
    let file = HookFile::parse(".claude/settings.json", hooks);
    assert!(file.mistakes.is_empty(), "{:?}", file.mistakes);
    fixture.hooks = file.hooks;
    fixture
}

const HOOKS: &str = r#"{ "hooks": {
  "PreToolUse": [{ "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "sh step.sh" }] }],
  "PostToolUse": [{ "matcher": "Write", "hooks": [{ "type": "command", "command": "sh step.sh" }] }]
} }"#;

const WRITES: &str = r#"
- calls:
    - { tool: write_to_file, args: { path: src/other.txt, content: "x\n" } }
    - { tool: write_to_file, args: { path: src/new.txt, content: "x\n" } }
    - { tool: read_file, args: { path: README.md } }
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;

fn asked(ran: &Ran) -> Vec<(HookEvent, bool)> {
    let asked = |event: &Event| match event {
        Event::HooksRan { event_name, stops, .. } => Some((*event_name, *stops)),
        _ => None,
    };
    ran.lines.iter().filter_map(|line| asked(&line.event)).collect()
}

#[test]
fn a_guard_blocks_one_call_and_lets_its_neighbour_pass_and_leaves_nothing_behind() {
    let fixture = fixture(WRITES, HOOKS);
    let ran = fixture.run();
    let answers = ran.answers("write_to_file");
    assert!(
        answers[0].starts_with("This call was not performed: the hook `sh step.sh` (.claude/settings.json:2) is against it: not that file."),
        "{}",
        answers[0]
    );
    assert!(
        answers[1].contains("The call was performed, and the hook `sh step.sh` (.claude/settings.json:3) is against it: looked at it"),
        "{}",
        answers[1]
    );
    assert_eq!(
        asked(&ran),
        [
            (HookEvent::PreToolUse, true),
            (HookEvent::PreToolUse, false),
            (HookEvent::PostToolUse, false)
        ]
    );
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/new.txt"]));
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(ran.outcome.refusals.len(), 1);
}

/// Is against what names the hidden file.
const GUARD: &str =
    "#!/bin/sh\ncase \"$(cat)\" in\n*hidden.txt*) echo guarded >&2; exit 2 ;;\nesac\n";

#[test]
fn a_guard_is_asked_about_a_link_and_what_it_leads_to() {
    let hooks = r#"{ "hooks": { "PreToolUse": [{ "matcher": "Read|Grep|Edit|Write",
  "hooks": [{ "type": "command", "command": "sh step.sh" }] }] } }"#;
    let script = r#"
- calls:
    - { tool: read_file, args: { path: src/notes.txt } }
    - { tool: read_file, args: { path: README.md } }
- calls: [{ tool: search_files, args: { path: src/notes.txt, regex: words } }]
- calls: [{ tool: search_and_replace, args: { path: src/notes.txt, search: words, replace: x } }]
- calls: [{ tool: write_to_file, args: { path: link/hidden.txt, content: "x\n" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let fixture = fixture(script, hooks);
    std::fs::write(fixture.root.join("step.sh"), GUARD).unwrap();
    std::fs::write(fixture.root.join("src/hidden.txt"), "some words\n").unwrap();
    std::os::unix::fs::symlink("hidden.txt", fixture.root.join("src/notes.txt")).unwrap();
    std::os::unix::fs::symlink("src", fixture.root.join("link")).unwrap();
    let ran = fixture.run();
    let read = ran.answers("read_file");
    assert!(read[0].contains("is against it: guarded"), "{}", read[0]);
    assert!(!read[1].contains("guarded"), "{}", read[1]);
    for tool in ["search_files", "search_and_replace", "write_to_file"] {
        let answer = ran.answers(tool).concat();
        assert!(answer.contains("guarded") && !answer.contains("some words"), "{tool}: {answer}");
    }
}

#[test]
fn a_kill_at_any_line_changes_nothing() {
    let whole = fixture(WRITES, HOOKS).run();
    for lines in 3..whole.lines.len() {
        let fixture = fixture(WRITES, HOOKS);
        assert!(fixture.run_killed_at(lines).is_none());
        let resumed = fixture.resume();
        assert_eq!(resumed.answers("write_to_file"), whole.answers("write_to_file"), "{lines}");
        assert_eq!((resumed.word(), resumed.changed()), (whole.word(), whole.changed()), "{lines}");
        assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"), "{lines}");
    }
}

#[test]
fn hooks_that_follow_a_command_leave_what_it_wrote_as_it_is() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "touch src/b.txt" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let hooks = r#"{ "hooks": { "PostToolUse": [{ "matcher": "Bash", "hooks": [
  { "type": "command", "command": "sh step.sh" }] }] } }"#;
    let whole = fixture(script, hooks).run();
    let answer = whole.answers("execute_command").remove(0);
    assert!(answer.contains("src/b.txt") && answer.contains("looked at it"), "{answer}");
    assert_eq!((whole.word(), whole.changed()), ("done", vec!["src/b.txt"]));
    let at = |event: &Event| matches!(event, Event::Promoting { .. });
    let promoting = whole.lines.iter().position(|line| at(&line.event)).unwrap();
    for lines in promoting + 1..whole.lines.len() {
        let fixture = fixture(script, hooks);
        assert!(fixture.run_killed_at(lines).is_none());
        let resumed = fixture.resume();
        assert_eq!(resumed.answers("execute_command").concat(), answer, "{lines}");
        assert_eq!(resumed.changed(), ["src/b.txt"], "{lines}");
        assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"), "{lines}");
    }
}

/// Says what it was asked, and is against a prompt that names the secret.
const GREETER: &str = "#!/bin/sh\nquestion=$(cat)\ncase \"$question\" in\n\
                       *SessionStart*) echo the branch is green ;;\n\
                       *Submit*secret*) echo keep it >&2; exit 2 ;;\n\
                       *Submit*) echo today is Thursday ;;\nesac\n";

const AT_THE_START: &str = r#"{ "hooks": {
  "SessionStart": [{ "matcher": "startup|resume", "hooks": [{ "type": "command", "command": "sh step.sh" }] }],
  "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "sh step.sh" }] }]
} }"#;

fn said(ran: &Ran) -> Vec<String> {
    let said = |event: &Event| match event {
        Event::Reminded { text, .. } => {
            let said = text.split("says: ").nth(1).unwrap();
            Some(said.trim_end().trim_end_matches('`').trim_end().to_owned())
        }
        _ => None,
    };
    ran.lines.iter().filter_map(|line| said(&line.event)).collect()
}

fn greeted() -> Fixture {
    let fixture = fixture(
        "\n- calls: [{ tool: read_file, args: { path: README.md } }]\n- calls: [{ tool: \
         attempt_completion, args: { result: r } }]\n",
        AT_THE_START,
    );
    std::fs::write(fixture.root.join("step.sh"), GREETER).unwrap();
    fixture
}

#[test]
fn what_hooks_print_at_the_start_is_read_before_the_first_reply_and_once() {
    let ran = greeted().run();
    assert_eq!(
        asked(&ran),
        [(HookEvent::SessionStart, false), (HookEvent::UserPromptSubmit, false)]
    );
    assert_eq!(said(&ran), ["the branch is green", "today is Thursday"]);
    let at = |is: fn(&Event) -> bool| ran.lines.iter().position(|line| is(&line.event)).unwrap();
    let last_said = ran.lines.iter().rposition(|line| matches!(line.event, Event::Reminded { .. }));
    assert!(last_said.unwrap() < at(|event| matches!(event, Event::Replied { .. })));
    assert_eq!(ran.word(), "nothing-to-do");
    // A prompt that was let pass is not asked about again, and a session that resumes begins anew.
    let replied = at(|event| matches!(event, Event::Replied { .. }));
    let fixture = greeted();
    assert!(fixture.run_killed_at(replied + 1).is_none());
    let resumed = fixture.resume();
    assert_eq!(
        asked(&resumed),
        [
            (HookEvent::SessionStart, false),
            (HookEvent::UserPromptSubmit, false),
            (HookEvent::SessionStart, false)
        ]
    );
    assert_eq!(resumed.word(), "nothing-to-do");
}
