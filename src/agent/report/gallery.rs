//! Every kind of posting, as a run on a real repository would leave it: snapshots, which
//! `tests/pictures.sh` turns into pictures, and proof that a terminal shows the same words.

use crate::report::activity::Activities;
use crate::report::comment::{
    ChangeDestination, CommentFacts, Progress, PullRequestEffect, ended, progress,
};
use crate::report::findings::Finding;
use crate::report::markdown::marker;
use crate::report::pull_request::{self, PullRequestFacts};
use crate::report::review::{self, ReviewFacts};
use crate::report::sample;
use crate::report::summary::{DiffSection, terminal};
use crate::report::waiting::DecisionChannel;
use crate::session::event::{Event, JournalLine};
use crate::session::hindrance::{Hindrance, PushedBranch};
use crate::session::outcome::{Outcome, OutcomeWord};
use crate::session::state::SessionState;
use crate::tools::flow::complete::CompletionStatus;
use jiff::Timestamp;
use locum_base::id::TaskId;
use locum_base::text::single_blanks;
use locum_policy::budget::{Budget, Exhausted};
use locum_policy::schema::Notify;
use locum_policy::schema::review::{Confidence, Severity};
use pretty_assertions::assert_eq;

const RUN: &str = "https://github.com/acme/slug/actions/runs/4242";

/// Where a pull request of the gallery is.
fn pull_request(draft: bool) -> ChangeDestination<'static> {
    ChangeDestination::PullRequest {
        number: 12,
        url: "https://github.com/acme/slug/pull/12",
        branch: "locum/issue-7-uppercase-pre-translations",
        draft,
        effect: PullRequestEffect::Opened,
    }
}

/// An outcome that publishes nothing.
fn without_changes(word: OutcomeWord, reason: Option<&str>, summary: &str) -> Outcome {
    Outcome {
        word,
        reason: reason.map(str::to_owned),
        summary: summary.to_owned(),
        changes: Vec::new(),
        refusals: Vec::new(),
        ..sample::alone(sample::slug())
    }
}

fn partial() -> Outcome {
    let mut outcome = sample::slug();
    outcome.word = OutcomeWord::Partial;
    outcome.reason = Some("the German table is done, the French one is left".to_owned());
    outcome.summary = "Completed the German table of pre-translations.".to_owned();
    outcome.checks.clear();
    outcome.unchecked = true;
    for task in outcome.tasks.iter_mut().take(1) {
        task.status = Some(CompletionStatus::Partial);
    }
    outcome
}

fn not_published() -> Outcome {
    let why = "pull request: GitHub Actions is not permitted to create or approve pull requests";
    let hindrance = Hindrance {
        why: why.to_owned(),
        cure: Some(
            "tick \"Allow GitHub Actions to create and approve pull requests\" under Settings, \
             Actions, General"
                .to_owned(),
        ),
        pushed: Some(PushedBranch {
            name: "locum/issue-7-uppercase-pre-translations".to_owned(),
            compare_url: Some("https://github.com/acme/slug/compare/main...x?expand=1".to_owned()),
        }),
        patch: None,
    };
    Outcome {
        word: OutcomeWord::NotPublished,
        reason: Some(why.to_owned()),
        hindrance: Some(Box::new(hindrance)),
        ..sample::slug()
    }
}

fn limit() -> Outcome {
    let reached = Exhausted {
        unit: "cost_usd".to_owned(),
        limit: "1.00".to_owned(),
        spent: "0.60".to_owned(),
    };
    let mut outcome = sample::slug();
    outcome.word = OutcomeWord::BudgetExhausted;
    outcome.reason = Some(reached.to_string());
    outcome.exhausted = Some(Box::new(reached));
    outcome.summary = String::new();
    outcome.checks.clear();
    outcome
}

fn checks_failed() -> Outcome {
    Outcome { refusals: Vec::new(), ..sample::failing(sample::slug()) }
}

/// Every outcome with where its change went.
fn outcomes() -> Vec<(&'static str, Outcome, ChangeDestination<'static>)> {
    let nowhere = ChangeDestination::Nowhere("");
    let shown = ChangeDestination::Diff("the run did not end well, so its changes are only shown");
    let failed = "model `gpt-5` is not available: cannot connect: connection refused (5 attempts)";
    let stopped =
        "`alice` asked to stop it: it was stopped during `run python -m unittest -q test`";
    let timed_out = "the wall time of 5 minutes is over during `run python -m unittest`";
    vec![
        ("done", sample::slug(), pull_request(false)),
        (
            "nothing_to_do",
            without_changes(
                OutcomeWord::NothingToDo,
                None,
                "`slugify('ÄÖÜ')` already gives `aeoeue` since version 8.0.2.",
            ),
            nowhere,
        ),
        ("partial", partial(), pull_request(true)),
        ("failed", without_changes(OutcomeWord::Failed, Some(failed), ""), nowhere),
        ("checks_failed", checks_failed(), pull_request(true)),
        ("not_published", not_published(), ChangeDestination::Diff("")),
        ("held", sample::held(), nowhere),
        ("question", sample::question(), nowhere),
        (
            "refused",
            Outcome {
                refusals: sample::slug().refusals,
                ..without_changes(
                    OutcomeWord::Refused,
                    Some("the policy refused every edit"),
                    "The workflow needs `fetch-depth: 0`, which I may not write.",
                )
            },
            nowhere,
        ),
        (
            "cancelled",
            Outcome {
                word: OutcomeWord::Cancelled,
                reason: Some(stopped.to_owned()),
                summary: String::new(),
                checks: Vec::new(),
                ..sample::slug()
            },
            shown,
        ),
        ("limit", limit(), shown),
        ("timed_out", without_changes(OutcomeWord::TimedOut, Some(timed_out), ""), nowhere),
    ]
}

