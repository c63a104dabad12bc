//! Ranges of lines as other agents' tools have them: a last line, a list of ranges, `3-9`.
//!
//! In: arguments of `read_file` as written. Out: the same with an `offset` and a `limit`, or with
//! `line_ranges` where there are several; a sentence for the model where they are no ranges.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{number, parsed};

/// The tool's own name for several ranges.
const RANGES: &str = "line_ranges";

/// The first line of a range, and its last where it has one.
type Range = (u64, Option<u64>);

/// Turns the last line, or ranges of lines, into the tool's own words.
pub(crate) fn line_range(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let wrong = |what: &str| {
        CallError(format!(
            "{what} of `read_file` is not a range; use `offset` and `limit`, or `line_ranges` such \
             as `10-40`."
        ))
    };
    for name in ["line_range", RANGES, "lineRanges", "view_range", "lines"] {
        let Some(value) = fields.remove(name) else { continue };
        let ranges = ranges(&value).ok_or_else(|| wrong(&format!("`{name}`")))?;
        let has_slice = fields.contains_key("offset") || fields.contains_key("limit");
        if has_slice && !ranges.is_empty() {
            return Err(wrong(&format!("`{name}` beside `offset` or `limit`")));
        }
        let is_range = |(first, last): &Range| last.is_none_or(|last| last >= *first && *first > 0);
        if !ranges.iter().all(is_range) {
            return Err(wrong("A range"));
        }
        match ranges.as_slice() {
            [] => {}
            [(first, last)] => {
                fields.insert("offset".to_owned(), (*first).into());
                if let Some(last) = last {
                    fields.insert("limit".to_owned(), (last - first + 1).into());
                }
            }
            several => {
                let texts = several.iter().map(|(first, last)| {
                    let last = last.map(|last| last.to_string()).unwrap_or_default();
                    Value::from(format!("{first}-{last}"))
                });
                fields.insert(RANGES.to_owned(), texts.collect());
            }
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

/// Reads one range or a list of them. Two numbers are the ends of one.
fn ranges(value: &Value) -> Option<Vec<Range>> {
    match parsed(value.clone()) {
        Value::Array(items) if !matches!(items.as_slice(), [first, _] if number(first).is_some()) =>
        {
            let nested: Option<Vec<Vec<Range>>> = items.iter().map(ranges).collect();
            Some(nested?.into_iter().flatten().collect())
        }
        Value::String(text) if text.contains(',') => {
            text.split(',').map(|one| range(&Value::from(one.trim()))).collect()
        }
        one => Some(vec![range(&one)?]),
    }
}

/// Reads `"3-9"`, `"3"`, `[3, 9]` or `{ "start": 3, "end": 9 }`; an end of -1 is the file's.
fn range(value: &Value) -> Option<Range> {
    match value {
        Value::String(text) => match text.split_once('-') {
            Some((first, last)) if last.trim().is_empty() => {
                Some((first.trim().parse().ok()?, None))
            }
            Some((first, last)) => {
                Some((first.trim().parse().ok()?, Some(last.trim().parse().ok()?)))
            }
            None => number(value).map(|line| (line, Some(line))),
        },
        Value::Array(ends) => match ends.as_slice() {
            [first, last] if last.as_i64() == Some(-1) => Some((number(first)?, None)),
            [first, last] => Some((number(first)?, Some(number(last)?))),
            _ => None,
        },
        Value::Object(ends) => {
            Some((number(ends.get("start")?)?, ends.get("end").and_then(number)))
        }
        Value::Number(_) => number(value).map(|line| (line, Some(line))),
        Value::Null | Value::Bool(_) => None,
    }
}
