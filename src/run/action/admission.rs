//! The gate of the Action: what is asked of the forge, in which order, before anything runs. The
//! decision itself is `request`'s.

use std::rc::Rc;

use jiff::SignedDuration;

use crate::run::action::declined::Declined;
use crate::run::action::{ActionEnv, ForgeEvent, changed, refs};
use crate::run::error::RunError;
use crate::run::job::Job;
use crate::run::jobs::dashboard::{self, dashboard_marker};
use crate::run::publish::own_branch::is_ours;
use crate::run::request::bounds::{self, TriggerBounds};
use crate::run::request::permission::PermissionAnswer;
use crate::run::request::private::check_private;
use crate::run::request::{
    self, JobFacts, RefusalNotice, Request, RequestFacts, RequestRefusal, RequestedAction,
};
use crate::run::source::FileSource;
use crate::run::trusted::TrustedConfig;
use locum_forge::commits::CommitAuthor;
use locum_forge::event::{EventKind, EventSubject, Trigger};
use locum_forge::{ForgeError, PullRequest, Thread, is_app};
use locum_policy::Policy;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::Triggers;
use locum_workspace::repo::CommitId;

/// How our progress comments begin, whoever they were for.
pub(super) const PROGRESS: &str = "<!-- locum:v1 kind=progress";

/// What the gate says to an event.
pub(super) enum Admission<'a> {
    /// It may start something.
    Admitted(Box<AdmittedEvent<'a>>),
    /// It may not; the reason goes to the log, and to whoever asked where they may read it.
    Refused(Box<RefusedEvent>),
    /// It starts nothing, for this reason, which only the log shows.
    Skipped(String),
    /// It starts nothing, because this commit, the trusted one, holds no policy.
    NoPolicy(CommitId),
    /// It may or may not: the forge did not say who asks.
    Unanswered(RunError),
    /// It would start something if the set-up had no mistakes.
    Unusable(Box<UnusableSetup>),
}

/// An event that may start something.
pub(super) struct AdmittedEvent<'a> {
    /// The event as read from the payload.
    pub(super) event: ForgeEvent,
    /// What the event requests.
    pub(super) request: Request,
    /// The configuration it was admitted under, and that its runs are prepared with.
    pub(super) config: TrustedConfig<'a>,
    /// The policy of the default branch that bounds it; `None` where it is the same.
    pub(super) bounds: Option<Rc<Policy>>,
    /// What is said beside the result of its runs.
    pub(super) remarks: Vec<String>,
}

/// An event that was refused.
pub(super) struct RefusedEvent {
    /// The event as read from the payload.
    pub(super) event: ForgeEvent,
    /// The rule that refused it, and why.
    pub(super) refused: RequestRefusal,
    /// The policy that refused it.
    pub(super) policy: Rc<Policy>,
}

/// An event that would be admitted, under a configuration with mistakes.
pub(super) struct UnusableSetup {
    /// The event as read from the payload.
    pub(super) event: ForgeEvent,
    /// The policy, which has none.
    pub(super) policy: Rc<Policy>,
    /// The mistakes.
    pub(super) error: RunError,
}

/// Screens a trigger by what is known without asking anyone; finds the pull request it is about and
/// the trusted commit; asks the forge who this is, and decides.
///
/// # Errors
/// When the machine or the forge fails, or a file of the trusted ref has mistakes.
pub(super) async fn admit<'a>(
    env: &ActionEnv<'a>,
    trigger: &Trigger,
) -> Result<Admission<'a>, RunError> {
    let default_branch = default_branch(env, trigger);
    if default_branch.is_empty() {
        return Ok(skipped("repository", "the payload does not name the default branch"));
    }
    let is_by_someone = !matches!(trigger.kind, EventKind::Schedule | EventKind::ChecksEnded);
    if is_by_someone && !env.inputs.allows_user(&trigger.actor.login) {
        return Ok(not_allowed(trigger));
    }
    let default_tip = refs::default_tip(env, &default_branch).await?;
    let at_default = load(env, &default_tip)?;
    if let Some(config) = &at_default {
        let triggers = &config.policy.settings().triggers;
        if let Err(refused) = request::screen(trigger, triggers, &job_facts(env, &default_branch)) {
            return Ok(Admission::Skipped(refused.to_string()));
        }
    }
    let event = match find(env, trigger.clone(), default_branch, default_tip.clone()).await {
        Ok(event) => event,
        Err(Declined::Refused(why)) => return Ok(skipped("pull-request", &why)),
        Err(Declined::Failed(error)) => return Err(error),
    };
    // Checks of our own pull request, or of what we pushed, have no actor.
    let own_login = own_login(env, trigger).await;
    let is_ours = event.pull_request.as_ref().is_some_and(is_ours)
        || request::who::is_own(trigger, own_login.as_deref());
    if trigger.kind == EventKind::ChecksEnded
        && !is_ours
        && !env.inputs.allows_user(&trigger.actor.login)
    {
        return Ok(not_allowed(trigger));
    }
    let Some(at_default) = at_default else { return Ok(Admission::NoPolicy(default_tip)) };
    if event.trusted == default_tip {
        return decide(env, event, at_default, None).await;
    }
    let Some(config) = load(env, &event.trusted)? else {
        return Ok(Admission::NoPolicy(event.trusted));
    };
    let is_same = config.policy.hash() == at_default.policy.hash();
    decide(env, event, config, Some(at_default).filter(|_| !is_same)).await
}

