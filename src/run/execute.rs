//! A prepared run carried out: journal opened, session run beside the progress comment, until there
//! is an outcome.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::watch;
use tracing::Instrument;

use crate::run::error::RunError;
use crate::run::execution::{RunExecution, SessionOrigin};
use crate::run::extras::RunExtras;
use crate::run::first_message::lookups::{FirstText, MessageContext, has_files_of_others};
use crate::run::kept_folder::check_outside;
use crate::run::memory;
use crate::run::place;
use crate::run::progress;
use crate::run::publish::follow_up::{FollowUp, RunEnd};
use crate::run::publish::{Publication, Publisher};
use crate::run::retention;
use crate::run::servers;
use crate::run::spending;
use crate::run::telemetry;
use locum_agent::env::RunEnv;
use locum_agent::report::activity::Activities;
use locum_agent::report::comment::Progress;
use locum_agent::session;
use locum_agent::session::earlier::EarlierConversation;
use locum_agent::session::event::{Event, JOURNAL_VERSION, JournalLine, SessionStart};
use locum_agent::session::journal::{Journal, JournalError};
use locum_agent::session::outcome::Outcome;
use locum_agent::session::parts::{CONCURRENT_READS, SessionParts};
use locum_agent::session::state::SessionState;
use locum_agent::tools::mcp::servers::{McpServers, ServerEnvironment};
use locum_base::secret::Redactor;
use locum_policy::intent::Facts;
use locum_sandbox::network::Connector;
use locum_workspace::layer::Layer;

/// Wall time that a progress comment still on its way is waited for at the end of a run.
const LAST_PROGRESS: Duration = Duration::from_secs(5);

/// Runs the session and publishes its outcome, keeping the progress comment on the way.
///
/// # Errors
/// When the journal cannot be opened.
pub async fn run_and_publish<'a>(
    execution: &RunExecution<'a>,
    publisher: Option<(&Publisher<'_>, &RunEnd<'_>)>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &SessionState) + 'a,
) -> Result<(Outcome, Option<Publication>), RunError> {
    let Some((publisher, ending)) = publisher else {
        let mut outcome = run(execution, cancelled, watch).await?;
        memory::keep(execution, &mut outcome).await;
        close(execution, &outcome).await;
        return Ok((outcome, None));
    };
    let cancelled = cancelled.shared();
    let stopped = cancelled.clone().boxed();
    let mut outcome = run_beside_progress(execution, publisher, stopped, watch).await?;
    memory::keep(execution, &mut outcome).await;
    let published = publisher.publish(&mut outcome, ending, FollowUp::default(), cancelled).await;
    close(execution, &outcome).await;
    Ok((outcome, Some(published)))
}

/// Leaves a session whose outcome is settled: its journal ends with that outcome, its trace is
/// sent, its layers are gone.
pub async fn close(execution: &RunExecution<'_>, outcome: &Outcome) {
    if let Err(error) = record(execution, outcome) {
        tracing::warn!(%error, "the journal does not say what became of the result");
    }
    telemetry::send(execution.run, execution.folder, execution.clock).await;
    leave_layers(execution.folder, outcome);
}

/// Writes down what an outcome became once it was published, where that is another than the session
/// ended with.
fn record(execution: &RunExecution<'_>, outcome: &Outcome) -> Result<(), JournalError> {
    let lines = Journal::read(execution.folder)?;
    let last = lines.iter().rev().find_map(|line| match &line.event {
        Event::Ended(last) => Some(last),
        _ => None,
    });
    if last.is_none_or(|last| **last == *outcome) {
        return Ok(());
    }
    let event = Event::Ended(Box::new(outcome.clone()));
    Journal::resume(execution.folder)?.append(&JournalLine { at: execution.clock.now(), event })
}

/// Removes the layers of a session that is over; of one that was stopped and may be resumed, git's
/// data stays. What cannot be removed changes no result.
fn leave_layers(folder: &Path, outcome: &Outcome) {
    let left = if outcome.may_go_on() {
        Ok(())
    } else if outcome.was_stopped() {
        Layer::discard_all_but_git(folder)
    } else {
        Layer::discard_of(folder)
    };
    if let Err(error) = left {
        tracing::warn!(%error, "what commands wrote cannot be removed: {}", folder.display());
    }
}

/// Runs the session, keeping the progress comment on the way; its outcome is not published yet.
///
/// # Errors
/// When the journal cannot be opened.
pub async fn run_beside_progress<'a>(
    execution: &RunExecution<'a>,
    publisher: &Publisher<'_>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &SessionState) + 'a,
) -> Result<Outcome, RunError> {
    let (latest, seen) = watch::channel(Progress::default());
    let (mut watch, mut now) = (watch, Activities::default());
    let shown = move |line: &JournalLine, state: &SessionState| {
        // NOTE: fails only when the poster of progress has ended.
        now.take_in(line, state);
        let _ = latest.send(Progress { now: now.clone(), ..Progress::of(state, line.at) });
        watch(line, state);
    };
    let posting = progress::keep_posting(publisher, seen, execution.clock);
    let session = run(execution, cancelled, shown);
    tokio::pin!(posting);
    tokio::pin!(session);
    let mut posts = true;
    let outcome = loop {
        tokio::select! {
            outcome = &mut session => break outcome,
            () = &mut posting, if posts => posts = false,
        }
    };
    if posts {
        // A comment that is on its way would not be found by its marker yet, and be written twice.
        tokio::select! {
            () = &mut posting => {}
            () = execution.clock.sleep(LAST_PROGRESS) => {}
        }
    }
    outcome
}

