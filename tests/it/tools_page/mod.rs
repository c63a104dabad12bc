//! The tables at the end of `docs/tools.md` are what the program offers and understands: every tool
//! here, every tool of other agents beside it, and what is answered where there is none.
//! `INSTA_UPDATE=always` writes them.

mod others;

use std::collections::BTreeSet;

use locum_agent::tools::dispatch;
use locum_agent::tools::tool::ToolEffect;
use locum_base::chat::{ToolCall, ToolSpec};
use locum_base::tool::{Availability, ToolGroup, ToolName};
use locum_base::unmatched_tool::{UNMATCHED_TOOLS, UnmatchedTool};
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use crate::docs::{read, root};
use others::OTHER_AGENTS;

const PAGE: &str = "docs/tools.md";

/// A tool of other agents.
#[derive(Debug)]
struct OtherTool {
    name: &'static str,
    arguments: &'static str,
    /// Who has it, with these arguments.
    of: Vec<&'static str>,
}

#[test]
fn the_page_of_tools_ends_with_tables_of_every_tool() {
    let mut wanted = read(PAGE);
    let others = other_tools();
    for (name, table) in [
        ("tools", own_table(&others)),
        ("other tools", other_table(&others)),
        ("no tools", unmatched_table(&others)),
    ] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let (before, rest) = wanted.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        wanted = format!("{before}{begin}{table}{end}{after}");
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(root().join(PAGE), &wanted).unwrap();
    }
    assert_eq!(read(PAGE), wanted, "INSTA_UPDATE=always writes the tables of {PAGE}");
}

#[test]
fn every_tool_of_other_agents_has_a_tool_here_or_a_sentence() {
    let others = other_tools();
    for tool in &others {
        assert_ne!(meant(tool).is_some(), UnmatchedTool::find(tool.name).is_some(), "{tool:?}");
    }
    let listed = |name: &str| others.iter().any(|tool| tool.name.eq_ignore_ascii_case(name));
    // Other words for these tools; which agent had them, nobody wrote down.
    let words = [
        "view_file",
        "create_file",
        "str_replace",
        "multi_edit_file",
        "edit_notebook",
        "remove_file",
        "rm_file",
        "rename_file",
        "run_command",
        "run_terminal_cmd",
        "kill_process",
        "grep_search",
        "glob_search",
        "list_directory",
        "search_web",
        "multi_tool_use.parallel",
    ];
    let of_others = ToolName::ALL.iter().flat_map(|tool| tool.peer_names());
    let unmatched = UNMATCHED_TOOLS.iter().flat_map(|tool| tool.names.iter().copied());
    for name in of_others.chain(unmatched) {
        assert_ne!(listed(name), words.contains(&name), "{name}");
    }
}

/// Returns the tools of other agents, one for each name and its arguments.
fn other_tools() -> Vec<OtherTool> {
    let mut found: Vec<OtherTool> = Vec::new();
    for agent in OTHER_AGENTS {
        for (names, arguments) in agent.tools {
            for name in names.split(' ') {
                let known = found
                    .iter_mut()
                    .find(|known| (known.name, known.arguments) == (name, *arguments));
                match known {
                    Some(known) => known.of.push(agent.name),
                    None => found.push(OtherTool { name, arguments, of: vec![agent.name] }),
                }
            }
        }
    }
    found
}

/// Returns the tool here that a call of another agent's tool means.
fn meant(tool: &OtherTool) -> Option<ToolName> {
    let value = |argument: &str| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, "x"));
        (name.trim_end_matches('?').to_owned(), json!(value))
    };
    let arguments: Map<String, Value> = tool.arguments.split_whitespace().map(value).collect();
    let arguments = Value::Object(arguments).to_string();
    dispatch::meant(&ToolCall { id: "1".to_owned(), name: tool.name.to_owned(), arguments })
}

fn own_table(others: &[OtherTool]) -> String {
    let mut table = "| tool | arguments | modes | rules | effect | as others call it |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    let specs = dispatch::specs(ToolName::ALL);
    assert_eq!(specs.len(), ToolName::ALL.len());
    for (tool, spec) in ToolName::ALL.iter().zip(&specs) {
        table.push_str(&format!(
            "| `{tool}` | {} | {} | {} | {} | {} |\n",
            own_arguments(spec),
            modes(tool.availability()),
            rules(*tool),
            effect(*tool),
            called(*tool, others),
        ));
    }
    table
}

