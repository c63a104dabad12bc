//! YAML (and JSON, its subset) as a tree in which every value knows its line and column.
//!
//! In: the text of one file. Out: a [`Document`] with the tree and every mistake that reading alone
//! can find (syntax, duplicate keys, bombs). It gives values no meaning: that is done with
//! `base::fields`, which collects mistakes the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::excerpt::Excerpt;
use serde_yaml::granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

/// Longest accepted text, in bytes.
pub const TEXT_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// Most values in one document, those repeated by aliases counted each time.
pub const NODE_LIMIT: usize = 200_000;
/// Longest single value or key, in bytes.
pub const SCALAR_LIMIT_BYTES: usize = 1024 * 1024;
/// Most bytes of all values together, those repeated by aliases or kept for them counted each time.
pub const BYTES_LIMIT: usize = 8 * 1024 * 1024;
/// Most anchors.
pub const ANCHOR_LIMIT: usize = 100;
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

impl Place {
    /// Returns the place right behind a text.
    #[must_use]
    pub fn behind(text: &str) -> Self {
        let last = text.rsplit('\n').next().unwrap_or_default();
        place_at(text.matches('\n').count() + 1, last.chars().count())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// One mistake in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The line it is on, where a person is to see it.
    pub excerpt: Option<Excerpt>,
}

impl Mistake {
    /// Returns a mistake without a hint.
    #[must_use]
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), ..Self::default() }
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
    /// Every mistake found, in order of place. A root beside mistakes is complete enough to look
    /// for more of them.
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
            return Self::broken(
                Place::default(),
                format!("file of {} bytes is longer than {TEXT_LIMIT_BYTES}", text.len()),
            );
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(mistake) = unwanted(text) {
            return Self { root: None, mistakes: vec![mistake] };
        }
        let mut builder = Builder::default();
        for event in Parser::new_from_str(text) {
            let step = match event {
                Ok((event, span)) => builder.take(event, place_of(&span)),
                Err(error) => Err(Mistake::new(
                    place_at(error.marker().line(), error.marker().col()),
                    told(&error),
                )),
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
            Value::Number(written) => written.parse::<serde_json::Number>().map_or_else(
                |_| serde_json::Value::String(written.clone()),
                serde_json::Value::Number,
            ),
            Value::Text(text) => serde_json::Value::String(text.clone()),
            Value::List(nodes) => {
                serde_json::Value::Array(nodes.iter().map(Self::to_json).collect())
            }
            Value::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect(),
            ),
        }
    }

    fn weight(&self) -> Weight {
        let inside = |found: Weight, below: Weight| Weight {
            values: found.values + below.values,
            bytes: found.bytes + below.bytes,
            depth: found.depth.max(below.depth + 1),
        };
        let alone = Weight { values: 1, bytes: 0, depth: 0 };
        match &self.value {
            Value::List(nodes) => {
                nodes.iter().map(Self::weight).fold(Weight { depth: 1, ..alone }, inside)
            }
            Value::Map(entries) => {
                let keyed = |entry: &Entry| {
                    let below = entry.node.weight();
                    Weight {
                        values: below.values + 1,
                        bytes: below.bytes + entry.key.len(),
                        ..below
                    }
                };
                entries.iter().map(keyed).fold(Weight { depth: 1, ..alone }, inside)
            }
            Value::Number(text) | Value::Text(text) => Weight { bytes: text.len(), ..alone },
            Value::Null | Value::Bool(_) => alone,
        }
    }
}

/// What a value costs when it is copied.
#[derive(Clone, Copy)]
struct Weight {
    values: usize,
    bytes: usize,
    depth: usize,
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
    values: usize,
    bytes: usize,
    mistakes: Vec<Mistake>,
}

