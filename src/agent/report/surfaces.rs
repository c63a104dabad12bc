//! Every surface says the same of a run: each combination of how the session stopped, what became
//! of files, checks, refusals and publishing, against all of them.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::report::comment::{self, ChangeDestination, CommentFacts};
use crate::report::json::RunReport;
use crate::report::summary::{self, DiffSection};
use crate::report::waiting::DecisionChannel;
use crate::report::whole::SUMMARY_LIMIT_BYTES;
use crate::report::{actions, sample};
use crate::session::ending::{self, EditAttempts, EndFacts, Settlement};
use crate::session::hindrance::Hindrance;
use crate::session::outcome::OutcomeWord::{
    self, BudgetExhausted, Cancelled, ChecksFailed, Done, Failed, NeedsInput, NotPublished,
    NothingToDo, OnHold, Partial, Refused, TimedOut,
};
use crate::session::outcome::{CheckReport, Outcome};
use crate::session::word::{OutcomeReaction, Severity};
use locum_policy::budget::Budget;
use locum_policy::schema::Notify;
use locum_policy::verdict::RefusedBy;

const CURE: &str = "tick the box under Settings";
const WHY: &str = "the remote refused the push";
const FENCE: &str = "its claim was taken over by another run";

/// What is known of a run, as one case of the table.
#[derive(Clone, Copy, Debug)]
struct Case<'a> {
    stop: OutcomeWord,
    changed: bool,
    check_failed: bool,
    /// Who refused an edit.
    refused: Option<&'a RefusedBy>,
    publishing: Publishing,
}

#[derive(Clone, Copy, Debug)]
enum Publishing {
    Done,
    Hindered,
    FencedOff,
}

/// The rules, written down a second time and in another form.
fn expected(case: &Case<'_>) -> OutcomeWord {
    let Case { stop, changed, check_failed, refused, publishing } = *case;
    let own = match (stop, changed, check_failed, refused) {
        (Done, true, true, _) => ChecksFailed,
        (Done, false, _, Some(_)) => Refused,
        (Done, false, _, None) => NothingToDo,
        (other, ..) => other,
    };
    match (publishing, own) {
        (Publishing::FencedOff, _) => Cancelled,
        (Publishing::Hindered, Done | NothingToDo | OnHold | NeedsInput) => NotPublished,
        (Publishing::Hindered | Publishing::Done, own) => own,
    }
}

/// Runs a case through the session's end and what became of its result.
fn ended(case: &Case<'_>) -> Outcome {
    let failed = sample::checks_failed();
    let checks = if case.check_failed { failed.checks } else { Vec::new() };
    let failed_check = checks.iter().find_map(CheckReport::failure);
    let attempts =
        EditAttempts { refused: case.refused.map(|_| "a".to_owned()), ..EditAttempts::default() };
    let (word, why) = ending::word(&EndFacts {
        stop: case.stop,
        changed: case.changed,
        could_change: true,
        attempts: &attempts,
        failed_check: failed_check.as_deref(),
        kept_ref: None,
        settlement: Settlement::Pending,
    });
    let waiting = if case.stop == OnHold { sample::held() } else { sample::question() };
    let mut outcome = Outcome { word, reason: why, checks, ..sample::outcome() };
    if case.stop.severity() == Severity::Waits {
        (outcome.held, outcome.question) = (waiting.held, waiting.question);
    }
    if !case.changed {
        outcome.changes.clear();
    }
    match case.refused {
        Some(by) => {
            outcome.refusals.truncate(1);
            outcome.refusals.iter_mut().for_each(|call| call.refusal.by = by.clone());
        }
        None => outcome.refusals.clear(),
    }
    let hindrance =
        Hindrance { why: WHY.to_owned(), cure: Some(CURE.to_owned()), ..Hindrance::default() };
    ending::settle(
        &mut outcome,
        match case.publishing {
            Publishing::Done => Settlement::Published,
            Publishing::Hindered => Settlement::Hindered(&hindrance),
            Publishing::FencedOff => Settlement::Abandoned(FENCE),
        },
    );
    outcome
}

