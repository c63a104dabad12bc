//! `Request`: a trigger that may run. Decides who may start what, from facts alone.
//!
//! In: the trigger, the policy's settings, what the forge answered about the actor and the pull request, and what the job knows
//! of itself. Out: the request, or the refusal with the rule that made it. It asks nobody anything and fails closed: an answer
//! that is missing, failed or unknown is a refusal.

mod words;

use jiff::{SignedDuration, Timestamp};

use crate::base::guard::{self, Guard};
use crate::forge::command::{self, CommentCommand};
use crate::forge::event::{Actor, Comment, EventKind, Subject, Trigger};
use crate::forge::sanitise::BODY_LIMIT_CHARS;
use crate::forge::{Permission, PullRequest};
use crate::policy::actors::{Standing, Tier};
use crate::policy::intent::{Facts, TriggerKind};
use crate::policy::schema::{Forks, ListedUser, Triggers};
use crate::session::event::PersonsWord;

/// An event older than this starts nothing: what it asked for may long be done otherwise.
pub const EVENT_AGE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// So many runs an hour may be started on one issue or pull request.
pub const RUNS_PER_HOUR: u32 = 10;

/// The login that comments with a workflow's own token have: possibly ours, so never a person to obey.
const WORKFLOW_LOGIN: &str = "github-actions[bot]";

/// A trigger that may run.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is asked for.
    pub wish: Wish,
    /// The mode asked for; `None` means the policy's default.
    pub mode: Option<String>,
    /// The task in the asker's words; may be empty: then the issue itself is the task.
    pub text: String,
    /// What decisions depend on; the mode is filled in once it is known.
    pub facts: Facts,
    /// True when nothing may be written and no command run.
    pub read_only: bool,
    /// The issue or pull request.
    pub subject: Option<Subject>,
    /// The comment that asks.
    pub comment: Option<Comment>,
    /// Flags of the command.
    pub flags: Flags,
    /// The job asked for, if any.
    pub job: Option<String>,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// A run.
    #[default]
    Run,
    /// A run that stopped for a person goes on.
    Decide(Said),
    /// What can be asked for.
    Help,
    /// What runs or ran here.
    Status,
}

/// What a person says to a hold or a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its name; `None` for an answer to the only question of the thread.
    pub id: Option<String>,
    /// Yes, no, or words.
    pub word: PersonsWord,
}

/// What a command is for, as far as it matters who may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Start something, or ask about it.
    Start,
    /// Say yes or no to a held call.
    Approve,
    /// Answer a question.
    Answer,
}

impl Purpose {
    fn of(command: Option<&CommentCommand>) -> Self {
        match command.and_then(|command| command.verb.as_deref()) {
            Some("approve" | "deny") => Self::Approve,
            Some("answer") => Self::Answer,
            Some(_) | None => Self::Start,
        }
    }
}

/// Flags of a command. They can only tighten what the policy gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// `--model`: one of the configured profiles.
    pub model: Option<String>,
    /// `--budget`: US dollars at most.
    pub budget_usd: Option<f64>,
    /// `--dry-run`: publish nothing but what would be.
    pub dry_run: bool,
    /// `--new-pr`: a pull request of its own, also on a pull request.
    pub new_pull_request: bool,
    /// `--paths`: change nothing outside these patterns.
    pub paths: Vec<String>,
}

/// Why a trigger does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why} (rule: {rule})")]
pub struct Refused {
    /// One sentence without a full stop.
    pub why: String,
    /// The policy key or built-in rule that decided.
    pub rule: &'static str,
    /// Whether people are told where they asked.
    pub answer: Answer,
}

/// Whether people are told of a refusal where they asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No: nothing was asked, or whoever asked should not be able to make us talk.
    Silent,
    /// Yes: someone who may ask made a mistake.
    Told,
}

