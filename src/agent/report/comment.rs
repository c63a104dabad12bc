//! The one comment of a run on an issue or pull request: progress while it works, then how it
//! ended. The program writes it, never the model, and finds it again by its hidden first line.
//!
//! In: facts of the run. Out: a body below the forge's limit, whatever the model wrote; the diff is
//! shortened first, and the body says so.

use jiff::Timestamp;

use crate::report::markdown::{code, inline};
use crate::report::sections::StateLine;
use crate::report::{figures, hindrance, resume, sections};
use crate::session::outcome::{Outcome, OutcomeWord, TaskReport};
use crate::session::state::SessionState;
use crate::tools::Todo;
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use locum_policy::budget::{Budget, Spent};

/// Most decisions that are explained; what waits besides is asked for when the run goes on.
const DECISIONS_LIMIT: usize = 6;
/// Room for the line that says what was left out for length, in characters.
const LEFT_OUT_CHARS: usize = 100;

/// Characters left free for what sanitising adds.
const HEADROOM_CHARS: usize = 5_536;

/// What both forms of the comment need.
#[derive(Clone, Copy, Debug)]
pub struct CommentFacts<'a> {
    /// The hidden first line ([`crate::report::markdown::marker`]).
    pub marker: &'a str,
    /// Mode of the root task.
    pub mode: &'a str,
    /// Login of who asked.
    pub requested_by: Option<&'a str>,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// What may be spent.
    pub budget: &'a Budget,
    /// How maintainers decide on what a run stopped for.
    pub decide: DecisionChannel<'a>,
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
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Every task, in order of creation.
    pub tasks: Vec<TaskReport>,
    /// The root task's checklist.
    pub todos: Vec<Todo>,
    /// What was spent so far.
    pub spent: Spent,
    /// True when some of it is an estimate.
    pub spent_is_estimate: bool,
}

impl Progress {
    /// Returns how far a session is by its state.
    pub fn of(state: &SessionState, now: Timestamp) -> Self {
        let asked = state.start.as_ref().map_or("", |start| start.task.as_str());
        let root = state.root();
        Self {
            tasks: state.tasks.iter().map(|task| TaskReport::of(task, asked)).collect(),
            todos: root.map(|root| root.todos.clone()).unwrap_or_default(),
            spent: Spent {
                seconds: state.wall_until(now).as_secs(),
                ..root.map(|root| root.budgeting.spent).unwrap_or_default()
            },
            spent_is_estimate: state.spent_is_estimate(),
        }
    }
}

/// What a run did to its pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestEffect {
    /// It opened it.
    Opened,
    /// It pushed to the branch of one that was open.
    Updated,
    /// Nothing: one that was open holds all there is to publish.
    Unchanged,
}

