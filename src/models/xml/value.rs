//! Values of parameters: from what stands between two tags to JSON, and back.
//!
//! In: the text between the tags, letter for letter, and the parameter's schema. Out: a value. A
//! text stays as it was written; lists and objects are JSON, or tags in tags. What fits nothing
//! stays a text, so that the tool itself says what it wants.

use serde_json::{Map, Value};

use crate::xml::tag::{TagKind, XmlTag, next_angle, skip_blanks, unescaped};

/// The parameter that holds a whole file: its last line break belongs to it.
const FILE_PARAMETER: &str = "content";
/// The tag of one file of several in an older form of calls.
pub(super) const FILE: &str = "file";
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
        if let Some(tag) = XmlTag::at(text, skip_blanks(text, end)).filter(|tag| tag.closes(name)) {
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

fn item(child: &ChildTag<'_>, schema: Option<&Value>, depth: usize) -> Value {
    let holds_tags = children(child.raw).filter(|_| !is(schema, "string"));
    match holds_tags {
        Some(inner) => Value::Object(object(&inner, schema, depth)),
        None => typed(child.name, child.raw, schema, depth + 1),
    }
}

fn object(children: &[ChildTag<'_>], schema: Option<&Value>, depth: usize) -> Map<String, Value> {
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
pub(super) struct ChildTag<'t> {
    pub(super) name: &'t str,
    pub(super) raw: &'t str,
}

/// Returns the tags a value consists of; `None` where it holds none, or one is not closed.
pub(super) fn children(raw: &str) -> Option<Vec<ChildTag<'_>>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(open) = next_angle(raw, at) {
        let tag = XmlTag::at(raw, open).filter(XmlTag::begins)?;
        let (inner_end, end) =
            if tag.kind == TagKind::Alone { (tag.end, tag.end) } else { close_of(raw, &tag)? };
        found.push(ChildTag { name: tag.name, raw: raw.get(tag.end..inner_end)? });
        at = end;
    }
    (!found.is_empty()).then_some(found)
}

/// Takes the arguments out of a tag around all of them: JSON, tags, or several files, each for a
/// call of its own.
pub(super) fn unwrap<'s>(
    raw: &str,
    schema: &impl Fn(&str) -> Option<&'s Value>,
    fields: &mut Map<String, Value>,
    files: &mut Vec<Map<String, Value>>,
) {
    let trimmed = raw.trim();
    let json = serde_json::from_str(trimmed).or_else(|_| serde_json::from_str(&unescaped(trimmed)));
    if let Ok(Value::Object(more)) = json {
        fields.extend(more);
        return;
    }
    for child in children(raw).unwrap_or_default() {
        match children(child.raw).filter(|_| child.name == FILE && schema(FILE).is_none()) {
            Some(inner) => files.push(fields_of(&inner, schema)),
            None => add_child(fields, &child, schema),
        }
    }
}

/// Returns the arguments that tags hold.
pub(super) fn fields_of<'s>(
    tags: &[ChildTag<'_>],
    schema: &impl Fn(&str) -> Option<&'s Value>,
) -> Map<String, Value> {
    let mut fields = Map::new();
    tags.iter().for_each(|child| add_child(&mut fields, child, schema));
    fields
}

fn add_child<'s>(
    fields: &mut Map<String, Value>,
    child: &ChildTag<'_>,
    schema: &impl Fn(&str) -> Option<&'s Value>,
) {
    add(fields, child.name, read(child.name, child.raw, schema(child.name)));
}

/// Returns where what a tag holds ends, and where its closing tag does; tags of the same name
/// inside it are closed first.
fn close_of(raw: &str, open: &XmlTag<'_>) -> Option<(usize, usize)> {
    if let Some(found) = cdata_end(raw, open.end, open.name) {
        return Some(found);
    }
    let (mut at, mut depth) = (open.end, 0_usize);
    while let Some(angle) = next_angle(raw, at) {
        at = angle + 1;
        let Some(tag) = XmlTag::at(raw, angle).filter(|tag| tag.name == open.name) else {
            continue;
        };
        match tag.kind {
            TagKind::Open => depth += 1,
            TagKind::Close if depth == 0 => return Some((angle, tag.end)),
            TagKind::Close => depth -= 1,
            TagKind::Alone => {}
        }
    }
    None
}

/// Returns a text as it was meant: without the line breaks that only separate the tags, its
/// entities decoded where all of it is escaped.
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
mod tests;
