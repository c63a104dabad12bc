//! Text as it is seen: line ends made one, terminal colours, control and invisible characters left
//! out.

use locum_base::secret::view::{escape_length, is_invisible};

/// Returns the text with nothing in it that a reader cannot see.
pub(super) fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(letter) = rest.chars().next() else { break };
        at += match letter {
            '\u{1b}' => escape_length(rest).max(1),
            _ => letter.len_utf8(),
        };
        match letter {
            '\r' if rest.starts_with("\r\n") => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => seen.push('\n'),
            '\n' | '\t' => seen.push(letter),
            // Chooses the coloured form of a symbol; a row of them would carry data.
            '\u{fe0f}' if !seen.ends_with('\u{fe0f}') => seen.push(letter),
            '\u{fe0f}' => {}
            _ if letter.is_control() || is_invisible(letter) => {}
            _ => seen.push(letter),
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::visible;
    use pretty_assertions::assert_eq;

    #[test]
    fn leaves_out_what_nobody_sees() {
        assert_eq!(
            visible("a\u{202e}b\u{ad}c\u{200b}d\u{e0041}e\u{1b}[31mf\u{1b}[0m\u{7}g"),
            "abcdefg"
        );
        assert_eq!(visible("a\r\nb\rc\u{2028}d\te"), "a\nb\nc\nd\te");
        assert_eq!(visible("größer 日本 ❤\u{fe0f}\u{fe0f}"), "größer 日本 ❤\u{fe0f}");
        assert_eq!(visible("\u{1b}\u{1b}[0m[0m"), "[0m");
    }
}
