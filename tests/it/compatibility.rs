//! The table of every tool in `docs/tools.md` is what the program offers. `INSTA_UPDATE=always`
//! writes it.

use locum_agent::tools::dispatch;
use locum_agent::tools::tool::ToolEffect;
use locum_base::chat::ToolSpec;
use locum_base::tool::{Availability, ToolGroup, ToolName};
use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::docs::{read, root};

const TOOLS_PAGE: &str = "docs/tools.md";
const TABLE_BEGIN: &str = "<!-- tools: begin -->\n";
const TABLE_END: &str = "<!-- tools: end -->";
const TABLE_HEAD: &str = "| tool | arguments | modes | rules | effect | as others call it |\n\
                          |---|---|---|---|---|---|\n";

#[test]
fn the_page_of_tools_ends_with_a_table_of_every_tool() {
    let page = read(TOOLS_PAGE);
    let (before, rest) = page.split_once(TABLE_BEGIN).unwrap();
    let (_, after) = rest.split_once(TABLE_END).unwrap();
    let wanted = format!("{before}{TABLE_BEGIN}{}{TABLE_END}{after}", tool_table());
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(root().join(TOOLS_PAGE), &wanted).unwrap();
    }
    assert_eq!(read(TOOLS_PAGE), wanted, "INSTA_UPDATE=always writes the table of {TOOLS_PAGE}");
}

fn tool_table() -> String {
    let mut table = TABLE_HEAD.to_owned();
    let specs = dispatch::specs(ToolName::ALL);
    assert_eq!(specs.len(), ToolName::ALL.len());
    for (tool, spec) in ToolName::ALL.iter().zip(&specs) {
        let called: Vec<String> = tool.peer_names().map(|name| format!("`{name}`")).collect();
        let called = if called.is_empty() { "none".to_owned() } else { called.join(", ") };
        table.push_str(&format!(
            "| `{tool}` | {} | {} | {} | {} | {called} |\n",
            arguments(spec),
            modes(tool.availability()),
            rules(*tool),
            effect(*tool),
        ));
    }
    table
}

/// Returns the names of a tool's arguments, with a `?` behind those that can be left out.
fn arguments(spec: &ToolSpec) -> String {
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
