//! `Request`: a trigger that may run. Decides who may start what, from facts alone.
//!
//! In: the trigger, the policy's settings, what the forge answered about the actor and the pull
//! request, and what the job knows of itself. Out: the request, or the refusal with the rule that
//! made it. It performs no lookups and fails closed: an answer that is missing, failed or unknown
//! is a refusal.

mod ask;
pub mod bounds;
pub(crate) mod event;
pub mod examination;
pub mod permission;
pub(crate) mod private;
pub(crate) mod rules;
pub(crate) mod who;
pub(crate) mod words;

use jiff::{SignedDuration, Timestamp};

use crate::run::request::ask::Ask;
use crate::run::request::event::{
    find_ask, fork_is_read_only, screen_bot, screen_rate, screen_repository, screen_thread,
};
use crate::run::request::examination::{CheckAuthority, RequestChecks, TriggerExamination};
use crate::run::request::permission::PermissionAnswer;
use crate::run::request::rules::EventFacts;
use crate::run::request::who::{
    admit_tier, has_no_actor, is_listed, screen_own, screen_restart, tier_of,
};
use locum_agent::session::recorded::PersonDecision;
use locum_forge::PullRequest;
use locum_forge::event::Trigger;
use locum_policy::actors::Tier;
use locum_policy::intent::{Facts, TriggerKind};
use locum_policy::schema::events::EventRule;
use locum_policy::schema::{Forks, Triggers};

/// An event older than this starts nothing: its purpose may long be settled otherwise.
pub const EVENT_AGE_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// So many runs an hour may be started on one issue or pull request.
pub const RUNS_PER_HOUR: u32 = 10;

/// A trigger that may run.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What is requested.
    pub action: RequestedAction,
    /// The requested mode; `None` means the policy's default.
    pub mode: Option<String>,
    /// The task in the asker's words; may be empty: then the issue itself is the task.
    pub text: String,
    /// What decisions depend on; the mode is filled in once it is known.
    pub facts: Facts,
    /// True when nothing may be written and only commands that look may run.
    pub read_only: bool,
    /// True when commands that are contained may run nevertheless.
    pub contained: bool,
    /// Flags of the command.
    pub flags: CommandFlags,
    /// The requested job, if any.
    pub job: Option<String>,
    /// The checks that are requested.
    pub checks: RequestedChecks,
}

/// Checks that a pull request is to be put to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedChecks {
    /// Their names.
    pub names: Vec<String>,
    /// Whether nothing else is requested.
    pub alone: bool,
}

impl Request {
    /// Returns whether somebody asked for it, who looks for an answer.
    pub fn is_asked(&self) -> bool {
        matches!(
            self.facts.trigger,
            TriggerKind::Comment | TriggerKind::Label | TriggerKind::Assign | TriggerKind::Dispatch
        )
    }
}

/// What a trigger requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestedAction {
    /// To start a run.
    #[default]
    Run,
    /// To resume a run that stopped for a decision.
    Decide(DecisionRequest),
    /// To bring a pull request's branch up to its base.
    Rebase,
    /// A list of the commands.
    Help,
    /// A list of what runs or ran here.
    Status,
    /// What a run here may do, and by which rules.
    Explain,
    /// To stop the run that is at work here.
    Stop,
    /// To start the last run here again.
    Retry,
    /// To revert the last commit of ours on the pull request.
    Undo,
    /// To say in the comment of a repair that its checks pass.
    ChecksPassed,
}

/// A maintainer's decision on a hold or a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRequest {
    /// What it is about.
    pub target: DecisionTarget,
    /// Yes, no, or words.
    pub word: PersonDecision,
    /// What is said beside a yes.
    pub note: String,
    /// Whether a rule is to be proposed by which nobody is asked again.
    pub always: bool,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionTarget {
    /// What has these names; at least one.
    Named(Vec<String>),
    /// Every call that waits.
    AllHolds,
    /// The only question of the thread.
    OnlyQuestion,
}

impl DecisionTarget {
    /// Returns the first name, where there is one.
    pub fn first(&self) -> Option<&str> {
        if let Self::Named(ids) = self { ids.first().map(String::as_str) } else { None }
    }
}

/// Flags of a command. They can only tighten what the policy gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandFlags {
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
pub struct RequestRefusal {
    /// One sentence without a full stop.
    pub why: String,
    /// The policy key or built-in rule that decided.
    pub rule: &'static str,
    /// Whether the refusal is posted where it was asked.
    pub notice: RefusalNotice,
}

/// Whether a refusal is posted where it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalNotice {
    /// No: nothing was asked, or whoever asked should not be able to trigger a comment.
    Silent,
    /// Yes: a user who may ask made a mistake.
    Posted,
}

/// What the job knows of itself, before the forge is asked anything.
#[derive(Clone, Copy, Debug)]
pub struct JobFacts<'a> {
    /// Time of the decision, to judge ages by.
    pub now: Timestamp,
    /// `owner/name` of the repository the job runs for.
    pub repository: &'a str,
    /// Its default branch as the checkout or the forge says; used where the payload does not say.
    pub default_branch: &'a str,
    /// The ref the job runs on: `refs/heads/main`.
    pub git_ref: &'a str,
    /// Whether the workflow itself says what is to be done, by its inputs.
    pub has_task: bool,
}

