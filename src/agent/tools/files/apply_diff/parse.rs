//! The grammar of a diff: text with `<<<<<<< SEARCH` blocks becomes [`DiffBlock`]s, or the one
//! reason why it does not.
//!
//! In: the diff as the model wrote it. Out: blocks in order of their start line, escapes undone.
//! The file itself is not read. Markers are recognised on trimmed lines, so that a block a model
//! indented is refused rather than skipped in silence.

use crate::tools::files::text::blank::{is_blank, trim};

/// One search/replace block, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffBlock {
    /// Line of the file the search text starts at, counted from 1; 0 when not given.
    pub start_line: usize,
    /// The text to find, lines joined by `\n`.
    pub search: String,
    /// The text to put there, lines joined by `\n`; empty to delete.
    pub replace: String,
}

/// Why a text is not a diff. Lines are counted from 1 in the diff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffParseError {
    /// A line that looks like a conflict marker stands where text is expected.
    #[error(
        "line {line} of the diff: `{found}` reads as a marker where {expected} is expected; write \
         \\ in front of it if it is part of the file"
    )]
    UnescapedMarker {
        /// Line in the diff.
        line: usize,
        /// The line as written.
        found: String,
        /// What was to come.
        expected: &'static str,
    },
    /// The markers of a block are not SEARCH, `=======`, REPLACE in this order.
    #[error(
        "line {line} of the diff: found `{found}` where {expected} is expected; a block is \
         SEARCH, =======, REPLACE, each once"
    )]
    Malformed {
        /// Line in the diff.
        line: usize,
        /// The line as written.
        found: String,
        /// What was to come.
        expected: &'static str,
    },
    /// `:start_line:` or `:end_line:` stands in the replacement.
    #[error(
        "line {line} of the diff: `{marker}` belongs in the SEARCH part; write \\ in front of it \
         if it is part of the file"
    )]
    LineMarkerInReplace {
        /// Line in the diff.
        line: usize,
        /// The marker as found.
        marker: &'static str,
    },
    /// The diff ends inside a block.
    #[error("the diff ends where {expected} is expected")]
    UnexpectedEnd {
        /// What was to come.
        expected: &'static str,
    },
    /// No block was found, or a marker is indented or followed by other characters.
    #[error(
        "the diff holds no readable block; each is `<<<<<<< SEARCH`, `:start_line:N`, `-------`, \
         text, `=======`, text, `>>>>>>> REPLACE`, every marker alone on its line and not indented"
    )]
    InvalidFormat,
}

const SEARCH: &str = "<<<<<<< SEARCH";
const SEPARATOR: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";
const DASHES: &str = "-------";
const START_LINE: &str = ":start_line:";
const END_LINE: &str = ":end_line:";

/// Reads a diff into its blocks, sorted by start line; those without one come first.
///
/// # Errors
/// The first mistake found; then no block is usable.
pub fn parse(diff: &str) -> Result<Vec<DiffBlock>, DiffParseError> {
    let lines: Vec<&str> =
        diff.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let spans = check_order(&lines)?;
    if spans.is_empty() || !spans.iter().all(|span| span.is_strict(&lines)) {
        return Err(DiffParseError::InvalidFormat);
    }
    let mut blocks: Vec<DiffBlock> = spans.iter().map(|span| span.block(&lines)).collect();
    blocks.sort_by_key(|block| block.start_line);
    Ok(blocks)
}

/// The lines of one block's three markers, counted from 0.
#[derive(Clone, Copy, Debug)]
struct BlockLines {
    search: usize,
    separator: usize,
    replace: usize,
}

#[derive(Clone, Copy)]
enum ExpectedMarker {
    Search,
    Separator { search: usize },
    Replace { search: usize, separator: usize },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffMarker {
    Search,
    Separator,
    Replace,
    Foreign,
    Text,
}

impl DiffMarker {
    fn of(line: &str) -> Self {
        if line == SEARCH || line.strip_prefix(SEARCH) == Some(">") {
            Self::Search
        } else if line == SEPARATOR {
            Self::Separator
        } else if line == REPLACE {
            Self::Replace
        } else if line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") {
            Self::Foreign
        } else {
            Self::Text
        }
    }
}

