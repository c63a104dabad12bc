//! `apply_diff`: search/replace blocks on one file, found by text and, where given, by line.
//!
//! [`apply`] is pure: the file's text and the diff in, the new text and what became of each block
//! out. A block that does not fit is reported beside those that do; nothing is changed when none
//! fits.

pub mod blank;
pub mod indent;
pub mod matching;
pub mod parse;
pub mod tool;

use std::fmt::Write;

use crate::tools::files::apply_diff::matching::{LineBounds, LineMatch, NormalizedLines};
use crate::tools::files::apply_diff::parse::{DiffBlock, DiffParseError};

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
    /// The places that changed, in the order they were applied; lines of the text as it was right
    /// after.
    pub changed: Vec<ChangedRange>,
    /// The blocks that did not fit.
    pub failed: Vec<BlockError>,
}

/// A place of the new text that a block wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedRange {
    /// First line, counted from 1.
    pub line: usize,
    /// Lines taken out.
    pub removed: usize,
    /// Lines put in.
    pub added: usize,
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
    /// Search and replacement are the same text.
    #[error("a block's SEARCH and REPLACE parts are the same, so it would change nothing")]
    Identical,
    /// There is nothing to search for.
    #[error("a block's SEARCH part is empty; give the lines to replace")]
    EmptySearch,
    /// The file holds no such lines.
    #[error("{0}")]
    NoMatch(Box<NoMatch>),
}

/// A search that found nothing, described so that the next try can be right.
#[derive(Clone, Debug, PartialEq)]
pub struct NoMatch {
    /// The text looked for.
    pub search: String,
    /// Where it was to be, counted from 1; 0 when not given.
    pub start_line: usize,
    /// The most similar lines: first line counted from 1, similarity 0.0 to 1.0, text.
    pub best: Option<(usize, f64, String)>,
    /// Similarity it had to reach.
    pub needed: f64,
    /// The file around the place, numbered.
    pub surroundings: String,
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
    if file.changed.is_empty() {
        Err(DiffError::NoBlockFits(failed))
    } else {
        Ok(file.finish(failed))
    }
}

/// The file while blocks are applied to it, one after another.
struct TargetText {
    lines: Vec<String>,
    comparable: NormalizedLines,
    line_end: &'static str,
    tolerance: Tolerance,
    /// Lines added so far less lines removed: later start lines move by it.
    moved: isize,
    changed: Vec<ChangedRange>,
}

impl TargetText {
    fn new(original: &str, tolerance: Tolerance) -> Self {
        let lines: Vec<String> = blank::lines(original).map(ToOwned::to_owned).collect();
        let line_end = if original.contains("\r\n") { "\r\n" } else { "\n" };
        let comparable = NormalizedLines::new(lines.iter().map(String::as_str));
        Self { lines, comparable, line_end, tolerance, moved: 0, changed: Vec::new() }
    }

    fn apply(&mut self, block: DiffBlock) -> Result<(), BlockError> {
        let block = self.placed(block);
        if block.search == block.replace {
            return Err(BlockError::Identical);
        }
        if block.search.is_empty() {
            return Err(BlockError::EmptySearch);
        }
        if let Some(line) = self.find(&block) {
            self.replace(line, &block);
            return Ok(());
        }
        let bare = DiffBlock {
            start_line: block.start_line,
            search: blank::strip_number_remains(&block.search),
            replace: blank::strip_number_remains(&block.replace),
        };
        match self.find_near(&bare) {
            Some(line) => {
                self.replace(line, &bare);
                Ok(())
            }
            None => Err(BlockError::NoMatch(Box::new(self.no_match(&block)))),
        }
    }

    /// Moves the start line with the changes made so far, and takes copied line numbers for what
    /// they are.
    fn placed(&self, block: DiffBlock) -> DiffBlock {
        let DiffBlock { mut start_line, mut search, mut replace } = block;
        if start_line > 0 {
            start_line = start_line.saturating_add_signed(self.moved).max(1);
        }
        if blank::is_numbered(&search)
            && (blank::is_numbered(&replace) || blank::trim(&replace).is_empty())
        {
            if start_line == 0 {
                start_line = blank::first_number(&search).unwrap_or_default();
            }
            search = blank::strip_numbers(&search);
            replace = blank::strip_numbers(&replace);
        }
        DiffBlock { start_line, search, replace }
    }

