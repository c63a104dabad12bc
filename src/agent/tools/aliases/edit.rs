//! An edit as other agents' tools have it: a list of blocks, an old and a new text or several of
//! them, lines to put in.
//!
//! In: arguments of `apply_diff`, `multi_edit` and `insert_content` as written. Out: the same with
//! SEARCH/REPLACE blocks as text or what the engine takes in its place, or a sentence for the model
//! where the effect would be another.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{CalledTool, is_true, number, parsed, unknown};
use crate::tools::arguments::kind_of;
use crate::tools::files::apply_diff::tool::ApplyDiff;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::insertion::{Insertion, InsertionPlace};
use crate::tools::files::edit::search::{MeantPlaces, SearchEdit, SearchSyntax};
use crate::tools::files::edit::texts::TextEdit;
use crate::tools::files::edit_tool::EditTool;

/// Names of an old and a new text.
const OLD: [&str; 5] = ["old_string", "oldString", "old_str", "old_text", "search"];
const NEW: [&str; 5] = ["new_string", "newString", "new_str", "new_text", "replace"];

/// What is read of a block that is an object.
const BLOCK: [&str; 9] = [
    "content",
    "diff",
    "start_line",
    "search",
    "old_string",
    "old_str",
    "replace",
    "new_string",
    "new_str",
];

/// Makes one change of a list of blocks, or of an old and a new text or a list of those.
/// Names of what else an edit of a list has are added to `ignored`.
pub(crate) fn diff(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
    ignored: &mut Vec<String>,
) -> Result<(), CallError> {
    let meant = fields.remove("expected_replacements");
    let change = if let Some(edits) = fields.remove("edits") {
        Some(FileChange::Texts(text_edits(fields.get("path"), edits, ignored)?))
    } else {
        let edit = text_edit(fields).map_err(|what| wrong(&format!("`{}` {what}", of.called)))?;
        edit.map(|edit| alone(edit, meant.as_ref())).transpose()?
    };
    match change {
        None if meant.is_some() => Err(wrong("`expected_replacements` has no old and new text")),
        None => blocks(fields, ignored),
        Some(_) if fields.contains_key("diff") => Err(wrong("Both `diff` and another edit")),
        Some(change) => put(fields, "diff", &change),
    }
}

/// Takes an edit of a cell that is named by an index: a new cell goes before it, and not after it.
pub(crate) fn cell(fields: &mut Map<String, Value>) {
    let Some(action) = fields.remove("action") else { return };
    if action == "insert"
        && let Some(index) = fields.get("index").and_then(number)
    {
        fields.remove("index");
        if let Some(before) = index.checked_sub(1) {
            fields.insert("cell_number".to_owned(), before.into());
        }
    }
    fields.entry("edit_mode").or_insert(action);
}

/// Makes the engine's edit of one text, which stands in as many places as are expected.
fn alone(edit: TextEdit, meant: Option<&Value>) -> Result<FileChange, CallError> {
    let Some(meant) = meant else { return Ok(FileChange::Texts(vec![edit])) };
    if edit.all {
        return Err(CallError(
            "`expected_replacements` and `replace_all` say different things; give one.".to_owned(),
        ));
    }
    let count = number(meant).and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| *count > 0).ok_or_else(|| {
        CallError("`expected_replacements` must be a whole number of at least 1.".to_owned())
    })?;
    if count == 1 {
        return Ok(FileChange::Texts(vec![edit]));
    }
    Ok(FileChange::Search(SearchEdit {
        search: edit.old,
        replace: edit.new,
        syntax: SearchSyntax::Literal,
        ignore_case: false,
        places: MeantPlaces::Exactly(count),
        within: None,
    }))
}

/// Reads the list of `multi_edit`.
pub(crate) fn edits(
    fields: &mut Map<String, Value>,
    ignored: &mut Vec<String>,
) -> Result<(), CallError> {
    let Some(edits) = fields.remove("edits") else { return Ok(()) };
    let edits = FileChange::Texts(text_edits(fields.get("path"), edits, ignored)?);
    put(fields, "edits", &edits)
}

/// Reads an insertion that follows a line, with 0 at the beginning, as editors of other agents have
/// it.
pub(crate) fn insertion(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let Some(line) = fields.remove("insert_line") else { return Ok(()) };
    let line = number(&line).and_then(|line| usize::try_from(line).ok()).ok_or_else(|| {
        CallError(format!(
            "`insert_line` must be a whole number of at least 0, not {}.",
            kind_of(&line)
        ))
    })?;
    let text = ["insert_text", "new_str", "content"].iter().find_map(|name| fields.remove(*name));
    let Some(Value::String(text)) = text else {
        return Err(CallError(
            "`insert_text`, the text to insert, must be there and be a text.".to_owned(),
        ));
    };
    let place = match line {
        0 => InsertionPlace::Start,
        line => InsertionPlace::Before { line: line.saturating_add(1), lines: None },
    };
    put(fields, "content", &Insertion { place, text })
}

