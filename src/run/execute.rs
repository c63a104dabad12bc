//! A prepared run carried out: journal opened, session run beside the progress comment, until there
//! is an outcome.

#![expect(clippy::disallowed_methods, reason = "writes the patch beside the journal")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use tracing::Instrument;

use crate::run::ceilings::{self, Kept};
use crate::run::fault::Fault;
use crate::run::models::PreparedModel;
use crate::run::opening::Scene;
use crate::run::plan::Subject;
use crate::run::prepare::{Prepared, RETRY};
use crate::run::progress;
use crate::run::publish::{Published, Publisher};
use crate::run::servers;
use crate::run::telemetry;
use locum_agent::report::comment::Progress;
use locum_agent::report::figures;
use locum_agent::session::event::{JOURNAL_VERSION, JournalLine, SessionStart};
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::painter::Painter;
use locum_agent::session::state::State;
use locum_agent::session::{self, SessionParts};
use locum_agent::tools::Sight;
use locum_agent::tools::mcp::servers::{Servers, Surroundings};
use locum_base::clock::Clock;
use locum_base::secret::Redactor;
use locum_forge::{Forge, sanitise};
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;

/// Wall time that a progress comment still on its way is waited for at the end of a run.
const LAST_PROGRESS: Duration = Duration::from_secs(5);

/// Whether a session begins or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// It is new.
    Fresh,
    /// It was killed and goes on where its journal ends.
    Resumed,
}

/// What carrying out takes besides what was prepared.
pub struct Execution<'a> {
    /// What was prepared.
    pub prepared: &'a Prepared,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// The folder of this session; holds the journal.
    pub folder: &'a Path,
    /// Whether it begins or goes on.
    pub beginning: Beginning,
    /// What a resume needs to prepare the same run again.
    pub caller: serde_json::Value,
    /// Where is kept count of what runs spend together.
    pub kept: Kept<'a>,
    /// Where issues that the task names are read; `None` where there is none.
    pub forge: Option<&'a dyn Forge>,
    /// Time.
    pub clock: &'a dyn Clock,
}

/// Runs the session and publishes its outcome, keeping the progress comment on the way.
///
/// # Errors
/// When the journal cannot be opened.
pub async fn run_and_publish<'a>(
    execution: &Execution<'a>,
    publisher: Option<&Publisher<'_>>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &State) + 'a,
) -> Result<(Outcome, Option<Published>), Fault> {
    let Some(publisher) = publisher else {
        return Ok((run(execution, cancelled, watch).await?, None));
    };
    let outcome = run_beside_progress(execution, publisher, cancelled, watch).await?;
    let published = publisher.publish(&outcome).await;
    Ok((outcome, Some(published)))
}

