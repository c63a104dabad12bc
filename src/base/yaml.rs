//! YAML (and JSON, its subset) as a tree in which every value knows its line and column.
//!
//! In: the text of one file. Out: a [`Document`] with the tree and every mistake that reading alone can find (syntax,
//! duplicate keys, bombs). It gives values no meaning: that is done with `base::fields`, which collects mistakes the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span};

/// Longest accepted text, in bytes.
pub const TEXT_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// Most values in one document, those repeated by aliases counted each time.
pub const NODE_LIMIT: usize = 200_000;
/// Deepest nesting of lists and mappings.
pub const DEPTH_LIMIT: usize = 64;
/// Most mistakes reported for one document.
pub const MISTAKE_LIMIT: usize = 100;

/// Where something stands in a file; both count from 1, 0 means the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// One mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Mistake {
    /// Returns a mistake without a hint.
    #[must_use]
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), hint: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What was read of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The tree; `None` for an empty file and for one whose syntax is broken.
    pub root: Option<Node>,
    /// Every mistake found, in order of place. A root beside mistakes is complete enough to look for more of them.
    pub mistakes: Vec<Mistake>,
}

/// One value and where it stands. A value that came through an alias stands where it was defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it starts.
    pub place: Place,
    /// What it is.
    pub value: Value,
}

/// A value by the YAML 1.2 core rules: `yes` and `on` are text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// Text, quoted or plain.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the file's order; of duplicate keys the first.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub node: Node,
}

impl Document {
    /// Reads the only document of a text. Never fails: what is wrong is in `mistakes`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.len() > TEXT_LIMIT_BYTES {
            return Self::broken(Place::default(), format!("file of {} bytes is longer than {TEXT_LIMIT_BYTES}", text.len()));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut builder = Builder::default();
        for event in Parser::new_from_str(text) {
            let step = match event {
                Ok((event, span)) => builder.take(event, place_of(&span)),
                Err(error) => Err(Mistake::new(place_at(error.marker().line(), error.marker().col()), error.info())),
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

    fn broken(place: Place, message: String) -> Self {
        Self { root: None, mistakes: vec![Mistake::new(place, message)] }
    }
}

impl Node {
    /// Returns the text of a text value.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the values of a list.
    #[must_use]
    pub fn list(&self) -> Option<&[Node]> {
        if let Value::List(nodes) = &self.value { Some(nodes) } else { None }
    }

    /// Returns the entries of a mapping.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// Returns the value under a key of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Returns what this value is, for messages: `text`, `a list`, ...
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Returns the same value as JSON, without places. Numbers JSON cannot hold become text.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => serde_json::Value::Bool(*flag),
            Value::Number(written) => {
                written.parse::<serde_json::Number>().map_or_else(|_| serde_json::Value::String(written.clone()), serde_json::Value::Number)
            }
            Value::Text(text) => serde_json::Value::String(text.clone()),
            Value::List(nodes) => serde_json::Value::Array(nodes.iter().map(Self::to_json).collect()),
            Value::Map(entries) => {
                serde_json::Value::Object(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect())
            }
        }
    }

    fn size(&self) -> usize {
        match &self.value {
            Value::List(nodes) => nodes.iter().map(Self::size).sum::<usize>() + 1,
            Value::Map(entries) => entries.iter().map(|entry| entry.node.size() + 1).sum::<usize>() + 1,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => 1,
        }
    }

    fn depth(&self) -> usize {
        match &self.value {
            Value::List(nodes) => nodes.iter().map(Self::depth).max().unwrap_or(0) + 1,
            Value::Map(entries) => entries.iter().map(|entry| entry.node.depth()).max().unwrap_or(0) + 1,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => 0,
        }
    }
}

/// A list or mapping whose end has not been seen.
struct Open {
    place: Place,
    anchor: usize,
    shape: Shape,
}

enum Shape {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: BTreeSet<String>, key: Option<(String, Place)> },
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    documents: usize,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    count: usize,
    mistakes: Vec<Mistake>,
}

