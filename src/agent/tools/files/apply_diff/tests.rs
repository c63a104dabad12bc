//! Blocks of a diff against a text: what is taken, what is refused and how that is reported.

use super::{
    AppliedDiff, BlockError, ChangedRange, DiffError, NearCopies, Tolerance, apply, apply_with,
};
use crate::tools::files::apply_diff::miss::Miss;
use pretty_assertions::assert_eq;

fn block(head: &str, search: &str, replace: &str) -> String {
    format!("<<<<<<< SEARCH\n{head}{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
}

fn content(original: &str, diff: &str) -> Option<String> {
    apply(original, diff).ok().map(|applied| applied.content)
}

#[test]
fn applies_blocks() {
    for (original, diff, expected) in [
        ("a\nb\nc\n", block("", "b", "B"), Some("a\nB\nc\n")),
        ("a\r\nb\r\n", block("", "b", "B\nC"), Some("a\r\nB\r\nC\r\n")),
        ("  a\n", block("", "a", "a\n  b"), Some("  a\n    b\n")),
        ("a\nb\nc\n", block("", "2 | b", "2 | B"), Some("a\nB\nc\n")),
        ("b\na\nb\nb\n", block("", "4 | b", ""), Some("b\na\nb\n")),
        ("a\nb\n", block("", "| b", "| c"), Some("a\nc\n")),
        ("1 | a\n2 | b\n", block("", "2 | b", "2 | c"), Some("1 | a\n2 | c\n")),
        ("b\na\nb\n", block("", "3 | b", "3 | c"), Some("b\na\nc\n")),
        ("a\nb\n", block("", "\na", "\nA"), Some("A\nb\n")),
        ("a\n\nb\n", block("", "\nb", "\n\nB"), Some("a\n\n\nB\n")),
        ("a\nb\n", block("", "b", "\nb"), Some("a\n\nb\n")),
        ("a\r\nb\nc\n", block("", "b", "B"), Some("a\r\nB\nc\n")),
        ("a  \nb\n", block("", "a\nb", "a\nc"), Some("a  \nc\n")),
        ("a\nb\n", block("", "b", "b  "), Some("a\nb  \n")),
        ("\ta\n", block("", "\ta", "    a"), Some("    a\n")),
        ("a\nb\n", block(":start_line:9000\n", "b", "c"), None),
        ("A\n", block("", "a", "b"), None),
    ] {
        assert_eq!(content(original, &diff).as_deref(), expected, "{diff}");
    }
}

#[test]
fn reports_blocks_that_do_not_fit_beside_those_that_do() {
    let diff = [block("", "a", "x"), block("", "zzz", "y"), block("", "b", "b")].concat();
    let AppliedDiff { content, changed, failed } = apply("a\nb\n", &diff).unwrap();
    assert_eq!(content, "x\nb\n");
    assert_eq!(changed, [ChangedRange { line: 1, removed: 1, added: 1 }]);
    assert!(
        matches!(failed.as_slice(), [BlockError::NoMatch(_), BlockError::Identical]),
        "{failed:?}"
    );
}

#[test]
fn a_miss_shows_the_most_similar_lines() {
    let Err(DiffError::NoBlockFits(failed)) =
        apply("one\ntwo words\nthree\n", &block("", "two wards", "2"))
    else {
        panic!("found what is not there");
    };
    let text = failed.first().unwrap().to_string();
    assert!(
        text.contains("89% of the 100% needed, at line 2:\ntwo words\n")
            && text.ends_with("\n3 | three"),
        "{text}"
    );
}

#[test]
fn a_lower_threshold_takes_the_most_similar_lines() {
    let tolerance = Tolerance { similarity: 0.8, ..Tolerance::default() };
    let diff = block("", "two wards", "2");
    assert_eq!(apply_with("one\ntwo words\n", &diff, tolerance).unwrap().content, "one\n2\n");
    assert!(apply("one\ntwo words\n", &diff).is_err());
}

#[test]
fn a_huge_file_is_searched_quickly_and_a_miss_stays_bounded() {
    let original: String =
        (0..20_000).map(|line| format!("line number {line} of many\n")).collect();
    let last = block("", "line number 19999 of many", "x");
    assert!(content(&original, &last).is_some_and(|text| text.ends_with("\nx\n")));
    let search: String = (0..100).map(|line| format!("line nomber {line} of many\n")).collect();
    assert!(apply(&original, &block("", &search, "x")).is_err());
}

/// What became of a block, start lines confirmed: the new text, or the lines of a refusal.
fn landed(original: &str, diff: &str) -> Result<String, Vec<usize>> {
    let confirmed = Tolerance { near_copies: NearCopies::Take, ..Tolerance::default() };
    match apply_with(original, diff, confirmed) {
        Ok(applied) => Ok(applied.content),
        Err(DiffError::NoBlockFits(failed)) => match failed.as_slice() {
            [BlockError::NoMatch(miss)] => match &miss.why {
                Miss::Several { lines, .. } => Err(lines.clone()),
                Miss::Indentation { line, .. } => Err(vec![*line]),
                Miss::Nowhere { .. }
                | Miss::Placeholder { .. }
                | Miss::NearCopies { .. }
                | Miss::Alike { .. } => Err(vec![]),
            },
            _ => Err(vec![]),
        },
        Err(DiffError::Unconfirmed(_) | DiffError::Parse(_)) => Err(vec![]),
    }
}

const FUNCTIONS: &str = "def a():\n    if 1:\n        if 2:\n            return None\n    \
                         else:\n        return None\n\n\ndef z():\n    return None\n";

#[test]
fn text_found_letter_for_letter_comes_first() {
    let edit = block(":start_line:9\n-------\n", "    return None", "    return 2");
    let expected = FUNCTIONS.replace("z():\n    return None", "z():\n    return 2");
    assert_eq!(landed(FUNCTIONS, &edit), Ok(expected));
    let far: String = (1..=200)
        .map(|line| match line {
            175 => "        return None\n".to_owned(),
            191 => "    return None\n".to_owned(),
            line => format!("line {line}\n"),
        })
        .collect();
    assert_eq!(
        landed(&far, &block(":start_line:190\n-------\n", "    return None", "    return 1")),
        Ok(far.replace("\n    return None", "\n    return 1"))
    );
}

#[test]
fn without_a_line_about_there_blanks_alone_do_not_say_which_copy_is_meant() {
    let nested = "a\nb\n        return x\nc\nd\ne\n    return x\nf\ng\nh\n";
    for head in ["", ":start_line:40\n-------\n"] {
        for text in ["        return x", "    return x", "return x"] {
            let edit = block(head, text, &text.replace('x', "y"));
            assert_eq!(landed(nested, &edit), Err(vec![3, 7]), "{head}{text}");
        }
    }
    let edit = block(":start_line:7\n-------\n", "    return x", "    return y");
    assert_eq!(landed(nested, &edit), Ok(nested.replace("e\n    return x", "e\n    return y")));
    let more = block("", "        return x\nc", "        return y\nc");
    assert_eq!(landed(nested, &more), Ok(nested.replacen("return x", "return y", 1)));
}

#[test]
fn of_several_places_the_one_at_the_start_line_is_meant_or_none() {
    let file = "x\na\nx\nb\nc\nx\nd\ne\nf\ng\nx\n";
    let at = |line: usize| block(&format!(":start_line:{line}\n-------\n"), "x", "y");
    for line in [1, 3, 6, 11] {
        let changed = file
            .lines()
            .enumerate()
            .map(|(at, text)| if at + 1 == line { "y\n".into() } else { format!("{text}\n") });
        assert_eq!(landed(file, &at(line)), Ok(changed.collect()), "{line}");
    }
    // Near one, equally near, far from each, or without a line.
    for line in [2, 4, 5, 7, 14, 20, 30] {
        assert_eq!(landed(file, &at(line)), Err(vec![1, 3, 6, 11]), "{line}");
    }
    assert_eq!(landed(file, &block("", "x", "y")), Err(vec![1, 3, 6, 11]));
    // Where blanks differ it is no other.
    assert_eq!(landed("  x\na\n\tx\n", &block("", "x", "y")), Err(vec![1, 3]));
    assert_eq!(landed("  x\na\n\tx\n", &at(3)), Ok("  x\na\n\ty\n".into()));
    // One alone may be far from its line.
    assert_eq!(landed("a\nx\n", &at(40)), Ok("a\ny\n".into()));
}

#[test]
fn a_line_that_is_off_by_up_to_30_never_means_the_other_copy() {
    const OFF: usize = 30;
    for gap in 1..=70 {
        let copies = [40, 40 + gap];
        let text = |changed: Option<usize>| -> String {
            let line = |line: usize| match line {
                line if Some(line) == changed => "y\n".to_owned(),
                line if copies.contains(&line) => "x\n".to_owned(),
                line => format!("line {line}\n"),
            };
            (1..=160).map(line).collect()
        };
        for meant in copies {
            for given in meant - OFF..=meant + OFF {
                let edit = block(&format!(":start_line:{given}\n-------\n"), "x", "y");
                let found = landed(&text(None), &edit);
                let sole = copies.iter().filter(|copy| copy.abs_diff(given) <= OFF).count() == 1;
                let expected = if copies.contains(&given) || sole {
                    Ok(text(Some(if copies.contains(&given) { given } else { meant })))
                } else {
                    Err(copies.to_vec())
                };
                assert_eq!(found, expected, "copies at {copies:?}, {given} for {meant}");
            }
        }
    }
}

/// The lines of the copies that a diff is asked about; `None` where it is not.
fn asked(original: &str, diff: &str) -> Option<Vec<usize>> {
    let Err(DiffError::Unconfirmed(blocks)) = apply(original, diff) else { return None };
    blocks.first().map(|block| match &block.why {
        Miss::NearCopies { lines } => lines.clone(),
        Miss::Alike { alike, .. } => alike.clone(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn an_exact_line_is_asked_about_where_another_copy_is_within_30() {
    let text = |gap: usize| format!("x\n{}x\nz\n", "b\n".repeat(gap - 1));
    let at =
        |line: usize, search: &str| block(&format!(":start_line:{line}\n-------\n"), search, "y");
    for (gap, expected) in [(1, true), (30, true), (31, false), (40, false)] {
        let lines = vec![1, gap + 1];
        for line in &lines {
            let found = asked(&text(gap), &at(*line, "x"));
            assert_eq!(found, expected.then(|| lines.clone()), "{gap} {line}");
        }
    }
    // What decides already: more lines, numbers copied from the file, blocks for both copies.
    let file = text(4);
    for diff in [
        at(5, "x\nz"),
        block("", "5 | x", "5 | y"),
        block(":start_line:5\n-------\n", "5 | x", "5 | y"),
        [at(1, "x"), at(5, "x")].concat(),
    ] {
        assert_eq!(asked(&file, &diff), None, "{diff}");
        assert!(apply(&file, &diff).is_ok(), "{diff}");
    }
    // Lines are those of the file as it is, and nothing of the call is done.
    let diff = [block("", "z", "z1\nz2"), block("", "b\nb\nb", ""), at(5, "x")].concat();
    assert_eq!(asked(&file, &diff), Some(vec![1, 5]));
    let text = apply(&file, &at(5, "x")).unwrap_err().to_string();
    assert_eq!(
        text,
        "this SEARCH part stands at lines 1 and 5, and line 5 was named. Send the same call again \
         to change that one, or write the first line of another, or more lines around it:\nx"
    );
}

#[test]
fn a_line_beside_text_that_others_have_but_for_blanks_is_asked_about() {
    let file = "a {\n        go();\n}\nb {\n    go();\n}\n";
    let at = |line: usize, search: &str| {
        block(&format!(":start_line:{line}\n-------\n"), search, "    went();")
    };
    // The text of line 5 with the number of line 2, or of none: one of them may be wrong.
    for line in [1, 2, 4, 6] {
        assert_eq!(asked(file, &at(line, "    go();")), Some(vec![2]), "{line}");
        let taken = file.replace("b {\n    go", "b {\n    went");
        assert_eq!(landed(file, &at(line, "    go();")), Ok(taken), "sent again: {line}");
    }
    assert_eq!(asked(file, &at(5, "        go();")), Some(vec![5]));
    // What read_file shows there, number and blanks, is taken; so is a line far from the others.
    let far = format!("a {{\n        go();\n}}\n{}    go();\n", "-\n".repeat(60));
    for (file, line) in [(file, 5), (&far, 64), (&far, 60)] {
        assert_eq!(asked(file, &at(line, "    go();")), None, "{line}");
        assert!(content(file, &at(line, "    go();")).unwrap().contains("\n    went();"), "{line}");
    }
    let Err(DiffError::Unconfirmed(misses)) = apply(file, &at(2, "    go();")) else {
        panic!("one of two places was taken");
    };
    assert_eq!(
        misses.first().unwrap().to_string(),
        "this SEARCH part stands at line 5, and with other blanks at line 2, and line 2 was named. \
         Send the same call again to change line 5, or write the first line of another with its \
         lines as read_file shows them:\n    go();"
    );
}

#[test]
fn a_refusal_names_the_lines_and_what_to_write() {
    let Err(DiffError::NoBlockFits(failed)) = apply("x\na\nx\n", &block("", "x", "y")) else {
        panic!("one of two places was taken");
    };
    assert_eq!(
        failed.first().unwrap().to_string(),
        "this SEARCH part stands at lines 1 and 3. Write `:start_line:N` with the exact first \
         line of the one that is meant, as read_file shows it, or more lines around it:\nx"
    );
    let far = format!("x\na\nx\n{}x\n", "b\n".repeat(60));
    let Err(DiffError::NoBlockFits(failed)) =
        apply(&far, &block(":start_line:2\n-------\n", "x", "y"))
    else {
        panic!("one of three places was taken");
    };
    assert!(
        failed.first().unwrap().to_string().starts_with(
            "this SEARCH part stands at lines 1, 3 and 64; line 2 is none of them. Write "
        ),
        "{failed:?}"
    );
}

#[test]
fn a_later_block_does_not_mean_what_an_earlier_one_wrote() {
    let diff = [block("", "a", "b"), block("", "b", "c")].concat();
    assert_eq!(landed("a\nb\n", &diff), Ok("b\nc\n".into()));
    let moved = [
        block(":start_line:5\n", "e", "x"),
        block("", "a", "a\na1\na2"),
        block(":start_line:2\n", "x", "y"),
    ]
    .concat();
    assert_eq!(landed("a\nx\nc\nd\ne\n", &moved), Ok("a\na1\na2\ny\nc\nd\nx\n".into()));
}

#[test]
fn broken_indentation_is_refused_and_a_shift_is_followed() {
    let class = "class R:\n    def __init__(self, s):\n        self.a = s\n        self.b = s\n";
    let edit = block(
        "",
        "class R:\n    def __init__(self, s):\n    self.a = s\n    self.b = s",
        "class R:\n    def __init__(self, s):\n    self.a = s + 1\n    self.b = s",
    );
    assert_eq!(landed(class, &edit), Err(vec![1]));
    let shifted = block(
        "",
        "def __init__(self, s):\n    self.a = s",
        "def __init__(self, s):\n    if s:\n        self.a = s",
    );
    assert_eq!(
        landed(class, &shifted),
        Ok(class.replace("        self.a = s\n", "        if s:\n            self.a = s\n"))
    );
}

#[test]
fn what_stands_for_lost_text_is_refused_unless_the_file_has_it() {
    let edit = block("", "a\nb\nc", "a\n// ... existing code ...\nc");
    assert_eq!(landed("a\nb\nc\n", &edit), Err(vec![]));
    let text = apply("a\nb\nc\n", &edit).unwrap_err().to_string();
    assert!(
        text.contains("`// ... existing code ...`, which stands for text that would be lost"),
        "{text}"
    );
    let known = "// ... existing code ...\na\nb\nc\n";
    assert_eq!(
        landed(known, &edit),
        Ok("// ... existing code ...\na\n// ... existing code ...\nc\n".into())
    );
}
