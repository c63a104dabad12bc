//! Prompts of MCP servers, called as slash commands: `/mcp:SERVER:PROMPT` and, as Claude Code has
//! it, `/mcp__SERVER__PROMPT`.
//!
//! In: the arguments of a slash command. Out: those of `get_mcp_prompt`.

use serde_json::{Map, Value};

/// Returns true where a slash command is a prompt of a server.
pub(crate) fn is_prompt(fields: &Map<String, Value>) -> bool {
    ["command", "name"]
        .iter()
        .filter_map(|key| fields.get(*key)?.as_str())
        .any(|text| parts(text).is_some())
}

/// Takes the command apart.
pub(crate) fn command(fields: &mut Map<String, Value>) {
    let text = ["command", "name"].iter().find_map(|key| fields.remove(*key));
    let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
    let Some((server, prompt, words)) = parts(text) else { return };
    let (server, prompt, words) = (server.to_owned(), prompt.to_owned(), words.to_owned());
    fields.insert("server_name".to_owned(), Value::String(server));
    fields.insert("prompt_name".to_owned(), Value::String(prompt));
    if !words.is_empty() {
        fields.entry("args").or_insert(Value::String(words));
    }
}

/// Reads server, prompt and what follows them off a slash command.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim();
    let text = text.strip_prefix('/').unwrap_or(text);
    let (name, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (server, prompt) = match name.strip_prefix("mcp:") {
        Some(rest) => rest.split_once(':')?,
        None => name.strip_prefix("mcp__")?.split_once("__")?,
    };
    (!server.is_empty() && !prompt.is_empty()).then_some((server, prompt, words.trim()))
}
