//! `retry`: the last request on a thread, asked again by whoever retries it.
//!
//! In: an admitted event. Out: the same event with the words of that request, which passes the gate
//! like any other; or why there is nothing to ask again. Its words count only if their author may
//! start runs by a comment: they are the task.

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::{ActionEnv, status, thread};
use crate::run::error::RunError;
use locum_forge::command;
use locum_forge::event::Trigger;

/// Returns the event as the last request here would have been; the inner error says why there is
/// none.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn last_request(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<Result<Trigger, String>, RunError> {
    let trigger = &admitted.event.trigger;
    let (Some(subject), Some(_)) = (&trigger.subject, &trigger.comment) else {
        return Ok(Err("only a comment can ask again".to_owned()));
    };
    let triggers = env.inputs.tighten(&admitted.config.policy.settings().triggers);
    let Some(rule) = &triggers.comment else {
        return Ok(Err("comments start nothing here".to_owned()));
    };
    let place = thread_of(subject);
    let runs = env.forge.own_comments(place, PROGRESS, None).await.map_err(RunError::internal)?;
    let comments = env.forge.thread_comments(place, None).await.map_err(RunError::internal)?;
    for run in runs.iter().rev() {
        let asked_by = status::value_of(run, "comment").unwrap_or_default();
        let Ok(id) = asked_by.parse::<u64>() else {
            // A label or an assignment: the issue itself is the task.
            return Ok(Ok(with_words(trigger, &rule.prefix)));
        };
        let Some(asked) = comments.iter().find(|comment| comment.id == id) else {
            return Ok(Err("the comment that asked is gone; write the task again".to_owned()));
        };
        let verb = command::parse(&asked.body, &rule.prefix).and_then(|command| command.verb);
        if matches!(verb.as_deref(), Some("retry")) {
            continue;
        }
        let may_ask = asked.author.eq_ignore_ascii_case(&trigger.actor.login)
            || thread::tier_of(env, asked, trigger.is_private)
                .await
                .is_some_and(|tier| rule.tiers.contains(&tier));
        return Ok(if may_ask {
            Ok(with_words(trigger, &asked.body))
        } else {
            Err(format!("`{}`, who asked last, may not start runs; write the task", asked.author))
        });
    }
    Ok(Err("nothing ran here yet".to_owned()))
}

fn with_words(trigger: &Trigger, body: &str) -> Trigger {
    let mut again = trigger.clone();
    if let Some(comment) = &mut again.comment {
        body.clone_into(&mut comment.body);
    }
    again
}
