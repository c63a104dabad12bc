//! `locum man`: the manual page of the program on stdout, or the pages of every command in a
//! folder.

use std::path::Path;

use crate::cli::command_line::command;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;

/// What pages say they are of.
const PROGRAM: &str = concat!("locum ", env!("CARGO_PKG_VERSION"));

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
    let mut whole = command().disable_help_subcommand(true);
    whole.build();
    write_pages(&whole, &folder).map_err(wrong)?;
    output.line(format!("wrote the pages of all commands to {}", dir.display()));
    Ok(ExitStatus::Done)
}

/// Writes the page of a command and those of the commands below it. Each says which program it is
/// of: by itself, clap names the last word of the command.
fn write_pages(command: &clap::Command, folder: &Path) -> std::io::Result<()> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    for below in below {
        write_pages(below, folder)?;
    }
    let page = clap_mangen::Man::new(command.clone()).source(PROGRAM);
    page.generate_to(folder).map(|_| ())
}
