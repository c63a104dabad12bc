//! The Action's route: from an event's payload to what was published. Admission first, then one run
//! for each request.
//!
//! In: the job's context, inputs, payload, checkout, forge. Out: what happened, in order, for
//! outputs and the job summary. Policy, modes, settings and jobs come from the trusted ref: the
//! default branch or a pull request's base, whose policy that of the default branch bounds. They
//! are loaded once for all runs of the event.

mod admission;
mod alerts;
mod answer;
mod branches;
mod bundle;
mod carry;
mod changed;
mod claim;
mod claimed;
mod conversation;
mod decide;
mod declined;
mod due;
mod earlier;
mod fenced;
mod findings;
mod finished;
mod going_on;
mod images;
mod jobs;
mod kept;
mod messages;
mod not_resumed;
mod outdated;
mod places;
mod policy_check;
mod pull_checks;
mod quoted;
mod rebase;
mod refs;
mod repair;
mod retry;
mod reviewed;
mod session_run;
mod setup;
mod status;
mod sweep;
#[cfg(test)]
mod tests;
mod thread;
mod thread_sessions;
mod undo;
mod work_items;

use std::path::PathBuf;

use futures::future::BoxFuture;

use crate::config::action_context::ActionContext;
use crate::config::action_inputs::ActionInputs;
use crate::config::environment::Environment;
use crate::run::action::admission::{Admission, AdmittedEvent, RefusedEvent, UnusableSetup};
use crate::run::action::answer::Question;
use crate::run::action::claim::{ClaimAnswer, ClaimRequest};
use crate::run::action::conversation::ConversationWish;
use crate::run::action::declined::Declined;
use crate::run::action::jobs::JobBook;
use crate::run::action::places::{progress_marker, reaction_target, reply_to};
use crate::run::action::session_run::{ActionStart, SessionRun, carry_out};
use crate::run::action::setup::SetupPlace;
use crate::run::action::work_items::WorkItem;
use crate::run::error::RunError;
use crate::run::kept_file::KeptAt;
use crate::run::plan::{RunPlan, RunSubject};
use crate::run::prepare::{self};
use crate::run::publish::Publication;
use crate::run::publish::poster::Poster;
use crate::run::request::{RefusalNotice, RequestRefusal, RequestedAction};
use crate::run::run_request::{RunPurpose, RunRequest};
use locum_agent::session::event::JournalLine;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_forge::event::{self, EventError, Trigger};
use locum_forge::posts::CheckConclusion;
use locum_forge::{Forge, PullRequest, ReadPatience};
use locum_policy::Policy;
use locum_policy::intent::{Facts, TriggerKind};
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;
use locum_workspace::repo::CommitId;

/// What the Action's step has to work with.
pub struct ActionEnv<'a> {
    /// The workflow job's context.
    pub job: &'a ActionContext,
    /// The inputs about this event.
    pub inputs: &'a ActionInputs,
    /// What is wrong with inputs and settings of the step, whatever the event is.
    pub mistakes: Option<&'a RunError>,
    /// Every variable of the step.
    pub environment: &'a Environment,
    /// The event's payload as JSON text.
    pub payload: &'a str,
    /// The checkout that runs work in.
    pub workspace: &'a Workspace,
    /// API of the forge that sent the event.
    pub forge: &'a dyn Forge,
    /// Where commits are fetched from and pushed to.
    pub remote: &'a Remote,
    /// The `git` binary.
    pub git: &'a GitBinary,
    /// Source of the current time, fixed in tests.
    pub clock: &'a dyn Clock,
}

impl<'a> ActionEnv<'a> {
    /// Returns what was read from the payload, as text: the same in each job of a workflow run.
    fn trigger_text(&self) -> String {
        let (name, payload) = (self.job.event_name.as_str(), self.payload);
        let trigger = event::parse(name, payload).or_else(|_| event::parse_other(name, payload));
        trigger.ok().and_then(|trigger| serde_json::to_string(&trigger).ok()).unwrap_or_default()
    }

    /// Returns what posts as a policy lets it.
    fn poster<'p>(&'p self, policy: &'p Policy, facts: &'p Facts) -> Poster<'p> {
        Poster { forge: self.forge, policy, facts }
    }

    /// Returns where refs of Locum's own are.
    fn kept_at(&self) -> KeptAt<'a> {
        KeptAt { git: self.git, remote: self.remote, repo: &self.workspace.repo }
    }
}

