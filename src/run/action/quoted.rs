//! A command below a quoted question is the answer to it, as a reply that quotes the whole comment
//! is: what the key `r` of GitHub quotes is only what was selected.
//!
//! In: the event, and our own comments on its thread. Out: the event with the command that answers
//! in the quote, where the words are those of exactly one question that waits there.

use crate::run::action::admission::{Admission, PROGRESS, thread_of};
use crate::run::action::carry::WaitingSession;
use crate::run::action::{ActionEnv, answer};
use crate::run::error::RunError;
use locum_agent::report::waiting::question_in;
use locum_forge::OwnComment;
use locum_forge::command;
use locum_forge::event::Trigger;

/// Fewest letters and digits of a quote that counts: a word that stands in any question does not.
const QUOTE_LEAST_CHARS: usize = 8;

/// Returns an event with the command that answers in the quote of its comment; `None` where that
/// quotes no question that waits.
///
/// # Errors
/// When the forge does not answer: what it asks for would be another thing.
pub(super) async fn answering(
    env: &ActionEnv<'_>,
    admission: &Admission<'_>,
) -> Result<Option<Trigger>, RunError> {
    let (event, policy) = match admission {
        Admission::Admitted(admitted) => (&admitted.event, &admitted.config.policy),
        Admission::Refused(refused) => (&refused.event, &refused.policy),
        Admission::Skipped(_)
        | Admission::NoPolicy(_)
        | Admission::Unanswered(_)
        | Admission::Unusable(_) => return Ok(None),
    };
    let trigger = &event.trigger;
    let (Some(subject), Some(comment)) = (&trigger.subject, &trigger.comment) else {
        return Ok(None);
    };
    let prefix = answer::prefix_of(env, &policy.settings().triggers);
    let Some(quote) = command::quoted_above(&comment.body, &prefix) else { return Ok(None) };
    let own = env.forge.own_comments(thread_of(subject), PROGRESS, None).await;
    let own = own.map_err(RunError::internal)?;
    let Some(id) = question_of(&own, &quote) else { return Ok(None) };
    let mut answers = trigger.clone();
    if let Some(comment) = &mut answers.comment {
        comment.body = format!("> {prefix} answer {id}\n\n{}", comment.body);
    }
    Ok(Some(answers))
}

/// Returns the name of the one question that waits and has all the words of a quote, in order.
fn question_of(own: &[OwnComment], quote: &str) -> Option<String> {
    let quote = words(quote);
    if quote.chars().filter(|letter| *letter != ' ').count() < QUOTE_LEAST_CHARS {
        return None;
    }
    let asked = own.iter().filter_map(|comment| {
        let waits = WaitingSession::parse(comment).filter(|waits| !waits.is_at_work)?;
        let [id] = waits.ids.as_slice() else { return None };
        let is_it =
            format!(" {} ", words(question_in(&comment.body)?)).contains(&format!(" {quote} "));
        is_it.then(|| id.clone())
    });
    let found: Vec<String> = asked.collect();
    <[String; 1]>::try_from(found).ok().map(|[id]| id)
}

/// Returns the letters and digits of a text, without marks: GitHub writes the Markdown of a quote
/// anew.
fn words(text: &str) -> String {
    let plain = text.replace(|letter: char| !letter.is_alphanumeric(), " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::question_of;
    use locum_forge::OwnComment;
    use pretty_assertions::assert_eq;

    const ID: &str = "0123456789abcdef";

    fn comment(id: u64, waits: &str, text: &str) -> OwnComment {
        let session = "01a21ca6f67375678b964a45e1156bec";
        let hidden = format!(
            "<!-- locum:v1 kind=progress comment=1 run=2 -->\n<!-- locum:v1 kind=session \
             id={session} commit=c waits={waits} -->"
        );
        let state = "**locum: needs an answer** · mode code";
        let body = format!(
            "{hidden}\n{state}\n\n{text}\n\nAnswer by a comment, with your words after the \
             name:\n\n```\n/locum answer {waits}\n```\n\nNo file was changed."
        );
        OwnComment { id, body }
    }

    #[test]
    fn a_quote_of_the_one_question_that_waits_names_it() {
        let asked = comment(1, ID, "Which *colour* should it have?\n\n- red\n- blue");
        let other = comment(2, "fedcba9876543210", "Which colour should it have?");
        let found = |own: &[&OwnComment], quote: &str| {
            let own: Vec<OwnComment> = own.iter().map(|own| (*own).clone()).collect();
            question_of(&own, quote)
        };
        for quote in [
            "Which colour should it have?",
            "Which _colour_ should it have?\n\n* red\n* blue",
            "should it have?",
        ] {
            assert_eq!(found(&[&asked], quote).as_deref(), Some(ID), "{quote}");
        }
        for quote in ["red", "Which colours should it have?", "No file was changed.", "mode code"] {
            assert_eq!(found(&[&asked], quote), None, "{quote}");
        }
        let works =
            OwnComment { body: asked.body.replace("needs an answer", "working"), ..asked.clone() };
        let held =
            OwnComment { body: asked.body.replace("Answer by", "Decide by"), ..asked.clone() };
        for own in [&[&asked, &other][..], &[&works], &[&held], &[]] {
            assert_eq!(found(own, "Which colour should it have?"), None);
        }
    }
}