/// Asks who we are. GitHub names whoever pushed as the sender of checks that ended; the login of an
/// app's token is known by its commits only.
async fn own_login(env: &ActionEnv<'_>, trigger: &Trigger) -> Option<String> {
    match env.forge.own_login().await {
        None if trigger.kind == EventKind::ChecksEnded => {
            let author = env.forge.commit_author().await;
            (author != CommitAuthor::default()).then_some(author.name)
        }
        known => known,
    }
}

/// Finds what an event is about and the commit that judges it; a refusal says why it is about
/// nothing.
async fn find(
    env: &ActionEnv<'_>,
    mut trigger: Trigger,
    default_branch: String,
    default_tip: CommitId,
) -> Result<ForgeEvent, Declined> {
    let subject = trigger.subject.as_ref().filter(|subject| subject.is_pull_request);
    let of_checks = trigger.checks.as_ref().map(|checks| checks.pull_requests.first().copied());
    let number = match (subject, of_checks) {
        (Some(subject), _) => subject.number,
        (None, Some(Some(number))) => number,
        (None, Some(None)) => {
            let why = "the checks are not of a pull request of this repository";
            return Err(Declined::refused(why));
        }
        (None, None) => {
            let (pull_request, trusted) = (None, default_tip);
            return Ok(ForgeEvent { trigger, pull_request, default_branch, trusted });
        }
    };
    let pull_request = env.forge.pull_request(number).await.map_err(RunError::internal)?;
    let head_sha = trigger.head.as_ref().map(|head| head.sha.clone());
    trigger.subject.get_or_insert_with(|| subject_of(&pull_request, head_sha));
    let trusted = refs::base_of(env, &pull_request, (&default_branch, &default_tip)).await?;
    Ok(ForgeEvent { trigger, pull_request: Some(pull_request), default_branch, trusted })
}

/// Returns the pull request whose checks ended as what the event is about; `head` is the commit
/// that was checked.
fn subject_of(pull_request: &PullRequest, head: Option<String>) -> EventSubject {
    EventSubject {
        number: pull_request.number,
        title: pull_request.title.clone(),
        body: pull_request.body.clone(),
        author: pull_request.author.clone(),
        is_pull_request: true,
        is_discussion: false,
        is_open: pull_request.is_open,
        is_locked: false,
        head_sha: head,
    }
}