/// Removes the sessions that the setting `session_retention_days` lets go.
fn remove_old_sessions(execution: &RunExecution<'_>) {
    let days = execution.run.settings.values.session_retention_days;
    let (Some(days), Some(sessions)) = (days, execution.folder.parent()) else { return };
    let age = SignedDuration::from_hours(i64::from(days) * 24);
    let since = execution.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN);
    let removed = retention::retain(sessions, since);
    if removed > 0 {
        tracing::info!(removed, days, "old sessions were removed");
    }
}

async fn run<'a>(
    execution: &RunExecution<'a>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &SessionState) + 'a,
) -> Result<Outcome, RunError> {
    for workspace in std::iter::once(execution.workspace).chain(execution.stands_for) {
        check_outside("session_dir", execution.folder, workspace.checkout.root())?;
    }
    let journal = match execution.beginning {
        SessionOrigin::Fresh(_) => Journal::create(execution.folder),
        SessionOrigin::Resumed => Journal::resume(execution.folder),
    };
    let journal = journal.map_err(|error| {
        let hint = if matches!(error, JournalError::InUse { .. }) {
            "the session is at work; wait until it has ended, or stop it where it runs"
        } else {
            "sessions are kept where `session_dir` (`--session-dir`) says, else below \
             `state_dir`; name a folder with room that may be written"
        };
        RunError::internal(error).hint(hint)
    })?;
    let prepared = execution.run;
    remove_old_sessions(execution);
    let plan = &prepared.plan;
    let begun = spending::begin(execution, journal.past()).await;
    let (remaining, counted) = begun.inspect_err(|_| {
        if matches!(execution.beginning, SessionOrigin::Fresh(_)) {
            journal.discard();
        }
    })?;
    let connector = Connector::default();
    let env = RunEnv { tail: execution.tail, ..prepared.env(&connector) };
    let nothing = RunExtras::default();
    let (message, extras) = match execution.beginning {
        SessionOrigin::Fresh(extras) => {
            let &RunExecution { run, workspace, forge, .. } = execution;
            (MessageContext { run, extras, env, workspace, forge }.message().await, extras)
        }
        // Its text stands in the journal; the files may be others by now.
        SessionOrigin::Resumed => {
            let outside = has_files_of_others(plan, execution.workspace);
            (FirstText { outside, ..FirstText::default() }, &nothing)
        }
    };
    let models = prepared.models.in_use(&prepared.instructions.image_models);
    let start = SessionStart {
        images: extras.images.iter().map(|shown| shown.image.clone()).collect(),
        earlier: earlier(extras, &prepared.redactor)?,
        version: JOURNAL_VERSION,
        id: plan.session.clone(),
        task: prepared.redactor.redact(&plan.task),
        message: message.text,
        mode: plan.mode.clone(),
        facts: Facts { outside_text: message.outside, ..plan.facts.clone() },
        budget: plan.budget,
        base: plan.base.clone(),
        policy_hash: plan.policy.hash.clone(),
        models: plan.models.clone(),
        mode_models: models.mode_labels(),
        fork: None,
        condense_model: models.condense_label(),
        place: place::dated(plan.place.clone(), execution.clock.now()),
        caller: redacted(execution.caller.clone(), &prepared.redactor),
    };
    let around = ServerEnvironment {
        workspace: execution.workspace,
        session_folder: Some(execution.folder),
        run: env,
        facts: servers::facts_of(env.policy, &prepared.modes, &plan.facts),
    };
    let cancelled = cancelled.shared();
    let servers = tokio::select! {
        biased;
        // The session ends at once, and says so.
        () = cancelled.clone() => McpServers::default(),
        servers = McpServers::open(&prepared.servers.servers, around) => servers,
    };
    servers::log_missing(&servers);
    let memory = memory::load(execution).await;
    let concurrent_reads = prepared.settings.values.concurrent_reads;
    let concurrent_reads = concurrent_reads.and_then(|count| usize::try_from(count).ok());
    let parts = SessionParts {
        memory: memory.notes,
        start,
        run: env,
        modes: &prepared.modes,
        instructions: &prepared.instructions,
        trusted: &plan.trusted,
        review_base: plan.review_base.as_ref(),
        models,
        remaining,
        workspace: execution.workspace,
        stands_for: execution.stands_for,
        checks: prepared.checks,
        concurrent_reads: concurrent_reads.unwrap_or(CONCURRENT_READS),
        hooks: &prepared.hooks,
        servers: &servers,
        inbox: execution.inbox,
        clock: execution.clock,
        cancelled: cancelled.boxed(),
        watch: Box::new(watch),
    };
    let span = tracing::info_span!("run", session = %plan.session);
    let mut outcome = session::run(parts, journal).instrument(span).await;
    servers.close().await;
    outcome.notes.extend(memory.problem);
    if let Some(counted) = counted {
        counted.end(&outcome).await;
    }
    Ok(outcome)
}

/// Returns the conversation that a run goes on with, without secrets there may be since.
fn earlier(
    extras: &RunExtras,
    redactor: &Redactor,
) -> Result<Option<Box<EarlierConversation>>, RunError> {
    let value = serde_json::to_value(&extras.earlier).map_err(RunError::internal)?;
    serde_json::from_value(redacted(value, redactor)).map_err(RunError::internal)
}

/// Takes secrets out of every text of a value: a task, a script.
fn redacted(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.redact(&text)),
        Value::Array(items) => items.into_iter().map(|item| redacted(item, redactor)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, redacted(member, redactor))).collect()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

/// Returns the folder of a session.
pub fn folder_of(sessions: &Path, session: &locum_agent::session::id::SessionId) -> PathBuf {
    sessions.join(session.as_str())
}
