//! Where on the forge the answers to an event go: the run's own comment, the review comment that is
//! answered, what is reacted to.

use crate::run::action::ActionEnv;
use locum_agent::report::markdown;
use locum_forge::event::{EventKind, Trigger};
use locum_forge::posts::ReactionTarget;

/// Returns the hidden line of the comment of what an event starts.
pub(super) fn progress_marker(env: &ActionEnv<'_>, trigger: &Trigger) -> String {
    markdown::marker("progress", &[("comment", &asked_by(trigger)), ("run", &env.job.run_id)])
}

/// Names what asked, for a hidden line.
fn asked_by(trigger: &Trigger) -> String {
    match (&trigger.comment, trigger.kind) {
        (Some(comment), _) => comment.id.to_string(),
        (None, EventKind::IssueAssigned) => "assigned".to_owned(),
        (None, EventKind::IssueEdited) => "edited".to_owned(),
        (None, EventKind::IssueOpened) => "opened".to_owned(),
        (None, EventKind::PullRequest) if trigger.action != "labeled" => "pull-request".to_owned(),
        (None, EventKind::ChecksEnded) => "checks".to_owned(),
        (None, _) => "label".to_owned(),
    }
}

/// Returns the comment that is answered below it: on a line, or in a discussion.
pub(super) fn reply_to(trigger: &Trigger) -> Option<u64> {
    let is_answered =
        matches!(trigger.kind, EventKind::ReviewComment | EventKind::DiscussionComment);
    trigger.comment.as_ref().filter(|_| is_answered).map(|comment| comment.id)
}

/// Returns where reactions on another comment go that is of the kind of the one that asks.
pub(super) fn comment_target(trigger: &Trigger, id: u64) -> Option<ReactionTarget> {
    let target = match reaction_target(trigger)? {
        ReactionTarget::IssueComment(_) => ReactionTarget::IssueComment(id),
        ReactionTarget::ReviewComment(_) => ReactionTarget::ReviewComment(id),
        ReactionTarget::DiscussionComment { discussion, .. } => {
            ReactionTarget::DiscussionComment { discussion, comment: id }
        }
        ReactionTarget::Issue(_) => return None,
    };
    Some(target)
}

/// Returns where reactions on an event go.
pub(super) fn reaction_target(trigger: &Trigger) -> Option<ReactionTarget> {
    match trigger.kind {
        EventKind::IssueComment => {
            trigger.comment.as_ref().map(|comment| ReactionTarget::IssueComment(comment.id))
        }
        EventKind::DiscussionComment => {
            let discussion = trigger.subject.as_ref()?.number;
            let comment = trigger.comment.as_ref()?.id;
            Some(ReactionTarget::DiscussionComment { discussion, comment })
        }
        EventKind::ReviewComment => {
            trigger.comment.as_ref().map(|comment| ReactionTarget::ReviewComment(comment.id))
        }
        EventKind::IssueOpened
        | EventKind::IssueLabeled
        | EventKind::IssueAssigned
        | EventKind::ReviewSummary => {
            trigger.subject.as_ref().map(|subject| ReactionTarget::Issue(subject.number))
        }
        // Nobody asked who could see a reaction; an edited issue was reacted to when it was opened.
        EventKind::IssueEdited
        | EventKind::PullRequest
        | EventKind::ChecksEnded
        | EventKind::Push
        | EventKind::Release
        | EventKind::MergeGroup
        | EventKind::RepositoryDispatch
        | EventKind::Other
        | EventKind::Dispatch
        | EventKind::Schedule => None,
    }
}
