//! Bounded text: what is too long is cut in the middle, at a line where one is near, and says how
//! much is missing. Text on one line, and lists of names.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// A text of at most a given size and what was left out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClippedText {
    /// The text, with a line in place of what was left out.
    pub text: String,
    /// Bytes left out; 0 when the text is whole.
    pub omitted_bytes: usize,
}

impl ClippedText {
    /// Keeps the first and last half of `limit_bytes`; the line that says what is missing comes on
    /// top of it.
    pub fn head_tail(text: &str, limit_bytes: usize) -> Self {
        Self::shortened(text, (limit_bytes, 0), "")
    }

    /// As [`ClippedText::head_tail`], for a text whose middle may lack bytes already, as a line in
    /// it says: they count with those that are left out here. The one line for both ends in `note`.
    pub fn shortened(text: &str, (limit_bytes, lost_bytes): (usize, usize), note: &str) -> Self {
        if text.len() <= limit_bytes {
            return Self { text: text.to_owned(), omitted_bytes: 0 };
        }
        let half = limit_bytes / 2;
        let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
        let head = head(text, half);
        let head = head
            .rfind('\n')
            .filter(|at| half - at < half / 4)
            .and_then(|at| head.get(..=at))
            .unwrap_or(head);
        let tail = tail
            .find('\n')
            .filter(|at| *at < half / 4)
            .and_then(|at| tail.get(at + 1..))
            .unwrap_or(tail);
        let left_out = text.len() - head.len() - tail.len();
        let said = if lost_bytes == 0 { 0 } else { left_out_line(lost_bytes, "").len() };
        Self::ends_noting((head, tail), (left_out + lost_bytes).saturating_sub(said), note)
    }

    /// Returns two ends of a text with a line between them that says what is missing.
    pub fn ends(head: &str, tail: &str, omitted_bytes: usize) -> Self {
        Self::ends_noting((head, tail), omitted_bytes, "")
    }

    fn ends_noting((head, tail): (&str, &str), omitted_bytes: usize, note: &str) -> Self {
        let gap = if head.ends_with('\n') || head.is_empty() { "" } else { "\n" };
        let text = format!("{head}{gap}{}{tail}", left_out_line(omitted_bytes, note));
        Self { text, omitted_bytes }
    }
}

/// Returns the line that says what is missing.
fn left_out_line(bytes: usize, note: &str) -> String {
    format!("[... {bytes} bytes left out{note} ...]\n")
}

/// Returns the bytes of a text, those of letters outside ASCII counted twice: a token holds about
/// four bytes of English or of code, and of most other writing two or fewer. Used where sizes are
/// estimated.
pub fn weighed_bytes(text: &str) -> usize {
    // Blocks whose sum fits a byte: the machine then adds many bytes at once, and whole
    // conversations are weighed.
    let marks = |block: &[u8]| usize::from(block.iter().map(|byte| byte >> 7).sum::<u8>());
    text.len() + text.as_bytes().chunks(usize::from(u8::MAX)).map(marks).sum::<usize>()
}

/// Returns a number with what is counted: `1 file`, `2 files`. For words that take an `s`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns the first `limit_bytes` of a text at most, cut between characters.
pub fn head(text: &str, limit_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(limit_bytes)).unwrap_or_default()
}

/// Returns the last lines of a text, at most so many lines and bytes, cut between characters.
pub fn tail_lines(text: &str, limit_lines: usize, limit_bytes: usize) -> &str {
    let text = text.trim_end();
    let from = text.ceil_char_boundary(text.len().saturating_sub(limit_bytes));
    let tail = text.get(from..).unwrap_or_default();
    // A line that is cut is left out, unless it is the only one.
    let tail = match tail.split_once('\n') {
        Some((_, whole)) if from > 0 => whole,
        Some(_) | None => tail,
    };
    match tail.rmatch_indices('\n').nth(limit_lines.saturating_sub(1)) {
        Some((at, _)) => tail.get(at + 1..).unwrap_or_default(),
        None => tail,
    }
}

/// Returns a text on one line: its words with single blanks between them.
pub fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Joins names as `a`, `b`, `c`.
pub fn code_list<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_end_of_a_text_is_whole_lines() {
        let text = "one\ntwo\nthree\n\n";
        for (lines, bytes, expected) in [
            (9, 99, "one\ntwo\nthree"),
            (2, 99, "two\nthree"),
            (1, 99, "three"),
            (9, 11, "two\nthree"),
            (9, 8, "three"),
            (9, 3, "ree"),
        ] {
            assert_eq!(super::tail_lines(text, lines, bytes), expected, "{lines} {bytes}");
        }
        assert_eq!(super::tail_lines("äöü", 9, 3), "ü");
        assert_eq!(super::tail_lines("", 9, 3), "");
    }

    #[test]
    fn other_writing_weighs_more_than_its_bytes() {
        // Tokens at four weighed bytes each, beside what common tokenizers make of it.
        for (text, least_tokens) in [
            ("fn main() {}", 3),
            ("你好，世界", 5),
            ("こんにちは世界", 5),
            ("😀😃😄", 6),
            ("Привет, мир", 4),
            ("안녕하세요", 5),
        ] {
            assert!(super::weighed_bytes(text).div_ceil(4) >= least_tokens, "{text}");
        }
        assert_eq!(super::weighed_bytes("plain"), 5);
        assert_eq!(super::weighed_bytes(&"é".repeat(1000)), 4000, "longer than a block");
    }

    use super::{ClippedText, head};
    use pretty_assertions::assert_eq;

    #[test]
    fn keeps_short_text_whole() {
        assert_eq!(
            ClippedText::head_tail("ab\ncd", 5),
            ClippedText { text: "ab\ncd".into(), omitted_bytes: 0 }
        );
    }

    #[test]
    fn keeps_both_ends_of_long_text() {
        let clipped = ClippedText::head_tail(&format!("start\n{}\nend", "x".repeat(1000)), 20);
        assert_eq!(clipped.omitted_bytes, 990);
        assert!(
            clipped.text.starts_with("start\n") && clipped.text.ends_with("end"),
            "{}",
            clipped.text
        );
    }

    #[test]
    fn never_cuts_a_character() {
        assert_eq!(head("aé", 2), "a");
        assert!(ClippedText::head_tail(&"é".repeat(100), 21).text.contains("bytes left out"));
    }
}
