//! One session of an event: carried out under its claim, published, and kept in the repository
//! where it waits for a decision.
//!
//! In: a prepared run, fresh or fetched from its ref. Out: how it ended and what was published; the
//! checkout is as it was before.

use std::path::PathBuf;
use std::rc::Rc;

use futures::FutureExt as _;
use futures::future;
use serde_json::Value;

use crate::run::action::carry::{self, CarriedState};
use crate::run::action::claim::Claim;
use crate::run::action::fenced::{self, Worked};
use crate::run::action::kept::{self, KeptSession};
use crate::run::action::messages::FollowedThread;
use crate::run::action::places::reaction_target;
use crate::run::action::sweep::{self, SweepScope};
use crate::run::action::{ActionEnd, ActionEnv, FinishedRun, ForgeEvent, RunControl, setup};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::{RunExecution, SessionOrigin};
use crate::run::extras::RunExtras;
use crate::run::patch;
use crate::run::prepare::PreparedRun;
use crate::run::publish::destination::ResumedLines;
use crate::run::publish::follow_up::{FollowUp, RunEnd};
use crate::run::publish::lease::Lease;
use crate::run::publish::{Publication, PublishResult, Publisher};
use crate::run::spending::store::RecordStore;
use locum_agent::report::waiting::{DecisionChannel, KeptLine, KeptWork};
use locum_agent::session::earlier::EarlierConversation;
use locum_agent::session::messages::Inbox;
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_forge::Thread;
use locum_forge::posts::OwnReaction;
use locum_workspace::repo::CommitId;

/// What is said of a run that was stopped from outside after a decision.
const GOES_ON: &str = "to go on from the decision, start its workflow run again or decide again";

/// A session that is ready to be carried out and published.
pub(super) struct SessionRun {
    /// What it works with.
    pub(super) run: PreparedRun,
    /// Folder of the session's journal.
    pub(super) folder: PathBuf,
    /// What the next workflow run needs.
    pub(super) carried: CarriedState,
    /// Where the session is kept that ended last on its thread.
    pub(super) before: Option<KeptSession>,
    /// Where sessions are kept that it takes the place of once it has left something.
    pub(super) superseded: Vec<KeptSession>,
    /// Whether it begins or resumes.
    pub(super) start: ActionStart,
}

/// Whether a session begins or resumes.
pub(super) enum ActionStart {
    /// It is new, and begins with these.
    Fresh(RunExtras),
    /// It was fetched from its ref, which holds this workflow run's claim by now.
    Resumed {
        /// What the ref holds.
        claim: CommitId,
        /// The hidden line that says where it waited.
        waited: String,
        /// The hidden line that says which decision it goes on by.
        by: String,
        /// The conversation that it went on with when it began.
        earlier: Option<Box<EarlierConversation>>,
    },
}

impl ActionStart {
    /// Returns what the session's ref at the remote holds.
    pub(super) fn claim(&self) -> Option<&CommitId> {
        if let Self::Resumed { claim, .. } = self { Some(claim) } else { None }
    }

    fn earlier(&self) -> Option<&EarlierConversation> {
        match self {
            Self::Fresh(extras) => extras.earlier.as_ref(),
            Self::Resumed { earlier, .. } => earlier.as_deref(),
        }
    }

    fn origin(&self) -> SessionOrigin<'_> {
        match self {
            Self::Fresh(extras) => SessionOrigin::Fresh(extras),
            Self::Resumed { .. } => SessionOrigin::Resumed,
        }
    }

    /// Returns what the run's comment says of the decision that it goes on by.
    fn lines(&self) -> Option<ResumedLines<'_>> {
        let Self::Resumed { waited, by, .. } = self else { return None };
        Some(ResumedLines { waited, by })
    }
}

/// Pages of the workflow job.
pub(super) struct JobPages {
    run: Option<String>,
    repository: String,
}

impl JobPages {
    pub(super) fn of(env: &ActionEnv<'_>) -> Self {
        Self { run: env.job.run_url(), repository: env.job.repository_url() }
    }
}

