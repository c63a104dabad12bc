//! `apply_diff`: search/replace blocks on one file, found by text and, where given, by line.
//!
//! [`apply`] is pure: the file's text and the diff in, the new text and what became of each block
//! out. A block that does not fit, or that fits in more than one place, is reported beside those
//! that fit in one; nothing is changed when none does. Text found letter for letter comes before
//! any that differs in blanks or signs.

pub mod matching;
pub mod miss;
pub mod parse;
pub mod tool;

use std::ops::Range;

use crate::tools::files::apply_diff::matching::{LineBounds, LineMatch, NormalizedLines};
use crate::tools::files::apply_diff::miss::{Miss, NoMatch};
use crate::tools::files::apply_diff::parse::{DiffBlock, DiffParseError};
use crate::tools::files::text::blank;
use crate::tools::files::text::indent;
use crate::tools::files::text::lines::{ChangedRange, EditedLines};
use crate::tools::files::text::placeholder::first_placeholder;
use crate::tools::files::text::stand::{Likeness, places};

/// How far from its start line text may stand that stands elsewhere nearby, too: models miscount
/// by a line or two, and by more after an edit further up, which then says nothing.
const NEAR_LINES: usize = 3;

/// Lines shown around the place a block was looked for, in both directions together.
const SURROUNDING_LINES: usize = 40;

/// How far from its start line, and how unlike the file, a search text may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Least similarity, 0.0 to 1.0; 1.0 still leaves blanks and typographic signs out of account.
    pub similarity: f64,
    /// Lines before and after the start line that are searched.
    pub lines: usize,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { similarity: 1.0, lines: 40 }
    }
}

/// The result of a diff of which at least one block fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedDiff {
    /// The file's new text.
    pub content: String,
    /// The places that changed, in the order they were applied.
    pub changed: Vec<ChangedRange>,
    /// The blocks that did not fit.
    pub failed: Vec<BlockError>,
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DiffError {
    /// The text is not a diff.
    #[error(transparent)]
    Parse(#[from] DiffParseError),
    /// No block fits; one error each.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    NoBlockFits(Vec<BlockError>),
}

/// Why one block did not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlockError {
    /// Search and replacement are the same text, or the file holds the replacement already.
    #[error("a block would change nothing: its REPLACE part is what stands there already")]
    Identical,
    /// There is nothing to search for.
    #[error("a block's SEARCH part is empty; give the lines to replace")]
    EmptySearch,
    /// No place of the file is meant without doubt.
    #[error("{0}")]
    NoMatch(Box<NoMatch>),
}

/// Applies a diff to a file's text as the tool does.
///
/// # Errors
/// When the text is not a diff or no block fits.
pub fn apply(original: &str, diff: &str) -> Result<AppliedDiff, DiffError> {
    apply_with(original, diff, Tolerance::default())
}

/// Applies a diff with another tolerance.
///
/// # Errors
/// As [`apply`].
pub fn apply_with(
    original: &str,
    diff: &str,
    tolerance: Tolerance,
) -> Result<AppliedDiff, DiffError> {
    let blocks = parse::parse(diff)?;
    let mut file = TargetText::new(original, tolerance);
    let mut failed = Vec::new();
    for block in blocks {
        if let Err(error) = file.apply(block) {
            failed.push(error);
        }
    }
    if file.edited.changed().is_empty() {
        Err(DiffError::NoBlockFits(failed))
    } else {
        let changed = file.edited.changed().to_vec();
        Ok(AppliedDiff { content: file.edited.text(), changed, failed })
    }
}

/// The file while blocks are applied to it, one after another.
struct TargetText<'a> {
    original: &'a str,
    edited: EditedLines,
    tolerance: Tolerance,
}

/// A place where a block goes.
struct Target {
    line: usize,
    likeness: Option<Likeness>,
    block: DiffBlock,
}

impl<'a> TargetText<'a> {
    fn new(original: &'a str, tolerance: Tolerance) -> Self {
        Self { original, edited: EditedLines::new(original), tolerance }
    }