/// The result of one request.
pub enum ActionEnd {
    /// The event starts nothing; the reason is only logged.
    Skipped(String),
    /// It was refused, or a question about locum itself was answered, where it was asked.
    Answered {
        /// What was answered, in one line.
        what: String,
        /// True for a refusal.
        refused: bool,
    },
    /// A dry run's plan.
    Planned(Box<RunPlan>),
    /// A check of a pull request.
    Checked(FinishedCheck),
    /// The file of a job has these mistakes; the other jobs ran.
    Unusable(RunError),
    /// A run that ended, whatever its outcome.
    Ran(Box<FinishedRun>),
}

/// Who makes a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMaker {
    /// This program, which reads files.
    Program,
    /// A model, by a check's instructions.
    Model,
}

/// A check that ended.
pub struct FinishedCheck {
    /// Its name.
    pub name: String,
    /// Who made it.
    pub by: CheckMaker,
    /// How it ended.
    pub conclusion: CheckConclusion,
    /// In one line.
    pub title: String,
    /// What it found, line by line.
    pub details: String,
    /// Why it is not shown on the commit; `None` where it is.
    pub unpublished: Option<String>,
}

/// A run that ended.
pub struct FinishedRun {
    /// What was settled before.
    pub plan: RunPlan,
    /// How the session ended.
    pub outcome: Outcome,
    /// What was published, and what was not.
    pub publication: Publication,
    /// Folder of the session's journal.
    pub folder: PathBuf,
    /// The changes as a patch, next to the journal; `None` when nothing changed.
    pub patch: Option<PathBuf>,
    /// The bundle that another job publishes; `None` where this one does.
    pub bundle: Option<PathBuf>,
    /// Whether the settings make the step fail on this outcome.
    pub fails: bool,
}

/// How a run begins on its thread, is stopped from outside and followed.
struct RunControl<'w> {
    cancelled: BoxFuture<'static, ()>,
    watch: &'w mut dyn FnMut(&JournalLine, &SessionState),
    wish: ConversationWish,
}

/// An event, with what was found out about it before anything runs.
struct ForgeEvent {
    trigger: Trigger,
    pull_request: Option<PullRequest>,
    default_branch: String,
    trusted: CommitId,
}

/// Closes what runs left behind in the repository, and starts nothing.
///
/// # Errors
/// When the set-up is wrong or the forge does not answer.
pub async fn sweep_repository(env: &ActionEnv<'_>) -> Result<Vec<ActionEnd>, RunError> {
    match env.mistakes {
        Some(mistakes) => Err(mistakes.clone()),
        None => Ok(vec![sweep::repository(env).await?]),
    }
}

/// Carries out what an event asks for; a schedule also closes what runs left behind.
///
/// # Errors
/// When the set-up is wrong or the machine fails; what is wrong with the event itself is an
/// [`ActionEnd`].
pub async fn run(
    env: &ActionEnv<'_>,
    cancelled: impl Fn() -> BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &SessionState),
) -> Result<Vec<ActionEnd>, RunError> {
    let ends = run_event(env, cancelled, watch).await;
    // What a sweep does not see, the next one does.
    env.forge.set_patience(ReadPatience::Short);
    if env.job.event_name == "schedule"
        && env.mistakes.is_none()
        && !env.inputs.dry_run
        && !env.inputs.writes_bundle()
        && let Err(error) = sweep::repository(env).await
    {
        tracing::warn!(error = error.report(), "what runs left behind is not looked for");
    }
    ends
}

