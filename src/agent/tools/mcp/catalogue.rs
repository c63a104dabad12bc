//! What a server says it has, as the run keeps it: the tools named by it when the run began, each
//! with a name for models, a bounded description and a hash.
//!
//! In: answers to `tools/list` and `resources/list`. Out: [`OfferedTool`]s and addresses.
//! Everything in them is untrusted text: names that could be confused with others are left out,
//! descriptions made one line.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::tools::mcp::schema::{self, one_line};
use locum_base::chat::ToolSpec;
use locum_base::text::head;
use locum_modes::prompts::servers::{OfferedPrompt, OfferedServer, OfferedTool, PromptArgument};

/// Most tools of one server.
pub const TOOLS_LIMIT: usize = 100;

/// Most addresses of resources that models are shown.
pub const RESOURCES_SHOWN: usize = 20;

/// Most prompts of one server, and most arguments of one prompt.
pub const PROMPTS_LIMIT: usize = 50;
const ARGUMENTS_LIMIT: usize = 20;

/// Longest description of a prompt that models are shown, in bytes.
const PROMPT_DESCRIPTION_LIMIT_BYTES: usize = 200;

/// Longest name of a tool as its server gives it, in bytes.
const NAME_LIMIT_BYTES: usize = 128;

/// Longest name of a tool as models call it, in bytes: what providers take.
const CALLED_LIMIT_BYTES: usize = 64;

/// Longest description of a tool that models are shown, in bytes.
const DESCRIPTION_LIMIT_BYTES: usize = 1024;

/// Letters of a hash that make a name that had to be cut differ from others.
const SUFFIX_LETTERS: usize = 8;

/// Reads a page of `tools/list` behind the tools that are known already. Returns how many were left
/// out for their names.
pub fn add_tools(server: &str, page: &Value, tools: &mut Vec<OfferedTool>) -> usize {
    let listed = page.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let before = tools.len();
    for tool in listed {
        let is_known = |tool: &OfferedTool| {
            tools.iter().any(|other| other.name == tool.name || other.called == tool.called)
        };
        let tool = tool_of(server, tool);
        let new = tool.filter(|tool| tools.len() < TOOLS_LIMIT && !is_known(tool));
        tools.extend(new);
    }
    listed.len() - (tools.len() - before)
}

fn tool_of(server: &str, tool: &Value) -> Option<OfferedTool> {
    let name = plain_name(tool)?;
    let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    let schema = tool.get("inputSchema").cloned().unwrap_or_default();
    let hash = hash_of(&[name.as_str(), description, &schema.to_string()].join("\n"));
    Some(OfferedTool {
        called: called(server, &name),
        name,
        description: one_line(description, DESCRIPTION_LIMIT_BYTES),
        schema,
        hash,
    })
}

/// Returns the name models call a tool by.
pub fn called(server: &str, tool: &str) -> String {
    let whole = format!("mcp--{server}--{}", tool.replace('.', "_"));
    if whole.len() <= CALLED_LIMIT_BYTES {
        return whole;
    }
    let hash = hash_of(&format!("{server}/{tool}"));
    format!(
        "{}_{}",
        head(&whole, CALLED_LIMIT_BYTES - SUFFIX_LETTERS - 1),
        head(&hash, SUFFIX_LETTERS)
    )
}

/// How like a name that a model wrote is to the one of a tool, the strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLikeness {
    /// Letter for letter.
    Exact,
    /// But for `-` and `_`, which few models keep distinct: `mcp__time__now`.
    Signs,
    /// And but for how many of them stand in a row: `mcp_time_now`, which does not say where the
    /// server's name ends.
    Runs,
}

impl NameLikeness {
    /// All of them, in the order they are tried.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Signs, Self::Runs];

