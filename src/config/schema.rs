//! The JSON Schema of a repository's configuration file, from the table of settings.

use serde_json::{Map, Value as Json, json};

use crate::config::keys::{self, SettingScope};
use locum_files::shape::with;

/// What groups of settings are for; settings themselves say it in their table.
const GROUPS: &[(&str, &str)] = &[
    ("models", "which models are used for what"),
    ("models.pointers", "profile for each use"),
    ("models.profiles", "models by names of your own"),
    ("models.profiles.*.price", "what it costs, in place of the built-in price"),
    ("models.profiles.*.price.above", "what longer requests cost, where that is more"),
    ("mcp", "MCP servers by names of your own"),
    ("mcp.*.env", "variables the server gets"),
    ("mcp.*.headers", "headers of every request to the server"),
    ("mcp.*.oauth", "who signs in to the server without a person"),
    ("web_search", "the search engine of `web_search`"),
    ("budget", "limits below those of the policy"),
    ("forge", "where work comes from and results go"),
    ("telemetry", "what a run sends to a trace collector"),
];

/// Returns the schema of `.locum/config.yml`. What only one run may set, or never a repository, is
/// not in it.
pub fn schema() -> Json {
    group("").unwrap_or_default()
}

/// `None` where a repository may set nothing below.
fn group(path: &str) -> Option<Json> {
    let mut properties = Map::new();
    let mut chosen = None;
    for name in keys::below(path) {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let below = match keys::find(&path) {
            Some(key) if key.scope != SettingScope::Everyone => None,
            Some(key) => Some(with(key.kind.schema(), "description", json!(key.meaning))),
            None => {
                group(&path).map(|schema| match GROUPS.iter().find(|(group, _)| *group == path) {
                    Some((_, meaning)) => with(schema, "description", json!(meaning)),
                    None => schema,
                })
            }
        };
        match (name, below) {
            (_, None) => {}
            ("*", below) => chosen = below,
            (name, Some(schema)) => drop(properties.insert(name.to_owned(), schema)),
        }
    }
    match (chosen, properties.is_empty()) {
        (Some(schema), _) => Some(json!({
            "type": "object",
            "propertyNames": { "pattern": keys::NAME_PATTERN },
            "additionalProperties": schema,
        })),
        (None, false) => Some(
            json!({ "type": "object", "additionalProperties": false, "properties": properties }),
        ),
        (None, true) => None,
    }
}
