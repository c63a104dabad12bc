//! A session that waits for a decision which cannot count any more: its comment says so, and
//! nothing waits there after that.
//!
//! In: what the session began with, and what is there now. Out: why it is over, and the comment of
//! its run without the commands that decide. Its ref goes as those of others that nobody decides
//! on.

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::carry::WaitingSession;
use crate::run::action::places::comment_target;
use crate::run::action::{ActionEnv, answer, status};
use locum_agent::report::comment;
use locum_agent::report::markdown::code;
use locum_agent::session::event::SessionStart;
use locum_agent::session::word::OutcomeReaction;
use locum_forge::OwnComment;

/// What is so where the comment of a run stays as it is.
const STILL_OFFERED: &str = "a comment still offers a decision that does not count";

/// Returns why a session cannot go on any more: what it was judged by, or what it started from, is
/// not what is there now.
pub(super) fn why(admitted: &AdmittedEvent<'_>, start: &SessionStart) -> Option<String> {
    let (event, hash) = (&admitted.event, admitted.config.policy.hash());
    if start.policy_hash != hash {
        let why = "the policy, or an ignore file, is another one since; ask for the task again";
        return Some(why.to_owned());
    }
    let is_moved = |now: &locum_forge::PullRequest| now.head_sha != start.base.0;
    event
        .pull_request
        .as_ref()
        .filter(|now| is_moved(now))
        .map(|_| "the pull request has new commits since; ask for the task again".to_owned())
}

/// Says in the comment of a run that waits why no decision on it counts any more.
pub(super) async fn close(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    waits: &WaitingSession,
    why: &str,
) {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let Some(subject) = &event.trigger.subject else { return };
    let comments = match env.forge.own_comments(thread_of(subject), PROGRESS, None).await {
        Ok(comments) => comments,
        Err(error) => {
            tracing::warn!(%error, "the comments of runs are not looked for");
            return;
        }
    };
    let is_its = |comment: &OwnComment| WaitingSession::parse(comment).as_ref() == Some(waits);
    let Some(own) = comments.into_iter().find(is_its) else { return };
    let Some(marker) = own.body.lines().next() else { return };
    let run_url = status::run_of(&own).map(|run| env.job.url_of_run(&run));
    let prefix = config.policy.settings().triggers.prefix();
    let retry = code(&format!("{prefix} retry"));
    let body = comment::outdated(&own.body, run_url.as_deref(), (why, &retry));
    let policy = &config.policy;
    let poster = env.poster(policy, &request.facts);
    let Some(posting) = answer::posting(env, &event.trigger, policy, (marker, &body)) else {
        return;
    };
    if poster.try_to_post(posting, STILL_OFFERED).await.is_none() {
        return;
    }
    let asked = status::value_of(&own, "comment").and_then(|id| id.parse().ok());
    if let Some(target) = asked.and_then(|id| comment_target(&event.trigger, id)) {
        poster.show(target, OutcomeReaction::Confused.as_str()).await;
    }
}
