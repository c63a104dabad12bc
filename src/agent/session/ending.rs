//! How a run ended, in one word: one pure function of what is known when it is over.
//!
//! In: why the session stopped, which holds what the model says of itself, what became of the
//! files, of the checks and, once that was tried, of publishing. Out: the outcome's word and, where
//! that is not the model's, why. What a word means on each surface, `word` says.

use crate::session::event::Event;
use crate::session::hindrance::Hindrance;
use crate::session::outcome::{Outcome, OutcomeWord};
use crate::session::word::Severity;
use crate::tools::dispatch;
use crate::tools::tool::ToolEffect;
use locum_base::text;
use locum_base::tool::ToolName;
use locum_policy::verdict::RefusedBy;

/// Bytes of the answer to a failed edit that a reason shows.
const ANSWER_LIMIT_BYTES: usize = 200;

/// What became of attempts to change files.
#[derive(Clone, Debug, Default)]
pub struct EditAttempts {
    /// Whether any of them changed a file.
    pub succeeded: bool,
    /// The last one that was refused, as a sentence without a full stop.
    pub refused: Option<String>,
    /// The last one that failed for another reason: in one line, and why.
    pub failed: Option<(String, String)>,
}

/// What is known at the end of a session.
#[derive(Clone, Copy, Debug)]
pub struct EndFacts<'a> {
    /// Why it stopped; for a session that came to its end, by the model's account.
    pub stop: OutcomeWord,
    /// Whether any file is different.
    pub changed: bool,
    /// Whether it could have changed one, or could have had one changed by a sub-task.
    pub could_change: bool,
    /// Attempts to change files by tools for that.
    pub attempts: &'a EditAttempts,
    /// What went wrong with the first check of the policy that did not succeed.
    pub failed_check: Option<&'a str>,
    /// The first ref that holds what a sub-task changed and nobody took over.
    pub kept_ref: Option<&'a str>,
    /// What became of its result.
    pub settlement: Settlement<'a>,
}

