//! A command below a quoted question is the answer to it, as a reply that quotes the whole comment
//! is: what the key `r` of GitHub quotes is only what was selected. One that names a verb, a mode
//! or a flag is about the quote, and starts a run.
//!
//! In: the event, and our own comments on its thread. Out: the event with the command that answers
//! in the quote, where the words are those of a question that waits there; where they are those of
//! several, one that is refused with the reason.

use crate::run::action::ActionEnv;
use crate::run::action::admission::{Admission, PROGRESS, thread_of};
use crate::run::action::carry::WaitingSession;
use crate::run::error::RunError;
use locum_agent::report::waiting::question_in;
use locum_forge::OwnComment;
use locum_forge::command::verb::Verb;
use locum_forge::command::{self, CommentCommand};
use locum_forge::event::{Comment, Trigger};

/// Fewest letters and digits of a sentence that tells a question from others.
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
    let prefix = policy.settings().triggers.prefix();
    let Some(quote) = command::quoted_above(&comment.body, prefix) else { return Ok(None) };
    let Some(said) = command::parse(&comment.body, prefix) else { return Ok(None) };
    if asks_for_a_run(&said, &policy.settings().modes.allow) {
        return Ok(None);
    }
    let own = env.forge.own_comments(thread_of(subject), PROGRESS, None).await;
    let own = own.map_err(RunError::internal)?;
    let body = match questions_of(&own, &quote).as_slice() {
        [] => return Ok(None),
        [id] => format!("> {prefix} answer {id}\n\n{}", comment.body),
        // Which one is meant is asked, as where no question is quoted.
        [..] => format!("{prefix} answer {}", said.whole_text()),
    };
    let comment = Comment { body, ..comment.clone() };
    Ok(Some(Trigger { comment: Some(comment), ..trigger.clone() }))
}

/// Whether a command names what is to run by a verb, a mode or a flag: the quote above it is what
/// that is about.
fn asks_for_a_run(said: &CommentCommand, modes: &[String]) -> bool {
    let is_known = |word: &str| {
        Verb::ALL.iter().any(|verb| verb.as_str() == word) || modes.iter().any(|mode| mode == word)
    };
    // `Fix it, please` is a sentence: an answer.
    let is_word = |verb: &&str| said.written.as_ref().is_none_or(|it| it.trim_end() == *verb);
    !said.flags.is_empty() || said.verb.as_deref().filter(is_word).is_some_and(is_known)
}

/// Returns the names of the questions that wait and have all the words of a quote, in order. The
/// quote holds a whole sentence of each: a few words stand in other texts, too.
fn questions_of(own: &[OwnComment], quote: &str) -> Vec<String> {
    let quote = format!(" {} ", words(quote));
    let asked = own.iter().filter_map(|comment| {
        let waits = WaitingSession::parse(comment).filter(|waits| !waits.is_at_work)?;
        let [id] = waits.ids.as_slice() else { return None };
        let question = question_in(&comment.body)?;
        let is_whole = |sentence: &str| {
            let sentence = words(sentence);
            let letters = sentence.chars().filter(|letter| *letter != ' ').count();
            letters >= QUOTE_LEAST_CHARS && quote.contains(&format!(" {sentence} "))
        };
        // A sentence ends before a blank: `a.rs` is one word.
        let ends = [". ", "? ", "! ", "。", "？", "！"];
        let sentences = ends
            .iter()
            .fold(question.to_owned(), |text, end| text.replace(end, &format!("{end}\n")));
        let all = format!(" {} ", words(question));
        let is_it = all == quote || (all.contains(&quote) && sentences.lines().any(is_whole));
        is_it.then(|| id.clone())
    });
    asked.collect()
}

/// Returns the letters and digits of a text, without marks: GitHub writes the Markdown of a quote
/// anew.
fn words(text: &str) -> String {
    let plain = text.replace(|letter: char| !letter.is_alphanumeric(), " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{asks_for_a_run, questions_of};
    use locum_forge::OwnComment;
    use locum_forge::command::parse;
    use pretty_assertions::assert_eq;

    const ID: &str = "0123456789abcdef";
    const OTHER: &str = "fedcba9876543210";

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
        let other = comment(2, OTHER, "Which colour should it have?");
        let found = |own: &[&OwnComment], quote: &str| {
            let own: Vec<OwnComment> = own.iter().map(|own| (*own).clone()).collect();
            questions_of(&own, quote)
        };
        for quote in
            ["Which colour should it have?", "Which _colour_ should it have?\n\n* red\n* blue"]
        {
            assert_eq!(found(&[&asked], quote), [ID], "{quote}");
        }
        for quote in [
            "red",
            "should it have?",
            "* red\n* blue",
            "Which colours should it have?",
            "No file was changed.",
            "mode code",
            "",
        ] {
            assert_eq!(found(&[&asked], quote), [""; 0], "{quote}");
        }
        let long = comment(1, ID, "The page has no colour yet. Which one should it have?");
        assert_eq!(found(&[&long], "Which one should it have?"), [ID]);
        let short = comment(1, ID, "Use a.rs or b.rs?");
        assert_eq!(found(&[&short], "Use a.rs or b.rs?"), [ID]);
        assert_eq!(found(&[&short], "or b.rs?"), [""; 0]);
        // Whose words are those of several, each is found: it is asked which is meant.
        assert_eq!(found(&[&asked, &other], "Which colour should it have?"), [ID, OTHER]);
        let works =
            OwnComment { body: asked.body.replace("needs an answer", "working"), ..asked.clone() };
        let held =
            OwnComment { body: asked.body.replace("Answer by", "Decide by"), ..asked.clone() };
        for own in [&[&works][..], &[&held], &[]] {
            assert_eq!(found(own, "Which colour should it have?"), [""; 0]);
        }
    }

    #[test]
    fn a_command_that_names_what_runs_is_no_answer_by_its_quote() {
        let asks = |body: &str| asks_for_a_run(&parse(body, "/locum").unwrap(), &["ask".into()]);
        for body in ["/locum fix it", "/locum ask why", "/locum plan", "/locum --paths src it"] {
            assert!(asks(body), "{body}");
        }
        for body in ["/locum blue", "/locum review", "/locum Fix it", "/locum ask, I think"] {
            assert!(!asks(body), "{body}");
        }
    }
}