async fn run_event(
    env: &ActionEnv<'_>,
    cancelled: impl Fn() -> BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &SessionState),
) -> Result<Vec<ActionEnd>, RunError> {
    let name = env.job.event_name.as_str();
    let trigger = match event::parse(name, env.payload) {
        Err(EventError::Ignored { .. }) if env.inputs.has_task() => {
            event::parse_other(name, env.payload)
        }
        parsed => parsed,
    };
    let trigger = match trigger {
        Ok(trigger) => trigger,
        Err(error @ EventError::Ignored { .. }) => {
            return Ok(vec![ActionEnd::Skipped(error.to_string())]);
        }
        Err(error @ EventError::Malformed { .. }) => {
            let place = env.job.event_path.display().to_string();
            return Err(RunError::usage(place, error.to_string()));
        }
    };
    if let Some(mistakes) = env.mistakes {
        return Err(setup::tell_maintainer(env, &trigger, mistakes.clone()).await);
    }
    let mut admission = match admission::admit(env, &trigger).await {
        Ok(admission) => admission,
        Err(error) => return Err(setup::tell_maintainer(env, &trigger, error).await),
    };
    if let Admission::Admitted(admitted) = &admission
        && let Some(decides) = going_on::decision(env, admitted).await?
    {
        admission = admission::admit(env, &decides).await?;
    }
    if let Some(answers) = quoted::answering(env, &admission).await? {
        admission = admission::admit(env, &answers).await?;
    }
    let mut wish = ConversationWish::GoOn;
    if let Admission::Admitted(admitted) = &admission
        && admitted.request.action == RequestedAction::Retry
    {
        wish = ConversationWish::Repeat;
        match retry::last_request(env, admitted).await {
            Ok(again) => admission = admission::admit(env, &again).await?,
            Err(Declined::Refused(why)) => {
                return Ok(vec![answer::refuse(env, admitted, &why).await]);
            }
            Err(Declined::Failed(error)) => return Err(error),
        }
    }
    let mut admitted = match admission {
        Admission::Admitted(admitted) => *admitted,
        Admission::Refused(refused) => {
            let RefusedEvent { event, refused, policy } = *refused;
            return Ok(vec![answer::refusal_or_failure(env, &event, &policy, &refused).await?]);
        }
        Admission::Skipped(why) => return Ok(vec![ActionEnd::Skipped(why)]),
        Admission::Unanswered(error) => return Err(error),
        Admission::NoPolicy(trusted) => {
            return match setup::tell_no_policy(env, &trigger, &trusted).await {
                Some(error) => Err(error),
                None => Ok(vec![ActionEnd::Skipped("the trusted ref holds no policy".to_owned())]),
            };
        }
        Admission::Unusable(unusable) => {
            let UnusableSetup { event, policy, error } = *unusable;
            let place = SetupPlace { event: &event, policy: &policy, facts: &Facts::default() };
            return Err(setup::tell(env, &place, error).await);
        }
    };
    if admitted.request.facts.trigger == TriggerKind::CiFailure {
        match repair::begin(env, &mut admitted).await {
            Ok(None) => {}
            Ok(Some(end)) => return Ok(vec![end]),
            Err(error) => return Err(setup::tell(env, &place_of(&admitted), error).await),
        }
    }
    match follow(env, &admitted, wish, cancelled, watch).await {
        Ok(ends) => Ok(ends),
        Err(error) => Err(setup::tell(env, &place_of(&admitted), error).await),
    }
}

fn place_of<'a>(admitted: &'a AdmittedEvent<'_>) -> SetupPlace<'a> {
    let AdmittedEvent { event, request, config, .. } = admitted;
    SetupPlace { event, policy: &config.policy, facts: &request.facts }
}

/// Does what an admitted event asks for.
async fn follow(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    wish: ConversationWish,
    cancelled: impl Fn() -> BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &SessionState),
) -> Result<Vec<ActionEnd>, RunError> {
    if let Some(end) = bundle::screen(env, admitted).await {
        return Ok(vec![end]);
    }
    let control = RunControl { cancelled: cancelled(), watch: &mut *watch, wish };
    let end = match &admitted.request.action {
        RequestedAction::Run | RequestedAction::Rebase => None,
        RequestedAction::Help => Some(answer::question(env, admitted, Question::Help).await?),
        RequestedAction::Status => Some(answer::question(env, admitted, Question::Status).await?),
        RequestedAction::Stop => Some(answer::question(env, admitted, Question::Stop).await?),
        RequestedAction::Explain => Some(explain(env, admitted).await?),
        RequestedAction::Undo => Some(undo::undo(env, admitted).await?),
        RequestedAction::ChecksPassed => Some(repair::passed(env, admitted).await),
        // What is asked again was put in its place by now.
        RequestedAction::Retry => {
            Some(answer::refuse(env, admitted, "nothing can be asked again").await)
        }
        RequestedAction::Decide(decision) => {
            Some(decide::decide(env, admitted, decision, control).await?)
        }
    };
    if let Some(mut end) = end {
        jobs::after_decision(env, admitted, &mut end).await;
        return Ok(vec![end]);
    }
    let policy = &admitted.config.policy;
    let mut ends = Vec::new();
    if !admitted.request.checks.names.is_empty() {
        let changed = changed::paths(env, &admitted.event).await?.unwrap_or_default();
        ends.extend(policy_check::check(env, admitted, &changed).await?);
        for item in pull_checks::items(admitted, &changed)? {
            if env.inputs.writes_bundle() {
                let why = "a bundle holds one run, so no check is made".to_owned();
                ends.push(ActionEnd::Skipped(why));
                break;
            }
            let control = RunControl { cancelled: cancelled(), watch: &mut *watch, wish };
            let name = item.check_name().unwrap_or_default();
            let end = one(env, admitted, item, control).await?;
            ends.push(pull_checks::finished(admitted, &name, end));
        }
        pull_checks::comment(env, admitted, &ends).await;
    }
    if admitted.request.checks.alone {
        if ends.is_empty() {
            ends.push(ActionEnd::Skipped("no check is about what was changed".to_owned()));
        }
        return Ok(ends);
    }
    if let Some(refused) = work_items::unusable_command(admitted)? {
        let event = &admitted.event;
        return Ok(vec![answer::refusal_or_failure(env, event, policy, &refused).await?]);
    }
    let items = work_items::work_items(env, admitted).await?;
    bundle::check_single(env, &items)?;
    let mut book = JobBook::open_for(env, admitted, &items).await;
    for item in items {
        let control = RunControl { cancelled: cancelled(), watch: &mut *watch, wish };
        ends.push(match (&mut book, item.job().map(str::to_owned)) {
            (Some(book), Some(job)) => match book.left_out(&job) {
                Some(why) => ActionEnd::Skipped(why),
                None if env.inputs.writes_bundle() => one(env, admitted, item, control).await?,
                None => {
                    book.begin(&job).await;
                    let mut end = one(env, admitted, item, control).await;
                    book.end(&job, end.as_mut().map_err(|error| &*error)).await;
                    end?
                }
            },
            (_, _) => one(env, admitted, item, control).await?,
        });
    }
    Ok(finished::close_event(env, admitted, book, ends).await)
}