    fn apply(&mut self, block: DiffBlock) -> Result<(), BlockError> {
        let block = self.placed(block);
        if block.search == block.replace {
            return Err(BlockError::Identical);
        }
        if block.search.is_empty() {
            return Err(BlockError::EmptySearch);
        }
        let height = |text: &str| if text.is_empty() { 0 } else { text.split('\n').count() };
        let loses = height(&block.replace) < height(&block.search);
        let known = |line: &str| self.original.lines().any(|known| known.trim() == line);
        if let Some(line) = first_placeholder(block.replace.split('\n'), known, loses) {
            let line = line.to_owned();
            return Err(no_match(&block, Miss::Placeholder { line }));
        }
        let target = self.find(&block)?;
        self.replace(&target)
    }

    /// Moves the start line with the changes made so far.
    fn placed(&self, block: DiffBlock) -> DiffBlock {
        match block.start_line {
            0 => block,
            line => DiffBlock { start_line: self.edited.moved(line), ..block },
        }
    }

    /// Finds the one place that is meant: as written, then without the blank lines a model leaves
    /// after a marker, each letter for letter first; then without line numbers copied from
    /// `read_file`, then without what is left of them.
    fn find(&self, block: &DiffBlock) -> Result<Target, BlockError> {
        let strict = without_leading_blank_lines(block);
        let plain = without_numbers(&strict);
        let bare = DiffBlock {
            start_line: plain.start_line,
            search: blank::strip_number_remains(&plain.search),
            replace: blank::strip_number_remains(&plain.replace),
        };
        for forms in [&[block, &strict][..], &[&plain], &[&bare]] {
            for likeness in Likeness::ALL {
                for form in forms {
                    let line = match self.stands(form, likeness).as_slice() {
                        [] => continue,
                        [line] => *line,
                        lines => {
                            let lines = lines.iter().map(|line| line + 1).collect();
                            return Err(no_match(block, Miss::Several { lines, likeness }));
                        }
                    };
                    return Ok(Target { line, likeness: Some(likeness), block: (*form).clone() });
                }
            }
        }
        self.most_similar(&bare, self.tolerance.similarity)
            .filter(|_| self.tolerance.similarity < 1.0)
            .map(|found| Target { line: found.line, likeness: None, block: bare })
            .ok_or_else(|| self.nowhere(&plain))
    }

    /// Returns where a block can be meant: one place, several, or none.
    fn stands(&self, block: &DiffBlock, likeness: Likeness) -> Vec<usize> {
        let wanted: Vec<&str> = block.search.split('\n').collect();
        let LineBounds { start, end } = self.bounds(block);
        let mut found = places(self.edited.lines(), &wanted, likeness, start..end);
        let run = |line: usize| line..line + wanted.len();
        if found.iter().any(|line| !self.edited.is_new(&run(*line))) {
            found.retain(|line| !self.edited.is_new(&run(*line)));
        }
        let Some(start) = block.start_line.checked_sub(1) else { return found };
        let mut by_distance: Vec<(usize, usize)> =
            found.iter().map(|line| (line.abs_diff(start), *line)).collect();
        by_distance.sort_unstable();
        // Of places that are only alike, none is more meant than the other by a line nearby.
        let near = if likeness == Likeness::Exact { NEAR_LINES } else { 0 };
        match by_distance.as_slice() {
            [(first, line), (second, _), ..] if first < second && *first <= near => {
                vec![*line]
            }
            _ => found,
        }
    }

    fn most_similar(&self, block: &DiffBlock, least: f64) -> Option<LineMatch> {
        let LineBounds { start, end } = self.bounds(block);
        let reach = end.saturating_add(block.search.split('\n').count());
        let lines = self.edited.lines();
        let near = lines.get(start..reach.min(lines.len())).unwrap_or_default();
        NormalizedLines::new(near.iter().map(String::as_str))
            .find_similar(&block.search, LineBounds { start: 0, end: end.saturating_sub(start) })
            .filter(|found| found.similarity >= least)
            .map(|found| LineMatch { line: found.line + start, ..found })
    }