/// Puts what the engine takes in the place of a text.
fn put(
    fields: &mut Map<String, Value>,
    name: &str,
    value: &impl serde::Serialize,
) -> Result<(), CallError> {
    let value = serde_json::to_value(value).map_err(|_| wrong("The edit is no text"))?;
    fields.insert(name.to_owned(), value);
    Ok(())
}

fn wrong(what: &str) -> CallError {
    CallError(format!("{what}; send SEARCH/REPLACE blocks as `diff` of `apply_diff`."))
}

/// Joins a list of blocks.
fn blocks(fields: &mut Map<String, Value>, ignored: &mut Vec<String>) -> Result<(), CallError> {
    let Some(value) = fields.get("diff").filter(|value| !value.is_string()).cloned() else {
        return Ok(());
    };
    let blocks = match value {
        Value::Array(blocks) => blocks,
        one => vec![one],
    };
    for fields in blocks.iter().filter_map(Value::as_object) {
        let beside = fields.iter().filter(|(name, _)| !BLOCK.contains(&name.as_str()));
        note_beside("diff", beside, ignored)
            .map_err(|what| CallError(format!("A block of `diff` {what}.")))?;
    }
    let blocks: Option<Vec<String>> = blocks.iter().map(block).collect();
    let text = blocks.ok_or_else(|| wrong("`diff` holds what is not a block"))?.join("\n");
    fields.insert("diff".to_owned(), text.into());
    Ok(())
}

/// Takes an old and a new text; the error says what is wrong with the call.
fn text_edit(fields: &mut Map<String, Value>) -> Result<Option<TextEdit>, &'static str> {
    let mut take = |names: &[&str]| names.iter().find_map(|name| fields.remove(*name));
    let (old, new) = (take(&OLD), take(&NEW));
    let all = take(&["replace_all", "replaceAll"]).is_some_and(|value| is_true(&value));
    match (old, new) {
        (None, None) if all => Err("has `replace_all` without an old and a new text"),
        (None, None) => Ok(None),
        (Some(Value::String(old)), Some(Value::String(new))) => {
            Ok(Some(TextEdit { old, new, all }))
        }
        (_, _) => Err("needs an old and a new text"),
    }
}

/// Reads the list of `MultiEdit`; each edit may name the file once more.
fn text_edits(
    path: Option<&Value>,
    edits: Value,
    ignored: &mut Vec<String>,
) -> Result<Vec<TextEdit>, CallError> {
    let Value::Array(edits) = parsed(edits) else {
        return Err(CallError("`edits` must be a list of old and new texts.".to_owned()));
    };
    let mut read = |(at, edit): (usize, Value)| {
        let fault = |what: &str| CallError(format!("Edit {} of `edits` {what}.", at + 1));
        let Value::Object(mut fields) = parsed(edit) else {
            return Err(fault("must be an object with an old and a new text"));
        };
        for name in ["path", "file_path", "filePath"] {
            if fields.remove(name).is_some_and(|other| Some(&other) != path) {
                return Err(fault("is of another file; make a call for each file"));
            }
        }
        let edit = text_edit(&mut fields).map_err(fault)?;
        note_beside("edits", &fields, ignored).map_err(|what| fault(&what))?;
        edit.ok_or_else(|| fault("needs an old and a new text"))
    };
    let edits = edits.into_iter().enumerate().map(&mut read).collect::<Result<Vec<_>, _>>()?;
    if edits.is_empty() { Err(CallError("`edits` is empty.".to_owned())) } else { Ok(edits) }
}

/// Adds what an edit of a list has beside to `ignored`, unless it changes what the edit does; the
/// error says what is wrong with the edit.
fn note_beside<'f>(
    list: &str,
    beside: impl IntoIterator<Item = (&'f String, &'f Value)>,
    ignored: &mut Vec<String>,
) -> Result<(), String> {
    for (name, value) in beside {
        if let Some(instead) = unknown::instead_of(ApplyDiff::PEERS.decisive, name, value) {
            let instead = instead.trim_end_matches('.');
            return Err(format!("has no parameter `{name}`. {instead}"));
        }
        let name = format!("{list}.{name}");
        if !value.is_null() && !ignored.contains(&name) {
            ignored.push(name);
        }
    }
    Ok(())
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
