//! How commands ended, and what is shown of what they print, in a run: contained and judged by
//! their words.

use std::os::unix::fs::PermissionsExt as _;

use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::outputs::RESULT_LIMIT_BYTES;
use locum_agent::tools::hooks::HookFile;
use locum_sandbox::exec::Exit;
use locum_testing::repository::{commit_all, init};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::session::fixture::{Fixture, POLICY, turns};
use crate::support::stage::Stage;

const RULES: &str = "command(touch:*)";

/// A run in which these commands need no rule, or have one.
fn policy() -> String {
    let allowed = "\"command(ls:*)\", \"command(cat:*)\", \"command(seq:*)\", \"command(head:*)\", \
                   \"command(echo:*)\", \"command(true)\", \"command(flake8:*)\", \
                   \"command(touch:*)";
    POLICY.replace(&format!("\"{RULES}"), allowed)
}

fn commands(script: &str) -> [Fixture; 2] {
    let policy = policy();
    let contained = format!("{policy}commands: {{ contained: allow }}\n");
    [
        Fixture::with_policy(&turns(script), &contained),
        Fixture::with_policy(&turns(script), &policy).without_layer(),
    ]
}

/// `bash`, whose `echo` shows a `\\n` as it is.
#[test]
fn one_shell_runs_every_line_whatever_allows_it() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "echo 'a\\nb' && true" } }]
- expect: { contains: ["Output:\na\\nb"] }
  calls: [{ tool: execute_command, args: { command: "echo -e 'e\\tf' && true" } }]
- expect: { contains: ["Output:\ne\tf"] }
  calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    for fixture in commands(script) {
        let ran = fixture.run();
        let answers = ran.answers("execute_command");
        assert_eq!(ran.word(), "nothing-to-do", "{}: {answers:?}", ran.reason());
    }
}

/// `test -v` of `bash` looks up a name in which code can stand, and its `printf %n` sets a
/// variable.
#[test]
fn nothing_runs_that_bash_alone_would_make_of_words() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "test ${x:--v} 'a[$(touch src/planted)]'; echo on" } }]
- calls: [{ tool: execute_command, args: { command: "printf 'a%n' PATH; cat src/a.txt" } }]
- expect: { contains: ["one\ntwo"], not_contains: ["planted"] }
  calls: [{ tool: execute_command, args: { command: "test -f src/a.txt && [ -d src ] && printf '%s\\n' works" } }]
- expect: { contains: ["Output:\nworks"] }
  calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let allowed = "command(test:*)\", \"command([:*)\", \"command(printf:*)\", \"command(touch:*)";
    let policy = policy().replace(RULES, allowed) + "commands: { expansions: allow }\n";
    let fixture = Fixture::with_policy(&turns(script), &policy).without_layer();
    std::fs::create_dir(fixture.root.join("1")).unwrap();
    let program = fixture.root.join("1/cat");
    std::fs::write(&program, "#!/bin/sh\necho planted\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = fixture.run();
    let answers = ran.answers("execute_command");
    assert_eq!(ran.word(), "nothing-to-do", "{}: {answers:?}", ran.reason());
    assert!(answers[0].ends_with("on") && answers.len() == 3, "{answers:?}");
    assert_eq!(fixture.file("src/planted"), None);
}

#[test]
fn a_pipe_that_hides_a_failure_is_a_failure() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "ls nope 2>&1 | cat" } }]
- expect: { contains: ["Exit code: 2\nExit codes: `ls nope 2>&1`: 2 | `cat`: 0\n"] }
  calls: [{ tool: execute_command, args: { command: "ls nope | cat || true" } }]
- expect: { contains: ["Exit code: 0\nWorking"] }
  calls: [{ tool: execute_command, args: { command: "seq 1000000 | head -n 1 && echo next" } }]
- expect: { contains: ["Exit code: 0\nExit codes: `seq 1000000`: cut off by its reader | `head -n 1`: 0\n", "1\nnext"] }
  calls: [{ tool: execute_command, args: { command: "ls nope; echo x" } }]
- expect: { contains: ["Exit code: 0\nExit codes: `ls nope`: 2\n"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    for fixture in commands(script) {
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.outcome.refusals.len()), ("nothing-to-do", 0));
        let exits: Vec<Exit> = ran.outcome.commands.iter().map(|command| command.exit).collect();
        assert_eq!(exits, [2, 0, 0, 0].map(Exit::Code));
        assert_eq!(ran.outcome.commands[1].details.failed_steps, []);
    }
}

