//! What a run waits for, and what a person does about it: the command stands in a block of its own,
//! to be copied.

use crate::report::figures;
use crate::report::resume;
use crate::report::surface::{PHRASE_LIMIT_CHARS, Surface, join};
use crate::session::outcome::{HeldCall, Outcome, OutcomeWord, Question, TargetMode};
use crate::tools::memory::entry::TEXT_LIMIT_BYTES;
use locum_policy::verdict::Verdict;

/// Most calls, and most questions, that wait for a decision.
pub const WAITING_LIMIT: usize = 3;
/// Most characters of a question.
const QUESTION_LIMIT_CHARS: usize = 2_000;
/// Most suggested answers.
const SUGGESTION_LIMIT: usize = 6;
/// Most characters of a held call's arguments.
const ARGUMENTS_LIMIT_CHARS: usize = 4_000;
/// Most characters of a held edit's diff.
const HELD_DIFF_LIMIT_CHARS: usize = 6_000;
/// More characters than a note has, with what is put around it.
const NOTE_LIMIT_CHARS: usize = 2 * TEXT_LIMIT_BYTES;
/// Most characters of one thing about the mode that a held call leads to.
const TARGET_LIMIT_CHARS: usize = 600;
/// Most verdicts of one call.
const VERDICT_LIMIT: usize = 3;

/// What stands in a comment between a question and the command that answers it.
const ANSWER_BY_COMMENT: &str = "Answer by a comment, with your words after the name:";

/// Returns the question that the comment of a run asks, with its suggestions; `None` where it asks
/// none.
pub fn question_in(comment: &str) -> Option<&str> {
    let (before, _) = comment.split_once(&format!("\n{ANSWER_BY_COMMENT}\n"))?;
    before.split_once("\n\n").map(|(_, question)| question)
}

/// Where maintainers decide on what a run stopped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionChannel<'a> {
    /// By a comment on the thread.
    Comment {
        /// The word a command starts with.
        prefix: &'a str,
        /// The hidden line that says where the session waits.
        marker: &'a str,
    },
    /// At the command line, where the session is kept.
    CommandLine,
    /// Not at all. Says why.
    Nowhere(&'a str),
    /// There is nothing to decide on, or another text says how.
    Unneeded,
}

/// How a run is started again on its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TryAgain<'a> {
    /// The word a command starts with.
    pub(crate) prefix: &'a str,
    /// What the next run finds there; `None` where that is nothing.
    pub(crate) kept: Option<KeptWork>,
    /// The mode that has to be named to go on with it.
    pub(crate) mode: Option<&'a str>,
}

/// What a run leaves to the next one on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptWork {
    /// What it did itself.
    Own,
    /// What a run before it did, because nothing came of this one.
    Earlier,
    /// What was done until the decision by which it went on, and the decision.
    Decided,
    /// What a person approved for this run alone: no other goes on with it.
    Approved,
}

/// The hidden line that says where a session is kept, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLine<'a> {
    /// The line.
    pub line: &'a str,
    /// What is kept there.
    pub work: KeptWork,
    /// The mode that has to be named to go on with it: `None` where that is the default one.
    pub mode: Option<&'a str>,
}

/// Returns what waits for a decision, each with how it is decided; empty when nothing waits.
pub(crate) fn waiting(
    outcome: &Outcome,
    surface: Surface,
    decide: DecisionChannel<'_>,
) -> Vec<String> {
    let share = outcome.holds().count().max(outcome.questions().count()).clamp(1, WAITING_LIMIT);
    let held = outcome.holds().take(WAITING_LIMIT);
    let held = held.flat_map(|held| {
        let commands = decide_hold(outcome, (surface, decide), &held.id);
        [held_call(held, surface, share), commands]
    });
    let asked = outcome.questions().take(WAITING_LIMIT);
    let asked = asked.flat_map(|asked| {
        [question(asked, surface, share), answer(outcome, (surface, decide), &asked.id)]
    });
    held.chain(asked).collect()
}

