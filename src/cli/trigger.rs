//! `locum trigger explain`: what an event would start and why, offline, by the same checks as the
//! Action's.
//!
//! What only the forge can say (who the actor is, whether a pull request is from a fork, how many
//! runs there were) is given by flags, or shown for every tier. No server is contacted.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::colour::{Colours, Role};
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::trigger_args::TriggerExplainArgs;
use crate::cli::trigger_payload::{due_jobs, pushed_paths};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::job::{self, Job};
use crate::run::publish::own_branch::PullRequestMarker;
use crate::run::request::examination::{CheckAuthority, RequestCheck, TriggerExamination};
use crate::run::request::permission::PermissionAnswer;
use crate::run::request::private::check_private;
use crate::run::request::{
    JobFacts, RefusalNotice, Request, RequestFacts, RequestRefusal, RequestedAction, examine,
};
use crate::run::trusted::POLICY_FILE;
use crate::run::user::named_file;
use locum_agent::report::markdown::visible;
use locum_base::clock::Clock;
use locum_forge::event::{self, EventError, EventKind, EventSubject, Trigger};
use locum_forge::{ForgePermission, PullRequest};
use locum_policy::Policy;
use locum_policy::actors::Tier;
use locum_policy::intent::Facts;
use locum_workspace::repo::CommitId;

/// Who might be behind an event, as the forge would answer.
const STANDINGS: [(Tier, ForgePermission); 4] = [
    (Tier::Maintainer, ForgePermission::Write),
    (Tier::Collaborator, ForgePermission::Triage),
    (Tier::Contributor, ForgePermission::Read),
    (Tier::Stranger, ForgePermission::None),
];

/// Rules that say that nothing was asked of locum at all.
pub(super) const NOTHING_ASKED: [&str; 9] = [
    "triggers.comment.prefix",
    "triggers.label.name",
    "triggers.assign.login",
    "triggers.pull_request",
    "triggers.ci_failure",
    "triggers.push",
    "triggers.release",
    "triggers.merge_group",
    "triggers.repository_dispatch",
];

/// What is known of the repository.
pub(super) struct TriggerFacts {
    /// Its policy, if it has one.
    pub(super) policy: Option<Policy>,
    /// The modes that the policy allows.
    pub(super) modes: Vec<String>,
    /// The names of its profiles of models.
    pub(super) profiles: Vec<String>,
    /// The jobs of its files.
    pub(super) jobs: Vec<Job>,
    /// The moment.
    pub(super) now: Timestamp,
}

/// What the forge would say of an event, as far as it is given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AssumedFacts<'a> {
    is_fork: bool,
    is_own: bool,
    has_task: bool,
    labels: &'a [String],
    changed: Option<&'a [String]>,
    own_login: Option<&'a str>,
}

/// Runs the subcommand.
///
/// # Errors
/// When a file cannot be read or has mistakes.
pub fn explain(
    args: &TriggerExplainArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let event = context.folder.join(&args.event);
    let payload = named_file(&event)?.ok_or_else(|| {
        RunError::usage("--event", format!("there is no file `{}`", args.event.display()))
            .hint(context.looked_for_in())
    })?;
    let trigger = match event::parse(&args.event_name, &payload.text) {
        Err(EventError::Ignored { .. }) if args.with_task => {
            event::parse_other(&args.event_name, &payload.text)
        }
        parsed => parsed,
    };
    let trigger = match trigger {
        Ok(trigger) => trigger,
        Err(error @ EventError::Ignored { .. }) => {
            return Ok(nothing(&error.to_string(), args, output));
        }
        Err(error @ EventError::Malformed { .. }) => {
            return Err(RunError::usage(args.event.display().to_string(), error.to_string()).hint(
                "`--event` takes the payload that GitHub sends: the file that GITHUB_EVENT_PATH \
                 names in a workflow",
            ));
        }
    };
    let known = known(args, context)?;
    let trigger = caused(trigger, args.tier, &known)?;
    let listed = pushed_paths(&payload.text).filter(|_| trigger.kind == EventKind::Push);
    let assumed = AssumedFacts {
        is_fork: args.fork,
        is_own: args.own_pull_request,
        has_task: args.with_task,
        labels: &args.label,
        changed: args.changed.as_deref().or(listed.as_deref()),
        own_login: args.own_login.as_deref(),
    };
    let examined: Vec<(String, TriggerExamination)> = standings(args, &trigger)
        .into_iter()
        .map(|(name, permission, contributed)| {
            (name, examined(&trigger, &known, (permission, contributed), &assumed))
        })
        .collect();
    // Shown in full: the first that would run, else the first.
    let Some((_, shown)) =
        examined.iter().find(|(_, one)| one.request.is_ok()).or(examined.first())
    else {
        return Err(RunError::internal("no tier was examined"));
    };
    if let Err(refused) = &shown.request
        && NOTHING_ASKED.contains(&refused.rule)
    {
        return Ok(nothing(&refused.to_string(), args, output));
    }
    if args.inspect.json {
        output.json(&as_json(&trigger, &known, &examined, shown));
    } else {
        as_text(&trigger, &known, &examined, shown)
            .iter()
            .for_each(|line| output.line(coloured(output.colours(), &visible(line))));
    }
    Ok(if shown.request.is_ok() { ExitStatus::Done } else { ExitStatus::Refused })
}

