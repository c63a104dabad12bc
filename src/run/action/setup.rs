//! Reports mistakes of the set-up where whoever asked looks: 👀 and 😕 on the request, and one
//! comment with the place and the cure, before any model is asked.
//!
//! In: an event and what keeps it from starting anything. Out: the comment, the same one each time,
//! and the error for the log and the job summary. It answers whom the policy admits. Where the
//! policy cannot be read, the built-in one stands in for it, and only a command of someone who may
//! write here is answered.

use crate::config::action_inputs::BundleStep;
use crate::run::action::admission::{self, thread_of};
use crate::run::action::{ActionEnv, ForgeEvent, answer, bundle, progress_marker, reaction_target};
use crate::run::error::{RunError, RunErrorKind};
use crate::run::publish::SEEN;
use crate::run::publish::unpublished::NotPosted;
use crate::run::request::{self, RequestFacts};
use crate::run::trusted::POLICY_FILE;
use locum_agent::report::comment::hidden_lines_of;
use locum_agent::report::markdown::{code, inline, marker};
use locum_agent::session::word::OutcomeReaction;
use locum_files::diagnostic::Diagnostic;
use locum_forge::event::{EventKind, Trigger};
use locum_forge::{ForgeError, ThreadComment};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_workspace::repo::{CommitId, RepoError};

/// The first line of a comment about a set-up that is right by now.
const SETTLED: &str = "**locum: the set-up is right now**";

/// Mistakes that one comment lists.
const MISTAKES_LIMIT: usize = 10;

/// Where mistakes are reported, and which policy permits it.
pub(super) struct SetupPlace<'a> {
    /// The event that asks.
    pub(super) event: &'a ForgeEvent,
    /// The policy that lets Locum comment.
    pub(super) policy: &'a Policy,
    /// What its decision depends on.
    pub(super) facts: &'a Facts,
}

/// Tells someone whom the policy admits what keeps their request from starting; returns it for the
/// log.
pub(super) async fn tell(env: &ActionEnv<'_>, place: &SetupPlace<'_>, error: RunError) -> RunError {
    let SetupPlace { event, policy, facts } = place;
    let error = with_cure_for_forks(event, error);
    say(env, &event.trigger, (policy, facts), error).await
}

/// Tells someone who may write here, and asks by a command, what keeps every request from starting;
/// returns it for the log.
pub(super) async fn tell_maintainer(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    error: RunError,
) -> RunError {
    if !is_by_maintainer(env, trigger).await {
        return error;
    }
    say(env, trigger, (&stand_in(env), &Facts::default()), error).await
}

/// Tells someone who may write here, and asks by a command, that there is no policy; returns it for
/// the log. `None` for everyone else, to whom it is no mistake.
pub(super) async fn tell_no_policy(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    trusted: &CommitId,
) -> Option<RunError> {
    if !is_by_maintainer(env, trigger).await {
        return None;
    }
    let error = RunError::usage(POLICY_FILE, format!("there is no policy in commit {trusted}"));
    let error = error.hint(
        "without one no event starts anything: `locum init` writes a starter; commit it to the \
         default branch",
    );
    Some(say(env, trigger, (&stand_in(env), &Facts::default()), error).await)
}

/// Takes back what a comment of ours says of the set-up, now that a run starts on its thread; `own`
/// are our comments there.
pub(super) async fn settle(env: &ActionEnv<'_>, place: &SetupPlace<'_>, own: &[ThreadComment]) {
    let marker = marker("setup", &[]);
    // Comments on lines are a list of their own, in which the answer is found again.
    let on_line = place.event.trigger.kind == EventKind::ReviewComment;
    let is_reported =
        own.iter().filter(|comment| comment.place.is_some() == on_line).any(|comment| {
            let mut lines = comment.body.lines();
            lines.next() == Some(marker.as_str()) && lines.next() != Some(SETTLED)
        });
    if !is_reported {
        return;
    }
    let body =
        format!("{SETTLED}\n\nWhat was wrong with it is corrected: a run has started since.");
    let posting = answer::posting(env, &place.event.trigger, place.policy, (&marker, &body));
    if let Some(posting) = posting {
        let lost = "what was said of the set-up is not taken back";
        env.poster(place.policy, place.facts).try_to_post(posting, lost).await;
    }
}

