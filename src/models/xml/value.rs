//! Values of parameters: from what stands between two tags to JSON, and back.
//!
//! In: the text between the tags, letter for letter, and the parameter's schema. Out: a value. A
//! text stays as it was written; lists and objects are JSON, or tags in tags. What fits nothing
//! stays a text, so that the tool itself says what it wants.

use serde_json::{Map, Value};

use crate::xml::tag::{Tag, TagKind, next_angle, skip_blanks, unescaped};

/// The parameter that holds a whole file: its last line break belongs to it.
const FILE_PARAMETER: &str = "content";
/// Deepest nesting of tags in a value.
const DEPTH_LIMIT: usize = 8;
const CDATA: &str = "<![CDATA[";
const CDATA_END: &str = "]]>";

/// Reads the value of a parameter.
pub(super) fn read(name: &str, raw: &str, schema: Option<&Value>) -> Value {
    typed(name, raw, schema, 0)
}

/// Writes a value so that [`read`] gives it back.
pub(super) fn write(tool: &str, name: &str, value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let plain = if name == FILE_PARAMETER || text.contains('\n') {
        format!("\n{text}{}", end_of(name))
    } else {
        text.clone()
    };
    let torn = [format!("</{name}"), format!("<{tool}"), format!("</{tool}")]
        .iter()
        .any(|tag| text.contains(tag));
    if torn || read_text(name, &plain) != *text {
        return format!("{CDATA}{}{CDATA_END}", text.replace(CDATA_END, "]]]]><![CDATA[>"));
    }
    plain
}

fn end_of(name: &str) -> &'static str {
    if name == FILE_PARAMETER { "" } else { "\n" }
}

/// Returns where the CDATA that a value begins with ends, closing tag not counted.
pub(super) fn cdata_end(text: &str, from: usize, name: &str) -> Option<(usize, usize)> {
    let start = skip_blanks(text, from);
    let mut at = start + text.get(start..)?.strip_prefix(CDATA).map(|_| CDATA.len())?;
    loop {
        let end = at + text.get(at..)?.find(CDATA_END)? + CDATA_END.len();
        if let Some(tag) = Tag::at(text, skip_blanks(text, end)).filter(|tag| tag.closes(name)) {
            return Some((end, tag.end));
        }
        at = end;
    }
}

fn typed(name: &str, raw: &str, schema: Option<&Value>, depth: usize) -> Value {
    let text = || Value::String(read_text(name, raw));
    let trimmed = raw.trim();
    let json = || serde_json::from_str::<Value>(trimmed).ok();
    if is(schema, "string") {
        return text();
    }
    if schema.is_some_and(|schema| schema.get("type").is_none() && schema.get("anyOf").is_none())
        || schema.is_none()
    {
        // Nothing says what it is: only what cannot be a text is something else.
        return json().filter(|value| value.is_object() || value.is_array()).unwrap_or_else(text);
    }
    if let Some(value) = json().or_else(|| serde_json::from_str(&unescaped(trimmed)).ok()) {
        return value;
    }
    if depth >= DEPTH_LIMIT || !(is(schema, "array") || is(schema, "object")) {
        return text();
    }
    let children = children(raw);
    if is(schema, "array") {
        let items = schema.and_then(|schema| schema.get("items"));
        return match children {
            None if trimmed.is_empty() => Value::Array(Vec::new()),
            None => Value::Array(vec![text()]),
            Some(children) => children.iter().map(|child| item(child, items, depth)).collect(),
        };
    }
    children.map_or_else(text, |children| Value::Object(object(&children, schema, depth)))
}

fn item(child: &Child<'_>, schema: Option<&Value>, depth: usize) -> Value {
    let holds_tags = children(child.raw).filter(|_| !is(schema, "string"));
    match holds_tags {
        Some(inner) => Value::Object(object(&inner, schema, depth)),
        None => typed(child.name, child.raw, schema, depth + 1),
    }
}

