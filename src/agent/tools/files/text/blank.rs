//! What counts as blank in a diff, and line numbers a model copied into it from `read_file`.

/// Returns true for blanks as JavaScript's `\s` sees them: models and their peers' tools agree on
/// these.
pub fn is_blank(letter: char) -> bool {
    letter == '\u{feff}' || (letter.is_whitespace() && letter != '\u{85}')
}

/// Returns the text without blanks at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// Splits at every line end, `\n` or `\r\n`.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// Returns true when every line starts with a number and a single `|`, as `read_file` shows them.
pub fn is_numbered(text: &str) -> bool {
    lines(text).all(|line| after_number(line).is_some())
}

/// Returns the number of the first line, where it has one.
pub fn first_number(text: &str) -> Option<usize> {
    let line = lines(text).next()?;
    after_number(line)?;
    trim(line.split('|').next()?).parse().ok()
}

/// Takes the numbers off every line that has one.
pub fn strip_numbers(text: &str) -> String {
    lines(text)
        .map(|line| {
            after_number(line).map_or(line, |rest| rest.strip_prefix(is_blank).unwrap_or(rest))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Takes off `12 | `, and also a bare `| ` where the number was lost.
pub fn strip_number_remains(text: &str) -> String {
    lines(text).map(|line| after_remains(line).unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn after_number(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(is_blank);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let gap = rest.get(digits..)?;
    let bar = gap.trim_start_matches(is_blank);
    let text = bar.strip_prefix('|')?;
    (digits > 0 && bar.len() < gap.len() && !text.starts_with('|')).then_some(text)
}

fn after_remains(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(is_blank);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if digits == 0 { rest } else { rest.get(digits..)?.strip_prefix(is_blank)? };
    rest.strip_prefix('|')?.strip_prefix(is_blank)
}

#[cfg(test)]
mod tests {
    use super::{first_number, is_numbered, strip_number_remains, strip_numbers};
    use pretty_assertions::assert_eq;

    #[test]
    fn knows_numbered_text() {
        for (text, expected) in [
            ("1 | a", true),
            (" 9 | a\n10 |b", true),
            ("1 || a", false),
            ("| 1 | a", false),
            ("1| a", false),
            ("1 | a\nb", false),
        ] {
            assert_eq!(is_numbered(text), expected, "{text}");
        }
        assert_eq!(first_number(" 12 | a\n13 | b"), Some(12));
    }

    #[test]
    fn takes_numbers_off() {
        assert_eq!(strip_numbers(" 9 |   a\n10 |\n11 | b"), "  a\n\nb");
        assert_eq!(strip_number_remains("| a\n3 |  b\n12  | c\nd"), "a\n b\n12  | c\nd");
    }
}
