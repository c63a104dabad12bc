//! The job that works: it asks the model, and writes everything that is to be published into one
//! file. It writes nothing else anywhere.
//!
//! In: a prepared run. Out: the bundle, and the checkout as it was.

use std::path::Path;

use futures::FutureExt as _;
use futures::future;

use crate::run::action::bundle::manifest::{MANIFEST_FILE, Manifest};
use crate::run::action::kept::{self, KEPT_LIMIT_BYTES};
use crate::run::action::messages::FollowedThread;
use crate::run::action::session_run::{SessionRun, finish};
use crate::run::action::{ActionEnd, ActionEnv, ForgeEvent, RunControl};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::RunExecution;
use crate::run::publish::{Publication, PublishResult, with_secret};
use crate::run::spending::two_jobs::uncounted_on;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::messages::Inbox;
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_workspace::repo::CommitId;

/// What this job says of its result.
const LEFT: &str = "this job may write nothing: the work is in the bundle, and the job that \
                    publishes decides on it";

/// Runs a session and writes the bundle.
///
/// # Errors
/// When the run cannot be carried out, or what came of it cannot be put into a bundle.
pub(in crate::run::action) async fn write(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    session: SessionRun,
    control: RunControl<'_>,
    file: &Path,
) -> Result<ActionEnd, RunError> {
    let SessionRun { run, folder, carried, .. } = &session;
    let (spec, thread) = (run.policy.settings(), run.plan.subject.thread());
    if let Some(problem) = uncounted_on("INPUT_BUNDLE", &spec.spending_limits, thread) {
        return Err(problem.into());
    }
    let lock = env.workspace.repo.lock_run().map_err(RunError::internal)?;
    let _lock = lock.named(Some(run.plan.session.as_str())).map_err(RunError::internal)?;
    let triggers = &run.policy.settings().triggers;
    let inbox = Inbox::of(folder);
    let (mut thread, stopped) = FollowedThread::new(env, event, triggers, &inbox);
    thread.look().await;
    let caller = serde_json::to_value(carried).map_err(RunError::internal)?;
    let execution = session.execution(env, &inbox, caller);
    let execution = RunExecution { keeps_memory: false, ..execution };
    let RunControl { cancelled, watch, .. } = control;
    let cancelled = future::select(cancelled, stopped).map(drop).boxed();
    let outcome = {
        let worked = execute::run_and_publish(&execution, None, cancelled, watch);
        tokio::select! {
            worked = worked => worked?.0,
            never = thread.follow() => match never {},
        }
    };
    let outcome = match (outcome.word, thread.stopped_by()) {
        (OutcomeWord::Cancelled, Some(login)) => {
            let why = outcome.reason.clone().unwrap_or_default();
            Outcome { reason: Some(format!("`{login}` asked to stop it: {why}")), ..outcome }
        }
        _ => outcome,
    };
    let packed = pack(env, &session, &outcome, file).await;
    let publication =
        Publication { result: PublishResult::Nowhere(LEFT.to_owned()), ..Publication::default() };
    let mut end = finish(env, session, outcome, publication)?;
    packed?;
    if let ActionEnd::Ran(ran) = &mut end {
        // Whether that is a failure is up to the job that publishes.
        ran.fails = false;
        ran.bundle = Some(file.to_owned());
    }
    Ok(end)
}

async fn pack(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    outcome: &Outcome,
    file: &Path,
) -> Result<(), RunError> {
    if let Some(path) = with_secret(outcome, &session.run.redactor) {
        let what = format!("no bundle is written, because the change to `{path}` holds a secret");
        return Err(RunError::usage("INPUT_BUNDLE", what).hint(
            "whoever reads the repository may read a bundle; ask for the change without it",
        ));
    }
    let repo = &env.workspace.repo;
    let unpacked = |error: &dyn std::fmt::Display| {
        RunError::internal(format!("no bundle is written: {error}"))
    };
    let journal = Journal::bytes(&session.folder, KEPT_LIMIT_BYTES);
    let journal = journal.map_err(|error| unpacked(&error))?;
    let work = (!outcome.changes.is_empty()).then(|| kept::work_commit(env, outcome));
    let work = work.transpose().map_err(|error| unpacked(&error))?;
    let manifest = Manifest::of(env, &session.carried.request, (&journal, work.as_ref()));
    let manifest = serde_json::to_vec(&manifest).map_err(|error| unpacked(&error))?;
    let parents: Vec<&CommitId> = work.iter().chain([&outcome.base]).collect();
    let files = [(MANIFEST_FILE, manifest.as_slice()), (JOURNAL_FILE, &journal)];
    let commit =
        repo.carry(&files, &parents, "locum: a bundle\n").map_err(|error| unpacked(&error))?;
    let written = env.git.write_bundle(file, &commit, &outcome.base).await;
    written.map_err(|error| unpacked(&error))
}
