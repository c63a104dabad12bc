//! `locum job list|run|due`: maintenance jobs of the repository, read from a commit as a run reads
//! them.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::cli::inspected::InspectedRepository;
use crate::cli::job_args::{JobCommand, JobDueArgs, JobResumeArgs, JobRunArgs, ListArgs};
use crate::cli::job_state;
use crate::cli::local_run::{self, LocalRun};
use crate::cli::output::Output;
use crate::cli::policy_file::{parse, repository_file};
use crate::cli::{CommandContext, ExitStatus, run};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::job::{self, Job, JobWork};
use crate::run::jobs::states::{JobState, JobStates};
use crate::run::run_request::RunRequest;
use crate::run::source::{FileSource, JOBS_FOLDER};
use crate::run::unknown_job::unknown_job;
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
        JobCommand::Resume(args) => resume(args, context, output),
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
    let workspace = local_run::open(&context.folder)?;
    let states = match job_state::load(context, &workspace, &args.remote) {
        Ok(states) => states.filter(|_| !jobs.is_empty()),
        Err(error) => {
            let remote = &args.remote;
            output.talk(format!("note: how jobs ended at `{remote}` is not known: {error}"));
            None
        }
    };
    if jobs.is_empty() {
        output.talk(format!("note: the commit has no job in `{JOBS_FOLDER}`"));
    }
    show(&jobs, (args.json, states.as_ref()), now, output);
    let mistakes = mistakes_of_modes(&jobs, context, Some("HEAD"))?;
    if mistakes.is_empty() { Ok(ExitStatus::Done) } else { Err(mistakes.into_iter().collect()) }
}

fn resume(
    args: &JobResumeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let name = &args.name;
    find(&jobs(context, None)?, name)?;
    let workspace = local_run::open(&context.folder)?;
    let was_paused = job_state::resume(context, &workspace, (name, &args.remote))?;
    if args.json {
        output.json(&json!({ "job": name, "was_paused": was_paused }));
        return Ok(ExitStatus::Done);
    }
    output.line(if was_paused {
        format!("job `{name}` runs again when it is due")
    } else {
        format!("job `{name}` is not paused")
    });
    Ok(ExitStatus::Done)
}

/// Returns a job by its name.
fn find<'j>(jobs: &'j [Job], name: &str) -> Result<&'j Job, RunError> {
    let job = jobs.iter().find(|job| job.name == name);
    job.ok_or_else(|| unknown_job("NAME", name, jobs))
}

/// Returns what is wrong with the modes of jobs: there is none of that name, or it cannot take the
/// steps.
///
/// # Errors
/// When policy or modes have mistakes.
fn mistakes_of_modes(
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
    Ok(jobs.iter().filter_map(|job| job.mistake_of_mode(&modes, default)).collect())
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
    show(&due, (args.json, None), to, output);
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
    let named = args.base.is_some().then_some(&base);
    let review_base = Some(local_run::review_base(&workspace, named, &args.options)?);
    let jobs = job::read_all(&FileSource::Commit(&workspace.repo, base.clone()))?;
    let job = find(&jobs, &args.name)?;
    if !job.alerts.is_empty() {
        let message = format!("job `{}` is about alerts, which the Action alone reads", job.name);
        return Err(RunError::usage("NAME", message));
    }
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
            review_base,
            ..RunRequest::new(job.task_text(), base)
        },
    };
    run::start(local, &args.options, lock, context, output)
}

fn show(
    jobs: &[Job],
    (as_json, states): (bool, Option<&JobStates>),
    now: Timestamp,
    output: &mut Output,
) {
    let next = |job: &Job| {
        job.schedule
            .as_ref()
            .and_then(|schedule| schedule.next_after(now))
            .map(|next| next.to_string())
    };
    let schedule = |job: &Job| job.schedule.as_ref().map(|schedule| schedule.text().to_owned());
    let state = |job: &Job| states.and_then(|states| states.of(&job.name));
    if as_json {
        let object = |job: &Job| json!({ "name": job.name, "description": job.description, "schedule": schedule(job), "next": next(job), "mode": job.mode, "work": work(&job.work), "state": state(job) });
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
    if states.is_none() {
        output.table(["JOB", "SCHEDULE", "NEXT", "WORK", "DESCRIPTION"], jobs.iter().map(row));
        return;
    }
    let with_state = |job: &Job| {
        let [name, schedule, next, work, description] = row(job);
        let state = state(job).map_or_else(dash, JobState::words);
        [name, schedule, next, state, work, description]
    };
    let header = ["JOB", "SCHEDULE", "NEXT", "STATE", "WORK", "DESCRIPTION"];
    output.table(header, jobs.iter().map(with_state));
}

fn work(work: &JobWork) -> &'static str {
    match work {
        JobWork::Steps(_) => "steps",
        JobWork::Task(_) => "task",
        JobWork::StepsThenTask(_, _) => "steps, then task",
    }
}
