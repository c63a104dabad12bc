//! What letters behind a backslash stand for: in `$'...'`, and in what `echo` and `printf` print.
//!
//! In: a text with backslashes. Out: the letters that it means, as bash reads it. An escape that
//! means nothing stays as it is written.

use std::iter::Peekable;
use std::str::Chars;

/// Who reads a text with backslashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscapeReader {
    /// A shell, between `$'` and `'`.
    Quote,
    /// `echo`, and `printf` for a word behind its format.
    Echo,
    /// `printf`, for its format.
    Format,
}

/// Returns what a text means.
pub(crate) fn decoded(text: &str, reader: EscapeReader) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => escape(&mut letters, reader, &mut bytes),
            letter => push(letter, &mut bytes),
        }
    }
    // A quote ends at a byte 0, and a shell passes over one in what it reads.
    let ends = |byte: &u8| *byte == 0 && reader == EscapeReader::Quote;
    bytes.truncate(bytes.iter().position(ends).unwrap_or(bytes.len()));
    bytes.retain(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads what stands behind a backslash.
fn escape(letters: &mut Peekable<Chars<'_>>, reader: EscapeReader, bytes: &mut Vec<u8>) {
    let Some(letter) = letters.next() else { return bytes.push(b'\\') };
    match letter {
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        '\\' | '"' | '?' => push(letter, bytes),
        '\'' => bytes.push(b'\''),
        // What is behind it is not printed by the others; it is looked at all the same.
        'c' => {
            let control = letters.next_if(|_| reader == EscapeReader::Quote);
            bytes.extend(control.and_then(|it| u8::try_from(it).ok()).map(|it| it & 0x1f));
        }
        '0'..='7' => {
            let more = if letter == '0' && reader == EscapeReader::Echo { 3 } else { 2 };
            let first = letter.to_digit(8).unwrap_or(0);
            let number = digits(letters, 8, more)
                .map_or(first, |(number, count)| first * 8_u32.pow(count) + number);
            bytes.push(u8::try_from(number & 0xff).unwrap_or(0));
        }
        'x' => {
            let is_in_braces = letters.next_if_eq(&'{').is_some();
            let count = if is_in_braces { 8 } else { 2 };
            match digits(letters, 16, count) {
                Some((number, _)) => bytes.push(u8::try_from(number & 0xff).unwrap_or(0)),
                None => bytes.extend(b"\\x"),
            }
            letters.next_if(|letter| is_in_braces && *letter == '}');
        }
        'u' | 'U' => {
            let found = digits(letters, 16, if letter == 'u' { 4 } else { 8 });
            match found.and_then(|(number, _)| char::from_u32(number)) {
                Some(letter) => push(letter, bytes),
                None => bytes.extend([b'\\', if letter == 'u' { b'u' } else { b'U' }]),
            }
        }
        letter => {
            bytes.push(b'\\');
            push(letter, bytes);
        }
    }
}

/// Reads at most so many digits; returns the number and how many they are, `None` for none.
fn digits(letters: &mut Peekable<Chars<'_>>, radix: u32, most: u32) -> Option<(u32, u32)> {
    let (mut number, mut count) = (0_u32, 0);
    while count < most
        && let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix))
    {
        number = number.wrapping_mul(radix).wrapping_add(digit);
        count += 1;
        letters.next();
    }
    (count > 0).then_some((number, count))
}

fn push(letter: char, bytes: &mut Vec<u8>) {
    bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{EscapeReader, decoded};
    use pretty_assertions::assert_eq;

    #[test]
    fn escapes_mean_what_bash_takes_them_for() {
        use EscapeReader::{Echo, Format, Quote};
        for (text, reader, expected) in [
            ("git \\x70ush", Quote, "git push"),
            ("\\160\\165\\x73\\u0068", Quote, "push"),
            ("\\U00000070\\u70", Quote, "pp"),
            ("\\x{70}ush", Quote, "push"),
            ("\\n\\t\\r\\a\\b\\e\\E\\f\\v", Quote, "\n\t\r\u{7}\u{8}\u{1b}\u{1b}\u{c}\u{b}"),
            ("\\\\\\'\\\"\\?", Quote, "\\'\"?"),
            ("\\cJ\\z\\", Quote, "\n\\z\\"),
            ("\\xc3\\xa4\\303\\244", Quote, "ää"),
            ("\\x7g\\xg", Quote, "\u{7}g\\xg"),
            ("a\\0b", Quote, "a"),
            ("a\\0b", Echo, "ab"),
            ("\\0160", Echo, "p"),
            ("\\0160", Format, "\u{e}0"),
            ("\\160", Format, "p"),
            ("a\\cb", Format, "ab"),
            ("plain", Quote, "plain"),
        ] {
            assert_eq!(decoded(text, reader), expected, "{text}");
        }
    }
}
