//! What a model is shown of texts that others wrote: of the output of a command, and of names that
//! it made up itself.
//!
//! In: text. Out: text without the escape sequences of terminals, with every other character
//! spelled out that would show nothing or reorder what is shown; the beginning of a name. Pure.

use std::fmt::Write as _;

use locum_base::secret::view::{is_invisible, without_escapes};
use locum_base::text::head;

/// Most bytes of a name that a model wrote and that a message repeats.
const NAME_LIMIT_BYTES: usize = 200;

/// Returns a name that a model wrote, as far as a message repeats it.
pub(crate) fn shown_name(name: &str) -> &str {
    head(name.trim(), NAME_LIMIT_BYTES)
}

/// Returns an output in which nothing hides: `(U+202E)`, and `(U+0000, 40 times)` for a run.
pub(crate) fn shown_output(text: &str) -> String {
    if !text.contains(|letter: char| letter == '\r' || is_hidden(letter)) {
        return text.to_owned();
    }
    let plain = without_escapes(text);
    let mut shown = String::with_capacity(plain.len());
    let mut letters = plain.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => {
                // Progress that is written over itself is shown line by line.
                while letters.next_if_eq(&'\r').is_some() {}
                letters.next_if_eq(&'\n');
                shown.push('\n');
            }
            letter if is_hidden(letter) => {
                let mut count = 1;
                while letters.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                // NOTE: writing to a String cannot fail.
                let _ = write!(shown, "(U+{:04X}", u32::from(letter));
                let _ = match count {
                    1 => write!(shown, ")"),
                    count => write!(shown, ", {count} times)"),
                };
            }
            letter => shown.push(letter),
        }
    }
    shown
}

/// Whether a character is a control or shows nothing. What joins the letters of scripts and the
/// parts of emoji is a part of what is shown.
fn is_hidden(letter: char) -> bool {
    let is_shown = matches!(letter, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}');
    let hides =
        letter.is_control() || is_invisible(letter) || matches!(letter, '\u{2028}' | '\u{2029}');
    hides && !is_shown
}

#[cfg(test)]
mod tests {
    use super::shown_output;
    use pretty_assertions::assert_eq;

    #[test]
    fn nothing_hides_in_an_output() {
        for (text, expected) in [
            ("a\tb\nc é \u{1f468}\u{200d}\u{1f467}\n", "a\tb\nc é \u{1f468}\u{200d}\u{1f467}\n"),
            ("\u{1b}[31mred\u{1b}[0m\n", "red\n"),
            ("a\0b\u{8}c\u{202e}d\u{feff}", "a(U+0000)b(U+0008)c(U+202E)d(U+FEFF)"),
            ("\0\0\0x\0", "(U+0000, 3 times)x(U+0000)"),
            ("1%\r2%\r\nend\r\r\n", "1%\n2%\nend\n"),
            ("tag\u{e0041}", "tag(U+E0041)"),
        ] {
            assert_eq!(shown_output(text), expected, "{text:?}");
        }
        assert!(shown_output(&"\0".repeat(1 << 20)).len() < 40);
    }
}
