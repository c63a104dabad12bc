//! Work of a person that is in no commit: whatever a command does to it, a checkpoint has it as it
//! was, and the report says so.

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use crate::support::stage::Stage;
use jiff::Timestamp;
use locum_agent::session::event::Event;
use locum_agent::session::rewind;
use locum_workspace::repo::Repo;
use pretty_assertions::assert_eq;

const CLEAN: &str = "one\ntwo\nthree\n";

const STEP: &str = "- calls: [{ tool: execute_command, args: { command: ./step.sh } }]\n- calls: \
                    [{ tool: attempt_completion, args: { result: r } }]\n";

fn with_step(turns_of: &str, step: &str) -> Fixture {
    let policy = format!("{POLICY}commands: {{ contained: allow }}\n");
    let fixture = Fixture::with_policy(&turns(turns_of), &policy);
    let script = format!("#!/bin/sh\n{step}\n");
    std::fs::write(fixture.root.join("step.sh"), script).unwrap();
    let repo = git2::Repository::open(&fixture.root).unwrap();
    locum_testing::repository::commit_all(&repo, "step");
    fixture
}

/// The same with commands that write to a layer, and with commands that write to the checkout.
fn in_both_worlds(step: &str) -> [Fixture; 2] {
    [with_step(STEP, step), with_step(STEP, step).without_layer()]
}

fn write(fixture: &Fixture, path: &str, text: &str) {
    std::fs::write(fixture.root.join(path), text).unwrap();
}

fn restore(fixture: &Fixture, number: usize) {
    let repo = Repo::open(&fixture.root).unwrap();
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    rewind::restore(&fixture.journal, &repo, number, "p", at).unwrap();
}

fn named(ran: &Ran) -> Vec<String> {
    let names = |note: &String| note.contains("in no commit").then(|| note.clone());
    ran.outcome.notes.iter().filter_map(names).collect()
}

#[test]
fn what_a_command_takes_away_or_writes_over_is_named_and_comes_back() {
    let step = "rm src/notes.txt; printf 'one\\ntwo\\nthree\\n' > src/a.txt; cp README.md \
                src/copy.txt; echo new > src/new.txt";
    for fixture in in_both_worlds(step) {
        write(&fixture, "src/notes.txt", "mine\n");
        write(&fixture, "src/a.txt", "mine too\n");
        write(&fixture, "src/copy.txt", "and mine\n");
        write(&fixture, "src/left.txt", "left alone\n");
        let ran = fixture.run();
        assert_eq!(
            (ran.word(), ran.changed()),
            ("done", vec!["src/copy.txt", "src/new.txt"]),
            "{}",
            ran.reason()
        );
        let note = "Commands changed or removed files that had changes in no commit: `src/a.txt`, \
                    `src/copy.txt`, `src/notes.txt`. Checkpoint 1 has them as they were: `locum \
                    session restore 0123456789abcdef 1`.";
        assert_eq!(ran.outcome.notes, [note]);
        let answer = ran.answers("execute_command").concat();
        assert!(answer.contains("Changes that somebody else made before"), "{answer}");
        restore(&fixture, 1);
        for (path, text) in [
            ("src/notes.txt", Some("mine\n")),
            ("src/a.txt", Some("mine too\n")),
            ("src/copy.txt", Some("and mine\n")),
            ("src/left.txt", Some("left alone\n")),
            ("src/new.txt", None),
        ] {
            assert_eq!(fixture.file(path).as_deref(), text, "{path}");
        }
    }
}

#[test]
fn a_run_that_only_takes_such_work_away_did_something() {
    for fixture in in_both_worlds("rm src/notes.txt") {
        write(&fixture, "src/notes.txt", "mine\n");
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed().len(), named(&ran).len()), ("done", 0, 1));
        assert_eq!(fixture.file("src/notes.txt"), None);
    }
}

#[test]
fn what_is_in_a_commit_or_the_run_s_own_is_not_named() {
    let script = format!(
        "- calls: [{{ tool: write_to_file, args: {{ path: src/b.txt, content: \"b\\n\" }} }}]\n{STEP}"
    );
    let step = "rm src/b.txt; echo four >> src/a.txt";
    for fixture in [with_step(&script, step), with_step(&script, step).without_layer()] {
        write(&fixture, "src/left.txt", "left alone\n");
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/a.txt"]), "{}", ran.reason());
        assert_eq!(ran.outcome.notes, Vec::<String>::new());
    }
}

