//! The hooks of a repository's settings for Claude Code, read where everything else is that judges a
//! run.
//!
//! In: the files of a commit, or of the working tree. Out: hooks and what has no effect, or every
//! mistake. Nothing is run.

use crate::run::error::RunError;
use crate::run::source::FileSource;
use locum_agent::tools::hooks::{HOOKS_FILE, HookFile};

/// Reads the hooks; none where there is no such file.
///
/// # Errors
/// Every mistake of the file.
pub fn read(source: &FileSource<'_>) -> Result<HookFile, RunError> {
    let Some(file) = source.file(HOOKS_FILE)? else { return Ok(HookFile::default()) };
    let read = HookFile::parse(&file.origin, &file.text);
    if read.mistakes.is_empty() {
        Ok(read)
    } else {
        Err(RunError::file(&file.origin, read.mistakes))
    }
}