/// Returns the policy that counts where the repository's cannot be read.
fn stand_in(env: &ActionEnv<'_>) -> Policy {
    env.inputs.applied_to(Policy::builtin())
}

/// Returns whether an event is a command of someone who may write here, by the rules of the
/// built-in policy.
async fn is_by_maintainer(env: &ActionEnv<'_>, trigger: &Trigger) -> bool {
    let may_be_command = matches!(
        trigger.kind,
        EventKind::IssueComment
            | EventKind::DiscussionComment
            | EventKind::IssueOpened
            | EventKind::ReviewComment
            | EventKind::ReviewSummary
    );
    if !may_be_command || !env.inputs.allows_user(&trigger.actor.login) {
        return false;
    }
    let policy = stand_in(env);
    let triggers = &policy.settings().triggers;
    let default_branch = admission::default_branch(env, trigger);
    let job = admission::job_facts(env, &default_branch);
    if request::screen(trigger, triggers, &job).is_err() {
        return false;
    }
    let subject = trigger.subject.as_ref().filter(|subject| subject.is_pull_request);
    let pull_request = match subject {
        Some(subject) => env.forge.pull_request(subject.number).await.ok(),
        None => None,
    };
    let own_login = env.forge.own_login().await;
    let permission = admission::permission(env, trigger, &trigger.actor.login).await;
    let restarted_by = admission::restarted_by(env, trigger).await;
    let (Ok(permission), Ok(restarted_by)) = (permission, restarted_by) else { return false };
    let known = RequestFacts {
        job,
        own_login: own_login.as_deref(),
        permission,
        restarted_by,
        pull_request: pull_request.as_ref(),
        changed_paths: None,
        recent_runs: 0,
        policy: "",
        modes: &[],
        profiles: &[],
    };
    // Modes are not known, so what the command says is not judged.
    let examined = request::examine(trigger, Some(triggers), &known);
    examined.checks.iter().filter_map(|check| check.refused.as_ref()).all(|no| no.rule == "command")
}

/// Returns the error of a token that may not comment.
pub(super) fn may_not_write(error: ForgeError) -> RunError {
    RunError::usage("github-token", format!("may not comment here: {error}")).hint(WRITE_CURE)
}

/// Returns the error of a token that may not push what the policy lets the run publish.
pub(super) fn may_not_push(error: RepoError) -> RunError {
    RunError::usage("github-token", format!("may not push here: {error}")).hint(
        "give the job `permissions: { contents: write }`, or say `publish: { as: comment }` in the \
         policy: changes are then shown as a diff",
    )
}

/// What lets Locum comment.
const WRITE_CURE: &str = "give the job `permissions: { contents: write, issues: write, \
                          pull-requests: write }`, or the action a `github-token` that may write; \
                          an archived repository takes no comments";

/// Says on the thread what is wrong; what hinders that is added to the error.
async fn say(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    (policy, facts): (&Policy, &Facts),
    mut error: RunError,
) -> RunError {
    let is_silent = env.inputs.dry_run || env.inputs.writes_bundle();
    if is_silent || trigger.subject.is_none() {
        return error;
    }
    let poster = env.poster(policy, facts);
    if let Some(target) = reaction_target(trigger) {
        poster.show(target, SEEN).await;
    }
    let (hidden, begun) = match own_comment(env, trigger).await {
        Some(hidden) => (hidden, true),
        None => (marker("setup", &[]), false),
    };
    let body = body(env, trigger, &error, begun);
    let Some(posting) = answer::posting(env, trigger, policy, (&hidden, &body)) else {
        return error;
    };
    match poster.post(posting).await {
        Ok(_) => {}
        Err(NotPosted::Policy(_)) => return error,
        Err(NotPosted::Forge(refused @ ForgeError::Forbidden { .. })) => {
            let already = error.diagnostics.iter().any(|one| one.origin == "github-token");
            if !already {
                error.diagnostics.extend(may_not_write(refused).diagnostics);
            }
        }
        Err(failed) => tracing::warn!(%failed, "the mistakes could not be posted on the thread"),
    }
    if let Some(target) = reaction_target(trigger) {
        poster.react(target, OutcomeReaction::Confused.as_str()).await;
    }
    error
}