/// What is known beside the trigger and the policy.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// Now.
    pub now: Timestamp,
    /// `owner/name` of the repository the job runs for.
    pub repository: &'a str,
    /// Its default branch as the checkout or the forge says; used where the payload does not say.
    pub default_branch: &'a str,
    /// The ref the job runs on: `refs/heads/main`.
    pub git_ref: &'a str,
    /// Login our own comments have, where known.
    pub own_login: Option<&'a str>,
    /// The forge's answer about the actor; the error says what failed.
    pub permission: Result<Permission, String>,
    /// Who started the job again and the forge's answer about them, when it was someone else than the actor.
    pub restarted_by: Option<(&'a str, Result<Permission, String>)>,
    /// The pull request as it is now, when the trigger is about one.
    pub pull_request: Option<&'a PullRequest>,
    /// Runs started on the same issue or pull request within the last hour.
    pub recent_runs: u32,
    /// Modes there are.
    pub modes: &'a [String],
    /// Model profiles there are.
    pub profiles: &'a [String],
}

/// Decides whether a trigger may run. `triggers` is `None` when the trusted ref holds no policy that can be read.
///
/// # Errors
/// The first rule that speaks against it.
pub fn decide(trigger: &Trigger, triggers: Option<&Triggers>, situation: &Situation<'_>) -> Result<Request, Refused> {
    examine(trigger, triggers, situation).request
}

/// Makes every check of [`decide`] that can be made, also after one that failed.
#[must_use]
pub fn examine(trigger: &Trigger, triggers: Option<&Triggers>, situation: &Situation<'_>) -> Examination {
    let mut checks = Checks::default();
    let policy = triggers.ok_or_else(|| silent("policy", "the trusted ref holds no policy that can be read"));
    let Some(triggers) = checks.take("the trusted ref holds a policy", Asked::Policy, policy) else { return checks.refused() };
    checks.take("the event is about this repository", Asked::Event, screen_repository(trigger, situation));
    let asked = find_ask(trigger, triggers, situation);
    let Some(command) = checks.take("it asks for something", Asked::Event, asked) else { return checks.refused() };
    if trigger.kind != EventKind::Schedule {
        checks.take("it is not our own output", Asked::Event, screen_own(trigger, situation));
        checks.take("it is by a person, or by a bot the policy lists", Asked::Event, screen_bot(trigger, triggers));
    }
    let tier = checks.take("the forge knows who it is", Asked::Forge, tier_of(trigger, triggers, situation));
    if let Some(tier) = tier {
        let listed = is_listed(trigger, triggers, situation);
        let admitted = admit_tier(trigger.kind, tier, listed, triggers, Purpose::of(command.as_ref()));
        checks.take("the policy lets them ask this way", Asked::Policy, admitted);
    }
    checks.take("the thread is open, not locked, and the event is fresh", Asked::Event, screen_thread(trigger, situation));
    checks.take("whoever started the job again may write here", Asked::Forge, screen_restart(situation));
    checks.take("fewer runs were started here than an hour may have", Asked::Forge, screen_rate(situation));
    let read_only = fork_is_read_only(trigger, triggers, situation);
    let read_only = checks.take("the pull request is open and at the commit that was seen", Asked::Forge, read_only).unwrap_or(true);
    let facts = Facts {
        trigger: trigger_kind(trigger.kind),
        tier: tier.unwrap_or(Tier::Stranger),
        job: input(trigger, &["job"]),
        ..Facts::default()
    };
    let mut request = Request {
        wish: Wish::Run,
        mode: None,
        text: String::new(),
        job: facts.job.clone(),
        facts,
        read_only,
        subject: trigger.subject.clone(),
        comment: trigger.comment.clone(),
        flags: Flags::default(),
    };
    let read = match &command {
        Some(command) => words::read_command(&mut request, command, situation),
        None => read_inputs(&mut request, trigger, situation),
    };
    checks.take("what it asks for is understood", Asked::Event, read);
    match checks.first() {
        None => Examination { checks: checks.0, request: Ok(request) },
        Some(_) => checks.refused(),
    }
}

fn read_inputs(request: &mut Request, trigger: &Trigger, situation: &Situation<'_>) -> Result<(), Refused> {
    request.text = input(trigger, &["task", "prompt"]).unwrap_or_default();
    request.mode = input(trigger, &["mode"]).map(|mode| words::known_mode(&mode, situation)).transpose()?;
    Ok(())
}

