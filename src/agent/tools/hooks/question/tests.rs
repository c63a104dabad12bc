//! The questions that a hook is asked about calls, in the words of Claude Code.

use std::path::Path;

use super::{CallFiles, HookedCall};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn asked(name: &str, arguments: &Value, edited: &[&str]) -> Option<HookedCall> {
    asked_with(name, arguments, edited, &[])
}

fn asked_with(name: &str, arguments: &Value, edited: &[&str], read: &[&str]) -> Option<HookedCall> {
    let [edited, read] = [edited, read]
        .map(|paths| paths.iter().map(|path| RepoPath::parse(path).unwrap()).collect::<Vec<_>>());
    let (id, arguments) = ("1".to_owned(), arguments.to_string());
    let call = ToolCall { id, name: name.to_owned(), arguments };
    HookedCall::of(&call, CallFiles { edited: &edited, read: &read }, Path::new("/repo"))
}

#[test]
fn calls_are_asked_about_in_the_words_of_claude_code() {
    let diff = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE";
    let nothing = Value::Null;
    for (name, arguments, edited, first, input) in [
        (
            "execute_command",
            json!({ "command": "ls", "cwd": "src" }),
            vec![],
            "Bash",
            json!({ "command": "cd src && ls", "description": "" }),
        ),
        (
            "Bash",
            json!({ "command": "ls" }),
            vec![],
            "Bash",
            json!({ "command": "ls", "description": "" }),
        ),
        (
            "read_file",
            json!({ "path": "src/a" }),
            vec![],
            "Read",
            json!({ "file_path": "/repo/src/a", "offset": nothing, "limit": nothing }),
        ),
        (
            "write_to_file",
            json!({ "path": "a", "content": "x" }),
            vec!["a"],
            "Write",
            json!({ "file_path": "/repo/a", "content": "x" }),
        ),
        (
            "apply_diff",
            json!({ "path": "a", "diff": diff }),
            vec!["a"],
            "Edit",
            json!({ "file_path": "/repo/a", "old_string": "a", "new_string": "b" }),
        ),
        (
            "Edit",
            json!({ "file_path": "a", "old_string": "x", "new_string": "y" }),
            vec!["a"],
            "Edit",
            json!({ "file_path": "/repo/a", "old_string": "x", "new_string": "y" }),
        ),
        (
            "Edit",
            json!({
                "file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true
            }),
            vec!["a"],
            "Edit",
            json!({
                "file_path": "/repo/a", "old_string": "x", "new_string": "y",
                "replace_all": true
            }),
        ),
        (
            "str_replace_editor",
            json!({ "command": "str_replace", "path": "a", "old_str": "x", "new_str": "y" }),
            vec!["a"],
            "Edit",
            json!({ "file_path": "/repo/a", "old_string": "x", "new_string": "y" }),
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "a", "insert_line": 2, "new_str": "y" }),
            vec!["a"],
            "Edit",
            json!({ "file_path": "/repo/a", "old_string": "", "new_string": "y" }),
        ),
        (
            "edit_file",
            json!({
                "file_path": "a", "old_string": "x", "new_string": "y",
                "expected_replacements": 2
            }),
            vec!["a"],
            "Edit",
            json!({
                "file_path": "/repo/a", "old_string": "x", "new_string": "y",
                "replace_all": true
            }),
        ),
        (
            "MultiEdit",
            json!({ "file_path": "a", "edits": [
                { "old_string": "x", "new_string": "y" },
                { "old_string": "p", "new_string": "q", "replace_all": true },
            ] }),
            vec!["a"],
            "MultiEdit",
            json!({
                "file_path": "/repo/a", "old_string": "x\np", "new_string": "y\nq",
                "edits": [
                    { "old_string": "x", "new_string": "y", "replace_all": false },
                    { "old_string": "p", "new_string": "q", "replace_all": true },
                ]
            }),
        ),
        (
            "apply_patch",
            json!({ "workdir": "src", "patch": "*** Begin Patch" }),
            vec!["src/a"],
            "Edit",
            json!({
                "file_path": "/repo/src/a", "old_string": "", "new_string": "*** Begin Patch"
            }),
        ),
        (
            "delete_file",
            json!({ "path": "a" }),
            vec!["a"],
            "Edit",
            json!({ "file_path": "/repo/a", "old_string": "", "new_string": "" }),
        ),
        (
            "web_search",
            json!({ "query": "rust", "allowed_domains": ["docs.rs"] }),
            vec![],
            "WebSearch",
            json!({ "query": "rust", "allowed_domains": ["docs.rs"] }),
        ),
        (
            "mcp--time--now",
            json!({ "zone": "UTC" }),
            vec![],
            "mcp__time__now",
            json!({ "zone": "UTC" }),
        ),
    ] {
        let call = asked(name, &arguments, &edited).unwrap();
        assert_eq!((call.names[0].as_str(), &call.inputs[0]), (first, &input), "{name}");
    }
}