fn object(children: &[Child<'_>], schema: Option<&Value>, depth: usize) -> Map<String, Value> {
    let mut fields = Map::new();
    for child in children {
        let schema = schema
            .and_then(|schema| schema.get("properties"))
            .and_then(|properties| properties.get(child.name));
        add(&mut fields, child.name, typed(child.name, child.raw, schema, depth + 1));
    }
    fields
}

/// Adds a value; one that is given again becomes a list.
pub(super) fn add(fields: &mut Map<String, Value>, name: &str, value: Value) {
    match (fields.get_mut(name), value) {
        (None, value) => {
            fields.insert(name.to_owned(), value);
        }
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (Some(Value::Array(list)), value) => list.push(value),
        (Some(first), value) => *first = Value::Array(vec![first.take(), value]),
    }
}

/// A tag inside a value, and what it holds.
#[derive(Debug)]
pub(super) struct Child<'t> {
    pub(super) name: &'t str,
    pub(super) raw: &'t str,
}

/// Returns the tags a value consists of; `None` where it holds none, or one is not closed.
pub(super) fn children(raw: &str) -> Option<Vec<Child<'_>>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(open) = next_angle(raw, at) {
        let tag = Tag::at(raw, open).filter(Tag::begins)?;
        let (inner_end, end) =
            if tag.kind == TagKind::Alone { (tag.end, tag.end) } else { close_of(raw, &tag)? };
        found.push(Child { name: tag.name, raw: raw.get(tag.end..inner_end)? });
        at = end;
    }
    (!found.is_empty()).then_some(found)
}

/// Returns where what a tag holds ends, and where its closing tag does; tags of the same name
/// inside it are closed first.
fn close_of(raw: &str, open: &Tag<'_>) -> Option<(usize, usize)> {
    if let Some(found) = cdata_end(raw, open.end, open.name) {
        return Some(found);
    }
    let (mut at, mut depth) = (open.end, 0_usize);
    while let Some(angle) = next_angle(raw, at) {
        at = angle + 1;
        let Some(tag) = Tag::at(raw, angle).filter(|tag| tag.name == open.name) else { continue };
        match tag.kind {
            TagKind::Open => depth += 1,
            TagKind::Close if depth == 0 => return Some((angle, tag.end)),
            TagKind::Close => depth -= 1,
            TagKind::Alone => {}
        }
    }
    None
}

/// Returns a text as it was meant: without the line breaks that only set the tags apart, its
/// entities taken out where all of it is escaped.
fn read_text(name: &str, raw: &str) -> String {
    let trimmed = raw.trim();
    if let Some(inner) = trimmed.strip_prefix(CDATA).and_then(|inner| inner.strip_suffix(CDATA_END))
    {
        return inner.replace("]]><![CDATA[", "");
    }
    let is_file = name == FILE_PARAMETER;
    let after = raw.strip_prefix("\r\n").or_else(|| raw.strip_prefix('\n')).unwrap_or(raw);
    // The closing tag may stand on a line of its own, set in.
    let unset = after.trim_end_matches([' ', '\t']);
    let text = match unset.strip_suffix('\n') {
        Some(_) if is_file => unset,
        Some(above) => above.strip_suffix('\r').unwrap_or(above),
        None => after,
    };
    let text = if is_file || text.contains('\n') { text } else { text.trim() };
    if is_file && !text.contains("&lt;") && !text.contains("&gt;") {
        return text.to_owned();
    }
    unescaped(text).into_owned()
}

