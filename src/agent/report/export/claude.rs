//! The lines that Claude Code and Kode keep a session in: a file of JSON lines below
//! `projects/FOLDER/`, sub-tasks as side chains in it. Shape: as Claude Code 2 writes it.

use serde_json::{Value, json};

use crate::report::export::history::{HistoryEntry, TaskHistory, histories};
use crate::report::export::{Exported, ExportedFile, blocks};
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_base::json;

/// Returns the file of a session.
pub(super) fn files(session: &Exported<'_>) -> Vec<ExportedFile> {
    let id = session.task_id(TaskId(0));
    let mut lines: Vec<(i64, String)> = Vec::new();
    for history in histories(session.lines) {
        let mut parent: Option<String> = None;
        for (number, entry) in history.entries.iter().enumerate() {
            let uuid = session.derived_id(&format!("{} entry {number}", history.task));
            let mut line = json!({
                "parentUuid": parent,
                "isSidechain": history.parent.is_some(),
                "userType": "external",
                "cwd": session.folder(),
                "sessionId": id,
                "version": env!("CARGO_PKG_VERSION"),
                "uuid": uuid,
                "timestamp": entry.at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            });
            add_message(&mut line, &history, (entry, &uuid));
            lines.push((entry.at.as_millisecond(), line.to_string()));
            parent = Some(uuid);
        }
    }
    lines.sort_by_key(|(at, _)| *at);
    let text: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
    let folder = session.folder();
    let slug: String = folder.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let slug = if slug.is_empty() { "-".to_owned() } else { slug };
    vec![ExportedFile { path: format!("projects/{slug}/{id}.jsonl"), text }]
}

fn add_message(line: &mut Value, history: &TaskHistory, (entry, uuid): (&HistoryEntry, &str)) {
    let (role, content) = blocks::blocks(&entry.message);
    json::put(line, "type", role);
    if entry.compaction.is_some() {
        json::put(line, "isCompactSummary", true);
    }
    let Message::Assistant { reasoning, calls, .. } = &entry.message else {
        let plain = match &entry.message {
            Message::User { text } => Value::from(text.as_str()),
            _ => Value::Array(content),
        };
        json::put(line, "message", json!({ "role": role, "content": plain }));
        return;
    };
    let thought = json!({ "type": "thinking", "thinking": reasoning, "signature": "" });
    let content: Vec<Value> =
        (!reasoning.is_empty()).then_some(thought).into_iter().chain(content).collect();
    let usage = entry.charged.unwrap_or_default().usage;
    let fresh = usage.input.saturating_sub(usage.cached_read).saturating_sub(usage.cached_write);
    json::put(
        line,
        "message",
        json!({
            "id": format!("msg_{}_{uuid}", history.task),
            "type": "message",
            "role": role,
            "model": entry.model,
            "content": content,
            "stop_reason": if calls.is_empty() { "end_turn" } else { "tool_use" },
            "stop_sequence": null,
            "usage": {
                "input_tokens": fresh,
                "cache_creation_input_tokens": usage.cached_write,
                "cache_read_input_tokens": usage.cached_read,
                "output_tokens": usage.output,
            },
        }),
    );
}
