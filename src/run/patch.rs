//! The changes of a run as a patch, beside its journal.

#![expect(clippy::disallowed_methods, reason = "writes the patch beside the journal")]

use std::path::{Path, PathBuf};

use locum_agent::report::figures;
use locum_agent::session::outcome::Outcome;
use locum_base::secret::Redactor;
use locum_forge::sanitise;

/// Writes the changes of a run as a patch into its folder; `None` when there are none, or one holds
/// a secret.
///
/// # Errors
/// When the file cannot be written.
pub fn write(
    folder: &Path,
    outcome: &Outcome,
    redactor: &Redactor,
) -> Result<Option<PathBuf>, String> {
    let patch = figures::diff(&outcome.changes);
    let withheld = outcome.changes.iter().any(|change| change.withheld);
    if patch.is_empty() || withheld || sanitise::patch(&patch, redactor).is_err() {
        return Ok(None);
    }
    let file = folder.join("changes.patch");
    let failed = |error: std::io::Error| format!("`{}`: {error}", file.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    std::fs::write(&file, patch).map_err(failed)?;
    Ok(Some(file))
}
