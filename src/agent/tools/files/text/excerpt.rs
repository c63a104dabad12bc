//! What an answer repeats of lines that were sent, and shows of a file where they do not fit:
//! bounded in lines and bytes, so that a long line never comes whole into a conversation.
//!
//! In: lines. Out: their beginning, with what is left out counted. Pure.

use std::fmt::{Display, Write as _};

use crate::tools::files::text::echo::cut;
use locum_base::text::{counted, head};

/// Most bytes shown of one line.
pub(crate) const LINE_LIMIT_BYTES: usize = 300;

/// Most bytes of lines that were sent and are repeated.
pub(crate) const SENT_LIMIT_BYTES: usize = 2 * 1024;

/// Most bytes of the lines of the file that are most like them.
pub(crate) const LIKE_LIMIT_BYTES: usize = 4 * 1024;

/// Most bytes of the lines of the file around a place.
pub(crate) const AROUND_LIMIT_BYTES: usize = 8 * 1024;

/// Most bytes of several messages together that are shown whole; a first one that is longer is
/// bounded itself.
const TOGETHER_LIMIT_BYTES: usize = 8 * 1024;

/// Most messages of which only the beginning is shown, where there is no room for more.
const NAMED_LIMIT: usize = 40;

/// Lines of such a beginning.
const NAMED_LINES: usize = 2;

/// Most bytes of each of them.
const NAMED_LIMIT_BYTES: usize = 80;

/// Returns lines, and says how many do not fit. `other` has the lines that they are compared with:
/// of a long line, what is other than there is shown.
pub(crate) fn excerpt(text: &str, other: Option<&str>, limit_bytes: usize) -> String {
    let mut shown = String::new();
    let mut others = other.map(|other| other.split('\n'));
    let mut lines = text.split('\n');
    let mut left = 0;
    for line in lines.by_ref() {
        let other = others.as_mut().and_then(Iterator::next);
        let line = cut(line, other, LINE_LIMIT_BYTES);
        if !shown.is_empty() && shown.len() + line.len() > limit_bytes {
            left = 1;
            break;
        }
        shown.push_str(&line);
        shown.push('\n');
    }
    left += lines.count();
    shown.pop();
    if left > 0 {
        let _ = write!(shown, "\n[{} more]", counted(left, "line"));
    }
    shown
}

/// Returns messages one below the other: as many as there is room for, but the first always, and of
/// the others how they begin.
pub(crate) fn together<M: Display>(messages: &[M]) -> String {
    let mut text = String::new();
    let mut short = 0;
    for message in messages {
        let whole = message.to_string();
        let is_short = !text.is_empty() && text.len() + whole.len() > TOGETHER_LIMIT_BYTES;
        short += usize::from(is_short);
        if short > NAMED_LIMIT {
            continue;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if is_short {
            for line in whole.lines().take(NAMED_LINES) {
                let _ = write!(text, "{} ", head(line, NAMED_LIMIT_BYTES));
            }
            text.push_str("[...]");
        } else {
            text.push_str(&whole);
        }
    }
    if short > NAMED_LIMIT {
        let _ = write!(text, "\n\n[{} more do not fit either]", short - NAMED_LIMIT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{AROUND_LIMIT_BYTES, excerpt, together};
    use pretty_assertions::assert_eq;

    #[test]
    fn lines_are_shown_as_they_are_and_long_ones_where_they_differ() {
        for text in ["", "a", "a\n\nb", "a\n"] {
            assert_eq!(excerpt(text, None, AROUND_LIMIT_BYTES), text, "{text:?}");
        }
        let line = |word: &str| format!("{}{word}{}", "x".repeat(2_000), "y".repeat(2_000));
        let (one, other) = (line("ONE"), line("OTHER"));
        let shown = excerpt(&format!("a\n{one}"), Some(&format!("a\n{other}")), AROUND_LIMIT_BYTES);
        assert!(shown.contains("ONE") && shown.len() < 400, "{shown}");
        let shown = excerpt(&one, None, AROUND_LIMIT_BYTES);
        assert!(shown.ends_with("x...") && shown.len() < 400, "{shown}");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let many = vec!["x".repeat(100); 500].join("\n");
        let shown = excerpt(&many, None, AROUND_LIMIT_BYTES);
        assert!(shown.len() < AROUND_LIMIT_BYTES + 50, "{}", shown.len());
        assert!(shown.ends_with("\n[419 lines more]"), "{shown}");
    }

    #[test]
    fn of_many_messages_all_are_named_as_long_as_there_is_room() {
        assert_eq!(together(&["a\nb", "c"]), "a\nb\n\nc");
        let long = |name: usize| format!("no place {name}:\nline {name}\n{}", "x".repeat(3_000));
        let four: Vec<String> = (1..=4).map(long).collect();
        let text = together(&four);
        assert!(text.contains("\n\nno place 3: line 3 [...]\n\nno place 4:"), "{text}");
        let many: Vec<String> = (1..=500).map(long).collect();
        let text = together(&many);
        assert!(text.len() < 24 * 1024 && text.ends_with("more do not fit either]"), "{text}");
    }
}