/// Returns the hidden lines of the run's own comment, where it has one by now: what went wrong goes
/// there, so that it is not left behind as if the run were at work. What they name is still kept.
async fn own_comment(env: &ActionEnv<'_>, trigger: &Trigger) -> Option<String> {
    let own = progress_marker(env, trigger);
    let thread = thread_of(trigger.subject.as_ref()?);
    let comments = env.forge.own_comments(thread, &own, None).await.ok()?;
    let comment = comments.first()?;
    Some(hidden_lines_of(&comment.body).collect::<Vec<_>>().join("\n"))
}

/// Returns the comment; `begun` is true for a run that had a comment, and so may have worked.
fn body(env: &ActionEnv<'_>, trigger: &Trigger, error: &RunError, begun: bool) -> String {
    let log = env.job.run_url().map_or_else(String::new, |url| format!(" · [log]({url})"));
    let publishes =
        env.inputs.bundle.as_ref().is_some_and(|bundle| bundle.step == BundleStep::Publish);
    let is_of_bundle = error.diagnostics.iter().all(|one| one.origin == bundle::PLACE);
    let (state, what) = match (begun, error.kind) {
        _ if publishes && is_of_bundle => {
            ("not published", "The job that works left nothing that could be published.")
        }
        (true, _) => ("failed", "The run could not go on."),
        // Whether the other job asked a model, this one does not know.
        (false, _) if publishes => {
            ("not published", "What the job that works did could not be published.")
        }
        (false, RunErrorKind::Usage) => {
            ("not started", "The set-up has to be corrected first; no model was asked.")
        }
        (false, RunErrorKind::Internal) => {
            ("not started", "Something failed before the work began; no model was asked.")
        }
    };
    let then = match error.kind {
        _ if publishes && is_of_bundle => "Look into the log of that job, then ask again.",
        RunErrorKind::Usage => "Correct it, then ask again.",
        RunErrorKind::Internal => "Ask again later.",
    };
    let shown: Vec<String> = error.diagnostics.iter().take(MISTAKES_LIMIT).map(mistake).collect();
    let more = error.diagnostics.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!("\n- and {more} more, in the log") };
    format!(
        "**locum: {state}**{log}\n\n{what}\n\n{}{more}\n\n{then} Asked by {}.",
        shown.join("\n"),
        code(&trigger.actor.login)
    )
}

/// Returns one mistake as an item of a list: where, what, and the cure.
fn mistake(mistake: &Diagnostic) -> String {
    let location = match mistake.origin.strip_prefix("INPUT_") {
        Some(input) => {
            format!("input {}: ", code(&input.to_ascii_lowercase().replace('_', "-")))
        }
        None if mistake.location().is_empty() => String::new(),
        None => format!("{}: ", code(&mistake.location())),
    };
    let cure = mistake.hint.as_ref();
    let cure = cure.map_or_else(String::new, |hint| format!("\n  **Cure:** {}", inline(hint)));
    format!("- {location}{}{cure}", inline(&mistake.what()))
}

/// Adds what GitHub withholds from a workflow that a review comment on a fork's pull request
/// starts.
fn with_cure_for_forks(event: &ForgeEvent, mut error: RunError) -> RunError {
    let is_fork = event.pull_request.as_ref().is_some_and(|pull_request| pull_request.is_fork);
    if is_fork && event.trigger.kind == EventKind::ReviewComment {
        let what = "GitHub gives a workflow that a comment on a line of a fork's pull request \
                    starts no secrets and a token that only reads";
        error.diagnostics.push(Diagnostic::about("", what).hint(
            "write the command as a comment under \"Conversation\" instead, which starts \
             `issue_comment`",
        ));
    }
    error
}
