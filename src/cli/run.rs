//! `locum run`: a task in the checkout, asked by the user at the command line.

use std::io::Read;
use std::path::Path;

use crate::cli::given_images;
use crate::cli::live_run::{LiveOutput, RunDisplay};
use crate::cli::local_run::{self, LocalRun, LocalSession};
use crate::cli::output::Output;
use crate::cli::run_args::{OutputFormat, RunArgs, RunOptions};
use crate::cli::{CommandContext, ExitStatus, own_worktree};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::SessionOrigin;
use crate::run::kept_folder::check_outside;
use crate::run::run_request::RunRequest;
use crate::run::sarif;
use crate::run::trusted::POLICY_FILE;
use crate::run::uncommitted;
use locum_agent::report::sarif::SarifRun;
use locum_workspace::Workspace;
use locum_workspace::run_lock::RunLock;

/// Longest task read from standard input, in bytes.
const TASK_LIMIT_BYTES: u64 = 256 * 1024;

/// Runs the subcommand.
///
/// # Errors
/// When something on the way is not as it must be.
pub fn run(
    args: &RunArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let task = task(args)?;
    let workspace = local_run::open(&context.folder)?;
    let lock = locked(&workspace, &args.options, output)?;
    let base = local_run::base(&workspace, args.base.as_deref())?;
    let named = args.base.is_some().then_some(&base);
    let review_base = Some(local_run::review_base(&workspace, named, &args.options)?);
    let local = LocalRun {
        folder: workspace.checkout.root().to_owned(),
        stands_for: None,
        base_revision: args.base.clone(),
        postings: None,
        request: RunRequest {
            overrides: local_run::overrides(args.settings(), &args.options, context)?,
            purpose: args.options.purpose(),
            review_base,
            ..RunRequest::new(task, base)
        },
    };
    start(local, &args.options, lock, context, output)
}

/// Locks the checkout, unless the plan is only printed or the run has a worktree of its own.
///
/// # Errors
/// When another run works in it.
pub fn locked(
    workspace: &Workspace,
    options: &RunOptions,
    output: &mut Output,
) -> Result<Option<RunLock>, RunError> {
    let waiting = options.wait.into();
    (!options.dry_run && !options.worktree)
        .then(|| local_run::lock(workspace, waiting, output))
        .transpose()
}

/// Prepares a run, then shows its plan or carries it out.
///
/// # Errors
/// When something on the way is not as it must be.
pub fn start(
    mut local: LocalRun,
    options: &RunOptions,
    lock: Option<RunLock>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let sarif = options.sarif.as_ref().map(|path| context.folder.join(path));
    if let Some(folder) = sarif.as_deref().and_then(Path::parent).filter(|one| !one.is_dir()) {
        let message = format!("there is no folder `{}`", folder.display());
        return Err(RunError::usage("--sarif", message).hint("make it first"));
    }
    let mut workspace = local_run::open(&local.folder)?;
    let mut run = local_run::prepare(&local.request, &workspace, context)?;
    let mut extras = given_images::extras(&mut run, &options.image, context)?;
    let own = run.settings.values.policy.as_deref().unwrap_or(POLICY_FILE);
    let policy = options.policy.is_none().then_some(own);
    let trusted = &local.request.trusted;
    let different = uncommitted::uncommitted(&workspace.repo, trusted, policy);
    if let Some(note) = uncommitted::note(&different, trusted) {
        output.talk(format_args!("note: {note}"));
    }
    if options.dry_run {
        match options.format() {
            OutputFormat::Text => output.line(run.plan.to_string().trim_end()),
            OutputFormat::Json | OutputFormat::StreamJson => output.json(&run.plan),
        }
        return Ok(ExitStatus::Done);
    }
    let sessions = context.folder.join(run.settings.session_folder()?);
    check_outside("session_dir", &sessions, workspace.checkout.root())?;
    if options.worktree {
        let worktree = own_worktree::make(&workspace, &local.request, &sessions)?;
        local.stands_for = Some(std::mem::replace(&mut local.folder, worktree));
        workspace = local_run::open(&local.folder)?;
        run = local_run::prepare(&local.request, &workspace, context)?;
        extras = given_images::extras(&mut run, &options.image, context)?;
    }
    let session = run.plan.session.as_str();
    let _lock =
        lock.map(|lock| lock.named(Some(session))).transpose().map_err(RunError::internal)?;
    for note in &run.plan.notes {
        output.talk(format_args!("note: {note}"));
    }
    let folder = execute::folder_of(&sessions, &run.plan.session);
    local.postings = local_run::postings(options, &run, &folder, context);
    let show = RunDisplay {
        format: options.format(),
        live: if context.global.quiet { LiveOutput::Off } else { LiveOutput::Beside },
    };
    let session = LocalSession {
        local: &local,
        run: &run,
        workspace: &workspace,
        folder: &folder,
        beginning: SessionOrigin::Fresh(&extras),
        show,
    };
    let ended = local_run::carry_out(session, context, output)?;
    let status = local_run::show_end(&ended, show, output);
    if let Some(path) = &sarif {
        let found = sarif::found_in(&workspace, &ended.outcome);
        let found = SarifRun { mode: &run.plan.mode, outcome: &ended.outcome, found };
        sarif::write(path, &[found], &run.redactor)?;
    }
    own_worktree::leave(&local, &ended.outcome, show, output)?;
    Ok(status)
}

/// Returns the task: the argument, else standard input.
fn task(args: &RunArgs) -> Result<String, RunError> {
    let task = match args.task.as_deref() {
        Some(task) if task != "-" => task.to_owned(),
        Some(_) | None => {
            let mut text = String::new();
            let read = std::io::stdin().take(TASK_LIMIT_BYTES + 1).read_to_string(&mut text);
            read.map_err(|error| RunError::usage("TASK", format!("standard input: {error}")))?;
            if text.len() as u64 > TASK_LIMIT_BYTES {
                return Err(RunError::usage(
                    "TASK",
                    format!("standard input holds more than {TASK_LIMIT_BYTES} bytes"),
                ));
            }
            text
        }
    };
    if task.trim().is_empty() {
        return Err(RunError::usage("TASK", "there is no task")
            .hint("`locum run \"fix the failing test\"`"));
    }
    Ok(task)
}
