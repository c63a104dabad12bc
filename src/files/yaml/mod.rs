//! YAML (and JSON, its subset) as a tree in which every value knows its line and column.
//!
//! In: the text of one file. Out: a [`YamlDocument`] with the tree and every mistake that reading
//! alone can find (syntax, duplicate keys, bombs). It gives values no meaning: that is done with
//! `fields`, which collects mistakes the same way.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::position::Position;
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

/// Longest accepted text, in bytes.
pub const TEXT_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// Most values in one document, those repeated by aliases counted each time.
pub const NODE_LIMIT: usize = 200_000;
/// Longest single value or key, in bytes.
pub const SCALAR_LIMIT_BYTES: usize = 1024 * 1024;
/// Most bytes of all values together, those repeated by aliases or kept for them counted each time.
pub const BYTES_LIMIT: usize = 8 * 1024 * 1024;
/// Most anchors in one document.
pub const ANCHOR_LIMIT: usize = 100;
/// Deepest nesting of lists and mappings.
pub const DEPTH_LIMIT: usize = 64;
/// Most mistakes reported for one document.
pub const MISTAKE_LIMIT: usize = 100;

/// What was read of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct YamlDocument {
    /// The tree; `None` for an empty file and for one whose syntax is broken.
    pub root: Option<YamlNode>,
    /// Every mistake found, in order of place. A root beside mistakes is complete enough to look
    /// for more of them.
    pub mistakes: Vec<Diagnostic>,
}

/// One value and where it stands. A value that came through an alias stands where it was defined.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    /// Where it starts.
    pub place: Position,
    /// The value, with everything in it.
    pub value: YamlValue,
}

