//! Calls in other agents' words that could mean two things: they are refused, not guessed.

use crate::tools::dispatch::peers::{PATCH, parsed};
use serde_json::json;

#[test]
fn what_could_mean_two_things_is_not_guessed() {
    let cases = [
        ("read_file", json!({ "path": "src/a", "file_path": "src/b" }), "differ; give `path`"),
        ("apply_diff", json!({ "files": ["src/a", "src/b"] }), "one file a call"),
        ("read_file", json!({ "path": "src/a", "line_ranges": ["x"] }), "is not a range"),
        (
            "read_file",
            json!({ "path": "src/a", "line_ranges": ["1-2", "4-5"], "offset": 2 }),
            "beside `offset` or `limit`",
        ),
        (
            "read_file",
            json!({ "path": "src/a", "files": [{ "path": "src/b", "line_range": "4-2" }] }),
            "is not a range",
        ),
        ("read_file", json!({ "path": "src/a", "line_range": "4-2" }), "is not a range"),
        ("Edit", json!({ "file_path": "src/a", "replace_all": true }), "`replace_all` without"),
        (
            "Edit",
            json!({ "file_path": "src/a", "old_string": "o", "new_string": "0", "diff": "x" }),
            "Both `diff` and another edit",
        ),
        ("MultiEdit", json!({ "file_path": "src/a", "edits": [] }), "`edits` is empty"),
        ("MultiEdit", json!({ "file_path": "src/a", "edits": "one" }), "must be a list"),
        ("MultiEdit", json!({ "edits": [{ "old_string": "a", "new_string": "b" }] }), "`path`"),
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [{ "old_string": "a", "new_string": "b" },
            { "old_string": "a" }] }),
            "Edit 2 of `edits` needs an old and a new text.",
        ),
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [{ "file_path": "src/b", "old_string": "a",
            "new_string": "b" }] }),
            "Edit 1 of `edits` is of another file",
        ),
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [{ "old_string": "a", "new_string": "b",
            "regex": true }] }),
            "Edit 1 of `edits` has no parameter `regex`",
        ),
        (
            "edit_file",
            json!({ "path": "src/a", "old_string": "e", "new_string": "E", "replace_all": true,
            "expected_replacements": 2 }),
            "say different things",
        ),
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [{ "old_string": "a", "new_string": "b",
            "expected_replacements": 2 }] }),
            "Edit 1 of `edits` has no parameter `expected_replacements`",
        ),
        (
            "edit_file",
            json!({ "path": "src/a", "old_string": "e", "new_string": "E",
            "expected_replacements": 0 }),
            "a whole number of at least 1",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "insert_line": -1, "new_str": "x" }),
            "`insert_line` must be a whole number of at least 0",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "insert_line": 1 }),
            "`insert_text`, the text to insert",
        ),
        (
            "AskUserQuestion",
            json!({ "questions": [{ "question": "q" }, { "question": "r" }] }),
            "asks one question a call",
        ),
        ("str_replace_editor", json!({ "path": "src/a" }), "`command` must be `view`"),
        (
            "str_replace_editor",
            json!({ "command": "undo_edit", "path": "src/a" }),
            "`undo_edit` has no counterpart here",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "new_str": "x" }),
            "`insert` needs `insert_line`",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "insert_line": 1, "new_str": "x",
            "old_str": "one" }),
            "has no parameter `old_str`",
        ),
        (
            "shell",
            json!({ "command": format!("apply_patch <<'EOF'\n{PATCH}\nEOF\nls") }),
            "A patch goes alone",
        ),
        (
            "shell",
            json!({ "command": format!("cd src && apply_patch <<'EOF'\n{PATCH}\nEOF") }),
            "A patch goes alone",
        ),
        (
            "shell",
            json!({ "command": format!("apply_patch <<'E'\n{PATCH}\nE\nrm src/a <<'E'\nE") }),
            "A patch goes alone",
        ),
        ("Edit", json!({ "file_path": "src/a", "old_string": "one" }), "an old and a new text"),
        ("write_stdin", json!({ "session_id": 1, "chars": "y\n" }), "reads no input"),
        ("TaskOutput", json!({ "task_id": "b3f2" }), "`id` of `command_output` must be"),
        (
            "read_command_output",
            json!({ "artifact_id": "output://3", "offset": 40960 }),
            "counts bytes, and lines are counted here",
        ),
        (
            "read_command_output",
            json!({ "artifact_id": "cmd-1706.txt" }),
            "`output://` takes a number that stands in an answer",
        ),
        (
            "read_command_output",
            json!({ "artifact_id": "3", "search": "(" }),
            "not a valid Rust regular expression",
        ),
        ("execute_command", json!({ "command": "x", "cmd": "y" }), "differ; give `command`"),
        (
            "new_task",
            json!({ "mode": "code", "message": "m", "todos": [{ "content": "a",
            "status": "maybe" }] }),
            "has the status `maybe`",
        ),
    ];
    for (name, written, expected) in cases {
        let refused = parsed(name, &written).map(|call| format!("{call:?}")).unwrap_err();
        assert!(refused.contains(expected), "{name} {written}: {refused}");
    }
}