/// Returns true where a schema lets a value be of this type.
pub(super) fn is(schema: Option<&Value>, kind: &str) -> bool {
    let Some(schema) = schema else { return false };
    let of_type = match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => false,
    };
    of_type
        || schema
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|ways| ways.iter().any(|way| is(Some(way), kind)))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::{read, write};

    #[test]
    fn texts_are_what_was_written_between_the_tags() {
        let schema = json!({ "type": "string" });
        for (name, raw, value) in [
            ("path", " src/a.rs ", "src/a.rs"),
            ("path", "\n  src/a.rs\n", "src/a.rs"),
            ("path", "\r\nsrc/a.rs\r\n", "src/a.rs"),
            ("content", "\nfn main() {}\n", "fn main() {}\n"),
            ("content", "\nfn main() {}\n  ", "fn main() {}\n"),
            ("content", "fn main() {}", "fn main() {}"),
            ("content", "", ""),
            ("content", "\n", ""),
            ("content", "\n<p>a &amp; b</p>\n", "<p>a &amp; b</p>\n"),
            ("content", "\nTom &amp; Jerry\n", "Tom &amp; Jerry\n"),
            ("content", "\nVec&lt;u8&gt;\n", "Vec<u8>\n"),
            ("content", "\n<![CDATA[a & b ]] <c>\n]]>\n", "a & b ]] <c>\n"),
            ("content", "\n<x><![CDATA[y]]></x>\n", "<x><![CDATA[y]]></x>\n"),
            ("diff", "\n-a\n+b\n", "-a\n+b"),
            ("command", "cargo test &amp;&amp; ls", "cargo test && ls"),
            ("command", "a && echo '&lt;'", "a && echo '&lt;'"),
            ("command", "echo &amp;lt;", "echo &lt;"),
            ("patch", "<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ] {
            assert_eq!(read(name, raw, Some(&schema)), Value::from(value), "{raw:?}");
        }
    }

    #[test]
    fn other_values_are_json_or_tags_in_tags() {
        let text = json!({ "type": "string" });
        for (raw, schema, value) in [
            (" 12 ", json!({ "type": "integer" }), json!(12)),
            ("many", json!({ "type": "integer" }), json!("many")),
            ("true", json!({ "type": "boolean" }), json!(true)),
            ("12", json!({ "type": ["string", "null"] }), json!("12")),
            ("null", json!({ "type": ["integer", "null"] }), Value::Null),
            (r#"["a", "b"]"#, json!({ "type": "array", "items": text }), json!(["a", "b"])),
            (r#"[&quot;a&quot;]"#, json!({ "type": "array", "items": text }), json!(["a"])),
            (
                "\n<suggest>Yes</suggest>\n<suggest mode=\"code\">No, &amp; why</suggest>\n",
                json!({ "type": "array", "items": text }),
                json!(["Yes", "No, & why"]),
            ),
            ("just this", json!({ "type": "array", "items": text }), json!(["just this"])),
            ("", json!({ "type": "array" }), json!([])),
            (
                "<item><path>a</path><line>3</line></item><item><path>b</path></item>",
                json!({ "type": "array", "items": { "type": "object", "properties": { "line": { "type": "integer" } } } }),
                json!([{ "path": "a", "line": 3 }, { "path": "b" }]),
            ),
            (r#"{"anchor_line": 3}"#, json!({ "type": "object" }), json!({ "anchor_line": 3 })),
            (
                "<anchor_line>3</anchor_line>",
                json!({ "type": "object", "properties": { "anchor_line": { "type": "integer" } } }),
                json!({ "anchor_line": 3 }),
            ),
            ("<a>1</a><a>2</a>", json!({ "type": "object" }), json!({ "a": ["1", "2"] })),
            ("<a>1</b>", json!({ "type": "object" }), json!("<a>1</b>")),
            (r#"{"a": 1}"#, json!({}), json!({ "a": 1 })),
            ("5", json!({}), json!("5")),
        ] {
            assert_eq!(read("p", raw, Some(&schema)), value, "{raw:?}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = format!("{}{}", "<a>".repeat(5000), "</a>".repeat(5000));
        assert!(read("p", &deep, Some(&json!({ "type": "object" }))).is_object());
    }

    #[test]
    fn what_is_written_reads_back_as_it_was() {
        let schema = json!({ "type": "string" });
        for name in ["content", "path", "diff"] {
            for text in [
                "",
                " ",
                "\n",
                "a",
                " a ",
                "a\n",
                "\na",
                "a\nb",
                "a\nb\n",
                "\n\n",
                "</content>",
                "</path>\n</read_file>",
                "<read_file>",
                "a]]>b",
                "&amp;",
                "&lt;b&gt;",
                "a & b",
                "<![CDATA[x]]>",
                "]]>",
                "a\r\n",
                "\r\na\r\nb\r\n",
                "  <x>\n",
                "a\n  ",
                "]]]]><![CDATA[>",
            ] {
                let written = write("read_file", name, &Value::from(text));
                assert_eq!(
                    read(name, &written, Some(&schema)),
                    Value::from(text),
                    "{name} {text:?}: {written:?}"
                );
            }
        }
        assert_eq!(write("t", "p", &json!(["a", 1])), r#"["a",1]"#);
    }
}
