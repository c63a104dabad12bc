//! `locum session resume`: goes on with a session that was killed or that a person has decided on,
//! from its journal alone.

use crate::cli::args::SessionResumeArgs;
use crate::cli::failure::Failure;
use crate::cli::launch::{self, Launch, Live, Ready, Show};
use crate::cli::output::Output;
use crate::cli::place::{named_file, user_file};
use crate::cli::session::{find, sessions_folder};
use crate::cli::{Context, ExitStatus};
use crate::run::execute::Beginning;
use crate::run::prepare::{self, NamedFile};
use crate::run::trusted::Trusted;
use locum_agent::session::event::{Event, SessionStart};
use locum_agent::session::journal::Journal;
use locum_workspace::Workspace;

/// Runs the subcommand.
///
/// # Errors
/// When there is no such session, or it cannot be prepared as it was.
pub fn run(
    args: &SessionResumeArgs,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let lines = Journal::read(&folder).map_err(|error| Failure::usage("ID", error.to_string()))?;
    let start = lines.iter().find_map(|line| {
        if let Event::Started(start) = &line.event { Some(start.as_ref()) } else { None }
    });
    let start = start.ok_or_else(|| {
        Failure::usage("ID", "the session was killed before it began")
            .hint("start it anew with `locum run`")
    })?;
    let launch: Launch = serde_json::from_value(start.caller.clone()).map_err(|error| {
        Failure::usage("ID", format!("the session was not started at the command line: {error}"))
    })?;
    let workspace = launch::open(&launch.folder)?;
    let prepared = launch::prepare(&launch, start.id.clone(), &workspace, context)?;
    check_policy(start, &prepared.plan.policy.hash)?;
    check_policy(start, &hash_now(&launch, &workspace, context)?)?;
    let show = Show {
        format: args.output_format,
        live: if context.global.quiet { Live::Off } else { Live::Beside },
    };
    let ready = Ready {
        launch: &launch,
        prepared: &prepared,
        workspace: &workspace,
        folder: &folder,
        beginning: Beginning::Resumed,
        show,
    };
    let ended = launch::carry_out(ready, context, output)?;
    Ok(launch::show_end(&ended, show, output))
}

/// Returns the hash of the policy that would judge the same run if it were started now.
fn hash_now(launch: &Launch, workspace: &Workspace, context: &Context) -> Result<String, Failure> {
    let named = match &launch.policy {
        // A file that is gone says nothing new.
        Some(file) => Some(named_file(&context.folder.join(&file.name))?.map_or_else(
            || file.clone(),
            |now| NamedFile { name: file.name.clone(), text: now.text },
        )),
        None => None,
    };
    let commit = launch::base(workspace, launch.base_revision.as_deref())?;
    let trusted = Trusted { repo: &workspace.repo, commit: &commit };
    let user = user_file(&context.environment, "config.yml")?;
    let settings = prepare::settings(user.as_ref(), trusted, &context.environment, &launch.flags)?;
    let (policy, _) = prepare::policy(named.as_ref(), &settings, trusted)?;
    Ok(policy.hash().to_owned())
}

/// A session is judged by one policy from its beginning to its end.
fn check_policy(start: &SessionStart, hash: &str) -> Result<(), Failure> {
    if start.policy_hash == hash {
        return Ok(());
    }
    Err(Failure::usage(
        "ID",
        format!("the session was judged by policy {}, now there is {hash}", start.policy_hash),
    )
    .hint("the policy or an ignore file is another one than at its start: start the task anew"))
}