#[test]
fn work_that_a_later_command_puts_back_is_not_named() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "for f in 1; do git -c user.name=n -c user.email=e stash -qu; done" } }]
- calls: [{ tool: execute_command, args: { command: "for f in 1; do git stash pop -q; done" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let fixture = with_step(script, "true");
    write(&fixture, "src/notes.txt", "mine\n");
    let ran = fixture.run();
    assert_eq!(fixture.file("src/notes.txt").as_deref(), Some("mine\n"));
    assert_eq!((ran.word(), named(&ran)), ("nothing-to-do", Vec::new()));
}

#[test]
fn work_that_a_command_moves_to_where_nothing_arrives_is_kept() {
    for to in ["src/notes.log", "$(printf 'src/n\\nx')"] {
        let fixture = with_step(STEP, &format!("mv src/notes.txt \"{to}\""));
        std::fs::write(fixture.root.join(".git/info/exclude"), "*.log\n").unwrap();
        write(&fixture, "src/notes.txt", "mine\n");
        let ran = fixture.run();
        assert_eq!((ran.word(), named(&ran).len()), ("done", 1), "{to}: {:?}", ran.outcome.notes);
        restore(&fixture, 1);
        assert_eq!(fixture.file("src/notes.txt").as_deref(), Some("mine\n"), "{to}");
    }
}

#[test]
fn what_is_too_large_for_git_is_copied_or_named_as_lost() {
    for (fixture, is_copied) in in_both_worlds("rm src/large").into_iter().zip([true, false]) {
        let large = std::fs::File::create(fixture.root.join("src/large")).unwrap();
        large.set_len(101 << 20).unwrap();
        let ran = fixture.run();
        let note = ran.outcome.notes.concat();
        assert!(note.contains("`src/large`"), "{note}");
        let copies = fixture.journal.join("taken-back");
        let copies = std::fs::read_dir(copies).into_iter().flatten().flatten();
        let copied = copies.filter(|label| label.path().join("src/large").exists()).count();
        assert_eq!(copied == 1, is_copied, "{note}");
    }
}

#[test]
fn a_held_change_of_such_work_leaves_it_until_a_person_decides() {
    for fixture in in_both_worlds("echo run > src/held.txt; echo n > src/new.txt") {
        write(&fixture, "src/held.txt", "mine\n");
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed()), ("on-hold", vec!["src/new.txt"]));
        assert_eq!(fixture.file("src/held.txt").as_deref(), Some("mine\n"));
    }
}

#[test]
fn a_denied_change_of_a_file_with_such_work_is_taken_back_to_it() {
    let step = "cp src/a.txt src/secret.txt; rm src/AGENTS.md; echo n > src/new.txt";
    for fixture in in_both_worlds(step) {
        write(&fixture, "src/secret.txt", "mine\n");
        write(&fixture, "src/AGENTS.md", "mine too\n");
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/new.txt"]), "{}", ran.reason());
        assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("mine\n"));
        assert_eq!(fixture.file("src/AGENTS.md").as_deref(), Some("mine too\n"));
        assert_eq!(named(&ran), Vec::<String>::new());
    }
}

/// Every file of a name below a folder.
fn files_named(name: &str, folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.map(|entry| entry.path());
    let below = |path: std::path::PathBuf| match path.is_dir() {
        true => files_named(name, &path),
        false => vec![path].into_iter().filter(|path| path.ends_with(name)).collect(),
    };
    entries.flat_map(below).collect()
}

#[test]
fn where_not_everything_can_be_brought_the_report_has_what_was() {
    let fixture = with_step(STEP, "echo run > src/a.txt; echo n > src/z.txt");
    let layers = fixture.journal.join("layers");
    let fixture = fixture.watched(move |event| {
        if matches!(event, Event::Promoting { .. }) {
            // What the command wrote there cannot be read any more.
            let written = files_named("z.txt", &layers).remove(0);
            std::fs::File::create(written).unwrap().set_len(101 << 20).unwrap();
        }
    });
    write(&fixture, "src/a.txt", "mine\n");
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("failed", vec!["src/a.txt"]), "{}", ran.reason());
    assert!(ran.outcome.fault && ran.reason().contains("could not all be brought"));
    assert!(!ran.reason().contains("recorded"), "{}", ran.reason());
    assert_eq!(named(&ran).len(), 1);
    assert_eq!(fixture.file("src/a.txt").as_deref(), Some("run\n"));
}