fn check_order(lines: &[&str]) -> Result<Vec<BlockLines>, DiffParseError> {
    let markers: Vec<DiffMarker> = lines.iter().map(|line| DiffMarker::of(trim(line))).collect();
    let count = |wanted: DiffMarker| markers.iter().filter(|marker| **marker == wanted).count();
    let uneven = count(DiffMarker::Search) != count(DiffMarker::Replace)
        || count(DiffMarker::Separator) < count(DiffMarker::Search);

    let mut spans = Vec::new();
    let mut expecting = ExpectedMarker::Search;
    for (at, (line, marker)) in lines.iter().zip(&markers).enumerate() {
        let found = trim(line);
        let expected = expecting.name();
        let foreign =
            || DiffParseError::UnescapedMarker { line: at + 1, found: found.to_owned(), expected };
        let malformed =
            || DiffParseError::Malformed { line: at + 1, found: found.to_owned(), expected };
        expecting = match (expecting, marker) {
            (ExpectedMarker::Replace { .. }, DiffMarker::Text) => {
                if let Some(marker) =
                    [START_LINE, END_LINE].into_iter().find(|marker| found.starts_with(marker))
                {
                    return Err(DiffParseError::LineMarkerInReplace { line: at + 1, marker });
                }
                expecting
            }
            (_, DiffMarker::Text) => expecting,
            (ExpectedMarker::Search, DiffMarker::Search) => {
                ExpectedMarker::Separator { search: at }
            }
            (ExpectedMarker::Separator { search }, DiffMarker::Separator) => {
                ExpectedMarker::Replace { search, separator: at }
            }
            (ExpectedMarker::Replace { search, separator }, DiffMarker::Replace) => {
                spans.push(BlockLines { search, separator, replace: at });
                ExpectedMarker::Search
            }
            (_, DiffMarker::Foreign) => return Err(foreign()),
            (_, DiffMarker::Separator) if !uneven => return Err(foreign()),
            (_, DiffMarker::Search | DiffMarker::Separator | DiffMarker::Replace) => {
                return Err(malformed());
            }
        };
    }
    match expecting {
        ExpectedMarker::Search => Ok(spans),
        ExpectedMarker::Separator { .. } | ExpectedMarker::Replace { .. } => {
            Err(DiffParseError::UnexpectedEnd { expected: expecting.name() })
        }
    }
}

impl ExpectedMarker {
    fn name(self) -> &'static str {
        match self {
            Self::Search => "`<<<<<<< SEARCH`",
            Self::Separator { .. } => "`=======`",
            Self::Replace { .. } => "`>>>>>>> REPLACE`",
        }
    }
}

impl BlockLines {
    /// Returns true when no marker is indented; blanks may follow the first two, nothing may follow
    /// the last.
    fn is_strict(self, lines: &[&str]) -> bool {
        let line = |at: usize| lines.get(at).copied().unwrap_or_default();
        line(self.search).starts_with(SEARCH)
            && line(self.separator).starts_with(SEPARATOR)
            && line(self.replace) == REPLACE
    }

    fn block(self, lines: &[&str]) -> DiffBlock {
        let mut search = lines.get(self.search + 1..self.separator).unwrap_or_default();
        let mut start_line = 0;
        if let Some((number, rest)) = take_line_number(search, START_LINE) {
            start_line = number;
            search = rest;
        }
        if let Some((_, rest)) = take_line_number(search, END_LINE) {
            search = rest;
        }
        if let Some((first, rest)) = skip_blank(search).split_first()
            && first.strip_prefix(DASHES).is_some_and(|rest| rest.chars().all(is_blank))
        {
            search = rest;
        }
        let replace = lines.get(self.separator + 1..self.replace).unwrap_or_default();
        DiffBlock { start_line, search: unescape(search), replace: unescape(replace) }
    }
}

fn skip_blank<'a>(lines: &'a [&'a str]) -> &'a [&'a str] {
    let first = lines.iter().position(|line| !line.chars().all(is_blank)).unwrap_or(lines.len());
    lines.get(first..).unwrap_or_default()
}

/// Takes a line number off the front, and blank lines before it.
fn take_line_number<'a>(lines: &'a [&'a str], marker: &str) -> Option<(usize, &'a [&'a str])> {
    let (first, rest) = skip_blank(lines).split_first()?;
    let digits = trim(first.strip_prefix(marker)?);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().unwrap_or(usize::MAX / 2), rest))
}

