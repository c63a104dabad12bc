//! `Shape`: what a value of a settings file may be. One description both reads the value and says
//! in JSON Schema what it reads, so that the two cannot drift apart.
//!
//! In: a node of a `yaml` tree. Out: a checked value, or mistakes; or the schema. Mappings with
//! keys of their own are in `section`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::fields::Diagnostics;
use crate::position::Position;
use crate::rejection::Rejection;
use crate::yaml::{YamlNode, YamlValue};

/// What a value may be.
pub trait Shape {
    /// Type of the checked value.
    type Value;

    /// Reads a value; what is wrong with it goes to the mistakes. `what` is the key it stands
    /// under.
    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Self::Value>;

    /// Returns the JSON Schema of what is read.
    fn schema(&self) -> Json;

    /// Returns how a value is written in a file; `None` for values that are never a default.
    fn written(&self, value: &Self::Value) -> Option<Json>;
}

/// Any text.
#[derive(Clone, Copy, Debug)]
pub struct AnyText;

/// `true` or `false`.
#[derive(Clone, Copy, Debug)]
pub struct Boolean;

/// A whole number from `least` to `most`; `20k` and `2M` count in thousands and millions.
#[derive(Clone, Copy, Debug)]
pub struct WholeNumber {
    /// Smallest value that is accepted.
    pub least: u64,
    /// Largest value that is accepted.
    pub most: u64,
}

/// A count that fits 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct SmallCount {
    /// Smallest value that is accepted.
    pub least: u32,
    /// Largest value that is accepted.
    pub most: u32,
}

/// A number from `least` to `most`.
#[derive(Clone, Copy, Debug)]
pub struct NumberWithin {
    /// Smallest value that is accepted.
    pub least: f64,
    /// Largest value that is accepted.
    pub most: f64,
}

/// A size in bytes: `500`, `64KiB`.
#[derive(Clone, Copy, Debug)]
pub struct ByteSize;

/// A span of time: `90s`, `1h30m`.
#[derive(Clone, Copy, Debug)]
pub struct TimeSpan;

/// One of a few words. `false` in the list is the YAML value.
#[derive(Clone, Copy, Debug)]
pub struct OneOf<'w, T>(pub &'w [(&'w str, T)]);

/// The one number it may be.
#[derive(Clone, Copy, Debug)]
pub struct ExactNumber(pub u64);

/// A mapping whose content is not looked into.
#[derive(Clone, Copy, Debug)]
pub struct AnyObject;

/// Text that has to be something: a host, a pattern, a name.
#[derive(Clone, Copy, Debug)]
pub struct ParsedText<T> {
    /// Parses the text, or says why not.
    pub parse: fn(&str) -> Result<T, Rejection>,
    /// Writes it back; `None` where no default ever needs it.
    pub write: Option<fn(&T) -> String>,
    /// A regular expression that whatever is read matches, for the schema; it may match more.
    pub pattern: &'static str,
    /// One that is read.
    pub example: &'static str,
}

/// A list; a single value is a list of one.
#[derive(Clone, Copy, Debug)]
pub struct OneOrMany<S>(pub S);

/// The same, and never empty.
#[derive(Clone, Copy, Debug)]
pub struct AtLeastOne<S>(pub S);

/// A list with a bounded number of entries.
#[derive(Clone, Copy, Debug)]
pub struct ListOf<S> {
    /// What each entry is.
    pub item: S,
    /// Fewest entries that are accepted.
    pub least: usize,
    /// Most entries that are accepted.
    pub most: usize,
}

/// A mapping with keys of the user's choice.
#[derive(Clone, Copy, Debug)]
pub struct MapOf<S>(pub S);

/// A value together with its place.
#[derive(Clone, Copy, Debug)]
pub struct Located<S>(pub S);

/// Returns a schema with one more keyword.
pub fn with(mut schema: Json, keyword: &str, said: Json) -> Json {
    if let Json::Object(keywords) = &mut schema {
        keywords.insert(keyword.to_owned(), said);
    }
    schema
}

fn written_all<S: Shape>(item: &S, values: &[S::Value]) -> Option<Json> {
    let values: Option<Vec<Json>> = values.iter().map(|value| item.written(value)).collect();
    values.map(Json::Array)
}

impl Shape for AnyText {
    type Value = String;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<String> {
        mistakes.text(node, what)
    }

    fn schema(&self) -> Json {
        json!({ "type": "string" })
    }

    fn written(&self, value: &String) -> Option<Json> {
        Some(json!(value))
    }
}

impl Shape for Boolean {
    type Value = bool;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<bool> {
        mistakes.flag(node, what)
    }

    fn schema(&self) -> Json {
        json!({ "type": "boolean" })
    }

    fn written(&self, value: &bool) -> Option<Json> {
        Some(json!(value))
    }
}

impl Shape for WholeNumber {
    type Value = u64;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<u64> {
        let count = mistakes.count(node, what)?;
        if !(self.least..=self.most).contains(&count) {
            mistakes
                .add(node.place, format!("`{what}` must be from {} to {}", self.least, self.most));
            return None;
        }
        Some(count)
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": self.least, "maximum": self.most },
            { "type": "string", "pattern": "^[0-9_]*[0-9][0-9_]*\\s*[kKM]?$" },
        ] })
    }

    fn written(&self, value: &u64) -> Option<Json> {
        Some(match value {
            value if *value > 0 && value % 1_000_000 == 0 => {
                json!(format!("{}M", value / 1_000_000))
            }
            value => json!(value),
        })
    }
}