/// What became of the result of a session.
#[derive(Clone, Copy, Debug)]
pub enum Settlement<'a> {
    /// It is not published yet, and may never be meant to be.
    Pending,
    /// All is where it belongs.
    Published,
    /// Something stood in the way.
    Hindered(&'a Hindrance),
    /// The run was ended before all was published, as this sentence says: another run has the claim
    /// on the work, or somebody cancelled it.
    Abandoned(&'a str),
}

/// Returns the outcome's word, and why it is another than the one the session stopped with.
pub fn word(facts: &EndFacts<'_>) -> (OutcomeWord, Option<String>) {
    let (word, why) = by_itself(facts);
    match facts.settlement {
        Settlement::Pending | Settlement::Published => (word, why),
        Settlement::Abandoned(why) => (OutcomeWord::Cancelled, Some(why.to_owned())),
        // What is worse keeps its word: the hindrance is reported beside it.
        Settlement::Hindered(_) if word.severity() == Severity::Bad => (word, why),
        Settlement::Hindered(hindrance) => (OutcomeWord::NotPublished, Some(hindrance.why.clone())),
    }
}

/// Takes into an outcome what became of its result. Doing it again, once the hindrance is gone,
/// gives the word that the session ended with.
pub fn settle(outcome: &mut Outcome, settlement: Settlement<'_>) {
    if let Some(before) = outcome.ended_as.take() {
        (outcome.word, outcome.reason) = (before, None);
    }
    let session = outcome.word;
    let (word, why) = word(&EndFacts {
        stop: session,
        changed: !outcome.changes.is_empty(),
        could_change: false,
        attempts: &EditAttempts::default(),
        failed_check: None,
        kept_ref: None,
        settlement,
    });
    outcome.word = word;
    outcome.reason = why.or_else(|| outcome.reason.take());
    outcome.ended_as = Some(session).filter(|session| *session != word);
    outcome.hindrance = match settlement {
        Settlement::Hindered(hindrance) => Some(Box::new(hindrance.clone())),
        Settlement::Pending | Settlement::Published | Settlement::Abandoned(_) => None,
    };
}

/// Returns the word of a session that nothing outside of it is known of.
fn by_itself(facts: &EndFacts<'_>) -> (OutcomeWord, Option<String>) {
    let EndFacts { stop, changed, could_change, attempts, failed_check, kept_ref, .. } = *facts;
    if stop != OutcomeWord::Done {
        return (stop, None);
    }
    if changed {
        let failed = failed_check.map(|why| (OutcomeWord::ChecksFailed, Some(why.to_owned())));
        return failed.unwrap_or((stop, None));
    }
    if let Some(kept_ref) = kept_ref {
        let why = format!("no file changed; what a sub-task changed is kept on `{kept_ref}`");
        return (OutcomeWord::Failed, Some(why));
    }
    if attempts.succeeded || !could_change {
        let word = if could_change { OutcomeWord::NothingToDo } else { OutcomeWord::Done };
        return (word, None);
    }
    match (&attempts.refused, &attempts.failed) {
        (Some(said), _) => (OutcomeWord::Refused, Some(format!("no edit was made: {said}"))),
        (None, Some((headline, answer))) => {
            let why = format!("every edit failed, the last one, `{headline}`: {answer}");
            (OutcomeWord::Failed, Some(why))
        }
        (None, None) => (OutcomeWord::NothingToDo, None),
    }
}

impl EditAttempts {
    /// Takes the answer to a call in: the tool it meant, and the call in one line.
    pub(crate) fn answered(&mut self, event: &Event, tool: Option<ToolName>, headline: &str) {
        let Event::Answered { observation, refusal, .. } = event else { return };
        let edits = tool.is_some_and(|tool| dispatch::effect(tool) == ToolEffect::Edits);
        // What the policy refuses of a command on the way to something else says nothing. A
        // person's no does, and a secret.
        let refusal = refusal.as_ref().filter(|refusal| edits || refusal.by != RefusedBy::Policy);
        if let Some(refusal) = refusal {
            self.refused = Some(match &refusal.by {
                RefusedBy::Policy => format!("the last one refused is `{headline}`"),
                RefusedBy::Person { login, reason } if reason.is_empty() => {
                    format!("`{login}` denied `{headline}`")
                }
                RefusedBy::Person { login, reason } => {
                    let reason = text::head(reason.trim(), ANSWER_LIMIT_BYTES);
                    format!("`{login}` denied `{headline}`: {}", reason.trim_end_matches('.'))
                }
                RefusedBy::Secret => {
                    format!("`{headline}` was withheld, because it holds a secret")
                }
            });
        } else if edits && observation.is_error {
            let answer = observation.text.lines().find(|line| !line.trim().is_empty());
            let answer = first_sentence(answer.unwrap_or_default().trim());
            let answer = text::head(answer, ANSWER_LIMIT_BYTES).trim_end_matches('.');
            let answer = format!("the model was told \u{201c}{answer}\u{201d}");
            self.failed = Some((headline.to_owned(), answer));
        }
    }
}

/// Returns what an answer says happened, without what the model is to do about it.
fn first_sentence(answer: &str) -> &str {
    let is_end = |at: &usize| {
        let (before, after) = (answer.get(..*at), answer.get(at + 2..));
        let is_code = before.is_some_and(|text| text.matches('`').count() % 2 == 1);
        !is_code && after.is_some_and(|text| text.starts_with(char::is_uppercase))
    };
    let end = answer.match_indices(". ").map(|(at, _)| at).find(is_end);
    end.and_then(|end| answer.get(..end)).unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::{EditAttempts, EndFacts, Settlement, first_sentence, settle, word};
    use crate::session::hindrance::Hindrance;
    use crate::session::outcome::Outcome;
    use crate::session::outcome::OutcomeWord::{
        self, Cancelled, ChecksFailed, Done, Failed, NotPublished, NothingToDo, Partial, Refused,
    };
    use crate::session::word::Severity;
    use locum_policy::budget::Spent;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_word_follows_from_what_is_known() {
        let none = EditAttempts::default();
        let refused = EditAttempts { refused: Some("edit a".to_owned()), ..none.clone() };
        let failed = EditAttempts {
            failed: Some(("edit b".to_owned(), "the disk is full".to_owned())),
            ..none.clone()
        };
        let both = EditAttempts { failed: failed.failed.clone(), ..refused.clone() };
        let undone = EditAttempts { succeeded: true, ..both.clone() };
        let expected: &[(OutcomeWord, bool, bool, &EditAttempts, OutcomeWord)] = &[
            // stop, changed, could change, attempts, word
            (Done, true, true, &none, Done),
            (Done, true, true, &both, Done),
            (Done, false, false, &none, Done),
            (Done, false, false, &refused, Done),
            (Done, false, true, &none, NothingToDo),
            (Done, false, true, &undone, NothingToDo),
            (Done, false, true, &refused, Refused),
            (Done, false, true, &both, Refused),
            (Done, false, true, &failed, Failed),
            (Partial, false, true, &refused, Partial),
            (Partial, true, true, &none, Partial),
            (Failed, true, true, &none, Failed),
            (Cancelled, false, true, &failed, Cancelled),
        ];
        for &(stop, changed, could_change, attempts, expected) in expected {
            let facts = EndFacts {
                stop,
                changed,
                could_change,
                attempts,
                failed_check: None,
                kept_ref: None,
                settlement: Settlement::Pending,
            };
            let (found, why) = word(&facts);
            assert_eq!(found, expected, "{facts:?}");
            let own = found != stop && found != NothingToDo;
            assert_eq!(why.is_some(), own, "another word than the model's says why: {facts:?}");
        }
        let kept = EndFacts {
            stop: Done,
            changed: false,
            could_change: true,
            attempts: &undone,
            failed_check: None,
            kept_ref: Some("refs/locum/x"),
            settlement: Settlement::Pending,
        };
        assert_eq!(word(&kept).0, Failed);
        assert_eq!(word(&EndFacts { changed: true, ..kept }), (Done, None));
        let why = "the check `x` failed";
        let failed = EndFacts { changed: true, failed_check: Some(why), kept_ref: None, ..kept };
        assert_eq!(word(&failed), (ChecksFailed, Some(why.to_owned())));
        for stop in [Partial, Failed, Cancelled] {
            assert_eq!(word(&EndFacts { stop, ..failed }), (stop, None), "its own word is worse");
        }
    }

    #[test]
    fn people_read_what_happened_and_not_what_the_model_is_to_do() {
        let answer = "Nothing was changed: you have not read `a. B`. Call `read_file` on it first.";
        assert_eq!(first_sentence(answer), "Nothing was changed: you have not read `a. B`");
        let whole = "The file has e.g. no line 7";
        assert_eq!(first_sentence(whole), whole);
    }

    fn ended_as(word: OutcomeWord) -> Outcome {
        let outcome = serde_json::json!({
            "session": "0199aabb", "word": word, "summary": "", "tasks": [],
            "refusals": [], "commands": [], "todos": [], "spent": Spent::default(),
            "spent_is_estimate": false, "changes": [], "base": "0",
        });
        serde_json::from_value(outcome).unwrap()
    }

    #[test]
    fn what_is_not_published_is_never_done_and_what_is_worse_stays_worse() {
        let hindrance =
            Hindrance { why: "the push was refused".to_owned(), ..Hindrance::default() };
        for stop in OutcomeWord::ALL {
            let mut outcome = ended_as(stop);
            settle(&mut outcome, Settlement::Published);
            assert_eq!((outcome.word, &outcome.reason), (stop, &None));
            settle(&mut outcome, Settlement::Hindered(&hindrance));
            let own = stop.severity() == Severity::Bad;
            assert_eq!(outcome.word, if own { stop } else { NotPublished });
            assert_eq!(outcome.reason.is_some(), !own, "{stop:?}");
            assert_eq!(outcome.hindrance.as_ref().unwrap().why, hindrance.why);
            // Tried again and again, and then with success.
            settle(&mut outcome, Settlement::Hindered(&hindrance));
            assert_eq!(outcome.word, if own { stop } else { NotPublished });
            settle(&mut outcome, Settlement::Published);
            assert_eq!((outcome.word, &outcome.reason, &outcome.hindrance), (stop, &None, &None));
            settle(&mut outcome, Settlement::Abandoned("another run works here"));
            assert_eq!(outcome.word, Cancelled);
        }
    }
}