/// Where the changes of a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeDestination<'a> {
    /// Nowhere: nothing changed, or nothing may be published. Says why where there are changes.
    Nowhere(&'a str),
    /// Into a pull request.
    PullRequest {
        /// Number on the forge.
        number: u64,
        /// URL of its page.
        url: &'a str,
        /// Branch it was opened from.
        branch: &'a str,
        /// True when it is a draft.
        draft: bool,
        /// What the run did to it.
        effect: PullRequestEffect,
    },
    /// As a commit onto a branch that was there.
    Commit {
        /// Commit hash.
        id: &'a str,
        /// Branch the commit is on.
        branch: &'a str,
    },
    /// Into a review of the pull request: suggestions and comments on its lines.
    Review {
        /// URL of the review.
        url: &'a str,
        /// How many comments on lines it has.
        comments: usize,
    },
    /// Into this comment, as a diff. Says why it is not published otherwise; may be empty.
    Diff(&'a str),
}

/// Returns the comment while the run works.
pub fn progress(facts: &CommentFacts<'_>, progress: &Progress) -> String {
    let (mode, budget, run_url) = (facts.mode, facts.budget, facts.run_url);
    let (spent, is_estimate) = (&progress.spent, progress.spent_is_estimate);
    let (state, refused) = ("working", &[]);
    let state = StateLine { state, refused, mode, spent, is_estimate, budget, run_url }.render();
    let tasks = sections::tasks(&progress.tasks);
    let todos = sections::todos(&progress.todos);
    sections::join(&[format!("{}\n{state}", facts.marker), asked(facts), tasks, todos])
}

/// How the comment of a run at work begins, after its hidden line.
pub const WORKING: &str = "**locum: working**";

/// Returns the comment of a run that ended without a word, as another run on the same work writes
/// it.
pub fn abandoned(marker: &str) -> String {
    format!(
        "{marker}\n**locum: ended without a result**\n\nThe run or its machine was stopped, and \
         nobody renewed its claim on this work. Another run works here now."
    )
}

/// Returns the comment when the run has ended.
pub fn ended(
    facts: &CommentFacts<'_>,
    outcome: &Outcome,
    landing: ChangeDestination<'_>,
) -> String {
    let state = state_line(facts, outcome);
    let hidden = match facts.decide {
        DecisionChannel::Comment { marker, .. } => format!("{}\n{marker}", facts.marker),
        DecisionChannel::CommandLine | DecisionChannel::Nowhere(_) => facts.marker.to_owned(),
    };
    let mut paragraphs = vec![
        format!("{hidden}\n{state}"),
        asked(facts),
        sections::reason(outcome),
        sections::held(outcome),
        how_to_go_on(facts, outcome),
        sections::notes(outcome),
        sections::tasks(&outcome.tasks),
        sections::not_merged(&outcome.tasks),
        sections::todos(&outcome.todos),
        sections::result(&outcome.summary),
        sections::checks(outcome),
        landed(outcome, landing),
        hindrance::markdown(outcome),
    ];
    let used: usize = paragraphs.iter().map(|text| figures::width(text) + 2).sum();
    let mut room_chars = BODY_LIMIT_CHARS.saturating_sub(HEADROOM_CHARS).saturating_sub(used);
    let folds = fitting(sections::folds(outcome), &mut room_chars);
    let not_merged = sections::not_merged_diff(&outcome.tasks, room_chars);
    room_chars = room_chars.saturating_sub(figures::width(&not_merged) + 2);
    paragraphs.push(not_merged);
    if let ChangeDestination::Diff(_) = landing {
        paragraphs.extend(sections::diff(&outcome.changes, room_chars));
    }
    paragraphs.extend(folds);
    sections::join(&paragraphs)
}

/// Returns the folds that there is room for, and how many there is none for.
fn fitting(folds: Vec<String>, room_chars: &mut usize) -> Vec<String> {
    let all = folds.len();
    let mut kept = Vec::new();
    for fold in folds {
        if let Some(rest) = room_chars.checked_sub(figures::width(&fold) + 2 + LEFT_OUT_CHARS) {
            *room_chars = rest + LEFT_OUT_CHARS;
            kept.push(fold);
        }
    }
    let left_out = all - kept.len();
    if left_out > 0 {
        let sections = figures::count(left_out, "section");
        kept.push(format!("Left out for length: {sections}. The session's report has all."));
        *room_chars = room_chars.saturating_sub(LEFT_OUT_CHARS);
    }
    kept
}

/// Returns title and body of the issue where maintainers decide on a run that no issue or pull
/// request started.
pub fn decision_issue(marker: &str, about: &str, run_url: Option<&str>) -> (String, String) {
    let title = format!(
        "Waits for a person: {}",
        figures::clip(about.lines().next().unwrap_or_default(), 80)
    );
    let by = sections::written_by(None, run_url);
    let body = format!(
        "{marker}\n{by} A run that no issue or pull request started needs a decision: the \
         comments below say which, and how it is made. Close this issue when nothing waits here \
         any more."
    );
    (title, body)
}

fn state_line(facts: &CommentFacts<'_>, outcome: &Outcome) -> String {
    let (mode, budget, run_url) = (facts.mode, facts.budget, facts.run_url);
    let (state, refused) = (outcome.word.heading(), &outcome.refusals);
    let (spent, is_estimate) = (&outcome.spent, outcome.spent_is_estimate);
    StateLine { state, refused, mode, spent, is_estimate, budget, run_url }.render()
}

fn asked(facts: &CommentFacts<'_>) -> String {
    facts
        .requested_by
        .map_or_else(String::new, |login| format!("Asked by {}.", code(&figures::clip(login, 60))))
}

fn landed(outcome: &Outcome, landing: ChangeDestination<'_>) -> String {
    let changes = figures::changes(&outcome.changes);
    let sentence = |why: &str| {
        if why.is_empty() {
            String::new()
        } else {
            format!(": {}", inline(&figures::clip(why, 400)))
        }
    };
    match landing {
        ChangeDestination::Nowhere(_) if outcome.changes.is_empty() => {
            "No file was changed.".to_owned()
        }
        ChangeDestination::Nowhere(why) => {
            format!("The change ({changes}) was not published{}.", sentence(why))
        }
        ChangeDestination::PullRequest { number, url, branch, draft, effect } => {
            let kind = if draft { "Draft pull request" } else { "Pull request" };
            let (address, branch) = (sections::address(url), code(branch));
            match effect {
                PullRequestEffect::Opened => {
                    format!("{kind} [#{number}]({address}) from {branch} ({changes}).")
                }
                PullRequestEffect::Updated => {
                    format!("{kind} [#{number}]({address}) updated on {branch} ({changes}).")
                }
                PullRequestEffect::Unchanged if outcome.changes.is_empty() => format!(
                    "No file was changed. {kind} [#{number}]({address}) from {branch} stays as it \
                     is."
                ),
                PullRequestEffect::Unchanged => format!(
                    "{kind} [#{number}]({address}) from {branch} holds this change already \
                     ({changes})."
                ),
            }
        }
        ChangeDestination::Commit { id, branch } => {
            format!("Commit {} on {} ({changes}).", figures::clip(id, 40), code(branch))
        }
        ChangeDestination::Review { url, comments } => {
            let change = if outcome.changes.is_empty() {
                String::new()
            } else {
                format!(": the change ({changes}) is suggested there, not pushed")
            };
            format!(
                "[Review]({}) with {}{change}.",
                sections::address(url),
                figures::count(comments, "comment")
            )
        }
        ChangeDestination::Diff(_) if outcome.changes.is_empty() => {
            "No file was changed.".to_owned()
        }
        ChangeDestination::Diff(why) => {
            format!("The change ({changes}) is below as a diff{}.", sentence(why))
        }
    }
}

/// What a maintainer can do next, where the word alone does not say it.
fn how_to_go_on(facts: &CommentFacts<'_>, outcome: &Outcome) -> String {
    if matches!(outcome.word, OutcomeWord::NeedsInput | OutcomeWord::OnHold) {
        decide(facts, outcome)
    } else if outcome.was_stopped() && facts.decide == DecisionChannel::CommandLine {
        let command = resume::command(&outcome.session, outcome.exhausted.as_deref());
        format!("What was done so far is kept as shown here; `{command}` goes on from there.")
    } else if outcome.word == OutcomeWord::BudgetExhausted {
        "The limits are in the policy's `budget`; what was done so far is kept as shown here."
            .to_owned()
    } else {
        String::new()
    }
}

/// Says how a maintainer decides on each thing that waits.
fn decide(facts: &CommentFacts<'_>, outcome: &Outcome) -> String {
    if let DecisionChannel::Nowhere(why) = facts.decide {
        return format!("The run cannot go on here: {}.", inline(why));
    }
    let holds = outcome.holds().map(|held| decide_hold(facts, outcome, &held.id));
    let questions = outcome.questions().map(|question| answer(facts, outcome, &question.id));
    sections::join(&holds.chain(questions).take(DECISIONS_LIMIT).collect::<Vec<_>>())
}

fn decide_hold(facts: &CommentFacts<'_>, outcome: &Outcome, id: &str) -> String {
    let session = &outcome.session;
    match facts.decide {
        DecisionChannel::Nowhere(_) => String::new(),
        DecisionChannel::Comment { prefix, .. } => format!(
            "A comment decides: {} performs exactly this call, once, and the run goes on; {} \
             tells the model no.",
            code(&format!("{prefix} approve {id}")),
            code(&format!("{prefix} deny {id} reason"))
        ),
        DecisionChannel::CommandLine => format!(
            "Decide with `locum session approve {session} {id}` or `locum session deny {session} \
             {id}`, then `locum session resume {session}`."
        ),
    }
}

fn answer(facts: &CommentFacts<'_>, outcome: &Outcome, id: &str) -> String {
    let session = &outcome.session;
    match facts.decide {
        DecisionChannel::Nowhere(_) => String::new(),
        DecisionChannel::Comment { prefix, .. } => {
            format!(
                "Answer by a comment, and the run goes on: {}.",
                code(&format!("{prefix} answer {id} your words"))
            )
        }
        DecisionChannel::CommandLine => {
            format!(
                "Answer with `locum session answer {session} {id} TEXT`, then `locum session \
                 resume {session}`."
            )
        }
    }
}

#[cfg(test)]
mod tests;
