//! `mode_tool_access`: which mode may call which tool on which file, decided by `modes::access` on
//! the modes a run would have.

use locum_modes::access::{self, AccessError, ToolChoice};
use locum_modes::{ModeSet, ModeSource, builtin, loader};
use serde_json::json;

use crate::Judged;
use crate::field::Field;

/// Judges one case: allowed or why not, and the very message for a file out of bounds.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let file = json!({ "customModes": case.at("custom_modes").whole() }).to_string();
    let source = ModeSource::Project { file: ".roomodes".to_owned() };
    let custom = loader::parse(&file, &source).map_err(|errors| errors.to_string())?;
    let modes = ModeSet::merge([builtin::modes(), custom]);
    let (disabled, included) =
        (words(&case.at("disabled_tools"))?, words(&case.at("included_tools"))?);
    let choice = ToolChoice { disabled: &disabled, included: &included };
    let decided = access::decide_access(
        &modes,
        case.at("mode").text()?,
        case.at("tool").text()?,
        case.at("params").whole(),
        choice,
    );
    let found = match &decided {
        Ok(()) => json!({ "allowed": true, "reason": null }),
        Err(AccessError::UnknownTool { .. }) => {
            json!({ "allowed": false, "reason": "unknown_tool" })
        }
        Err(AccessError::NotAllowed { .. }) => {
            json!({ "allowed": false, "reason": "not_allowed_in_mode" })
        }
        Err(AccessError::FileRestriction(error)) => {
            json!({ "allowed": false, "reason": "file_restriction", "message": error.to_string() })
        }
    };
    let expected = case.at("expected");
    let safer = case.at("safer").given().map(|safer| safer.is_part_of(&found)).transpose()?;
    let is_hole = case.at("tag").text()? == "hole";
    Ok(if expected.is_part_of(&found)? {
        Judged::Pass
    } else if is_hole && (safer == Some(true) || decided.is_err()) {
        Judged::Safer
    } else {
        Judged::Fail(format!("got {found}, expected {}", expected.whole()))
    })
}

fn words(list: &Field<'_>) -> Result<Vec<String>, String> {
    Ok(list.texts()?.into_iter().map(str::to_owned).collect())
}