#[test]
fn a_program_that_did_not_start_is_named() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "flake8 src" } }]
- expect: { contains: ["id not start"] }
  calls: [{ tool: execute_command, args: { command: "flake8 src 2>&1 | head -n 3; echo done" } }]
- expect: { contains: ["Exit code: 0\nExit codes: `flake8 src 2>&1`: 127 | `head -n 3`: 0\nDid not start: `flake8`\n"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    for fixture in commands(script) {
        let ran = fixture.run();
        for command in &ran.outcome.commands {
            assert_eq!(command.details.not_started, ["flake8"], "{command:?}");
        }
        assert_eq!(ran.outcome.commands.len(), 2);
        assert_eq!(ran.outcome.commands[0].exit, Exit::Code(127));
    }
}

#[test]
fn a_long_answer_is_shortened_and_can_be_read_whole() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "seq 100000 109000" } }]
- expect: { contains: ["100000\n100001", "108999\n109000", "bytes left out; read_file shows all with the path output://1 ..."] }
  calls: [{ tool: read_file, args: { path: "output://1", offset: 5000, limit: 2 } }]
- expect: { contains: ["File: output://1", "5000 | 104996"] }
  calls: [{ tool: read_file, args: { path: "output://2" } }]
- expect: { contains: ["There is no `output://2` for this task"] }
  calls: [{ tool: read_file, args: { path: "output://x" } }]
- expect: { contains: ["There is no `output://x` for this task"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    for fixture in commands(script) {
        let ran = fixture.run();
        assert_eq!(ran.word(), "nothing-to-do");
        let answers = ran.answers("execute_command");
        assert!(answers[0].len() <= RESULT_LIMIT_BYTES, "{}", answers[0].len());
    }
}

#[test]
fn a_long_answer_that_is_an_error_is_shortened_too() {
    let name = vec!["x".repeat(200); 10].join("/");
    let files: Vec<String> =
        (0..18).map(|number| format!("{{ path: \"{name}{number}\" }}")).collect();
    let script = format!(
        r#"
- calls: [{{ tool: read_file, args: {{ path: "{name}", files: [{}] }} }}]
- calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#,
        files.join(", ")
    );
    let [fixture, _] = commands(&script);
    let ran = fixture.run();
    let answers = ran.answers("read_file");
    assert!(answers[0].contains("bytes left out; read_file shows all"), "{}", answers[0]);
    assert!(answers[0].len() <= RESULT_LIMIT_BYTES, "{}", answers[0].len());
}

#[test]
fn what_is_kept_of_a_long_answer_is_counted_rightly() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "seq 1 40000" } }]
- calls: [{ tool: search_files, args: { path: "output://1", regex: "^(2|3999)9$" } }]
- calls: [{ tool: read_file, args: { path: "output://1" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    // "Exit code" and "Output" stand before the 228,894 bytes of the output.
    let output: String = (1..=40_000).map(|line| format!("{line}\n")).collect();
    let left_out = |answer: &str| {
        let (head, rest) = answer.split_once("\n[... ").unwrap();
        let (count, rest) = rest.split_once(" bytes left out").unwrap();
        let tail = rest.split_once("...]\n").unwrap().1;
        let head = head.split_once("Output:\n").unwrap().1;
        (count.parse::<usize>().unwrap(), output.trim_end().len() - head.len() - tail.len() - 1)
    };
    let [whole, _] = commands(script);
    let ran = whole.run();
    let answer = ran.answers("execute_command").remove(0);
    let (said, is) = left_out(&answer);
    assert_eq!(said, is, "{answer}");
    let found = ran.answers("search_files").remove(0);
    assert!(found.contains("# output://1\n") && found.contains("| 39999"), "{found}");
    let read = ran.answers("read_file").remove(0);
    assert!(
        read.len() < RESULT_LIMIT_BYTES + 200 && read.contains("To read more"),
        "{}",
        read.len()
    );

    let bounded = format!("{}commands: {{ contained: allow, output: 64KiB }}\n", policy());
    let ran = Fixture::with_policy(&turns(script), &bounded).run();
    let answer = ran.answers("execute_command").remove(0);
    let (said, is) = left_out(&answer);
    assert!(said.abs_diff(is) <= 1, "{said} {is}");
    assert!(answer.contains("read_file shows all but "), "{answer}");
}

#[test]
fn caches_of_tools_that_exist_can_be_written_and_stay_as_they_are() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "python() { echo x > .pytest_cache/v && cat .pytest_cache/v; }; python" } }]
- expect: { contains: ["Exit code: 0", "Output:\nx"], not_contains: ["kept out"] }
  calls: [{ tool: execute_command, args: { command: "f() { echo x > .github/v; }; f" } }]
