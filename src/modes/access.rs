//! Which tool a mode may use on which file.

use crate::base::path::RepoPath;
use crate::base::tool::ToolName;
use crate::modes::Mode;

/// A `fileRegex`: JavaScript regex semantics, searched unanchored in the normalised path, bounded in time.
#[derive(Clone, Debug)]
pub struct FileRegex {
    source: String,
}

impl PartialEq for FileRegex {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}
impl Eq for FileRegex {}

/// A file a mode may not edit. The message names mode, pattern, description and path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool '{tool}' in mode '{mode}' can only edit files matching pattern: {pattern}{}. Got: {path}", description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct FileRestrictionError {
    /// The tool.
    pub tool: String,
    /// The mode's name for people.
    pub mode: String,
    /// The pattern.
    pub pattern: String,
    /// What the pattern means.
    pub description: Option<String>,
    /// The path asked for.
    pub path: String,
}

/// Returns the tools of a mode.
#[must_use]
pub fn tools_of(_mode: &Mode) -> Vec<ToolName> {
    todo!()
}

/// Asks whether a mode may edit a path with a tool it has.
///
/// # Errors
/// When the mode's edit group is restricted to other files.
pub fn check_edit(_mode: &Mode, _tool: ToolName, _path: &RepoPath) -> Result<(), FileRestrictionError> {
    todo!()
}
