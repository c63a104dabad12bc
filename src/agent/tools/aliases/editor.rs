//! `str_replace_editor` and `str_replace_based_edit_tool`: one tool whose `command` says whether a
//! file is viewed, created or changed.
//!
//! In: the arguments as written. Out: which tool is meant, and its arguments without the command.

use serde_json::{Map, Value};

use crate::tools::CallError;
use locum_base::tool::ToolName;

const NAMES: [&str; 2] = ["str_replace_editor", "str_replace_based_edit_tool"];

/// Whether a call is one of this tool.
pub(crate) fn is_editor(called: &str) -> bool {
    NAMES.iter().any(|name| name.eq_ignore_ascii_case(called.trim()))
}

/// Returns the tool that the command stands for; that of changes where there is no such command.
pub(crate) fn meant(fields: &Map<String, Value>) -> ToolName {
    match fields.get("command").and_then(Value::as_str) {
        Some("view") => ToolName::ReadFile,
        Some("create") => ToolName::WriteToFile,
        Some("insert") => ToolName::InsertContent,
        Some(_) | None => ToolName::ApplyDiff,
    }
}

/// Takes the command out, and makes arguments of it that say the same.
pub(crate) fn command(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let command = fields.remove("command");
    match command.as_ref().and_then(Value::as_str) {
        Some("view" | "create") => {}
        Some("str_replace") => {
            fields.entry("new_str").or_insert_with(|| Value::String(String::new()));
        }
        Some("insert") if fields.contains_key("insert_line") => {}
        Some("insert") => {
            return Err(CallError("`insert` needs `insert_line`, a line to follow.".to_owned()));
        }
        Some("undo_edit") => {
            return Err(CallError(
                "`undo_edit` has no counterpart here: change the file back with an edit."
                    .to_owned(),
            ));
        }
        Some(_) | None => {
            return Err(CallError(
                "`command` must be `view`, `create`, `str_replace` or `insert`.".to_owned(),
            ));
        }
    }
    Ok(())
}
