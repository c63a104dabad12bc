//! Changes one mode in the text of a mode file and leaves the rest as it is: comments, order,
//! quotes, blank lines. In: the text and one [`ModeEdit`]; out: the new text, or why it cannot be
//! done without harm. Writes no file.
//!
//! Block YAML is changed line by line; JSON is written as a whole, since it has no comments to
//! lose. In both cases, the new text is read again and has to say exactly what was meant.

mod emit;
mod lines;

use serde_json::{Map, Value};

use crate::edit::lines::TextLines;
use crate::schema::TOP_KEY;
use locum_files::yaml::{YamlDocument, YamlNode};

/// One change of a mode file.
#[derive(Clone, Debug, PartialEq)]
pub enum ModeEdit {
    /// Adds a mode, or puts it whole in the place of the one with its slug.
    Put(Map<String, Value>),
    /// Changes some keys of a mode; a key without a value is taken out.
    Set {
        /// Slug of the mode.
        slug: String,
        /// Keys and their new values.
        fields: Vec<(String, Option<Value>)>,
    },
    /// Takes a mode out.
    Remove {
        /// Slug of the mode.
        slug: String,
    },
}

/// Why a text is not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is broken.
    #[error("line {line}, column {column}: {message}")]
    Broken {
        /// Its line, counted from 1.
        line: u32,
        /// Its column, counted from 1.
        column: u32,
        /// What is wrong with the text.
        message: String,
    },
    /// The file holds no such mode.
    #[error("there is no mode `{0}` in this file")]
    NoSuchMode(String),
    /// The text is written in a way that cannot be changed in place.
    #[error("cannot edit this file in place without damage to the rest of it")]
    NotInPlace,
}

impl EditError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "correct the file first",
            Self::NoSuchMode(_) => "`locum modes list` shows every mode and its file",
            Self::NotInPlace => {
                "write its modes one below the other, without `{`, `[`, anchors and aliases, or \
                 change it by hand"
            }
        }
    }
}

/// Two words for one key; the file's own is kept.
const SAME: &[(&str, &str)] = &[
    ("roleDefinition", "role"),
    ("iconName", "icon"),
    ("groups", "tools"),
    ("customInstructions", "baseInstructions"),
];

/// Returns the text with one change made.
///
/// # Errors
/// When the text is broken, does not hold the mode, or cannot be changed in place.
pub fn edit(text: &str, change: &ModeEdit) -> Result<String, EditError> {
    let document = YamlDocument::parse(text);
    if let Some(mistake) = document.mistakes.first() {
        return match serde_json::from_str::<Value>(text) {
            Ok(value) => as_json(value, change),
            Err(_) => {
                let (line, column) = (mistake.place.line, mistake.place.column);
                Err(EditError::Broken { line, column, message: mistake.message.clone() })
            }
        };
    }
    let before = document.root.as_ref().map_or(Value::Null, YamlNode::to_json);
    if text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok() {
        return as_json(before, change);
    }
    let wanted = changed(before, change)?;
    let edited = in_lines(text, document.root.as_ref(), change)?;
    let read = YamlDocument::parse(&edited);
    let is_right =
        read.mistakes.is_empty() && read.root.as_ref().map(YamlNode::to_json) == Some(wanted);
    if is_right { Ok(edited) } else { Err(EditError::NotInPlace) }
}

/// Returns what the file says after the change.
fn changed(before: Value, change: &ModeEdit) -> Result<Value, EditError> {
    let mut root = match before {
        Value::Null => Value::Object(Map::new()),
        other => other,
    };
    let list = match &mut root {
        Value::Array(list) => list,
        Value::Object(root) => {
            let list = root.entry(TOP_KEY).or_insert_with(|| Value::Array(Vec::new()));
            if list.is_null() {
                *list = Value::Array(Vec::new());
            }
            list.as_array_mut().ok_or(EditError::NotInPlace)?
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(EditError::NotInPlace);
        }
    };
    let place =
        |list: &[Value], slug: &str| list.iter().position(|mode| slug_of(mode) == Some(slug));
    let missing = |slug: &str| EditError::NoSuchMode(slug.to_owned());
    match change {
        ModeEdit::Put(mode) => {
            let mode = Value::Object(mode.clone());
            match slug_of(&mode).and_then(|slug| place(list, slug)).and_then(|at| list.get_mut(at))
            {
                Some(old) => *old = mode,
                None => list.push(mode),
            }
        }
        ModeEdit::Set { slug, fields } => {
            let mode = place(list, slug)
                .and_then(|at| list.get_mut(at))
                .and_then(Value::as_object_mut)
                .ok_or_else(|| missing(slug))?;
            for (key, value) in fields {
                let key = own_key(key, |key| mode.contains_key(key));
                match value {
                    Some(value) => mode.insert(key.to_owned(), value.clone()),
                    None => mode.remove(key),
                };
            }
        }
        ModeEdit::Remove { slug } => {
            let at = place(list, slug).ok_or_else(|| missing(slug))?;
            list.remove(at);
        }
    }
    Ok(root)
}

fn as_json(before: Value, change: &ModeEdit) -> Result<String, EditError> {
    let after = changed(before, change)?;
    serde_json::to_string_pretty(&after).map(|text| text + "\n").map_err(|_| EditError::NotInPlace)
}

