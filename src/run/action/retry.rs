//! `retry`: the last request on a thread, asked again by whoever retries it.
//!
//! In: an admitted event. Out: the same event with the words of that request, which passes the gate
//! like any other; or why there is nothing to ask again. Its words count only if their author may
//! start runs by a comment: they are the task. What only asked to go on is none.

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::declined::Declined;
use crate::run::action::{ActionEnv, going_on, status, thread};
use crate::run::error::RunError;
use locum_forge::command::verb::Verb;
use locum_forge::command::{self, CommentCommand};
use locum_forge::event::Trigger;

/// Returns the event as the last request here would have been.
///
/// # Errors
/// When there is none, or the forge does not answer.
pub(super) async fn last_request(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<Trigger, Declined> {
    let trigger = &admitted.event.trigger;
    let (Some(subject), Some(_)) = (&trigger.subject, &trigger.comment) else {
        return Err(Declined::refused("only a comment can ask again"));
    };
    let Some(rule) = &admitted.config.policy.settings().triggers.comment else {
        return Err(Declined::refused("comments start nothing here"));
    };
    let (place, modes) = (thread_of(subject), &admitted.config.policy.settings().modes.allow);
    let runs = env.forge.own_comments(place, PROGRESS, None).await.map_err(RunError::internal)?;
    let comments = env.forge.thread_comments(place, None).await.map_err(RunError::internal)?;
    for run in runs.iter().rev() {
        let asked_by = status::value_of(run, "comment").unwrap_or_default();
        let Ok(id) = asked_by.parse::<u64>() else {
            // A label or an assignment: the issue itself is the task.
            return Ok(going_on::with_words(trigger, &rule.prefix));
        };
        let Some(asked) = comments.iter().find(|comment| comment.id == id) else {
            let why = "the comment that asked is gone; write the task again";
            return Err(Declined::refused(why));
        };
        let command = command::parse(&asked.body, &rule.prefix);
        let is_no_task = |command: &CommentCommand| {
            command.known_verb() == Some(Verb::Retry) || going_on::is_asked(command, modes)
        };
        if command.as_ref().is_some_and(is_no_task) {
            continue;
        }
        let may_ask = asked.author.eq_ignore_ascii_case(&trigger.actor.login)
            || thread::tier_of(env, asked, trigger.is_private)
                .await
                .is_some_and(|tier| rule.tiers.contains(&tier));
        if !may_ask {
            let author = &asked.author;
            let why = format!("`{author}`, who asked last, may not start runs; write the task");
            return Err(Declined::Refused(why));
        }
        return Ok(going_on::with_words(trigger, &asked.body));
    }
    Err(Declined::refused("nothing ran here yet"))
}