    /// Whether a written name is so like the name of a tool.
    pub fn holds(self, called: &str, name: &str) -> bool {
        let signs = |name: &str| name.replace('-', "_");
        let runs = |name: &str| {
            let signs = signs(name);
            signs.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
        };
        match self {
            Self::Exact => called == name,
            Self::Signs => signs(called) == signs(name),
            Self::Runs => runs(called) == runs(name),
        }
    }
}

/// Reads a page of `resources/list` behind the addresses that are known already.
pub fn add_resources(page: &Value, uris: &mut Vec<String>) {
    add_addresses(page, ("resources", "uri"), uris);
}

/// Reads a page of `resources/templates/list` likewise: addresses with places to fill in.
pub fn add_templates(page: &Value, uris: &mut Vec<String>) {
    add_addresses(page, ("resourceTemplates", "uriTemplate"), uris);
}

fn add_addresses(page: &Value, (list, key): (&str, &str), known: &mut Vec<String>) {
    let listed = page.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for uri in listed.iter().filter_map(|one| one.get(key).and_then(Value::as_str)) {
        let plain = uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'`');
        let is_new = uri.len() <= 200 && plain && !known.iter().any(|other| other == uri);
        if is_new && known.len() < RESOURCES_SHOWN {
            known.push(uri.to_owned());
        }
    }
}

/// Reads a page of `prompts/list` behind the prompts that are known already.
pub fn add_prompts(page: &Value, prompts: &mut Vec<OfferedPrompt>) {
    let listed = page.get("prompts").and_then(Value::as_array).map(Vec::as_slice);
    for prompt in listed.unwrap_or_default().iter().filter_map(prompt_of) {
        let is_new = prompts.iter().all(|other| other.name != prompt.name);
        if is_new && prompts.len() < PROMPTS_LIMIT {
            prompts.push(prompt);
        }
    }
}

fn prompt_of(prompt: &Value) -> Option<OfferedPrompt> {
    let name = plain_name(prompt)?;
    let arguments = prompt.get("arguments").and_then(Value::as_array).map(Vec::as_slice);
    let arguments = arguments.unwrap_or_default();
    let argument = |argument: &Value| {
        let is_required = argument.get("required").and_then(Value::as_bool).unwrap_or_default();
        Some(PromptArgument { name: plain_name(argument)?, is_required })
    };
    let description = prompt.get("description").and_then(Value::as_str).unwrap_or_default();
    Some(OfferedPrompt {
        name,
        description: one_line(description, PROMPT_DESCRIPTION_LIMIT_BYTES),
        arguments: arguments.iter().take(ARGUMENTS_LIMIT).filter_map(argument).collect(),
    })
}

/// Returns a name that can be confused with nothing else.
fn plain_name(of: &Value) -> Option<String> {
    let name = of.get("name").and_then(Value::as_str)?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let fits = plain && (1..=NAME_LIMIT_BYTES).contains(&name.len());
    fits.then(|| name.to_owned())
}

/// Returns the tools of some servers as models see them.
pub fn specs(servers: &[OfferedServer]) -> Vec<ToolSpec> {
    let spec = |server: &OfferedServer, tool: &OfferedTool| ToolSpec {
        name: tool.called.clone(),
        description: format!("[MCP server {}] {}", server.name, tool.description),
        parameters: schema::shown(&tool.schema),
    };
    servers
        .iter()
        .flat_map(|server| server.tools.iter().map(move |tool| spec(server, tool)))
        .collect()
}