fn nothing(why: &str, args: &TriggerExplainArgs, output: &mut Output) -> ExitStatus {
    if args.inspect.json {
        output.json(&json!({ "verdict": "nothing", "why": why }));
    } else {
        output.line(visible(&format!("nothing to do: {why}")));
    }
    ExitStatus::Done
}

fn known(args: &TriggerExplainArgs, context: &CommandContext) -> Result<TriggerFacts, RunError> {
    let place = InspectedRepository::open(context, args.inspect.at.as_deref())?;
    let settings = place.settings()?;
    let file = match &args.policy {
        Some(path) => {
            let absent =
                || RunError::usage("--policy", format!("there is no file `{}`", path.display()));
            Some(named_file(&context.folder.join(path))?.ok_or_else(absent)?)
        }
        None => {
            place.source().own_file(settings.values.policy.as_deref().unwrap_or(POLICY_FILE))?
        }
    };
    let policy = file.map(|file| Policy::parse(&file.text, &file.origin)).transpose()?;
    let now = match &args.now {
        Some(text) => {
            text.parse().map_err(|error| RunError::usage("--now", format!("`{text}`: {error}")))?
        }
        None => SystemClock::start().now(),
    };
    let allowed =
        policy.as_ref().map(|policy| policy.settings().modes.allow.clone()).unwrap_or_default();
    let modes = place.modes()?;
    Ok(TriggerFacts {
        modes: modes
            .iter()
            .map(|mode| mode.slug.clone())
            .filter(|slug| allowed.contains(slug))
            .collect(),
        profiles: settings.values.models.profiles.keys().cloned().collect(),
        jobs: job::read_all(&place.source())?,
        policy,
        now,
    })
}

/// Returns the event as one of this tier would cause it: a bot is one that the policy lists, where
/// it lists any.
///
/// # Errors
/// When no event of this kind is of this tier: a schedule has no actor, and nobody else is one.
fn caused(
    mut trigger: Trigger,
    tier: Option<Tier>,
    known: &TriggerFacts,
) -> Result<Trigger, RunError> {
    let is_schedule = trigger.kind == EventKind::Schedule;
    if let Some(tier) = tier.filter(|tier| (*tier == Tier::Schedule) != is_schedule) {
        let message = match is_schedule {
            true => format!(
                "nobody causes the event `schedule`: it is of tier `schedule`, not of `{}`",
                tier.as_str()
            ),
            false => "only the event `schedule` is of tier `schedule`".to_owned(),
        };
        return Err(RunError::usage("--tier", message)
            .hint("leave `--tier` out for this event, or name another one with `--event-name`"));
    }
    if tier == Some(Tier::Bot) {
        let triggers = known.policy.as_ref().map(|policy| &policy.settings().triggers);
        let listed = triggers.map_or(&[][..], |triggers| &triggers.bots);
        trigger.actor.is_user = false;
        let is_listed = |bot: &String| bot.eq_ignore_ascii_case(&trigger.actor.login);
        if !listed.iter().any(is_listed)
            && let Some(bot) = listed.first()
        {
            trigger.actor.login.clone_from(bot);
        }
    }
    Ok(trigger)
}

/// Returns the standings to look at: the one given, or all. Nobody causes a schedule.
fn standings(args: &TriggerExplainArgs, trigger: &Trigger) -> Vec<(String, ForgePermission, bool)> {
    let of_event = (trigger.kind == EventKind::Schedule).then_some(Tier::Schedule);
    match (args.tier.or(of_event), args.permission) {
        (None, Some(permission)) => {
            return vec![(permission.as_str().to_owned(), permission, false)];
        }
        // Of a bot the forge says that it may write, or nothing; a schedule needs no right.
        (Some(tier @ (Tier::Bot | Tier::Schedule)), _) => {
            return vec![(tier_name(tier), ForgePermission::Write, false)];
        }
        (Some(_) | None, _) => {}
    }
    let standings =
        STANDINGS.iter().filter(|(tier, _)| args.tier.is_none_or(|asked| asked == *tier));
    let standing = |(tier, permission): &(Tier, ForgePermission)| {
        (tier_name(*tier), *permission, *tier == Tier::Contributor)
    };
    standings.map(standing).collect()
}

