//! Fast checks that the policy runs after edits.

use std::os::unix::fs::PermissionsExt;

use crate::session::fixture::{Fixture, POLICY, turns};
use locum_agent::session::event::Event;
use pretty_assertions::assert_eq;

/// Writes to the checkout, and fails where the file holds the word.
const STEP: &str = "#!/bin/sh\necho spoiled > src/a.txt\necho \"$1\" >> src/seen.txt\n\
                    echo \"$1 has a bad line\"\nseq 100\n! grep -q bad \"$1\"\n";

fn fixture(script: &str, after_edit: &str) -> Fixture {
    let policy = POLICY.replace("\"command(./step.sh)\"", "\"command(./step.sh:*)\"");
    let policy = format!("{policy}\ncommands: {{ after_edit: [{after_edit}] }}\n");
    let fixture = Fixture::with_policy(&turns(script), &policy);
    let step = fixture.root.join("step.sh");
    std::fs::write(&step, STEP).unwrap();
    std::fs::set_permissions(&step, std::fs::Permissions::from_mode(0o755)).unwrap();
    fixture
}

const WRITES: &str = r#"
- calls: [{ tool: write_to_file, args: { path: "src/b c.txt", content: "bad\n" } }]
- calls: [{ tool: write_to_file, args: { path: "src/b c.txt", content: "good\n" } }]
- calls: [{ tool: write_to_file, args: { path: notes.md, content: "bad\n" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;

const TEXTS: &str = r#"{ files: "**/*.txt", run: "./step.sh {file}" }"#;

#[test]
fn what_fails_comes_back_with_the_edit_and_what_it_wrote_does_not_stay() {
    let fixture = fixture(WRITES, TEXTS);
    let ran = fixture.run();
    let answers = ran.answers("write_to_file");
    assert!(
        answers[0].contains("The file is changed, and the check `./step.sh 'src/b c.txt'` fails")
            && answers[0].contains("src/b c.txt has a bad line\n1\n2\n")
            && answers[0].contains("\n19\n[...]")
            && !answers[0].contains("\n20\n"),
        "{}",
        answers[0]
    );
    assert!(!answers[1].contains("step.sh"), "one that succeeds says nothing: {}", answers[1]);
    assert!(!answers[2].contains("step.sh"), "another file: {}", answers[2]);
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["notes.md", "src/b c.txt"]));
    assert_eq!(fixture.file("src/seen.txt"), None);
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    assert!(ran.outcome.commands.is_empty() && ran.outcome.unchecked);
}

#[test]
fn a_check_that_no_rule_allows_is_not_run_and_says_so() {
    let ran = fixture(WRITES, r#"{ files: "**/*.txt", run: "make {file}" }"#).run();
    let answers = ran.answers("write_to_file");
    assert!(
        answers[0].contains("The check `make 'src/b c.txt'` could not run: "),
        "{}",
        answers[0]
    );
    assert_eq!(ran.word(), "done");
}

#[test]
fn nothing_runs_where_what_it_writes_would_stay() {
    let fixture = fixture(WRITES, TEXTS).without_layer();
    let ran = fixture.run();
    assert!(!ran.answers("write_to_file").concat().contains("step.sh"));
    assert_eq!((ran.word(), fixture.file("src/seen.txt")), ("done", None));
}

#[test]
fn a_kill_at_any_line_changes_nothing() {
    let whole = fixture(WRITES, TEXTS).run();
    let edits = |event: &Event| matches!(event, Event::Performing { .. });
    let at = whole.lines.iter().position(|line| edits(&line.event)).unwrap();
    for lines in at..at + 8 {
        let fixture = fixture(WRITES, TEXTS);
        assert!(fixture.run_killed_at(lines).is_none());
        let resumed = fixture.resume();
        assert_eq!(resumed.answers("write_to_file"), whole.answers("write_to_file"), "{lines}");
        assert_eq!(resumed.changed(), whole.changed(), "{lines}");
    }
}

/// The command, whether it succeeded, and what it wrote, of each check that is reported.
fn reported(ran: &crate::session::fixture::Ran) -> Vec<(&str, bool, bool)> {
    let checks = ran.outcome.edit_checks.iter();
    checks
        .map(|check| (check.command.as_str(), check.succeeded(), !check.output.is_empty()))
        .collect()
}

#[test]
fn the_last_check_of_a_file_that_stays_as_it_is_stands_in_the_report() {
    let (good, bad) = ("./step.sh src/b.txt", "./step.sh src/c.txt");
    let write = |path: &str, content: &str| {
        format!(
            "- calls: [{{ tool: write_to_file, args: {{ path: {path}, content: \"{content}\\n\" \
             }} }}]\n"
        )
    };
    let end = "- calls: [{ tool: attempt_completion, args: { result: r } }]\n".to_owned();
    let (b, c, mended) =
        (write("src/b.txt", "good"), write("src/c.txt", "bad"), write("src/c.txt", "fine"));
    for (script, expected, unchecked) in [
        (vec![b.clone()], vec![(good, true, false)], false),
        (vec![c.clone(), b.clone()], vec![(bad, false, true), (good, true, false)], false),
        (vec![c.clone(), mended], vec![(bad, true, false)], false),
        (vec![c.clone(), write("notes.md", "x")], vec![(bad, false, true)], true),
        (vec![write("notes.md", "x")], vec![], true),
    ] {
        let script = [script, vec![end.clone()]].concat().concat();
        let ran = fixture(&script, TEXTS).run();
        assert_eq!((ran.word(), reported(&ran)), ("done", expected), "{script}");
        assert_eq!(ran.outcome.unchecked, unchecked, "{script}");
        let report = locum_agent::report::summary::terminal(
            &ran.outcome,
            locum_agent::report::summary::DiffSection::LeftOut,
        );
        let failed = reported(&ran).iter().any(|(_, succeeded, _)| !succeeded);
        assert_eq!(report.contains("\u{274c} ./step.sh src/c.txt (exit 1)"), failed, "{report}");
        assert_eq!(report.contains("Last lines of"), failed, "{report}");
        assert_eq!(report.contains("No check ran after the last change."), unchecked, "{report}");
    }
}
