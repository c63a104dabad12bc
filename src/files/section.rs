//! `Section`: a mapping of a settings file with keys of its own, read or described.
//!
//! A section is read by a function that names each of its keys once, with what the key is for and
//! the shape of its value. Run over a file, the function gives values and mistakes: unknown keys,
//! missing keys, keys without a value. Run over nothing, it gives the JSON Schema of what it would
//! have read.

use serde_json::{Map, Value as Json, json};

use crate::fields::{Diagnostics, nearest};
use crate::position::Position;
use crate::rejection::Rejection;
use crate::shape::{Shape, with};
use crate::yaml::{MapEntry, YamlNode, YamlValue};
use locum_base::text::code_list;

/// A mapping that is read or described.
pub struct Section<'a> {
    name: &'a str,
    purpose: SectionPass<'a>,
}

enum SectionPass<'a> {
    /// `lacks` waits until every key is known: where one is misspelt, that is said and nothing
    /// else.
    Read {
        node: &'a YamlNode,
        known: Vec<&'static str>,
        lacks: Vec<Rejection>,
        mistakes: &'a mut Diagnostics,
    },
    Describe(Map<String, Json>),
}

/// A mapping with keys of its own, as the shape of a value: how it is called in messages, and what
/// reads it.
pub struct Mapping<F>(pub &'static str, pub F);

impl<'a> Section<'a> {
    /// Reads a mapping, called `name` in messages.
    pub fn read<T>(
        node: &'a YamlNode,
        name: &'a str,
        mistakes: &'a mut Diagnostics,
        reader: impl FnOnce(&mut Section<'_>) -> T,
    ) -> Option<T> {
        if node.entries().is_none() {
            return mistakes.wanted(node, name, "a mapping");
        }
        let mut section = Section {
            name,
            purpose: SectionPass::Read { node, known: Vec::new(), lacks: Vec::new(), mistakes },
        };
        let value = reader(&mut section);
        section.end();
        Some(value)
    }

    /// Returns the JSON Schema of what a reader reads.
    pub fn describe<T>(reader: impl FnOnce(&mut Section<'_>) -> T) -> Json {
        let mut section = Section { name: "", purpose: SectionPass::Describe(Map::new()) };
        reader(&mut section);
        match section.purpose {
            SectionPass::Describe(mut schema) => {
                schema.insert("type".to_owned(), json!("object"));
                schema.insert("additionalProperties".to_owned(), json!(false));
                Json::Object(schema)
            }
            SectionPass::Read { .. } => Json::Null,
        }
    }

    /// Reads a key that may be absent.
    pub fn key<S: Shape>(&mut self, key: &'static str, about: &str, shape: S) -> Option<S::Value> {
        self.take(key, about, &shape, None)
    }

    /// Reads a key into its place, which holds what counts when the key is absent.
    pub fn set<S: Shape>(
        &mut self,
        key: &'static str,
        about: &str,
        shape: S,
        value: &mut S::Value,
    ) {
        if let Some(found) = self.take(key, about, &shape, Some(value)) {
            *value = found;
        }
    }

    /// Reads a key that has to be there.
    pub fn required<S: Shape>(
        &mut self,
        key: &'static str,
        about: &str,
        shape: S,
    ) -> Option<S::Value> {
        match &mut self.purpose {
            SectionPass::Read { node, mistakes, .. } if node.get(key).is_none() => {
                let message = format!("`{key}` is missing");
                match key {
                    "version" => {
                        let hint = "begin the file with `version: 1`";
                        mistakes.add_with_hint(node.place, message, hint);
                    }
                    _ => mistakes.add(node.place, message),
                }
            }
            SectionPass::Read { .. } => {}
            SectionPass::Describe(schema) => push(schema, "required", json!(key)),
        }
        self.take(key, about, &shape, None)
    }

    /// Checks that exactly one of some keys is there.
    pub fn exactly_one(&mut self, keys: &[&str]) {
        match &mut self.purpose {
            SectionPass::Read { node, mistakes, .. } => {
                let given = keys.iter().filter(|key| node.get(key).is_some()).count();
                let message = format!("a {} says exactly one of {}", self.name, code_list(keys));
                match given {
                    0 => mistakes.add(node.place, message),
                    1 => {}
                    _ => {
                        let hint = format!("write a {} for each", self.name);
                        mistakes.add_with_hint(node.place, message, hint);
                    }
                }
            }
            SectionPass::Describe(schema) => {
                keys.iter().for_each(|key| push(schema, "oneOf", json!({ "required": [key] })))
            }
        }
    }

    /// Checks that at least one of some keys is there, unless a key is misspelt.
    pub fn at_least_one(&mut self, keys: &[&str], hint: &str) {
        match &mut self.purpose {
            SectionPass::Read { node, lacks, .. } => {
                if keys.iter().all(|key| node.get(key).is_none()) {
                    lacks.push(
                        Rejection::from(format!(
                            "a {} needs at least one of {}",
                            self.name,
                            code_list(keys)
                        ))
                        .hint(hint),
                    );
                }
            }
            SectionPass::Describe(schema) => {
                keys.iter().for_each(|key| push(schema, "anyOf", json!({ "required": [key] })))
            }
        }
    }

    /// Returns true when a file is read and has this key.
    pub fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    /// Returns where a key's value stands, or where the section does when the key is absent.
    pub fn place_of(&self, key: &str) -> Position {
        let here = match &self.purpose {
            SectionPass::Read { node, .. } => node.place,
            SectionPass::Describe(_) => Position::default(),
        };
        self.entry(key).map_or(here, |entry| entry.node.place)
    }

    /// Says what is wrong with values that have been read.
    pub fn wrong(&mut self, place: Position, why: Rejection) {
        if let SectionPass::Read { mistakes, .. } = &mut self.purpose {
            mistakes.reject(place, why);
        }
    }

    fn entry(&self, key: &str) -> Option<&MapEntry> {
        match &self.purpose {
            SectionPass::Read { node, .. } => node.entries()?.iter().find(|entry| entry.key == key),
            SectionPass::Describe(_) => None,
        }
    }

    fn take<S: Shape>(
        &mut self,
        key: &'static str,
        about: &str,
        shape: &S,
        default: Option<&S::Value>,
    ) -> Option<S::Value> {
        match &mut self.purpose {
            SectionPass::Read { node, known, mistakes, .. } => {
                known.push(key);
                let entry = node.entries()?.iter().find(|entry| entry.key == key)?;
                if entry.node.value == YamlValue::Null {
                    mistakes.add_with_hint(
                        entry.key_place,
                        format!("`{key}` has no value"),
                        "give it one, or leave the key out",
                    );
                    return None;
                }
                shape.read(&entry.node, key, mistakes)
            }
            SectionPass::Describe(schema) => {
                let mut described = with(shape.schema(), "description", json!(about));
                if let Some(default) = default.and_then(|value| shape.written(value)) {
                    described = with(described, "default", default);
                }
                if let Json::Object(properties) =
                    schema.entry("properties").or_insert_with(|| json!({}))
                {
                    properties.insert(key.to_owned(), described);
                }
                None
            }
        }
    }

    fn end(self) {
        let SectionPass::Read { node, known, lacks, mistakes } = self.purpose else { return };
        let is_unknown = |entry: &&MapEntry| !known.contains(&entry.key.as_str());
        let unknown: Vec<&MapEntry> =
            node.entries().unwrap_or_default().iter().filter(is_unknown).collect();
        if unknown.is_empty() {
            lacks.into_iter().for_each(|why| mistakes.reject(node.place, why));
        }
        for entry in unknown {
            let listed = || format!("known here: {}", known.join(", "));
            let hint = match entry.key.as_str() {
                "<<" => "merge keys are not read; write the keys out".to_owned(),
                key => {
                    nearest(key, &known).map_or_else(listed, |key| format!("did you mean `{key}`?"))
                }
            };
            mistakes.add_with_hint(entry.key_place, format!("unknown key `{}`", entry.key), hint);
        }
    }
}

impl<T, F: Fn(&mut Section<'_>) -> T> Shape for Mapping<F> {
    type Value = T;

    fn read(&self, node: &YamlNode, _: &str, mistakes: &mut Diagnostics) -> Option<T> {
        Section::read(node, self.0, mistakes, &self.1)
    }

    fn schema(&self) -> Json {
        Section::describe(&self.1)
    }
}

fn push(schema: &mut Map<String, Json>, key: &str, value: Json) {
    if let Json::Array(values) = schema.entry(key).or_insert_with(|| json!([])) {
        values.push(value);
    }
}
