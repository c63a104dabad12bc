//! The gate of the Action: what is asked of the forge, in which order, before anything runs. The
//! decision itself is `request`'s.

use jiff::SignedDuration;

use crate::config::settings::Settings;
use crate::run::action::{Arrival, Found, refs};
use crate::run::fault::Fault;
use crate::run::prepare;
use crate::run::request::{self, Answer, Refused, Request, Situation};
use crate::run::trusted::Trusted;
use locum_forge::Thread;
use locum_forge::event::{EventKind, Subject, Trigger};
use locum_modes::ModeSet;
use locum_policy::Policy;
use locum_policy::lint::risks::exposed_where_private;
use locum_policy::schema::Triggers;

/// How our progress comments begin, whoever they were for.
pub(super) const PROGRESS: &str = "<!-- locum:v1 kind=progress";

/// An event that may start something.
pub(super) struct Admitted {
    /// What is asked for.
    pub(super) request: Request,
    /// The policy it was admitted under.
    pub(super) policy: Policy,
    /// Every mode.
    pub(super) modes: ModeSet,
}

/// Screens a trigger by what is known without asking anyone, then finds the pull request it is
/// about and the trusted commit.
///
/// # Errors
/// When the machine or the forge fails; the inner error says why the trigger starts nothing.
pub(super) async fn find(
    arrival: &Arrival<'_>,
    trigger: Trigger,
) -> Result<Result<Found, Refused>, Fault> {
    let default_branch = default_branch(arrival, &trigger);
    if default_branch.is_empty() {
        return Ok(Err(silent("repository", "the payload does not name the default branch")));
    }
    if trigger.kind != EventKind::Schedule && !arrival.inputs.allows_user(&trigger.actor.login) {
        return Ok(Err(silent(
            "allow-users",
            &format!("{} is not in the input `allow-users`", trigger.actor.login),
        )));
    }
    let default_tip = refs::default_tip(arrival, &default_branch).await?;
    let trusted = Trusted { repo: &arrival.workspace.repo, commit: &default_tip };
    if let Some(triggers) = read(arrival, trusted)?
        .map(|(policy, _)| arrival.inputs.tighten(&policy.settings().triggers))
    {
        let situation = situation(arrival, &default_branch, Err("not asked yet".to_owned()));
        if let Err(refused) = request::screen(&trigger, &triggers, &situation) {
            return Ok(Err(refused));
        }
    }
    let number = trigger
        .subject
        .as_ref()
        .filter(|subject| subject.is_pull_request)
        .map(|subject| subject.number);
    let Some(number) = number else {
        return Ok(Ok(Found { trigger, pull_request: None, default_branch, trusted: default_tip }));
    };
    let pull_request = arrival.forge.pull_request(number).await.map_err(Fault::machine)?;
    let base = refs::base_of(arrival, &pull_request).await?;
    Ok(Ok(Found { trigger, pull_request: Some(pull_request), default_branch, trusted: base }))
}

/// Asks the forge who this is, and decides.
///
/// # Errors
/// When a file of the trusted ref has mistakes; the inner error is the refusal, with the policy
/// that made it.
pub(super) async fn admit(
    arrival: &Arrival<'_>,
    found: &Found,
) -> Result<Result<Admitted, (Refused, Option<Policy>)>, Fault> {
    let trusted = Trusted { repo: &arrival.workspace.repo, commit: &found.trusted };
    let Some((policy, settings)) = read(arrival, trusted)? else {
        return Ok(Err((silent("policy", "the trusted ref holds no policy"), None)));
    };
    let modes = prepare::modes(&[], trusted, settings.values.mode_files)?;
    let slugs: Vec<String> = modes
        .iter()
        .map(|mode| mode.slug.clone())
        .filter(|slug| policy.settings().modes.allow.contains(slug))
        .collect();
    let profiles: Vec<String> = settings.values.models.profiles.keys().cloned().collect();
    let triggers = arrival.inputs.tighten(&policy.settings().triggers);
    let own_login = arrival.forge.own_login().await;
    let situation = Situation {
        own_login: own_login.as_deref(),
        permission: permission(arrival, &found.trigger, &found.trigger.actor.login).await,
        restarted_by: restarted_by(arrival, &found.trigger).await,
        pull_request: found.pull_request.as_ref(),
        recent_runs: recent_runs(arrival, &found.trigger, SignedDuration::from_hours(1)).await?,
        modes: &slugs,
        profiles: &profiles,
        ..situation(arrival, &found.default_branch, Err(String::new()))
    };
    let decided = request::decide(&found.trigger, Some(&triggers), &situation)
        .and_then(|request| check_job(arrival, found, request, &triggers));
    let decided = decided.and_then(|request| check_private(found, &policy).map(|()| request));
    Ok(match decided {
        Ok(request) => Ok(Admitted { request, policy, modes }),
        Err(refused) => Err((refused, Some(policy))),
    })
}

