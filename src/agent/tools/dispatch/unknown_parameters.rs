//! What becomes of parameters that a tool does not have: ignored with a note, or refused.

use crate::tools::dispatch;
use crate::tools::fixture::ToolFixture;
use locum_base::chat::ToolCall;
use locum_base::tool::ToolName;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Checks a call; returns the note for its answer, or the refusal.
fn parsed(name: &str, arguments: &Value) -> Result<String, String> {
    let fixture = ToolFixture::new(&[("src/a", "one\ntwo\n")]);
    let arguments = arguments.to_string();
    fixture.parse(name, &arguments, ToolName::ALL).map_err(|error| error.0)?;
    Ok(dispatch::ignored(&ToolCall { id: "1".into(), name: name.into(), arguments }))
}

/// Arguments that each tool can do with, and one more.
fn with(extra: &str, value: &Value) -> Vec<(&'static str, Value)> {
    let calls = [
        ("write_to_file", json!({ "path": "b", "content": "x" })),
        ("apply_diff", json!({ "path": "src/a", "diff": "x" })),
        ("search_and_replace", json!({ "path": "src/a", "search": "o", "replace": "x" })),
        ("insert_content", json!({ "path": "src/a", "line": 1, "content": "x" })),
        ("move_file", json!({ "path": "src/a", "to": "src/b" })),
        ("delete_file", json!({ "path": "src/a" })),
        (
            "apply_patch",
            json!({ "patch": "*** Begin Patch\n*** Delete File: src/a\n*** End Patch" }),
        ),
        ("generate_image", json!({ "path": "a.png", "prompt": "x" })),
        ("execute_command", json!({ "command": "ls" })),
        ("command_output", json!({ "id": 1 })),
        ("stop_command", json!({ "id": 1 })),
        ("web_fetch", json!({ "url": "https://docs.rs" })),
        ("web_search", json!({ "query": "rust" })),
        ("use_mcp_tool", json!({ "server_name": "s", "tool_name": "t", "arguments": {} })),
        ("access_mcp_resource", json!({ "server_name": "s", "uri": "x:y" })),
        ("read_file", json!({ "path": "src/a" })),
        ("list_files", json!({ "path": "src" })),
        ("glob", json!({ "pattern": "*" })),
        ("search_files", json!({ "regex": "o" })),
        ("new_task", json!({ "mode": "code", "message": "m" })),
        ("update_todo_list", json!({ "todos": "- [ ] a" })),
        ("switch_mode", json!({ "mode_slug": "ask" })),
        ("attempt_completion", json!({ "result": "r" })),
    ];
    let added = calls.into_iter().map(|(name, mut arguments)| {
        arguments[extra] = value.clone();
        (name, arguments)
    });
    added.collect()
}

#[test]
fn every_tool_ignores_a_parameter_that_it_does_not_have_and_says_so() {
    for (name, arguments) in with("zzz_remark", &json!("why")) {
        let note = parsed(name, &arguments).unwrap();
        let expected = format!("\n\n(Ignored: `zzz_remark`. `{name}` takes `");
        assert!(note.starts_with(&expected) && note.ends_with("`.)"), "{name}: {note}");
        assert_eq!(note.trim().lines().count(), 1);
    }
    for (name, arguments) in with("zzz_remark", &Value::Null) {
        assert_eq!(parsed(name, &arguments).unwrap(), "", "{name}");
    }
}