impl Builder {
    /// Takes one event; an error ends the reading.
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Mistake> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Mistake::new(place, "a second document starts here").hint("keep one document in a file"));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let forced = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let value = if style == ScalarStyle::Plain && !forced { plain(&text) } else { Value::Text(text.into_owned()) };
                self.value(Node { place, value }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.start(place, anchor, Shape::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.start(place, anchor, Shape::Map { entries: Vec::new(), seen: BTreeSet::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id).cloned() else {
                    return Err(Mistake::new(place, "alias names a value that is still being defined"));
                };
                if self.open.len() + node.depth() > DEPTH_LIMIT {
                    return Err(Mistake::new(place, format!("nested deeper than {DEPTH_LIMIT} levels")));
                }
                self.count += node.size();
                self.value(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, place: Place, anchor: usize, shape: Shape) -> Result<(), Mistake> {
        if self.open.len() >= DEPTH_LIMIT {
            return Err(Mistake::new(place, format!("nested deeper than {DEPTH_LIMIT} levels")));
        }
        self.open.push(Open { place, anchor, shape });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Mistake> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.shape {
            Shape::List(nodes) => Value::List(nodes),
            Shape::Map { entries, .. } => Value::Map(entries),
        };
        self.value(Node { place: open.place, value }, open.anchor)
    }

    /// Puts a finished value where it belongs: into the open list or mapping, as a key, or as the root.
    fn value(&mut self, node: Node, anchor: usize) -> Result<(), Mistake> {
        self.count += 1;
        if self.count > NODE_LIMIT {
            return Err(Mistake::new(node.place, format!("more than {NODE_LIMIT} values, repetitions by alias included")));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.shape {
            Shape::List(nodes) => nodes.push(node),
            Shape::Map { entries, seen, key } => match key.take() {
                None => match key_text(&node) {
                    Some(text) => *key = Some((text, node.place)),
                    None => return Err(Mistake::new(node.place, format!("a key is {}; keys are text", node.kind()))),
                },
                Some((text, key_place)) => {
                    if seen.insert(text.clone()) {
                        entries.push(Entry { key: text, key_place, node });
                    } else {
                        self.mistakes.push(Mistake::new(key_place, format!("duplicate key `{text}`")));
                    }
                }
            },
        }
        Ok(())
    }
}

fn key_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text if is_number(text) => Value::Number(text.to_owned()),
        text => Value::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let hexadecimal = text.strip_prefix("0x").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let octal = text.strip_prefix("0o").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| (b'0'..=b'7').contains(&byte)));
    let starts = digits.strip_prefix('.').unwrap_or(digits).starts_with(|letter: char| letter.is_ascii_digit());
    hexadecimal || octal || (starts && digits.parse::<f64>().is_ok())
}

fn place_of(span: &Span) -> Place {
    place_at(span.start.line(), span.start.col())
}

fn place_at(line: usize, column: usize) -> Place {
    Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column.saturating_add(1)).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::{Document, Node, Place, Value};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn root(text: &str) -> Node {
        let document = Document::parse(text);
        assert_eq!(document.mistakes, Vec::new(), "{text}");
        document.root.unwrap()
    }

    fn mistakes(text: &str) -> Vec<String> {
        Document::parse(text).mistakes.iter().map(|mistake| format!("{}: {}", mistake.place, mistake.message)).collect()
    }

    #[test]
    fn reads_values_by_the_core_rules() {
        for (text, expected) in [
            ("a: 1\nb: [x, 'y', 2.5, true, ~]", json!({"a": 1, "b": ["x", "y", 2.5, true, null]})),
            ("\u{feff}{\"a\": {\"b\": []}}", json!({"a": {"b": []}})),
            ("a: on\nb: yes\nc: 10m\nd: 1.2.3\ne: '7'\nf: !!str 7", json!({"a":"on","b":"yes","c":"10m","d":"1.2.3","e":"7","f":"7"})),
            ("base: &x {k: 1}\nagain: *x", json!({"base": {"k": 1}, "again": {"k": 1}})),
            ("a: |\n  two\n  lines\n", json!({"a": "two\nlines\n"})),
        ] {
            assert_eq!(root(text).to_json(), expected, "{text}");
        }
        assert_eq!(Document::parse("# nothing\n"), Document::default());
    }

    #[test]
    fn knows_line_and_column() {
        let tree = root("a:\n  - b: one\n    c: two\n");
        let item = &tree.get("a").unwrap().list().unwrap()[0];
        assert_eq!(item.get("c").unwrap().place, Place { line: 3, column: 8 });
        assert_eq!(item.entries().unwrap()[1].key_place, Place { line: 3, column: 5 });
        assert_eq!(item.get("b").unwrap().value, Value::Text("one".to_owned()));
    }

    #[test]
    fn reports_duplicates_all_at_once_and_keeps_reading() {
        assert_eq!(mistakes("a: 1\na: 2\nb: {c: 1, c: 2}\n"), ["2:1: duplicate key `a`", "3:11: duplicate key `c`"]);
        assert!(Document::parse("a: 1\na: 2\nb: 3").root.is_some());
    }

    #[test]
    fn refuses_bombs_and_broken_texts() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}", level - 1);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(",")));
        }
        for (text, message) in [
            (bomb.as_str(), "more than 200000 values"),
            (&format!("{}{}", "[".repeat(70), "]".repeat(70)), "nested deeper than 64"),
            (&"x".repeat(5_000_000), "longer than"),
            ("a: &a [*a]", "still being defined"),
            ("a: 1\n---\nb: 2", "second document"),
            ("? [a, b]\n: c", "keys are text"),
            ("a: [1, 2", ""),
            ("a: *nowhere", ""),
        ] {
            let document = Document::parse(text);
            assert!(document.root.is_none(), "{text:.40}");
            assert!(document.mistakes.iter().any(|mistake| mistake.message.contains(message)), "{text:.40}: {:?}", document.mistakes);
        }
    }
}
