//! `locum config show`: every setting with where it came from.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::settings::SettingRow;
use crate::run::error::RunError;

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of every layer of settings.
pub fn show(
    args: &InspectArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let settings = InspectedRepository::open(context, args.at.as_deref())?.settings()?;
    let rows = settings.rows();
    if args.json {
        let object: BTreeMap<&str, serde_json::Value> = rows
            .iter()
            .map(|row| (row.key.as_str(), json!({ "value": row.value, "source": row.source.as_ref().map(ToString::to_string) })))
            .collect();
        output.json(&object);
    } else {
        let cells = |row: &SettingRow| [row.key.clone(), value(row), source(row)];
        output.table(["SETTING", "VALUE", "FROM"], rows.iter().map(cells));
    }
    Ok(ExitStatus::Done)
}

fn value(row: &SettingRow) -> String {
    match &row.value {
        serde_json::Value::Null => "-".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(words) => {
            words.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Where it came from; for settings that are not set, what they are for.
fn source(row: &SettingRow) -> String {
    row.source.as_ref().map_or_else(|| format!("not set ({})", row.meaning), ToString::to_string)
}