#[test]
fn the_note_names_what_was_ignored_and_what_there_is() {
    for (name, arguments, expected) in [
        (
            "write_to_file",
            json!({ "path": "b", "content": "x", "line_count": 1 }),
            "Ignored: `line_count`. `write_to_file` takes `path`, `content`.",
        ),
        (
            "Grep",
            json!({ "pattern": "a", "-n": true, "context": 2 }),
            "Ignored: `context`, `-n`. `search_files` takes `path`, `regex`, `file_pattern`.",
        ),
        (
            "Bash",
            json!({ "command": "ls", "description": "d", "dry_run": false, "stdin": "" }),
            "Ignored: `description`, `dry_run`, `stdin`. `execute_command` takes `command`, `cwd`, \
             `timeout`, `background`.",
        ),
        (
            "read_file",
            json!({ "path": "src/a", "ofset": 30 }),
            "Ignored: `ofset`. `read_file` takes `path`, `line_ranges`, `files`, `mode`, \
             `offset`, `limit`, `column`, `indentation`. Did you mean `offset`?",
        ),
        (
            "read_file",
            json!({ "path": "src/a", "mode": "indentation", "indentation": { "deep": 1 } }),
            "Ignored: `indentation.deep`. `read_file` takes `path`, `line_ranges`, `files`, \
             `mode`, `offset`, `limit`, `column`, `indentation`.",
        ),
        (
            "MultiEdit",
            json!({ "path": "src/a", "edits": [
            { "old_string": "one", "new_string": "1", "why": "x", "gone": null },
            { "old_string": "two", "new_string": "2", "why": "y" } ] }),
            "Ignored: `edits.why`. `multi_edit` takes `path`, `edits`.",
        ),
        (
            "apply_diff",
            json!({ "path": "src/a", "diff": [{ "search": "one", "replace": "1", "end_line": 1 }] }),
            "Ignored: `diff.end_line`. `apply_diff` takes `path`, `diff`.",
        ),
    ] {
        assert_eq!(parsed(name, &arguments).unwrap(), format!("\n\n({expected})"), "{name}");
    }
    assert_eq!(parsed("read_file", &json!({ "path": "src/a", "limit": null })).unwrap(), "");
    let call = ToolCall {
        id: "1".into(),
        name: "mcp--time--now".into(),
        arguments: json!({ "zone": "UTC" }).to_string(),
    };
    assert_eq!(dispatch::ignored(&call), "");
}

#[test]
fn a_note_is_one_short_line_whatever_the_names_are() {
    let mut arguments = json!({ "command": "ls", "a\nb": 1 });
    arguments["x".repeat(5000)] = json!(1);
    for number in 0..50 {
        arguments[format!("zzz_{number}")] = json!(1);
    }
    let note = parsed("execute_command", &arguments).unwrap();
    assert!(note.contains("`a\\nb`") && note.contains(" and 44 more."), "{note}");
    assert!(note.trim().lines().count() == 1 && note.len() < 500, "{note}");
}

#[test]
fn what_would_change_the_effect_is_refused_with_what_to_write_instead() {
    let write = |extra: &str, value: Value| {
        let mut arguments = json!({ "path": "b", "content": "x" });
        arguments[extra] = value;
        ("write_to_file", arguments)
    };
    let command = |extra: &str, value: Value| {
        let mut arguments = json!({ "command": "ls" });
        arguments[extra] = value;
        ("execute_command", arguments)
    };
    let edit = |extra: &str, value: Value| {
        let mut arguments = json!({ "path": "src/a", "old_string": "one", "new_string": "1" });
        arguments[extra] = value;
        ("Edit", arguments)
    };
    let replace = |extra: &str, value: Value| {
        let mut arguments = json!({ "path": "src/a", "search": "one", "replace": "1" });
        arguments[extra] = value;
        ("search_and_replace", arguments)
    };
    let insert = |extra: &str, value: Value| {
        let mut arguments = json!({ "path": "src/a", "line": 1, "content": "x" });
        arguments[extra] = value;
        ("insert_content", arguments)
    };
    for ((name, arguments), parameter, instead) in [
        (write("append", json!(true)), "append", "`apply_diff` changes a part"),
        (write("mode", json!("append")), "mode", "`apply_diff` changes a part"),
        (write("mode", json!("a")), "mode", "`apply_diff` changes a part"),
        (write("insertLine", json!(3)), "insertLine", "`apply_diff` changes a part"),
        (write("old_str", json!("one")), "old_str", "`apply_diff` changes a part"),
        (write("overwrite", json!(false)), "overwrite", "replaces a file that exists"),
        (write("overwrite", json!("false")), "overwrite", "replaces a file that exists"),
        (write("encoding", json!("base64")), "encoding", "in UTF-8"),
        (write("dryRun", json!(true)), "dryRun", "Nothing is tried out"),
        (write("dry-run", json!("yes")), "dry-run", "Nothing is tried out"),
        (write("backup", json!(true)), "backup", "without a copy"),
        (edit("preview", json!(true)), "preview", "Nothing is tried out"),
        (edit("check", json!(1)), "check", "made at once"),
        (edit("regex", json!(true)), "regex", "letter for letter"),
        (edit("content", json!("all of it")), "content", "`write_to_file` writes a whole one"),
        (edit("count", json!(2)), "count", "`search_and_replace` has `count`"),
        (edit("case_sensitive", json!(false)), "case_sensitive", "has `ignore_case`"),
        (edit("whole_word", json!(true)), "whole_word", "letter for letter"),
        (replace("whole_word", json!(true)), "whole_word", "`\\bword\\b`"),
        (replace("case_sensitive", json!(false)), "case_sensitive", "`ignore_case: true`"),
        (replace("max_replacements", json!(1)), "max_replacements", "`count` is how many"),
        (replace("multiline", json!(true)), "multiline", "`(?s)`"),
        (replace("file_pattern", json!("*.rs")), "file_pattern", "one file"),
        (insert("position", json!("after")), "position", "name the next one"),
        (insert("after_line", json!(1)), "after_line", "name the next one"),
        (command("stdin", json!("x")), "stdin", "`<<'EOF'`"),
        (command("sudo", json!(true)), "sudo", "rights of this run"),
        (command("user", json!("root")), "user", "rights of this run"),
        (command("shell", json!("powershell")), "shell", "written for `bash`"),
        (command("args", json!(["-l"])), "args", "the whole command line"),
        (command("env", json!({ "CI": "1" })), "env", "`NAME=value command`"),
        (command("wait", json!(false)), "wait", "`background: true`"),
        (command("dry_run", json!(true)), "dry_run", "Nothing is tried out"),
        (
            ("web_fetch", json!({ "url": "https://docs.rs", "method": "POST" })),
            "method",
            "without a body",
        ),
        (
            ("attempt_completion", json!({ "result": "r", "success": false })),
            "success",
            "with `status`",
        ),
        (("Grep", json!({ "pattern": "o", "multiline": true })), "multiline", "in each line"),
        (("Grep", json!({ "pattern": "o", "-v": true })), "-v", "in each line"),
    ] {
        let refused = parsed(name, &arguments).unwrap_err();
        let says = refused.contains(&format!("has no parameter `{parameter}`"));
        assert!(says && refused.contains(instead), "{name} {arguments}: {refused}");
    }
}