fn check(case: &Case<'_>) {
    let outcome = ended(case);
    let word = expected(case);
    assert_eq!(outcome.word, word, "{case:?}");
    let facts = CommentFacts {
        marker: "<!-- locum:v1 kind=progress -->",
        mode: "code",
        requested_by: Some("alice"),
        notify: Notify::Nobody,
        kept: None,
        resumed: None,
        repair: None,
        retry: None,
        run_url: None,
        runs: 1,
        remarks: &[],
        budget: &Budget::default(),
        decide: DecisionChannel::CommandLine,
    };
    let comment = comment::ended(&facts, &outcome, ChangeDestination::Diff(""));
    let summary = summary::job_summary(&outcome, "code", "", SUMMARY_LIMIT_BYTES);
    let terminal = summary::terminal(&outcome, DiffSection::LeftOut);
    let report = serde_json::to_value(RunReport::new(&outcome, &[])).unwrap();

    // The word itself.
    let head = format!("**locum: {}**", word.heading());
    let first = comment.lines().nth(1).unwrap();
    assert!(first.starts_with(&head), "{case:?}: {comment}");
    assert!(summary.starts_with(&head), "{case:?}: {summary}");
    assert!(terminal.starts_with(&format!("outcome: {}\n", word.as_str())), "{terminal}");
    assert_eq!(report["outcome"], json!(word.as_str()), "{case:?}");
    assert_eq!(report["exit_code"], json!(word.exit_code()), "{case:?}");

    // Its colour.
    let fails = word.severity() == Severity::Bad;
    let looks = (word.exit_code() == 0, word.reaction(), actions::level(word, fails));
    let is_good = matches!(word, Done | NothingToDo);
    assert_eq!(looks.0, is_good, "{case:?}");
    assert_eq!(looks.1 == OutcomeReaction::Rocket, is_good, "{case:?}");
    assert_eq!(looks.2 == actions::AnnotationLevel::Error, fails, "{case:?}");
    assert_eq!(actions::conclusion(word, fails).as_str() == "failure", fails, "{case:?}");
    assert_eq!(actions::conclusion(word, fails).as_str() == "success", word == Done, "{case:?}");

    // What went wrong with publishing.
    let hindered = matches!(case.publishing, Publishing::Hindered);
    for (surface, text) in [("comment", &comment), ("summary", &summary), ("terminal", &terminal)] {
        assert_eq!(text.contains(WHY) && text.contains(CURE), hindered, "{surface}: {text}");
        let fenced = matches!(case.publishing, Publishing::FencedOff);
        assert_eq!(text.contains(FENCE), fenced, "{surface} {case:?}: {text}");
        assert_eq!(
            text.contains("total ... FAILED"),
            case.check_failed,
            "{surface} {case:?}: {text}"
        );
    }
    assert_eq!(report.pointer("/hindrance/cure") == Some(&json!(CURE)), hindered, "{case:?}");

    // Whose no it was.
    let no = match case.refused {
        Some(RefusedBy::Person { .. }) => Some("1 call denied by alice"),
        Some(RefusedBy::Secret) => Some("1 call withheld for a secret"),
        Some(RefusedBy::Policy) | None => None,
    };
    for text in [first, summary.lines().next().unwrap()] {
        assert_eq!(no.is_some_and(|no| text.contains(no)), no.is_some(), "{case:?}: {text}");
    }
    let by = case.refused.map(|by| serde_json::to_value(by).unwrap());
    assert_eq!(report.pointer("/refusals/0/by"), by.as_ref(), "{case:?}");
    if let Some(RefusedBy::Person { reason, .. }) = case.refused {
        let said = [&comment, &summary, &terminal].iter().all(|text| text.contains(reason));
        assert!(said, "{case:?}: {terminal}");
    }
}

#[test]
fn every_surface_says_the_same_of_every_run() {
    let person = RefusedBy::Person { login: "alice".to_owned(), reason: "not now".to_owned() };
    let noes = [None, Some(&RefusedBy::Policy), Some(&person), Some(&RefusedBy::Secret)];
    let stops = [Done, Partial, Failed, NeedsInput, OnHold, BudgetExhausted, TimedOut, Cancelled];
    let mut seen = std::collections::BTreeSet::new();
    for stop in stops {
        for (changed, check_failed) in [(false, false), (true, false), (true, true)] {
            for refused in noes {
                for publishing in [Publishing::Done, Publishing::Hindered, Publishing::FencedOff] {
                    let case = Case { stop, changed, check_failed, refused, publishing };
                    check(&case);
                    seen.insert(expected(&case).as_str());
                }
            }
        }
    }
    assert_eq!(seen.len(), OutcomeWord::ALL.len(), "every word is in the table: {seen:?}");
}
