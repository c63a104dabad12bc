//! Values held to a JSON Schema, with the keywords that the program's own schemas have.
//!
//! In: a schema, or the one of the lines of a run, and a value. Out: what is wrong with it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use std::cell::RefCell;
use std::collections::HashMap;

use fancy_regex::Regex;
use locum::cli::inspect_args::SchemaWord;
use locum::cli::schema::whole;
use serde_json::{Value as Json, json};

/// Keywords of JSON Schema that describe and do not check.
const DESCRIBING: &[&str] = &["$schema", "title", "description", "default", "examples"];

/// Says what is wrong with a value by a schema; panics at a keyword this test does not know.
pub(crate) fn faults(schema: &Json, value: &Json, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut wrong = |fine: bool, keyword: &str| {
        if !fine {
            found.push(format!("{at}: {keyword}"));
        }
    };
    let mut below = Vec::new();
    let fits = |schemas: &Json| {
        schemas
            .as_array()
            .unwrap()
            .iter()
            .filter(|schema| faults(schema, value, at).is_empty())
            .count()
    };
    for (keyword, said) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "type" => wrong(is_of_type(value, said.as_str().unwrap()), keyword),
            "const" => wrong(value == said, keyword),
            "enum" => wrong(said.as_array().unwrap().contains(value), keyword),
            "anyOf" => wrong(fits(said) > 0, keyword),
            "oneOf" => wrong(fits(said) == 1, keyword),
            "minimum" => {
                wrong(value.as_f64().is_none_or(|number| number >= said.as_f64().unwrap()), keyword)
            }
            "maximum" => {
                wrong(value.as_f64().is_none_or(|number| number <= said.as_f64().unwrap()), keyword)
            }
            "minItems" => {
                wrong(value.as_array().is_none_or(|items| items.len() >= count(said)), keyword)
            }
            "maxItems" => {
                wrong(value.as_array().is_none_or(|items| items.len() <= count(said)), keyword)
            }
            "pattern" => {
                let pattern = said.as_str().unwrap();
                wrong(value.as_str().is_none_or(|text| matches(pattern, text)), keyword);
            }
            "required" => {
                let has = |key: &Json| {
                    value
                        .as_object()
                        .is_none_or(|entries| entries.contains_key(key.as_str().unwrap()))
                };
                wrong(said.as_array().unwrap().iter().all(has), keyword);
            }
            "prefixItems" => {
                let items = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .zip(said.as_array().unwrap())
                    .enumerate();
                below.extend(items.flat_map(|(index, (item, said))| {
                    faults(said, item, &format!("{at}/{index}"))
                }));
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                below.extend(
                    items.flat_map(|(index, item)| faults(said, item, &format!("{at}/{index}"))),
                );
            }
            "properties" => {
                let entries = value.as_object().into_iter().flatten();
                below.extend(
                    entries
                        .filter_map(|(key, value)| {
                            Some(faults(said.get(key)?, value, &format!("{at}/{key}")))
                        })
                        .flatten(),
                );
            }
            "additionalProperties" => {
                let named = |key: &str| {
                    schema.get("properties").is_some_and(|properties| properties.get(key).is_some())
                };
                for (key, value) in
                    value.as_object().into_iter().flatten().filter(|(key, _)| !named(key))
                {
                    match said {
                        Json::Bool(allowed) => wrong(*allowed, &format!("{keyword}: {key}")),
                        said => below.extend(faults(said, value, &format!("{at}/{key}"))),
                    }
                }
            }
            "propertyNames" => {
                let keys = value.as_object().into_iter().flatten().map(|(key, _)| json!(key));
                below.extend(keys.flat_map(|key| faults(said, &key, at)));
            }
            keyword => assert!(DESCRIBING.contains(&keyword), "{keyword}"),
        }
    }
    found.extend(below);
    found
}

/// Whether a text has a pattern of a schema; each pattern is compiled once for a test.
fn matches(pattern: &str, text: &str) -> bool {
    thread_local!(static COMPILED: RefCell<HashMap<String, Regex>> = RefCell::default());
    COMPILED.with_borrow_mut(|compiled| {
        let regex =
            compiled.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap());
        regex.is_match(text).unwrap()
    })
}

fn count(number: &Json) -> usize {
    usize::try_from(number.as_u64().unwrap()).unwrap()
}

fn is_of_type(value: &Json, word: &str) -> bool {
    match word {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

/// Says what is wrong with a line of a run: it is not as the schema has it, or has a key that is
/// not in there.
pub(crate) fn faults_of_line(line: &Json) -> Vec<String> {
    let schema = whole(SchemaWord::Events);
    let mut found = faults(&schema, line, "");
    let lines = schema["oneOf"].as_array().unwrap();
    let of_line = lines.iter().find(|one| match line.get("event") {
        Some(name) => one.pointer("/properties/event/const") == Some(name),
        None => faults(one, line, "").is_empty(),
    });
    unknown_keys(of_line.unwrap_or(&json!({})), line, "", &mut found);
    found
}

/// Names keys that a schema with keys does not have.
fn unknown_keys(schema: &Json, value: &Json, at: &str, found: &mut Vec<String>) {
    for one in schema["anyOf"].as_array().into_iter().flatten() {
        unknown_keys(one, value, at, found);
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        unknown_keys(&schema["items"], item, &format!("{at}{index}/"), found);
    }
    let known = schema["properties"].as_object();
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{at}{key}");
        match known.map(|known| known.get(key)) {
            Some(None) => found.push(format!("{path}: unknown")),
            Some(Some(schema)) => unknown_keys(schema, value, &format!("{path}/"), found),
            None => {
                unknown_keys(&schema["additionalProperties"], value, &format!("{path}/"), found)
            }
        }
    }
}