/// Returns how a session goes on that a person, the time or the budget stopped, or how it is tried
/// again.
pub(crate) fn going_on(
    outcome: &Outcome,
    surface: Surface,
    decide: DecisionChannel<'_>,
    again: Option<TryAgain<'_>>,
) -> Vec<String> {
    // What the policy refused or a check found would come out the same, and so would what a ceiling
    // of the thread or the day stopped.
    let met_ceiling = outcome.word == OutcomeWord::BudgetExhausted && outcome.exhausted.is_none();
    let may_differ = (outcome.was_stopped() && !met_ceiling) || outcome.word == OutcomeWord::Failed;
    // What was done is of use all the same: the next run mends or publishes it.
    let is_of_use = matches!(outcome.word, OutcomeWord::ChecksFailed | OutcomeWord::NotPublished);
    let can_go_on = may_differ || is_of_use;
    if let Some((TryAgain { prefix, kept, mode }, true)) = again.map(|again| (again, can_go_on)) {
        let retry = surface.command(&format!("{prefix} retry"));
        let Some(kept) = kept.filter(|kept| *kept != KeptWork::Approved) else {
            let is_same = !may_differ || outcome.hindrance.is_some();
            return if is_same { Vec::new() } else { vec!["To try again:".to_owned(), retry] };
        };
        let mode = mode.map_or_else(String::new, |mode| format!("{mode} "));
        let command = surface.command(&format!("{prefix} {mode}go on"));
        let go_on = [kept_words(kept, outcome, surface), command];
        let over = ["To start over:".to_owned(), retry];
        let over = over.into_iter().filter(|_| kept != KeptWork::Decided);
        go_on.into_iter().chain(over).collect()
    } else if outcome.was_stopped() && decide == DecisionChannel::CommandLine {
        let command = resume::command(&outcome.session, outcome.exhausted.as_deref());
        let said = "What was done so far is kept. To go on from there:".to_owned();
        vec![said, surface.command(&command)]
    } else if outcome.fault && decide == DecisionChannel::CommandLine {
        let command = resume::command(&outcome.session, None);
        vec!["Once the cause is gone, go on with:".to_owned(), surface.command(&command)]
    } else {
        Vec::new()
    }
}

/// Says what is kept and stands before the command that goes on with it.
fn kept_words(kept: KeptWork, outcome: &Outcome, surface: Surface) -> String {
    let what = match kept {
        KeptWork::Own | KeptWork::Approved => "What was done so far is kept.",
        KeptWork::Earlier => "What the run before did is kept.",
        KeptWork::Decided => "The decision counts, and what was done until then is kept.",
    };
    let limit = outcome.exhausted.as_deref().map_or_else(String::new, |reached| {
        let key = surface.code(&format!("budget.{}", reached.unit));
        format!(" The next run has a budget of its own ({key}).")
    });
    let then = match outcome.hindrance {
        Some(_) => "Once nothing stands in the way any more, go on with:",
        None => "To go on with it:",
    };
    format!("{what}{limit} {then}")
}

fn held_call(held: &HeldCall, surface: Surface, share: usize) -> String {
    let headline = format!(
        "{}: {} in mode {}",
        surface.strong("Waits for a person"),
        surface.code(&held.headline),
        surface.words(&held.mode)
    );
    let mut lines = verdict_lines(&held.verdicts, surface, "- ");
    lines.extend(held.target.iter().flat_map(target_facts).map(|(what, text)| {
        format!("- {what}: {}", surface.words_within(&text, TARGET_LIMIT_CHARS))
    }));
    let title = format!("Arguments of {}", figures::clip(&held.tool, PHRASE_LIMIT_CHARS));
    let arguments = surface.block(&held.arguments, "json", ARGUMENTS_LIMIT_CHARS / share);
    let diff = held.diff.as_deref().map_or_else(String::new, |diff| {
        let diff = surface.block(diff, "diff", HELD_DIFF_LIMIT_CHARS / share);
        surface.fold("What it would change", &diff)
    });
    let note = held.note.as_deref().map_or_else(String::new, |note| note_of(note, surface));
    join(&[headline, lines.join("\n"), note, diff, surface.fold(&title, &arguments)])
}