    fn bounds(&self, block: &DiffBlock) -> LineBounds {
        let count = self.edited.lines().len();
        if block.start_line == 0 {
            return LineBounds { start: 0, end: count };
        }
        let height = block.search.split('\n').count();
        let start = block.start_line.saturating_sub(self.tolerance.lines + 1);
        let end = block.start_line.saturating_add(height + self.tolerance.lines).min(count);
        LineBounds { start, end }
    }

    fn replace(&mut self, Target { line, likeness, block }: &Target) -> Result<(), BlockError> {
        let given: Vec<&str> = block.search.split('\n').collect();
        let new: Vec<&str> =
            if block.replace.is_empty() { Vec::new() } else { block.replace.split('\n').collect() };
        let count = self.edited.lines().len();
        let range: Range<usize> = (*line).min(count)..line.saturating_add(given.len()).min(count);
        let found: Vec<&str> = self
            .edited
            .lines()
            .get(range.clone())
            .unwrap_or_default()
            .iter()
            .map(String::as_str)
            .collect();
        let lines = match likeness {
            Some(Likeness::Exact) => Some(new.iter().map(|line| (*line).to_owned()).collect()),
            Some(_) => indent::reindented(&given, &found, &new),
            // Of lines that are only similar, the first says how deep they are.
            None => indent::reindented(
                given.get(..1).unwrap_or_default(),
                found.get(..1).unwrap_or_default(),
                &new,
            ),
        };
        let Some(lines) = lines else {
            let text = found.join("\n");
            return Err(no_match(block, Miss::Indentation { line: line + 1, text }));
        };
        if self.edited.replace(range, lines) { Ok(()) } else { Err(BlockError::Identical) }
    }

    fn nowhere(&self, block: &DiffBlock) -> BlockError {
        let height = block.search.split('\n').count();
        let best = self.most_similar(block, 0.0);
        let centre = best.map_or(block.start_line.saturating_sub(1), |found| found.line);
        let lines = self.edited.lines();
        let text = |found: LineMatch| {
            lines
                .get(found.line..(found.line + height).min(lines.len()))
                .unwrap_or_default()
                .join("\n")
        };
        let wanted: Vec<&str> = block.search.split('\n').collect();
        let elsewhere = places(lines, &wanted, Likeness::Exact, 0..lines.len());
        no_match(
            block,
            Miss::Nowhere {
                elsewhere: elsewhere.iter().map(|line| line + 1).collect(),
                best: best.map(|found| (found.line + 1, found.similarity, text(found))),
                needed: self.tolerance.similarity,
                surroundings: miss::numbered(
                    lines,
                    centre.saturating_sub(SURROUNDING_LINES / 2),
                    height + SURROUNDING_LINES,
                ),
            },
        )
    }
}

fn no_match(block: &DiffBlock, why: Miss) -> BlockError {
    let DiffBlock { start_line, search, .. } = block.clone();
    BlockError::NoMatch(Box::new(NoMatch { search, start_line, why }))
}

/// Takes the blank lines off that both parts begin with.
fn without_leading_blank_lines(block: &DiffBlock) -> DiffBlock {
    let strict = |text: &str| {
        let blank = text.split('\n').take_while(|line| blank::trim(line).is_empty()).count();
        text.split('\n').skip(blank).collect::<Vec<_>>().join("\n")
    };
    DiffBlock {
        start_line: block.start_line,
        search: strict(&block.search),
        replace: strict(&block.replace),
    }
}

/// Takes off the line numbers of `read_file` where every line has one; the first of them is the
/// start line where none is given.
fn without_numbers(block: &DiffBlock) -> DiffBlock {
    let DiffBlock { start_line, search, replace } = block;
    let is_numbered = blank::is_numbered(search)
        && (blank::is_numbered(replace) || blank::trim(replace).is_empty());
    if !is_numbered {
        return block.clone();
    }
    let start_line = match start_line {
        0 => blank::first_number(search).unwrap_or_default(),
        line => *line,
    };
    let [search, replace] = [search, replace].map(|text| blank::strip_numbers(text));
    DiffBlock { start_line, search, replace }
}

