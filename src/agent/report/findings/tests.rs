//! What is read of a result, and what of it becomes comments.

use super::{Finding, KnownFinding, chosen, counted, findings};
use locum_forge::CommentableLines;
use locum_policy::schema::review::{Confidence, ReviewRules, Severity};
use pretty_assertions::assert_eq;

fn shown() -> CommentableLines {
    CommentableLines::from([
        ("src/a.rs".to_owned(), vec![(1, 5), (8, 10)]),
        ("src/b.rs".to_owned(), vec![]),
    ])
}

#[test]
fn a_result_that_names_lines_becomes_findings_there() {
    let text = "Needs changes. See src/a.rs:2.\n\n1. **blocker** `src/a.rs:2-4`: wrong\n   for an \
                empty list\n2. src/a.rs:9 nit\n\nafter\n  indented\n- src/a.rs:6 not shown\n- \
                lib/src/a.rs:3 another file\n- src/b.rs:1 nothing shown\n* src/a.rs:0\n* \
                src/a.rs:5-7 ends outside";
    let found: Vec<_> = findings(text, &shown())
        .into_iter()
        .map(|one| (one.first, one.last, one.severity, one.body))
        .collect();
    let body = "**blocker** `src/a.rs:2-4`: wrong\nfor an empty list".to_owned();
    assert_eq!(
        found,
        [(2, 4, Severity::Blocker, body), (9, 9, Severity::Nit, "src/a.rs:9 nit".to_owned())]
    );
}

#[test]
fn severity_and_confidence_are_read_in_the_words_that_models_use() {
    for (said, severity, confidence) in [
        ("**blocker**, high confidence", Severity::Blocker, Confidence::High),
        ("[Critical] (confidence: low)", Severity::Blocker, Confidence::Low),
        ("should fix · medium confidence ·", Severity::ShouldFix, Confidence::Medium),
        ("Question:", Severity::ShouldFix, Confidence::Low),
        ("_nit_", Severity::Nit, Confidence::Medium),
        ("the unit is wrong, and it is critically low", Severity::ShouldFix, Confidence::Medium),
        ("", Severity::ShouldFix, Confidence::Medium),
    ] {
        let found = findings(&format!("- {said} `src/a.rs:2` text"), &shown());
        assert_eq!((found[0].severity, found[0].confidence), (severity, confidence), "{said}");
    }
}

fn said(severity: Severity, confidence: Confidence, first: u32, words: &str) -> Finding {
    let (path, body) = ("src/a.rs".to_owned(), format!("`src/a.rs:{first}` {words}"));
    Finding { path, first, last: first, severity, confidence, body }
}

#[test]
fn what_is_below_the_floor_or_beyond_the_budget_is_left_out_the_worst_stay() {
    let (sure, likely) = (Confidence::High, Confidence::Medium);
    let found = vec![
        said(Severity::ShouldFix, likely, 1, "one"),
        said(Severity::Nit, sure, 2, "two"),
        said(Severity::ShouldFix, sure, 3, "three"),
        said(Severity::Blocker, Confidence::Low, 4, "four"),
        said(Severity::Blocker, likely, 5, "five"),
    ];
    let places = |rules: ReviewRules| {
        let chosen = chosen(found.clone(), rules, &[], |one| one.known_by(None));
        let places: Vec<u32> = chosen.kept.iter().map(|one| one.first).collect();
        (places, chosen.left_out)
    };
    let rules = ReviewRules::default();
    assert_eq!(places(rules), (vec![1, 3, 5], 2));
    assert_eq!(places(ReviewRules { comments: 2, ..rules }), (vec![3, 5], 3));
    assert_eq!(places(ReviewRules { comments: 0, ..rules }), (vec![], 5));
    let all = ReviewRules { floor: Severity::Nit, confidence: Confidence::Low, ..rules };
    assert_eq!(places(all), (vec![1, 2, 3, 4, 5], 0));
    assert_eq!(counted(&found), "5 findings: 2 blocker, 2 should fix, 1 nit");
}

#[test]
fn what_was_said_before_is_not_said_again_wherever_its_line_is_by_now() {
    let first = said(Severity::Blocker, Confidence::High, 3, "Divides by zero for an empty list.");
    let known = first.known_by(Some("  return sum / len\n"));
    let read = |run: &str| KnownFinding::parse("src/a.rs", &known.marker("41"), run);
    assert_eq!(read("42"), Some(known.clone()));
    assert_eq!(read("41"), None, "an attempt of the same run writes it again");
    assert_eq!(KnownFinding::parse("src/a.rs", "nice work", "42"), None);
    let rules = ReviewRules::default();
    let again = |found: Finding, line: &str| {
        chosen(vec![found], rules, std::slice::from_ref(&known), |one| one.known_by(Some(line)))
            .repeated
    };
    let moved = Finding { first: 9, last: 9, ..first.clone() };
    assert_eq!(again(moved, "return total / len"), 1, "the same words elsewhere");
    let reworded = said(Severity::Blocker, Confidence::High, 8, "An empty list is divided.");
    assert_eq!(again(reworded.clone(), "return sum / len"), 1, "other words about the same text");
    assert_eq!(again(reworded.clone(), "return sum"), 0);
    assert_eq!(again(Finding { path: "src/b.rs".to_owned(), ..first }, "x"), 0);
    assert_eq!(again(reworded, ""), 0, "an empty line is no text");
}