impl<'a> JobFacts<'a> {
    /// Returns the default branch, as the payload says where it does.
    fn default_branch_of<'t>(&self, trigger: &'t Trigger) -> &'t str
    where
        'a: 't,
    {
        if trigger.default_branch.is_empty() {
            self.default_branch
        } else {
            &trigger.default_branch
        }
    }
}

/// What is known besides the trigger and the policy.
#[derive(Clone, Debug)]
pub struct RequestFacts<'a> {
    /// What the job knows of itself.
    pub job: JobFacts<'a>,
    /// Login our own comments have, where known.
    pub own_login: Option<&'a str>,
    /// The forge's answer about the actor.
    pub permission: PermissionAnswer,
    /// Who started the job again and the forge's answer about them, when it was someone else than
    /// the actor.
    pub restarted_by: Option<(&'a str, PermissionAnswer)>,
    /// The pull request as it is now, when the trigger is about one.
    pub pull_request: Option<&'a PullRequest>,
    /// Paths that the pull request or push changes; `None` where nobody looked, since no filter of
    /// the policy asks for them.
    pub changed_paths: Option<&'a [String]>,
    /// Runs started on the same issue or pull request within the last hour.
    pub recent_runs: u32,
    /// The file of the policy, for people.
    pub policy: &'a str,
    /// Modes there are.
    pub modes: &'a [String],
    /// Model profiles there are.
    pub profiles: &'a [String],
}

/// Decides whether a trigger may run. `triggers` is `None` when the trusted ref holds no policy
/// that can be read.
///
/// # Errors
/// The first rule that refuses it.
pub fn decide(
    trigger: &Trigger,
    triggers: Option<&Triggers>,
    known: &RequestFacts<'_>,
) -> Result<Request, RequestRefusal> {
    examine(trigger, triggers, known).request
}

/// Makes every check of [`decide`] that can be made, also after one that failed.
pub fn examine(
    trigger: &Trigger,
    triggers: Option<&Triggers>,
    known: &RequestFacts<'_>,
) -> TriggerExamination {
    let mut checks = RequestChecks::default();
    let policy = triggers
        .ok_or_else(|| silent("policy", "the trusted ref holds no policy that can be read"));
    let Some(triggers) =
        checks.take("the trusted ref holds a policy", CheckAuthority::Policy, policy)
    else {
        return checks.refused();
    };
    checks.take(
        "the event is about this repository",
        CheckAuthority::Event,
        screen_repository(trigger, &known.job),
    );
    let facts = EventFacts {
        job: &known.job,
        changed_paths: known.changed_paths,
        pull_request: known.pull_request,
    };
    let ask = find_ask(trigger, triggers, facts);
    let Some(ask) = checks.take("it asks for something", CheckAuthority::Event, ask) else {
        return checks.refused();
    };
    let command = ask.command();
    let is_answer = trigger.comment.as_ref().is_some_and(|asks| asks.in_reply_to.is_some());
    if !has_no_actor(&ask, trigger, known) {
        let own = screen_own(trigger, known.own_login);
        checks.take("it is not our own output", CheckAuthority::Event, own);
        checks.take(
            "it is by a person, or by a bot the policy lists",
            CheckAuthority::Event,
            screen_bot(trigger, triggers),
        );
    }
    let tier = checks.take(
        "the forge knows who it is",
        CheckAuthority::Forge,
        tier_of(trigger, &ask, triggers, known),
    );
    if let Some(tier) = tier {
        let listed = is_listed(trigger, triggers, known);
        let admitted = admit_tier(&ask, tier, listed, triggers);
        checks.take("the policy lets them ask this way", CheckAuthority::Policy, admitted);
    }
    checks.take(
        "the thread is open, not locked, and the event is fresh",
        CheckAuthority::Event,
        screen_thread(trigger, &known.job),
    );
    checks.take(
        "whoever started the job again may write here",
        CheckAuthority::Forge,
        screen_restart(known),
    );
    checks.take(
        "fewer runs were started here than an hour may have",
        CheckAuthority::Forge,
        match command {
            Some(command) if words::starts_nothing(command, is_answer) => Ok(()),
            None if matches!(ask, Ask::Passed(_)) => Ok(()),
            Some(_) | None => screen_rate(known),
        },
    );
    let read_only = fork_is_read_only(trigger, triggers, known);
    let read_only = checks
        .take(
            "the pull request is open and at the commit that was seen",
            CheckAuthority::Forge,
            read_only,
        )
        .unwrap_or(true)
        // The queue merges what it checks: nothing may be added to it.
        || ask.kind() == TriggerKind::MergeGroup;
    let facts = Facts {
        trigger: ask.kind(),
        tier: tier.unwrap_or(Tier::Stranger),
        job: job_of(trigger, &ask),
        ..Facts::default()
    };
    let action = match &ask {
        Ask::Passed(_) => RequestedAction::ChecksPassed,
        Ask::Command(_) | Ask::Rule(_) | Ask::Way(_) => RequestedAction::Run,
    };
    let mut request = Request {
        action,
        mode: None,
        text: String::new(),
        job: facts.job.clone(),
        facts,
        read_only,
        contained: read_only && triggers.forks == Forks::Contained,
        flags: CommandFlags::default(),
        checks: RequestedChecks::default(),
    };
    let read = match &ask {
        Ask::Command(command) => words::read_command(&mut request, command, (known, is_answer)),
        Ask::Rule(rule) => read_rule(&mut request, trigger, rule, known),
        Ask::Passed(_) => Ok(()),
        Ask::Way(_) => read_inputs(&mut request, trigger, known),
    };
    checks.take("what it asks for is understood", CheckAuthority::Event, read);
    if matches!(ask, Ask::Rule(_) | Ask::Passed(_)) {
        checks.keep_silent();
    }
    match checks.first() {
        None => checks.passed(request),
        Some(_) => checks.refused(),
    }
}