const STAGE_POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - \
                            allow: [\"read(**)\", \"edit(src/**)\"]\ncommands: { contained: \
                            allow, expansions: allow }\n";

/// A stash, something that ends the run, and the way back.
fn stashed(last: &str, arguments: &[&str]) -> (Stage, String, String) {
    let script = format!(
        r#"
version: 1
tasks:
  - turns:
      - calls: [{{ tool: execute_command, args: {{ command: "for f in 1; do git -c user.name=n -c user.email=e stash -qu; done" }} }}]
      - calls: [{{ tool: execute_command, args: {{ command: "{last}" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#
    );
    let stage = Stage::with(&[(".locum/policy.yml", STAGE_POLICY), ("src/a.txt", CLEAN)]);
    stage.write("checkout/src/notes.txt", "mine\n");
    stage.write("checkout/src/a.txt", "mine too\n");
    let ran = stage.play(&script, arguments);
    let session = stage.sessions().remove(0);
    (stage, session, ran.out)
}

#[test]
fn a_stash_is_there_for_a_run_that_is_resumed() {
    let (stage, session, out) =
        stashed("for f in 1; do git stash pop -q; done", &["--max-turns", "1"]);
    assert!(out.contains("locum session resume"), "{out}");
    assert!(!stage.path("checkout/src/notes.txt").exists());
    let ran = stage.run(&["session", "resume", &session, "--max-turns", "+9"]);
    assert_eq!(stage.read("checkout/src/notes.txt"), "mine\n", "{ran:?}");
    assert_eq!(stage.read("checkout/src/a.txt"), "mine too\n", "{ran:?}");
    assert!(!ran.out.contains("in no commit"), "{ran:?}");
}

#[test]
fn a_stash_that_goes_with_the_layer_is_named_and_takes_nothing_along() {
    let (stage, session, out) = stashed("for f in 1; do true; done", &[]);
    assert!(out.contains("Commands left a stash"), "{out}");
    assert!(out.contains("`src/a.txt`, `src/notes.txt`"), "{out}");
    let ran = stage.run(&["session", "restore", &session, "1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.read("checkout/src/notes.txt"), "mine\n");
    assert_eq!(stage.read("checkout/src/a.txt"), "mine too\n");
}

/// Runs commands one after the other; returns the session.
fn commands(stage: &Stage, commands: &[&str], arguments: &[&str]) -> String {
    let call = |command: &&str| {
        format!(
            "      - calls: [{{ tool: execute_command, args: {{ command: \"for f in 1; do {command}; \
             done\" }} }}]\n"
        )
    };
    let calls: String = commands.iter().map(call).collect();
    let end = "      - expect: { not_contains: [\"b.txt\"] }\n        calls: [{ tool: \
               attempt_completion, args: { result: \"r\" } }]\n";
    let ran = stage.play(&format!("version: 1\ntasks:\n  - turns:\n{calls}{end}"), arguments);
    assert!(ran.code.is_some(), "{ran:?}");
    stage.sessions().remove(0)
}

#[test]
fn what_a_person_commits_meanwhile_is_seen_by_a_run_that_is_resumed() {
    let stage = Stage::with(&[(".locum/policy.yml", STAGE_POLICY), ("src/b.txt", CLEAN)]);
    let look = "git status --porcelain";
    let session = commands(&stage, &["git status", look], &["--max-turns", "1"]);
    stage.write("checkout/src/b.txt", "theirs\n");
    stage.commit("theirs");
    let ran = stage.run(&["session", "resume", &session, "--max-turns", "+9"]);
    assert_eq!(ran.code, Some(0), "git sees nothing changed: {ran:?}");
}

#[test]
fn going_back_gives_each_file_the_work_that_it_held() {
    let files = [(".locum/policy.yml", STAGE_POLICY), ("src/a.txt", CLEAN), ("src/b.txt", CLEAN)];
    let stage = Stage::with(&files);
    for file in ["a.txt", "b.txt", "new.txt"] {
        stage.write(&format!("checkout/src/{file}"), "mine\n");
    }
    let each = ["echo run > src/a.txt", "echo run > src/b.txt", "rm src/new.txt", "true"];
    let session = commands(&stage, &each, &[]);
    for number in ["1", "0"] {
        let ran = stage.run(&["session", "restore", &session, number]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for file in ["a.txt", "b.txt", "new.txt"] {
            assert_eq!(stage.read(&format!("checkout/src/{file}")), "mine\n", "{number} {file}");
        }
    }
}

#[test]
fn build_output_of_a_run_that_is_resumed_is_brought_again() {
    let policy = STAGE_POLICY.replace("contained: allow,", "contained: allow, outputs: [dist],");
    let stage = Stage::with(&[(".locum/policy.yml", &policy), (".gitignore", "dist/\n")]);
    let build = ["mkdir -p dist; echo one > dist/app", "echo two > dist/app"];
    let session = commands(&stage, &build, &["--max-turns", "1"]);
    assert_eq!(stage.read("checkout/dist/app"), "one\n");
    let ran = stage.run(&["session", "resume", &session, "--max-turns", "+9"]);
    assert_eq!(stage.read("checkout/dist/app"), "two\n", "{ran:?}");
    assert!(!ran.out.contains("somebody else"), "{ran:?}");
}
