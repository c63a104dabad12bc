//! Parameters that a tool does not have. They are ignored, and the answer says so, except the few
//! that are decisive: a call that gives one of those asks for another effect than the tool would
//! have without it.
//!
//! In: the decisive ones of a tool, and a parameter as written. Out: whether it may be ignored,
//! what to write instead where it may not, and the note for the answer.

use serde_json::Value;

use crate::tools::aliases::decisive::{DecisiveLists, DecisiveParameters};
use locum_base::text::{code_list, head};
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// Most names in a note.
const NAMES_LIMIT: usize = 8;

/// Longest name in a note, in bytes.
const NAME_LIMIT_BYTES: usize = 40;

/// Returns what to write instead of a parameter that is not known and may not be ignored.
pub(crate) fn instead_of(
    decisive: DecisiveLists,
    name: &str,
    value: &Value,
) -> Option<&'static str> {
    let name = plain(name);
    let is_of =
        |row: &&DecisiveParameters| row.names.split_whitespace().any(|one| plain(one) == name);
    let row = decisive.iter().copied().flatten().find(is_of)?;
    let text = match value {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let is_redundant = row.redundant.split_whitespace().any(|one| one == text);
    let asks_for_nothing = if text == "false" { !row.is_off_decisive } else { is_nothing(value) };
    (!is_redundant && !asks_for_nothing).then_some(row.instead)
}

/// Says which arguments were ignored, and which parameters there are; nothing for none.
pub(crate) fn note(tool: ToolName, ignored: &[String], known: &[&str]) -> String {
    if ignored.is_empty() {
        return String::new();
    }
    let shown = |name: &String| head(&name.escape_debug().to_string(), NAME_LIMIT_BYTES).to_owned();
    let names: Vec<String> = ignored.iter().take(NAMES_LIMIT).map(shown).collect();
    let more = match ignored.len().saturating_sub(NAMES_LIMIT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let near = match names.as_slice() {
        [one] => nearest(one, known).map(|near| format!(" Did you mean `{near}`?")),
        _ => None,
    };
    format!(
        "\n\n(Ignored: {}{more}. `{tool}` takes {}.{})",
        code_list(&names),
        code_list(known),
        near.unwrap_or_default()
    )
}

/// Whether a value says nothing.
pub(crate) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns a name as it is compared: `dryRun`, `dry-run` and `dry_run` are one.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| !"_-".contains(*letter)).flat_map(char::to_lowercase).collect()
}
