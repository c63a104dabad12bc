//! What an event itself says against a run: where it comes from, what it asks, whose output it is,
//! how old and where it stands.
//!
//! In: the trigger, the policy's settings and what is known. Out: nothing, or the rule that
//! refuses. Who asked is decided in `who`.

use crate::run::jobs::dashboard;
use crate::run::request::ask::Ask;
use crate::run::request::rules::{self, EventFacts};
use crate::run::request::who::is;
use crate::run::request::{
    EVENT_AGE_LIMIT, JobFacts, RUNS_PER_HOUR, RequestFacts, RequestRefusal, posted, silent,
};
use locum_forge::command::{self, CommentCommand};
use locum_forge::event::{EventKind, Trigger};
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::{Forks, Triggers};

pub(super) fn screen_repository(
    trigger: &Trigger,
    known: &JobFacts<'_>,
) -> Result<(), RequestRefusal> {
    if !trigger.repository.is_empty() && !trigger.repository.eq_ignore_ascii_case(known.repository)
    {
        return Err(silent(
            "repository",
            &format!(
                "the event is about `{}`, the job runs for `{}`",
                trigger.repository, known.repository
            ),
        ));
    }
    Ok(())
}

/// Returns what an event asks for.
///
/// # Errors
/// Why it asks for nothing.
pub(super) fn find_ask<'t>(
    trigger: &Trigger,
    triggers: &'t Triggers,
    known: EventFacts<'_>,
) -> Result<Ask<'t>, RequestRefusal> {
    match trigger.kind {
        EventKind::IssueComment
        | EventKind::DiscussionComment
        | EventKind::ReviewComment
        | EventKind::ReviewSummary => {
            let body = trigger.comment.as_ref().map_or("", |comment| comment.body.as_str());
            find_command(body, triggers).map(Ask::Command)
        }
        EventKind::IssueOpened => find_command(body_of(trigger), triggers).map(Ask::Command),
        EventKind::IssueEdited => match find_new_command(trigger, triggers) {
            Some(command) => Ok(Ask::Command(command)),
            None => find_box(trigger, triggers).map(|_| Ask::Way(TriggerKind::Dispatch)),
        },
        EventKind::IssueLabeled => find_label(trigger, triggers),
        EventKind::PullRequest
            if trigger.action == "labeled" && find_label(trigger, triggers).is_ok() =>
        {
            Ok(Ask::Way(TriggerKind::Label))
        }
        EventKind::IssueAssigned => {
            let rule = triggers
                .assign
                .as_ref()
                .ok_or_else(|| silent("triggers.assign", "assigning starts nothing here"))?;
            if !trigger.assignee.as_deref().is_some_and(|assignee| is(assignee, &rule.login)) {
                return Err(silent(
                    "triggers.assign.login",
                    "the issue was assigned to somebody else",
                ));
            }
            Ok(Ask::Way(TriggerKind::Assign))
        }
        EventKind::Dispatch | EventKind::Other => Ok(Ask::Way(TriggerKind::Dispatch)),
        EventKind::Schedule => {
            screen_schedule(trigger, known.job).map(|()| Ask::Way(TriggerKind::Schedule))
        }
        EventKind::PullRequest
        | EventKind::ChecksEnded
        | EventKind::Push
        | EventKind::Release
        | EventKind::MergeGroup
        | EventKind::RepositoryDispatch => find_rule(trigger, triggers, known),
    }
}

/// Returns the entry of the policy for an event of the repository. Where there is none of its
/// kind, the workflow itself may say what is to be done.
fn find_rule<'t>(
    trigger: &Trigger,
    triggers: &'t Triggers,
    known: EventFacts<'_>,
) -> Result<Ask<'t>, RequestRefusal> {
    let Some((kind, key)) = rules::kind_of(trigger.kind) else {
        return Err(silent("event", "events of this kind start nothing"));
    };
    match rules::find(trigger, triggers, (kind, key), known)? {
        Some(rule) if rules::have_passed(trigger) => Ok(Ask::Passed(rule)),
        Some(rule) => Ok(Ask::Rule(rule)),
        None if known.job.has_task => Ok(Ask::Way(TriggerKind::Dispatch)),
        None => Err(silent(key, "such events start nothing here")),
    }
}

fn find_label<'t>(trigger: &Trigger, triggers: &Triggers) -> Result<Ask<'t>, RequestRefusal> {
    let rule = triggers
        .label
        .as_ref()
        .ok_or_else(|| silent("triggers.label", "labels start nothing here"))?;
    if trigger.label.as_deref() != Some(rule.name.as_str()) {
        return Err(silent("triggers.label.name", "the label is another one"));
    }
    Ok(Ask::Way(TriggerKind::Label))
}

fn body_of(trigger: &Trigger) -> &str {
    trigger.subject.as_ref().map_or("", |subject| subject.body.as_str())
}

