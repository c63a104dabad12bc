//! `locum session resume`: resumes a session that was killed or has been decided on, from its
//! journal alone.

use crate::cli::local_run::{self, LiveOutput, LocalRun, LocalSession, RunDisplay};
use crate::cli::output::Output;
use crate::cli::session_args::SessionResumeArgs;
use crate::cli::session_folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use crate::run::execution::SessionOrigin;
use crate::run::run_request::Overrides;
use crate::run::user::named_file;
use locum_agent::session::event::{Event, SessionStart};
use locum_agent::session::journal::Journal;
use locum_workspace::Workspace;

/// Runs the subcommand.
///
/// # Errors
/// When the session does not exist, or cannot be prepared as it was.
pub fn run(
    args: &SessionResumeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let lines = Journal::read(&folder).map_err(|error| RunError::usage("ID", error.to_string()))?;
    let start = lines.iter().find_map(|line| {
        if let Event::Started(start) = &line.event { Some(start.as_ref()) } else { None }
    });
    let start = start.ok_or_else(|| {
        RunError::usage("ID", "the session was killed before it began")
            .hint("start it again with `locum run`")
    })?;
    let local: LocalRun = serde_json::from_value(start.caller.clone()).map_err(|error| {
        RunError::usage("ID", format!("the session was not started at the command line: {error}"))
    })?;
    let workspace = local_run::open(&local.folder)?;
    let lock = local_run::lock(&workspace, args.wait.into(), output)?;
    let _lock = lock.named(Some(start.id.as_str())).map_err(RunError::internal)?;
    let run = local_run::prepare(&local.request, &workspace, context)?;
    check_policy(start, &run.plan.policy.hash)?;
    check_policy(start, &hash_now(&local, &workspace, context)?)?;
    let show = RunDisplay {
        format: args.output_format,
        live: if context.global.quiet { LiveOutput::Off } else { LiveOutput::Beside },
    };
    let session = LocalSession {
        local: &local,
        run: &run,
        workspace: &workspace,
        folder: &folder,
        beginning: SessionOrigin::Resumed,
        show,
    };
    let ended = local_run::carry_out(session, context, output)?;
    let status = local_run::show_end(&ended, show, output);
    local_run::leave_worktree(&local, &ended.outcome, show, output)?;
    Ok(status)
}

/// Returns the hash of the policy that would judge the same run if it were started now.
fn hash_now(
    local: &LocalRun,
    workspace: &Workspace,
    context: &CommandContext,
) -> Result<String, RunError> {
    let given = &local.request.overrides;
    let policy = match &given.policy {
        // A file that is gone counts as unchanged.
        Some(file) => Some(named_file(&context.folder.join(&file.origin))?.map_or_else(
            || file.clone(),
            |now| ConfigFile { origin: file.origin.clone(), text: now.text },
        )),
        None => None,
    };
    let commit = local_run::base(workspace, local.base_revision.as_deref())?;
    let overrides = Overrides { policy, ..given.clone() };
    let config = local_run::config(workspace, commit, &overrides, context)?;
    Ok(config.policy.hash().to_owned())
}

/// A session is judged by one policy from its beginning to its end.
fn check_policy(start: &SessionStart, hash: &str) -> Result<(), RunError> {
    if start.policy_hash == hash {
        return Ok(());
    }
    Err(RunError::usage(
        "ID",
        format!("the session ran under policy {}, but the policy is now {hash}", start.policy_hash),
    )
    .hint(
        "the policy or an ignore file has changed since the session started: start the task again",
    ))
}
