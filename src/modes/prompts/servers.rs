//! The prompt's section on MCP servers: their names, what their tools are called, their resources.
//! Descriptions and schemas go with the tools themselves.
//!
//! In: what servers said when the run began, cleaned already. Out: text.

use serde_json::Value;

use locum_base::text::code_list;

/// A server that answers, and what it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfferedServer {
    /// Name in the definitions.
    pub name: String,
    /// Tools that the policy may allow.
    pub tools: Vec<OfferedTool>,
    /// Whether it has resources.
    pub has_resources: bool,
    /// Addresses of some of them.
    pub resources: Vec<String>,
    /// Addresses of some with places to fill in: `file:///{path}`.
    pub templates: Vec<String>,
    /// Its prompts.
    pub prompts: Vec<OfferedPrompt>,
}

/// A prompt of a server: a text about how to do something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedPrompt {
    /// Its name as the server gives it.
    pub name: String,
    /// What the server says it is for, in one bounded line.
    pub description: String,
    /// What it takes, in order.
    pub arguments: Vec<PromptArgument>,
}

/// What a prompt takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name as the server gives it.
    pub name: String,
    /// Whether it has to be given.
    pub is_required: bool,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// Its name as the server gives it.
    pub name: String,
    /// The name models call it by: `mcp--time--now`.
    pub called: String,
    /// What the server says it does, in one bounded line.
    pub description: String,
    /// What it takes, as the server wrote it.
    pub schema: Value,
    /// A hash of name, description and schema as the server wrote them.
    pub hash: String,
}

/// Returns the servers as a list.
pub fn listed(servers: &[OfferedServer]) -> String {
    let line = |server: &OfferedServer| {
        let tools: Vec<String> =
            server.tools.iter().map(|tool| format!("`{}`", tool.called)).collect();
        let tools = if tools.is_empty() { "no tools".to_owned() } else { tools.join(", ") };
        let resources = match (server.has_resources, server.resources.is_empty()) {
            (false, _) => String::new(),
            (true, true) => "; resources by `access_mcp_resource`".to_owned(),
            (true, false) => {
                let some = code_list(&server.resources);
                format!("; resources by `access_mcp_resource`, such as {some}")
            }
        };
        let templates = match server.has_resources && !server.templates.is_empty() {
            true => format!("; addresses of more: {}", code_list(&server.templates)),
            false => String::new(),
        };
        let resources = resources + &templates;
        let prompts: Vec<String> = server.prompts.iter().map(prompt_line).collect();
        let prompts = match prompts.is_empty() {
            true => String::new(),
            false => format!("; prompts by `get_mcp_prompt`:\n{}", prompts.concat().trim_end()),
        };
        format!("- `{}`: {tools}{resources}{prompts}\n", server.name)
    };
    servers.iter().map(line).collect()
}

/// Returns the addresses of resources that servers named, a line for each server that has some.
pub fn listed_resources(servers: &[OfferedServer]) -> String {
    let line = |server: &OfferedServer| {
        let named = match server.resources.as_slice() {
            [] => "names none by itself".to_owned(),
            uris => code_list(uris),
        };
        let templates = match server.templates.as_slice() {
            [] => String::new(),
            uris => format!("; addresses of more: {}", code_list(uris)),
        };
        format!("- `{}`: {named}{templates}\n", server.name)
    };
    servers.iter().filter(|server| server.has_resources).map(line).collect()
}

fn prompt_line(prompt: &OfferedPrompt) -> String {
    let argument = |argument: &PromptArgument| match argument.is_required {
        true => format!(" <{}>", argument.name),
        false => format!(" [{}]", argument.name),
    };
    let arguments: String = prompt.arguments.iter().map(argument).collect();
    let about = match prompt.description.as_str() {
        "" => String::new(),
        description => format!(": {description}"),
    };
    format!("  - `{}{arguments}`{about}\n", prompt.name)
}
