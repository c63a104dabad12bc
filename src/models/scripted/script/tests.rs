//! Script files, with every mistake at its line and column.

use pretty_assertions::assert_eq;

use super::{ModelScript, ScriptCall, ScriptedFailure};
use locum_base::chat::{StopReason, Usage};

#[test]
fn reads_every_key() {
    let text = r#"
version: 1
name: demo
tasks:
  - mode: code
    contains: fix
    turns:
      - say: reading
        reasoning: first look
        calls:
          - { tool: read_file, args: { path: a.rs, lines: [1, 2] } }
          - { tool: read_file, raw: "{ not json" }
          - tool: update_todo_list
        usage: { input: 10, output: 2, cached_read: 4 }
        stop: length
        expect: { contains: [a], not_contains: [b], tools: [read_file], not_tools: [execute_command] }
      - fail: { unavailable: the lights went out }
"#;
    let script = ModelScript::parse("demo.yml", text).unwrap();
    let turn = &script.tasks[0].turns[0];
    assert_eq!(
        (
            script.name.as_str(),
            script.tasks[0].mode.as_deref(),
            script.tasks[0].contains.as_deref()
        ),
        ("demo", Some("code"), Some("fix"))
    );
    assert_eq!(
        turn.calls,
        vec![
            ScriptCall {
                tool: "read_file".into(),
                arguments: r#"{"path":"a.rs","lines":[1,2]}"#.into()
            },
            ScriptCall { tool: "read_file".into(), arguments: "{ not json".into() },
            ScriptCall { tool: "update_todo_list".into(), arguments: "{}".into() },
        ]
    );
    assert_eq!(
        turn.usage,
        Some(Usage { input: 10, output: 2, cached_read: 4, ..Usage::default() })
    );
    assert_eq!(
        (turn.stop, turn.expect.not_tools.as_slice()),
        (Some(StopReason::Length), ["execute_command".to_owned()].as_slice())
    );
    assert_eq!(
        script.tasks[0].turns[1].fail,
        Some(ScriptedFailure::Unavailable("the lights went out".into()))
    );
}

#[test]
fn points_at_every_mistake() {
    for (text, message) in [
        (
            "version: 1\ntasks:\n  - turns:\n      - { sya: hello }\n",
            "s.yml`:4:11: unknown key `sya` (did you mean `say`?)",
        ),
        ("version: 2\ntasks: [{ turns: [{ say: a }] }]\n", "s.yml`:1:10: `version` must be 1"),
        ("version: 1\ntasks: []\n", "s.yml`:2:8: `tasks` needs 1 to"),
        ("version: 1\ntasks:\n  - turns: []\n", "s.yml`:3:12: `turns` needs 1 to"),
        (
            "version: 1\ntasks:\n  - turns:\n      - {}\n",
            "s.yml`:4:9: a turn needs at least one of `say`",
        ),
        (
            "version: 1\ntasks:\n  - turns:\n      - { say: a, fail: { garbled: b } }\n",
            "s.yml`:4:25: a turn with `fail`",
        ),
        (
            "version: 1\ntasks:\n  - turns:\n      - { fail: {} }\n",
            "s.yml`:4:17: a fail says exactly one of `unavailable`, `garbled`",
        ),
        (
            "version: 1\ntasks:\n  - turns:\n      - calls:\n          - { tool: a, args: {}, \
             raw: b }\n",
            "s.yml`:5:39: a call has",
        ),
        ("version: 1\nversion: 1\ntasks: [{ turns: [{ say: a }] }]\n", "s.yml`:2:1: "),
        ("version: 1\ntasks:\n  - turns:\n      - { say: a, stop: never }\n", "s.yml`:4:25: "),
        ("- a\n", "s.yml`:1:1: "),
        ("", "the file is empty"),
    ] {
        let fault = ModelScript::parse("s.yml", text).unwrap_err().to_string();
        assert!(fault.contains(message), "{fault}\nshould say {message}");
    }
}

#[test]
fn tells_every_mistake_at_once() {
    let text = "version: 1\ntaks: []\ntasks:\n  - mod: code\n    turns:\n      - { say: [a], \
                stop: nver }\n      - calls: [{ tol: x }]\n";
    let lines: Vec<u32> = ModelScript::parse("s.yml", text)
        .unwrap_err()
        .mistakes
        .iter()
        .map(|mistake| mistake.place.line)
        .collect();
    assert_eq!(lines, [2, 4, 6, 6, 7, 7]);
}

#[test]
fn reads_every_example_of_the_documentation() {
    let page = include_str!("../../../../docs/scripts.md");
    let examples: Vec<&str> =
        page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        ModelScript::parse("docs/scripts.md", example).unwrap();
    }
    for key in [
        "say",
        "reasoning",
        "calls",
        "usage",
        "stop",
        "expect",
        "fail",
        "contains",
        "not_contains",
        "tools",
        "not_tools",
    ] {
        assert!(page.contains(&format!("| `{key}` |")), "`{key}` is not explained");
    }
}

#[test]
fn refuses_a_script_that_is_too_large() {
    let text = format!("version: 1\n#{}", "x".repeat(4 * 1024 * 1024));
    assert!(ModelScript::parse("s.yml", &text).unwrap_err().to_string().contains("longer than"));
}
