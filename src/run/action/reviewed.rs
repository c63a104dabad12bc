//! What the last review that an event started has looked at, so that the next push is reviewed from
//! there.
//!
//! In: our own comments on the pull request, and its head. Out: the commit, where the head has only
//! grown since. The comment names it; its author is known, and what it names has to be part of the
//! head's history.

use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::carry::WAITS;
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

/// How what the comment of a run says of it begins.
const LOOKED_AFTER: &str = "Looked at what came after commit `";

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
        comment.body.lines().any(|line| DONE.iter().any(|done| line.starts_with(done)))
    };
    let mut own = own.iter().rev().filter(|comment| comment.body.starts_with(BY_EVENT));
    // A run that did not end so says what was looked at before it.
    let last = own.find_map(|comment| {
        if is_done(&comment) { comment::begun_at(&comment.body) } else { before(&comment.body) }
    })?;
    let repo = &env.workspace.repo;
    let reviewed = repo.commit_of(last).ok()?;
    let is_part = repo.merge_base(&reviewed, tip).is_ok_and(|base| base == reviewed);
    (is_part && reviewed != *tip).then_some(reviewed)
}

/// Returns the marker of the comment that a pull request's own event left, which the comment of the
/// next one takes the place of: the latest, unless its run is at work or waits for a decision.
pub(super) fn replaced(own: &[ThreadComment], marker: &str) -> Option<String> {
    let last = own.iter().rev().find(|comment| comment.body.starts_with(BY_EVENT))?;
    let mut lines = last.body.lines();
    let known = lines.next().filter(|known| *known != marker && marker.starts_with(BY_EVENT))?;
    let is_over = |line: &str| !line.starts_with(comment::WORKING) && !line.starts_with(WAITS);
    lines.take(2).all(is_over).then(|| known.to_owned())
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
    format!("{LOOKED_AFTER}{}`.", head(&reviewed.0, SHOWN_DIGITS))
}

/// Reads it off a comment: the commit from which on its run looked.
fn before(body: &str) -> Option<&str> {
    body.lines().find_map(|line| line.strip_prefix(LOOKED_AFTER))?.strip_suffix("`.")
}
