//! `locum job`.

use crate::cli::args::JobArgs;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::{Context, ExitStatus};

/// Runs the subcommand.
///
/// # Errors
/// When it could not do its work.
pub fn run(args: &JobArgs, context: &Context, _output: &mut Output) -> Result<ExitStatus, Failure> {
    Err(Failure::internal(format!("`locum job` is not wired yet: {args:?} in `{}`", context.folder.display())))
}
