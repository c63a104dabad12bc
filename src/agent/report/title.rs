//! The title of a change, by what was done: the first sentence of the result.
//!
//! In: a result in a model's words. Out: one line of plain words, or nothing where the result
//! begins with none.

use crate::report::figures;
use crate::report::markdown::visible;
use locum_base::text::{head, single_blanks};

/// Longest title, in characters: what lists of pull requests show in one line.
pub const TITLE_LIMIT_CHARS: usize = 70;

/// How much of a line is read for its title, in bytes: what follows would not be shown, and a model
/// may write all of a long result on one line.
const LINE_LIMIT_BYTES: usize = 2_000;

/// Fewest characters of a title before a colon.
const HEAD_LEAST_CHARS: usize = 20;

/// First words that say that it is a result, and not which one.
const EMPTY: &[&str] = &[
    "all done",
    "changes",
    "completed",
    "done",
    "fix",
    "fixed",
    "here is what i did",
    "overview",
    "result",
    "results",
    "success",
    "summary",
    "task complete",
    "task completed",
    "the task is complete",
    "the task is completed",
    "the task is done",
    "what changed",
    "what i did",
];

/// First words of a sentence that a title leaves out.
const OPENINGS: &[&str] =
    &["i have now ", "i've now ", "i have ", "i've ", "i ", "we have ", "we've ", "we "];

/// Returns the first sentence of a result that says something, as a title. A heading above it names
/// a part of the result, as a rule; one that is a sentence itself, or says more, is the title.
pub fn of_result(result: &str) -> Option<String> {
    let mut in_code = false;
    let mut heading = None;
    for line in visible(result).lines() {
        let line = beginning(line.trim());
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || line.starts_with(['|', '<']) {
            continue;
        }
        if line.starts_with('#') {
            heading = heading.or_else(|| of_heading(line));
            continue;
        }
        let sentences = sentences(&plain(line));
        let Some(title) = sentences.iter().find_map(|sentence| spoken(sentence)) else { continue };
        let says_less = title.chars().count() < HEAD_LEAST_CHARS;
        return heading
            .filter(|heading| heading.is_whole || says_less)
            .map_or(Some(title), |heading| Some(heading.words));
    }
    heading.map(|heading| heading.words)
}

/// Returns as many whole words of a line as are read.
fn beginning(line: &str) -> &str {
    let read = head(line, LINE_LIMIT_BYTES);
    if read.len() == line.len() {
        return line;
    }
    read.rsplit_once(' ').map_or(read, |(words, _)| words)
}

/// A heading that says something.
struct SpokenHeading {
    words: String,
    /// Whether it is too long for the name of a part.
    is_whole: bool,
}

/// Returns a heading as a title; `None` where it names a part of the result and no more.
fn of_heading(line: &str) -> Option<SpokenHeading> {
    let text = plain(line.trim_matches('#').trim());
    let chars = text.chars().count();
    let words = spoken(&text).filter(|_| chars >= HEAD_LEAST_CHARS)?;
    Some(SpokenHeading { words, is_whole: chars > TITLE_LIMIT_CHARS })
}

/// Returns words as a title: one line, cut between words where it is too long.
pub fn short(words: &str) -> String {
    let line = single_blanks(words);
    let clipped = figures::clip(&line, TITLE_LIMIT_CHARS);
    if clipped == line {
        return line;
    }
    let cut = before_open_bracket(clipped.trim_end_matches('…'));
    match cut.rsplit_once(' ') {
        Some((words, _)) if words.len() > TITLE_LIMIT_CHARS / 2 => {
            format!("{}…", words.trim_end_matches([',', ';', ':', '-', '–', '—']))
        }
        Some(_) | None => clipped,
    }
}

/// Returns what stands before a bracket that is not closed, and the blank before it: what is in
/// brackets can be left out.
fn before_open_bracket(text: &str) -> &str {
    let mut open = Vec::new();
    let mut in_code = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '`' => in_code = !in_code,
            '(' | '[' if !in_code => open.push(at),
            ')' | ']' if !in_code => drop(open.pop()),
            _ => {}
        }
    }
    open.first().and_then(|at| text.get(..*at)).unwrap_or(text)
}