fn finding(severity: Severity) -> Finding {
    let (path, body) = ("src/a.rs".to_owned(), "`src/a.rs:3` loses the case".to_owned());
    Finding { path, first: 3, last: 3, severity, confidence: Confidence::High, body }
}

fn facts<'a>(marker: &'a str, budget: &'a Budget, decide: DecisionChannel<'a>) -> CommentFacts<'a> {
    CommentFacts {
        marker,
        mode: "code",
        requested_by: Some("octocat"),
        notify: Notify::Nobody,
        kept: None,
        resumed: None,
        repair: None,
        retry: Some("/locum").filter(|_| decide != DecisionChannel::CommandLine),
        run_url: Some(RUN),
        runs: 1,
        remarks: &[],
        budget,
        decide,
    }
}

#[test]
fn every_outcome_has_a_comment_worth_reading() {
    let (marker, budget) = (marker("progress", &[("comment", "7")]), Budget::default());
    for (name, outcome, destination) in outcomes() {
        let decide = match outcome.pending().next() {
            Some(_) => DecisionChannel::Comment {
                prefix: "/locum",
                marker: "<!-- locum:v1 kind=session commit=1 -->",
            },
            None => DecisionChannel::Unneeded,
        };
        let body = ended(&facts(&marker, &budget, decide), &outcome, destination);
        insta::assert_snapshot!(format!("posting_{name}"), body);
    }
}

#[test]
fn a_run_at_work_shows_what_it_does() {
    let (marker, budget) = (marker("progress", &[("comment", "7")]), Budget::default());
    let outcome = sample::slug();
    let at = |second| Timestamp::from_second(second).unwrap();
    let mut now = Activities::default();
    let commands = vec!["python -m unittest -q test".to_owned()];
    let checking =
        Event::Checking { task: TaskId(0), call: "c".to_owned(), commands, snapshot: None };
    now.take_in(&JournalLine { at: at(100), event: checking }, &SessionState::default());
    let state = Progress {
        tasks: outcome.tasks,
        todos: outcome.todos,
        spent: outcome.spent,
        spent_is_estimate: false,
        now,
        at: at(100),
    };
    let facts = facts(&marker, &budget, DecisionChannel::Unneeded);
    insta::assert_snapshot!("posting_working", progress(&facts, &state, at(140)));
}

#[test]
fn every_pull_request_and_review_is_worth_reading() {
    let marker = marker("pull-request", &[("issue", "7")]);
    for (name, outcome, notes) in [
        ("done", sample::slug(), &[][..]),
        ("checks_failed", checks_failed(), &["`tools/run.sh` becomes executable".to_owned()]),
        (
            "partial",
            partial(),
            &["the task is done in part only: the French table is left".to_owned()],
        ),
    ] {
        let facts = PullRequestFacts {
            marker: &marker,
            issue: Some(7),
            closes: true,
            requested_by: Some("octocat"),
            run_url: Some(RUN),
            runs: 1,
            notes,
        };
        let body = pull_request::body(&facts, &outcome);
        insta::assert_snapshot!(format!("posting_pull_request_{name}"), body);
    }
    let failing = checks_failed();
    let facts = ReviewFacts {
        marker: &marker,
        requested_by: Some("octocat"),
        run_url: Some(RUN),
        checks: &failing.checks,
        suggested: 1,
        found: &[finding(Severity::Blocker), finding(Severity::ShouldFix)],
    };
    insta::assert_snapshot!("posting_review", review::body(&facts, &failing.changes));
}

/// Every line of a text without the marks of its surface.
fn words(text: &str) -> Vec<String> {
    let link = ["[open the pull request from it](", ")."];
    let text = if text.contains(link[0]) {
        text.replace(link[0], "").replace(link[1], "")
    } else {
        text.to_owned()
    };
    let marks = ["`", "**", "<details><summary>", "</summary>", "</details>"];
    let plain = marks.iter().fold(text, |text, mark| text.replace(mark, ""));
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let is_rule = |line: &str| line.starts_with("|---") || ["json", "diff", "text"].contains(&line);
    let line = |line: &str| single_blanks(&line.replace('|', " "));
    plain
        .lines()
        .map(str::trim)
        .filter(|line| !is_rule(line))
        .map(line)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn a_terminal_and_a_comment_have_the_same_words() {
    let (marker, budget) = (String::new(), Budget::default());
    for (name, outcome, _) in outcomes() {
        // What is known at the end of a session: nothing of where its change went.
        let facts = facts(&marker, &budget, DecisionChannel::CommandLine);
        let comment = ended(&facts, &outcome, ChangeDestination::Nowhere(""));
        let shown = terminal(&outcome, DiffSection::LeftOut);
        let (mut comment, mut shown) = (words(&comment), words(&shown));
        comment.retain(|line| {
            !line.starts_with("No file was changed.")
                && !line.starts_with("The change (")
                && line != "Asked by octocat."
        });
        // The first line differs: a heading with figures there, the word for programs here.
        assert_eq!(shown.remove(0), format!("outcome: {}", outcome.word.as_str()));
        assert_eq!(comment.get(1..).unwrap_or_default(), shown, "{name}");
    }
}