/// Asks the forge who this is, and decides. Where another commit than the tip of the default branch
/// judges the event, whose policy is another one, that of the default branch bounds it.
async fn decide<'a>(
    env: &ActionEnv<'_>,
    event: ForgeEvent,
    config: TrustedConfig<'a>,
    bounds: Option<TrustedConfig<'a>>,
) -> Result<Admission<'a>, RunError> {
    let (trigger, modes) = (&event.trigger, config.runnable());
    let triggers = &config.policy.settings().triggers;
    let bounding_modes = bounds.as_ref().map(|bounds| bounds.runnable().unwrap_or_default());
    let bounding = bounds.as_ref().zip(bounding_modes.as_deref()).map(|(bounds, modes)| {
        TriggerBounds { triggers: &bounds.policy.settings().triggers, modes }
    });
    let filters = |triggers: &Triggers| {
        let screened = request::screen(trigger, triggers, &job_facts(env, &event.default_branch));
        screened.is_ok_and(|by_paths| by_paths)
    };
    let is_by_paths = filters(triggers) || bounding.is_some_and(|bounds| filters(bounds.triggers));
    let changed_paths = if is_by_paths { changed::paths(env, &event).await? } else { None };
    let profiles: Vec<String> = config.settings.values.models.profiles.keys().cloned().collect();
    let own_login = own_login(env, trigger).await;
    let asked = async {
        let permission = permission(env, trigger, &trigger.actor.login).await?;
        Ok((permission, restarted_by(env, trigger).await?))
    };
    let (permission, restarted_by) = match asked.await {
        Ok(answers) => answers,
        Err(unanswered) => return Ok(Admission::Unanswered(unanswered)),
    };
    let known = RequestFacts {
        job: job_facts(env, &event.default_branch),
        own_login: own_login.as_deref(),
        permission,
        restarted_by,
        pull_request: event.pull_request.as_ref(),
        changed_paths: changed_paths.as_deref(),
        recent_runs: recent_runs(env, trigger, SignedDuration::from_hours(1)).await?,
        policy: config.policy.origin(),
        modes: modes.as_deref().unwrap_or_default(),
        profiles: &profiles,
    };
    let decided = bounds::decide(trigger, (triggers, bounding), &known)
        .and_then(|request| check_job(env, trigger, request, triggers))
        .and_then(|request| check_private(trigger, &config.policy).map(|()| request));
    let decided = match (decided, trigger.kind) {
        (Ok(request), EventKind::IssueEdited) if request.facts.trigger == TriggerKind::Dispatch => {
            match jobs_of_boxes(env, &event, &config).await {
                Ok(jobs) => check_box(trigger, request, triggers, jobs),
                Err(BoxError::Failed(error)) => return Err(error),
                Err(BoxError::NotOurs) => Err(silent(BOX_RULE, "the issue is not the dashboard")),
                Err(BoxError::Unusable(error)) => {
                    let policy = config.policy;
                    return Ok(Admission::Unusable(Box::new(UnusableSetup {
                        event,
                        policy,
                        error,
                    })));
                }
            }
        }
        (decided, _) => decided,
    };
    Ok(match (decided, modes) {
        (Err(refused), _) if refused.notice == RefusalNotice::Silent => {
            Admission::Skipped(refused.to_string())
        }
        (Ok(request), Err(error)) if request.action == RequestedAction::ChecksPassed => {
            Admission::Skipped(error.report())
        }
        (_, Err(error)) => {
            let policy = config.policy;
            Admission::Unusable(Box::new(UnusableSetup { event, policy, error }))
        }
        (Ok(request), Ok(_)) => {
            let bounds = bounds.map(|bounds| bounds.policy);
            let config = config.within(bounds.as_deref());
            let remarks = Vec::new();
            Admission::Admitted(Box::new(AdmittedEvent { event, request, config, bounds, remarks }))
        }
        (Err(refused), Ok(_)) => {
            Admission::Refused(Box::new(RefusedEvent { event, refused, policy: config.policy }))
        }
    })
}

/// Returns the error of a gate that was not answered: it stays shut, and the job says so.
fn unanswered(login: &str, why: &ForgeError) -> RunError {
    RunError::internal(format!(
        "nothing was started: it is not known what `{login}` may do here: {why}"
    ))
    .hint("run the job again when the forge answers; the token needs `metadata: read` for this")
}

/// Counts the runs started on a thread within the last while.
///
/// # Errors
/// When the forge does not answer: what cannot be counted cannot be bounded.
pub(super) async fn recent_runs(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    within: SignedDuration,
) -> Result<u32, RunError> {
    let Some(subject) = &trigger.subject else { return Ok(0) };
    let since = env.clock.now().checked_sub(within).map_err(RunError::internal)?;
    let ours = env
        .forge
        .own_comments(thread_of(subject), PROGRESS, Some(since))
        .await
        .map_err(RunError::internal)?;
    Ok(u32::try_from(ours.len()).unwrap_or(u32::MAX))
}

/// Returns where the comments of an issue or pull request are.
pub(super) fn thread_of(subject: &EventSubject) -> Thread {
    let &EventSubject { number, is_pull_request, is_discussion, .. } = subject;
    Thread { number, is_pull_request, is_discussion }
}

/// A schedule starts only jobs that the policy names.
fn check_job(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    mut request: Request,
    triggers: &Triggers,
) -> Result<Request, RequestRefusal> {
    // An entry of the policy says itself what it starts.
    let by_rule = request::rules::kind_of(trigger.kind)
        .is_some_and(|(kind, _)| kind == request.facts.trigger);
    if !by_rule {
        request.job = request.job.or_else(|| env.inputs.job.clone());
    }
    request.facts.job.clone_from(&request.job);
    match &request.job {
        Some(job)
            if trigger.kind == EventKind::Schedule && !triggers.schedule_jobs.contains(job) =>
        {
            Err(silent("triggers.schedule.jobs", &format!("the job `{job}` is not listed")))
        }
        Some(_) | None => Ok(request),
    }
}

/// Why the boxes of an issue start nothing.
enum BoxError {
    /// The issue is somebody else's, or was edited since.
    NotOurs,
    /// The job files have mistakes.
    Unusable(RunError),
    /// The forge does not answer.
    Failed(RunError),
}

