//! `go on`: the words that ask for what was begun, and are no task of their own.
//!
//! In: a command, the modes that runs may start in, our own comments. Out: whether it asks for
//! nothing else; and the event with the decision by which a run here went on that was cut short:
//! whoever asks decides the same again, as far as they may.

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::carry::{self, TakenBy, WaitingSession};
use crate::run::action::declined::Declined;
use crate::run::action::{ActionEnv, thread};
use crate::run::error::RunError;
use crate::run::request::RequestedAction;
use locum_forge::command::verb::Verb;
use locum_forge::command::{self, CommentCommand};
use locum_forge::event::Trigger;

/// Every way to say it, in small letters and without marks.
const WORDS: &[&str] =
    &["go on", "go on with it", "continue", "carry on", "keep going", "proceed", "go on here"];
/// Words that may stand before and behind it.
const POLITE: &[&str] = &["please", "now", "then", "just"];

/// Returns whether a command asks to go on, and for nothing else.
pub(super) fn is_asked(command: &CommentCommand, modes: &[String]) -> bool {
    let is_mode = |verb: &String| modes.contains(verb);
    let said = match &command.verb {
        Some(verb) if is_mode(verb) || verb == "fix" => command.text.clone(),
        Some(_) | None => command.whole_text(),
    };
    let plain = said.replace(|letter: char| !letter.is_alphanumeric(), " ").to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().filter(|word| !POLITE.contains(word)).collect();
    WORDS.contains(&words.join(" ").as_str())
}

/// Returns whether the comment of an event asks to go on, and for nothing else.
pub(super) fn is_alone(admitted: &AdmittedEvent<'_>) -> bool {
    let settings = admitted.config.policy.settings();
    let comment = admitted.event.trigger.comment.as_ref();
    let asked = comment.zip(settings.triggers.comment.as_ref());
    let command = asked.and_then(|(comment, rule)| command::parse(&comment.body, &rule.prefix));
    command.is_some_and(|command| is_asked(&command, &settings.modes.allow))
}

/// Returns an event that asks to go on as one that decides, where a run waits here that went on by
/// a decision before and was cut short; `None` where none does, or several.
///
/// # Errors
/// When the forge does not answer: something else would run.
pub(super) async fn decision(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<Option<Trigger>, RunError> {
    let trigger = &admitted.event.trigger;
    let settings = admitted.config.policy.settings();
    let triggers = &settings.triggers;
    let (Some(rule), Some(subject), Some(comment)) =
        (&triggers.comment, &trigger.subject, &trigger.comment)
    else {
        return Ok(None);
    };
    let asks = |command: CommentCommand| is_asked(&command, &settings.modes.allow);
    let decides = |command: &CommentCommand| command.known_verb().is_some_and(Verb::decides);
    let is_run = admitted.request.action == RequestedAction::Run;
    // A decision takes no flag, and a dry run decides nothing.
    let is_plain = |command: &CommentCommand| command.flags.is_empty() && !env.inputs.dry_run;
    let asked = command::parse(&comment.body, &rule.prefix).filter(is_plain);
    if !is_run || !asked.is_some_and(asks) {
        return Ok(None);
    }
    let place = thread_of(subject);
    let own = env.forge.own_comments(place, PROGRESS, None).await.map_err(RunError::internal)?;
    let waiting = own
        .iter()
        .filter_map(|own| Some((WaitingSession::parse(own)?, TakenBy::parse(&own.body)?)));
    let taken: Vec<(WaitingSession, TakenBy)> = waiting.collect();
    let [(waits, taken)] = taken.as_slice() else { return Ok(None) };
    // Where it waits again, nobody has decided on that yet.
    match carry::fetch(env, (&waits.session, &waits.commit)).await {
        Ok((_, Some(by))) if by == *taken => {}
        Err(Declined::Failed(error)) => return Err(error),
        Ok(_) | Err(Declined::Refused(_)) => return Ok(None),
    }
    let id = &taken.comment;
    let comments = env.forge.thread_comments(place, None).await.map_err(RunError::internal)?;
    let until = comments.iter().position(|one| one.id == *id);
    let until = until.and_then(|last| comments.get(..=last)).unwrap_or_default();
    // Who went on before named no decision: it stands above. One of somebody who may not decide so
    // was none.
    for one in until.iter().rev() {
        let Some(said) = command::parse(&one.body, &rule.prefix) else { continue };
        if !decides(&said) && (one.id != *id || asks(said.clone())) {
            continue;
        }
        let tiers = match said.known_verb() {
            Some(Verb::Approve | Verb::Deny) => &triggers.approve_tiers,
            Some(_) | None => &rule.tiers,
        };
        let may_decide = one.author.eq_ignore_ascii_case(&trigger.actor.login)
            || thread::tier_of(env, one, trigger.is_private)
                .await
                .is_some_and(|tier| tiers.contains(&tier));
        if !may_decide {
            continue;
        }
        // They count as the words of whoever asks.
        return Ok(Some(match waits.ids.as_slice() {
            [id] if !decides(&said) => {
                with_words(trigger, &format!("> {} answer {id}\n\n{}", rule.prefix, one.body))
            }
            _ => with_words(trigger, &one.body),
        }));
    }
    Ok(None)
}

/// Returns the event as one whose comment has other words.
pub(super) fn with_words(trigger: &Trigger, body: &str) -> Trigger {
    let mut again = trigger.clone();
    if let Some(comment) = &mut again.comment {
        body.clone_into(&mut comment.body);
    }
    again
}

#[cfg(test)]
mod tests {
    use super::is_asked;
    use locum_forge::command::parse;

    #[test]
    fn going_on_is_asked_for_by_these_words_and_nothing_else() {
        let modes = ["code".to_owned()];
        let asks =
            |said: &str| is_asked(&parse(&format!("/locum {said}"), "/locum").unwrap(), &modes);
        for said in
            ["go on", "Go on!", "code go on", "please go on.", "--budget=1 go on", "carry on"]
        {
            assert!(asks(said), "{said}");
        }
        for said in ["go on with the docs", "code say go on twice", "retry", "code", "plan go on"] {
            assert!(!asks(said), "{said}");
        }
    }
}
