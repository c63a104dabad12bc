//! Commands in the background, in a run: a server under test, and how they end.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::command_report::BackgroundEnd;
use locum_agent::session::event::Event;
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;

/// Answers every connection with what a file holds, and notes it in the checkout.
const SERVER: &str = r#"
use Socket; $| = 1;
socket(L, AF_INET, SOCK_STREAM, 0) or die $!; setsockopt(L, SOL_SOCKET, SO_REUSEADDR, 1);
bind(L, sockaddr_in(4000, INADDR_LOOPBACK)) or die $!; listen(L, 5) or die $!;
print "listening\n";
while (accept(C, L)) {
    open(F, "<", "src/a.txt"); local $/; my $text = <F>; close F;
    open(N, ">>", "src/served.txt"); print N "x"; close N;
    syswrite C, "page: $text"; close C; print "served\n";
}
"#;

const CLIENT: &str = r#"
use Socket;
socket(S, AF_INET, SOCK_STREAM, 0) or die $!;
connect(S, sockaddr_in(4000, INADDR_LOOPBACK)) or die "no server: $!";
local $/; print <S>;
"#;

/// A task that lets another one go on in debug mode.
const COORDINATOR: &str = r#"  - mode: coordinator
    turns:
      - calls: [{ tool: coordinate_mode, args: { mode_slug: debug, reason: "r" } }]
"#;

fn fixture(script: &str) -> Fixture {
    fixture_of(&turns(script))
}

fn fixture_of(script: &str) -> Fixture {
    let policy = format!("{POLICY}commands: {{ contained: allow }}\n");
    let fixture = Fixture::with_policy(script, &policy);
    for (name, text) in [("server.pl", SERVER), ("client.pl", CLIENT)] {
        std::fs::write(fixture.root.join(name), text).unwrap();
    }
    commit_all(&init(&fixture.root), "a server");
    fixture
}

/// The commands of a report that were in the background.
fn in_background(ran: &Ran) -> Vec<(&str, BackgroundEnd)> {
    let commands = ran.outcome.commands.iter();
    commands.filter_map(|ran| Some((ran.command.as_str(), ran.background?))).collect()
}

#[test]
fn a_parent_is_told_what_failed_within_a_script_and_what_ran_in_the_background() {
    let fixture = fixture_of(
        r#"  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: debug, message: "m" } }]
      - expect: { contains: ["src`: exit 0, but `ls nope` exited with 2", "- `perl server.pl`: in the background, ended with its task"], not_contains: ["zzz src/a.txt` exited"] }
        calls: [{ tool: attempt_completion, args: { result: "r" } }]
  - mode: debug
    turns:
      - calls:
          - { tool: execute_command, args: { command: "perl server.pl", background: true } }
          - { tool: execute_command, args: { command: "ls nope; grep zzz src/a.txt; ls src" } }
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    )
    .in_mode("orchestrator");
    let ran = done(&fixture);
    assert_eq!(in_background(&ran), [("perl server.pl", BackgroundEnd::Task)]);
}

fn done(fixture: &Fixture) -> Ran {
    let ran = fixture.run();
    assert!(matches!(ran.word(), "done" | "nothing-to-do"), "{:?}", ran.reason());
    ran
}

#[test]
fn a_server_is_tried_changed_and_tried_again() {
    let fixture = fixture(
        r#"
- calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
- expect: { contains: ["Runs in the background as 1"] }
  calls: [{ tool: command_output, args: { id: 1, until: "listening" } }]
- expect: { contains: ["1 (`perl server.pl`) runs"] }
  calls: [{ tool: execute_command, args: { command: "perl client.pl" } }]
- expect: { contains: ["page: one"] }
  calls: [{ tool: read_file, args: { path: src/a.txt } }]
- calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "better\n" } }]
- calls: [{ tool: execute_command, args: { command: "perl client.pl" } }]
- expect: { contains: ["page: better"] }
  calls: [{ tool: BashOutput, args: { bash_id: 1 } }]
- expect: { contains: ["1 (`perl server.pl`) runs.", "served\nserved"], not_contains: ["listening"] }
  calls: [{ tool: stop_command, args: { id: 1 } }]
- expect: { contains: ["1 (`perl server.pl`) is over. Ended by signal 15 (SIGTERM)"] }
  calls: [{ tool: execute_command, args: { command: "perl client.pl" } }]
