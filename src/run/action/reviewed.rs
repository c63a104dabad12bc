//! What the last review that an event started has looked at, so that the next push is reviewed from
//! there.
//!
//! In: our own comments on the pull request, and its head. Out: the commit, where the head has only
//! grown since. The comment names it; its author is known, and what it names has to be part of the
//! head's history.

use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::task_material::TaskMaterial;
use locum_agent::report::comment;
use locum_base::text::head;
use locum_forge::ThreadComment;
use locum_forge::event::EventKind;
use locum_policy::intent::TriggerKind;
use locum_workspace::repo::CommitId;

/// How the comments of runs begin that a pull request's own event started.
const BY_EVENT: &str = "<!-- locum:v1 kind=progress comment=pull-request ";

/// How the comment of a run goes on that did what it was to do.
const DONE: [&str; 2] = ["**locum: done**", "**locum: nothing to do**"];

/// Digits of a commit that are shown.
const SHOWN_DIGITS: usize = 12;

/// Returns the commit to review from; `None` where all of the pull request is to be reviewed.
pub(super) fn since(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    own: &[ThreadComment],
    tip: &CommitId,
) -> Option<CommitId> {
    let trigger = &admitted.event.trigger;
    if admitted.request.facts.trigger != TriggerKind::PullRequest
        || (trigger.kind, trigger.action.as_str()) != (EventKind::PullRequest, "synchronize")
    {
        return None;
    }
    let is_done = |comment: &&ThreadComment| {
        comment.body.starts_with(BY_EVENT)
            && comment.body.lines().any(|line| DONE.iter().any(|done| line.starts_with(done)))
    };
    let last = own.iter().rev().find(is_done)?;
    let repo = &env.workspace.repo;
    let reviewed = repo.commit_of(comment::begun_at(&last.body)?).ok()?;
    let is_part = repo.merge_base(&reviewed, tip).is_ok_and(|base| base == reviewed);
    (is_part && reviewed != *tip).then_some(reviewed)
}

/// Returns what the model is told of it.
pub(super) fn material(reviewed: &CommitId) -> TaskMaterial {
    let short = head(&reviewed.0, SHOWN_DIGITS);
    TaskMaterial {
        what: "what is to be looked at".to_owned(),
        origin: "the forge".to_owned(),
        text: format!(
            "An earlier run looked at this pull request up to commit {short}. Look at what came \
             after it; the change shown begins there."
        ),
    }
}

/// Returns what the comment of the run says of it.
pub(super) fn remark(reviewed: &CommitId) -> String {
    format!("Looked at what came after commit `{}`.", head(&reviewed.0, SHOWN_DIGITS))
}