fn tier_name(tier: Tier) -> String {
    format!("{tier:?}").to_lowercase()
}

/// Examines an event as if it were caused by someone of this standing.
pub(super) fn examined(
    trigger: &Trigger,
    known: &TriggerFacts,
    (permission, contributed): (ForgePermission, bool),
    assumed: &AssumedFacts<'_>,
) -> TriggerExamination {
    let mut trigger = trigger.clone();
    if contributed {
        trigger.actor.association = "CONTRIBUTOR".to_owned();
    }
    let of_checks = trigger.checks.as_ref().and_then(|checks| checks.pull_requests.first());
    if let (Some(number), Some(head)) = (of_checks, &trigger.head) {
        trigger.subject = Some(EventSubject {
            number: *number,
            is_pull_request: true,
            is_open: true,
            head_sha: Some(head.sha.clone()),
            ..EventSubject::default()
        });
    }
    let subject = trigger.subject.as_ref().filter(|subject| subject.is_pull_request);
    let pull_request = subject.map(|subject| PullRequest {
        number: subject.number,
        title: subject.title.clone(),
        body: if assumed.is_own { own_line(subject) } else { subject.body.clone() },
        is_open: subject.is_open,
        head_branch: String::new(),
        head_sha: subject.head_sha.clone().unwrap_or_default(),
        base_branch: trigger.default_branch.clone(),
        is_fork: assumed.is_fork,
        author: subject.author.clone(),
        is_own: assumed.is_own,
        labels: assumed.labels.to_vec(),
        head_pushed_at: None,
    });
    let named = Some(trigger.default_branch.as_str()).filter(|branch| !branch.is_empty());
    let default_branch = named.unwrap_or("main");
    let facts = RequestFacts {
        job: JobFacts {
            now: known.now,
            repository: &trigger.repository,
            default_branch,
            git_ref: &format!("refs/heads/{default_branch}"),
            has_task: assumed.has_task,
        },
        own_login: assumed.own_login,
        permission: PermissionAnswer::Known(permission),
        restarted_by: None,
        pull_request: pull_request.as_ref(),
        changed_paths: assumed.changed,
        recent_runs: 0,
        policy: known.policy.as_ref().map_or("", Policy::origin),
        modes: &known.modes,
        profiles: &known.profiles,
    };
    let policy = known.policy.as_ref();
    let examined = examine(&trigger, policy.map(|policy| &policy.settings().triggers), &facts);
    let is_private = |_: &Request| policy.map_or(Ok(()), |policy| check_private(&trigger, policy));
    let claim = "a private repository adds no risk that the policy does not accept";
    examined.then(claim, CheckAuthority::Policy, is_private)
}

/// Returns the line by which we know our own pull request.
fn own_line(subject: &EventSubject) -> String {
    let head = CommitId(subject.head_sha.clone().unwrap_or_default());
    PullRequestMarker::new("explained", ("explained", "explained"), &head, None).line()
}

/// Returns a line whose first word says how a check came out, in that colour.
fn coloured(colours: Colours, line: &str) -> String {
    match line.split([' ', ':']).next() {
        Some("pass") => colours.first_word(Role::Good, line),
        Some("FAIL" | "refused") => colours.first_word(Role::Bad, line),
        Some(_) | None => line.to_owned(),
    }
}

fn as_text(
    trigger: &Trigger,
    known: &TriggerFacts,
    examined: &[(String, TriggerExamination)],
    shown: &TriggerExamination,
) -> Vec<String> {
    let by = if trigger.actor.login.is_empty() {
        String::new()
    } else {
        format!(" by {}", trigger.actor.login)
    };
    let on = trigger
        .subject
        .as_ref()
        .map_or_else(String::new, |subject| format!(" on {} #{}", subject.kind(), subject.number));
    let mut lines = vec![format!("event  {:?}{by}{on}", trigger.kind)];
    for check in &shown.checks {
        let RequestCheck { claim, refused, .. } = check;
        let is_made = passed(check).is_some();
        lines.push(match refused {
            None if is_made => format!("pass   {claim}"),
            None => format!("later  {claim} (not checked here: the forge is asked)"),
            Some(refused) => format!(
                "FAIL   {claim}\n       {refused}{}",
                if refused.notice == RefusalNotice::Posted { "; posted on the thread" } else { "" }
            ),
        });
    }
    if examined.len() > 1 {
        let one = |(name, one): &(String, TriggerExamination)| match &one.request {
            Ok(_) => format!("{name}: runs"),
            Err(refused) => format!("{name}: no ({})", refused.rule),
        };
        lines.push(format!("tiers  {}", examined.iter().map(one).collect::<Vec<_>>().join(" · ")));
    }
    match &shown.request {
        Ok(request) => lines.extend(
            plan(request, trigger, known)
                .into_iter()
                .map(|(name, value)| format!("{name:<6} {value}")),
        ),
        Err(refused) => lines.push(format!("refused: {refused}")),
    }
    lines
}

