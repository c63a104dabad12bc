//! `SettingKind`: what a setting takes, read from a file, a variable or a flag alike, and as JSON
//! Schema.

use std::path::Path;

use figment::value::Value as Found;
use serde_json::json;

use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::shape::{Boolean, NumberWithin, OneOf, OneOrMany, Shape, WholeNumber};
use locum_files::yaml::{YamlNode, YamlValue};

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    /// Text that is not empty.
    Text,
    /// Text that is not empty and not longer than this, in bytes.
    Prose {
        /// Size of the longest text that is accepted.
        most_bytes: usize,
    },
    /// One text or several, none of them empty.
    Names,
    /// Text that may be secret and is never shown.
    Hidden,
    /// The absolute path of a folder: a relative one would be another folder in each place.
    Folder,
    /// A whole number from 1 to a limit.
    Count {
        /// Largest count that is accepted.
        most: u64,
    },
    /// A number within bounds.
    Number {
        /// Smallest number that is accepted.
        least: f64,
        /// Largest number that is accepted.
        most: f64,
    },
    /// True or false.
    Flag,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// Any of a few words, each at most once.
    Words(&'static [&'static str]),
    /// Texts of any kind, in order.
    Texts,
}

impl SettingKind {
    /// Reads a value out of a file; `name` is how the setting is called in a mistake.
    pub fn read(self, node: &YamlNode, name: &str, mistakes: &mut Diagnostics) -> Option<Found> {
        let before = mistakes.0.len();
        let found = match self {
            Self::Text | Self::Hidden => {
                let text = mistakes.text(node, name)?;
                if text.trim().is_empty() {
                    mistakes.add(node.place, format!("`{name}` is empty"));
                }
                Found::from(text)
            }
            Self::Folder => {
                let text = Self::Text.read(node, name, mistakes)?;
                if !text.as_str().is_some_and(|text| Path::new(text).is_absolute()) {
                    let message = format!("`{name}` is not an absolute path");
                    let hint = "write the whole path, from `/`; `~` is not expanded";
                    mistakes.add_with_hint(node.place, message, hint);
                }
                text
            }
            Self::Prose { most_bytes } => {
                let text = Self::Text.read(node, name, mistakes)?;
                let bytes = text.as_str().map_or(0, str::len);
                if bytes > most_bytes {
                    let message = format!("`{name}` has {bytes} bytes, more than {most_bytes}");
                    mistakes.add(node.place, message);
                }
                text
            }
            Self::Names => {
                let nodes = node.list().unwrap_or(std::slice::from_ref(node)).iter();
                let names = nodes.filter_map(|node| Self::Text.read(node, name, mistakes));
                Found::from(names.collect::<Vec<Found>>())
            }
            Self::Texts => {
                let texts = mistakes.texts(node, name).into_iter().map(|(text, _)| text);
                Found::from(texts.collect::<Vec<String>>())
            }
            Self::Count { most } => {
                Found::from(WholeNumber { least: 1, most }.read(node, name, mistakes)?)
            }
            Self::Number { least, most } => {
                Found::from(NumberWithin { least, most }.read(node, name, mistakes)?)
            }
            Self::Flag => Found::from(Boolean.read(node, name, mistakes)?),
            Self::Word(words) => Found::from(OneOf(&pairs(words)).read(node, name, mistakes)?),
            Self::Words(words) => {
                Found::from(OneOrMany(OneOf(&pairs(words))).read(node, name, mistakes)?)
            }
        };
        (mistakes.0.len() == before).then_some(found)
    }

    /// Returns the JSON Schema of what is read.
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Text | Self::Prose { .. } | Self::Hidden => {
                json!({ "type": "string", "pattern": "\\S" })
            }
            Self::Folder => json!({ "type": "string", "pattern": "^/" }),
            Self::Names => {
                let name = Self::Text.schema();
                json!({ "anyOf": [name, { "type": "array", "items": name }] })
            }
            Self::Texts => {
                let text = json!({ "type": "string" });
                json!({ "anyOf": [text, { "type": "array", "items": text }] })
            }
            Self::Count { most } => WholeNumber { least: 1, most }.schema(),
            Self::Number { least, most } => NumberWithin { least, most }.schema(),
            Self::Flag => Boolean.schema(),
            Self::Word(words) => OneOf(&pairs(words)).schema(),
            Self::Words(words) => OneOrMany(OneOf(&pairs(words))).schema(),
        }
    }

    /// Brings the text of a variable or flag to the form a file has: lists are separated by commas.
    pub fn node(self, text: &str) -> YamlNode {
        let text = text.trim();
        let value = match self {
            Self::Flag if matches!(text, "true" | "false") => YamlValue::Bool(text == "true"),
            Self::Count { .. } | Self::Number { .. } if text.parse::<f64>().is_ok() => {
                YamlValue::Number(text.to_owned())
            }
            Self::Names | Self::Words(_) | Self::Texts => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                YamlValue::List(words.map(|word| Self::Text.node(word)).collect())
            }
            Self::Text
            | Self::Prose { .. }
            | Self::Hidden
            | Self::Folder
            | Self::Flag
            | Self::Word(_)
            | Self::Count { .. }
            | Self::Number { .. } => YamlValue::Text(text.to_owned()),
        };
        YamlNode { place: Position::default(), value }
    }
}

fn pairs(words: &'static [&'static str]) -> Vec<(&'static str, &'static str)> {
    words.iter().map(|word| (*word, *word)).collect()
}
