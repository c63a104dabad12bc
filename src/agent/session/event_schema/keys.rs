//! Keys of a JSON object, and the schema that follows from them.

use serde_json::{Map, Value, json};

/// What a key holds.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    Text,
    Flag,
    Count,
    Integer,
    Number,
    /// The number of a task; 0 is the root task.
    Task,
    Texts,
    /// A list of parts.
    List,
    /// A part.
    Part,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A part with these keys.
    Of(&'static [Key]),
    /// A list of parts with these keys.
    Each(&'static [Key]),
    /// Parts with these keys, by name.
    Named(&'static [Key]),
    /// One word, or a part.
    WordOrPart,
}

/// Whether a key is always there.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Presence {
    Always,
    /// It may be missing, or be `null`.
    Sometimes,
}

/// A key: its name, what it holds, whether it is always there, what it means.
pub(super) type Key = (&'static str, Holds, Presence, &'static str);

/// Returns the schemas of keys.
pub(super) fn properties(keys: &[Key]) -> Map<String, Value> {
    let property = |(key, holds, presence, meaning): &Key| {
        let mut value = of(*holds);
        if *presence == Presence::Sometimes {
            value = json!({ "anyOf": [value, { "type": "null" }] });
        }
        if let Some(fields) = value.as_object_mut() {
            fields.insert("description".to_owned(), json!(meaning));
        }
        ((*key).to_owned(), value)
    };
    keys.iter().map(property).collect()
}

/// Returns the keys that are always there.
pub(super) fn required(keys: &[Key]) -> impl Iterator<Item = &'static str> {
    keys.iter().filter(|(.., presence, _)| *presence == Presence::Always).map(|(key, ..)| *key)
}

/// Returns the schema of an object.
pub(super) fn object(about: Option<&str>, keys: &[Key]) -> Value {
    let required: Vec<&str> = required(keys).collect();
    let mut object = json!({
        "type": "object", "properties": properties(keys), "required": required
    });
    if let (Some(about), Some(fields)) = (about, object.as_object_mut()) {
        fields.insert("description".to_owned(), json!(about));
    }
    object
}

/// Returns what every event has.
pub(super) fn head(name: &str) -> Map<String, Value> {
    Map::from_iter([
        ("at".to_owned(), json!({ "type": "string", "description": "when, in UTC" })),
        ("event".to_owned(), json!({ "const": name, "description": "what happened" })),
    ])
}

fn of(holds: Holds) -> Value {
    match holds {
        Holds::Text => json!({ "type": "string" }),
        Holds::Flag => json!({ "type": "boolean" }),
        Holds::Count | Holds::Task => json!({ "type": "integer", "minimum": 0 }),
        Holds::Integer => json!({ "type": "integer" }),
        Holds::Number => json!({ "type": "number", "minimum": 0 }),
        Holds::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Holds::List => json!({ "type": "array" }),
        Holds::Part => json!({ "type": "object" }),
        Holds::Word(words) => json!({ "enum": words }),
        Holds::Of(keys) => object(None, keys),
        Holds::Each(keys) => json!({ "type": "array", "items": object(None, keys) }),
        Holds::Named(keys) => {
            json!({ "type": "object", "additionalProperties": object(None, keys) })
        }
        Holds::WordOrPart => json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] }),
    }
}