/// Runs the session, keeping the progress comment on the way; its outcome is not published yet.
///
/// # Errors
/// When the journal cannot be opened.
pub async fn run_beside_progress<'a>(
    execution: &Execution<'a>,
    publisher: &Publisher<'_>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &State) + 'a,
) -> Result<Outcome, Fault> {
    let (latest, seen) = watch::channel(Progress::default());
    let mut watch = watch;
    let shown = move |line: &JournalLine, state: &State| {
        // NOTE: fails only when nobody posts any more.
        let _ = latest.send(Progress::of(state, line.at));
        watch(line, state);
    };
    let posting = progress::keep_posting(publisher, seen, execution.clock);
    let session = run(execution, cancelled, shown);
    tokio::pin!(posting);
    tokio::pin!(session);
    let mut posts = true;
    let outcome = loop {
        tokio::select! {
            outcome = &mut session => break outcome?,
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
    Ok(outcome)
}

async fn run<'a>(
    execution: &Execution<'a>,
    cancelled: BoxFuture<'a, ()>,
    watch: impl FnMut(&JournalLine, &State) + 'a,
) -> Result<Outcome, Fault> {
    let journal = match execution.beginning {
        Beginning::Fresh => Journal::create(execution.folder),
        Beginning::Resumed => Journal::resume(execution.folder),
    };
    let journal = journal.map_err(|error| {
        Fault::machine(error).hint(
            "sessions are kept where `session_dir` (`--session-dir`) says, else below \
             `state_dir`; name a folder with room that may be written",
        )
    })?;
    let prepared = execution.prepared;
    let plan = &prepared.plan;
    let counted = ceilings::Run {
        prepared,
        workspace: execution.workspace,
        kept: execution.kept,
        folder: execution.folder,
        clock: execution.clock,
    };
    let begun = ceilings::begin(&counted, journal.past()).await;
    let (allowance, counted) = begun.inspect_err(|_| {
        if execution.beginning == Beginning::Fresh {
            journal.discard();
        }
    })?;
    let connector = Connector::default();
    let message = match execution.beginning {
        Beginning::Fresh => first_message(execution, &connector).await,
        // It stands in the journal.
        Beginning::Resumed => String::new(),
    };
    let start = SessionStart {
        version: JOURNAL_VERSION,
        id: plan.session.clone(),
        task: prepared.redactor.redact(&plan.task),
        message,
        mode: plan.mode.clone(),
        facts: plan.facts.clone(),
        budget: plan.budget,
        base: plan.base.clone(),
        policy_hash: plan.policy.hash.clone(),
        models: plan.models.clone(),
        caller: redacted(execution.caller.clone(), &prepared.redactor),
    };
    let around = Surroundings {
        workspace: execution.workspace,
        policy: &prepared.policy,
        facts: servers::facts_of(&prepared.policy, &prepared.modes, &plan.facts),
        env: &prepared.command_env,
        sandbox: &prepared.sandbox,
        redactor: &prepared.redactor,
        connector: &connector,
    };
    let servers = Servers::open(&prepared.servers.servers, around).await;
    servers::tell_missing(&servers);
    let parts = SessionParts {
        start,
        policy: &prepared.policy,
        allowance,
        modes: &prepared.modes,
        standing: &prepared.standing,
        trusted: &plan.trusted,
        main: prepared.main.in_use(),
        task: prepared.task.in_use(),
        condense: prepared.condense.as_ref().map(PreparedModel::in_use),
        own: prepared.own.iter().map(|(slug, model)| (slug.clone(), model.in_use())).collect(),
        experts: prepared
            .experts
            .iter()
            .map(|(name, model)| (name.clone(), model.in_use()))
            .collect(),
        painter: prepared
            .painter
            .as_ref()
            .map(|model| Painter { names: &prepared.standing.painters, model: model.in_use() }),
        retry: RETRY,
        workspace: execution.workspace,
        env: &prepared.command_env,
        sandbox: &prepared.sandbox,
        connector: &connector,
        servers: &servers,
        redactor: &prepared.redactor,
        clock: execution.clock,
        cancelled,
        watch: Box::new(watch),
    };
    let span = tracing::info_span!("run", session = %plan.session);
    let outcome = session::run(parts, journal).instrument(span).await;
    servers.close().await;
    if let Some(counted) = counted {
        counted.end(&outcome).await;
    }
    telemetry::tell(prepared, execution.folder, execution.clock).await;
    Ok(outcome)
}

/// Looks up what the task names, and returns what the root task is told first.
async fn first_message(execution: &Execution<'_>, connector: &Connector) -> String {
    let Execution { prepared, workspace, forge, .. } = execution;
    let plan = &prepared.plan;
    let checkout = match &plan.subject {
        Subject::PullRequest { number, .. } => {
            format!("the head of pull request #{number}, which its author wrote")
        }
        Subject::Prompt | Subject::Issue { .. } | Subject::Job { .. } => "the checkout".to_owned(),
    };
    let scene = Scene {
        workspace,
        policy: &prepared.policy,
        facts: &plan.facts,
        modes: &prepared.modes,
        profiles: prepared.settings.values.models.profiles.keys().map(String::as_str).collect(),
        experts: prepared.experts.keys().map(String::as_str).collect(),
        env: &prepared.command_env,
        sandbox: &prepared.sandbox,
        redactor: &prepared.redactor,
        connector,
        forge: *forge,
        thread: plan.subject.thread(),
        sight: if prepared.own.get(&plan.mode).unwrap_or(&prepared.main).sees_images {
            Sight::OnCall
        } else {
            Sight::Blind
        },
        checkout,
    };
    scene.message(&prepared.opening, &prepared.materials).await
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

/// Writes the changes of a run as a patch into its folder; `None` when there are none, or one holds
/// a secret.
///
/// # Errors
/// When the file cannot be written.
pub fn write_patch(
    folder: &Path,
    outcome: &Outcome,
    redactor: &Redactor,
) -> Result<Option<PathBuf>, Fault> {
    let patch = figures::diff(&outcome.changes);
    let withheld = outcome.changes.iter().any(|change| change.withheld);
    if patch.is_empty() || withheld || sanitise::patch(&patch, redactor).is_err() {
        return Ok(None);
    }
    let file = folder.join("changes.patch");
    std::fs::write(&file, patch)
        .map_err(|error| Fault::machine(format!("`{}`: {error}", file.display())))?;
    Ok(Some(file))
}

/// Returns the folder of a session.
#[must_use]
pub fn folder_of(sessions: &Path, session: &locum_agent::session::id::SessionId) -> PathBuf {
    sessions.join(session.as_str())
}
