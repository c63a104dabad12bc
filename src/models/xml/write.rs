//! What a model with prompted tools reads: how to call them, the calls it made, their results.
//!
//! In: tools, messages. Out: text. The same message is always the same text, so that a later
//! request begins with an earlier one.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::xml::reply::RESULT_TAG;
use crate::xml::value;
use locum_base::chat::{Message, ToolCall, ToolResult, ToolSpec};

/// Returns the section of the system prompt that describes the tools.
pub fn section(tools: &[ToolSpec]) -> String {
    let tools: Vec<String> = tools.iter().map(described).collect();
    format!("{}\n{}", include_str!("../../../config/prompts/xml.md"), tools.join("\n"))
}

fn described(tool: &ToolSpec) -> String {
    let mut text = format!("## {}\n\n{}\n", tool.name, tool.description.trim());
    let required: Vec<&str> = tool
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let none = Map::new();
    let properties = tool.parameters.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let (needed, optional): (Vec<_>, Vec<_>) =
        properties.iter().partition(|(name, _)| required.contains(&name.as_str()));
    for (lead, group) in [("Parameters:", &needed), ("Optional parameters:", &optional)] {
        if !group.is_empty() {
            let lines: String = group
                .iter()
                .map(|(name, schema)| format!("- `{name}`{}\n", meaning(schema)))
                .collect();
            // Writing into a String cannot fail.
            let _ = write!(text, "\n{lead}\n\n{lines}");
        }
    }
    let slots: String = needed.iter().map(|(name, _)| format!("<{name}>...</{name}>\n")).collect();
    format!("{text}\n<{}>\n{slots}</{}>\n", tool.name, tool.name)
}

/// Returns what a parameter is: its type where it is not text, what it may be, what it means.
fn meaning(schema: &Value) -> String {
    let nested = value::is(Some(schema), "array") || value::is(Some(schema), "object");
    let kind = if nested {
        // Its parts have meanings of their own.
        let shape: Map<String, Value> = schema
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| *key != "description")
            .map(|(key, part)| (key.clone(), part.clone()))
            .collect();
        Some(format!("JSON: `{}`", Value::Object(shape)))
    } else if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        Some(words.join(" or "))
    } else {
        ["integer", "number", "boolean"].into_iter().find(|kind| value::is(Some(schema), kind)).map(
            |kind| match kind {
                "boolean" => "`true` or `false`".to_owned(),
                "integer" => "whole number".to_owned(),
                kind => kind.to_owned(),
            },
        )
    };
    let kind = kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let words = schema
        .get("description")
        .and_then(Value::as_str)
        .map(|words| format!(": {words}"))
        .unwrap_or_default();
    format!("{kind}{words}")
}

/// What stands for images.
const UNSHOWN_IMAGES: &str = "(Images cannot be shown in words.)";

/// Returns the conversation as text. Consecutive messages of one speaker become one, for servers
/// that want speakers in turn.
pub fn conversation(messages: &[Message]) -> Vec<Message> {
    let mut written: Vec<Message> = Vec::with_capacity(messages.len());
    let mut calls: &[ToolCall] = &[];
    for message in messages {
        match message {
            Message::User { text } => say(&mut written, text.clone()),
            Message::Images { .. } => say(&mut written, UNSHOWN_IMAGES.to_owned()),
            Message::Assistant { text, reasoning, calls: made, opaque: _ } => {
                calls = made;
                let parts: Vec<String> = (!text.is_empty())
                    .then(|| text.clone())
                    .into_iter()
                    .chain(made.iter().map(call))
                    .collect();
                written.push(Message::Assistant {
                    text: parts.join("\n\n"),
                    reasoning: reasoning.clone(),
                    calls: Vec::new(),
                    opaque: None,
                });
            }
            Message::Tool { results } => {
                let results: Vec<String> =
                    results.iter().map(|answer| result(answer, calls)).collect();
                say(&mut written, results.join("\n\n"));
            }
        }
    }
    written
}

fn say(written: &mut Vec<Message>, more: String) {
    match written.last_mut() {
        Some(Message::User { text }) => {
            text.push_str("\n\n");
            text.push_str(&more);
        }
        Some(Message::Images { .. } | Message::Assistant { .. } | Message::Tool { .. }) | None => {
            written.push(Message::User { text: more })
        }
    }
}

/// Writes a call as the model is to write it.
pub(super) fn call(call: &ToolCall) -> String {
    let name = &call.name;
    let inner = match serde_json::from_str::<Value>(&call.arguments) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .map(|(key, field)| format!("<{key}>{}</{key}>\n", value::write(name, key, field)))
            .collect(),
        Ok(_) | Err(_) => format!("{}\n", call.arguments),
    };
    format!("<{name}>\n{inner}</{name}>")
}

/// Writes a result. Its tag is one that does not occur in it: no text can end it early and go on as
/// another.
fn result(result: &ToolResult, calls: &[ToolCall]) -> String {
    let mut tag = RESULT_TAG.to_owned();
    while result.text.contains(&tag) {
        tag.push('_');
    }
    let place = calls.iter().position(|call| call.id == result.call_id);
    let tool = place
        .and_then(|at| calls.get(at))
        .map(|call| format!(" tool=\"{}\"", call.name))
        .unwrap_or_default();
    let number = place
        .filter(|_| calls.len() > 1)
        .map(|at| format!(" call=\"{}\"", at + 1))
        .unwrap_or_default();
    let failed = if result.is_error { " failed=\"true\"" } else { "" };
    let images = if result.images.is_empty() { "" } else { UNSHOWN_IMAGES };
    let gap = if images.is_empty() { "" } else { "\n" };
    format!("<{tag}{tool}{number}{failed}>\n{}{gap}{images}\n</{tag}>", result.text)
}
