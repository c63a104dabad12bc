//! `locum job list|run|due`: maintenance jobs of the repository, read from a commit as a run reads
//! them.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::cli::inspected::InspectedRepository;
use crate::cli::job_args::{JobCommand, JobDueArgs, JobRunArgs, ListArgs};
use crate::cli::local_run::{self, LocalRun};
use crate::cli::output::Output;
use crate::cli::policy_file::{parse, repository_file};
use crate::cli::{CommandContext, ExitStatus, run};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::job::{self, Job, JobWork};
use crate::run::run_request::RunRequest;
use crate::run::source::FileSource;
use locum_base::clock::Clock;
use locum_files::diagnostic::Diagnostic;
use locum_policy::intent::Facts;

/// Runs the subcommand.
///
/// # Errors
/// When the job does not exist, or a job file has mistakes.
pub fn run(
    command: &JobCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        JobCommand::List(args) => list(args, context, output),
        JobCommand::Run(args) => run_job(args, context, output),
        JobCommand::Due(args) => due(args, context, output),
    }
}

fn jobs(context: &CommandContext, revision: Option<&str>) -> Result<Vec<Job>, RunError> {
    let workspace = local_run::open(&context.folder)?;
    let base = local_run::base(&workspace, revision)?;
    job::read_all(&FileSource::Commit(&workspace.repo, base))
}

fn list(
    args: &ListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let now = SystemClock::start().now();
    let jobs = jobs(context, None)?;
    show(&jobs, args.json, now, output);
    let mistakes = unusable_steps(&jobs, context, Some("HEAD"))?;
    if mistakes.is_empty() { Ok(ExitStatus::Done) } else { Err(mistakes.into_iter().collect()) }
}

/// Returns what is wrong with the steps of jobs: the modes they run in cannot take them.
///
/// # Errors
/// When policy or modes have mistakes.
pub(super) fn unusable_steps(
    jobs: &[Job],
    context: &CommandContext,
    at: Option<&str>,
) -> Result<Vec<Diagnostic>, RunError> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let policy = parse(repository_file(context, at)?.as_ref())?;
    let modes = InspectedRepository::open(context, at)?.modes()?;
    let default = &policy.settings().modes.default;
    Ok(jobs.iter().filter_map(|job| job.unusable_step(&modes, default)).collect())
}

fn due(
    args: &JobDueArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let wrong = |what: String| RunError::usage("--at", what);
    let to: Timestamp = match &args.at {
        Some(text) => text.parse().map_err(|_| {
            wrong(format!("`{text}` is not a time"))
                .hint("write it in UTC, as in `2026-01-31T06:00:00Z`")
        })?,
        None => SystemClock::start().now(),
    };
    let span = SignedDuration::from_mins(i64::from(args.within_minutes));
    let from = to.checked_sub(span).map_err(|error| wrong(error.to_string()))?;
    let is_due =
        |job: &Job| job.schedule.as_ref().is_some_and(|schedule| schedule.has_moment(from, to));
    let due: Vec<Job> = jobs(context, None)?.into_iter().filter(is_due).collect();
    show(&due, args.json, to, output);
    Ok(ExitStatus::Done)
}

fn run_job(
    args: &JobRunArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let workspace = local_run::open(&context.folder)?;
    let lock = run::locked(&workspace, &args.options, output)?;
    let base = local_run::base(&workspace, args.base.as_deref())?;
    let jobs = job::read_all(&FileSource::Commit(&workspace.repo, base.clone()))?;
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let Some(job) = jobs.iter().find(|job| job.name == args.name) else {
        let known = if names.is_empty() {
            "there is none in `.locum/jobs/` of this commit".to_owned()
        } else {
            format!("known: {}", names.join(", "))
        };
        return Err(RunError::usage("NAME", format!("there is no job `{}`", args.name)).hint(known));
    };
    let local = LocalRun {
        folder: workspace.checkout.root().to_owned(),
        stands_for: None,
        base_revision: args.base.clone(),
        postings: None,
        request: RunRequest {
            words: job.words(),
            mode: job.mode.clone(),
            facts: Facts { job: Some(job.name.clone()), ..Facts::default() },
            subject: job.subject(),
            work: Some(job.work.clone()),
            overrides: local_run::overrides(args.options.settings(), &args.options, context)?,
            purpose: args.options.purpose(),
            ..RunRequest::new(job.task_text(), base)
        },
    };
    run::start(local, &args.options, lock, context, output)
}

fn show(jobs: &[Job], as_json: bool, now: Timestamp, output: &mut Output) {
    let next = |job: &Job| {
        job.schedule
            .as_ref()
            .and_then(|schedule| schedule.next_after(now))
            .map(|next| next.to_string())
    };
    let schedule = |job: &Job| job.schedule.as_ref().map(|schedule| schedule.text().to_owned());
    if as_json {
        let object = |job: &Job| json!({ "name": job.name, "description": job.description, "schedule": schedule(job), "next": next(job), "mode": job.mode, "work": work(&job.work) });
        output.json(&jobs.iter().map(object).collect::<Vec<_>>());
        return;
    }
    let dash = || "-".to_owned();
    let row = |job: &Job| {
        [
            job.name.clone(),
            schedule(job).unwrap_or_else(dash),
            next(job).unwrap_or_else(dash),
            work(&job.work).to_owned(),
            job.description.clone().unwrap_or_default(),
        ]
    };
    output.table(["JOB", "SCHEDULE", "NEXT", "WORK", "DESCRIPTION"], jobs.iter().map(row));
}

fn work(work: &JobWork) -> &'static str {
    match work {
        JobWork::Steps(_) => "steps",
        JobWork::Task(_) => "task",
        JobWork::StepsThenTask(_, _) => "steps, then task",
    }
}
