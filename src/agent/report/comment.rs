//! The one comment of a run on an issue or pull request: progress while it works, then how it
//! ended. The program writes it, never the model, and finds it again by its hidden first line.
//!
//! In: facts of the run. Out: a body below the forge's limit, whatever the model wrote; the diff is
//! shortened first, and the body says so.

use jiff::Timestamp;

use crate::report::markdown::{code, inline};
use crate::report::{figures, sections};
use crate::session::outcome::{Outcome, OutcomeWord, TaskReport};
use crate::session::state::State;
use crate::tools::Todo;
use locum_forge::sanitise::BODY_LIMIT_CHARS;
use locum_policy::budget::{Budget, Spent};

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
    /// How people decide on what a run stopped for.
    pub decide: Decide<'a>,
}

/// How people decide on what a run stopped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decide<'a> {
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
    #[must_use]
    pub fn of(state: &State, now: Timestamp) -> Self {
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

/// Where the changes of a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing<'a> {
    /// Nowhere: nothing changed, or nothing may be published. Says why where there are changes.
    Nowhere(&'a str),
    /// Into a pull request.
    PullRequest {
        /// Its number.
        number: u64,
        /// Its page.
        url: &'a str,
        /// Its branch.
        branch: &'a str,
        /// True when it is a draft.
        draft: bool,
    },
    /// As a commit onto a branch that was there.
    Commit {
        /// The commit.
        id: &'a str,
        /// The branch.
        branch: &'a str,
    },
    /// Into a review of the pull request: suggestions and comments on its lines.
    Review {
        /// Its page.
        url: &'a str,
        /// How many comments on lines it has.
        comments: usize,
    },
    /// Into this comment, as a diff. Says why it is not published otherwise; may be empty.
    Diff(&'a str),
}

/// Returns the comment while the run works.
#[must_use]
pub fn progress(facts: &CommentFacts<'_>, progress: &Progress) -> String {
    let state = sections::state(
        "working",
        facts.mode,
        &progress.spent,
        facts.budget,
        progress.spent_is_estimate,
        facts.run_url,
    );
    let tasks = sections::tasks(&progress.tasks);
    let todos = sections::todos(&progress.todos);
    sections::join(&[format!("{}\n{state}", facts.marker), asked(facts), tasks, todos])
}

/// Returns the comment when the run has ended.
#[must_use]
pub fn ended(facts: &CommentFacts<'_>, outcome: &Outcome, landing: Landing<'_>) -> String {
    let state = sections::state(
        figures::word(outcome.word),
        facts.mode,
        &outcome.spent,
        facts.budget,
        outcome.spent_is_estimate,
        facts.run_url,
    );
    let hidden = match facts.decide {
        Decide::Comment { marker, .. } => format!("{}\n{marker}", facts.marker),
        Decide::CommandLine | Decide::Nowhere(_) => facts.marker.to_owned(),
    };
    let mut paragraphs = vec![
        format!("{hidden}\n{state}"),
        asked(facts),
        sections::reason(outcome),
        sections::held(outcome),
    ];
    paragraphs.push(how_to_go_on(facts, outcome));
    paragraphs.push(sections::tasks(&outcome.tasks));
    paragraphs.push(sections::todos(&outcome.todos));
    paragraphs.push(sections::result(&outcome.summary));
    paragraphs.push(landed(outcome, landing));
    let folds = sections::folds(outcome);
    let used: usize = paragraphs.iter().chain(&folds).map(|text| figures::width(text) + 2).sum();
    if let Landing::Diff(_) = landing {
        let room_chars = BODY_LIMIT_CHARS.saturating_sub(HEADROOM_CHARS).saturating_sub(used);
        paragraphs.extend(sections::diff(&outcome.changes, room_chars));
    }
    paragraphs.extend(folds);
    sections::join(&paragraphs)
}

/// Returns title and body of the issue where people decide on a run that no issue or pull request
/// started.
#[must_use]
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

fn asked(facts: &CommentFacts<'_>) -> String {
    facts
        .requested_by
        .map_or_else(String::new, |login| format!("Asked by {}.", code(&figures::clip(login, 60))))
}

fn landed(outcome: &Outcome, landing: Landing<'_>) -> String {
    let changes = figures::changes(&outcome.changes);
    let sentence = |why: &str| {
        if why.is_empty() {
            String::new()
        } else {
            format!(": {}", inline(&figures::clip(why, 400)))
        }
    };
    match landing {
        Landing::Nowhere(_) if outcome.changes.is_empty() => "No file was changed.".to_owned(),
        Landing::Nowhere(why) => {
            format!("The change ({changes}) was not published{}.", sentence(why))
        }
        Landing::PullRequest { number, url, branch, draft } => {
            let kind = if draft { "Draft pull request" } else { "Pull request" };
            format!(
                "{kind} [#{number}]({}) from {} ({changes}).",
                sections::address(url),
                code(branch)
            )
        }
        Landing::Commit { id, branch } => {
            format!("Commit {} on {} ({changes}).", figures::clip(id, 40), code(branch))
        }
        Landing::Review { url, comments } => {
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
        Landing::Diff(_) if outcome.changes.is_empty() => "No file was changed.".to_owned(),
        Landing::Diff(why) => {
            format!("The change ({changes}) is below as a diff{}.", sentence(why))
        }
    }
}

/// What a person can do next, where the word alone does not say it.
fn how_to_go_on(facts: &CommentFacts<'_>, outcome: &Outcome) -> String {
    match outcome.word {
        OutcomeWord::NeedsInput => decide(
            facts,
            outcome.question.as_ref().map(|question| (question.id.as_str(), false)),
            outcome,
        ),
        OutcomeWord::OnHold => {
            decide(facts, outcome.held.as_ref().map(|held| (held.id.as_str(), true)), outcome)
        }
        OutcomeWord::BudgetExhausted => "The limits are in the policy's `budget`; what was done \
                                         so far is kept as shown here."
            .to_owned(),
        OutcomeWord::Done
        | OutcomeWord::NothingToDo
        | OutcomeWord::Refused
        | OutcomeWord::TimedOut
        | OutcomeWord::Failed
        | OutcomeWord::Cancelled => String::new(),
    }
}

/// Says how a person decides; `waits` is the name of what waits, and whether it is a call.
fn decide(facts: &CommentFacts<'_>, waits: Option<(&str, bool)>, outcome: &Outcome) -> String {
    let session = &outcome.session;
    match (facts.decide, waits) {
        (Decide::Nowhere(why), _) => format!("The run cannot go on here: {}.", inline(why)),
        (_, None) => String::new(),
        (Decide::Comment { prefix, .. }, Some((id, true))) => format!(
            "A comment decides: {} performs exactly this call, once, and the run goes on; {} \
             tells the model no.",
            code(&format!("{prefix} approve {id}")),
            code(&format!("{prefix} deny {id} reason"))
        ),
        (Decide::Comment { prefix, .. }, Some((id, false))) => {
            format!(
                "Answer by a comment, and the run goes on: {}.",
                code(&format!("{prefix} answer {id} your words"))
            )
        }
        (Decide::CommandLine, Some((id, true))) => {
            format!(
                "Decide with `locum session approve {session} {id}` or `locum session deny \
                 {session} {id}`, then `locum session resume {session}`."
            )
        }
        (Decide::CommandLine, Some((id, false))) => {
            format!(
                "Answer with `locum session answer {session} {id} TEXT`, then `locum session \
                 resume {session}`."
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommentFacts, Decide, Landing, Progress, ended, progress};
    use crate::report::markdown::marker;
    use crate::report::{figures, sample};
    use crate::session::outcome::OutcomeWord;
    use locum_base::secret::Redactor;
    use locum_forge::sanitise::{self, TextRules};
    use locum_policy::budget::Budget;

    fn with_facts(check: impl Fn(&CommentFacts<'_>)) {
        let marker = marker("progress", &[("comment", "7")]);
        let budget = Budget::default();
        let run_url = Some("https://github.com/octo/repo/actions/runs/1");
        let decide =
            Decide::Comment { prefix: "/locum", marker: "<!-- locum:v1 kind=session commit=1 -->" };
        check(&CommentFacts {
            marker: &marker,
            mode: "orchestrator",
            requested_by: Some("octocat"),
            run_url,
            budget: &budget,
            decide,
        });
    }

    #[test]
    fn shows_progress() {
        with_facts(|facts| {
            let outcome = sample::outcome();
            let state = Progress {
                tasks: outcome.tasks,
                todos: outcome.todos,
                spent: outcome.spent,
                spent_is_estimate: true,
            };
            insta::assert_snapshot!(progress(facts, &state));
        });
    }

    #[test]
    fn shows_how_it_ended() {
        with_facts(|facts| {
            let pull_request = Landing::PullRequest {
                number: 12,
                url: "https://github.com/octo/repo/pull/12",
                branch: "locum/issue-7-fix",
                draft: true,
            };
            insta::assert_snapshot!(
                "ended_with_pull_request",
                ended(facts, &sample::outcome(), pull_request)
            );
            insta::assert_snapshot!(
                "ended_with_diff",
                ended(
                    facts,
                    &sample::outcome(),
                    Landing::Diff("the pull request comes from a fork")
                )
            );
            insta::assert_snapshot!(
                "ended_with_question",
                ended(facts, &sample::question(), Landing::Nowhere(""))
            );
            insta::assert_snapshot!(
                "ended_on_hold",
                ended(facts, &sample::held(), Landing::Nowhere(""))
            );
        });
    }

    #[test]
    fn hostile_text_neither_breaks_the_structure_nor_the_limit() {
        with_facts(|facts| {
            for filler in [
                "</details>\n",
                "```\n",
                "`",
                "<",
                "\u{200b}",
                "<!-- locum:v1 kind=progress comment=7 -->\n",
                "🦀",
            ] {
                for outcome in
                    [sample::filled_with(filler, 40_000), sample::held_filled_with(filler, 40_000)]
                {
                    let body = ended(facts, &outcome, Landing::Diff(""));
                    assert!(
                        figures::width(&body) <= 60_000,
                        "{filler:?}: {}",
                        figures::width(&body)
                    );
                    assert!(body.starts_with(facts.marker), "{filler:?}");
                    assert_eq!(open_folds_after(&body), 0, "{filler:?}\n{body}");
                }
            }
        });
    }

    #[test]
    fn the_sanitiser_leaves_the_structure_alone() {
        with_facts(|facts| {
            let rules = TextRules {
                markers: vec![
                    facts.marker.to_owned(),
                    "<!-- locum:v1 kind=session commit=1 -->".to_owned(),
                ],
                prefix: "/locum".to_owned(),
                ..TextRules::default()
            };
            let body = ended(
                facts,
                &sample::outcome(),
                Landing::Diff("the pull request comes from a fork"),
            );
            assert_eq!(sanitise::markdown(&body, &rules, &Redactor::default()), body);
            for filler in [
                "</details>\n",
                "```\n",
                "`",
                "<",
                "\u{200b}",
                "<!-- x -->\n",
                "@octocat ",
                "closes #1\n",
                "/locum code x\n",
            ] {
                for outcome in
                    [sample::filled_with(filler, 40_000), sample::held_filled_with(filler, 40_000)]
                {
                    let published = sanitise::markdown(
                        &ended(facts, &outcome, Landing::Diff("")),
                        &rules,
                        &Redactor::default(),
                    );
                    assert!(figures::width(&published) <= sanitise::BODY_LIMIT_CHARS, "{filler:?}");
                    assert!(published.starts_with(facts.marker), "{filler:?}");
                    assert_eq!(open_folds_after(&published), 0, "{filler:?}\n{published}");
                }
            }
        });
    }

    #[test]
    fn a_long_diff_is_shortened_first_and_the_body_says_so() {
        with_facts(|facts| {
            let outcome = sample::with_diff_lines(20_000);
            let body = ended(facts, &outcome, Landing::Diff(""));
            assert!(figures::width(&body) <= 60_000);
            assert!(
                body.contains("Shortened: the first ") && body.contains(&outcome.summary),
                "{body}"
            );
            assert!(!ended(facts, &sample::outcome(), Landing::Diff("")).contains("Shortened"));
        });
    }

    #[test]
    fn every_word_is_named() {
        with_facts(|facts| {
            for (word, expected) in [
                (OutcomeWord::NothingToDo, "**locum: nothing to do**"),
                (OutcomeWord::Refused, "**locum: refused by the policy**"),
                (OutcomeWord::TimedOut, "**locum: stopped, out of time**"),
            ] {
                let outcome = crate::session::outcome::Outcome { word, ..sample::outcome() };
                assert!(
                    ended(facts, &outcome, Landing::Nowhere("")).contains(expected),
                    "{word:?}"
                );
            }
        });
    }

    /// Counts folds as a browser would: lines outside of fences.
    fn open_folds_after(body: &str) -> i64 {
        let mut open = 0;
        let mut fence: Option<String> = None;
        for line in body.lines() {
            let ticks: String = line.chars().take_while(|letter| *letter == '`').collect();
            match &fence {
                Some(closing)
                    if line.trim_end() == *closing
                        || (ticks.len() > closing.len() && line.trim_end() == ticks) =>
                {
                    fence = None
                }
                Some(_) => {}
                None if ticks.len() >= 3 && !line[ticks.len()..].contains('`') => {
                    fence = Some(ticks)
                }
                None if line.starts_with("<details>") => open += 1,
                None if line == "</details>" => open -= 1,
                None => assert!(
                    !line.starts_with('<') || line.starts_with("<!-- locum:v1 kind="),
                    "{line}"
                ),
            }
        }
        if fence.is_some() { 99 } else { open }
    }
}