    /// Looks at the start line first, then near it or, without one, everywhere.
    fn find(&self, block: &DiffBlock) -> Option<usize> {
        let exact = block.start_line.checked_sub(1);
        exact
            .filter(|line| {
                self.comparable.matches_at(*line, &block.search, self.tolerance.similarity)
            })
            .or_else(|| self.find_near(block))
    }

    fn find_near(&self, block: &DiffBlock) -> Option<usize> {
        let bounds = self.bounds(block);
        if let Some(found) = self.comparable.find_equal(&block.search, bounds) {
            return Some(found.line);
        }
        if self.tolerance.similarity >= 1.0 {
            return None;
        }
        let found = self.comparable.find_similar(&block.search, bounds)?;
        (found.similarity >= self.tolerance.similarity).then_some(found.line)
    }

    fn bounds(&self, block: &DiffBlock) -> LineBounds {
        if block.start_line == 0 {
            return LineBounds { start: 0, end: self.lines.len() };
        }
        let height = block.search.split('\n').count();
        let start = block.start_line.saturating_sub(self.tolerance.lines + 1);
        let end =
            block.start_line.saturating_add(height + self.tolerance.lines).min(self.lines.len());
        LineBounds { start, end }
    }

    fn replace(&mut self, line: usize, block: &DiffBlock) {
        let search: Vec<&str> = block.search.split('\n').collect();
        let replacement: Vec<&str> =
            if block.replace.is_empty() { Vec::new() } else { block.replace.split('\n').collect() };
        let line = line.min(self.lines.len());
        let end = line.saturating_add(search.len()).min(self.lines.len());
        let matched_first = self.lines.get(line).map_or("", String::as_str);
        let new = indent::reindent(
            &replacement,
            search.first().copied().unwrap_or_default(),
            matched_first,
        );
        let (removed, added) = (end - line, new.len());
        self.comparable.splice(line, removed, &new);
        self.lines.splice(line..end, new);
        self.moved = self.moved.saturating_add_unsigned(added).saturating_sub_unsigned(removed);
        self.changed.push(ChangedRange { line: line + 1, removed, added });
    }

    fn no_match(&self, block: &DiffBlock) -> NoMatch {
        let height = block.search.split('\n').count();
        let best = self.comparable.find_similar(&block.search, self.bounds(block));
        let centre = best.map_or(block.start_line.saturating_sub(1), |found| found.line);
        let text = |found: LineMatch| {
            self.lines
                .get(found.line..(found.line + height).min(self.lines.len()))
                .unwrap_or_default()
                .join("\n")
        };
        NoMatch {
            search: block.search.clone(),
            start_line: block.start_line,
            best: best.map(|found| (found.line + 1, found.similarity, text(found))),
            needed: self.tolerance.similarity,
            surroundings: self
                .numbered(centre.saturating_sub(SURROUNDING_LINES / 2), height + SURROUNDING_LINES),
        }
    }

    fn numbered(&self, start: usize, count: usize) -> String {
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate().skip(start).take(count) {
            let _ = writeln!(text, "{} | {line}", at + 1);
        }
        text
    }

    fn finish(self, failed: Vec<BlockError>) -> AppliedDiff {
        AppliedDiff { content: self.lines.join(self.line_end), changed: self.changed, failed }
    }
}

impl std::fmt::Display for NoMatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.start_line {
            0 => formatter.write_str("no lines of the file match this SEARCH part")?,
            line => write!(formatter, "no lines near line {line} match this SEARCH part")?,
        }
        write!(formatter, " (letter case counts, blanks do not):\n{}\n", self.search)?;
        if let Some((line, similarity, text)) = &self.best {
            write!(
                formatter,
                "\nMost similar, {:.0}% of the {:.0}% needed, at line {line}:\n{text}\n",
                similarity * 100.0,
                self.needed * 100.0
            )?;
        }
        if self.surroundings.is_empty() {
            formatter.write_str("\nThe file has no lines there.")
        } else {
            write!(formatter, "\nThe file there:\n{}", self.surroundings.trim_end_matches('\n'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AppliedDiff, BlockError, ChangedRange, DiffError, Tolerance, apply, apply_with};
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
}