/// Returns a line without the marks of lists, quotes, emphasis and links.
fn plain(line: &str) -> String {
    let marks = ['-', '+', '>', ' ', '✅', '✔', '☑'];
    let line = line.trim_start_matches(marks);
    let line = without_emphasis(line.strip_prefix("* ").unwrap_or(line).trim_start_matches(marks));
    let line = line.trim_start_matches(['-', '*', '+', '>', ' ', '✅', '✔', '☑']);
    let numbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let line = match numbered.strip_prefix(". ").or_else(|| numbered.strip_prefix(") ")) {
        Some(rest) if numbered.len() < line.len() => rest,
        Some(_) | None => line,
    };
    let line = ["[x] ", "[X] ", "[ ] "]
        .iter()
        .fold(line, |line, tick| line.strip_prefix(tick).unwrap_or(line));
    let mut text = line.to_owned();
    // `[words](address)` becomes its words.
    while let Some(at) = text.find("](") {
        let (Some(start), Some(end)) = (
            text.get(..at).and_then(|head| head.rfind('[')),
            text.get(at..).and_then(|rest| rest.find(')')),
        ) else {
            break;
        };
        let words = text.get(start + 1..at).unwrap_or_default().to_owned();
        text.replace_range(start..at + end + 1, &words);
    }
    text.trim().to_owned()
}

/// Returns a line without pairs of `**` or `__` around words; code keeps every letter.
fn without_emphasis(line: &str) -> String {
    let mut parts: Vec<String> = line.split('`').map(str::to_owned).collect();
    // What an odd mark begins is no code.
    let code = parts.len() - usize::from(parts.len().is_multiple_of(2));
    for (at, part) in parts.iter_mut().enumerate() {
        if at.is_multiple_of(2) || at >= code {
            for mark in ["**", "__"] {
                *part = without_pairs(part, mark);
            }
        }
    }
    // Emphasis may go around code: `**`a` is new**`.
    let text = parts.join("`");
    match text.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        Some((words, rest)) if words.matches('`').count() % 2 == 0 => format!("{words}{rest}"),
        Some(_) | None => text,
    }
}

/// Takes a mark away where it opens before a word, closes behind one, and stands in no name.
fn without_pairs(text: &str, mark: &str) -> String {
    let is_of_word =
        |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let (mut found, mut rest) = (String::new(), text);
    while let Some((head, tail)) = rest.split_once(mark) {
        let closing = tail.match_indices(mark).find(|(at, _)| {
            let (words, after) = tail.split_at(*at);
            let after = after.get(mark.len()..).unwrap_or_default();
            !words.ends_with(char::is_whitespace) && !is_of_word(after.chars().next())
        });
        let opens = !tail.starts_with(char::is_whitespace)
            && !is_of_word(found.chars().chain(head.chars()).last());
        let names = |words: &str| mark == "__" && !words.contains(char::is_whitespace);
        match closing.filter(|_| opens).map(|(at, _)| tail.split_at(at)) {
            // `__init__` is a name.
            Some((words, after)) if !words.is_empty() && !names(words) => {
                found.push_str(head);
                found.push_str(words);
                rest = after.get(mark.len()..).unwrap_or_default();
            }
            Some(_) | None => {
                found.push_str(head);
                found.push_str(mark);
                rest = tail;
            }
        }
    }
    found.push_str(rest);
    found
}

/// Splits at ends of sentences: a mark, then a blank.
fn sentences(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = [". ", "! ", "? ", ": "]
        .iter()
        .filter_map(|end| rest.match_indices(end).map(|(at, _)| at).find(|at| ends(rest, *at)))
        .min()
    {
        let (head, tail) = rest.split_at(at + 1);
        found.push(head.to_owned());
        rest = tail.trim_start();
    }
    found.push(rest.to_owned());
    found
}

/// Whether a mark ends a sentence: not within code, not after `e.g`.
fn ends(line: &str, at: usize) -> bool {
    let head = line.get(..at).unwrap_or_default();
    let is_code = head.matches('`').count() % 2 == 1;
    let is_short = ["e.g", "i.e", "vs", "etc", "cf"].iter().any(|word| head.ends_with(word));
    // A colon ends only what says nothing by itself.
    let is_colon = line.get(at..).is_some_and(|rest| rest.starts_with(':'));
    !is_code && !is_short && (!is_colon || is_empty(head))
}

fn is_empty(sentence: &str) -> bool {
    let words = sentence.trim_end_matches(['.', '!', '?', ':']).trim().to_lowercase();
    words.is_empty() || EMPTY.contains(&words.as_str())
}

