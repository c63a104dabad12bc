//! `Shape`: what a value of a settings file may be. One description both reads the value and says
//! in JSON Schema what it reads, so that the two cannot drift apart.
//!
//! In: a node of a `yaml` tree. Out: a checked value, or mistakes; or the schema. Mappings with
//! keys of their own are in `section`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::fields::{Diagnostics, nearest, parse_bytes, parse_duration, written};
use crate::position::Position;
use crate::rejection::Rejection;
use crate::yaml::{MapEntry, YamlNode, YamlValue};

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
    fn written(&self, _value: &Self::Value) -> Option<Json> {
        None
    }
}

/// Any text.
#[derive(Clone, Copy, Debug)]
pub struct AnyText;

/// `true` or `false`.
#[derive(Clone, Copy, Debug)]
pub struct Boolean;

/// A whole number from `least` to `most`; `20k` and `2M` count in thousands and millions.
#[derive(Clone, Copy, Debug)]
pub struct WholeNumber<N = u64> {
    /// Smallest value that is accepted.
    pub least: N,
    /// Largest value that is accepted.
    pub most: N,
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

/// One shape for mappings, another for everything else.
#[derive(Clone, Copy, Debug)]
pub struct MappingOr<M, S>(pub M, pub S);

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

impl<N: Copy + Into<u64> + TryFrom<u64>> Shape for WholeNumber<N> {
    type Value = N;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<N> {
        let (least, most) = (self.least.into(), self.most.into());
        let count = mistakes.count(node, what)?;
        if !(least..=most).contains(&count) {
            return mistakes.refuse(node.place, format!("`{what}` must be from {least} to {most}"));
        }
        N::try_from(count).ok()
    }

    fn schema(&self) -> Json {
        let (least, most): (u64, u64) = (self.least.into(), self.most.into());
        let number = json!({ "type": "integer", "minimum": least, "maximum": most });
        // No number that is written so fits.
        if most < 1_000 {
            return number;
        }
        json!({ "anyOf": [
            number,
            { "type": "string", "pattern": "^[0-9_]*[0-9][0-9_]*\\s*[kKM]?$" },
        ] })
    }

    fn written(&self, value: &N) -> Option<Json> {
        Some(match (*value).into() {
            value if value > 0 && value % 1_000_000 == 0 => {
                json!(format!("{}M", value / 1_000_000))
            }
            value => json!(value),
        })
    }
}

impl Shape for NumberWithin {
    type Value = f64;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<f64> {
        let Self { least, most } = self;
        let number = match &node.value {
            YamlValue::Number(text) => text.parse::<f64>().ok(),
            _ => None,
        };
        number.filter(|found| found.is_finite() && (least..=most).contains(&found)).or_else(|| {
            let message = format!("`{what}` must be a number from {least} to {most}");
            mistakes.refuse(node.place, message)
        })
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
        written(node)
            .and_then(parse_bytes)
            .or_else(|| mistakes.wanted(node, what, "a size such as `500`, `64KiB` or `2M`"))
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
        node.text()
            .and_then(parse_duration)
            .or_else(|| mistakes.wanted(node, what, "a duration such as `90s`, `10m` or `1h30m`"))
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
        let text = match &node.value {
            YamlValue::Text(text) if !matches!(text.as_str(), "true" | "false") => text.clone(),
            YamlValue::Bool(flag) => flag.to_string(),
            _ => return mistakes.wanted(node, what, "a word"),
        };
        if let Some((_, value)) = self.0.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = self.0.iter().map(|(word, _)| *word).collect();
        let hint = nearest(&text, &known).map_or_else(
            || format!("one of: {}", known.join(", ")),
            |word| format!("did you mean `{word}`?"),
        );
        mistakes.add_with_hint(node.place, format!("`{what}` cannot be `{text}`"), hint);
        None
    }

    fn schema(&self) -> Json {
        let word = |word: &str| if word == "false" { json!(false) } else { json!(word) };
        json!({ "enum": self.0.iter().map(|(text, _)| word(text)).collect::<Vec<_>>() })
    }

    fn written(&self, value: &T) -> Option<Json> {
        self.0.iter().find(|(_, meant)| meant == value).map(|(word, _)| json!(word))
    }
}

impl<T, M: Shape<Value = T>, S: Shape<Value = T>> Shape for MappingOr<M, S> {
    type Value = T;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<T> {
        match node.entries() {
            Some(_) => self.0.read(node, what, mistakes),
            None => self.1.read(node, what, mistakes),
        }
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [self.1.schema(), self.0.schema()] })
    }

    fn written(&self, value: &T) -> Option<Json> {
        self.1.written(value)
    }
}

impl Shape for ExactNumber {
    type Value = u64;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<u64> {
        if matches!(&node.value, YamlValue::Number(written) if *written == self.0.to_string()) {
            return Some(self.0);
        }
        mistakes.refuse(node.place, format!("`{what}` must be {}", self.0))
    }

    fn schema(&self) -> Json {
        json!({ "const": self.0 })
    }
}

impl Shape for AnyObject {
    type Value = Json;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Json> {
        match node.entries() {
            Some(_) => Some(node.to_json()),
            None => mistakes.wanted(node, what, "a mapping"),
        }
    }

    fn schema(&self) -> Json {
        json!({ "type": "object" })
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
        let values: Option<Vec<Json>> = values.iter().map(|value| self.0.written(value)).collect();
        values.map(Json::Array)
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
            return mistakes.wanted(node, what, "a list");
        };
        let Self { item, least, most } = self;
        if !(least..=most).contains(&&nodes.len()) {
            let count = nodes.len();
            let message = format!("`{what}` needs {least} to {most} entries, not {count}");
            return mistakes.refuse(node.place, message);
        }
        Some(nodes.iter().filter_map(|node| item.read(node, what, mistakes)).collect())
    }

    fn schema(&self) -> Json {
        let Self { item, least, most } = self;
        json!({ "type": "array", "items": item.schema(), "minItems": least, "maxItems": most })
    }
}

impl<S: Shape> Shape for MapOf<S> {
    type Value = BTreeMap<String, S::Value>;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<Self::Value> {
        let Some(entries) = node.entries() else {
            return mistakes.wanted(node, what, "a mapping");
        };
        let read = |entry: &MapEntry| {
            Some((entry.key.clone(), self.0.read(&entry.node, &entry.key, mistakes)?))
        };
        Some(entries.iter().filter_map(read).collect())
    }

    fn schema(&self) -> Json {
        json!({ "type": "object", "additionalProperties": self.0.schema() })
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
}
