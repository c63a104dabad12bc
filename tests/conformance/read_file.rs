//! `read_file`: the part of a file that is shown, and how its lines are numbered.

use locum_agent::tools::files::read::DEFAULT_LINES;
use locum_agent::tools::files::read::indentation::IndentationScope;
use locum_agent::tools::files::read::view::OutOfRange;
use locum_agent::tools::files::read::wanted::FilePart;
use serde_json::json;

use crate::Judged;
use crate::field::Field;

/// Judges one case: the numbered text, its range, and whether more could be shown.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let part = match case.at("kind").text()? {
        "slice" => FilePart::Slice {
            offset: size(&case.at("offset"), 1)?,
            limit: size(&case.at("limit"), DEFAULT_LINES)?,
        },
        "indentation" => FilePart::Indentation(around(&case.at("options"))?),
        other => return Err(format!("unknown kind `{other}`")),
    };
    let found = match part.of(case.at("content").text()?) {
        Ok(view) => json!({
            "content": view.render(),
            "ranges": view.range().into_iter().collect::<Vec<_>>(),
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
    let expected = case.at("expected").whole();
    Ok(if found == *expected {
        Judged::Pass
    } else {
        Judged::Fail(format!("got {found}, expected {expected}"))
    })
}

fn around(options: &Field<'_>) -> Result<IndentationScope, String> {
    let flag = |key: &str, default: bool| {
        options.at(key).given().map_or(Ok(default), |given| given.flag())
    };
    Ok(IndentationScope {
        anchor_line: size(&options.at("anchorLine"), 1)?,
        max_levels: size(&options.at("maxLevels"), 0)?,
        include_siblings: flag("includeSiblings", false)?,
        include_header: flag("includeHeader", true)?,
        max_lines: size(&options.at("maxLines"), DEFAULT_LINES)?
            .min(size(&options.at("limit"), DEFAULT_LINES)?),
    })
}

fn size(field: &Field<'_>, default: usize) -> Result<usize, String> {
    field.given().map_or(Ok(default), |given| given.size())
}
