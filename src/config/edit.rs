//! Changes one setting in the text of a configuration file and leaves the rest as it is: comments,
//! order, quotes, blank lines.
//!
//! In: the text, a key, a value. Out: the new text, or nothing where that cannot be done without
//! harm. The new text is read again and has to say exactly what was meant. Writes no file.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Map, Value};

use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlDocument, YamlNode, YamlValue};

/// Columns that a group's keys stand further in than its name.
const STEP: usize = 2;

/// Returns the text with a setting set; `None` where its file is broken, or written in a way that
/// cannot be changed in place.
pub fn set(text: &str, key: &str, value: &Value) -> Option<String> {
    let path: Vec<&str> = key.split('.').collect();
    let document = YamlDocument::parse(text);
    if !document.mistakes.is_empty() {
        return None;
    }
    let mut wanted = document.root.as_ref().map_or(Value::Null, YamlNode::to_json);
    put(&mut wanted, &path, value)?;
    let text =
        if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let edited = edited(&text, document.root.as_ref(), &path, value)?;
    let read = YamlDocument::parse(&edited);
    let is_right =
        read.mistakes.is_empty() && read.root.as_ref().map(YamlNode::to_json) == Some(wanted);
    is_right.then_some(edited)
}

/// Sets a value in what a file says; `None` where something else than a group is in the way.
fn put(file: &mut Value, path: &[&str], value: &Value) -> Option<()> {
    if file.is_null() {
        *file = Value::Object(Map::new());
    }
    let group = file.as_object_mut()?;
    match path {
        [] => None,
        [last] => {
            group.insert((*last).to_owned(), value.clone());
            Some(())
        }
        [first, rest @ ..] => put(group.entry(*first).or_insert(Value::Null), rest, value),
    }
}

fn edited(text: &str, root: Option<&YamlNode>, path: &[&str], value: &Value) -> Option<String> {
    let Some(mut group) = root.filter(|root| root.value != YamlValue::Null) else {
        return Some(format!("{text}{}", block(path, value, 0)));
    };
    for (depth, name) in path.iter().enumerate() {
        let rest = path.get(depth..)?;
        let entries = group.entries()?;
        let Some(entry) = entries.iter().find(|entry| entry.key == *name) else {
            return added(text, group, rest, value);
        };
        if rest.len() == 1 {
            return replaced(text, entry, is_flow(text, group), value);
        }
        group = &entry.node;
    }
    None
}

/// Adds keys to a group that lacks the first of them.
fn added(text: &str, group: &YamlNode, path: &[&str], value: &Value) -> Option<String> {
    let entries = group.entries()?;
    if is_flow(text, group) {
        let start = offset(text, group.place)?;
        let close = start + closing(text.get(start..)?)?;
        let inner = text.get(start + 1..close)?.trim_end();
        let at = start + 1 + inner.len();
        let comma = if entries.is_empty() { " " } else { ", " };
        let end = if text.get(at..close)?.is_empty() { " " } else { "" };
        return Some(with(text, at..at, &format!("{comma}{}{end}", flow(path, value))));
    }
    let (first, last) = (entries.first()?, entries.last()?);
    let indent = usize::try_from(first.key_place.column).ok()?.checked_sub(1)?;
    let at = end_of_entry(text, last)?;
    Some(with(text, at..at, &block(path, value, indent)))
}

/// Puts another value behind a key.
fn replaced(text: &str, entry: &MapEntry, in_flow: bool, value: &Value) -> Option<String> {
    let start = offset(text, entry.node.place)?;
    let written = inline(value);
    if entry.node.place.line == entry.key_place.line {
        let end = start + length(text.get(start..)?, in_flow)?;
        return Some(with(text, start..end, &written));
    }
    // A list on lines of its own.
    entry.node.list()?;
    let line_end = offset(text, Position { column: 1, line: entry.key_place.line + 1 })? - 1;
    let end = end_of_entry(text, entry)?;
    let lines = text.get(line_end..end)?;
    let head = text.get(offset(text, entry.key_place)?..line_end)?;
    if lines.contains(" #") || head.contains(" #") {
        return None;
    }
    Some(with(text, line_end..end, &format!(" {written}\n")))
}

/// Returns how long the value is that a text begins with.
fn length(text: &str, in_flow: bool) -> Option<usize> {
    match text.chars().next()? {
        '"' | '\'' | '[' | '{' => closing(text).map(|at| at + 1),
        '|' | '>' | '&' | '*' | '!' => None,
        _ => {
            let line = text.lines().next()?;
            let line = line.split(" #").next()?;
            let line = if in_flow { line.split([',', '}', ']']).next()? } else { line };
            Some(line.trim_end().len())
        }
    }
}

/// Finds the end of what a text begins with: a quoted text, a list or a mapping in brackets.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some('"'), _) if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if letter == open => {
                quote = None;
                if depth == 0 {
                    return Some(at);
                }
            }
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// Returns where the lines of an entry end. Blank lines and comments behind it are not its own.
fn end_of_entry(text: &str, entry: &MapEntry) -> Option<usize> {
    let indent = usize::try_from(entry.key_place.column).ok()?.checked_sub(1)?;
    let after = offset(text, Position { column: 1, line: entry.key_place.line + 1 })?;
    let mut end = after;
    let mut at = after;
    for line in text.get(after..)?.split_inclusive('\n') {
        let inner = line.trim_start();
        let is_own = line.len() - inner.len() > indent
            || (entry.node.list().is_some() && inner.starts_with("- "));
        let is_filler = inner.is_empty() || inner.starts_with('#');
        at += line.len();
        match (is_filler, is_own) {
            (true, _) => {}
            (false, true) => end = at,
            (false, false) => break,
        }
    }
    Some(end)
}