impl Builder {
    /// Takes one event; an error ends the reading.
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Mistake> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Mistake::new(place, "a second document starts here")
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
                    return Err(Mistake::new(
                        place,
                        format!(
                            "value of {} bytes is longer than {SCALAR_LIMIT_BYTES}",
                            text.len()
                        ),
                    ));
                }
                self.spend(Weight { values: 0, bytes: text.len(), depth: 0 }, place)?;
                let value = if style == ScalarStyle::Plain && !forced {
                    plain(&text)
                } else {
                    Value::Text(text.into_owned())
                };
                self.value(Node { place, value }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                only_plain(tag.as_deref(), place)?;
                self.start(place, anchor, Shape::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                only_plain(tag.as_deref(), place)?;
                self.start(
                    place,
                    anchor,
                    Shape::Map { entries: Vec::new(), seen: BTreeSet::new(), key: None },
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id) else {
                    return Err(Mistake::new(
                        place,
                        "alias names a value that is still being defined",
                    ));
                };
                let weight = node.weight();
                if self.open.len() + weight.depth > DEPTH_LIMIT {
                    return Err(Mistake::new(
                        place,
                        format!("nested deeper than {DEPTH_LIMIT} levels"),
                    ));
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
    fn spend(&mut self, weight: Weight, place: Place) -> Result<(), Mistake> {
        self.values += weight.values;
        self.bytes += weight.bytes;
        match (self.values > NODE_LIMIT, self.bytes > BYTES_LIMIT) {
            (true, _) => Err(Mistake::new(
                place,
                format!("more than {NODE_LIMIT} values, repetitions by alias included"),
            )),
            (_, true) => Err(Mistake::new(
                place,
                format!("more than {BYTES_LIMIT} bytes of values, repetitions by alias included"),
            )),
            (false, false) => Ok(()),
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

    /// Puts a finished value where it belongs: into the open list or mapping, as a key, or as the
    /// root.
    fn value(&mut self, node: Node, anchor: usize) -> Result<(), Mistake> {
        self.spend(Weight { values: 1, bytes: 0, depth: 0 }, node.place)?;
        if anchor != 0 {
            if self.anchors.len() >= ANCHOR_LIMIT {
                return Err(Mistake::new(node.place, format!("more than {ANCHOR_LIMIT} anchors"))
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
            Shape::List(nodes) => nodes.push(node),
            Shape::Map { entries, seen, key } => match key.take() {
                None => match key_text(&node) {
                    Some(text) => *key = Some((text, node.place)),
                    None => {
                        return Err(Mistake::new(
                            node.place,
                            format!("a key is {}; keys are text", node.kind()),
                        ));
                    }
                },
                Some((text, key_place)) => {
                    if seen.insert(text.clone()) {
                        entries.push(Entry { key: text, key_place, node });
                    } else {
                        self.mistakes
                            .push(Mistake::new(key_place, format!("duplicate key `{text}`")));
                    }
                }
            },
        }
        Ok(())
    }
}

/// The parser has a depth of its own, and looks ahead.
fn told(error: &ScanError) -> String {
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => format!("nested deeper than {DEPTH_LIMIT} levels"),
        _ => error.info().to_owned(),
    }
}

/// Tags could turn values into something else; none but `!!str` says anything here.
fn only_plain(tag: Option<&Tag>, place: Place) -> Result<(), Mistake> {
    match tag {
        None => Ok(()),
        Some(tag) => {
            Err(Mistake::new(place, format!("the tag `{tag}` means nothing here"))
                .hint("leave it out"))
        }
    }
}

/// Returns true for characters that stand in no settings file but as escapes: what acts on a
/// terminal, breaks lines unseen, or shows text in another order than it is read in; and the sign
/// for what is no text.
#[must_use]
pub fn is_unwanted(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{feff}' | '\u{fffd}'..='\u{ffff}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Finds the first character that has no business in a settings file.
fn unwanted(text: &str) -> Option<Mistake> {
    let mut place = Place { line: 1, column: 1 };
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let fine = if letter == '\r' {
            letters.peek() == Some(&'\n')
        } else {
            letter == '\n' || letter == '\t' || !is_unwanted(letter)
        };
        if letter == '\u{fffd}' {
            return Some(Mistake::new(place, "is not UTF-8 text").hint("save the file as UTF-8"));
        }
        if !fine {
            let message = format!("the character U+{:04X} may not stand here", u32::from(letter));
            return Some(
                Mistake::new(place, message)
                    .hint("take it out, or write it as an escape in double quotes"),
            );
        }
        if letter == '\n' {
            place = Place { line: place.line.saturating_add(1), column: 1 };
        } else {
            place.column = place.column.saturating_add(1);
        }
    }
    None
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

fn place_of(span: &Span) -> Place {
    place_at(span.start.line(), span.start.col())
}

fn place_at(line: usize, column: usize) -> Place {
    Place {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column.saturating_add(1)).unwrap_or(u32::MAX),
    }
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
        Document::parse(text)
            .mistakes
            .iter()
            .map(|mistake| format!("{}: {}", mistake.place, mistake.message))
            .collect()
    }

    #[test]
    fn reads_values_by_the_core_rules() {
        for (text, expected) in [
            ("a: 1\nb: [x, 'y', 2.5, true, ~]", json!({"a": 1, "b": ["x", "y", 2.5, true, null]})),
            ("\u{feff}{\"a\": {\"b\": []}}", json!({"a": {"b": []}})),
            (
                "a: on\nb: yes\nc: 10m\nd: 1.2.3\ne: '7'\nf: !!str 7",
                json!({"a":"on","b":"yes","c":"10m","d":"1.2.3","e":"7","f":"7"}),
            ),
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
        assert_eq!(
            mistakes("a: 1\na: 2\nb: {c: 1, c: 2}\n"),
            ["2:1: duplicate key `a`", "3:11: duplicate key `c`"]
        );
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
            ("a: 1\n...\n---\nb: 2", "second document"),
            ("? [a, b]\n: c", "keys are text"),
            ("a: [1, 2", ""),
            ("a: *nowhere", ""),
        ] {
            let document = Document::parse(text);
            assert!(document.root.is_none(), "{text:.40}");
            assert!(
                document.mistakes.iter().any(|mistake| mistake.message.contains(message)),
                "{text:.40}: {:?}",
                document.mistakes
            );
        }
    }

    fn refused(name: &str, text: &str, place: (u32, u32), message: &str) {
        let document = Document::parse(text);
        let told = document
            .mistakes
            .first()
            .map(|mistake| (mistake.place.line, mistake.place.column, mistake.message.as_str()));
        assert!(
            told.is_some_and(
                |(line, column, told)| (line, column) == place && told.contains(message)
            ),
            "{name}: {told:?}"
        );
        assert!(document.root.is_none(), "{name}");
    }

    #[test]
    fn hostile_texts_are_refused_in_bounded_time_at_their_place() {
        let laughs: String = (1..10)
            .map(|level| {
                format!(
                    "l{level}: &l{level} [{}]\n",
                    vec![format!("*l{}", level - 1); 10].join(", ")
                )
            })
            .collect();
        refused(
            "billion laughs",
            &format!("l0: &l0 lol\n{laughs}"),
            (6, 9),
            "more than 200000 values",
        );
        refused(
            "quadratic blow-up",
            &format!("a: &a \"{}\"\nb: [{}]", "x".repeat(900_000), "*a, ".repeat(50_000)),
            (2, 33),
            "bytes of values",
        );
        let anchors: String = (0..5_000).map(|number| format!("- &a{number} x\n")).collect();
        refused("anchors", &anchors, (101, 9), "more than 100 anchors");
        let nested: String = (0..63).map(|number| format!("&n{number} [")).collect();
        refused(
            "nested anchors",
            &format!("{nested}{}{}", "\"".to_owned() + &"y".repeat(900_000) + "\"", "]".repeat(63)),
            (1, 320),
            "bytes of values",
        );
        refused("self", "a: &a { b: *a }", (1, 12), "still being defined");
        for (name, text, column) in [
            ("flow lists", "[".repeat(100_000), 256),
            ("flow mappings", "{a: ".repeat(100_000), 1021),
            ("block lists", "- ".repeat(100_000), 129),
            ("questions", "? ".repeat(100_000), 129),
        ] {
            refused(name, &text, (1, column), "nested deeper than 64");
        }
        let steps: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        refused("block mappings", &steps, (65, 65), "nested deeper than 64");
        refused("10 MB", &"# x\n".repeat(2_500_000), (0, 0), "longer than");
        refused(
            "one long value",
            &format!("a: \"{}\"", "x".repeat(1_100_000)),
            (1, 4),
            "longer than 1048576",
        );
        refused(
            "one long key",
            &format!("? \"{}\"\n: b", "x".repeat(1_100_000)),
            (1, 3),
            "longer than 1048576",
        );
        refused("many values", &"- b\n".repeat(300_000), (200_001, 3), "more than 200000 values");
    }

    #[test]
    fn what_has_no_business_in_a_settings_file_is_refused_at_its_place() {
        for (name, text, place, message) in [
            ("nothing after NUL", "a: b\0c: d", (1, 5), "U+0000"),
            ("escape", "a: 1\nb: \u{1b}[31mred", (2, 4), "U+001B"),
            ("second byte order mark", "a: \u{feff}b", (1, 4), "U+FEFF"),
            ("text that shows in another order", "a: edit(\u{202e}crs)", (1, 9), "U+202E"),
            ("line break of another age", "a: 1\rb: 2", (1, 5), "U+000D"),
            ("unseen line break", "a: x\u{2028}b: 2", (1, 5), "U+2028"),
            ("not UTF-8", "a: 1\nb: \u{fffd}", (2, 4), "not UTF-8"),
            ("tag", "a: !!python/object:os.system x", (1, 30), "means nothing here"),
            ("tag of a list", "a: !x [b]", (1, 7), "means nothing here"),
            ("tag of a mapping", "!!set {b}", (1, 7), "means nothing here"),
            ("binary", "a: !!binary aGVsbG8=", (1, 13), "means nothing here"),
            ("tab", "a:\n\tb: 1", (2, 2), "tabs"),
            ("second document", "a: 1\n---\nb: 2", (2, 1), "second document"),
            ("broken", "a: [1,\nb: 2", (0, 0), ""),
        ] {
            let document = Document::parse(text);
            let mistake = document.mistakes.first().unwrap_or_else(|| panic!("{name}"));
            assert!(
                document.root.is_none() && mistake.message.contains(message),
                "{name}: {mistake:?}"
            );
            if place != (0, 0) {
                assert_eq!(
                    (mistake.place.line, mistake.place.column),
                    place,
                    "{name}: {mistake:?}"
                );
            }
        }
    }

    #[test]
    fn byte_order_mark_and_line_ends_of_windows_move_no_place() {
        assert_eq!(mistakes("\u{feff}a: 1\r\nb: 2\r\na: 3\r\n"), ["3:1: duplicate key `a`"]);
        assert_eq!(root("a: |\r\n  two\r\n  lines\r\n").to_json(), json!({"a": "two\nlines\n"}));
    }
}