- expect: { contains: ["Exit code: 1"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let [fixture, _] = commands(script);
    for folder in [".pytest_cache", ".github"] {
        std::fs::create_dir(fixture.root.join(folder)).unwrap();
        std::fs::write(fixture.root.join(folder).join(".gitignore"), "*\n").unwrap();
    }
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.outcome.refusals.len()), ("nothing-to-do", 0));
    assert!(!fixture.root.join(".pytest_cache/v").exists());
}

#[test]
fn an_answer_that_was_shortened_can_be_read_after_a_resume() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "seq 100000 109000" } }]
- calls: [{ tool: read_file, args: { path: "output://1", offset: 9004, limit: 1 } }]
- expect: { contains: ["9004 | 109000"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let [whole, _] = commands(script);
    let answered = |line: &JournalLine| matches!(&line.event, Event::Answered { observation, .. } if observation.output.is_some());
    let at = whole.run().lines.iter().position(answered).unwrap();
    let [killed, _] = commands(script);
    assert!(killed.run_killed_at(at + 1).is_none());
    let resumed = killed.resume();
    assert_eq!(resumed.word(), "nothing-to-do");
    assert!(resumed.answers("read_file")[0].contains("9004 | 109000"));
}

const PIPES: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: execute_command, args: { command: "ls nope 2>&1 | cat" } }]
      - calls: [{ tool: execute_command, args: { command: "flake8 src" } }]
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

/// With namespaces and without, and without a sandbox's word on it: as JSON and on the terminal.
#[test]
fn every_report_says_what_failed_and_what_did_not_start() {
    let policy = "version: 1\nrules:\n  - allow: [read(**), 'command(ls:*)', 'command(cat)', \
                  'command(flake8:*)']\n";
    for format in ["json", "text"] {
        let make = || Stage::with(&[(".locum/policy.yml", policy)]);
        for stage in Stage::in_both_worlds(make) {
            let ran = stage.play(PIPES, &["--mode", "code", "--output-format", format]);
            if format == "text" {
                assert!(ran.out.contains("exit 2 (ls nope 2>&1: 2 | cat: 0)"), "{ran:?}");
                assert!(ran.out.contains("exit 127, did not start: flake8"), "{ran:?}");
                continue;
            }
            let json = ran.json();
            let stages = [
                json!({ "command": "ls nope 2>&1", "code": 2 }),
                json!({ "command": "cat", "code": 0 }),
            ];
            assert_eq!(json["commands"][0]["exit_code"], 2, "{json}");
            assert_eq!(json["commands"][0]["failed_steps"], json!([{ "stages": stages }]));
            assert_eq!(json["commands"][1]["exit_code"], 127);
            assert_eq!(json["commands"][1]["not_started"], json!(["flake8"]));
        }
    }
}

#[test]
fn whatever_a_command_leaves_beside_it_everything_denied_is_taken_back() {
    for hostile in
        ["mkdir src/.Git; echo x > src/.Git/config", "truncate -s 101M src/AGENTS.md", "true"]
    {
        let step = format!("echo bad > src/secret.txt\n{hostile}\necho b > src/b.txt");
        let fixture = with_step(&step, POLICY);
        let ran = fixture.run();
        assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"), "{hostile}");
        assert_eq!(fixture.file("src/b.txt").as_deref(), Some("b\n"), "{hostile}");
        assert!(!fixture.root.join("src/.Git").exists(), "{hostile}: {}", ran.reason());
        let copies = fixture.journal.join("taken-back");
        let copies = std::fs::read_dir(copies).unwrap().map(|label| label.unwrap().path());
        let large = copies.map(|label| label.join("src/AGENTS.md")).find(|copy| copy.exists());
        let size = large.map(|copy| copy.metadata().unwrap().len());
        assert_eq!(size, hostile.contains("AGENTS").then_some(101 << 20), "{hostile}");
        assert_eq!(fixture.file("src/AGENTS.md"), None, "{hostile}");
    }
}