/// Returns a sentence as a title; `None` where it says nothing.
fn spoken(sentence: &str) -> Option<String> {
    let sentence = sentence.trim().trim_end_matches(['.', '!', ':']).trim();
    if is_empty(sentence) {
        return None;
    }
    let lower = sentence.to_lowercase();
    let opening = OPENINGS.iter().find(|opening| lower.starts_with(**opening));
    // Of a long sentence, what stands before its colon says what was done.
    let head = sentence.split_once(": ").map(|(head, _)| head).filter(|head| {
        head.chars().count() >= HEAD_LEAST_CHARS && head.matches('`').count() % 2 == 0
    });
    let is_long = sentence.chars().count() > TITLE_LIMIT_CHARS;
    let sentence = head.filter(|_| is_long).unwrap_or(sentence);
    let rest = opening.and_then(|opening| sentence.get(opening.len()..)).unwrap_or(sentence);
    let mut letters = rest.chars();
    let first = letters.next()?;
    Some(short(&format!("{}{}", first.to_uppercase(), letters.as_str())))
}

#[cfg(test)]
mod tests {
    use super::{TITLE_LIMIT_CHARS, of_result};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_change_is_named_by_the_first_sentence_that_says_what_was_done() {
        for (result, expected) in [
            (
                "Fixed the rounding in `total`. All tests pass.",
                Some("Fixed the rounding in `total`"),
            ),
            ("## Summary\n\nI've fixed the rounding.\n", Some("Fixed the rounding")),
            ("Done. The parser takes empty input.", Some("The parser takes empty input")),
            ("**Summary:** the parser takes empty input", Some("The parser takes empty input")),
            ("- [x] Added `a.b` to [the docs](docs/a.md)\n- more", Some("Added `a.b` to the docs")),
            ("1. Renamed `a: b. c` everywhere", Some("Renamed `a: b. c` everywhere")),
            ("Handles suffixes, e.g. `.tar.gz`. Yes.", Some("Handles suffixes, e.g. `.tar.gz`")),
            ("```\ncode\n```\nWorks: see above.", Some("Works: see above")),
            (
                "The configuration reader now rejects a file whose sections name one folder twice.",
                Some("The configuration reader now rejects a file whose sections name one…"),
            ),
            (
                "Both faults of `seconds` are repaired: minutes count 60 seconds, and the last \
                 number of the text is no longer lost.",
                Some("Both faults of `seconds` are repaired"),
            ),
            (
                "# The configuration reader now rejects a file whose sections name one folder \
                 twice\n\nBody.",
                Some("The configuration reader now rejects a file whose sections name one…"),
            ),
            ("# Read empty input as zero\n\nBody.", Some("Read empty input as zero")),
            ("# Read empty input as zero\n\n```\ncode\n```", Some("Read empty input as zero")),
            ("# Details\n\nFixed it all.", Some("Fixed it all")),
            (
                "# Changes to the parser\n\nIt takes empty input now.",
                Some("It takes empty input now"),
            ),
            ("## Result\n\n# Read empty input as zero", Some("Read empty input as zero")),
            (
                "I set it in `stock/__init__.py` and kept `**kwargs` of `__main__`. Done.",
                Some("Set it in `stock/__init__.py` and kept `**kwargs` of `__main__`"),
            ),
            (
                "Kept __init__ and __main__ of **this** and __that one__, a__b and 2**3**4",
                Some("Kept __init__ and __main__ of this and that one, a__b and 2**3**4"),
            ),
            ("**`total` is rounded**: yes", Some("`total` is rounded: yes")),
            (
                "`Op` is `Operator` everywhere in the crate (`display.rs`, `eval.rs` and \
                 `parse.rs`).",
                Some("`Op` is `Operator` everywhere in the crate…"),
            ),
            ("\n \n", None),
            ("Done.", None),
            ("```\nonly code\n```", None),
        ] {
            assert_eq!(of_result(result).as_deref(), expected, "{result:?}");
        }
        let long = of_result(&"x".repeat(500)).unwrap();
        assert_eq!(long.chars().count(), TITLE_LIMIT_CHARS);
    }

    #[test]
    fn a_result_of_one_long_line_is_named_at_once_whatever_it_is_made_of() {
        for piece in ["Fixed the parser for @bob. ", "Done. ", "[a](b) ", "**a** b__ ", "a: "] {
            let result = piece.repeat(400_000 / piece.len());
            let shorter = piece.repeat(1_500 / piece.len());
            assert_eq!(of_result(&result), of_result(&shorter), "{piece}");
        }
    }
}