fn is_flow(text: &str, group: &YamlNode) -> bool {
    let start = offset(text, group.place).and_then(|at| text.get(at..));
    start.is_some_and(|start| start.starts_with('{'))
}

/// Returns where a position is in a text, in bytes.
fn offset(text: &str, place: Position) -> Option<usize> {
    let before = usize::try_from(place.line).ok()?.checked_sub(1)?;
    let line: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let rest = text.get(line..)?;
    Some(line + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at))
}

fn with(text: &str, range: Range<usize>, new: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(range, new);
    text
}

/// Returns keys one below the other, the last with its value.
fn block(path: &[&str], value: &Value, indent: usize) -> String {
    let mut lines = String::new();
    for (depth, name) in path.iter().enumerate() {
        let spaces = indent + depth * STEP;
        let value =
            if depth + 1 == path.len() { format!(" {}", inline(value)) } else { String::new() };
        // A text takes everything.
        let _ = writeln!(lines, "{:spaces$}{name}:{value}", "");
    }
    lines
}

/// Returns keys in a line, the last with its value.
fn flow(path: &[&str], value: &Value) -> String {
    match path {
        [] => inline(value),
        [last] => format!("{last}: {}", inline(value)),
        [first, rest @ ..] => format!("{first}: {{ {} }}", flow(rest, value)),
    }
}

/// Returns a value in a line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether a text is read as itself without quotes, wherever it stands.
fn is_plain(text: &str) -> bool {
    let read = YamlDocument::parse(&format!("[{text}]"));
    let item = read.root.as_ref().and_then(YamlNode::list).and_then(<[YamlNode]>::first);
    let is_same = item.and_then(YamlNode::text) == Some(text);
    read.mistakes.is_empty() && is_same && !text.contains(['\n', '#', ',', '{', '}', '[', ']'])
}

#[cfg(test)]
mod tests {
    use super::set;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn check(before: &str, key: &str, value: Value, after: &str) {
        assert_eq!(set(before, key, &value).as_deref(), Some(after), "{key} in {before}");
    }

    #[test]
    fn a_setting_is_set_and_everything_else_stays() {
        check("", "mode", json!("code"), "mode: code\n");
        check("# mine\n", "budget.turns", json!(40), "# mine\nbudget:\n  turns: 40\n");
        let before =
            "# mine\nmode: ask  # for now\n\nbudget:\n  turns: 3 # few\n  # money\n\npublish: none";
        check(
            before,
            "mode",
            json!("code"),
            "# mine\nmode: code  # for now\n\nbudget:\n  turns: 3 # few\n  # money\n\npublish: none\n",
        );
        check(
            before,
            "budget.cost_usd",
            json!(1.5),
            "# mine\nmode: ask  # for now\n\nbudget:\n  turns: 3 # few\n  cost_usd: 1.5\n  # money\n\npublish: none\n",
        );
        check(
            before,
            "language",
            json!("German"),
            "# mine\nmode: ask  # for now\n\nbudget:\n  turns: 3 # few\n  # money\n\npublish: none\nlanguage: German\n",
        );
        check("mode: \"a # b\"\n", "mode", json!("c: d"), "mode: \"c: d\"\n");
    }

    #[test]
    fn groups_in_braces_stay_in_braces() {
        let before = "budget: { turns: 40, cost_usd: 2 } # both\n";
        check(before, "budget.turns", json!(9), "budget: { turns: 9, cost_usd: 2 } # both\n");
        check(
            before,
            "budget.minutes",
            json!(5),
            "budget: { turns: 40, cost_usd: 2, minutes: 5 } # both\n",
        );
        check("budget: {}\n", "budget.turns", json!(1), "budget: { turns: 1 }\n");
        check(
            "models:\n  profiles:\n    main: { model: m }\n",
            "models.profiles.small.model",
            json!("s"),
            "models:\n  profiles:\n    main: { model: m }\n    small:\n      model: s\n",
        );
        check(
            "models: { profiles: { a: { model: \"}\" } } }\n",
            "models.profiles.a.price.input",
            json!(1),
            "models: { profiles: { a: { model: \"}\", price: { input: 1 } } } }\n",
        );
    }

    #[test]
    fn lists_are_written_in_brackets() {
        let after = "context_files: [a.md, \"b, c\"]\nmode: code\n";
        for before in [
            "context_files:\n  - x\n  - y\nmode: code\n",
            "context_files:\n- x\nmode: code\n",
            "context_files: [x]\nmode: code\n",
            "context_files: x\nmode: code\n",
        ] {
            check(before, "context_files", json!(["a.md", "b, c"]), after);
        }
    }

    #[test]
    fn what_cannot_be_changed_without_harm_is_not() {
        for (before, key) in [
            ("mode: [\n", "mode"),
            ("- a\n", "mode"),
            ("budget: 3\n", "budget.turns"),
            ("instructions: |\n  a\n  b\n", "instructions"),
            ("mode: a\n  b\n", "mode"),
            ("x: &a { turns: 1 }\nbudget: *a\n", "budget.turns"),
            ("context_files:\n  - x # why\n", "context_files"),
        ] {
            assert_eq!(set(before, key, &json!("v")), None, "{before}");
        }
    }
}
