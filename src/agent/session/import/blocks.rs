//! Messages in the shape of Anthropic's Messages API, read leniently: blocks that are not known are
//! named, not lost.

use serde_json::Value;

use locum_base::chat::{Reply, StopReason, ToolCall, ToolResult};
use locum_base::json;

/// What a message says to a model.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// Its words, without what the other agent adds of the environment.
    pub(super) text: String,
    /// Answers to calls.
    pub(super) results: Vec<ToolResult>,
}

/// Returns what a message of the role `user` says.
pub(super) fn said(content: &Value) -> Said {
    let mut said = Said::default();
    for block in &blocks_of(content) {
        match json::field(block, "type").as_str() {
            Some("tool_result") => said.results.push(ToolResult {
                call_id: string(block, "tool_use_id"),
                text: text_of(json::field(block, "content")),
                is_error: *json::field(block, "is_error") == true,
                ..ToolResult::default()
            }),
            _ => add(&mut said.text, &block_text(block)),
        }
    }
    said
}

/// Returns what a message of the role `assistant` says.
pub(super) fn reply(content: &Value) -> Reply {
    let mut reply = Reply::default();
    for block in &blocks_of(content) {
        match json::field(block, "type").as_str() {
            Some("tool_use") => reply.calls.push(ToolCall {
                id: string(block, "id"),
                name: string(block, "name"),
                arguments: json::field(block, "input").to_string(),
            }),
            Some("thinking") => add(&mut reply.reasoning, &string(block, "thinking")),
            Some("reasoning") => add(&mut reply.reasoning, &string(block, "text")),
            _ => add(&mut reply.text, &block_text(block)),
        }
    }
    if !reply.calls.is_empty() {
        reply.stop = StopReason::ToolUse;
    }
    reply
}

/// Adds what a later line has of the same reply.
pub(super) fn join(reply: &mut Reply, more: Reply) {
    reply.calls.extend(more.calls);
    add(&mut reply.reasoning, &more.reasoning);
    add(&mut reply.text, &more.text);
    if !reply.calls.is_empty() {
        reply.stop = StopReason::ToolUse;
    }
}

/// Returns the words of a message or an answer.
pub(super) fn text_of(content: &Value) -> String {
    let mut text = String::new();
    for block in &blocks_of(content) {
        add(&mut text, &block_text(block));
    }
    text
}

fn blocks_of(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn block_text(block: &Value) -> String {
    match json::field(block, "type").as_str() {
        Some("text") => {
            let text = string(block, "text");
            // Roo and Kilo add it to each message; it is no one's words.
            if text.trim_start().starts_with("<environment_details>") {
                String::new()
            } else {
                text
            }
        }
        Some("redacted_thinking") => String::new(),
        Some(kind) => format!("[{kind}]"),
        None => String::new(),
    }
}

fn string(block: &Value, key: &str) -> String {
    json::text(block, key).to_owned()
}

fn add(text: &mut String, more: &str) {
    if !more.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(more);
    }
}
