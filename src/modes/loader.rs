//! Reads mode files: `.locum/modes.yml` and `.roomodes` (YAML or JSON). All mistakes of a file at once; one bad entry and the
//! whole file contributes nothing.

use crate::modes::{Mode, ModeSource};

/// Every mistake found in a mode file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))]
pub struct ModeErrors(pub Vec<ModeError>);

/// One mistake in a mode file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("modes `{origin}`:{line}:{column}: {message}")]
pub struct ModeError {
    /// The file.
    pub origin: String,
    /// Its line, counted from 1; 0 when the whole file is meant.
    pub line: u32,
    /// Its column, counted from 1.
    pub column: u32,
    /// Where in the file's data: `customModes.0.groups`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Reads a mode file's text.
///
/// # Errors
/// Every mistake at once.
pub fn parse(_text: &str, _source: &ModeSource) -> Result<Vec<Mode>, ModeErrors> {
    todo!()
}
