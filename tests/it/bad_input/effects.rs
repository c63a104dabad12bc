//! Calls that reach for what they must not have, and effects that do not end well.

use std::process::Stdio;

use pretty_assertions::assert_eq;

use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(cat:*)", "command(yes)", "command(./hang.sh)"]
commands: { timeout: 1s, output: 1KiB, sandbox: off }
"#;

fn stage() -> Stage {
    let stage = Stage::with(&[
        ("src/a.txt", "one\n"),
        ("hang.sh", "#!/bin/sh\necho begun > src/half.txt\nsleep 1000\n"),
        (".locum/policy.yml", POLICY),
    ]);
    stage.write("outside/secret.txt", "not for the model\n");
    std::os::unix::fs::symlink("../../outside", stage.path("checkout/src/out")).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(stage.path("checkout/hang.sh"), executable).unwrap();
    stage.commit("second");
    stage
}

fn script(calls: &[&str]) -> String {
    let turns: Vec<String> =
        calls.iter().map(|call| format!("      - calls: [{call}]\n")).collect();
    format!(
        "version: 1\ntasks:\n  - turns:\n{}      - calls: [{{ tool: attempt_completion, args: {{ \
         result: done }} }}]\n",
        turns.concat()
    )
}

/// Plays the calls, one a turn, and returns the answers but the last.
fn answers(stage: &Stage, calls: &[&str]) -> (Ran, Vec<String>) {
    let ran = stage.play(&script(calls), &[]);
    let mut answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    answers.pop();
    (ran, answers)
}

