//! `mode_tool_access`: which mode may call which tool on which file, decided by `modes::access` on
//! the modes a run would have. What other agents name and write otherwise is translated here.

use locum_base::path::RepoPath;
use locum_base::tool::{self, Availability, ToolGroup, ToolName};
use locum_modes::access::{check_edit, has_tool};
use locum_modes::{Mode, ModeSet, ModeSource, builtin, loader};
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

/// Tools that other agents with the same mode files have, and which modes have them there.
const FOREIGN: &[(&str, Availability)] = &[
    ("edit", Availability::OptIn(ToolGroup::Edit)),
    ("search_replace", Availability::OptIn(ToolGroup::Edit)),
    ("edit_file", Availability::OptIn(ToolGroup::Edit)),
    ("read_command_output", Availability::In(ToolGroup::Command)),
];
/// Tools of this program whose like the newest version of that agent has no more.
const REMOVED: &[&str] =
    &["list_code_definition_names", "browser_action", "insert_content", "fetch_instructions"];
/// Parameters that make a call of an edit tool an edit; a call with none of them cannot change a
/// file.
const CONTENT_PARAMETERS: &[&str] = &[
    "diff",
    "content",
    "operations",
    "search",
    "replace",
    "args",
    "line",
    "patch",
    "old_string",
    "new_string",
    "prompt",
];
/// Lines of a patch that name a file it would change.
const PATCH_HEADERS: &[&str] =
    &["*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:"];

/// Judges one case: allowed or why not, and the very message for a file out of bounds.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let file = json!({ "customModes": case.at("custom_modes").whole() }).to_string();
    let source = ModeSource::Project { file: ".roomodes".to_owned() };
    let custom = loader::parse(&file, &source).map_err(|errors| errors.to_string())?;
    let modes = ModeSet::merge([builtin::modes(), custom]);
    let mode = modes.find(case.at("mode").text()?);
    let name = resolve(case.at("tool").text()?);
    let (disabled, included) =
        (resolved(&case.at("disabled_tools"))?, resolved(&case.at("included_tools"))?);
    let params = case.at("params").whole();
    let found = match availability(name) {
        None => json!({ "allowed": false, "reason": "unknown_tool" }),
        Some(_) if disabled.contains(&name) || !has(mode, name, &included) => {
            json!({ "allowed": false, "reason": "not_allowed_in_mode" })
        }
        Some(availability) => {
            let edits = availability.group() == Some(ToolGroup::Edit);
            let paths = if edits { edited_paths(params) } else { Vec::new() };
            let mut refused = paths.into_iter().filter_map(|path| refusal(mode?, name, path));
            match refused.next() {
                None => json!({ "allowed": true, "reason": null }),
                Some(message) => {
                    json!({ "allowed": false, "reason": "file_restriction", "message": message })
                }
            }
        }
    };
    let is_allowed = found.get("allowed").is_some_and(|allowed| allowed == true);
    let expected = case.at("expected");
    let safer = case.at("safer").given().map(|safer| safer.is_part_of(&found)).transpose()?;
    let is_hole = case.at("tag").text()? == "hole";
    Ok(if expected.is_part_of(&found)? {
        Judged::Pass
    } else if is_hole && (safer == Some(true) || !is_allowed) {
        Judged::Safer
    } else {
        Judged::Fail(format!("got {found}, expected {}", expected.whole()))
    })
}

fn resolved<'a>(list: &Field<'a>) -> Result<Vec<&'a str>, String> {
    Ok(list.texts()?.into_iter().map(resolve).collect())
}

/// A name that is a tool of its own here is another name of `edit` there.
fn resolve(name: &str) -> &str {
    if name == "search_and_replace" { "edit" } else { tool::resolve(name) }
}

fn availability(name: &str) -> Option<Availability> {
    let foreign = || FOREIGN.iter().find(|(known, _)| *known == name).map(|(_, found)| *found);
    if REMOVED.contains(&name) {
        return None;
    }
    ToolName::find(name).map(ToolName::availability).or_else(foreign)
}

/// A mode that does not exist has only the tools every mode has.
fn has(mode: Option<&Mode>, name: &str, included: &[&str]) -> bool {
    let gives = |group: ToolGroup| {
        mode.is_some_and(|mode| mode.groups.iter().any(|entry| entry.group == group))
    };
    match (availability(name), ToolName::find(name), mode) {
        (None, ..) => false,
        (Some(Availability::Always), ..) => true,
        (Some(_), Some(tool), Some(mode)) => {
            let included: Vec<ToolName> =
                included.iter().filter_map(|name| ToolName::find(name)).collect();
            has_tool(mode, tool, &included)
        }
        (Some(Availability::In(group)), ..) => gives(group),
        (Some(Availability::InWithout(group, other)), ..) => gives(group) && !gives(other),
        (Some(Availability::OptIn(group)), ..) => gives(group) && included.contains(&name),
        (Some(Availability::OptInAlways), ..) => included.contains(&name),
    }
}

/// Returns every path a call of an edit tool would change.
fn edited_paths(params: &Value) -> Vec<&str> {
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let mut paths = Vec::new();
    if CONTENT_PARAMETERS.iter().any(|key| params.get(key).is_some_and(|value| !value.is_null())) {
        paths.extend(["path", "file_path"].into_iter().filter_map(text));
    }
    for line in text("patch").unwrap_or_default().lines() {
        let headers = PATCH_HEADERS.iter();
        let mut named = headers.filter_map(|header| line.trim_start().strip_prefix(header));
        paths.extend(named.next().map(str::trim));
    }
    paths
}

/// Returns why a mode may not edit a file; one outside the checkout is no file that may be edited.
fn refusal(mode: &Mode, name: &str, path: &str) -> Option<String> {
    let path = match RepoPath::parse(path) {
        Ok(path) => path,
        Err(error) => return Some(error.to_string()),
    };
    let tool = ToolName::find(name).unwrap_or(ToolName::WriteToFile);
    let mut error = check_edit(mode, tool, &path).err()?;
    error.tool = name.into();
    Some(error.to_string())
}