/// Returns what a note would say, whole: an approval is one to all of it.
fn note_of(note: &str, surface: Surface) -> String {
    if note.is_empty() {
        return "The note would be removed.".to_owned();
    }
    format!("The note would say:\n\n{}", surface.block(note, "text", NOTE_LIMIT_CHARS))
}

/// Returns what a maintainer has to know of a mode that a held call leads to, with what each thing
/// is.
fn target_facts(target: &TargetMode) -> Vec<(&'static str, String)> {
    let about = target.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    let mut facts = vec![("mode", format!("{} ({}){about}", target.name, target.slug))];
    facts.extend(target.chosen.clone().map(|chosen| ("why", chosen)));
    facts.push(("may", target.rights.clone()));
    facts.push(("tools", target.tools.join(", ")));
    facts.push(("role", target.role.clone()));
    facts
}

fn decide_hold(
    outcome: &Outcome,
    (surface, decide): (Surface, DecisionChannel<'_>),
    id: &str,
) -> String {
    let session = &outcome.session;
    let (approve, always, deny, then) = match decide {
        DecisionChannel::Nowhere(_) | DecisionChannel::Unneeded => return String::new(),
        DecisionChannel::Comment { prefix, .. } => {
            (format!("{prefix} approve {id}"), "always", format!("{prefix} deny {id}"), None)
        }
        DecisionChannel::CommandLine => (
            format!("locum session approve {session} {id}"),
            "--always",
            format!("locum session deny {session} {id}"),
            Some(format!("locum session resume {session}")),
        ),
    };
    let how = if then.is_some() { "at the command line" } else { "by a comment" };
    let mut paragraphs = vec![
        format!("Decide {how}. To perform exactly this call, once, and go on:"),
        surface.command(&approve),
        format!(
            "With {} after it, locum also proposes a policy rule for the next time.",
            surface.code(always)
        ),
        "To refuse it; the model gets what you add as the reason:".to_owned(),
        surface.command(&deny),
    ];
    paragraphs.extend(then.iter().flat_map(|then| resume_after("decision", then, surface)));
    join(&paragraphs)
}

fn question(question: &Question, surface: Surface, share: usize) -> String {
    let text = surface.said(&question.text, QUESTION_LIMIT_CHARS / share);
    let suggestions = surface.listed(&question.suggestions, SUGGESTION_LIMIT, |suggestion| {
        format!("- {}", surface.words(suggestion))
    });
    join(&[text, suggestions])
}

fn answer(
    outcome: &Outcome,
    (surface, decide): (Surface, DecisionChannel<'_>),
    id: &str,
) -> String {
    let session = &outcome.session;
    let (how, command, then) = match decide {
        DecisionChannel::Nowhere(_) | DecisionChannel::Unneeded => return String::new(),
        DecisionChannel::Comment { prefix, .. } => {
            (ANSWER_BY_COMMENT, format!("{prefix} answer {id}"), None)
        }
        DecisionChannel::CommandLine => (
            "Answer at the command line:",
            format!("locum session answer {session} {id} TEXT"),
            Some(format!("locum session resume {session}")),
        ),
    };
    let mut paragraphs = vec![how.to_owned(), surface.command(&command)];
    paragraphs.extend(then.iter().flat_map(|then| resume_after("answer", then, surface)));
    join(&paragraphs)
}

fn resume_after(what: &str, command: &str, surface: Surface) -> [String; 2] {
    [format!("After the {what}, go on with:"), surface.command(command)]
}

/// Returns verdicts as entries of a list.
pub(crate) fn verdict_lines(verdicts: &[Verdict], surface: Surface, bullet: &str) -> Vec<String> {
    let line = |verdict: &Verdict| {
        let said = figures::verdict(verdict, |text| surface.code(text), |text| surface.words(text));
        format!("{bullet}{said}")
    };
    let mut lines: Vec<String> = verdicts.iter().take(VERDICT_LIMIT).map(line).collect();
    if verdicts.len() > VERDICT_LIMIT {
        lines.push(format!("{bullet}and {} more", verdicts.len() - VERDICT_LIMIT));
    }
    lines
}
