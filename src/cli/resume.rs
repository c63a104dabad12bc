//! `locum session resume`: goes on with a session that was killed.

use crate::cli::args::SessionResumeArgs;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::session::{find, sessions_folder};
use crate::cli::{Context, ExitStatus};

/// Runs the subcommand.
///
/// # Errors
/// When there is no such session or it cannot go on.
pub fn run(args: &SessionResumeArgs, context: &Context, _output: &mut Output) -> Result<ExitStatus, Failure> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    Err(Failure::internal(format!("`locum session resume` is not wired yet: `{}`", folder.display())))
}