impl From<RunError> for BoxError {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

/// The rule that lets the boxes of the dashboard start jobs.
const BOX_RULE: &str = "triggers.schedule.dashboard";

/// Returns the jobs that boxes start, on an issue that is our dashboard.
async fn jobs_of_boxes<'c>(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    config: &'c TrustedConfig<'_>,
) -> Result<&'c [Job], BoxError> {
    let number = event.trigger.subject.as_ref().map(|subject| subject.number);
    let ours =
        env.forge.own_issue(&dashboard_marker(), number).await.map_err(RunError::internal)?;
    if ours.map(|ours| ours.number) != number {
        return Err(BoxError::NotOurs);
    }
    config.jobs().map_err(BoxError::Unusable)
}

/// A ticked box has to be that of a job that there is.
fn check_box(
    trigger: &Trigger,
    mut request: Request,
    triggers: &Triggers,
    jobs: &[Job],
) -> Result<Request, RequestRefusal> {
    let text = request::event::find_box(trigger, triggers)?;
    let job = dashboard::job_of_box(jobs, &text).map(|job| job.name.clone());
    if job.is_none() {
        let why = format!("there is no job for the box {text}");
        return Err(RequestRefusal { why, rule: BOX_RULE, notice: RefusalNotice::Posted });
    }
    request.facts.job.clone_from(&job);
    Ok(Request { job, ..request })
}

/// Loads what judges an event; `None` when the commit holds no policy.
fn load<'a>(env: &ActionEnv<'a>, commit: &CommitId) -> Result<Option<TrustedConfig<'a>>, RunError> {
    let source = FileSource::Commit(&env.workspace.repo, commit.clone());
    TrustedConfig::load_for_event(source, env.environment, env.inputs)
}

pub(super) fn job_facts<'a>(env: &ActionEnv<'a>, default_branch: &'a str) -> JobFacts<'a> {
    JobFacts {
        now: env.clock.now(),
        repository: &env.job.repository,
        default_branch,
        git_ref: &env.job.git_ref,
        has_task: env.inputs.has_task(),
    }
}

/// Asks what someone may do here. A schedule has no actor, so it has no permission and needs none.
/// An odd answer is one as well: it lets nobody in.
///
/// # Errors
/// When the forge does not answer, or may not tell this token.
pub(super) async fn permission(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    login: &str,
) -> Result<PermissionAnswer, RunError> {
    if trigger.kind == EventKind::Schedule {
        return Ok(PermissionAnswer::Unknown("scheduled runs have no actor".to_owned()));
    }
    match env.forge.permission(login).await {
        Ok(permission) => Ok(PermissionAnswer::Known(permission)),
        Err(ForgeError::NotFound { .. }) if is_app(login) => Ok(PermissionAnswer::App),
        Err(
            error @ (ForgeError::Failed { .. }
            | ForgeError::NotFound { .. }
            | ForgeError::Conflict { .. }),
        ) => Ok(PermissionAnswer::Unknown(error.to_string())),
        Err(
            error @ (ForgeError::Unavailable { .. }
            | ForgeError::RateLimited { .. }
            | ForgeError::Forbidden { .. }),
        ) => Err(unanswered(login, &error)),
    }
}

/// Asks what whoever started the job again may do here, where that was someone else.
///
/// # Errors
/// As [`permission`].
pub(super) async fn restarted_by<'a>(
    env: &'a ActionEnv<'_>,
    trigger: &Trigger,
) -> Result<Option<(&'a str, PermissionAnswer)>, RunError> {
    let login = env.job.triggering_actor.as_str();
    if login.is_empty() || login.eq_ignore_ascii_case(&env.job.actor) {
        return Ok(None);
    }
    Ok(Some((login, permission(env, trigger, login).await?)))
}

pub(super) fn default_branch(env: &ActionEnv<'_>, trigger: &Trigger) -> String {
    if !trigger.default_branch.is_empty() {
        return trigger.default_branch.clone();
    }
    // A schedule's job always runs on the default branch; its payload says nothing.
    env.job.git_ref.strip_prefix("refs/heads/").unwrap_or_default().to_owned()
}

fn silent(rule: &'static str, why: &str) -> RequestRefusal {
    RequestRefusal { why: why.to_owned(), rule, notice: RefusalNotice::Silent }
}

fn not_allowed(trigger: &Trigger) -> Admission<'static> {
    let why = format!("{} is not in the input `allow-users`", trigger.actor.login);
    skipped("allow-users", &why)
}

fn skipped(rule: &'static str, why: &str) -> Admission<'static> {
    Admission::Skipped(silent(rule, why).to_string())
}
