//! The checks of a repository, read from the trusted ref.
//!
//! In: files of a commit. Out: the checks by name, or every mistake in their files.

use crate::run::error::RunError;
use crate::run::source::FileSource;
use crate::run::unknown_mode::unknown_mode;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields;
use locum_modes::ModeSet;
use locum_modes::prompts::checks::{self, Check};

/// Most checks of one event that a model makes.
pub const CHECKS_LIMIT: usize = 20;

/// Reads every check of a repository.
///
/// # Errors
/// As [`FileSource::texts`]; also every mistake of every file.
pub fn read_all(source: &FileSource<'_>) -> Result<Vec<Check>, RunError> {
    let texts = source.texts(checks::FOLDERS, &checks::is_check_file)?;
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    for file in checks::read_all(&texts) {
        for warning in &file.warnings {
            tracing::warn!(file = file.origin, %warning, "part of a check has no effect");
        }
        match file.check {
            Ok(check) => found.push(check),
            Err(wrong) => {
                mistakes.extend(wrong.into_iter().map(|mistake| mistake.in_file(&file.origin)));
            }
        }
    }
    if mistakes.is_empty() { Ok(found) } else { Err(mistakes.into_iter().collect()) }
}

/// Says which checks name a mode that does not exist.
pub fn unknown_modes<'c>(
    checks: impl IntoIterator<Item = &'c Check>,
    modes: &ModeSet,
) -> Vec<Diagnostic> {
    let mistake = |check: &Check| {
        let own = check.mode.as_deref().filter(|own| modes.find(own).is_none())?;
        Some(unknown_mode(&check.origin, own, (modes, &[])))
    };
    checks.into_iter().filter_map(mistake).collect()
}

/// Returns a check by its name.
///
/// # Errors
/// When there is none of that name.
pub fn find<'c>(known: &'c [Check], name: &str) -> Result<&'c Check, RunError> {
    known.iter().find(|check| check.slug == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|check| check.slug.as_str()).collect();
        let error = RunError::usage("check", format!("there is no check `{name}`"));
        match fields::nearest(name, &names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if names.is_empty() => {
                error.hint(format!("checks are read from {}", checks::FOLDERS.join(", ")))
            }
            None => error.hint(format!("known: {}", names.join(", "))),
        }
    })
}