/// What was found out about a trigger.
#[derive(Clone, Debug)]
pub struct Examination {
    /// Every check that could be made, in order.
    pub checks: Vec<Check>,
    /// The request, or the first refusal.
    pub request: Result<Request, Refused>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What has to be so.
    pub claim: &'static str,
    /// Who says whether it is.
    pub asked: Asked,
    /// Why it is not.
    pub refused: Option<Refused>,
}

/// Who says whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The event's payload.
    Event,
    /// The policy.
    Policy,
    /// The forge, when it is asked.
    Forge,
}

#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn take<T>(&mut self, claim: &'static str, asked: Asked, result: Result<T, Refused>) -> Option<T> {
        let (value, refused) = match result {
            Ok(value) => (Some(value), None),
            Err(refused) => (None, Some(refused)),
        };
        self.0.push(Check { claim, asked, refused });
        value
    }

    fn first(&self) -> Option<&Refused> {
        self.0.iter().find_map(|check| check.refused.as_ref())
    }

    fn refused(self) -> Examination {
        let first = self.first().cloned().unwrap_or_else(|| silent("policy", "nothing allows it"));
        Examination { checks: self.0, request: Err(first) }
    }
}

fn screen_restart(situation: &Situation<'_>) -> Result<(), Refused> {
    let Some((login, permission)) = &situation.restarted_by else { return Ok(()) };
    let theirs = permission.as_ref().map_err(|error| silent("permission", &format!("the permission of {login} is not known: {error}")))?;
    if *theirs < Permission::Write {
        return Err(silent("restart", &format!("{login} started the job again and may not write here")));
    }
    Ok(())
}

fn screen_rate(situation: &Situation<'_>) -> Result<(), Refused> {
    if situation.recent_runs >= RUNS_PER_HOUR {
        return Err(told("runs-per-hour", &format!("{RUNS_PER_HOUR} runs were started here within the hour")));
    }
    Ok(())
}

/// Returns the first of these inputs of `workflow_dispatch` that was filled in: a field left empty comes as empty text.
fn input(trigger: &Trigger, names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| trigger.inputs.get(*name)).find(|text| !text.trim().is_empty()).cloned()
}

/// Decides what can be decided before the forge is asked anything: most comments are not for us. Returns the command, for events
/// that carry one.
///
/// # Errors
/// The first rule that speaks against it.
pub fn screen(trigger: &Trigger, triggers: &Triggers, situation: &Situation<'_>) -> Result<Option<CommentCommand>, Refused> {
    screen_repository(trigger, situation)?;
    let command = find_ask(trigger, triggers, situation)?;
    if trigger.kind != EventKind::Schedule {
        screen_own(trigger, situation)?;
        screen_bot(trigger, triggers)?;
    }
    Ok(command)
}

fn screen_repository(trigger: &Trigger, situation: &Situation<'_>) -> Result<(), Refused> {
    if !trigger.repository.is_empty() && !trigger.repository.eq_ignore_ascii_case(situation.repository) {
        return Err(silent(
            "repository",
            &format!("the event is about `{}`, the job runs for `{}`", trigger.repository, situation.repository),
        ));
    }
    Ok(())
}

/// Returns the command of a comment; `None` for events that ask without words.
fn find_ask(trigger: &Trigger, triggers: &Triggers, situation: &Situation<'_>) -> Result<Option<CommentCommand>, Refused> {
    match trigger.kind {
        EventKind::IssueComment | EventKind::ReviewComment => find_command(trigger, triggers).map(Some),
        EventKind::IssueLabeled => {
            let rule = triggers.label.as_ref().ok_or_else(|| silent("triggers.label", "labels start nothing here"))?;
            if trigger.label.as_deref() != Some(rule.name.as_str()) {
                return Err(silent("triggers.label.name", "the label is another one"));
            }
            Ok(None)
        }
        EventKind::IssueAssigned => {
            let rule = triggers.assign.as_ref().ok_or_else(|| silent("triggers.assign", "assigning starts nothing here"))?;
            if !trigger.assignee.as_deref().is_some_and(|assignee| is(assignee, &rule.login)) {
                return Err(silent("triggers.assign.login", "the issue was assigned to somebody else"));
            }
            Ok(None)
        }
        EventKind::Dispatch => Ok(None),
        EventKind::Schedule => screen_schedule(trigger, situation).map(|()| None),
    }
}