/// Counts the runs started on a thread within the last while.
///
/// # Errors
/// When the forge does not answer: what cannot be counted cannot be bounded.
pub(super) async fn recent_runs(
    arrival: &Arrival<'_>,
    trigger: &Trigger,
    within: SignedDuration,
) -> Result<u32, Fault> {
    let Some(subject) = &trigger.subject else { return Ok(0) };
    let since = arrival.clock.now().checked_sub(within).map_err(Fault::machine)?;
    let ours = arrival
        .forge
        .own_comments(thread_of(subject), PROGRESS, Some(since))
        .await
        .map_err(Fault::machine)?;
    Ok(u32::try_from(ours.len()).unwrap_or(u32::MAX))
}

/// Returns where the comments of an issue or pull request are.
pub(super) fn thread_of(subject: &Subject) -> Thread {
    Thread { number: subject.number, is_pull_request: subject.is_pull_request }
}

/// The clock starts only jobs that the policy names.
fn check_job(
    arrival: &Arrival<'_>,
    found: &Found,
    mut request: Request,
    triggers: &Triggers,
) -> Result<Request, Refused> {
    request.job = request.job.or_else(|| arrival.inputs.job.clone());
    request.facts.job.clone_from(&request.job);
    match &request.job {
        Some(job)
            if found.trigger.kind == EventKind::Schedule
                && !triggers.schedule_jobs.contains(job) =>
        {
            Err(silent("triggers.schedule.jobs", &format!("the job `{job}` is not listed")))
        }
        Some(_) | None => Ok(request),
    }
}

/// Source that only members see is worth taking, whether or not the policy says so: the rule of two
/// counts it.
fn check_private(found: &Found, policy: &Policy) -> Result<(), Refused> {
    let exposed = if found.trigger.is_private { exposed_where_private(policy) } else { Vec::new() };
    let Some(exposure) = exposed.first() else { return Ok(()) };
    let modes = exposure.modes.join("`, `");
    let why = format!(
        "the repository is private, so in mode `{modes}`, {}; say `source: private` in the policy \
         and accept the risk there, or `source: public`",
        exposure.what
    );
    Err(Refused { why, rule: "source", answer: Answer::Told })
}

fn read(arrival: &Arrival<'_>, trusted: Trusted<'_>) -> Result<Option<(Policy, Settings)>, Fault> {
    let settings = prepare::settings(None, trusted, arrival.environment, &[])?;
    let path = settings.values.policy.as_deref().unwrap_or(crate::run::trusted::POLICY_FILE);
    if trusted.file(path)?.is_none() {
        return Ok(None);
    }
    let (policy, _) = prepare::policy(None, &settings, trusted)?;
    Ok(Some((policy, settings)))
}

fn situation<'a>(
    arrival: &'a Arrival<'_>,
    default_branch: &'a str,
    permission: Result<locum_forge::Permission, String>,
) -> Situation<'a> {
    Situation {
        now: arrival.clock.now(),
        repository: &arrival.job.repository,
        default_branch,
        git_ref: &arrival.job.git_ref,
        own_login: None,
        permission,
        restarted_by: None,
        pull_request: None,
        recent_runs: 0,
        modes: &[],
        profiles: &[],
    }
}

/// The clock has no permission and needs none.
async fn permission(
    arrival: &Arrival<'_>,
    trigger: &Trigger,
    login: &str,
) -> Result<locum_forge::Permission, String> {
    if trigger.kind == EventKind::Schedule {
        return Err("the clock is nobody".to_owned());
    }
    arrival.forge.permission(login).await.map_err(|error| error.to_string())
}

async fn restarted_by<'a>(
    arrival: &'a Arrival<'_>,
    trigger: &Trigger,
) -> Option<(&'a str, Result<locum_forge::Permission, String>)> {
    let login = arrival.job.triggering_actor.as_str();
    if login.is_empty() || login.eq_ignore_ascii_case(&arrival.job.actor) {
        return None;
    }
    Some((login, permission(arrival, trigger, login).await))
}

fn default_branch(arrival: &Arrival<'_>, trigger: &Trigger) -> String {
    if !trigger.default_branch.is_empty() {
        return trigger.default_branch.clone();
    }
    // A schedule's job always runs on the default branch; its payload says nothing.
    arrival.job.git_ref.strip_prefix("refs/heads/").unwrap_or_default().to_owned()
}

fn silent(rule: &'static str, why: &str) -> Refused {
    Refused { why: why.to_owned(), rule, answer: Answer::Silent }
}