/// Joins the lines of a part without their escapes. Blank lines alone are nothing: models write
/// one where nothing is to stand.
fn unescape(lines: &[&str]) -> String {
    if lines.iter().all(|line| line.chars().all(is_blank)) {
        return String::new();
    }
    let escaped = ["<<<<<<<", SEPARATOR, ">>>>>>>", DASHES, START_LINE, END_LINE];
    let plain = |line: &'_ &str| match line.strip_prefix('\\') {
        Some(rest) if escaped.iter().any(|marker| rest.trim_start().starts_with(marker)) => {
            rest.to_owned()
        }
        Some(_) | None => (*line).to_owned(),
    };
    lines.iter().map(plain).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{DiffBlock, DiffParseError, parse};
    use pretty_assertions::assert_eq;

    fn block(start_line: usize, search: &str, replace: &str) -> DiffBlock {
        DiffBlock { start_line, search: search.into(), replace: replace.into() }
    }

    #[test]
    fn reads_every_accepted_spelling() {
        for (diff, expected) in [
            ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", block(0, "a", "b")),
            (
                "<<<<<<< SEARCH>  \n:start_line: 7 \n:end_line:9\n-------  \na\n=======  \
                 \nb\n>>>>>>> REPLACE\n",
                block(7, "a", "b"),
            ),
            ("<<<<<<< SEARCH\r\na\r\n=======\r\nb\r\n>>>>>>> REPLACE\r\n", block(0, "a", "b")),
            (
                "hello\n<<<<<<< SEARCH\n\n  a\n\n=======\n\n>>>>>>> REPLACE\nbye",
                block(0, "\n  a\n", ""),
            ),
            (
                "<<<<<<< SEARCH\n\n:start_line:4\n\n-------\n\na\n=======\n\n\nb\n>>>>>>> REPLACE",
                block(4, "\na", "\n\nb"),
            ),
            (
                "<<<<<<< SEARCH\n\\  =======\n=======\n\\\t>>>>>>> a\n>>>>>>> REPLACE",
                block(0, "  =======", "\t>>>>>>> a"),
            ),
            (
                "<<<<<<< SEARCH\n\\=======\n\\\\x\n=======\n\\:end_line:\n>>>>>>> REPLACE",
                block(0, "=======\n\\\\x", ":end_line:"),
            ),
            (
                "<<<<<<< SEARCH\n:start_line:x\na\n=======\nb\n>>>>>>> REPLACE",
                block(0, ":start_line:x\na", "b"),
            ),
        ] {
            assert_eq!(parse(diff), Ok(vec![expected]), "{diff}");
        }
    }

    #[test]
    fn sorts_blocks_by_start_line_and_keeps_the_order_of_equals() {
        let one = |line: &str, text: &str| {
            format!("<<<<<<< SEARCH\n{line}-------\n{text}\n=======\nx\n>>>>>>> REPLACE\n")
        };
        let diff = [
            one(":start_line:9\n", "c"),
            one(":start_line:2\n", "a"),
            one("", "z"),
            one(":start_line:2\n", "b"),
        ]
        .concat();
        let order: Vec<String> =
            parse(&diff).unwrap().into_iter().map(|block| block.search).collect();
        assert_eq!(order, ["z", "a", "b", "c"]);
    }

    #[test]
    fn refuses_what_is_not_a_block() {
        let kind = |diff: &str| match parse(diff) {
            Ok(_) => "fine",
            Err(DiffParseError::UnescapedMarker { .. }) => "unescaped",
            Err(DiffParseError::Malformed { .. }) => "malformed",
            Err(DiffParseError::LineMarkerInReplace { .. }) => "line marker",
            Err(DiffParseError::UnexpectedEnd { .. }) => "end",
            Err(DiffParseError::InvalidFormat) => "format",
        };
        for (diff, expected) in [
            ("", "format"),
            ("just text", "format"),
            ("<<<<<<< SEARCH\na\n", "end"),
            ("<<<<<<< SEARCH\na\n=======\nb\n", "end"),
            (">>>>>>> REPLACE\n", "malformed"),
            ("<<<<<<< HEAD\n", "unescaped"),
            ("<<<<<<< SEARCH\n>>>>>>> theirs\n=======\nb\n>>>>>>> REPLACE", "unescaped"),
            ("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE", "unescaped"),
            (
                "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n>>>>>>> REPLACE",
                "malformed",
            ),
            ("<<<<<<< SEARCH\na\n=======\n:start_line:3\nb\n>>>>>>> REPLACE", "line marker"),
            ("<<<<<<< SEARCH\na\n=======\n  :end_line:3\nb\n>>>>>>> REPLACE", "line marker"),
            ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE  ", "format"),
            (
                "<<<<<<< SEARCH\na\n=======\nb\n >>>>>>> REPLACE\n<<<<<<< \
                 SEARCH\nc\n=======\nd\n>>>>>>> REPLACE",
                "format",
            ),
        ] {
            assert_eq!(kind(diff), expected, "{diff}");
        }
    }
}