fn screen_own(trigger: &Trigger, situation: &Situation<'_>) -> Result<(), Refused> {
    let login = trigger.actor.login.as_str();
    let own = is(login, WORKFLOW_LOGIN) || situation.own_login.is_some_and(|own| is(login, own));
    if own && guard::on(Guard::OwnOutput) {
        return Err(silent("own-output", "own output never starts a run"));
    }
    Ok(())
}

fn screen_bot(trigger: &Trigger, triggers: &Triggers) -> Result<(), Refused> {
    let login = trigger.actor.login.as_str();
    let listed = trigger.actor.is_user || triggers.bots.iter().any(|bot| is(bot, login));
    if !listed && guard::on(Guard::Bots) {
        return Err(silent("triggers.bots.allow", &format!("{login} is not a person and not listed")));
    }
    Ok(())
}

fn find_command(trigger: &Trigger, triggers: &Triggers) -> Result<CommentCommand, Refused> {
    let rule = triggers.comment.as_ref().ok_or_else(|| silent("triggers.comment", "comments start nothing here"))?;
    let body = trigger.comment.as_ref().map_or("", |comment| comment.body.as_str());
    if body.len() > BODY_LIMIT_CHARS && body.chars().count() > BODY_LIMIT_CHARS {
        return Err(silent("comment-length", "the comment is longer than the forge allows"));
    }
    command::parse(body, &rule.prefix).ok_or_else(|| silent("triggers.comment.prefix", "the comment holds no command"))
}

/// Refuses threads that are over and events that are old.
fn screen_thread(trigger: &Trigger, situation: &Situation<'_>) -> Result<(), Refused> {
    if let Some(subject) = &trigger.subject {
        if !subject.is_open {
            return Err(told("thread-open", "the thread is closed"));
        }
        if subject.is_locked {
            return Err(told("thread-unlocked", "the thread is locked"));
        }
    }
    if trigger.happened_at.is_some_and(|happened| situation.now.duration_since(happened) > EVENT_AGE_LIMIT) {
        return Err(told("event-age", "the event is older than a day"));
    }
    Ok(())
}

/// A schedule runs on the default branch only: there alone its jobs were reviewed.
fn screen_schedule(trigger: &Trigger, situation: &Situation<'_>) -> Result<(), Refused> {
    let default = if trigger.default_branch.is_empty() { situation.default_branch } else { trigger.default_branch.as_str() };
    if default.is_empty() || situation.git_ref.strip_prefix("refs/heads/") != Some(default) {
        return Err(silent("schedule-branch", "schedules run on the default branch only"));
    }
    Ok(())
}

/// Returns the actor's tier by the forge's answer, never by the event's claim.
fn tier_of(trigger: &Trigger, triggers: &Triggers, situation: &Situation<'_>) -> Result<Tier, Refused> {
    if trigger.kind == EventKind::Schedule {
        return Ok(Tier::Schedule);
    }
    let login = &trigger.actor.login;
    let permission =
        situation.permission.as_ref().map_err(|error| silent("permission", &format!("the permission of {login} is not known: {error}")))?;
    if !trigger.actor.is_user {
        // Anyone's app may comment on a public repository under its name; a listed one must have been given the right to write.
        let listed = triggers.bots.iter().any(|bot| is(bot, login)) && *permission >= Permission::Write;
        return if listed || !guard::on(Guard::Bots) {
            Ok(Tier::Bot)
        } else {
            Err(silent("triggers.bots.allow", &format!("{login} may not write here")))
        };
    }
    Ok(Tier::of(Standing {
        permission: permission.as_str(),
        is_user: trigger.actor.is_user,
        is_private: trigger.is_private,
        has_contributed: trigger.actor.association == "CONTRIBUTOR",
    }))
}

/// Returns true for a person the policy names, whom the forge lets read here. A number has to be theirs as well: logins change hands.
fn is_listed(trigger: &Trigger, triggers: &Triggers, situation: &Situation<'_>) -> bool {
    let Actor { login, id, is_user, .. } = &trigger.actor;
    let may_read = situation.permission.as_ref().is_ok_and(|permission| *permission >= Permission::Read);
    let named = |user: &ListedUser| is(&user.login, login) && (user.id.is_none() || user.id == *id);
    *is_user && may_read && triggers.users.iter().any(named)
}

