//! An edit as other agents' tools have it: a list of blocks, or an old and a new text.
//!
//! In: arguments of `apply_diff` as written. Out: the same with SEARCH/REPLACE blocks, or a sentence
//! for the model where the effect would be another.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{CalledTool, is_true, number};

/// Makes SEARCH/REPLACE blocks of a list of blocks, or of an old and a new text.
pub(crate) fn diff(of: CalledTool<'_>, fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let wrong = |what: &str| {
        CallError(format!("{what}; send SEARCH/REPLACE blocks as `diff` of `apply_diff`."))
    };
    for name in ["replace_all", "replaceAll"] {
        if fields.remove(name).is_some_and(|value| is_true(&value)) {
            return Err(wrong(&format!("`{name}` is not known here")));
        }
    }
    if let Some(count) = fields.remove("expected_replacements")
        && number(&count) != Some(1)
    {
        return Err(wrong("Several replacements at once are not known here"));
    }
    if let Some(value) = fields.get("diff").filter(|value| !value.is_string()).cloned() {
        let blocks = match value {
            Value::Array(blocks) => blocks,
            one => vec![one],
        };
        let blocks: Option<Vec<String>> = blocks.iter().map(block).collect();
        let text = blocks.ok_or_else(|| wrong("`diff` holds what is not a block"))?.join("\n");
        fields.insert("diff".to_owned(), text.into());
    }
    let mut take = |names: &[&str]| names.iter().find_map(|name| fields.remove(*name));
    let old = take(&["old_string", "oldString", "old_str", "old_text", "search"]);
    let new = take(&["new_string", "newString", "new_str", "new_text", "replace"]);
    match (old, new) {
        (None, None) => Ok(()),
        (Some(Value::String(old)), Some(Value::String(new))) if !fields.contains_key("diff") => {
            let text = replacement(&old, &new, None).ok_or_else(|| {
                wrong("The old and the new text must be whole lines, and the old one not empty")
            })?;
            fields.insert("diff".to_owned(), text.into());
            Ok(())
        }
        (_, _) => Err(wrong(&format!("`{}` needs an old and a new text", of.called))),
    }
}

/// Reads one block of a list: its text, or what it searches and puts there.
fn block(value: &Value) -> Option<String> {
    let Value::Object(fields) = value else { return value.as_str().map(str::to_owned) };
    let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str());
    let line = fields.get("start_line").and_then(number);
    if let Some(content) = text(&["content", "diff"]) {
        return match line {
            Some(line) if !content.contains(":start_line:") => {
                let after = content.strip_prefix("<<<<<<< SEARCH\n")?;
                Some(format!("<<<<<<< SEARCH\n:start_line:{line}\n-------\n{after}"))
            }
            Some(_) | None => Some(content.to_owned()),
        };
    }
    let old = text(&["search", "old_string", "old_str"])?;
    replacement(old, text(&["replace", "new_string", "new_str"])?, line)
}

/// Returns a block that puts one text in the place of another; `None` where lines would be joined.
fn replacement(old: &str, new: &str, line: Option<u64>) -> Option<String> {
    let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        (None, None) => (old, new),
        (Some(old), None) if new.is_empty() => (old, new),
        (Some(_), None) | (None, Some(_)) => return None,
    };
    let place = line.map(|line| format!(":start_line:{line}\n-------\n")).unwrap_or_default();
    let escaped = |text: &str| {
        let lines = text.split('\n').map(|line| {
            let marks = ["<<<<<<<", "=======", ">>>>>>>", "-------", ":start_line:", ":end_line:"];
            let is_mark = marks.iter().any(|mark| line.starts_with(mark));
            if is_mark { format!("\\{line}") } else { line.to_owned() }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    let after = if new.is_empty() { String::new() } else { format!("{}\n", escaped(new)) };
    (!old.is_empty()).then(|| {
        format!("<<<<<<< SEARCH\n{place}{}\n=======\n{after}>>>>>>> REPLACE", escaped(old))
    })
}
