//! What a person changes while a run is at work, or after it was killed: it stays, and the report
//! says so.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::event::{Event, JournalLine};
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;

/// A run whose commands write to a layer, over a checkout with some more files.
fn contained(script: &str, settings: &str, files: &[(&str, &str)]) -> Fixture {
    let policy = POLICY.replace("\"edit(src/**)\"", "\"edit(src/**)\", \"edit(.gitignore)\"");
    let policy = format!("{policy}commands: {{ contained: allow{settings} }}\n");
    let fixture = Fixture::with_policy(&turns(script), &policy);
    for (file, text) in files {
        write(&fixture.root, file, text);
    }
    commit_all(&init(&fixture.root), "more");
    fixture
}

fn write(root: &Path, file: &str, text: &str) {
    std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
    std::fs::write(root.join(file), text).unwrap();
}

fn notes(ran: &Ran) -> String {
    ran.outcome.notes.join("\n")
}

const CUT_OFF: &str = r#"
- calls: [{ tool: execute_command, args: { command: "for f in a b new free; do echo run > src/$f.txt; done; rm src/gone.txt; echo run >> src/x.sh" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

#[test]
fn what_a_person_changed_after_a_kill_stays_when_the_session_is_resumed() {
    let fixture = || {
        let files = [("src/b.txt", "b\n"), ("src/gone.txt", "g\n"), ("src/x.sh", "x\n")];
        contained(CUT_OFF, "", &files)
    };
    let expected = fixture().run();
    let performing = |event: &Event| matches!(event, Event::Performing { .. });
    let at = expected.lines.iter().position(|line| performing(&line.event)).unwrap();
    // Killed before what the command wrote was judged, and after it.
    for is_judged in [false, true] {
        let killed = fixture();
        assert!(killed.run_killed_at(at + 2).is_none());
        let journal = killed.journal.join("journal.jsonl");
        let text = std::fs::read_to_string(&journal).unwrap();
        assert!(text.lines().last().unwrap().contains("promoting"), "{text}");
        if !is_judged {
            let lines: Vec<&str> = text.split_inclusive('\n').take(at + 1).collect();
            std::fs::write(&journal, lines.concat()).unwrap();
        }
        for file in ["src/a.txt", "src/new.txt", "src/gone.txt"] {
            write(&killed.root, file, "of a person\n");
        }
        std::fs::remove_file(killed.root.join("src/x.sh")).unwrap();
        write(&killed.root, "src/x.sh/inner", "of a person\n");
        let resumed = killed.resume();
        assert_eq!(resumed.word(), "done", "{}", resumed.reason());
        for file in ["src/a.txt", "src/new.txt", "src/gone.txt", "src/x.sh/inner"] {
            assert_eq!(killed.file(file).as_deref(), Some("of a person\n"), "{file} {is_judged}");
        }
        // Nobody else was there.
        for file in ["src/b.txt", "src/free.txt"] {
            assert_eq!(killed.file(file).as_deref(), Some("run\n"), "{file} {is_judged}");
        }
        let notes = notes(&resumed);
        assert!(notes.contains("Somebody else changed `src/gone.txt`"), "{notes}");
        assert!(notes.contains("`src/a.txt`, `src/new.txt` while"), "{notes}");
        assert!(notes.contains("in the way: `src/x.sh`"), "{notes}");
    }
}

/// Lets a person do something after a command began.
fn meanwhile(fixture: Fixture, act: impl Fn(&Path) + 'static) -> Fixture {
    let (root, layer) = (fixture.root.clone(), fixture.journal.join("layers/run"));
    fixture.watched(move |event| {
        if !matches!(event, Event::Performing { .. }) {
            return;
        }
        let changed = |name: &str| {
            let facts = std::fs::metadata(layer.join(name)).unwrap();
            (facts.ctime(), facts.ctime_nsec())
        };
        std::fs::write(layer.join("now"), "").unwrap();
        // The kernel's clock for files moves in steps.
        while changed("now") <= changed("began") {
            std::fs::write(layer.join("now"), "").unwrap();
        }
        act(&root);
    })
}

#[test]
fn files_of_a_folder_that_a_person_puts_in_place_are_not_written_over() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for f in a new; do echo run > src/$f.txt; done; rm src/gone.txt; echo run > notes.md" } }]
- expect: { contains: ["Somebody else changed", "Files changed: notes.md"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let fixture = contained(script, "", &[("src/gone.txt", "g\n"), ("src/deep/b.txt", "b\n")]);
    let aside = fixture.root.with_file_name("aside");
    for file in ["a.txt", "gone.txt", "new.txt"] {
        write(&aside, file, "of a person\n");
    }
    let fixture = meanwhile(fixture, move |root| {
        std::fs::rename(root.join("src"), aside.with_file_name("before")).unwrap();
        std::fs::rename(&aside, root.join("src")).unwrap();
    });
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["notes.md"]), "{}", ran.reason());
    for file in ["src/a.txt", "src/gone.txt", "src/new.txt"] {
        assert_eq!(fixture.file(file).as_deref(), Some("of a person\n"), "{file}");
    }
    let notes = notes(&ran);
    assert!(notes.contains("`src/gone.txt`, `src/a.txt`, `src/new.txt` while"), "{notes}");
}

#[test]
fn build_output_is_not_written_over_what_a_person_changed() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for f in a b c; do echo run > dist/$f; done" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let files = [(".gitignore", "dist/\n"), ("dist/a", "old\n"), ("dist/b", "old\n")];
    let fixture = contained(script, ", outputs: [dist]", &files);
    let fixture = meanwhile(fixture, |root| write(root, "dist/a", "of a person\n"));
    let ran = fixture.run();
    let read = |file: &str| fixture.file(file).unwrap();
    assert_eq!(["dist/a", "dist/b", "dist/c"].map(read), ["of a person\n", "run\n", "run\n"]);
    let notes = notes(&ran);
    assert!(notes.contains("`dist/a` (somebody else changed it since the run began)"), "{notes}");
    assert!(!notes.contains("dist/b"), "{notes}");
}

const NO_LONGER_IGNORED: &str = r#"
- calls: [{ tool: execute_command, args: { command: "for d in src/out build; do mkdir $d; echo built > $d/o; done" } }]
- calls: [{ tool: execute_command, args: { command: "for f in .gitignore; do echo '!keep.log' > $f; echo more > src/keep.log; done" } }]
- expect: { contains: ["Files changed: .gitignore, src/keep.log, src/out/o", "build/o"] }
  calls: [{ tool: execute_command, args: { command: "for f in src/keep.log src/out/o; do cat $f; done" } }]
- expect: { contains: ["more\nbuilt"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

fn with_ignored_files(script: &str) -> Fixture {
    contained(script, "", &[(".gitignore", "*.log\n/build/\n/src/out/\n")])
}

/// Reads what is kept of a path, by any call.
fn kept(fixture: &Fixture, file: &str) -> Vec<String> {
    let folders = std::fs::read_dir(fixture.journal.join("layers/run/kept")).into_iter().flatten();
    let files = folders.map(|folder| folder.unwrap().path().join(file));
    files.filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn what_a_command_stops_ignoring_is_judged_with_it_and_not_lost() {
    let whole = with_ignored_files(NO_LONGER_IGNORED);
    let expected = whole.run();
    let changed = vec![".gitignore", "src/keep.log", "src/out/o"];
    assert_eq!((expected.word(), expected.changed()), ("done", changed.clone()));
    assert_eq!(kept(&whole, "build/o"), ["built\n"], "the policy does not allow it");
    assert_eq!(expected.outcome.refusals.len(), 1);
    let is_performing = |line: &JournalLine| matches!(line.event, Event::Performing { .. });
    let second = expected.lines.iter().rposition(is_performing).unwrap();
    let second = expected.lines[..second].iter().rposition(is_performing).unwrap();
    let mut at = second + 2;
    while !is_performing(&expected.lines[at - 1]) {
        let killed = with_ignored_files(NO_LONGER_IGNORED);
        assert!(killed.run_killed_at(at).is_none());
        let resumed = killed.resume();
        assert_eq!((resumed.word(), resumed.changed()), ("done", changed.clone()), "{at}");
        assert_eq!((killed.tree(), kept(&killed, "build/o").len()), (whole.tree(), 1), "{at}");
        assert_eq!(resumed.outcome.refusals.len(), 1, "{at}");
        at += 1;
    }
}

#[test]
fn what_an_edit_stops_ignoring_is_judged_with_it() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for d in src/out build; do mkdir $d; echo built > $d/o; done" } }]
- calls: [{ tool: read_file, args: { path: .gitignore } }]
- calls: [{ tool: write_to_file, args: { path: .gitignore, content: "/build/\n" } }]
- expect: { contains: ["src/out/o"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let whole = with_ignored_files(script);
    let expected = whole.run();
    let changed = vec![".gitignore", "src/out/o"];
    assert_eq!((expected.word(), expected.changed()), ("done", changed.clone()));
    assert_eq!((whole.file("build/o"), notes(&expected).as_str()), (None, ""));
    let is_performing = |line: &JournalLine| matches!(line.event, Event::Performing { .. });
    let edit = expected.lines.iter().rposition(is_performing).unwrap();
    for at in edit + 1..=edit + 3 {
        let killed = with_ignored_files(script);
        assert!(killed.run_killed_at(at).is_none());
        let resumed = killed.resume();
        assert_eq!((resumed.word(), resumed.changed()), ("done", changed.clone()), "{at}");
        assert_eq!(killed.tree(), whole.tree(), "{at}");
    }
}

#[test]
fn what_a_person_stops_ignoring_is_kept_with_the_session_and_the_report_says_so() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for d in src/out; do mkdir $d; echo built > $d/o; done" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let fixture = with_ignored_files(script);
    let is_last = |event: &Event| matches!(event, Event::TaskEnded { .. });
    let fixture = fixture.meanwhile(is_last, (".gitignore", "#\n"));
    let ran = fixture.run();
    assert_eq!(
        (kept(&fixture, "src/out/o"), fixture.file("src/out/o")),
        (vec!["built\n".to_owned()], None)
    );
    let notes = notes(&ran);
    assert!(notes.contains("Kept out of the checkout: `src/out/o`. Git does not"), "{notes}");
}

#[test]
fn a_file_whose_name_is_not_taken_is_kept_and_the_report_says_where() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for f in $(echo n); do mv src/a.txt \"src/$f\n.txt\"; echo x > src/~x; done" } }]
- expect: { contains: ["Kept out of the checkout", "Files changed: src/a.txt, src/~x"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let fixture = contained(script, "", &[]);
    let ran = fixture.run();
    let changed = vec!["src/a.txt", "src/~x"];
    assert_eq!((ran.word(), ran.changed()), ("done", changed), "{}", ran.reason());
    assert_eq!(kept(&fixture, "src/n\n.txt"), ["one\ntwo\nthree\n"]);
    assert_eq!(kept(&fixture, "src/~x"), Vec::<String>::new());
    let notes = notes(&ran);
    assert!(notes.contains("What the command wrote is in `"), "{notes}");
}
