//! `apply_diff`: search/replace diffs, applied by the function behind the tool.

use locum_agent::tools::files::apply_diff::parse::ParseError;
use locum_agent::tools::files::apply_diff::{BlockError, DiffError, Tolerance, apply_with};
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case: the new text and how many blocks did not fit, or why nothing was changed.
pub(crate) fn judge(case: &Value, _set: &Value) -> Judged {
    let text = |key: &str| case[key].as_str().unwrap();
    let default = Tolerance::default();
    let tolerance = Tolerance {
        similarity: case["fuzzy_threshold"].as_f64().unwrap_or(default.similarity),
        lines: case["buffer_lines"]
            .as_u64()
            .map_or(default.lines, |lines| usize::try_from(lines).unwrap()),
    };
    let found = match apply_with(text("original"), text("diff"), tolerance) {
        Ok(applied) => {
            json!({ "success": true, "content": applied.content, "failed_blocks": applied.failed.len() })
        }
        Err(DiffError::Parse(error)) => json!({ "success": false, "reason": parse_reason(&error) }),
        Err(DiffError::NoBlockFits(failed)) => {
            json!({ "success": false, "reason": failed.first().map(block_reason), "failed_blocks": failed.len() })
        }
    };
    let expected = &case["expected"];
    let agrees = expected.as_object().unwrap().iter().all(|(key, value)| &found[key] == value);
    if agrees { Judged::Pass } else { Judged::Fail(format!("got {found}, expected {expected}")) }
}

fn parse_reason(error: &ParseError) -> &'static str {
    match error {
        ParseError::UnescapedMarker { .. } => "unescaped_marker",
        ParseError::Malformed { .. } => "malformed",
        ParseError::LineMarkerInReplace { .. } => "line_marker_in_replace",
        ParseError::UnexpectedEnd { .. } => "unexpected_end",
        ParseError::InvalidFormat => "invalid_format",
    }
}

fn block_reason(error: &BlockError) -> &'static str {
    match error {
        BlockError::Identical => "identical",
        BlockError::EmptySearch => "empty_search",
        BlockError::NoMatch(_) => "no_match",
    }
}
