//! `locum completions SHELL`: a completion script on stdout.

use clap::CommandFactory;

use crate::cli::ExitStatus;
use crate::cli::args::Cli;
use crate::cli::output::Output;
use crate::run::error::RunError;

/// Writes the completion script of a shell.
///
/// # Errors
/// Never; the shape is that of every subcommand.
pub fn run(shell: clap_complete::Shell, output: &mut Output) -> Result<ExitStatus, RunError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "locum", &mut script);
    output.raw(&script);
    Ok(ExitStatus::Done)
}
