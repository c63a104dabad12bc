//! `--json`: on every command that has a result for programs, for errors too.

use super::{Run, Setup};
use locum::cli::command_line::command;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Commands without `--json`, and why.
const WITHOUT: &[(&str, &str)] = &[
    ("locum action", "a step of a workflow: its results are the step's outputs"),
    ("locum publish", "a step of a workflow"),
    ("locum sweep", "a step of a workflow"),
    ("locum demo", "a story to read"),
    ("locum modes export", "prints a file, in JSON by `--format json`"),
    ("locum session export", "prints a file, in JSON by `--format json`"),
    ("locum mcp add", "changes a file: `locum mcp list --json` shows what is in it"),
    ("locum mcp remove", "changes a file"),
    ("locum mcp serve", "speaks JSON-RPC on standard output"),
    ("locum hook", "answers in the JSON of the agent that asks"),
    ("locum schema", "prints nothing but JSON"),
    ("locum completions", "prints a script"),
    ("locum man", "prints a page"),
];

#[test]
fn every_command_takes_json_unless_there_is_a_reason() {
    let mut waiting = vec![("locum".to_owned(), command())];
    let (mut without, mut with) = (Vec::new(), 0);
    while let Some((name, command)) = waiting.pop() {
        waiting.extend(
            command
                .get_subcommands()
                .map(|below| (format!("{name} {}", below.get_name()), below.clone())),
        );
        if command.has_subcommands() {
            continue;
        }
        if command.get_arguments().any(|argument| argument.get_long() == Some("json")) {
            with += 1;
        } else {
            without.push(name);
        }
    }
    without.sort_unstable();
    let mut known: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(without, known);
    assert!(with > 30, "{with}");
}

#[test]
fn an_error_is_one_object_on_stdout_however_early_it_comes() {
    let setup = Setup::new().file(".locum/policy.yml", "version: 1\nrulez: []\n");
    for (words, line, expected) in [
        ("rnu --json", 0, "unrecognized subcommand 'rnu'"),
        ("session show --json", 0, "the following required arguments were not provided:"),
        ("--repo nowhere modes list --json", 0, "is not a folder"),
        ("session show 0199 --json", 0, "there is no session `0199`"),
        ("run x --json", 0, "is not a git repository"),
        ("run x --output-format stream-json", 0, "is not a git repository"),
        ("policy explain edit(a) --json", 2, "unknown key `rulez`"),
    ] {
        let run = setup.run(words);
        assert_eq!(run.code, Some(2), "{words}: {run:?}");
        let error = &run.json()["error"];
        assert_eq!(error["exit_code"], 2, "{words}");
        let mistake = &error["mistakes"][0];
        let message = mistake["message"].as_str().unwrap();
        assert!(message.contains(expected), "{words}: {message}");
        assert_eq!(mistake["line"], line, "{words}");
        assert!(run.err.starts_with("error: "), "{words}: {run:?}");
    }
    let run = setup.run("session show 0199");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
}

#[test]
fn an_object_has_its_hint_and_the_whole_shape() {
    let run: Run = Setup::new().run("run x --mode --json --max-turns 3 --repo nowhere --json");
    let object: Value = run.json();
    let mistake = &object["error"]["mistakes"][0];
    let keys: Vec<&String> = mistake.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["origin", "line", "column", "path", "message", "hint"], "{object}");
    let near = Setup::new().run("polic --json").json();
    assert_ne!(near["error"]["mistakes"][0]["message"], json!(""), "{near}");
}