fn admit_tier(kind: EventKind, tier: Tier, listed: bool, triggers: &Triggers, purpose: Purpose) -> Result<(), Refused> {
    let (rule, tiers) = match kind {
        EventKind::IssueComment | EventKind::ReviewComment if purpose == Purpose::Approve => {
            ("triggers.approve.tiers", Some(triggers.approve_tiers.as_slice()))
        }
        EventKind::IssueComment | EventKind::ReviewComment => {
            ("triggers.comment.tiers", triggers.comment.as_ref().map(|rule| rule.tiers.as_slice()))
        }
        EventKind::IssueLabeled => ("triggers.label.tiers", triggers.label.as_ref().map(|rule| rule.tiers.as_slice())),
        EventKind::IssueAssigned => ("triggers.assign.tiers", triggers.assign.as_ref().map(|rule| rule.tiers.as_slice())),
        EventKind::Dispatch => ("triggers.dispatch.tiers", Some(triggers.dispatch_tiers.as_slice())),
        EventKind::Schedule => return Ok(()),
    };
    // A bot is admitted by its name, but never in place of a person.
    let in_a_persons_place = matches!(purpose, Purpose::Approve | Purpose::Answer) && tier == Tier::Bot;
    if in_a_persons_place {
        return Err(silent("triggers.approve", "only people decide"));
    }
    // By name as well, in the ways that are open at all; never to say yes to a held call.
    let open = kind != EventKind::Dispatch || !triggers.dispatch_tiers.is_empty();
    if listed && open && purpose != Purpose::Approve {
        return Ok(());
    }
    if tier == Tier::Bot || tiers.is_some_and(|tiers| tiers.contains(&tier)) || !guard::on(Guard::Tiers) {
        return Ok(());
    }
    Err(Refused { why: format!("tier `{}` may not start runs this way", tier_name(tier)), rule, answer: Answer::Silent })
}

/// Returns whether the run may only read, by where the pull request's head lies.
fn fork_is_read_only(trigger: &Trigger, triggers: &Triggers, situation: &Situation<'_>) -> Result<bool, Refused> {
    let Some(subject) = trigger.subject.as_ref().filter(|subject| subject.is_pull_request) else { return Ok(false) };
    let pull_request = situation
        .pull_request
        .filter(|pull_request| pull_request.number == subject.number)
        .ok_or_else(|| silent("pull-request", "the pull request could not be read"))?;
    if !pull_request.is_open {
        return Err(told("thread-open", "the pull request is closed"));
    }
    if subject.head_sha.as_ref().is_some_and(|head| *head != pull_request.head_sha) && guard::on(Guard::MovedHead) {
        return Err(told("head-moved", "the pull request has new commits since it was asked"));
    }
    match (pull_request.is_fork && guard::on(Guard::Forks), triggers.forks) {
        (false, _) | (true, Forks::Allow) => Ok(false),
        (true, Forks::ReadOnly) => Ok(true),
        (true, Forks::Deny) => Err(told("triggers.forks", "pull requests from forks start nothing here")),
    }
}

fn trigger_kind(kind: EventKind) -> TriggerKind {
    match kind {
        EventKind::IssueComment | EventKind::ReviewComment => TriggerKind::Comment,
        EventKind::IssueLabeled => TriggerKind::Label,
        EventKind::IssueAssigned => TriggerKind::Assign,
        EventKind::Dispatch => TriggerKind::Dispatch,
        EventKind::Schedule => TriggerKind::Schedule,
    }
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Maintainer => "maintainer",
        Tier::Collaborator => "collaborator",
        Tier::Contributor => "contributor",
        Tier::Stranger => "stranger",
        Tier::Bot => "bot",
        Tier::Schedule => "schedule",
    }
}

/// Logins are the same whatever their case.
fn is(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

fn silent(rule: &'static str, why: &str) -> Refused {
    Refused { why: why.to_owned(), rule, answer: Answer::Silent }
}

fn told(rule: &'static str, why: &str) -> Refused {
    Refused { why: why.to_owned(), rule, answer: Answer::Told }
}

#[cfg(test)]
mod tests;
