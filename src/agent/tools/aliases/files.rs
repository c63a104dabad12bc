//! Several files in one call as other agents' tools have them: `files`, `paths`, or `args.file`,
//! each a path or an object with ranges of its own.
//!
//! In: arguments of `read_file` as written. Out: the first file as the call's own `path`, the
//! others in `files`, each in the tool's own words; names of arguments inside them that were
//! ignored.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{CalledTool, lines, parsed, rename, unknown};
use crate::tools::arguments::kind_of;

/// What a file of several can have; more than models are shown.
const FIELDS: &[&str] =
    &["path", "line_ranges", "offset", "limit", "column", "mode", "indentation"];

/// Gathers the files of a call, each in the tool's own words.
///
/// # Errors
/// When an entry is not a file, or asks for something the tool does not have.
pub(crate) fn files(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
    ignored: &mut Vec<String>,
) -> Result<(), CallError> {
    let mut found = Vec::new();
    if let Some(several @ Value::Array(_)) = fields.get("path").cloned().map(parsed) {
        fields.remove("path");
        take(of, "path", several, &mut found)?;
    }
    for name in ["files", "paths", "file"] {
        let Some(value) = fields.remove(name) else { continue };
        take(of, name, parsed(value), &mut found)?;
    }
    for file in &mut found {
        for (from, to) in of.words.renames.iter().copied().flatten() {
            rename(of, file, from, to)?;
        }
        lines::line_range(file)?;
        file.retain(|name, value| {
            let known = FIELDS.contains(&name.as_str());
            if !known && !unknown::is_nothing(value) {
                ignored.push(format!("files.{name}"));
            }
            known
        });
    }
    let mut found = found.into_iter();
    let has_path = fields.contains_key("path");
    if !has_path && let Some(first) = found.next() {
        for (name, value) in first {
            fields.entry(name).or_insert(value);
        }
    }
    let others: Vec<Value> = found.map(Value::Object).collect();
    if !others.is_empty() {
        fields.insert("files".to_owned(), Value::Array(others));
    }
    Ok(())
}

/// Takes the files out of a list, or the one that stands for it.
fn take(
    of: CalledTool<'_>,
    name: &str,
    value: Value,
    found: &mut Vec<Map<String, Value>>,
) -> Result<(), CallError> {
    match value {
        Value::Array(items) => {
            items.into_iter().try_for_each(|item| take(of, name, parsed(item), found))
        }
        // `{ "file": [..] }` inside `files`, as tags in tags become.
        Value::Object(mut fields) if fields.len() == 1 && fields.contains_key("file") => {
            take(of, name, parsed(fields.remove("file").unwrap_or_default()), found)
        }
        Value::Object(mut fields) => {
            fields.retain(|_, value| !value.is_null());
            found.push(fields);
            Ok(())
        }
        text @ Value::String(_) => {
            found.push(Map::from_iter([("path".to_owned(), text)]));
            Ok(())
        }
        other => Err(CallError(format!(
            "`{name}` of `{}` must name files, not {}.",
            of.called,
            kind_of(&other)
        ))),
    }
}