impl SmallCount {
    fn wide(self) -> WholeNumber {
        WholeNumber { least: u64::from(self.least), most: u64::from(self.most) }
    }
}

impl Shape for SmallCount {
    type Value = u32;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<u32> {
        u32::try_from(self.wide().read(node, what, mistakes)?).ok()
    }

    fn schema(&self) -> Json {
        self.wide().schema()
    }

    fn written(&self, value: &u32) -> Option<Json> {
        self.wide().written(&u64::from(*value))
    }
}

impl Shape for NumberWithin {
    type Value = f64;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<f64> {
        mistakes.number(node, what, self.least, self.most)
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": self.least, "maximum": self.most })
    }

    fn written(&self, value: &f64) -> Option<Json> {
        Some(json!(value))
    }
}

impl Shape for ByteSize {
    type Value = usize;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<usize> {
        mistakes.bytes(node, what)
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9_]*[0-9][0-9_]*\\s*(B|k|K|M|G|kB|KB|MB|GB|KiB|MiB|GiB)?$" },
        ] })
    }

    fn written(&self, value: &usize) -> Option<Json> {
        Some(match value {
            value if *value > 0 && value % (1 << 20) == 0 => json!(format!("{}MiB", value >> 20)),
            value if *value > 0 && value % (1 << 10) == 0 => json!(format!("{}KiB", value >> 10)),
            value => json!(value),
        })
    }
}

impl Shape for TimeSpan {
    type Value = Duration;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Duration> {
        mistakes.duration(node, what)
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": "^(?=.*[1-9])([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$" })
    }

    fn written(&self, value: &Duration) -> Option<Json> {
        let (seconds, millis) = (value.as_secs(), value.subsec_millis());
        let parts = [
            (seconds / 3600, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
            (u64::from(millis), "ms"),
        ];
        Some(json!(
            parts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, unit)| format!("{count}{unit}"))
                .collect::<String>()
        ))
    }
}

impl<T: Copy + PartialEq> Shape for OneOf<'_, T> {
    type Value = T;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<T> {
        mistakes.word(node, what, self.0)
    }

    fn schema(&self) -> Json {
        let word = |word: &str| if word == "false" { json!(false) } else { json!(word) };
        json!({ "enum": self.0.iter().map(|(text, _)| word(text)).collect::<Vec<_>>() })
    }

    fn written(&self, value: &T) -> Option<Json> {
        self.0.iter().find(|(_, meant)| meant == value).map(|(word, _)| json!(word))
    }
}

impl Shape for ExactNumber {
    type Value = u64;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<u64> {
        if matches!(&node.value, YamlValue::Number(written) if *written == self.0.to_string()) {
            return Some(self.0);
        }
        mistakes.add(node.place, format!("`{what}` must be {}", self.0));
        None
    }

    fn schema(&self) -> Json {
        json!({ "const": self.0 })
    }

    fn written(&self, value: &u64) -> Option<Json> {
        Some(json!(value))
    }
}

impl Shape for AnyObject {
    type Value = Json;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Json> {
        if node.entries().is_none() {
            mistakes.wanted(node, what, "a mapping");
            return None;
        }
        Some(node.to_json())
    }

    fn schema(&self) -> Json {
        json!({ "type": "object" })
    }