impl SessionRun {
    /// Returns what publishes its outcome.
    pub(super) fn publisher<'s>(
        &'s self,
        env: &'s ActionEnv<'_>,
        event: &ForgeEvent,
        (pages, lease): (&'s JobPages, &'s Lease<'s>),
        kept_before: Option<&'s str>,
    ) -> Publisher<'s> {
        Publisher {
            run: &self.run,
            workspace: env.workspace,
            session_folder: &self.folder,
            forge: env.forge,
            remote: Some(env.remote),
            git: env.git,
            destination: &self.carried.destination,
            reaction: reaction_target(&event.trigger),
            branch_template: env.inputs.branch_template.as_deref(),
            run_url: pages.run.as_deref(),
            repository_url: Some(&pages.repository),
            lease: Some(lease),
            resumed: self.start.lines(),
            kept_before,
            earlier: self.start.earlier(),
        }
    }

    /// Returns the hidden line of the session that ended last on its thread.
    pub(super) fn line_before(&self) -> Option<String> {
        self.before.as_ref().map(KeptSession::line)
    }

    /// Returns what carries it out.
    pub(super) fn execution<'s>(
        &'s self,
        env: &'s ActionEnv<'_>,
        inbox: &'s Inbox,
        caller: Value,
    ) -> RunExecution<'s> {
        RunExecution {
            inbox,
            stands_for: None,
            run: &self.run,
            workspace: env.workspace,
            folder: &self.folder,
            beginning: self.start.origin(),
            caller,
            keeps_memory: true,
            record: RecordStore::Remote { git: env.git, remote: env.remote },
            forge: Some(env.forge),
            clock: env.clock,
            tail: None,
        }
    }

    /// Closes what earlier runs left on its thread.
    pub(super) async fn sweep_thread(
        &self,
        env: &ActionEnv<'_>,
        event: &ForgeEvent,
        claim: &Claim<'_>,
    ) {
        let Some(number) = self.carried.destination.thread else { return };
        if self.carried.destination.in_discussion {
            return;
        }
        let (policy, facts) = (&self.run.policy, &self.run.plan.facts);
        let (own, is_private) = (&self.carried.destination.marker, event.trigger.is_private);
        let asks = event.trigger.comment.as_ref().map(|comment| comment.id);
        let scope = SweepScope { policy, facts, own, asks, is_private };
        let place =
            Thread { number, is_pull_request: event.pull_request.is_some(), is_discussion: false };
        sweep::thread(env, &scope, (place, claim.is_held())).await;
    }
}

