//! A part of a file with line numbers: chosen by line ([`slice`]) here, by indentation in
//! `indentation`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Longest line shown, in UTF-16 units as models' peers count them; a longer one ends in `...`.
pub const LINE_LIMIT: usize = 2000;

/// Lines of a file, in order and without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileView<'a> {
    /// Number of the first line shown, counted from 1.
    pub first: usize,
    /// The lines shown, without line ends.
    pub lines: Vec<&'a str>,
    /// Lines of the whole file; a final line end starts an empty last line.
    pub total_lines: usize,
    /// True when a limit may have kept lines out.
    pub truncated: bool,
}

/// The requested place is not in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfRange {
    /// The requested first line lies behind the last.
    #[error("Error: offset {offset} is beyond file end ({total_lines} lines)")]
    Offset {
        /// The requested first line.
        offset: usize,
        /// Lines of the file.
        total_lines: usize,
    },
    /// The anchor is not a line of the file.
    #[error("Error: anchor_line {anchor_line} is out of range (1-{total_lines})")]
    Anchor {
        /// The requested line.
        anchor_line: usize,
        /// Lines of the file.
        total_lines: usize,
    },
}

/// Returns every line of a text, the empty one behind a final line end included.
pub fn lines_of(text: &str) -> Vec<&str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// Shows `limit` lines from line `offset`, counted from 1.
///
/// # Errors
/// When the file has no such line.
pub fn slice(text: &str, offset: usize, limit: usize) -> Result<FileView<'_>, OutOfRange> {
    let all = lines_of(text);
    let total_lines = all.len();
    let start = offset.saturating_sub(1);
    if start >= total_lines {
        return Err(OutOfRange::Offset { offset, total_lines });
    }
    let end = start.saturating_add(limit).min(total_lines);
    let lines = all.get(start..end).unwrap_or_default().to_vec();
    Ok(FileView { first: start + 1, lines, total_lines, truncated: end < total_lines })
}

impl FileView<'_> {
    /// Returns the number of the last line shown.
    pub fn last(&self) -> usize {
        (self.first + self.lines.len()).saturating_sub(1)
    }

    /// Returns the numbers of the first line shown and the last; `None` where none is shown.
    pub fn range(&self) -> Option<(usize, usize)> {
        (!self.lines.is_empty()).then(|| (self.first, self.last()))
    }

    /// Returns the lines with their numbers, right-aligned to the widest.
    pub fn render(&self) -> String {
        let width = self.last().to_string().len();
        let mut text =
            String::with_capacity(self.lines.iter().map(|line| line.len() + width + 4).sum());
        for (at, line) in self.lines.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            let _ = write!(text, "{end}{:>width$} | {}", self.first + at, shorten(line));
        }
        text
    }

    /// Drops lines from the end until the rest takes at most `limit_bytes`; one line always stays.
    pub fn fit(&mut self, limit_bytes: usize) {
        let mut left = limit_bytes;
        let around = self.last().to_string().len() + " | \n".len();
        let fitting = self.lines.iter().take_while(|line| {
            let taken = shorten(line).len() + around;
            let fits = taken <= left;
            left = left.saturating_sub(taken);
            fits
        });
        let keep = fitting.count().max(1);
        if keep < self.lines.len() {
            self.lines.truncate(keep);
            self.truncated = true;
        }
    }
}

/// Returns true for a line that is not shown whole.
pub fn is_cut(line: &str) -> bool {
    line.len() > LINE_LIMIT && line.encode_utf16().count() > LINE_LIMIT
}

/// Returns how many characters of a line that is cut are shown.
pub fn shown_chars(line: &str) -> usize {
    let mut left = LINE_LIMIT - 3;
    line.chars()
        .take_while(|letter| {
            let fits = letter.len_utf16() <= left;
            left = left.saturating_sub(letter.len_utf16());
            fits
        })
        .count()
}

fn shorten(line: &str) -> Cow<'_, str> {
    if !is_cut(line) {
        return Cow::Borrowed(line);
    }
    let head: String = line.chars().take(shown_chars(line)).collect();
    Cow::Owned(format!("{head}..."))
}

#[cfg(test)]
mod tests {
    use super::{LINE_LIMIT, OutOfRange, slice};
    use pretty_assertions::assert_eq;

    #[test]
    fn numbers_the_lines_asked_for() {
        let text: String = (1..=10).map(|line| format!("l{line}\r\n")).collect();
        let view = slice(&text, 9, 2).unwrap();
        assert_eq!(view.render(), " 9 | l9\n10 | l10");
        assert_eq!((view.total_lines, view.last(), view.truncated), (11, 10, true));
        assert_eq!(
            slice(&text, 11, 5).map(|view| (view.render(), view.truncated)),
            Ok(("11 | ".to_owned(), false))
        );
        assert_eq!(slice(&text, 12, 5), Err(OutOfRange::Offset { offset: 12, total_lines: 11 }));
        assert_eq!(slice("", 1, 5).map(|view| view.render()), Ok("1 | ".to_owned()));
    }

    #[test]
    fn cuts_long_lines_between_characters() {
        for (line, expected_len) in [
            ("x".repeat(LINE_LIMIT), LINE_LIMIT),
            ("x".repeat(LINE_LIMIT + 1), LINE_LIMIT),
            ("é".repeat(5000), 3997),
        ] {
            let shown = slice(&line, 1, 1).unwrap().render();
            assert_eq!(shown.len(), expected_len + "1 | ".len());
        }
    }

    #[test]
    fn fits_into_a_size() {
        let text = "0123456789\n".repeat(100);
        let mut view = slice(&text, 1, 2000).unwrap();
        view.fit(180);
        assert_eq!((view.lines.len(), view.truncated), (10, true));
        assert!(view.render().len() <= 180);
        view.fit(1);
        assert_eq!(view.lines.len(), 1);
    }
}