    fn written(&self, value: &Json) -> Option<Json> {
        Some(value.clone())
    }
}

impl<T> Shape for ParsedText<T> {
    type Value = T;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<T> {
        match (self.parse)(&mistakes.text(node, what)?) {
            Ok(value) => Some(value),
            Err(why) => {
                mistakes.reject(node.place, why);
                None
            }
        }
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": self.pattern, "examples": [self.example] })
    }

    fn written(&self, value: &T) -> Option<Json> {
        self.write.map(|write| json!(write(value)))
    }
}

impl<S: Shape> Shape for OneOrMany<S> {
    type Value = Vec<S::Value>;

    fn read(
        &self,
        node: &YamlNode,
        what: &str,
        mistakes: &mut Diagnostics,
    ) -> Option<Vec<S::Value>> {
        let nodes = node.list().unwrap_or(std::slice::from_ref(node));
        Some(nodes.iter().filter_map(|node| self.0.read(node, what, mistakes)).collect())
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [self.0.schema(), { "type": "array", "items": self.0.schema() }] })
    }

    fn written(&self, values: &Vec<S::Value>) -> Option<Json> {
        written_all(&self.0, values)
    }
}

impl<S: Shape> Shape for AtLeastOne<S> {
    type Value = Vec<S::Value>;

    fn read(
        &self,
        node: &YamlNode,
        what: &str,
        mistakes: &mut Diagnostics,
    ) -> Option<Vec<S::Value>> {
        if node.list().is_some_and(<[YamlNode]>::is_empty) {
            mistakes.add_with_hint(
                node.place,
                format!("`{what}` is empty"),
                "leave it out, or name at least one",
            );
            return None;
        }
        let nodes = node.list().unwrap_or(std::slice::from_ref(node));
        Some(nodes.iter().filter_map(|node| self.0.read(node, what, mistakes)).collect())
    }

    fn schema(&self) -> Json {
        let list = json!({ "type": "array", "items": self.0.schema(), "minItems": 1 });
        json!({ "anyOf": [self.0.schema(), list] })
    }

    fn written(&self, values: &Vec<S::Value>) -> Option<Json> {
        written_all(&self.0, values)
    }
}

impl<S: Shape> Shape for ListOf<S> {
    type Value = Vec<S::Value>;

    fn read(
        &self,
        node: &YamlNode,
        what: &str,
        mistakes: &mut Diagnostics,
    ) -> Option<Vec<S::Value>> {
        let Some(nodes) = node.list() else {
            mistakes.wanted(node, what, "a list");
            return None;
        };
        if !(self.least..=self.most).contains(&nodes.len()) {
            mistakes.add(
                node.place,
                format!(
                    "`{what}` needs {} to {} entries, not {}",
                    self.least,
                    self.most,
                    nodes.len()
                ),
            );
            return None;
        }
        Some(nodes.iter().filter_map(|node| self.item.read(node, what, mistakes)).collect())
    }

    fn schema(&self) -> Json {
        let Self { item, least, most } = self;
        json!({ "type": "array", "items": item.schema(), "minItems": least, "maxItems": most })
    }

    fn written(&self, values: &Vec<S::Value>) -> Option<Json> {
        written_all(&self.item, values)
    }
}

impl<S: Shape> Shape for MapOf<S> {
    type Value = BTreeMap<String, S::Value>;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Self::Value> {
        let Some(entries) = node.entries() else {
            mistakes.wanted(node, what, "a mapping");
            return None;
        };
        Some(
            entries
                .iter()
                .filter_map(|entry| {
                    Some((entry.key.clone(), self.0.read(&entry.node, &entry.key, mistakes)?))
                })
                .collect(),
        )
    }

    fn schema(&self) -> Json {
        json!({ "type": "object", "additionalProperties": self.0.schema() })
    }

    fn written(&self, values: &Self::Value) -> Option<Json> {
        values
            .iter()
            .map(|(key, value)| Some((key.clone(), self.0.written(value)?)))
            .collect::<Option<serde_json::Map<_, _>>>()
            .map(Json::Object)
    }
}

impl<S: Shape> Shape for Located<S> {
    type Value = (S::Value, Position);

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Self::Value> {
        Some((self.0.read(node, what, mistakes)?, node.place))
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn written(&self, (value, _): &Self::Value) -> Option<Json> {
        self.0.written(value)
    }
}