/// Whether a check passed; `None` where it was not made, since only the forge can say.
fn passed(check: &RequestCheck) -> Option<bool> {
    let is_made = check.refused.is_some() || check.authority != CheckAuthority::Forge;
    is_made.then(|| check.refused.is_none())
}

/// Returns what would run, in rows.
fn plan(request: &Request, trigger: &Trigger, known: &TriggerFacts) -> Vec<(&'static str, String)> {
    let Some(policy) = &known.policy else { return Vec::new() };
    let due = due_jobs(trigger, &policy.settings().triggers, &known.jobs, known.now);
    let due = due.filter(|_| request.job.is_none());
    let action = match &request.action {
        RequestedAction::Run | RequestedAction::Rebase => "would run",
        RequestedAction::Help | RequestedAction::Status | RequestedAction::Explain => {
            "would be answered without a run"
        }
        RequestedAction::Stop => "would stop the run that is at work there, if one is",
        RequestedAction::Retry => "would start the last run there again",
        RequestedAction::Undo => "would revert the last commit of Locum on the pull request",
        RequestedAction::ChecksPassed => {
            "would say in the comment of the repair that made this commit that its checks pass, if \
             one did"
        }
        RequestedAction::Decide(_) => {
            "would resume the run that waits under this name, if one does"
        }
    };
    let checks = (!request.checks.names.is_empty()).then(|| request.checks.names.join(", "));
    if request.checks.alone {
        let mut rows = vec![("so", "would only be checked".to_owned())];
        rows.extend(checks.map(|names| ("checks", names)));
        return rows;
    }
    let mode = request.mode.clone().unwrap_or_else(|| policy.settings().modes.default.clone());
    let task = if request.text.is_empty() {
        "the issue, pull request, job or prompt itself"
    } else {
        request.text.as_str()
    };
    let mut rows = vec![
        ("so", action.to_owned()),
        ("tier", tier_name(request.facts.tier)),
        ("task", first_line(task)),
    ];
    rows.push(("mode", mode.clone()));
    rows.extend(checks.map(|names| ("checks", names)));
    rows.extend(request.job.clone().map(|job| ("job", job)));
    rows.extend(due.map(|due| ("due", due)));
    if request.read_only {
        let commands = if request.contained { "contained" } else { "read-only" };
        rows.push((
            "only",
            format!(
                "read-only: no edits, only {commands} commands, and only comments, reviews and \
                 check runs are published"
            ),
        ));
    }
    if !request.flags.paths.is_empty() {
        rows.push(("paths", request.flags.paths.join(", ")));
    }
    rows.push((
        "policy",
        format!("{} ({})", policy.origin(), locum_base::text::head(policy.hash(), 12)),
    ));
    let facts = Facts { mode, ..request.facts.clone() };
    rows.extend(policy.summary_lines(&facts, |_| true).into_iter().map(|line| ("allows", line)));
    rows
}

fn first_line(text: &str) -> String {
    locum_agent::report::figures::clip(text.lines().next().unwrap_or_default(), 120)
}

fn as_json(
    trigger: &Trigger,
    known: &TriggerFacts,
    examined: &[(String, TriggerExamination)],
    shown: &TriggerExamination,
) -> Value {
    let refusal = |refused: &RequestRefusal| {
        let is_posted = refused.notice == RefusalNotice::Posted;
        json!({ "rule": refused.rule, "why": refused.why, "posted": is_posted })
    };
    let check = |check: &RequestCheck| {
        json!({
            "check": check.claim,
            "asked": check.authority,
            "pass": passed(check),
            "refused": check.refused.as_ref().map(refusal),
        })
    };
    let tiers: serde_json::Map<String, Value> = examined
        .iter()
        .map(|(name, one)| (name.clone(), json!(one.request.as_ref().err().map(refusal))))
        .collect();
    let request = shown.request.as_ref().ok();
    json!({
        "verdict": if request.is_some() { "run" } else { "refused" },
        "refused": shown.request.as_ref().err().map(refusal),
        "event": trigger.kind,
        "actor": trigger.actor.login,
        "checks": shown.checks.iter().map(check).collect::<Vec<_>>(),
        "refused_by_tier": tiers,
        "plan": request.map(|request| plan(request, trigger, known)),
        "read_only": request.map(|request| request.read_only),
        "mode": request.map(|request| request.mode.clone()),
        "task": request.map(|request| request.text.clone()),
    })
}
