//! Calls as other agents' tools have them. Those that are not guessed are in `peer_doubts`.

use crate::tools::dispatch::CheckedCall;
use crate::tools::fixture::ToolFixture;
use locum_base::text::head;
use locum_base::tool::ToolName;
use serde_json::{Value, json};

pub(super) const PATCH: &str =
    "*** Begin Patch\n*** Update File: src/a\n@@\n-one\n+1\n*** End Patch";

const FILE: &str = "one\n  two\nthree\nfour\nfive\n";

pub(super) fn parsed(name: &str, arguments: &Value) -> Result<CheckedCall, String> {
    let fixture = ToolFixture::new(&[("src/a", FILE)]);
    let call = fixture.parse(name, &arguments.to_string(), ToolName::ALL);
    call.map_err(|error| error.0)
}

#[test]
fn what_other_agents_send_is_the_call_they_mean() {
    let cases = [
        // Roo, Kilo, Claude Code, Codex: reading.
        ("read_file", json!({ "file_path": "src/a" }), "read_file", json!({ "path": "src/a" })),
        (
            "Read",
            json!({ "file_path": "src/a", "offset": 2, "limit": 2 }),
            "read_file",
            json!({ "path": "src/a", "offset": 2, "limit": 2 }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "start_line": 2, "end_line": 3 }),
            "read_file",
            json!({ "path": "src/a", "offset": 2, "limit": 2 }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "end_line": "3" }),
            "read_file",
            json!({ "path": "src/a", "limit": 3 }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "line_range": "2-4" }),
            "read_file",
            json!({ "path": "src/a", "offset": 2, "limit": 3 }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "view_range": [3, -1] }),
            "read_file",
            json!({ "path": "src/a", "offset": 3 }),
        ),
        (
            "read_file",
            json!({ "files": [{ "path": "src/a", "lineRanges": [[1, 2]] }] }),
            "read_file",
            json!({ "path": "src/a", "offset": 1, "limit": 2 }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "line_range": ["1-2", "4-5"] }),
            "read_file",
            json!({ "path": "src/a", "line_ranges": ["1-2", "4-5"] }),
        ),
        (
            "read_file",
            json!({ "path": "src/a", "line_ranges": "1-2, 4" }),
            "read_file",
            json!({ "path": "src/a", "line_ranges": [[1, 2], [4, 4]] }),
        ),
        (
            "read_file",
            json!({ "files": [{ "file_path": "src/a", "line_range": "2-3" }, "src/b"] }),
            "read_file",
            json!({ "path": "src/a", "offset": 2, "limit": 2, "files": [{ "path": "src/b" }] }),
        ),
        (
            "read_file",
            json!({ "paths": ["src/a", "src/b"], "line_count": 3 }),
            "read_file",
            json!({ "path": "src/a", "files": ["src/b"] }),
        ),
        (
            "read_file",
            json!({ "path": ["src/a", "src/b"] }),
            "read_file",
            json!({ "path": "src/a", "files": ["src/b"] }),
        ),
        (
            "read_file",
            json!({ "args": { "file": [{ "path": "src/a" },
            { "path": "src/b", "line_range": ["1-1", "3-4"], "reason": "x" }] } }),
            "read_file",
            json!({ "path": "src/a",
            "files": [{ "path": "src/b", "line_ranges": ["1-1", "3-4"] }] }),
        ),
        ("read_file", json!({ "files": "[\"src/a\"]" }), "read_file", json!({ "path": "src/a" })),
        (
            "read_file",
            json!({ "args": { "file": { "path": "src/a", "line_range": "1-1" } } }),
            "read_file",
            json!({ "path": "src/a", "offset": 1, "limit": 1 }),
        ),
        (
            "read_file",
            json!({ "args": { "file": [{ "path": "src/a" }] } }),
            "read_file",
            json!({ "path": "src/a" }),
        ),
        // Writing.
        (
            "write_to_file",
            json!({ "path": "b", "content": "x", "line_count": 1 }),
            "write_to_file",
            json!({ "path": "b", "content": "x" }),
        ),
        (
            "Write",
            json!({ "file_path": "b", "content": "x" }),
            "write_to_file",
            json!({ "path": "b", "content": "x" }),
        ),
        (
            "create_file",
            json!({ "filePath": "b", "file_text": "x" }),
            "write_to_file",
            json!({ "path": "b", "content": "x" }),
        ),
        // Changing.
        (
            "apply_diff",
            json!({ "file_path": "src/a", "diff": [
            { "content": "<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE", "start_line": 1 },
            { "search": "five", "replace": "5", "start_line": 5 } ] }),
            "apply_diff",
            json!({ "path": "src/a", "diff": "<<<<<<< SEARCH\n:start_line:1\n-------\none\n\
                =======\n1\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n:start_line:5\n-------\nfive\n\
                =======\n5\n>>>>>>> REPLACE" }),
        ),
        (
            "Edit",
            json!({ "file_path": "src/a", "old_string": "one\n", "new_string": "1\n",
            "replace_all": false }),
            "apply_diff",
            json!({ "path": "src/a", "old_string": "one\n", "new_string": "1\n" }),
        ),
        (
            "edit_file",
            json!({ "file_path": "src/a", "old_str": "one", "new_str": "",
            "replace_all": "true" }),
            "apply_diff",
            json!({ "path": "src/a", "edits": [{ "old_string": "one", "new_string": "",
            "replace_all": true }] }),
        ),
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": "[{\"old_string\":\"one\",\"new_string\":\"1\"},\
                {\"filePath\":\"src/a\",\"oldString\":\"two\",\"newString\":\"2\"}]" }),
            "multi_edit",
            json!({ "path": "src/a", "edits": [{ "old_string": "one", "new_string": "1" },
            { "old_string": "two", "new_string": "2", "replace_all": false }] }),
        ),
        (
            "insert_content",
            json!({ "path": "src/a", "line": "0", "content": "x" }),
            "insert_content",
            json!({ "path": "src/a", "line": 0, "content": "x" }),
        ),
        (
            "search_and_replace",
            json!({ "file_path": "src/a", "old_string": "one", "new_string": "1" }),
            "search_and_replace",
            json!({ "path": "src/a", "search": "one", "replace": "1", "count": 1 }),
        ),
        (
            "NotebookEdit",
            json!({ "notebook_path": "src/a", "cell_id": "cell-1", "new_source": "x",
            "edit_mode": "replace" }),
            "notebook_edit",
            json!({ "path": "src/a", "cell_id": "cell-1", "new_source": "x" }),
        ),
        (
            "delete_file",
            json!({ "target_file": "src/a", "explanation": "why" }),
            "delete_file",
            json!({ "path": "src/a" }),
        ),
        (
            "move_file",
            json!({ "source": "src/a", "destination": "src/b" }),
            "move_file",
            json!({ "path": "src/a", "to": "src/b" }),
        ),
        // One tool of several effects.
        (
            "str_replace_editor",
            json!({ "command": "view", "path": "src/a", "view_range": [2, 3] }),
            "read_file",
            json!({ "path": "src/a", "offset": 2, "limit": 2 }),
        ),
        (
            "str_replace_based_edit_tool",
            json!({ "command": "create", "path": "b", "file_text": "x", "old_str": "" }),
            "write_to_file",
            json!({ "path": "b", "content": "x" }),
        ),
        (
            "str_replace_based_edit_tool",
            json!({ "command": "str_replace", "path": "src/a", "old_str": "one" }),
            "apply_diff",
            json!({ "path": "src/a", "old_string": "one", "new_string": "" }),
        ),
        // Patches.
        (
            "shell",
            json!({ "command": ["apply_patch", PATCH], "workdir": ".", "timeout_ms": 10 }),
            "apply_patch",
            json!({ "patch": PATCH }),
        ),
        (
            "Bash",
            json!({ "command": "npm start", "run_in_background": true }),
            "execute_command",
            json!({ "command": "npm start", "background": true }),
        ),
        ("BashOutput", json!({ "bash_id": "2" }), "command_output", json!({ "id": "2" })),
        ("KillShell", json!({ "shell_id": "2" }), "stop_command", json!({ "id": "2" })),
        ("TaskStop", json!({ "task_id": "2" }), "stop_command", json!({ "id": 2 })),
        ("TaskOutput", json!({ "task_id": "2" }), "command_output", json!({ "id": 2, "wait": 30 })),
        (
            "TaskOutput",
            json!({ "task_id": "2", "block": true, "timeout": 1500 }),
            "command_output",
            json!({ "id": 2, "wait": 2 }),
        ),
        (
            "TaskOutput",
            json!({ "task_id": "2", "block": false, "timeout": 1500 }),
            "command_output",
            json!({ "id": 2 }),
        ),
        (
            "write_stdin",
            json!({ "session_id": 2, "chars": "", "yield_time_ms": 5000, "max_output_tokens": 9 }),
            "command_output",
            json!({ "id": 2, "wait": 5 }),
        ),
        (
            "container.exec",
            json!({ "cmd": ["bash", "-lc", "ls"], "workdir": "src", "timeout": 2000 }),
            "execute_command",
            json!({ "command": "ls", "cwd": "src", "timeout": 2 }),
        ),
        (
            "read_command_output",
            json!({ "artifact_id": "output://3", "offset": 0, "limit": 40960 }),
            "read_file",
            json!({ "path": "output://3" }),
        ),
        (
            "read_command_output",
            json!({ "artifact_id": 3, "search": "error|warning", "limit": null }),
            "search_files",
            json!({ "path": "output://3", "regex": "(?i)error|warning" }),
        ),
        ("read_command_output", json!({ "id": 2 }), "command_output", json!({ "id": 2 })),
        (
            "codesearch",
            json!({ "query": "q", "tokensNum": 5000 }),
            "web_search",
            json!({ "query": "q" }),
        ),
        (
            "semantic_search",
            json!({ "query": "token expiry", "path": "src" }),
            "codebase_search",
            json!({ "query": "token expiry", "path": "src" }),
        ),
        (
            "notebook_edit",
            json!({ "path": "n.ipynb", "action": "insert", "index": 2, "kind": "code",
            "source": "x", "expected_revision": "r" }),
            "notebook_edit",
            json!({ "path": "n.ipynb", "edit_mode": "insert", "cell_number": 1, "cell_type": "code",
            "new_source": "x" }),
        ),
        (
            "notebook_edit",
            json!({ "path": "n.ipynb", "action": "insert", "index": 0, "kind": "code",
            "source": "x" }),
            "notebook_edit",
            json!({ "path": "n.ipynb", "edit_mode": "insert", "cell_type": "code",
            "new_source": "x" }),
        ),
        (
            "notebook_edit",
            json!({ "path": "n.ipynb", "action": "delete", "index": 2 }),
            "notebook_edit",
            json!({ "path": "n.ipynb", "edit_mode": "delete", "cell_number": 2 }),
        ),
        ("notebook_read", json!({ "path": "src/a" }), "read_file", json!({ "path": "src/a" })),
        (
            "mode_switch",
            json!({ "target": "ask", "reason": "r" }),
            "switch_mode",
            json!({ "mode_slug": "ask", "reason": "r" }),
        ),
        (
            "shell",
            json!({ "command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{PATCH}\nEOF\n")] }),
            "apply_patch",
            json!({ "patch": PATCH }),
        ),
        (
            "Bash",
            json!({ "command": format!("apply_patch '{PATCH}'"), "description": "d" }),
            "apply_patch",
            json!({ "patch": PATCH }),
        ),
        (
            "apply_patch",
            json!({ "command": ["apply_patch", PATCH] }),
            "apply_patch",
            json!({ "patch": PATCH }),
        ),
        ("patch", json!({ "patchText": PATCH }), "apply_patch", json!({ "patch": PATCH })),
        // Running.
        (
            "execute_command",
            json!({ "cmd": "ls", "description": "look" }),
            "execute_command",
            json!({ "command": "ls" }),
        ),
        (
            "Bash",
            json!({ "command": "ls", "timeout": 1500, "run_in_background": false }),
            "execute_command",
            json!({ "command": "ls", "timeout": 2 }),
        ),
        (
            "shell",
            json!({ "command": ["bash", "-lc", "ls | wc -l"], "workdir": "src",
            "timeout_ms": 10000 }),
            "execute_command",
            json!({ "command": "ls | wc -l", "cwd": "src", "timeout": 10 }),
        ),
        (
            "execute_command",
            json!({ "command": ["grep", "a b", "src"] }),
            "execute_command",
            json!({ "command": "grep 'a b' src" }),
        ),
        // Searching.
        (
            "search_files",
            json!({ "path": "src", "pattern": "o", "-n": true, "context": 2 }),
            "search_files",
            json!({ "path": "src", "regex": "o" }),
        ),
        (
            "Grep",
            json!({ "pattern": "o", "glob": "*.rs", "-i": true,
            "output_mode": "content", "head_limit": 5 }),
            "search_files",
            json!({ "regex": "(?i)o", "file_pattern": "*.rs" }),
        ),
        (
            "grep_search",
            json!({ "query": "o", "include_pattern": "*.rs",
            "case_sensitive": false, "explanation": "why" }),
            "search_files",
            json!({ "regex": "(?i)o", "file_pattern": "*.rs" }),
        ),
        ("Glob", json!({ "pattern": "*.rs" }), "glob", json!({ "pattern": "*.rs" })),
        ("LS", json!({ "path": "src", "ignore": ["x"] }), "list_files", json!({ "path": "src" })),
        ("list_dir", json!({ "dir_path": "src" }), "list_files", json!({ "path": "src" })),
        // Steering.
        (
            "Task",
            json!({ "description": "d", "prompt": "p", "subagent_type": "code" }),
            "new_task",
            json!({ "mode": "code", "message": "p" }),
        ),
        (
            "new_task",
            json!({ "mode": "code", "message": "m", "priority": "urgent",
            "todos": ["a"] }),
            "new_task",
            json!({ "mode": "code", "message": "m", "priority": "high", "todos": "- [ ] a" }),
        ),
        (
            "TodoWrite",
            json!({ "todos": [{ "content": "a", "status": "completed",
            "activeForm": "A" }] }),
            "update_todo_list",
            json!({ "todos": "- [x] a" }),
        ),
        (
            "update_plan",
            json!({ "plan": [{ "step": "a", "status": "in_progress" }],
            "explanation": "e" }),
            "update_todo_list",
            json!({ "todos": "- [-] a" }),
        ),
        (
            "update_todo_list",
            json!({ "todos": "1. a\n2. b" }),
            "update_todo_list",
            json!({ "todos": "- [ ] a\n- [ ] b" }),
        ),
        ("switch_mode", json!({ "mode": "ask" }), "switch_mode", json!({ "mode_slug": "ask" })),
        (
            "attempt_completion",
            json!({ "result": "r", "command": "open x" }),
            "attempt_completion",
            json!({ "result": "r" }),
        ),
        (
            "ask_followup_question",
            json!({ "question": "q", "options": "- a\n- b" }),
            "ask_followup_question",
            json!({ "question": "q", "follow_up": ["a", "b"] }),
        ),
        (
            "AskUserQuestion",
            json!({ "questions": [{ "question": "q", "header": "h", "multiSelect": false,
            "options": [{ "label": "a", "description": "d" }, { "label": "b" }] }] }),
            "ask_followup_question",
            json!({ "question": "q", "follow_up": ["a", "b"] }),
        ),
        (
            "WebFetch",
            json!({ "url": "https://docs.rs", "prompt": "what?" }),
            "web_fetch",
            json!({ "url": "https://docs.rs" }),
        ),
        (
            "use_mcp_tool",
            json!({ "server": "s", "tool": "t", "arguments": {} }),
            "use_mcp_tool",
            json!({ "server_name": "s", "tool_name": "t", "arguments": {} }),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, written, tool, meant) in cases {
        let shown = |call: Result<CheckedCall, String>| format!("{call:?}");
        // Where a checkout lies is no part of a call.
        let plain = |text: String| match text.find("root: \"") {
            Some(at) => format!("{}{}", &text[..at], text[at..].split_once("\",").unwrap().1),
            None => text,
        };
        let (found, expected) =
            (plain(shown(parsed(name, &written))), plain(shown(parsed(tool, &meant))));
        if found != expected || found.starts_with("Err") {
            let (found, expected) = (head(&found, 400), head(&expected, 400));
            wrong.push(format!("{name} {written}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