/// Returns the job that is asked for: by the policy's entry, else by an input of the event.
fn job_of(trigger: &Trigger, ask: &Ask<'_>) -> Option<String> {
    match ask {
        Ask::Rule(EventRule { job: Some(job), .. }) => Some(job.clone()),
        Ask::Rule(rule) if rule.kind != TriggerKind::RepositoryDispatch => None,
        Ask::Rule(EventRule { task: Some(_), .. }) | Ask::Passed(_) => None,
        Ask::Rule(_) | Ask::Way(_) | Ask::Command(_) => input(trigger, &["job"]),
    }
}

/// Reads what an entry of the policy starts. Of the event itself only the payload of a
/// `repository_dispatch` says what is to be done, where the entry does not.
fn read_rule(
    request: &mut Request,
    trigger: &Trigger,
    rule: &EventRule,
    known: &RequestFacts<'_>,
) -> Result<(), RequestRefusal> {
    if rule.kind == TriggerKind::RepositoryDispatch {
        read_inputs(request, trigger, known)?;
    }
    if let Some(task) = &rule.task {
        request.text.clone_from(task);
    }
    request.checks = RequestedChecks { names: rule.checks.clone(), alone: rule.has_only_checks() };
    let usual = match rule.kind {
        TriggerKind::PullRequest if rule.job.is_none() => "review",
        TriggerKind::CiFailure if rule.job.is_none() => "debug",
        _ => "",
    };
    let usual = Some(usual).filter(|usual| known.modes.iter().any(|mode| mode == usual));
    if let Some(mode) = rule.mode.as_deref().or(usual) {
        let of_policy =
            |refusal| RequestRefusal { why: rule.unusable_mode(mode, known.policy), ..refusal };
        request.mode = Some(words::known_mode(mode, known).map_err(of_policy)?);
    }
    Ok(())
}

fn read_inputs(
    request: &mut Request,
    trigger: &Trigger,
    known: &RequestFacts<'_>,
) -> Result<(), RequestRefusal> {
    request.text = input(trigger, &["task", "prompt"]).unwrap_or_default();
    let of_input = |refusal| RequestRefusal { rule: "mode", ..refusal };
    let mode = input(trigger, &["mode"]).map(|mode| words::known_mode(&mode, known));
    request.mode = mode.transpose().map_err(of_input)?;
    Ok(())
}

/// Returns the first of these inputs of `workflow_dispatch` that was filled in: a field left empty
/// comes as empty text.
fn input(trigger: &Trigger, names: &[&str]) -> Option<String> {
    names
        .iter()
        .filter_map(|name| trigger.inputs.get(*name))
        .find(|text| !text.trim().is_empty())
        .cloned()
}

/// Decides what can be decided before the forge is asked anything: most comments are not for us.
/// Returns whether the entry that fits, or could, filters by the paths that were changed.
///
/// # Errors
/// The first rule that refuses it.
pub fn screen(
    trigger: &Trigger,
    triggers: &Triggers,
    job: &JobFacts<'_>,
) -> Result<bool, RequestRefusal> {
    screen_repository(trigger, job)?;
    let facts = EventFacts { job, changed_paths: None, pull_request: None };
    let ask = find_ask(trigger, triggers, facts)?;
    // Whose checks failed is known with the pull request only.
    if !matches!(ask.kind(), TriggerKind::Schedule | TriggerKind::CiFailure) {
        screen_own(trigger, None)?;
        screen_bot(trigger, triggers)?;
    }
    let rules = matches!(ask, Ask::Rule(_)).then(|| triggers.rules_for(ask.kind()));
    Ok(rules.into_iter().flatten().any(|rule| !rule.paths.is_empty()))
}

fn silent(rule: &'static str, why: &str) -> RequestRefusal {
    RequestRefusal { why: why.to_owned(), rule, notice: RefusalNotice::Silent }
}

fn posted(rule: &'static str, why: &str) -> RequestRefusal {
    RequestRefusal { why: why.to_owned(), rule, notice: RefusalNotice::Posted }
}

#[cfg(test)]
mod tests;
