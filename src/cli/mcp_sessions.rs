//! Sessions that a client of `locum mcp serve` may see: those of the repository that is served, and
//! none of the other repositories of this machine.

use std::path::PathBuf;

use serde_json::Value;

use crate::cli::CommandContext;
use crate::cli::inspected::InspectedRepository;
use crate::cli::session::folder::{find, sessions_folder};
use crate::run::error::RunError;
use crate::run::session_record::SessionRecord;

/// Most sessions that one answer lists.
const LISTED: usize = 20;

/// Sessions that are looked at for them, the newest first: the arguments of `locum session list`.
pub(super) const LOOKED_AT: &str = "--limit=1000";

/// Returns those of a list of sessions that are of this repository.
pub(super) fn of_repository(listed: &str, context: &CommandContext) -> Option<String> {
    let root = root(context)?;
    let Ok(Value::Array(mut rows)) = serde_json::from_str(listed) else { return None };
    rows.retain(|row| row.get("repository").and_then(Value::as_str) == root.to_str());
    rows.truncate(LISTED);
    serde_json::to_string_pretty(&rows).ok()
}

/// Holds a client to sessions of this repository.
///
/// # Errors
/// When there is no session of that name here.
pub(super) fn hold_to_repository(name: &str, context: &CommandContext) -> Result<(), RunError> {
    let sessions = sessions_folder(context, None)?;
    let folder = find(&sessions, name)?;
    let full = folder.file_name().unwrap_or_default().display().to_string();
    let record = SessionRecord::read(&sessions, &full);
    if record
        .repository()
        .is_some_and(|at| root(context).is_some_and(|root| root.to_str() == Some(at)))
    {
        return Ok(());
    }
    Err(RunError::usage("ID", format!("there is no session `{name}` of this repository"))
        .hint("`session_list` shows those there are"))
}

fn root(context: &CommandContext) -> Option<PathBuf> {
    let root = InspectedRepository::open(context, None).ok()?.root().to_owned();
    root.canonicalize().ok()
}
