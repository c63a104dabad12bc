//! The policy's checks, run when the root task says that it is done.

use std::os::unix::fs::PermissionsExt;

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::event::Event;
use locum_agent::session::outcome::{CheckEnd, CheckReport};
use locum_sandbox::exec::Exit;
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;

/// Succeeds once the file says so, and writes to the checkout whatever it finds.
const CHECK: &str = "#!/bin/sh\necho checked >> src/steps.txt\necho spoiled > src/a.txt\n\
                     echo looked at it\ngrep -q good src/b.txt\n";

fn write(text: &str) -> String {
    format!(
        "- calls: [{{ tool: write_to_file, args: {{ path: src/b.txt, content: \"{text}\\n\" }} }}]\n"
    )
}

fn end(arguments: &str) -> String {
    format!("- calls: [{{ tool: attempt_completion, args: {{ result: r{arguments} }} }}]\n")
}

const HANDED_BACK: &str =
    "- expect: { contains: [\"was not ended\", \"./step.sh\", \"looked at it\"] }\n  calls: ";

/// A turn that reads the failed check and writes.
fn repair(text: &str) -> String {
    write(text).replacen("- calls: ", HANDED_BACK, 1)
}

fn fixture(script: &str, extra: &str) -> Fixture {
    let policy = format!("{POLICY}\npublish: {{ success: [\"./step.sh\"] }}\n{extra}");
    let fixture = Fixture::with_policy(&turns(script), &policy);
    let step = fixture.root.join("step.sh");
    std::fs::write(&step, CHECK).unwrap();
    std::fs::set_permissions(&step, std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture
}

fn checked(ran: &Ran) -> Vec<(bool, bool)> {
    let round = |event: &Event| match event {
        Event::Checked { checks, handed_back, .. } => {
            Some((checks.iter().all(CheckReport::succeeded), *handed_back))
        }
        _other => None,
    };
    ran.lines.iter().filter_map(|line| round(&line.event)).collect()
}

#[test]
fn a_failed_check_goes_back_to_the_model_and_nothing_it_wrote_stays() {
    let script = [write("bad"), end(""), repair("good"), end("")].concat();
    for layered in [true, false] {
        let fixture = fixture(&script, "");
        let fixture = if layered { fixture } else { fixture.without_layer() };
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
        assert_eq!(checked(&ran), [(false, true), (true, false)]);
        assert_eq!(ran.outcome.checks[0].end, CheckEnd::Exited(Exit::Code(0)));
        assert!(!ran.outcome.unchecked && ran.outcome.commands.is_empty());
        assert_eq!(fixture.file("src/steps.txt"), None, "layered: {layered}");
        assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    }
}

#[test]
fn a_check_may_belong_to_a_folder() {
    let script = [write("good"), end("")].concat();
    for (check, end_word) in [("cd src && ls b.txt", "done"), ("cd src && ls src", "checks-failed")]
    {
        let policy = format!("{POLICY}\npublish: {{ success: [\"{check}\"] }}\n")
            .replace("command(touch:*)", "command(ls:*)");
        let ran = Fixture::with_policy(&turns(&script), &policy).run();
        assert_eq!(ran.word(), end_word, "{}", ran.reason());
    }
    for refused in
        ["cd src; ls && ls", "cd .. && ls", "cd a b && ls", "cd src && ls && ls", "ls | wc"]
    {
        let policy = format!("{POLICY}\npublish: {{ success: [\"{refused}\"] }}\n");
        let errors = locum_policy::Policy::parse(&policy, "p").unwrap_err().to_string();
        assert!(errors.contains("`cd FOLDER && COMMAND` runs one command"), "{refused}: {errors}");
    }
}

#[test]
fn a_check_that_stays_red_ends_the_run_after_two_tries() {
    let script = [write("bad"), end(""), repair("worse"), end(""), repair("worst"), end("")];
    let ran = fixture(&[script.concat(), end("")].concat(), "").run();
    assert_eq!(checked(&ran), [(false, true), (false, true), (false, false)]);
    assert_eq!((ran.word(), ran.reason()), ("checks-failed", "the check `./step.sh` failed"));
    assert_eq!(ran.outcome.checks[0].output, "looked at it");
    assert_eq!(ran.outcome.summary, "r");
}

#[test]
fn a_check_is_not_handed_back_where_nobody_can_repair() {
    let again = [repair("good"), end("")].concat();
    for (script, extra) in [
        // The script has no further reply.
        ([write("bad"), end("")].concat(), ""),
        ([write("bad"), end(""), again.clone()].concat(), "budget: { turns: 3 }"),
        ([write("bad"), end(""), again].concat(), "budget: { tool_calls: 3 }"),
    ] {
        let ran = fixture(&script, extra).run();
        assert_eq!((ran.word(), checked(&ran)), ("checks-failed", vec![(false, false)]), "{extra}");
    }
}

#[test]
fn checks_run_on_what_a_model_calls_done_or_partly_done() {
    for (script, word, rounds) in [
        ([write("bad"), end(", status: partial"), end("")].concat(), "partial", 1),
        ([write("good"), end(", status: partial")].concat(), "partial", 1),
        ([write("bad"), end(", status: failed")].concat(), "failed", 0),
        (end(""), "nothing-to-do", 0),
    ] {
        let ran = fixture(&script, "").run();
        assert_eq!((ran.word(), checked(&ran).len()), (word, rounds), "{script}");
        assert_eq!(ran.outcome.checks.len(), rounds, "{script}");
    }
}

#[test]
fn a_failed_check_names_the_files_that_commands_see_as_empty() {
    let script = [write("bad"), end(""), end(", status: partial")].concat();
    for (hidden, said) in [(true, "commands see as empty `src/.env`.)"), (false, "looked at it")] {
        let fixture = fixture(&script, "");
        if hidden {
            std::fs::write(fixture.root.join("src/.env"), "KEY=x\n").unwrap();
        }
        commit_all(&init(&fixture.root), "all of it");
        let ran = fixture.run();
        assert!(ran.outcome.checks[0].output.ends_with(said), "{:?}", ran.outcome.checks);
    }
}

#[test]
fn a_failed_check_is_not_asked_again_about_files_that_did_not_change() {
    let partial = end(", status: partial");
    let handed_back = partial.replacen("- calls: ", HANDED_BACK, 1);
    let ran = fixture(&[write("bad"), end(""), handed_back].concat(), "").run();
    assert_eq!((ran.word(), checked(&ran)), ("partial", vec![(false, true)]));
    assert_eq!(ran.outcome.checks.len(), 1, "{:?}", ran.outcome.checks);
}

#[test]
fn a_check_that_may_not_run_is_said_to_be_one() {
    let policy = format!("{POLICY}\npublish: {{ success: [\"touch src/c.txt\", \"cargo test\"] }}");
    let script = turns(&[write("good"), end(""), end("")].concat());
    let ran = Fixture::with_policy(&script, &policy).run();
    assert_eq!(ran.word(), "checks-failed");
    assert!(ran.reason().starts_with("the check `cargo test` could not run: "), "{}", ran.reason());
    assert!(matches!(ran.outcome.checks[1].end, CheckEnd::NotStarted(_)));
    assert_eq!(ran.outcome.checks[0].end, CheckEnd::Exited(Exit::Code(0)));
}

#[test]
fn a_check_that_exits_with_0_and_runs_no_test_is_shown_as_what_it_is() {
    for count in [0, 1] {
        let fixture = fixture(&[write("good"), end("")].concat(), "");
        let step = format!("#!/bin/sh\necho 'Ran {count} tests in 0.000s'\necho OK\n");
        std::fs::write(fixture.root.join("step.sh"), step).unwrap();
        let ran = fixture.run();
        assert_eq!((ran.word(), checked(&ran)), ("done", vec![(true, false)]));
        let report = &ran.outcome.checks[0];
        assert_eq!(report.end == CheckEnd::NoTests, count == 0, "{report:?}");
    }
}

#[test]
fn a_kill_at_any_line_of_a_check_changes_nothing() {
    let script = [write("bad"), end(""), repair("good"), end("")].concat();
    for layered in [true, false] {
        let make = || {
            let fixture = fixture(&script, "");
            if layered { fixture } else { fixture.without_layer() }
        };
        let whole = make().run();
        let begins = |event: &Event| matches!(event, Event::Checking { .. });
        let at = whole.lines.iter().position(|line| begins(&line.event)).unwrap();
        for lines in at..=whole.lines.len() {
            let fixture = make();
            assert!(fixture.run_killed_at(lines).is_none(), "{lines}");
            if lines == at + 1 && !layered {
                // What a check wrote that was killed with the run.
                std::fs::write(fixture.root.join("src/steps.txt"), "checked\n").unwrap();
                std::fs::write(fixture.root.join("src/a.txt"), "spoiled\n").unwrap();
            }
            let resumed = fixture.resume();
            assert_eq!(
                (resumed.word(), resumed.changed()),
                ("done", vec!["src/b.txt"]),
                "layered {layered}, killed at {lines}: {}",
                resumed.reason()
            );
            assert_eq!(checked(&resumed), checked(&whole), "killed at {lines}");
            assert_eq!(fixture.file("src/steps.txt"), None, "killed at {lines}");
            assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
        }
    }
}

#[test]
fn what_checks_changed_is_taken_back_by_the_next_run_where_this_one_cannot_find_it_out() {
    let fixture = fixture(&[write("good"), end("")].concat(), "").without_layer();
    let index = fixture.root.join(".git/index");
    let whole = std::fs::read(&index).unwrap();
    let (broken, once) = (index.clone(), std::cell::Cell::new(true));
    let fixture = fixture.watched(move |event| {
        if matches!(event, Event::Checking { .. }) && once.take() {
            std::fs::write(&broken, "no index").unwrap();
        }
    });
    let ran = fixture.run();
    assert_eq!(ran.word(), "failed");
    assert!(
        ran.reason().contains("what the checks changed cannot be found out"),
        "{}",
        ran.reason()
    );
    std::fs::write(&index, whole).unwrap();
    let ran = fixture.resume();
    assert_eq!(ran.word(), "done", "{}", ran.reason());
    assert_eq!(fixture.file("src/steps.txt"), None);
}

#[test]
fn a_run_that_is_stopped_during_its_checks_leaves_nothing_of_them() {
    let fixture = fixture(&[write("bad"), end("")].concat(), "").without_layer();
    let step = "#!/bin/sh\necho checked > src/steps.txt\nsleep 600\n";
    std::fs::write(fixture.root.join("step.sh"), step).unwrap();
    let written = fixture.root.join("src/steps.txt");
    let ran = fixture.run_cancelled_at(|event| matches!(event, Event::Checking { .. }));
    assert_eq!((ran.word(), ran.changed()), ("cancelled", vec!["src/b.txt"]));
    assert!(ran.reason().ends_with("while the checks ran"), "{}", ran.reason());
    assert!(!written.exists() && ran.outcome.checks.is_empty());
}

#[test]
fn a_change_that_nothing_checked_is_said_to_be_one() {
    let run = |command: &str| {
        format!("- calls: [{{ tool: execute_command, args: {{ command: \"{command}\" }} }}]\n")
    };
    for (script, unchecked) in [
        ([write("b"), end("")].concat(), true),
        ([write("b"), run("./step.sh"), end("")].concat(), false),
        ([run("./step.sh"), write("b"), end("")].concat(), true),
        // Looking is no check, and neither is what writes.
        ([write("b"), run("ls src"), end("")].concat(), true),
        ([write("b"), run("touch src/c.txt"), end("")].concat(), true),
        ([write("b"), run("mkdir -p src/d"), end("")].concat(), true),
        // What did not start checked nothing.
        ([write("b"), run("flake8-is-not-here src"), end("")].concat(), true),
        ([write("b"), run("pytest-is-not-here -q; ./step.sh"), end("")].concat(), false),
        ([write("b"), run("ls nothing-here && ./step.sh"), end("")].concat(), true),
        (end(""), false),
    ] {
        let more = ["ls:*", "mkdir:*", "flake8-is-not-here:*", "pytest-is-not-here:*"];
        let more = more.map(|command| format!("\"command({command})\"")).join(", ");
        let policy = POLICY.replace("\"command(false)\"", &more);
        let fixture = Fixture::with_policy(&turns(&script), &policy);
        std::fs::write(fixture.root.join("step.sh"), "#!/bin/sh\nexit 1\n").unwrap();
        let ran = fixture.run();
        assert_eq!(ran.outcome.unchecked, unchecked, "{script}: {:?}", ran.outcome.commands);
    }
}
