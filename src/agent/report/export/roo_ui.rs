//! What Roo Code and Kilo Code show of a task, message by message (`ui_messages.json`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::report::export::history::{HistoryEntry, TaskHistory};
use crate::report::export::{Exported, blocks};
use crate::session::event::{Event, JournalLine};
use crate::session::recorded::CompactionKind;
use locum_base::chat::{Message, ToolCall, ToolResult};
use locum_base::json;
use locum_base::tool::ToolName;

/// Returns what is shown of a task.
pub(super) fn messages(session: &Exported<'_>, history: &TaskHistory) -> Vec<Value> {
    let mut shown: Vec<Value> = Vec::new();
    let mut calls: Vec<&ToolCall> = Vec::new();
    let from_people: BTreeSet<&str> = session.lines.iter().filter_map(read).collect();
    for (number, entry) in history.entries.iter().enumerate() {
        match &entry.message {
            Message::User { text } if number == 0 => {
                let words = if history.parent.is_none() { &session.start.task } else { text };
                shown.push(say(entry, "text", words));
            }
            Message::User { text } => shown.push(said_by_us(&from_people, entry, text)),
            Message::Images { .. } => {}
            Message::Assistant { text, reasoning, calls: made, .. } => {
                shown.push(say(entry, "api_req_started", &request(entry).to_string()));
                if !reasoning.is_empty() {
                    shown.push(say(entry, "reasoning", reasoning));
                }
                if !text.is_empty() {
                    shown.push(say(entry, "text", text));
                }
                shown.extend(made.iter().map(|call| asked(entry, call)));
                calls = made.iter().collect();
            }
            Message::Tool { results } => {
                shown.extend(results.iter().filter_map(|result| answered(entry, &calls, result)));
            }
        }
    }
    shown.extend(checkpoints(session, history));
    shown.sort_by_key(|message| json::field(message, "ts").as_i64());
    // Their readers tell messages apart by it.
    let mut next = i64::MIN;
    for message in &mut shown {
        let at = json::field(message, "ts").as_i64().unwrap_or_default().max(next);
        json::put(message, "ts", json!(at));
        next = at.saturating_add(1);
    }
    shown
}

/// Returns the name that a tool has here, whatever the model called it.
fn own_name(call: &ToolCall) -> &str {
    match ToolName::called(&call.name) {
        Some(tool) => tool.as_str(),
        None => &call.name,
    }
}

fn say(entry: &HistoryEntry, kind: &str, text: &str) -> Value {
    json!({ "ts": entry.at.as_millisecond(), "type": "say", "say": kind, "text": text })
}

fn ask(entry: &HistoryEntry, kind: &str, text: &str) -> Value {
    json!({ "ts": entry.at.as_millisecond(), "type": "ask", "ask": kind, "text": text, "isAnswered": true })
}

/// Returns what a request cost, in the form of its message.
fn request(entry: &HistoryEntry) -> Value {
    let charged = entry.charged.unwrap_or_default();
    json!({
        "apiProtocol": "anthropic",
        "tokensIn": charged.usage.input,
        "tokensOut": charged.usage.output,
        "cacheWrites": charged.usage.cached_write,
        "cacheReads": charged.usage.cached_read,
        "cost": charged.cost_usd,
    })
}

/// Returns what a task read of a person's words.
fn read(line: &JournalLine) -> Option<&str> {
    match &line.event {
        Event::MessageRead { text, .. } => Some(text),
        _ => None,
    }
}

/// Returns what a person wrote, or what the session said to the model on its own.
fn said_by_us(from_people: &BTreeSet<&str>, entry: &HistoryEntry, text: &str) -> Value {
    let charged = entry.charged.unwrap_or_default();
    match entry.compaction {
        Some(CompactionKind::Condensed) => {
            let mut message = say(entry, "condense_context", "");
            json::put(
                &mut message,
                "contextCondense",
                json!({
                    "cost": charged.cost_usd,
                    "prevContextTokens": charged.usage.input,
                    "newContextTokens": charged.usage.output,
                    "summary": text,
                }),
            );
            message
        }
        Some(CompactionKind::Truncated) => say(entry, "sliding_window_truncation", text),
        None if from_people.contains(text) => say(entry, "user_feedback", text),
        None => say(entry, "error", text),
    }
}

/// Returns a call as the question whether it may be performed.
fn asked(entry: &HistoryEntry, call: &ToolCall) -> Value {
    let arguments = blocks::arguments(call);
    let text = |key: &str| json::text(&arguments, key);
    match own_name(call) {
        "execute_command" => ask(entry, "command", text("command")),
        "attempt_completion" => say(entry, "completion_result", text("result")),
        "ask_followup_question" => {
            let question = json!({
                "question": text("question"),
                "suggest": arguments.get("follow_up").cloned().unwrap_or_else(|| json!([])),
            });
            ask(entry, "followup", &question.to_string())
        }
        "use_mcp_tool" => {
            let mut words = call.name.split("--").skip(1);
            let server = words.next().unwrap_or(text("server_name"));
            let tool = words.next().unwrap_or(text("tool_name"));
            let request = json!({
                "type": "use_mcp_tool",
                "serverName": server,
                "toolName": tool,
                "arguments": arguments.to_string(),
            });
            ask(entry, "use_mcp_server", &request.to_string())
        }
        name => ask(entry, "tool", &tool(name, &arguments).to_string()),
    }
}