#[test]
fn a_parameter_that_asks_for_what_is_done_anyway_is_ignored() {
    for (name, extra, value) in [
        ("write_to_file", "append", json!(false)),
        ("write_to_file", "append", json!("")),
        ("write_to_file", "edits", json!([])),
        ("write_to_file", "mode", json!("w")),
        ("write_to_file", "mode", json!("Overwrite")),
        ("write_to_file", "overwrite", json!(true)),
        ("write_to_file", "create_only", json!(false)),
        ("write_to_file", "encoding", json!("UTF-8")),
        ("write_to_file", "create_directories", json!(true)),
        ("apply_diff", "start_line", json!(1)),
        ("apply_diff", "dry_run", json!("false")),
        ("apply_diff", "count", json!(1)),
        ("search_and_replace", "case_sensitive", json!(true)),
        ("search_and_replace", "whole_word", json!(false)),
        ("insert_content", "position", json!("before")),
        ("execute_command", "shell", json!("/bin/bash")),
        ("execute_command", "shell", json!(true)),
        ("execute_command", "env", json!({})),
        ("execute_command", "wait", json!(true)),
        ("execute_command", "with_escalated_permissions", json!(true)),
        ("web_fetch", "method", json!("GET")),
        ("generate_image", "size", json!("1024x1024")),
    ] {
        let calls = with(extra, &value);
        let (_, arguments) = calls.into_iter().find(|(tool, _)| *tool == name).unwrap();
        let note = parsed(name, &arguments).unwrap();
        assert!(note.contains(&format!("(Ignored: `{extra}`.")), "{name} {arguments}: {note}");
    }
}

#[test]
fn a_slip_of_the_pen_for_a_parameter_that_is_missing_is_not_ignored() {
    for (name, arguments, expected) in [
        ("write_to_file", json!({ "path": "b", "contnt": "x" }), "needs `content`"),
        ("execute_command", json!({ "command": "ls", "cwdd": "src" }), "Did you mean `cwd`?"),
        ("attempt_completion", json!({ "result": "r", "staus": "failed" }), "mean `status`?"),
        (
            "use_mcp_tool",
            json!({ "server_name": "s", "tool_name": "t", "zone": "UTC" }),
            "goes into `arguments`",
        ),
    ] {
        let refused = parsed(name, &arguments).unwrap_err();
        assert!(refused.contains(expected), "{name} {arguments}: {refused}");
    }
    // Where it is there, the name is as good as any other.
    let twice = json!({ "path": "b", "content": "x", "contnt": "y" });
    assert!(parsed("write_to_file", &twice).unwrap().contains("Ignored: `contnt`."));
}