/// Runs one request under a claim on its subject, and publishes its outcome.
async fn one(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    item: WorkItem,
    control: RunControl<'_>,
) -> Result<ActionEnd, RunError> {
    branches::check_own(env, admitted, &item)?;
    if env.inputs.dry_run || admitted.request.flags.dry_run {
        let base = refs::start(env, &admitted.event, None).await?;
        let request = work_items::run_request(admitted, item, base, None);
        let request = RunRequest { purpose: RunPurpose::Plan, ..request };
        let run = prepare::prepare(request, &admitted.config, env.workspace)?;
        if !env.inputs.dry_run {
            answer::plan(env, admitted, &run.plan).await;
        }
        return Ok(ActionEnd::Planned(Box::new(run.plan)));
    }
    let (subject, policy) = (item.subject(admitted), &admitted.config.policy);
    let marker = progress_marker(env, &admitted.event.trigger);
    let claimed_words = subject.claim_words(item.check());
    let request = ClaimRequest {
        subject: &claimed_words,
        by: &admitted.event.trigger.actor.login,
        comment: if subject.thread().is_some() && item.check().is_none() { &marker } else { "" },
        policy,
        facts: &admitted.request.facts,
    };
    let asked = if env.inputs.writes_bundle() {
        ClaimAnswer::without(env.clock, None)
    } else {
        claim::take(env, &request).await?
    };
    let mut claim = match asked {
        ClaimAnswer::Granted(claim) => *claim,
        ClaimAnswer::Busy(why) => {
            if let RunSubject::Job { name, .. } = &subject {
                return Ok(ActionEnd::Skipped(format!("job `{name}` is left out: {why}")));
            }
            if !admitted.request.is_asked() {
                return Ok(ActionEnd::Skipped(why));
            }
            let refused = RequestRefusal { why, rule: "claim", notice: RefusalNotice::Posted };
            return Ok(answer::refusal(env, &admitted.event, policy, &refused).await);
        }
    };
    let ended = claimed::run(env, admitted, item, control, &mut claim).await;
    claim.release().await;
    ended
}

/// Answers what a run here may do, by the plan of one.
async fn explain(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<ActionEnd, RunError> {
    let base = admitted.event.trusted.clone();
    let mut items = work_items::work_items(env, admitted).await?;
    let Some(item) = items.pop() else {
        return Ok(ActionEnd::Skipped("there is nothing to explain".to_owned()));
    };
    let request = work_items::run_request(admitted, item, base, None);
    let request = RunRequest { purpose: RunPurpose::Plan, ..request };
    let run = prepare::prepare(request, &admitted.config, env.workspace)?;
    answer::question(env, admitted, Question::Explain(&run.plan)).await
}
