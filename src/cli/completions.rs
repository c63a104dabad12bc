//! `locum completions SHELL`: a script for a shell that asks the program what to complete.
//!
//! The script calls `locum` with a variable set; the program then answers with candidates and does
//! nothing else. So a new mode, job or session is offered at once, and a new version needs no new
//! script.

use std::ffi::OsString;

use clap_complete::CompleteEnv;
use clap_complete::env::Shells;

use crate::cli::ExitStatus;
use crate::cli::command_line::command;
use crate::cli::output::Output;
use crate::run::error::RunError;

/// Variable that a script sets to the name of its shell.
const VARIABLE: &str = "LOCUM_COMPLETE";

/// Writes the completion script of a shell.
///
/// # Errors
/// When there is no script for it.
pub fn run(shell: clap_complete::Shell, output: &mut Output) -> Result<ExitStatus, RunError> {
    let shells = Shells::builtins();
    let completer = shells
        .completer(&shell.to_string())
        .ok_or_else(|| RunError::usage("SHELL", format!("nothing completes in `{shell}`")))?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "locum", "locum", "locum", &mut script)
        .map_err(RunError::internal)?;
    output.raw(&script);
    Ok(ExitStatus::Done)
}

/// Answers a shell that asks what to complete; returns false where none asks.
pub(super) fn answer(arguments: impl Iterator<Item = OsString>) -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .bin("locum")
        .completer("locum")
        .try_complete(arguments, folder.as_deref())
}
