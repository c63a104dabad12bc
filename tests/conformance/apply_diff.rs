//! `apply_diff`: search/replace diffs, applied by the function behind the tool.

use locum_agent::tools::files::apply_diff::miss::Miss;
use locum_agent::tools::files::apply_diff::parse::DiffParseError;
use locum_agent::tools::files::apply_diff::{
    BlockError, DiffError, NearCopies, Tolerance, apply_with,
};
use serde_json::json;

use crate::Judged;
use crate::field::Field;

/// Judges one case: the new text and how many blocks did not fit, or why nothing was changed.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let default = Tolerance::default();
    let tolerance = Tolerance {
        similarity: case
            .at("fuzzy_threshold")
            .given()
            .map_or(Ok(default.similarity), |given| given.number())?,
        lines: case.at("buffer_lines").given().map_or(Ok(default.lines), |given| given.size())?,
        // Peers take an exact line at its word.
        near_copies: NearCopies::Take,
    };
    let mut several = false;
    let found = match apply_with(case.at("original").text()?, case.at("diff").text()?, tolerance) {
        Ok(applied) => {
            json!({ "success": true, "content": applied.content, "failed_blocks": applied.failed.len() })
        }
        Err(DiffError::Parse(error)) => json!({ "success": false, "reason": parse_reason(&error) }),
        Err(DiffError::Unconfirmed(_)) => {
            several = true;
            json!({ "success": false })
        }
        Err(DiffError::NoBlockFits(failed)) => {
            several = failed.iter().any(stands_in_several_places);
            json!({ "success": false, "reason": failed.first().map(block_reason), "failed_blocks": failed.len() })
        }
    };
    let expected = case.at("expected");
    let agrees = expected.is_part_of(&found)?;
    // What the peer guesses is refused, and lines that are not replaced keep their line ends.
    let is_quirk = case.at("tag").text()? == "quirk";
    let plain = |value: &serde_json::Value| value.to_string().replace("\\r", "");
    let safer = several || plain(expected.whole()) == plain(&found);
    Ok(if agrees {
        Judged::Pass
    } else if is_quirk && safer {
        Judged::Safer
    } else {
        Judged::Fail(format!("got {found}, expected {}", expected.whole()))
    })
}

fn stands_in_several_places(error: &BlockError) -> bool {
    matches!(error, BlockError::NoMatch(miss) if matches!(miss.why, Miss::Several { .. }))
}

fn parse_reason(error: &DiffParseError) -> &'static str {
    match error {
        DiffParseError::UnescapedMarker { .. } => "unescaped_marker",
        DiffParseError::Malformed { .. } => "malformed",
        DiffParseError::LineMarkerInReplace { .. } => "line_marker_in_replace",
        DiffParseError::UnexpectedEnd { .. } => "unexpected_end",
        DiffParseError::InvalidFormat => "invalid_format",
    }
}

fn block_reason(error: &BlockError) -> &'static str {
    match error {
        BlockError::Identical => "identical",
        BlockError::EmptySearch => "empty_search",
        BlockError::NoMatch(_) => "no_match",
    }
}