/// A value by the YAML 1.2 core rules: `yes` and `on` are text.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// Text, quoted or plain.
    Text(String),
    /// A sequence, in the file's order.
    List(Vec<YamlNode>),
    /// A mapping, in the file's order; of duplicate keys the first.
    Map(Vec<MapEntry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct MapEntry {
    /// Key as text.
    pub key: String,
    /// Where the key stands.
    pub key_place: Position,
    /// Value of the key.
    pub node: YamlNode,
}

impl YamlDocument {
    /// Reads the only document of a text. Never fails: what is wrong is in `mistakes`.
    pub fn parse(text: &str) -> Self {
        if text.len() > TEXT_LIMIT_BYTES {
            let message = format!("file of {} bytes is longer than {TEXT_LIMIT_BYTES}", text.len());
            return Self {
                root: None,
                mistakes: vec![Diagnostic::new(Position::default(), message)],
            };
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(mistake) = unwanted(text) {
            return Self { root: None, mistakes: vec![mistake] };
        }
        let mut builder = TreeBuilder::default();
        for event in Parser::new_from_str(text) {
            let step = match event {
                Ok((event, span)) => builder.take(event, place_of(&span)),
                Err(error) => Err(described(&error)),
            };
            if let Err(mistake) = step {
                builder.mistakes.push(mistake);
                builder.root = None;
                break;
            }
        }
        builder.mistakes.sort_by_key(|mistake| mistake.place);
        builder.mistakes.truncate(MISTAKE_LIMIT);
        Self { root: builder.root, mistakes: builder.mistakes }
    }
}

impl YamlNode {
    /// Returns the text of a text value.
    pub fn text(&self) -> Option<&str> {
        if let YamlValue::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the values of a list.
    pub fn list(&self) -> Option<&[YamlNode]> {
        if let YamlValue::List(nodes) = &self.value { Some(nodes) } else { None }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[MapEntry]> {
        if let YamlValue::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// Returns the value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Returns what this value is, for messages: `text`, `a list`, ...
    pub fn kind(&self) -> &'static str {
        match self.value {
            YamlValue::Null => "nothing",
            YamlValue::Bool(_) => "true or false",
            YamlValue::Number(_) => "a number",
            YamlValue::Text(_) => "text",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a mapping",
        }
    }

    /// Returns the same value as JSON, without places. Numbers JSON cannot hold become text.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            YamlValue::Null => serde_json::Value::Null,
            YamlValue::Bool(flag) => serde_json::Value::Bool(*flag),
            YamlValue::Number(written) => written.parse::<serde_json::Number>().map_or_else(
                |_| serde_json::Value::String(written.clone()),
                serde_json::Value::Number,
            ),
            YamlValue::Text(text) => serde_json::Value::String(text.clone()),
            YamlValue::List(nodes) => {
                serde_json::Value::Array(nodes.iter().map(Self::to_json).collect())
            }
            YamlValue::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect(),
            ),
        }
    }

    fn weight(&self) -> CopyCost {
        let inside = |found: CopyCost, below: CopyCost| CopyCost {
            values: found.values + below.values,
            bytes: found.bytes + below.bytes,
            depth: found.depth.max(below.depth + 1),
        };
        let alone = CopyCost { values: 1, bytes: 0, depth: 0 };
        match &self.value {
            YamlValue::List(nodes) => {
                nodes.iter().map(Self::weight).fold(CopyCost { depth: 1, ..alone }, inside)
            }
            YamlValue::Map(entries) => {
                let keyed = |entry: &MapEntry| {
                    let below = entry.node.weight();
                    CopyCost {
                        values: below.values + 1,
                        bytes: below.bytes + entry.key.len(),
                        ..below
                    }
                };
                entries.iter().map(keyed).fold(CopyCost { depth: 1, ..alone }, inside)
            }
            YamlValue::Number(text) | YamlValue::Text(text) => {
                CopyCost { bytes: text.len(), ..alone }
            }
            YamlValue::Null | YamlValue::Bool(_) => alone,
        }
    }
}

fn too_deep(place: Position) -> Diagnostic {
    Diagnostic::new(place, format!("nested deeper than {DEPTH_LIMIT} levels"))
}

/// What a value costs when it is copied.
#[derive(Clone, Copy)]
struct CopyCost {
    values: usize,
    bytes: usize,
    depth: usize,
}

/// A list or mapping whose end has not been seen.
struct OpenNode {
    place: Position,
    anchor: usize,
    shape: OpenValue,
}

enum OpenValue {
    List(Vec<YamlNode>),
    Map { entries: Vec<MapEntry>, seen: BTreeSet<String>, key: Option<(String, Position)> },
}

#[derive(Default)]
struct TreeBuilder {
    root: Option<YamlNode>,
    documents: usize,
    open: Vec<OpenNode>,
    anchors: BTreeMap<usize, YamlNode>,
    values: usize,
    bytes: usize,
    mistakes: Vec<Diagnostic>,
}

impl TreeBuilder {
    /// Takes one event; an error ends the reading.
    fn take(&mut self, event: Event<'_>, place: Position) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Diagnostic::new(place, "a second document starts here")
                        .hint("keep one document in a file"));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let forced = tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                if !forced {
                    only_plain(tag.as_deref(), place)?;
                }
                if text.len() > SCALAR_LIMIT_BYTES {
                    let length = text.len();
                    let message =
                        format!("value of {length} bytes is longer than {SCALAR_LIMIT_BYTES}");
                    return Err(Diagnostic::new(place, message));
                }
                self.spend(CopyCost { values: 0, bytes: text.len(), depth: 0 }, place)?;
                let value = if style == ScalarStyle::Plain && !forced {
                    plain(&text)
                } else {
                    YamlValue::Text(text.into_owned())
                };
                self.value(YamlNode { place, value }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                only_plain(tag.as_deref(), place)?;
                self.start(place, anchor, OpenValue::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                only_plain(tag.as_deref(), place)?;
                self.start(
                    place,
                    anchor,
                    OpenValue::Map { entries: Vec::new(), seen: BTreeSet::new(), key: None },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id) else {
                    let message = "alias names a value that is still being defined";
                    return Err(Diagnostic::new(place, message));
                };
                let weight = node.weight();
                if self.open.len() + weight.depth > DEPTH_LIMIT {
                    return Err(too_deep(place));
                }
                self.spend(weight, place)?;
                match self.anchors.get(&id).cloned() {
                    Some(node) => self.value(node, 0),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Counts what is kept; copies are counted before they are made.
    fn spend(&mut self, weight: CopyCost, place: Position) -> Result<(), Diagnostic> {
        self.values += weight.values;
        self.bytes += weight.bytes;
        let limit = if self.values > NODE_LIMIT {
            format!("{NODE_LIMIT} values")
        } else if self.bytes > BYTES_LIMIT {
            format!("{BYTES_LIMIT} bytes of values")
        } else {
            return Ok(());
        };
        let message = format!("more than {limit}, repetitions by alias included");
        Err(Diagnostic::new(place, message))
    }

    fn start(
        &mut self,
        place: Position,
        anchor: usize,
        shape: OpenValue,
    ) -> Result<(), Diagnostic> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(too_deep(place));
        }
        self.open.push(OpenNode { place, anchor, shape });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.shape {
            OpenValue::List(nodes) => YamlValue::List(nodes),
            OpenValue::Map { entries, .. } => YamlValue::Map(entries),
        };
        self.value(YamlNode { place: open.place, value }, open.anchor)
    }

    /// Puts a finished value where it belongs: into the open list or mapping, as a key, or as the
    /// root.
    fn value(&mut self, node: YamlNode, anchor: usize) -> Result<(), Diagnostic> {
        self.spend(CopyCost { values: 1, bytes: 0, depth: 0 }, node.place)?;
        if anchor != 0 {
            if self.anchors.len() >= ANCHOR_LIMIT {
                return Err(Diagnostic::new(
                    node.place,
                    format!("more than {ANCHOR_LIMIT} anchors"),
                )
                .hint("write the values out"));
            }
            self.spend(node.weight(), node.place)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.shape {
            OpenValue::List(nodes) => nodes.push(node),
            OpenValue::Map { entries, seen, key } => match key.take() {
                None => match key_text(&node) {
                    Some(text) => *key = Some((text, node.place)),
                    None => {
                        return Err(Diagnostic::new(
                            node.place,
                            format!("a key is {}; keys are text", node.kind()),
                        ));
                    }
                },
                Some((text, key_place)) => {
                    if seen.insert(text.clone()) {
                        entries.push(MapEntry { key: text, key_place, node });
                    } else {
                        self.mistakes
                            .push(Diagnostic::new(key_place, format!("duplicate key `{text}`")));
                    }
                }
            },
        }
        Ok(())
    }
}

/// The parser has a depth of its own, and looks ahead.
/// What to do about text that is not YAML.
const NOT_YAML: &str = "write `key: value` lines, indented alike below their key; text such as \
                        Markdown goes into a value: `key: |`, then indented lines";

/// Says what is wrong with the syntax, in the words of who writes the file.
fn described(error: &ScanError) -> Diagnostic {
    let place = Position::at(error.marker().line(), error.marker().col());
    let info = error.info();
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            Diagnostic::new(place, format!("nested deeper than {DEPTH_LIMIT} levels"))
        }
        _ if info.contains("unexpected character") => Diagnostic::new(place, info).hint(
            "put the value in quotes; text such as Markdown goes into a value: `key: |`, then \
             indented lines",
        ),
        _ if info.contains("simple key expected") => {
            Diagnostic::new(place, "there is no `key: value` here").hint(NOT_YAML)
        }
        _ if info.contains("expected <document start>") => {
            Diagnostic::new(place, "what stands here does not belong to the YAML above it")
                .hint(NOT_YAML)
        }
        _ if info.contains("multiline quoted scalar") || info.contains("quoted scalar") => {
            Diagnostic::new(place, info).hint("a quote that begins above is not closed")
        }
        _ if info.contains("tabs disallowed") => {
            Diagnostic::new(place, info).hint("indent with spaces, as YAML asks")
        }
        _ => Diagnostic::new(place, info),
    }
}

/// Tags could turn values into something else; none but `!!str` says anything here.
fn only_plain(tag: Option<&Tag>, place: Position) -> Result<(), Diagnostic> {
    let Some(tag) = tag else { return Ok(()) };
    let message = format!("the tag `{tag}` means nothing here");
    Err(Diagnostic::new(place, message).hint("leave it out"))
}

/// Returns true for characters that settings files hold only as escapes: those that act on a
/// terminal, break lines unseen, or change the reading order; and the replacement character.
pub fn is_unwanted(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{feff}' | '\u{fffd}'..='\u{ffff}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Finds the first character that has no business in a settings file.
fn unwanted(text: &str) -> Option<Diagnostic> {
    let mut place = Position { line: 1, column: 1 };
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let fine = if letter == '\r' {
            letters.peek() == Some(&'\n')
        } else {
            letter == '\n' || letter == '\t' || !is_unwanted(letter)
        };
        if letter == '\u{fffd}' {
            return Some(
                Diagnostic::new(place, "is not UTF-8 text").hint("save the file as UTF-8"),
            );
        }
        if !fine {
            let message = format!("the character U+{:04X} may not stand here", u32::from(letter));
            return Some(
                Diagnostic::new(place, message)
                    .hint("take it out, or write it as an escape in double quotes"),
            );
        }
        if letter == '\n' {
            place = Position { line: place.line.saturating_add(1), column: 1 };
        } else {
            place.column = place.column.saturating_add(1);
        }
    }
    None
}

fn key_text(node: &YamlNode) -> Option<String> {
    match &node.value {
        YamlValue::Text(text) | YamlValue::Number(text) => Some(text.clone()),
        YamlValue::Bool(flag) => Some(flag.to_string()),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

fn plain(text: &str) -> YamlValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => YamlValue::Null,
        "true" | "True" | "TRUE" => YamlValue::Bool(true),
        "false" | "False" | "FALSE" => YamlValue::Bool(false),
        text if is_number(text) => YamlValue::Number(text.to_owned()),
        text => YamlValue::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let hexadecimal = text
        .strip_prefix("0x")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let octal = text.strip_prefix("0o").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| (b'0'..=b'7').contains(&byte))
    });
    let starts = digits
        .strip_prefix('.')
        .unwrap_or(digits)
        .starts_with(|letter: char| letter.is_ascii_digit());
    hexadecimal || octal || (starts && digits.parse::<f64>().is_ok())
}

fn place_of(span: &Span) -> Position {
    Position::at(span.start.line(), span.start.col())
}

#[cfg(test)]
mod tests;
