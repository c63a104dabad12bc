//! `locum man`: the manual page of the program on stdout, or the pages of every command in a
//! folder.

use std::path::Path;

use crate::cli::command_line::command;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;

/// Writes the pages.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn run(
    dir: Option<&Path>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let Some(dir) = dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command()).render(&mut page).map_err(RunError::internal)?;
        output.raw(&page);
        return Ok(ExitStatus::Done);
    };
    let folder = context.folder.join(dir);
    let wrong = |error: std::io::Error| {
        RunError::usage("--dir", format!("`{}`: {error}", dir.display()))
            .hint("name a folder that may be written, such as `~/.local/share/man/man1`")
    };
    std::fs::create_dir_all(&folder).map_err(wrong)?;
    clap_mangen::generate_to(command(), &folder).map_err(wrong)?;
    output.line(format!("wrote the pages of all commands to {}", dir.display()));
    Ok(ExitStatus::Done)
}