#[cfg(test)]
mod tests {
    use super::{AppliedDiff, BlockError, ChangedRange, DiffError, Tolerance, apply, apply_with};
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
                && text.contains("\n3 | three\n"),
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

    /// What became of a block: the new text, or the lines of a refusal.
    fn landed(original: &str, diff: &str) -> Result<String, Vec<usize>> {
        match apply(original, diff) {
            Ok(applied) => Ok(applied.content),
            Err(DiffError::NoBlockFits(failed)) => match failed.as_slice() {
                [BlockError::NoMatch(miss)] => match &miss.why {
                    Miss::Several { lines, .. } => Err(lines.clone()),
                    Miss::Indentation { line, .. } => Err(vec![*line]),
                    Miss::Nowhere { .. } | Miss::Placeholder { .. } => Err(vec![]),
                },
                _ => Err(vec![]),
            },
            Err(DiffError::Parse(_)) => Err(vec![]),
        }
    }

    const FUNCTIONS: &str = "def a():\n    if 1:\n        if 2:\n            return None\n    \
                             else:\n        return None\n\n\ndef z():\n    return None\n";

    #[test]
    fn text_found_letter_for_letter_comes_first() {
        let edit = block(":start_line:9\n-------\n", "    return None", "    return 2");
        let expected = FUNCTIONS.replace("z():\n    return None", "z():\n    return 2");
        assert_eq!(landed(FUNCTIONS, &edit), Ok(expected.clone()));
        assert_eq!(landed(FUNCTIONS, &block("", "    return None", "    return 2")), Ok(expected));
        let nested = "a\nb\n        return x\nc\nd\ne\n    return x\nf\ng\nh\n    return x\n";
        assert_eq!(
            landed(nested, &block("", "        return x", "        return y")),
            Ok(nested.replacen("return x", "return y", 1))
        );
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
    fn of_several_places_the_one_at_the_start_line_is_meant_or_none() {
        let file = "x\na\nx\nb\nc\nx\nd\ne\nf\ng\nx\n";
        let at = |line: usize| block(&format!(":start_line:{line}\n-------\n"), "x", "y");
        let changed = |line: usize| {
            let lines = file.lines().enumerate();
            lines
                .map(|(at, text)| if at + 1 == line { "y\n".into() } else { format!("{text}\n") })
                .collect::<String>()
        };
        for (line, expected) in [(1, 1), (3, 3), (4, 3), (5, 6), (6, 6), (7, 6), (11, 11), (14, 11)]
        {
            assert_eq!(landed(file, &at(line)), Ok(changed(expected)), "{line}");
        }
        // Equally near, too far from each, or without a line.
        assert_eq!(landed(file, &at(2)), Err(vec![1, 3, 6, 11]));
        assert_eq!(landed(file, &at(20)), Err(vec![1, 3, 6, 11]));
        assert_eq!(landed(file, &block("", "x", "y")), Err(vec![1, 3, 6, 11]));
        // Where blanks differ it is no other.
        assert_eq!(landed("  x\na\n\tx\n", &block("", "x", "y")), Err(vec![1, 3]));
        assert_eq!(landed("  x\na\n\tx\n", &at(3)), Ok("  x\na\n\ty\n".into()));
        // One alone may be far from its line.
        assert_eq!(landed("a\nx\n", &at(40)), Ok("a\ny\n".into()));
    }

    #[test]
    fn a_refusal_names_the_lines_and_what_to_write() {
        let Err(DiffError::NoBlockFits(failed)) = apply("x\na\nx\n", &block("", "x", "y")) else {
            panic!("one of two places was taken");
        };
        assert_eq!(
            failed.first().unwrap().to_string(),
            "this SEARCH part stands at lines 1 and 3. Write `:start_line:N` with the first line \
             of the one that is meant, or more lines around it:\nx"
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
        let class =
            "class R:\n    def __init__(self, s):\n        self.a = s\n        self.b = s\n";
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
}