- expect: { contains: ["no server: Connection refused"] }
  calls: [{ tool: execute_command, args: { command: "touch src/more.txt" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = done(&fixture);
    // What the server wrote is no part of the change.
    assert_eq!(ran.changed(), ["src/a.txt", "src/more.txt"]);
    assert_eq!(fixture.file("src/served.txt"), None);
    assert_eq!(in_background(&ran), [("perl server.pl", BackgroundEnd::Stopped)]);
    let layers = std::fs::read_dir(fixture.journal.join("layers")).unwrap().flatten();
    let names: Vec<_> = layers.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["run"], "nothing is left of its own layer");
}

#[test]
fn it_sees_what_commands_built_and_ends_with_its_task() {
    let fixture = fixture(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/.gitignore, content: "out\n" } }]
- calls: [{ tool: execute_command, args: { command: "echo built > src/out" } }]
- calls: [{ tool: execute_command, args: { command: "cat src/out; perl server.pl", run_in_background: true } }]
- expect: { contains: ["Runs in the background as 1"] }
  calls: [{ tool: command_output, args: { id: 1, until: "listening" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let (root, seen) = (fixture.root.clone(), Rc::new(Cell::new(0)));
    let (watched, counted) = (root.clone(), Rc::clone(&seen));
    let fixture = fixture.watched(move |event| {
        if matches!(event, Event::Answered { tool, .. } if tool == "command_output") {
            counted.set(processes_in(&watched));
        }
    });
    let ran = done(&fixture);
    let output =
        [ran.answers("execute_command"), ran.answers("command_output")].concat().join("\n");
    assert!(output.contains("built"), "{output}");
    assert!(seen.get() > 0, "it ran while the task did");
    assert_eq!(processes_in(&root), 0, "and not longer");
}

/// Returns how many processes work in a folder.
fn processes_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let places = entries.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(folder)).count()
}

