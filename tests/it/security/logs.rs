//! The log of a job: nothing a command or a model says is taken by the runner for a command of its
//! own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask};

/// The runner's first rule: `::name ...::` at the start of a line, after white space in the sense
/// of Unicode.
fn new_form(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(char::is_whitespace).strip_prefix("::")?;
    let (head, _) = rest.split_once("::")?;
    let name = head.split(' ').next().unwrap_or_default();
    (!name.is_empty()).then_some(name)
}

/// The runner's second rule: `##[name ...]` anywhere in a line.
fn old_form(line: &str) -> Option<&str> {
    let rest = &line[line.find("##[")? + 3..];
    let (head, _) = rest.split_once(']')?;
    Some(head.split([' ', ';']).next().unwrap_or_default())
}

/// Lines in which the runner would see a command, by name. The runner ends lines at every kind of
/// line end.
fn commands(log: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in log.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
        for name in [new_form(line), old_form(line)].into_iter().flatten() {
            found.entry(name.to_lowercase()).or_default().push(line.to_owned());
        }
    }
    found
}

/// Every text of the vectors that holds a command to the runner, and variations of our own.
fn attacks() -> Vec<String> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/security/texts.json");
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut found = Vec::new();
    texts_in(&whole, &mut found);
    found.retain(|text| !commands(text).is_empty());
    let vectors = found.len();
    assert!(vectors >= 5, "the vectors hold commands to the runner: {vectors}");
    for name in [
        "set-env name=PATH",
        "set-output name=x",
        "add-path",
        "add-mask",
        "stop-commands",
        "error file=a",
        "group",
        "save-state name=x",
        "echo",
    ] {
        for before in [
            "",
            " ",
            "\t",
            "\u{a0}",
            "\u{2003}",
            "\u{feff}",
            "\u{200b}",
            "\u{3000}",
            "\u{1b}[0m",
            "text\r",
            "text\u{b}",
            "text\u{2028}",
            "text\u{85}",
        ] {
            found.push(format!("{before}::{name}::value"));
            found.push(format!("{before}##[{name};]value"));
        }
        found.push(format!("::{}::v", name.to_uppercase()));
        found.push(format!(":\u{200b}:{name}::v"));
        found.push(format!("#\u{200b}#[{name}]v"));
        found.push(format!("\u{1b}[31m##\u{1b}[0m[{name}]v"));
    }
    found
}

fn texts_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts_in(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn no_line_of_a_command_or_a_model_is_a_command_to_the_runner() {
    let fixture = ActionFixture::new();
    let attacks = attacks();
    let stage = &fixture.stage;
    let all = attacks.join("\n");
    stage.write("checkout/src/attack.txt", &all);
    let mut turns = vec![
        json!({ "say": all, "reasoning": all, "calls": [{ "tool": "execute_command", "args": { "command": "cat src/attack.txt" } }] }),
    ];
    for chunk in attacks.chunks(12) {
        let calls: Vec<Value> = chunk
            .iter()
            .flat_map(|text| {
                [
                    json!({ "tool": "read_file", "args": { "path": text } }),
                    json!({ "tool": "execute_command", "args": { "command": format!("echo {text}") } }),
                    json!({ "tool": text, "args": { "path": "x" } }),
                ]
            })
            .collect();
        turns.push(json!({ "say": chunk.join("\n"), "calls": calls }));
    }
    turns.push(json!({ "calls": [{ "tool": "update_todo_list", "args": { "todos": format!("[ ] {}", attacks[0]) } }] }));
    turns.push(json!({ "calls": [{ "tool": "attempt_completion", "args": { "result": all } }] }));
    let script = json!({ "version": 1, "tasks": [{ "turns": turns }] });
    stage.write("checkout/.locum/script.yml", &script.to_string());
    let policy = stage
        .read("checkout/.locum/policy.yml")
        .replace("\"command(echo:*)\"", "\"command(echo:*)\", \"command(cat:*)\"");
    stage.write(
        "checkout/.locum/policy.yml",
        &format!("{policy}budget: {{ tool_calls: 4000, turns: 200 }}\n"),
    );
    stage.commit("attacks");
    stage.git(&["push", "-q", stage.path("remotes/acme/app.git").to_str().unwrap(), "main"]);
    let step = fixture.step(&Ask::comment("/locum code go"));
    let mut found = commands(&step.out);
    for ours in ["add-mask", "group", "endgroup", "notice", "warning", "error"] {
        let lines = found.remove(ours).unwrap_or_default();
        let most = if ours == "add-mask" { 4 } else { 2 };
        assert!(lines.len() <= most, "{ours}: {lines:#?}");
        assert!(lines.iter().all(|line| line.starts_with("::")), "{lines:#?}");
        assert!(
            ours == "add-mask"
                || lines.iter().all(|line| !line.contains("value") || ours != "group"),
            "{lines:#?}"
        );
    }
    assert_eq!(found, BTreeMap::new());
    assert!(step.out.contains("locum: every step"), "{step:?}");
    assert!(
        commands(&step.err).is_empty(),
        "stderr is a part of the log: {:#?}",
        commands(&step.err)
    );
}
