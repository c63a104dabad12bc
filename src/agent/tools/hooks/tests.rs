//! Hooks as they are written in files, right and wrong.

use super::{HookEvent, HookFile};
use locum_files::diagnostic::Diagnostic;
use pretty_assertions::assert_eq;

fn parse(text: &str) -> HookFile {
    HookFile::parse(".claude/settings.json", text)
}

fn said(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|said| format!("{}: {}", said.place.line, said.message)).collect()
}

#[test]
fn hooks_are_read_with_their_lines_and_other_settings_are_left_alone() {
    let file = parse(
        r#"{
  "permissions": { "allow": ["Bash(ls:*)"] },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Edit|Write", "hooks": [
        { "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh", "timeout": 5 },
        { "type": "command", "command": "${CLAUDE_PROJECT_DIR}/b" }
      ] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "make test" }] }]
  }
}"#,
    );
    assert_eq!((said(&file.mistakes), said(&file.warnings)), (vec![], vec![]));
    let hooks: Vec<(HookEvent, &str, u64, &str)> = file
        .hooks
        .iter()
        .map(|hook| (hook.event, hook.command.as_str(), hook.timeout.as_secs(), &*hook.place))
        .collect();
    assert_eq!(
        hooks,
        [
            (HookEvent::PreToolUse, "\".\"/.claude/guard.sh", 5, ".claude/settings.json:6"),
            (HookEvent::PreToolUse, "./b", 60, ".claude/settings.json:7"),
            (HookEvent::Stop, "make test", 60, ".claude/settings.json:10"),
        ]
    );
    let own = |command: &str| {
        let hook = format!(r#"{{ "type": "command", "command": "{command}" }}"#);
        parse(&format!(r#"{{ "hooks": {{ "PreToolUse": [{{ "hooks": [{hook}] }}] }} }}"#))
            .hooks
            .len()
    };
    // The policy that it would ask has decided already.
    assert_eq!(
        [
            "locum hook claude",
            "/usr/bin/locum hook claude",
            "locum policy check",
            "my-locum hook x"
        ]
        .map(own),
        [0, 0, 1, 1]
    );
    // What stands behind it runs.
    assert_eq!(
        [
            "locum hook claude 2>/dev/null",
            "$CLAUDE_PROJECT_DIR/bin/locum hook claude",
            "locum hook claude && ./.claude/guard.sh",
            "locum hook claude; ./guard",
            "locum hook claude | ./guard",
            "locum hook $(./guard)",
            "$HOME/locum hook claude || ./guard"
        ]
        .map(own),
        [0, 0, 1, 1, 1, 1, 1]
    );
    for nothing in ["{}", r#"{ "model": "x" }"#, r#"{ "disableAllHooks": true, "hooks": 3 }"#] {
        let file = parse(nothing);
        assert!(file.hooks.is_empty() && file.mistakes.is_empty(), "{nothing}");
    }
}

#[test]
fn a_matcher_is_for_whole_names() {
    let matched = |matcher: &str, names: &[&str]| {
        let hook = r#"{ "type": "command", "command": "a" }"#;
        let text =
            format!(r#"{{"hooks":{{"PreToolUse":[{{"matcher":"{matcher}","hooks":[{hook}]}}]}}}}"#);
        parse(&text).hooks[0].matched(names).map(str::to_owned)
    };
    for (matcher, names, expected) in [
        ("Edit|Write", &["Edit"][..], Some("Edit")),
        ("Edit|Write", &["MultiEdit"], None),
        ("MultiEdit", &["Edit", "MultiEdit"], Some("MultiEdit")),
        ("mcp__.*", &["mcp__time__now"], Some("mcp__time__now")),
        ("mcp__.*", &["Bash"], None),
        ("*", &["Bash"], Some("Bash")),
        ("", &["Bash"], Some("Bash")),
    ] {
        assert_eq!(matched(matcher, names).as_deref(), expected, "{matcher}");
    }
}

#[test]
fn a_matcher_is_for_what_its_event_has() {
    let matched = |event: &str, name: &str| {
        let hook = r#"{ "type": "command", "command": "a" }"#;
        let text =
            format!(r#"{{"hooks":{{"{event}":[{{"matcher":"startup|code","hooks":[{hook}]}}]}}}}"#);
        parse(&text).hooks[0].matched(&[name]).is_some()
    };
    for (event, name, expected) in [
        ("SessionStart", "startup", true),
        ("SessionStart", "resume", false),
        ("SubagentStart", "code", true),
        ("SubagentStop", "ask", false),
        ("UserPromptSubmit", "UserPromptSubmit", true),
        ("Stop", "Stop", true),
    ] {
        assert_eq!(matched(event, name), expected, "{event} {name}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_has_no_effect_is_a_warning() {
    let hook = r#"{ "type": "command", "command": "a" }"#;
    for (text, mistakes, warnings) in [
        (r#"{ "hooks": 3 }"#.to_owned(), vec!["1: `hooks` must be a mapping, not a number"], vec![]),
        (
            r#"{ "hooks": { "PreToolUse": {} } }"#.to_owned(),
            vec!["1: `PreToolUse` must be a list, not a mapping"],
            vec![],
        ),
        (
            "{ \"hooks\": {\n\"PreToolUse\": [{}] } }".to_owned(),
            vec!["2: `hooks` is missing"],
            vec![],
        ),
        (
            format!(r#"{{ "hooks": {{ "PreToolUse": [{{ "matcher": "(", "hooks": [{hook}] }}] }} }}"#),
            vec!["1: `(` is no regular expression"],
            vec![],
        ),
        (
            r#"{ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "prompt", "prompt": "?" }] }] } }"#
                .to_owned(),
            vec!["1: a hook of type `prompt` is not run here; only `command` is"],
            vec![],
        ),
        (
            r#"{ "hooks": { "Stop": [{ "hooks": [{ "type": "prompt", "prompt": "?" }] }] } }"#
                .to_owned(),
            vec![],
            vec!["1: a hook of type `prompt` is not run here; only `command` is"],
        ),
        (
            r#"{ "hooks": { "Stop": [{ "hooks": [{ "type": "command" }] }] } }"#.to_owned(),
            vec!["1: `command` is missing"],
            vec![],
        ),
        (
            r#"{ "hooks": { "UserPromptSubmit": [{ "hooks": [{ "type": "prompt" }] }] } }"#
                .to_owned(),
            vec!["1: a hook of type `prompt` is not run here; only `command` is"],
            vec![],
        ),
        (
            format!(r#"{{ "hooks": {{ "PreCompact": [{{ "hooks": [{hook}] }}] }} }}"#),
            vec![],
            vec![
                "1: hooks of `PreCompact` are not run here; those of PreToolUse, PostToolUse, \
                 Stop, SessionStart, UserPromptSubmit, SubagentStart, SubagentStop are",
            ],
        ),
    ] {
        let file = parse(&text);
        assert_eq!(said(&file.mistakes), mistakes, "{text}");
        assert_eq!(said(&file.warnings), warnings, "{text}");
        if let Some(last) = file.mistakes.last() {
            assert!(last.hint.as_deref().unwrap().contains("hooks: off"), "{text}");
        }
    }
    let broken = parse("{\n  \"hooks\": {\n");
    assert!(!broken.mistakes.is_empty() && broken.hooks.is_empty(), "{broken:?}");
}
