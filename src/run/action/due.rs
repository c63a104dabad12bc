//! The jobs that a scheduled run of the workflow starts.
//!
//! In: the event's cron expression, the jobs that the policy lists, the record of jobs. Out: those
//! that are due. Their times are taken in the record before anything runs, so that no other run
//! starts them for the same. Where that cannot be, the workflow's own schedule says what is due. So
//! it does where one job of the workflow works and another one publishes: the second one takes the
//! time of what the bundle is about.

use crate::config::action_inputs::{BundleInput, BundleStep};
use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::bundle::manifest;
use crate::run::error::RunError;
use crate::run::job::{Job, Schedule};
use crate::run::jobs::state_ref::{JobStateRef, permit};
use crate::run::jobs::states::JobStates;
use crate::run::jobs::times::ScheduledRun;

/// Returns the listed jobs that are due.
///
/// # Errors
/// When the event's schedule or the job files cannot be read.
pub(super) async fn jobs<'c>(
    env: &ActionEnv<'_>,
    admitted: &'c AdmittedEvent<'_>,
) -> Result<Vec<&'c Job>, RunError> {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let now = env.clock.now();
    let own = event.trigger.schedule.as_deref().and_then(|cron| Schedule::parse(cron).ok());
    let Some(span) = own.and_then(|own| own.last_span(now)) else {
        return Err(RunError::usage("schedule", "the event's cron expression cannot be read"));
    };
    let listed = &config.policy.settings().triggers.schedule_jobs;
    let mut scheduled: Vec<(&Job, &Schedule)> = config
        .jobs()?
        .iter()
        .filter(|job| listed.contains(&job.name))
        .filter_map(|job| Some((job, job.schedule.as_ref()?)))
        .collect();
    let page = env.job.run_url().unwrap_or_default();
    let run = ScheduledRun { now, span, page: &page, is_again: env.job.run_attempt > 1 };
    if let Some(BundleInput { step: BundleStep::Publish, file }) = &env.inputs.bundle {
        // What came due since the other job looked is for a later run.
        let subject = manifest::subject_of(env, file).await;
        scheduled.retain(|(job, cron)| match &subject {
            Some(subject) => job.subject().claim_words(None) == *subject,
            None => run.is_again || cron.has_moment(span.0, span.1),
        });
    }
    if scheduled.is_empty() {
        return Ok(Vec::new());
    }
    let taken = |states: &mut JobStates| -> Vec<&'c Job> {
        states.retain_times(|name| listed.iter().any(|one| one == name));
        let due = scheduled.iter().filter(|(job, cron)| states.take_time(&job.name, cron, &run));
        due.map(|(job, _)| *job).collect()
    };
    let by_span = |states: &JobStates| -> Vec<&'c Job> {
        let due = scheduled.iter().filter(|(job, cron)| states.has_time(&job.name, cron, &run));
        due.map(|(job, _)| *job).collect()
    };
    let Some(permit) = permit(&config.policy, &request.facts) else {
        return Ok(by_span(&JobStates::default()));
    };
    let store = JobStateRef::new(env.kept_at());
    // What only looks leaves the times to whoever does the work, or publishes it.
    let works_for_another = env.inputs.writes_bundle();
    if env.inputs.dry_run || request.flags.dry_run || works_for_another {
        return Ok(match store.load().await {
            // Nothing is missed here: what was never published would be worked on by every run.
            Ok(states) if works_for_another && !run.is_again => by_span(&states),
            Ok(mut states) => taken(&mut states),
            Err(error) => {
                not_taken(&error);
                by_span(&JobStates::default())
            }
        });
    }
    let mut due = Vec::new();
    match store.change(&permit, env.clock, |states| due = taken(states)).await {
        Ok(_) => Ok(due),
        Err(error) => {
            not_taken(&error);
            Ok(by_span(&store.load().await.unwrap_or_default()))
        }
    }
}

fn not_taken(error: &RunError) {
    tracing::warn!(error = error.report(), "which times of jobs were answered is not remembered");
}
