//! `locum session resume`: resumes a session that was killed or stopped, or has been decided on,
//! from its journal alone.
//!
//! The user at the command line may raise every limit, also those of the policy's `budget`: a
//! person looks at what the run did so far and decides that it is worth more. In Actions nobody
//! looks, so the policy's limits hold there.

use crate::cli::live_run::{LiveOutput, RunDisplay};
use crate::cli::local_run::{self, LocalRun, LocalSession};
use crate::cli::output::Output;
use crate::cli::recorded_run::{checkout, lines_of, local_of, located, overrides_now};
use crate::cli::session::args::SessionResumeArgs;
use crate::cli::session::checkpoints::{RecordedSession, refused as not_rewound};
use crate::cli::session::folder::{believed_sessions_folder, find};
use crate::cli::{CommandContext, ExitStatus, decide, given_images, own_worktree};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::execution::SessionOrigin;
use locum_agent::report::resume as report_resume;
use locum_agent::report::waiting::WAITING_LIMIT;
use locum_agent::session::event::{Event, SessionStart};
use locum_agent::session::go_on::{self, GoOnError, GoOnRequest};
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::PendingDecision;
use locum_agent::session::rewind::{self, without_content};
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_policy::budget::raise::NewLimits;
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
    let mut folder =
        find(&believed_sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    if args.from == Some(0) {
        return Err(RunError::usage("--from", "checkpoints are counted from 1")
            .hint("start the task again with `locum run`"));
    }
    let lines = lines_of(&folder)?;
    let start = lines.iter().find_map(|line| {
        if let Event::Started(start) = &line.event { Some(start.as_ref()) } else { None }
    });
    let start = start.ok_or_else(|| {
        RunError::usage("ID", "the session was killed before it began")
            .hint("start it again with `locum run`")
    })?;
    if Journal::is_held(&folder) && !args.wait {
        return Err(RunError::usage("ID", format!("session {} is at work", start.id)).hint(
            "wait until it has ended (`--wait`), or stop it where it runs (Ctrl-C, SIGTERM)",
        ));
    }
    let limits = args.limits.limits()?;
    let mut local = located(local_of(start)?, &start.base, context)?;
    let workspace = checkout(&local, &folder)?;
    // Its own worktree may have been moved with the folder of sessions.
    local.folder = workspace.checkout.root().to_owned();
    let lock = local_run::lock(&workspace, args.wait.into(), output)?;
    let _lock = lock.named(Some(start.id.as_str())).map_err(RunError::internal)?;
    let mut run = local_run::prepare(&local.request, &workspace, context)?;
    check_policy(start, &run.plan.policy.hash)?;
    check_policy(start, &hash_now(&local, &workspace, context)?)?;
    // It may have been at work until now.
    let past = lines_of(&folder)?;
    let past = match args.from {
        Some(number) => rewind::until(&past, number).map_err(not_rewound)?,
        None => past,
    };
    let state = SessionState::of(&past);
    let words = args.words.clone().filter(|words| !words.trim().is_empty());
    let images = given_images::of_message(&args.image, context, |bytes| run.image(bytes))?;
    if words.is_none() && !images.is_empty() {
        return Err(RunError::usage("--image", "an image belongs to words")
            .hint("say what it shows: `locum session resume ID \"TEXT\" --image FILE`"));
    }
    if !images.is_empty() && !run.sees_images() {
        output.talk("note: the model is not known to read images; it reads that there are some");
    }
    let goes_on = limits != NewLimits::default() || words.is_some() || needs_nothing(&state);
    let in_actions = context.environment.get("GITHUB_ACTIONS") == Some("true");
    let most = in_actions.then_some(run.policy.settings().budget);
    let request = GoOnRequest { by: decide::person(context), limits, most, words, images };
    let not_granted = |error| refused(&error, start, &state);
    run.plan.budget = match goes_on {
        true => go_on::budget_of(&state, &request).map_err(not_granted)?,
        false => state.spending().0,
    };
    // Nothing has been changed so far, and nothing stands in the way any more.
    if let Some(number) = args.from {
        let session = RecordedSession::open(&args.id, args.session_dir.as_deref(), context)?;
        let rewound = session.go_back_in(&workspace, number, context)?;
        if !rewound.unfiltered.is_empty() {
            output.talk(format_args!("note: {}", without_content(&rewound.unfiltered)));
        }
        let branched = session.branch(number, context)?;
        output.talk(format_args!("note: session {branched} goes on from checkpoint {number}"));
        folder = folder.with_file_name(branched.as_str());
    }
    if goes_on {
        let now = SystemClock::start().now();
        go_on::go_on(&folder, request, now).map_err(not_granted)?;
    }
    let show = RunDisplay {
        format: args.output_format.or_json(args.json),
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
    own_worktree::leave(&local, &ended.outcome, show, output)?;
    Ok(status)
}

/// Returns whether a session was stopped by something that no limit of its budget is: it goes on
/// as it is.
fn needs_nothing(state: &SessionState) -> bool {
    let outcome = state.outcome.as_ref();
    outcome.is_some_and(|outcome| outcome.was_stopped() && outcome.exhausted.is_none())
}

fn refused(error: &GoOnError, start: &SessionStart, state: &SessionState) -> RunError {
    match error {
        GoOnError::Journal(error) => RunError::internal(error.to_string()),
        GoOnError::NotStopped(_) => RunError::usage("ID", error.to_string())
            .hint("say what it is to do besides: `locum session resume ID \"TEXT\"`"),
        GoOnError::Undecided(_) => {
            RunError::usage("ID", error.to_string()).hint(decide_first(state, &start.id))
        }
        GoOnError::Length => RunError::usage("TEXT", error.to_string()),
        GoOnError::UsedUp(exhausted) => RunError::usage("ID", error.to_string())
            .hint(format!("add to it: `{}`", report_resume::command(&start.id, Some(exhausted)))),
        GoOnError::AbovePolicy(_) => RunError::usage("ID", error.to_string())
            .hint("in Actions the policy's `budget` holds; raise it there"),
    }
}

/// Says how a person decides on what a session waits for, so that it resumes.
fn decide_first(state: &SessionState, session: &SessionId) -> String {
    let pending = state.outcome.iter().flat_map(|outcome| outcome.pending());
    let command = |pending: PendingDecision| match pending {
        PendingDecision::Hold(held) => {
            let id = &held.id;
            format!("`locum session approve {session} {id}` or `locum session deny {session} {id}`")
        }
        PendingDecision::Question(asked) => {
            format!("`locum session answer {session} {} TEXT`", asked.id)
        }
    };
    let commands: Vec<String> = pending.take(WAITING_LIMIT).map(command).collect();
    format!("decide first: {}; then resume it with what you want besides", commands.join(", "))
}

/// Returns the hash of the policy that would judge the same run if it were started now.
fn hash_now(
    local: &LocalRun,
    workspace: &Workspace,
    context: &CommandContext,
) -> Result<String, RunError> {
    let overrides = overrides_now(local, context)?;
    let commit = local_run::base(workspace, local.base_revision.as_deref())?;
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