fn other_table(others: &[OtherTool]) -> String {
    let mut table = "| tool | of | its arguments | here | rules | effect |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    for other in others {
        let Some(tool) = meant(other) else { continue };
        table.push_str(&format!(
            "| `{}` | {} | {} | `{tool}` | {} | {} |\n",
            other.name,
            other.of.join(", "),
            other_arguments(other),
            rules(tool),
            effect(tool),
        ));
    }
    table
}

fn unmatched_table(others: &[OtherTool]) -> String {
    let mut table = "| tool, and its arguments | of | answer |\n|---|---|---|\n".to_owned();
    for unmatched in UNMATCHED_TOOLS {
        let is_of = |other: &&OtherTool| UnmatchedTool::find(other.name) == Some(*unmatched);
        let mut names = Vec::new();
        let mut of = Vec::new();
        for other in others.iter().filter(is_of) {
            names.push(match other_arguments(other).as_str() {
                "none" => format!("`{}`", other.name),
                arguments => format!("`{}` ({arguments})", other.name),
            });
            of.extend(
                other.of.iter().copied().filter(|agent| !of.contains(agent)).collect::<Vec<_>>(),
            );
        }
        let (names, of) = (names.join(", "), of.join(", "));
        table.push_str(&format!("| {names} | {of} | {} |\n", unmatched.instead));
    }
    table
}

/// Returns how other agents call a tool: by its own name, or by others.
fn called(tool: ToolName, others: &[OtherTool]) -> String {
    let same: BTreeSet<&str> = others
        .iter()
        .filter(|other| other.name == tool.as_str())
        .flat_map(|other| other.of.iter().copied())
        .collect();
    let in_order: Vec<&str> =
        OTHER_AGENTS.iter().map(|agent| agent.name).filter(|name| same.contains(name)).collect();
    let own_name = (!in_order.is_empty()).then(|| format!("the same ({})", in_order.join(", ")));
    let names: BTreeSet<&str> = others
        .iter()
        .filter(|other| meant(other) == Some(tool) && ToolName::find(other.name).is_none())
        .map(|other| other.name)
        .chain(tool.peer_names())
        .collect();
    let names = names.into_iter().map(|name| format!("`{name}`"));
    let all: Vec<String> = own_name.into_iter().chain(names).collect();
    if all.is_empty() { "only Locum has it".to_owned() } else { all.join(", ") }
}

fn other_arguments(tool: &OtherTool) -> String {
    let written = tool.arguments.split_whitespace().map(|argument| {
        let argument = argument.replace('=', ": ");
        format!("`{argument}`")
    });
    let written: Vec<String> = written.collect();
    if written.is_empty() { "none".to_owned() } else { written.join(", ") }
}

/// Returns the names of a tool's arguments, with a `?` behind those that can be left out.
fn own_arguments(spec: &ToolSpec) -> String {
    let required = spec.parameters.get("required").and_then(Value::as_array).unwrap();
    let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
    let properties = spec.parameters.get("properties").and_then(Value::as_object).unwrap();
    let names = properties.keys().map(|name| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("`{name}{mark}`")
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns which modes have a tool.
fn modes(availability: Availability) -> String {
    match availability {
        Availability::Always => "every mode".to_owned(),
        Availability::OptInAlways => "every mode, opt-in".to_owned(),
        Availability::In(group) => format!("`{}`", group.as_str()),
        Availability::OptIn(group) => format!("`{}`, opt-in", group.as_str()),
        Availability::InWithout(group, other) => {
            format!("`{}` without `{}`", group.as_str(), other.as_str())
        }
    }
}

/// Returns the kinds of rules that decide on a call: those of its group, unless it is listed here.
fn rules(tool: ToolName) -> &'static str {
    match tool {
        ToolName::WebFetch => "fetch",
        ToolName::WebSearch => "search",
        ToolName::ReadMemory | ToolName::WriteMemory => "memory",
        ToolName::AskExpertModel => "expert",
        ToolName::GenerateImage => "edit, expert",
        ToolName::NewTask => "delegate, mode",
        ToolName::SwitchMode | ToolName::RequestModeSwitch | ToolName::CoordinateMode => "mode",
        _ => tool.availability().group().map_or("none", ToolGroup::as_str),
    }
}

/// Returns what calls of a tool act on.
fn effect(tool: ToolName) -> &'static str {
    match dispatch::effect(tool) {
        ToolEffect::Reads => "reads",
        ToolEffect::Edits => "edits",
        ToolEffect::Runs => "runs or asks",
        ToolEffect::Steers => "steers",
    }
}