/// Returns the command that an edit put into the body of an issue: one that stood there before was
/// somebody's already.
fn find_new_command(trigger: &Trigger, triggers: &Triggers) -> Option<CommentCommand> {
    let before = find_command(trigger.body_before.as_deref()?, triggers).ok();
    find_command(body_of(trigger), triggers).ok().filter(|_| before.is_none())
}

/// Returns the text of the box that an edit of the dashboard ticked.
pub(crate) fn find_box(trigger: &Trigger, triggers: &Triggers) -> Result<String, RequestRefusal> {
    let rule = "triggers.schedule.dashboard";
    if !triggers.dashboard {
        return Err(silent(rule, "edits of issues start nothing here"));
    }
    let before = trigger.body_before.as_deref().unwrap_or_default();
    match dashboard::ticked(before, body_of(trigger)) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(silent(rule, "the edit does not tick a box of the dashboard")),
        Err(why) => Err(posted(rule, &why)),
    }
}

fn find_command(body: &str, triggers: &Triggers) -> Result<CommentCommand, RequestRefusal> {
    let rule = triggers
        .comment
        .as_ref()
        .ok_or_else(|| silent("triggers.comment", "comments start nothing here"))?;
    if body.len() > BODY_LIMIT_CHARS && body.chars().count() > BODY_LIMIT_CHARS {
        return Err(silent("comment-length", "the comment is longer than the forge allows"));
    }
    command::parse(body, &rule.prefix)
        .ok_or_else(|| silent("triggers.comment.prefix", "the comment holds no command"))
}

/// A schedule runs on the default branch only: there alone its jobs were reviewed.
fn screen_schedule(trigger: &Trigger, known: &JobFacts<'_>) -> Result<(), RequestRefusal> {
    let default = known.default_branch_of(trigger);
    if default.is_empty() || known.git_ref.strip_prefix("refs/heads/") != Some(default) {
        return Err(silent("schedule-branch", "schedules run on the default branch only"));
    }
    Ok(())
}

pub(super) fn screen_bot(trigger: &Trigger, triggers: &Triggers) -> Result<(), RequestRefusal> {
    let login = trigger.actor.login.as_str();
    let listed = trigger.actor.is_user || triggers.bots.iter().any(|bot| is(bot, login));
    if !listed {
        return Err(silent(
            "triggers.bots.allow",
            &format!("{login} is not a person and not listed"),
        ));
    }
    Ok(())
}

/// Refuses threads that are over and events that are old.
pub(super) fn screen_thread(trigger: &Trigger, known: &JobFacts<'_>) -> Result<(), RequestRefusal> {
    if let Some(subject) = &trigger.subject {
        if !subject.is_open {
            return Err(posted("thread-open", "the thread is closed"));
        }
        if subject.is_locked {
            return Err(posted("thread-unlocked", "the thread is locked"));
        }
    }
    if trigger
        .happened_at
        .is_some_and(|happened| known.now.duration_since(happened) > EVENT_AGE_LIMIT)
    {
        return Err(posted("event-age", "the event is older than a day"));
    }
    Ok(())
}

pub(super) fn screen_rate(known: &RequestFacts<'_>) -> Result<(), RequestRefusal> {
    if known.recent_runs >= RUNS_PER_HOUR {
        return Err(posted(
            "runs-per-hour",
            &format!("{RUNS_PER_HOUR} runs were started here within the hour"),
        ));
    }
    Ok(())
}

/// Returns whether the run may only read, by where the pull request's head lies.
pub(super) fn fork_is_read_only(
    trigger: &Trigger,
    triggers: &Triggers,
    known: &RequestFacts<'_>,
) -> Result<bool, RequestRefusal> {
    let Some(subject) = trigger.subject.as_ref().filter(|subject| subject.is_pull_request) else {
        return Ok(false);
    };
    let pull_request = known
        .pull_request
        .filter(|pull_request| pull_request.number == subject.number)
        .ok_or_else(|| silent("pull-request", "the pull request could not be read"))?;
    if !pull_request.is_open {
        return Err(posted("thread-open", "the pull request is closed"));
    }
    if subject.head_sha.as_ref().is_some_and(|head| *head != pull_request.head_sha) {
        return Err(posted("head-moved", "the pull request has new commits since it was asked"));
    }
    // A comment does not say which commit it saw. Who may push to this repository may do more.
    let pushed_since = trigger
        .happened_at
        .zip(pull_request.head_pushed_at)
        .is_some_and(|(asked, pushed)| pushed >= asked);
    if subject.head_sha.is_none() && pull_request.is_fork && pushed_since {
        return Err(posted(
            "head-moved",
            "the fork was pushed to since it was asked; look at its commits and ask again",
        ));
    }
    match (pull_request.is_fork, triggers.forks) {
        (false, _) | (true, Forks::Allow) => Ok(false),
        (true, Forks::ReadOnly | Forks::Contained) => Ok(true),
        (true, Forks::Deny) => {
            Err(posted("triggers.forks", "pull requests from forks start nothing here"))
        }
    }
}
