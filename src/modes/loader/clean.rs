//! Texts as the peers' programs read them. In: a file's text; out: the same text with plain
//! characters, or strict JSON as a tree that knows its places where YAML does.

use locum_files::position::Position;
use locum_files::yaml::{MapEntry, TEXT_LIMIT_BYTES, YamlDocument, YamlNode, YamlValue};

/// Replaces the characters that editors and chat windows put in place of plain ones.
pub(super) fn clean(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain = |char| match char {
        '\u{200b}'..='\u{200d}' => None,
        '\u{a0}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{2018}' | '\u{2019}' => Some('\''),
        '\u{201c}' | '\u{201d}' => Some('"'),
        other => Some(other),
    };
    text.chars().filter_map(plain).collect()
}

/// Reads strict JSON. Where YAML only stumbles over tabs, every value still knows its place.
pub(super) fn json(text: &str) -> Option<YamlNode> {
    if text.len() > TEXT_LIMIT_BYTES {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let placed = YamlDocument::parse(&text.replace('\t', " "));
    if placed.mistakes.is_empty() && placed.root.is_some() {
        placed.root
    } else {
        Some(without_places(value))
    }
}

fn without_places(value: serde_json::Value) -> YamlNode {
    let entry = |(key, value)| MapEntry {
        key,
        key_place: Position::default(),
        node: without_places(value),
    };
    let value = match value {
        serde_json::Value::Null => YamlValue::Null,
        serde_json::Value::Bool(flag) => YamlValue::Bool(flag),
        serde_json::Value::Number(number) => YamlValue::Number(number.to_string()),
        serde_json::Value::String(text) => YamlValue::Text(text),
        serde_json::Value::Array(values) => {
            YamlValue::List(values.into_iter().map(without_places).collect())
        }
        serde_json::Value::Object(entries) => {
            YamlValue::Map(entries.into_iter().map(entry).collect())
        }
    };
    YamlNode { place: Position::default(), value }
}
