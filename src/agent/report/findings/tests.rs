//! What is read of a result, and what of it becomes comments.

use std::collections::BTreeMap;

use super::{Finding, KnownFinding, chosen, counted, findings, fixed};
use locum_forge::CommentableLines;
use locum_forge::ThreadComment;
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
    let found: Vec<_> = findings(text, &[], &shown())
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
        let found = findings(&format!("- {said} `src/a.rs:2` text"), &[], &shown());
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
    let known = first.known_by(Some("def mean(list):\n\n  return sum / len\n"));
    let read = KnownFinding::of_comment(&on_line(&known.marker("41"))).unwrap();
    assert_eq!(read, KnownFinding { run: "41".to_owned(), ..known.clone() });
    assert_eq!(KnownFinding::of_comment(&on_line("nice work")), None);
    let rules = ReviewRules::default();
    let again = |found: Finding, line: &str| {
        let file = format!("{}{line}\n", "\n".repeat(usize::try_from(found.last).unwrap() - 1));
        chosen(vec![found], rules, std::slice::from_ref(&known), |one| one.known_by(Some(&file)))
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

fn on_line(body: &str) -> ThreadComment {
    ThreadComment {
        id: 1,
        author: "locum[bot]".to_owned(),
        is_user: false,
        has_contributed: false,
        written_at: None,
        place: Some("src/a.rs:3".to_owned()),
        is_own: true,
        body: body.to_owned(),
    }
}

#[test]
fn entries_that_begin_with_fixed_name_earlier_findings_and_are_no_new_ones() {
    let numbers = |summary: &str| fixed(summary);
    assert_eq!(
        numbers("- Fixed: finding 12\n- **Fixed:** findings 13, 14 and #15."),
        [12, 13, 14, 15]
    );
    assert_eq!(numbers("1. fixed finding 7: the list of 3 may be empty"), [7]);
    for none in
        ["Fixed: finding 12", "- not fixed: finding 12", "- Fixed in 12 files", "- finding 12", ""]
    {
        assert_eq!(numbers(none), [0; 0], "{none}");
    }
    let lines = BTreeMap::from([("src/a.rs".to_owned(), vec![(1, 9)])]);
    let summary = "- Fixed: finding 12, `src/a.rs:3`\n- `src/a.rs:4` blocker: divides by zero";
    let places: Vec<u32> = findings(summary, &[], &lines).iter().map(|one| one.first).collect();
    assert_eq!(places, [4]);
}

#[test]
fn a_finding_knows_its_file_and_before_that_its_line() {
    let file = "a\nb\nreturn 1\n";
    let known = said(Severity::Nit, Confidence::High, 3, "x").known_by(Some(file));
    assert!(known.is_of(file));
    assert!(!known.is_of("a\nb\nreturn 2\n"));
    assert!(!known.is_of("a\nB\nreturn 1\n"));
    let before = KnownFinding { file: String::new(), ..known };
    assert!(before.is_of("a\nB\n  return 1\n"));
    assert!(!before.is_of("a\nb\nreturn 2\n"));
    let unknown = KnownFinding { line: String::new(), ..before };
    assert!(unknown.is_of("anything"), "what is not known has not changed");
}

#[test]
fn a_list_below_a_finding_is_part_of_it_and_one_below_a_heading_is_not() {
    let lines = BTreeMap::from([("src/a.rs".to_owned(), vec![(1, 9)])]);
    let summary = "1. **Blockers**\n   - **blocker** `src/a.rs:3`: for each of\n     - `x`;\n\
                   \x20      - deep\n     - see `src/a.rs:5`.\n\n     Fix: no.\n   - `src/a.rs:4` nit\n\n\
                   - `src/a.rs:6`\n- `src/a.rs:7`";
    let found = findings(summary, &[], &lines);
    let said: Vec<(u32, &str)> = found.iter().map(|one| (one.first, one.body.as_str())).collect();
    let whole =
        "**blocker** `src/a.rs:3`: for each of\n- `x`;\n  - deep\n- see `src/a.rs:5`.\n\nFix: no.";
    assert_eq!(
        said,
        [(3, whole), (4, "`src/a.rs:4` nit"), (6, "`src/a.rs:6`"), (7, "`src/a.rs:7`")]
    );
}

#[test]
fn code_by_indentation_stays_code_within_a_finding() {
    let lines = BTreeMap::from([("src/a.rs".to_owned(), vec![(1, 9)])]);
    let summary =
        "- nit `src/a.rs:3`. Test:\n\n      if x:\n\n          y\n\n  End.\n\nAfter\n  it";
    let found = findings(summary, &[], &lines);
    let bodies: Vec<&str> = found.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, ["nit `src/a.rs:3`. Test:\n\n    if x:\n\n        y\n\nEnd."]);
}