/// A repository in which `./step.sh` is the script, everything else as the fixture makes it.
fn with_step(step: &str, policy: &str) -> Fixture {
    let script = "- calls: [{ tool: execute_command, args: { command: ./step.sh } }]\n\
                  - calls: [{ tool: attempt_completion, args: { result: r } }]\n";
    let fixture = Fixture::with_policy(&turns(script), policy).without_layer();
    let file = fixture.root.join("step.sh");
    std::fs::write(&file, format!("#!/bin/sh\n{step}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(fixture.root.join(".gitignore"), "CLAUDE.local.md\n.vscode/\nout/\n").unwrap();
    commit_all(&init(&fixture.root), "all of it");
    fixture
}

#[test]
fn a_protected_file_that_git_ignores_is_taken_back_like_any_other() {
    let step = "mkdir -p src/.vscode src/n/deep src/out\n\
                echo bad > src/CLAUDE.local.md; echo bad > src/.vscode/tasks.json\n\
                echo '*' > src/n/.gitignore; echo bad > src/n/deep/AGENTS.md\n\
                echo built > src/out/AGENTS.md; echo b > src/b.txt";
    let fixture = with_step(step, POLICY);
    std::fs::create_dir_all(fixture.root.join("old")).unwrap();
    std::fs::write(fixture.root.join("old/CLAUDE.local.md"), "a person's\n").unwrap();
    let ran = fixture.run();
    let planted = ["src/CLAUDE.local.md", "src/.vscode/tasks.json", "src/n/deep/AGENTS.md"];
    assert_eq!(planted.map(|path| fixture.file(path)), [None, None, None], "{}", ran.reason());
    let text = &ran.answers("execute_command")[0];
    assert!(planted.iter().all(|path| text.contains(&format!("edit({path})"))), "{text}");
    let notes = &ran.outcome.notes;
    let copies = notes[0].split_once("until then is in `").unwrap().1.split_once('`').unwrap().0;
    let copy = std::fs::read_to_string(format!("{copies}/src/CLAUDE.local.md")).unwrap();
    assert_eq!((notes.len(), copy.as_str()), (1, "bad\n"), "{notes:?}");
    for (path, content) in [
        ("old/CLAUDE.local.md", "a person's\n"),
        ("src/out/AGENTS.md", "built\n"),
        ("src/b.txt", "b\n"),
    ] {
        assert_eq!(fixture.file(path).as_deref(), Some(content), "{path}");
    }
    assert_eq!(ran.word(), "done", "{}", ran.reason());
}

#[test]
fn one_file_that_has_to_stay_keeps_no_other_change_in_the_checkout() {
    let fixture = with_step(
        "echo bad > src/secret.txt; echo bad > src/AGENTS.md; echo h > src/held.txt; echo b > src/b.txt",
        POLICY,
    );
    // More than is recorded before a command.
    let secret = std::fs::File::create(fixture.root.join("src/secret.txt")).unwrap();
    secret.set_len(17 << 20).unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("failed", vec!["src/b.txt"]));
    assert!(ran.reason().contains("changed `src/secret.txt`, which"), "{}", ran.reason());
    let left = ["src/secret.txt", "src/AGENTS.md", "src/held.txt", "src/b.txt"];
    let left = left.map(|path| fixture.file(path));
    assert_eq!(left, [Some("bad\n".into()), None, None, Some("b\n".into())]);
}

#[test]
fn what_a_command_changed_is_judged_by_the_next_run_where_this_one_cannot_find_it_out() {
    let mut fixture = with_step("echo bad > src/secret.txt; echo b > src/b.txt", POLICY);
    let follows = r#"{ "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": "./step.sh" }] }] } }"#;
    fixture.hooks = HookFile::parse(".claude/settings.json", follows).hooks;
    let index = fixture.root.join(".git/index");
    let whole = std::fs::read(&index).unwrap();
    let (broken, once) = (index.clone(), std::cell::Cell::new(true));
    let fixture = fixture.watched(move |event| {
        if matches!(event, Event::Performing { .. }) && once.take() {
            std::fs::write(&broken, "no index").unwrap();
        }
    });
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len()), ("failed", 0));
    assert!(ran.reason().contains("`run ./step.sh` changed cannot be judged"), "{}", ran.reason());
    // A hook would be told of a call that nobody has judged.
    assert!(!ran.lines.iter().any(|line| matches!(line.event, Event::HooksRan { .. })));
    std::fs::write(&index, whole).unwrap();
    let ran = fixture.resume();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
}