fn in_lines(text: &str, root: Option<&YamlNode>, change: &ModeEdit) -> Result<String, EditError> {
    let mut lines = TextLines::of(text);
    let Some(list) =
        root.and_then(|root| if root.list().is_some() { Some(root) } else { root.get(TOP_KEY) })
    else {
        return match change {
            ModeEdit::Put(mode) => Ok(lines
                .with_end(&format!("{TOP_KEY}:\n{}", emit::item(&Value::Object(mode.clone()), 2)))),
            ModeEdit::Set { slug, .. } | ModeEdit::Remove { slug } => {
                Err(EditError::NoSuchMode(slug.clone()))
            }
        };
    };
    let modes = list.list().unwrap_or_default();
    let place = |slug: &str| {
        modes.iter().position(|mode| mode.get("slug").and_then(YamlNode::text) == Some(slug))
    };
    match change {
        ModeEdit::Put(mode) => {
            let slug = mode.get("slug").and_then(Value::as_str).unwrap_or_default();
            let mode = Value::Object(mode.clone());
            if modes.is_empty() {
                let key = root
                    .and_then(YamlNode::entries)
                    .into_iter()
                    .flatten()
                    .find(|entry| entry.key == TOP_KEY);
                let line = key.map(|entry| entry.key_place.line).ok_or(EditError::NotInPlace)?;
                let brackets = list.place.line;
                if brackets > line && list.list().is_some() {
                    return Ok(lines.with_lines(brackets, brackets + 1, &emit::item(&mode, 2)));
                }
                return Ok(lines.with_lines(
                    line,
                    line + 1,
                    &format!("{TOP_KEY}:\n{}", emit::item(&mode, 2)),
                ));
            }
            let items = lines.items(modes).ok_or(EditError::NotInPlace)?;
            match place(slug).and_then(|at| items.ranges.get(at)) {
                Some((first, end)) => {
                    Ok(lines.with_lines(*first, *end, &emit::item(&mode, items.indent)))
                }
                None => {
                    let end =
                        items.ranges.last().map(|(_, end)| *end).ok_or(EditError::NotInPlace)?;
                    Ok(lines.with_lines(
                        end,
                        end,
                        &format!("{}{}", lines.gap(&items.ranges), emit::item(&mode, items.indent)),
                    ))
                }
            }
        }
        ModeEdit::Remove { slug } => {
            let at = place(slug).ok_or_else(|| EditError::NoSuchMode(slug.clone()))?;
            let items = lines.items(modes).ok_or(EditError::NotInPlace)?;
            let (first, end) = items.ranges.get(at).copied().ok_or(EditError::NotInPlace)?;
            if modes.len() == 1 {
                let key = root
                    .and_then(YamlNode::entries)
                    .into_iter()
                    .flatten()
                    .find(|entry| entry.key == TOP_KEY);
                if let Some(key) =
                    key.map(|entry| entry.key_place.line).filter(|line| *line + 1 == first)
                {
                    return Ok(lines.with_lines(key, end, &format!("{TOP_KEY}: []\n")));
                }
                let blanks = " ".repeat(items.indent);
                let brackets = if root.is_some_and(|root| root.list().is_some()) {
                    "[]\n".to_owned()
                } else {
                    format!("{blanks}  []\n")
                };
                return Ok(lines.with_lines(first, end, &brackets));
            }
            let first = if at == 0 { first } else { lines.with_comments_above(first) };
            Ok(lines.with_lines(first, end, ""))
        }
        ModeEdit::Set { slug, fields } => {
            let at = place(slug).ok_or_else(|| EditError::NoSuchMode(slug.clone()))?;
            for (key, value) in fields {
                let items = lines.items_again(at).ok_or(EditError::NotInPlace)?;
                lines = set(&lines, &items, key, value.as_ref()).ok_or(EditError::NotInPlace)?;
            }
            Ok(lines.text())
        }
    }
}

/// Sets or takes out one key of a mode.
fn set(
    lines: &TextLines,
    mode: &lines::ModeLines,
    key: &str,
    value: Option<&Value>,
) -> Option<TextLines> {
    let key = own_key(key, |key| mode.keys.iter().any(|(known, _, _)| known == key));
    let found = mode.keys.iter().position(|(known, _, _)| known == key);
    let written = value.map(|value| emit::entry(key, value, mode.indent)).unwrap_or_default();
    let edited = match (found.and_then(|at| mode.keys.get(at)), found) {
        (Some((_, first, end)), Some(0)) => {
            // The first key shares its line with the dash.
            let value = value?;
            let entry = emit::entry(key, value, mode.indent);
            let head = lines.line(*first)?.get(..mode.indent)?.to_owned();
            lines.with_lines(*first, *end, &format!("{head}{}", entry.get(mode.indent..)?))
        }
        (Some((_, first, end)), _) => lines.with_lines(*first, *end, &written),
        (None, _) => lines.with_lines(mode.end, mode.end, &written),
    };
    Some(TextLines::of(&edited))
}

/// Returns the word for a key that is in use; the first where none is.
fn own_key(key: &str, is_used: impl Fn(&str) -> bool) -> &str {
    let other = SAME.iter().find_map(|(one, other)| {
        (*one == key).then_some(*other).or_else(|| (*other == key).then_some(*one))
    });
    other.filter(|other| !is_used(key) && is_used(other)).unwrap_or(key)
}

fn slug_of(mode: &Value) -> Option<&str> {
    mode.get("slug").and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