fn hash_of(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{
        NameLikeness, PROMPTS_LIMIT, RESOURCES_SHOWN, TOOLS_LIMIT, add_prompts, add_resources,
        add_tools, called,
    };

    #[test]
    fn tools_with_names_that_mean_something_else_are_left_out() {
        let mut tools = Vec::new();
        let page = json!({ "tools": [
            { "name": "now", "description": "Tells\nthe \u{202e}time", "inputSchema": { "type": "object" } },
            { "name": "now", "description": "again" },
            { "name": "../now" }, { "name": "" }, { "name": "a b" }, { "name": "resource:x" }, { "name": "x".repeat(200) }, { "name": 7 }, "text",
            { "name": "a.b" }
        ] });
        assert_eq!(add_tools("time", &page, &mut tools), 8);
        let names: Vec<&str> = tools.iter().map(|tool| tool.called.as_str()).collect();
        assert_eq!(names, ["mcp--time--now", "mcp--time--a_b"]);
        assert_eq!(tools[0].description, "Tells the time");
        let many = json!({ "tools": (0..300).map(|n| json!({ "name": format!("t{n}") })).collect::<Vec<_>>() });
        add_tools("time", &many, &mut tools);
        assert_eq!(tools.len(), TOOLS_LIMIT);
    }

    #[test]
    fn names_are_short_enough_and_differ() {
        let (one, two) = (
            called("server", &format!("{}a", "x".repeat(100))),
            called("server", &format!("{}b", "x".repeat(100))),
        );
        assert!(one.len() == 64 && two.len() == 64 && one != two, "{one} {two}");
        let mut tools = Vec::new();
        add_tools("my-time", &json!({ "tools": [{ "name": "get_now" }] }), &mut tools);
        for (name, known) in [
            ("mcp--my-time--get_now", Some(NameLikeness::Exact)),
            ("mcp__my_time__get_now", Some(NameLikeness::Signs)),
            ("mcp_my_time_get_now", Some(NameLikeness::Runs)),
            ("mcp--my-time--get", None),
            ("mcp_my_time_getnow", None),
            ("mcp_my_time_Get_now", None),
        ] {
            let mut found = NameLikeness::ALL.into_iter();
            assert_eq!(found.find(|it| it.holds(&tools[0].called, name)), known, "{name}");
        }
    }

    #[test]
    fn a_tool_that_changes_has_another_hash() {
        let hash = |description: &str| {
            let mut tools = Vec::new();
            add_tools(
                "time",
                &json!({ "tools": [{ "name": "now", "description": description }] }),
                &mut tools,
            );
            tools[0].hash.clone()
        };
        assert_eq!(hash("a"), hash("a"));
        assert_ne!(hash("a"), hash("a "));
    }

    #[test]
    fn prompts_have_plain_names_and_bounded_numbers() {
        let mut prompts = Vec::new();
        let page = json!({ "prompts": [
            { "name": "review", "description": "Looks\nat it", "arguments": [
                { "name": "file", "required": true }, { "name": "a b" }, { "name": "tone" } ] },
            { "name": "review" }, { "name": "a/b" }, { "name": "" }, { "name": 7 }, "text"
        ] });
        add_prompts(&page, &mut prompts);
        let names: Vec<&str> = prompts[0].arguments.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((prompts.len(), names), (1, vec!["file", "tone"]));
        assert_eq!(prompts[0].description, "Looks at it");
        assert_eq!(
            (prompts[0].arguments[0].is_required, prompts[0].arguments[1].is_required),
            (true, false)
        );
        let many: Vec<_> = (0..99).map(|at| json!({ "name": format!("p{at}") })).collect();
        add_prompts(&json!({ "prompts": many }), &mut prompts);
        assert_eq!(prompts.len(), PROMPTS_LIMIT);
    }

    #[test]
    fn addresses_of_resources_are_plain() {
        let page = json!({ "resources": [{ "uri": "file:///a" }, { "uri": "a b" }, { "uri": "`x`" }, { "name": "none" }] });
        let mut uris = vec!["file:///a".to_owned()];
        add_resources(&page, &mut uris);
        assert_eq!(uris, ["file:///a"], "each is known once");
        let many: Vec<_> = (0..50).map(|at| json!({ "uri": format!("x:{at}") })).collect();
        add_resources(&json!({ "resources": many }), &mut uris);
        assert_eq!(uris.len(), RESOURCES_SHOWN);
    }
}
