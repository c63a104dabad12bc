//! `locum session`: what ran before, from its journals. `resume` and the decisions are files of
//! their own, beside this folder.

pub mod args;
pub(in crate::cli) mod checkpoints;
pub(in crate::cli) mod folder;
mod list;
mod prune;
mod show;
mod transfer;

use crate::cli::output::Output;
use crate::cli::session::args::SessionCommand;
use crate::cli::{CommandContext, ExitStatus, decide, resume};
use crate::run::error::RunError;

/// Runs the subcommand.
///
/// # Errors
/// When the session does not exist or its journal cannot be read.
pub fn run(
    command: &SessionCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        SessionCommand::List(args) => list::run(args, context, output),
        SessionCommand::Show(args) => show::run(args, context, output),
        SessionCommand::Checkpoints(args) => checkpoints::list(args, context, output),
        SessionCommand::Diff(args) => checkpoints::diff(args, context, output),
        SessionCommand::Restore(args) => checkpoints::restore(args, context, output),
        SessionCommand::Resume(args) => resume::run(args, context, output),
        SessionCommand::Approve(args) => decide::approve(args, context, output),
        SessionCommand::Deny(args) => decide::deny(args, context, output),
        SessionCommand::Answer(args) => decide::answer(args, context, output),
        SessionCommand::Send(args) => decide::send(args, context, output),
        SessionCommand::Export(args) => transfer::write(args, context, output),
        SessionCommand::Import(args) => transfer::read(args, context, output),
        SessionCommand::Prune(args) => prune::run(args, context, output),
    }
}
