//! The JSON Schema of `.locum/modes.yml`. In: nothing; out: the keys a mode has in the vocabulary
//! that is written back, with what they mean. Of other words for the same keys, `tools` is
//! read and not proposed. `tests/it/schema.rs` holds schema and reader together.

use serde_json::{Map, Value, json};

use crate::ToolGroup;
use crate::schema::{OPTION_KEYS, PROMPT_KEYS, PROMPTS_KEY, TOP_KEY};

/// Keys that are texts, and what they mean.
const TEXTS: &[(&str, &str)] = &[
    ("whenToUse", "When an orchestrator should choose this mode"),
    ("description", "One line for lists"),
    ("customInstructions", "More instructions, near the end of the prompt"),
    ("baseInstructions", "Another word for them; shown before them where a mode has both"),
    ("systemPrompt", "Instructions right after the role"),
    ("apiProvider", "Whose protocol the mode's own model speaks"),
    ("apiModel", "The model this mode runs on: a profile, or a model's name"),
    ("preferredModelId", "The model this mode runs on where there is a profile for it"),
    ("groupName", "The heading it is listed under"),
    ("iconName", "The name of its sign"),
    ("icon", "Another word for it"),
];

/// Keys that are lists of texts, and what they mean.
const LISTS: &[(&str, &str)] = &[
    (
        "allowedFilePaths",
        "JavaScript regular expressions; a file that is read or edited has to match one of them",
    ),
    ("disallowedFilePaths", "JavaScript regular expressions of files neither read nor edited"),
    ("fileRestrictions", "JavaScript regular expressions; an edited file has to match one of them"),
    ("customRules", "Rules of this mode, shown before the repository's"),
];

/// Returns the schema.
pub fn schema() -> Value {
    let mut properties = Map::new();
    let needed = |description: &str, pattern: &str, example: &str| json!({ "description": description, "type": "string", "pattern": pattern, "examples": [example] });
    properties.insert(
        "slug".to_owned(),
        needed("Its name in commands and files", "^[a-zA-Z0-9-]+$", "docs"),
    );
    properties.insert("name".to_owned(), needed("Display name", r"[\s\S]", "Docs writer"));
    properties.insert(
        "roleDefinition".to_owned(),
        needed("Who the model is in this mode", r"[\s\S]", "You write the documentation."),
    );
    properties.insert("groups".to_owned(), groups());
    for (key, description) in TEXTS {
        properties
            .insert((*key).to_owned(), json!({ "description": description, "type": "string" }));
    }
    let address = "Where that model's provider starts; used only where a person or a known provider \
                   ties the host";
    properties.insert(
        "apiBase".to_owned(),
        needed(address, "^https?://[!-~]+$", "https://api.example.com/v1"),
    );
    for (key, description) in LISTS {
        properties.insert(
            (*key).to_owned(),
            json!({ "description": description, "type": "array", "items": { "type": "string" } }),
        );
    }
    let value =
        json!({ "anyOf": [{ "type": "string" }, { "type": "boolean" }, { "type": "number" }] });
    let variables = json!({ "description": "What `{{name}}` stands for in the mode's texts", "type": "object", "additionalProperties": value });
    properties.insert("variables".to_owned(), variables);
    let source = json!({ "description": "Whose mode it is; says nothing here", "enum": ["global", "project", "organization"] });
    properties.insert("source".to_owned(), source);
    let mut of_peers = properties.clone();
    let role = of_peers.remove("roleDefinition");
    of_peers.extend(role.map(|role| ("role".to_owned(), role)));
    let mode = |(role, properties): (&str, Map<String, Value>)| {
        json!({
            "type": "object",
            "properties": properties,
            "required": ["slug", "name", role, "groups"],
            "additionalProperties": false,
        })
    };
    let each = [("roleDefinition", properties), ("role", of_peers)].map(mode);
    let modes = json!({ "description": "The modes; one with the slug of a built-in mode takes its place", "type": "array", "items": { "anyOf": each } });
    json!({
        "type": "object",
        "properties": { TOP_KEY: modes, PROMPTS_KEY: prompts() },
        "additionalProperties": false,
    })
}

/// Texts by slug, for modes that others define.
fn prompts() -> Value {
    let needed = |meaning: &str| json!({ "description": meaning, "type": "string", "pattern": r"[\s\S]", "examples": ["A text"] });
    let text = |meaning: &str| json!({ "description": meaning, "type": "string" });
    let each = [
        needed("In place of the role"),
        text("In place of when an orchestrator should choose it"),
        needed("In place of its line for lists"),
        text("In place of its instructions; an empty text leaves none"),
    ];
    let texts: Map<String, Value> =
        PROMPT_KEYS.iter().map(|key| (*key).to_owned()).zip(each).collect();
    let texts = json!({ "type": "object", "properties": texts, "additionalProperties": false });
    json!({
        "description": "Texts for modes that are built in, or that this or a weaker file defines",
        "type": "object",
        "additionalProperties": texts,
    })
}

fn groups() -> Value {
    let names: Vec<&str> = ToolGroup::ALL.iter().map(|group| group.as_str()).collect();
    let meanings = [
        "Only files whose path matches this JavaScript regular expression",
        "What that means, for people and the model",
    ];
    let option = |(key, meaning): (&&str, &str)| {
        ((*key).to_owned(), json!({ "description": meaning, "type": "string" }))
    };
    let options: Map<String, Value> = OPTION_KEYS.iter().zip(meanings).map(option).collect();
    let options = json!({ "type": "object", "properties": options, "additionalProperties": false });
    let limited = json!({ "type": "array", "prefixItems": [{ "enum": [ToolGroup::Edit.as_str(), ToolGroup::Read.as_str()] }, options], "minItems": 2, "maxItems": 2 });
    json!({ "description": "Tool groups, each at most once", "type": "array", "items": { "anyOf": [{ "enum": names }, limited] } })
}