#[test]
fn calls_that_make_no_sense_are_answered_with_what_would() {
    let stage = stage();
    let calls = [
        "{ tool: no_such_tool, args: {} }",
        "{ tool: read_file, raw: '{\"path\": ' }",
        "{ tool: read_file, args: { pth: src/a.txt } }",
        "{ tool: read_file, args: { path: src/a.txt } }",
    ];
    let (ran, answers) = answers(&stage, &calls);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = [
        "Unknown tool \"no_such_tool\". Available here: `read_file`",
        "The arguments of `read_file` must be one JSON object, but they are not valid JSON: EOF \
         while parsing a value at line 1 column 9.",
        "`read_file` needs `path`: the file, relative to the repository root.",
        "one",
    ];
    for (answer, expected) in answers.iter().zip(expected) {
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn nothing_outside_is_read_or_written() {
    let stage = stage();
    let before = stage.checkout_state();
    let calls = [
        "{ tool: read_file, args: { path: ../outside/secret.txt } }",
        "{ tool: read_file, args: { path: src/a.txt } }",
        "{ tool: read_file, args: { path: src/out/secret.txt } }",
        "{ tool: list_files, args: { path: src/out } }",
        "{ tool: read_file, args: { path: src/a.txt, offset: 1 } }",
        "{ tool: write_to_file, args: { path: src/out/new.txt, content: x } }",
        "{ tool: write_to_file, args: { path: ../outside/new.txt, content: x } }",
        "{ tool: execute_command, args: { command: cat ../outside/secret.txt } }",
        "{ tool: execute_command, args: { command: cat src/out/secret.txt } }",
        "{ tool: execute_command, args: { command: cat src/a.txt } }",
    ];
    let (ran, answers) = answers(&stage, &calls);
    assert_eq!((ran.code, answers.len()), (Some(3), calls.len()), "{ran:?}");
    assert!(!answers.concat().contains("not for the model"), "{answers:#?}");
    assert_eq!(stage.names("outside"), ["secret.txt"]);
    assert_eq!(stage.checkout_state(), before);
}

#[test]
fn a_command_that_never_ends_is_ended_and_what_it_wrote_is_known() {
    let stage = stage();
    let (ran, answers) =
        answers(&stage, &["{ tool: execute_command, args: { command: ./hang.sh } }"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(answers[0].starts_with("Killed after 1 s, the longest it may run"), "{answers:?}");
    assert!(answers[0].contains("Files changed: src/half.txt"), "{answers:?}");
    assert!(
        ran.out.contains("  - ❌ ./hang.sh: timed out\n") && ran.out.contains("  - A src/half.txt"),
        "{}",
        ran.out
    );
}

#[test]
fn a_command_that_prints_without_end_is_cut_in_the_middle() {
    let stage = stage();
    let (ran, answers) = answers(&stage, &["{ tool: execute_command, args: { command: 'yes' } }"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(answers[0].len() < 4096 && answers[0].contains("left out"), "{answers:?}");
}

#[test]
fn a_signal_during_a_command_cancels_it_and_what_it_wrote_is_known() {
    let stage = stage();
    let policy = POLICY.replace("timeout: 1s", "timeout: 1h");
    stage
        .write("script.yml", &script(&["{ tool: execute_command, args: { command: ./hang.sh } }"]));
    stage.write("policy.yml", &policy);
    let (fifo, pid) = (stage.path("fifo"), stage.path("pid"));
    stage.write(
        "checkout/hang.sh",
        &format!(
            "#!/bin/sh\necho begun > src/half.txt\necho $$ > {}\necho > {}\nexec sleep 1000\n",
            pid.display(),
            fifo.display()
        ),
    );
    assert!(stage.plain("mkfifo").arg(&fifo).status().unwrap().success());
    let mut command =
        stage.locum(&["run", "x", "--script", "../script.yml", "--policy", "../policy.yml"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Opening it waits until the command has written.
    std::fs::read(&fifo).unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(
        ran.out.starts_with(
            "outcome: cancelled\n\nWhy: it was stopped from outside during `run ./hang.sh`\n"
        ),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("  - A src/half.txt"), "{}", ran.out);
    let pid = stage.read("pid");
    assert!(
        !stage.plain("kill").args(["-0", pid.trim()]).output().unwrap().status.success(),
        "the command is gone with the run"
    );
    stage.journal();
}

#[test]
fn a_tool_of_some_models_is_offered_to_those_whose_profile_includes_it() {
    let patch = "*** Begin Patch\\n*** Add File: src/b.txt\\n+two\\n*** Update File: \
                 src/a.txt\\n@@\\n-one\\n+1\\n*** End Patch";
    let script = script(&[&format!(r#"{{ tool: apply_patch, args: {{ patch: "{patch}" }} }}"#)]);
    // A mode that may edit understands a patch that was not offered; one that may not refuses it.
    for (mode, included, offered, written) in [
        ("code", "[]", false, true),
        ("code", "[apply_patch]", true, true),
        ("ask", "[apply_patch]", false, false),
    ] {
        let stage = stage();
        let profile = format!(
            "{{ provider: scripted, model: .locum/script.yml, included_tools: {included} }}"
        );
        stage.write(
            "checkout/.locum/config.yml",
            &format!("models: {{ profiles: {{ fixed: {profile} }} }}\n"),
        );
        stage.write("checkout/.locum/policy.yml", &POLICY.replace("[code]", "[code, ask]"));
        stage.write("checkout/.locum/script.yml", &script);
        stage.commit("third");
        let run = ["run", "Do the task.", "--mode", mode, "--output-format", "json"];
        let plan = stage.run(&[run.as_slice(), &["--dry-run"]].concat()).json();
        let tools = plan["tools"].as_array().expect("a plan lists its tools");
        assert_eq!(tools.iter().any(|tool| tool == "apply_patch"), offered, "{plan}");
        let ran = stage.run(&run);
        assert_eq!(ran.json()["changes"].as_array().is_some_and(|it| it.len() == 2), written);
        assert_eq!(ran.err.contains("not allowed in ask mode"), !written, "{ran:?}");
        assert_eq!(stage.path("checkout/src/b.txt").exists(), written);
    }
}