/// Runs a session and publishes its outcome, if it still has its claim then; keeps it in the
/// repository when it waits for a decision.
pub(super) async fn carry_out(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    session: SessionRun,
    control: RunControl<'_>,
    claim: &mut Claim<'_>,
) -> Result<ActionEnd, RunError> {
    let SessionRun { run, folder, carried, start, .. } = &session;
    let (pages, lease) = (JobPages::of(env), Rc::clone(&claim.lease));
    let before = session.line_before();
    let publisher = session.publisher(env, event, (&pages, &lease), before.as_deref());
    let lock = env.workspace.repo.lock_run().map_err(|error| {
        RunError::internal(error).hint(
            "jobs that run at the same time need a checkout each: give this one's \
             actions/checkout a `path` of its own, or let one wait with `needs`",
        )
    })?;
    let _lock = lock.named(Some(run.plan.session.as_str())).map_err(RunError::internal)?;
    let own = publisher.see().await.map_err(setup::may_not_write)?;
    if matches!(start, ActionStart::Fresh(_)) {
        publisher.check_push().await.map_err(setup::may_not_push)?;
    }
    session.sweep_thread(env, event, claim).await;
    let (first, decided) = match start {
        ActionStart::Fresh(_) => (own, None),
        ActionStart::Resumed { .. } => (None, own),
    };
    let seen: Vec<OwnReaction> = carried.seen.iter().copied().chain(first).collect();
    let caller = serde_json::to_value(CarriedState { seen: seen.clone(), ..carried.clone() })
        .map_err(RunError::internal)?;
    let triggers = &run.policy.settings().triggers;
    let inbox = Inbox::of(folder);
    let (mut followed, stopped) = FollowedThread::new(env, event, triggers, &inbox);
    followed.look().await;
    let execution = session.execution(env, &inbox, caller);
    let RunControl { cancelled, watch, wish } = control;
    let cancelled = future::select(cancelled, stopped).map(drop).shared();
    let control = RunControl { cancelled: cancelled.clone().boxed(), watch, wish };
    let worked = fenced::work(&execution, &publisher, (&mut followed, claim), control).await?;
    let mut outcome = match worked {
        Worked::Ended(outcome) => outcome,
        Worked::FencedOff(outcome, why) => {
            let result = PublishResult::Nowhere(why);
            let publication = Publication { result, ..Publication::default() };
            execute::close(&execution, &outcome).await;
            return finish(env, session, outcome, publication);
        }
    };
    if let (OutcomeWord::Cancelled, Some(login)) = (outcome.word, followed.stopped_by()) {
        let why = outcome.reason.unwrap_or_default();
        outcome.reason = Some(format!("`{login}` asked to stop it: {why}"));
    }
    let thread = match carried.destination.thread {
        Some(thread) => Ok(thread),
        None if carried.destination.check.is_some() => Err("a check asks nobody".to_owned()),
        None if matches!(outcome.word, OutcomeWord::OnHold | OutcomeWord::NeedsInput) => {
            publisher.open_issue().await.map_err(no_place)
        }
        None => Err("it waits for nobody".to_owned()),
    };
    let thread_number = thread.clone().ok();
    let kept = carry::keep(env, &session, &outcome, thread).await;
    let prefix = triggers.prefix();
    let decide = match &kept {
        Ok(Some(marker)) => DecisionChannel::Comment { prefix, marker },
        Ok(None) => DecisionChannel::Unneeded,
        Err(why) => DecisionChannel::Nowhere(why),
    };
    let ending = RunEnd { thread: thread_number, seen: &seen, decided, decide };
    let landed = publisher.publish_changes(&mut outcome, &ending, cancelled).await;
    // A session whose run was stopped from outside, or whose model did not answer after an
    // approval, which counts for that run alone, is found where it waited, with its decision.
    let is_stopped = outcome.word == OutcomeWord::Cancelled && followed.stopped_by().is_none();
    let is_cut_short = is_stopped || (outcome.outage && !outcome.approved.is_empty());
    let is_over = match &kept {
        Ok(None) => !is_cut_short,
        Ok(Some(_)) => true,
        // What waits anew and cannot be kept is found where it waited before.
        Err(_) => false,
    };
    let line = match start.lines() {
        Some(lines) if !is_over => {
            let why = outcome.reason.take().unwrap_or_default();
            outcome.reason = Some(format!("{why}; {GOES_ON}"));
            Some((lines.waited.to_owned(), KeptWork::Decided))
        }
        Some(_) | None => {
            let at = (&publisher, &landed.published.result);
            let line = kept::keep(env, &session, &outcome, at).await;
            let is_for_it_alone =
                !outcome.approved.is_empty() && landed.published.result.head().is_none();
            let work = if is_for_it_alone { KeptWork::Approved } else { KeptWork::Own };
            line.map(|line| (line, work))
        }
    };
    let is_published = landed.published.result.head().is_some() && !outcome.changes.is_empty();
    let has_left = line.is_some() || matches!(kept, Ok(Some(_))) || is_published;
    let before = before.as_deref().filter(|_| !has_left).map(|line| (line, KeptWork::Earlier));
    let shown = line.as_ref().map(|(line, work)| (line.as_str(), *work)).or(before);
    let mode =
        Some(run.plan.mode.as_str()).filter(|mode| *mode != run.policy.settings().modes.default);
    let shown = shown.map(|(line, work)| KeptLine {
        line,
        work,
        mode: mode.filter(|_| work == KeptWork::Own),
    });
    let retry = Some(prefix).filter(|prefix| !prefix.is_empty());
    let next = FollowUp { retry, kept: shown };
    let publication = publisher.publish_report(&mut outcome, &ending, next, landed).await;
    if let (Some(claim), Ok(None), None) = (start.claim(), &kept, &line) {
        let session = &run.plan.session;
        if let Err(why) = carry::drop_off(env, run, (session, claim)).await {
            tracing::warn!(%why, %session, "could not remove the ended session from its ref");
        }
    }
    // What nothing took the place of, or no comment names, is found where it was.
    if has_left && publication.comment.is_some() {
        kept::drop_superseded(env, &session, &publisher).await;
    }
    execute::close(&execution, &outcome).await;
    finish(env, session, outcome, publication)
}

/// Leaves the checkout as the run found it, and the changes as a patch.
pub(super) fn finish(
    env: &ActionEnv<'_>,
    session: SessionRun,
    outcome: Outcome,
    publication: Publication,
) -> Result<ActionEnd, RunError> {
    let SessionRun { run, folder, .. } = session;
    let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
    env.workspace.repo.restore(&outcome.base, &touched).map_err(RunError::internal)?;
    let fails = run.settings.fails_on(outcome.word);
    let patch = patch::write(&folder, &outcome, &run.redactor).map_err(RunError::internal)?;
    let plan = run.plan;
    Ok(ActionEnd::Ran(Box::new(FinishedRun {
        plan,
        outcome,
        publication,
        folder,
        patch,
        bundle: None,
        fails,
    })))
}

fn no_place(why: String) -> String {
    format!(
        "no issue or pull request started it, so people have no place to decide, and none could \
         be opened: {why}"
    )
}
