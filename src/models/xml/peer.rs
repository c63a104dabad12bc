//! Calls as other agents' models write them: by those agents' names, or packed in a tag that is the
//! same for all.
//!
//! In: the name of a tag and what it holds. Out: whether it can be a call, and which.

use serde_json::{Map, Value};

use locum_base::tool::ToolName;

/// Tags that hold a call as JSON: its name and its arguments.
const ENVELOPES: &[&str] = &["tool_call", "function_call"];

/// Returns true for the name of another agent's tool that is no word of a text in tags: `Read`,
/// `TodoWrite`, `bash`.
pub(super) fn is_tool(name: &str) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
        || matches!(name, "bash" | "shell");
    is_name && ToolName::called(name).is_some()
}

/// Returns the call that a tag holds: that of an envelope, or the one of its own name.
pub(super) fn unpacked(name: &str, fields: Map<String, Value>) -> (String, Map<String, Value>) {
    let inner = fields.get("name").and_then(Value::as_str).map(str::to_owned);
    let arguments = ["arguments", "parameters", "input"];
    let arguments = arguments.iter().find_map(|key| fields.get(*key)?.as_object().cloned());
    match (inner, arguments) {
        (Some(inner), Some(arguments)) if ENVELOPES.contains(&name) => (inner, arguments),
        _ => (name.to_owned(), fields),
    }
}
