//! A range of lines as other agents' tools have it: its last line, a list of ranges, `3-9`.
//!
//! In: arguments of `read_file` as written. Out: the same with an `offset` and a `limit`, or a
//! sentence for the model where they are no range.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{number, parsed};

/// Turns the last line, or a range of lines, into an offset and a limit.
pub(crate) fn line_range(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let wrong = |what: &str| {
        CallError(format!("{what} of `read_file` is not a range; use `offset` and `limit`."))
    };
    for name in ["line_range", "line_ranges", "lineRanges", "view_range", "lines"] {
        let Some(value) = fields.remove(name) else { continue };
        let (first, last) = range(&value).ok_or_else(|| wrong(&format!("`{name}`")))?;
        if fields.contains_key("offset") || fields.contains_key("limit") {
            return Err(wrong(&format!("`{name}` beside `offset` or `limit`")));
        }
        fields.insert("offset".to_owned(), first.into());
        if let Some(last) = last {
            let lines = (last + 1).checked_sub(first).filter(|lines| *lines > 0);
            fields.insert("limit".to_owned(), lines.ok_or_else(|| wrong("A range"))?.into());
        }
    }
    for name in ["end_line", "line_end"] {
        let Some(value) = fields.remove(name) else { continue };
        let last = number(&value).ok_or_else(|| wrong(&format!("`{name}`")))?;
        let first = fields.get("offset").map_or(Some(1), number);
        let lines = first.and_then(|first| (last + 1).checked_sub(first)).filter(|one| *one > 0);
        let lines = lines.ok_or_else(|| wrong(&format!("`{name}` before the first line")))?;
        if fields.contains_key("limit") {
            return Err(wrong(&format!("`{name}` beside `limit`")));
        }
        fields.insert("limit".to_owned(), lines.into());
    }
    Ok(())
}

/// Reads `"3-9"`, `[3, 9]`, `[[3, 9]]` or `{ "start": 3, "end": 9 }`; an end of -1 is the file's.
fn range(value: &Value) -> Option<(u64, Option<u64>)> {
    match parsed(value.clone()) {
        Value::String(text) => {
            let (first, last) = text.split_once('-')?;
            Some((first.trim().parse().ok()?, Some(last.trim().parse().ok()?)))
        }
        Value::Array(items) => match items.as_slice() {
            [one] => range(one),
            [first, last] if last.as_i64() == Some(-1) => Some((number(first)?, None)),
            [first, last] => Some((number(first)?, Some(number(last)?))),
            _ => None,
        },
        Value::Object(ends) => {
            Some((number(ends.get("start")?)?, ends.get("end").and_then(number)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