#[test]
fn each_file_that_is_read_is_asked_about() {
    let files = json!([{ "path": "b", "line_ranges": ["2-3"] }, { "path": "c" }]);
    for (name, arguments) in [
        ("read_file", json!({ "path": "a", "files": files })),
        ("read_file", json!({ "files": ["a", "b", "c"] })),
    ] {
        let read = asked(name, &arguments, &[]).unwrap();
        let paths: Vec<&Value> = read.inputs.iter().map(|input| &input["file_path"]).collect();
        assert_eq!(paths, ["/repo/a", "/repo/b", "/repo/c"], "{arguments}");
    }
}

#[test]
fn what_is_read_through_a_link_is_asked_about_by_both_paths() {
    let search = json!({ "path": "notes.txt", "regex": "x" });
    let several = json!({ "files": [{ "path": "a" }, { "path": "notes.txt" }] });
    let whole = json!({ "path": "/repo/blocked.txt" });
    for (name, arguments, read, key, expected) in [
        (
            "read_file",
            json!({ "path": "notes.txt" }),
            vec!["blocked.txt"],
            "file_path",
            vec!["/repo/notes.txt", "/repo/blocked.txt"],
        ),
        (
            "read_file",
            several,
            vec!["a", "blocked.txt"],
            "file_path",
            vec!["/repo/a", "/repo/notes.txt", "/repo/blocked.txt"],
        ),
        (
            "search_files",
            search,
            vec!["blocked.txt"],
            "path",
            vec!["/repo/notes.txt", "/repo/blocked.txt"],
        ),
        ("list_files", json!({ "path": "sub/" }), vec!["sub"], "path", vec!["/repo/sub"]),
        ("read_file", json!({ "path": "a" }), vec!["a"], "file_path", vec!["/repo/a"]),
        ("read_file", whole, vec!["blocked.txt"], "file_path", vec!["/repo/blocked.txt"]),
    ] {
        let call = asked_with(name, &arguments, &[], &read).unwrap();
        let paths: Vec<&Value> = call.inputs.iter().map(|input| &input[key]).collect();
        assert_eq!(paths, expected, "{name} {arguments}");
    }
}

#[test]
fn each_edited_file_is_asked_about_and_what_steers_is_not() {
    let moved = asked("move_file", &json!({ "path": "a", "to": "b" }), &["a", "b"]).unwrap();
    let files: Vec<&Value> = moved.inputs.iter().map(|input| &input["file_path"]).collect();
    assert_eq!(files, [&json!("/repo/a"), &json!("/repo/b")]);
    assert_eq!(moved.names(), ["Edit", "Write", "MultiEdit"]);
    // What has no counterpart is asked about by its own name, so that `*` is for it.
    let prompt = json!({ "server_name": "s", "prompt_name": "p" });
    for (name, arguments) in [("show_changes", json!({})), ("get_mcp_prompt", prompt)] {
        assert_eq!(asked(name, &arguments, &[]).unwrap().names(), [name]);
    }
    for name in ["attempt_completion", "update_todo_list", "switch_mode", "no_such_tool"] {
        assert_eq!(asked(name, &json!({}), &[]), None, "{name}");
    }
    assert!(asked("new_task", &json!({ "mode": "code", "message": "m" }), &[]).is_some());
}
