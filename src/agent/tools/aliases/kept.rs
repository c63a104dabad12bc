//! `read_command_output` of Roo: one tool that reads the kept output of a command, searches it, or
//! reads on in a command that still runs.
//!
//! In: the arguments as written. Out: which tool is meant, and its arguments: `artifact_id` becomes
//! a path such as `output://3`, and `search` a regular expression without regard to case.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::{CalledTool, number};
use crate::tools::kept_output::OUTPUT_SCHEME;
use locum_base::tool::ToolName;

const NAME: &str = "read_command_output";

/// Whether a call is one of this tool.
pub(crate) fn is_of_kept_output(called: &str) -> bool {
    NAME.eq_ignore_ascii_case(called.trim())
}

/// Returns the tool that the arguments stand for.
pub(crate) fn meant(fields: &Map<String, Value>) -> ToolName {
    let has = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    match (has("artifact_id") || has("path"), search(fields)) {
        (false, _) => ToolName::CommandOutput,
        (true, Some(_)) => ToolName::SearchFiles,
        (true, None) => ToolName::ReadFile,
    }
}

/// Names what is read or searched as the tool that is meant has it.
///
/// # Errors
/// When the call counts bytes: the tools here count lines.
pub(crate) fn output(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
    ignored: &mut Vec<String>,
) -> Result<(), CallError> {
    if of.tool == ToolName::CommandOutput {
        return Ok(());
    }
    if let Some(id) = fields.remove("artifact_id") {
        let id = id.as_str().map_or_else(|| id.to_string(), |text| text.trim().to_owned());
        let is_path = id.starts_with(OUTPUT_SCHEME);
        let path = if is_path { id } else { format!("{OUTPUT_SCHEME}{id}") };
        fields.insert("path".to_owned(), path.into());
    }
    let search = search(fields).map(|search| format!("(?i){search}"));
    fields.remove("search");
    for name in ["offset", "limit"] {
        let Some(value) = fields.remove(name) else { continue };
        if name == "offset" && search.is_none() && number(&value) != Some(0) {
            return Err(CallError(format!(
                "`offset` of `{NAME}` counts bytes, and lines are counted here: call `read_file` \
                 with the path `{OUTPUT_SCHEME}` and its number, and with `offset` and `limit` in \
                 lines."
            )));
        }
        ignored.push(name.to_owned());
    }
    if let Some(search) = search {
        fields.insert("regex".to_owned(), search.into());
    }
    Ok(())
}

fn search(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("search")?.as_str().filter(|text| !text.trim().is_empty())
}
