//! `read_file`: the part of a file that is shown, and how its lines are numbered.

use locum_agent::tools::files::read::indentation::Around;
use locum_agent::tools::files::read::view::OutOfRange;
use locum_agent::tools::files::read::{DEFAULT_LINES, Part};
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case: the numbered text, its range, and whether more could be shown.
pub(crate) fn judge(case: &Value, _set: &Value) -> Judged {
    let part = match case["kind"].as_str().unwrap() {
        "slice" => Part::Slice {
            offset: number(&case["offset"], 1),
            limit: number(&case["limit"], DEFAULT_LINES),
        },
        "indentation" => Part::Indentation(around(&case["options"])),
        other => return Judged::Fail(format!("unknown kind {other}")),
    };
    let found = match part.of(case["content"].as_str().unwrap()) {
        Ok(view) => json!({
            "content": view.render(),
            "ranges": [[view.first, view.last()]],
            "total_lines": view.total_lines,
            "returned_lines": view.lines.len(),
            "truncated": view.truncated,
        }),
        Err(error) => {
            let (OutOfRange::Offset { total_lines, .. } | OutOfRange::Anchor { total_lines, .. }) =
                &error;
            json!({ "content": error.to_string(), "ranges": [], "total_lines": total_lines, "returned_lines": 0, "truncated": false })
        }
    };
    let expected = &case["expected"];
    if &found == expected {
        Judged::Pass
    } else {
        Judged::Fail(format!("got {found}, expected {expected}"))
    }
}

fn around(options: &Value) -> Around {
    let flag = |key: &str, default: bool| options[key].as_bool().unwrap_or(default);
    Around {
        anchor_line: number(&options["anchorLine"], 1),
        max_levels: number(&options["maxLevels"], 0),
        include_siblings: flag("includeSiblings", false),
        include_header: flag("includeHeader", true),
        max_lines: number(&options["maxLines"], DEFAULT_LINES)
            .min(number(&options["limit"], DEFAULT_LINES)),
    }
}

fn number(value: &Value, default: usize) -> usize {
    value.as_u64().map_or(default, |number| usize::try_from(number).unwrap())
}