#[test]
fn it_ends_when_the_task_comes_into_another_mode() {
    let fixture = fixture_of(&format!(
        "{COORDINATOR}{}",
        turns(
            r#"
- calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
- calls: [{ tool: command_output, args: { id: 1, until: "listening" } }]
- calls: [{ tool: request_mode_switch, args: { mode_slug: debug, reason: "r" } }]
- calls: [{ tool: execute_command, args: { command: "perl client.pl" } }]
- expect: { contains: ["no server"] }
  calls: [{ tool: command_output, args: { id: 1 } }]
- expect: { contains: ["There is no command 1 in the background. None runs"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
        )
    ));
    let ran = done(&fixture);
    let said = ran.answers("request_mode_switch").join("\n");
    assert!(said.contains("The commands in the background end with this mode."), "{said}");
}

#[test]
fn what_ends_at_once_is_answered_whole_and_known_as_a_command_in_the_background() {
    let fixture = fixture(
        r#"
- calls: [{ tool: execute_command, args: { command: "echo why; exit 3", background: true } }]
- expect: { contains: ["It has ended already. Exit code: 3", "What it writes in the checkout is thrown away", "why"] }
  calls: [{ tool: execute_command, args: { command: "perl gone.pl", background: true } }]
- expect: { contains: ["It has ended already. Exit code: 2", "gone.pl"] }
  calls: [{ tool: stop_command, args: { id: 1 } }]
- expect: { contains: ["1 (`echo why; exit 3`) has ended. Exit code: 3. Its output was shown."] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = done(&fixture);
    let ended = ran.outcome.commands.iter().map(|ran| (ran.command.as_str(), ran.end()));
    assert_eq!(
        ended.collect::<Vec<_>>(),
        [
            ("echo why; exit 3", "in the background, exit 3".to_owned()),
            ("perl gone.pl", "in the background, exit 2".to_owned())
        ]
    );
}

#[test]
fn there_are_four_at_most_and_bad_numbers_are_told() {
    let start = |number: usize| {
        format!(
            r#"
- calls: [{{ tool: execute_command, args: {{ command: "sleep 100{number}; true", background: true }} }}]"#
        )
    };
    let fixture = fixture(&format!(
        r#"{}
- expect: {{ contains: ["4 commands run in the background already", "1 (`sleep 1000; true`), 2 (`sleep 1001; true`)"] }}
  calls: [{{ tool: stop_command, args: {{ id: 2 }} }}]
- calls: [{{ tool: execute_command, args: {{ command: "sleep 1000; true", background: true }} }}]
- expect: {{ contains: ["Runs in the background as 5"] }}
  calls: [{{ tool: command_output, args: {{ id: 2 }} }}]
- expect: {{ contains: ["2 (`sleep 1001; true`) is over. Ended by signal 15 (SIGTERM). Its output was shown. There are: 1 (`sleep 1000; true`), 3 (`sleep 1002; true`)"] }}
  calls: [{{ tool: command_output, args: {{}} }}]
- expect: {{ contains: ["`command_output` needs `id`"] }}
  calls: [{{ tool: command_output, args: {{ id: 1, wait: 1, until: never }} }}]
- expect: {{ contains: ["runs; `until` did not come in 1 s.", "(none)"] }}
  calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#,
        (0..5).map(start).collect::<String>()
    ));
    done(&fixture);
}

#[test]
fn what_has_ended_takes_no_place_and_says_how_it_ended_once_more() {
    let start = |code: usize| {
        format!(
            r#"
- calls: [{{ tool: execute_command, args: {{ command: "sleep 3; exit {code}", background: true }} }}]"#
        )
    };
    let fixture = fixture(&format!(
        r#"{}
- calls: [{{ tool: command_output, args: {{ id: 4, wait: 20, until: never }} }}]
- expect: {{ contains: ["4 (`sleep 3; exit 4`) has ended. Exit code: 4"] }}
  calls: [{{ tool: command_output, args: {{ id: 9 }} }}]
- expect: {{ contains: ["There are: 1 (`sleep 3; exit 1`) [has ended], 2 (`sleep 3; exit 2`) [has ended]"] }}
  calls: [{{ tool: execute_command, args: {{ command: "sleep 1000", background: true }} }}]
- expect: {{ contains: ["Runs in the background as 5"] }}
  calls: [{{ tool: command_output, args: {{ id: 4 }} }}]
- expect: {{ contains: ["4 (`sleep 3; exit 4`) has ended. Exit code: 4. Its output was shown."] }}
  calls: [{{ tool: command_output, args: {{ id: 1 }} }}]
- expect: {{ contains: ["1 (`sleep 3; exit 1`) has ended. Exit code: 1"] }}
  calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#,
        (1..=4).map(start).collect::<String>()
    ));
    done(&fixture);
}

#[test]
fn it_is_judged_like_any_command() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
- expect: { contains: ["The policy refused this call"] }
  calls: [{ tool: execute_command, args: { command: "sleep 1000", background: true } }]
- expect: { contains: ["Runs in the background as 1"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let ran = done(&Fixture::new(&turns(script)));
    assert_eq!(ran.outcome.refusals.len(), 1);
}

#[test]
fn without_a_layer_it_writes_nothing_in_the_checkout() {
    let fixture = fixture(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh", background: true } }]
- expect: { contains: ["It has ended already.", "src/steps.txt"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    )
    .without_layer();
    assert_eq!(done(&fixture).changed().len(), 0);
    assert_eq!(fixture.file("src/steps.txt"), None);
}

#[test]
fn a_run_that_was_cut_off_says_that_its_commands_are_gone() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
- calls: [{ tool: command_output, args: { id: 1, until: "listening" } }]
- calls: [{ tool: execute_command, args: { command: "perl server.pl", background: true } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let whole = fixture(script).run().lines.len();
    let mut told = 0;
    for lines in 3..whole {
        let killed = fixture(script);
        assert!(killed.run_killed_at(lines).is_none(), "line {lines}");
        let ran = killed.resume();
        assert_eq!(ran.word(), "nothing-to-do", "line {lines}: {:?}", ran.reason());
        assert_eq!(killed.file("src/served.txt"), None);
        let asked = ran.answers("command_output").concat();
        told += usize::from(asked.contains("There is no command 1 in the background."));
    }
    assert!(told > 0, "a kill between the start and the question");
}

#[test]
fn without_a_sandbox_around_it_it_is_refused() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "sleep 1000", background: true } }]
- expect: { contains: ["No command can go on in the background here: it takes the sandbox"] }
  calls: [{ tool: execute_command, args: { command: "sleep 0" } }]
- expect: { contains: ["Exit code: 0"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let policy = format!("{POLICY}commands: {{ sandbox: off }}\n");
    done(&Fixture::with_policy(&turns(script), &policy));
}