/// Returns a call of a tool as the shared shape of all of them.
fn tool(name: &str, arguments: &Value) -> Value {
    let word = match name {
        "read_file" => "readFile",
        "list_files" if *json::field(arguments, "recursive") == true => "listFilesRecursive",
        "list_files" | "glob" => "listFilesTopLevel",
        "list_code_definition_names" => "listCodeDefinitionNames",
        "search_files" => "searchFiles",
        "codebase_search" => "codebaseSearch",
        "write_to_file" => "newFileCreated",
        "apply_diff" | "apply_patch" | "edit" | "multi_edit" | "notebook_edit" => "appliedDiff",
        "insert_content" | "search_and_replace" | "move_file" | "delete_file" => {
            "editedExistingFile"
        }
        "switch_mode" | "request_mode_switch" => "switchMode",
        "new_task" => "newTask",
        "update_todo_list" => "updateTodoList",
        "generate_image" => "generateImage",
        "run_slash_command" => "runSlashCommand",
        "skill" => "skill",
        other => other,
    };
    let mut shown = json!({ "tool": word });
    if let Some(list) = arguments.get("todos") {
        json::put(&mut shown, "todos", steps(list));
    }
    let several = arguments.get("files").and_then(Value::as_array);
    if let Some(path) = several.and_then(|files| files.first()?.get("path")) {
        json::put(&mut shown, "path", path.clone());
    }
    for (key, theirs) in [
        ("file_path", "path"),
        ("filePath", "path"),
        ("notebook_path", "path"),
        ("path", "path"),
        ("content", "content"),
        ("diff", "diff"),
        ("patch", "diff"),
        ("regex", "regex"),
        ("file_pattern", "filePattern"),
        ("query", "query"),
        ("mode_slug", "mode"),
        ("mode", "mode"),
        ("reason", "reason"),
        ("message", "content"),
    ] {
        if let Some(value) = arguments.get(key).filter(|value| value.is_string()) {
            json::put(&mut shown, theirs, value.clone());
        }
    }
    shown
}

/// Returns the steps of a checklist, each with its state.
fn steps(list: &Value) -> Value {
    let step = |content: &str, status: &str| json!({ "content": content, "status": status });
    let of_line = |line: &str| {
        let (mark, content) = line.trim_start_matches(['-', '*', ' ']).split_once(']')?;
        let status = match mark.trim_start_matches('[').trim() {
            "x" | "X" => "completed",
            "-" | "~" => "in_progress",
            _ => "pending",
        };
        Some(step(content.trim(), status))
    };
    let of_value = |value: &Value| match value {
        Value::String(content) => of_line(content).or_else(|| Some(step(content, "pending"))),
        value => Some(step(json::text(value, "content"), json::text(value, "status"))),
    };
    match list {
        Value::Array(steps) => steps.iter().filter_map(of_value).collect(),
        value => value.as_str().unwrap_or_default().lines().filter_map(of_line).collect(),
    }
}

/// Returns the answer to a call, where it is shown apart from the call.
fn answered(entry: &HistoryEntry, calls: &[&ToolCall], result: &ToolResult) -> Option<Value> {
    let call = calls.iter().find(|call| call.id == result.call_id);
    let name = call.map_or("", |call| own_name(call));
    let kind = match name {
        "execute_command" => "command_output",
        "new_task" => "subtask_result",
        "use_mcp_tool" => "mcp_server_response",
        _ if result.is_error && matches!(name, "apply_diff" | "apply_patch") => "diff_error",
        _ if result.is_error => "error",
        _ => return None,
    };
    Some(say(entry, kind, &result.text))
}

/// Returns the checkpoints of the checkout that the task works in.
fn checkpoints(session: &Exported<'_>, history: &TaskHistory) -> Vec<Value> {
    let owner = session.state.tree_owner(history.task);
    let is_first = owner.is_some_and(|owner| owner == history.task)
        || (owner.is_none() && history.parent.is_none());
    let shown = |JournalLine { at, event }: &JournalLine| match event {
        Event::Checkpointed { tree, commit, .. } if *tree == owner && is_first => Some(json!({
            "ts": at.as_millisecond(),
            "type": "say",
            "say": "checkpoint_saved",
            "text": commit.0,
            "checkpoint": { "from": session.start.base.0, "to": commit.0 },
        })),
        _ => None,
    };
    session.lines.iter().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::{steps, tool};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn a_checklist_is_shown_step_by_step() {
        let expected = json!([
            { "content": "a", "status": "completed" },
            { "content": "b", "status": "in_progress" },
            { "content": "c", "status": "pending" },
        ]);
        assert_eq!(steps(&json!("- [x] a\n- [-] b\nwords\n- [ ] c")), expected);
        assert_eq!(steps(&expected), expected);
        assert_eq!(steps(&json!(["c"])), json!([{ "content": "c", "status": "pending" }]));
    }

    #[test]
    fn the_path_is_found_under_the_names_of_other_agents() {
        for arguments in
            [json!({ "file_path": "a" }), json!({ "files": [{ "path": "a" }, { "path": "b" }] })]
        {
            assert_eq!(tool("read_file", &arguments), json!({ "tool": "readFile", "path": "a" }));
        }
    }
}
