//! Text of hostile origin as one short line.

/// Returns a text with blanks in place of control characters, so that it is one line; what is
/// longer than the limit is cut, and ends with `…`.
pub(crate) fn short_line(text: &str, limit_bytes: usize) -> String {
    let end = text.floor_char_boundary(limit_bytes);
    let kept = text.get(..end).unwrap_or_default();
    let mut line: String = kept.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    if end < text.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::short_line;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_line_is_short_and_has_no_control_characters() {
        for (text, expected) in [
            ("", ""),
            ("eight by", "eight by"),
            ("nine byte", "nine byt…"),
            ("a\n# b\u{1b}", "a # b "),
            ("éééééé", "éééé…"),
            ("xéééé", "xééé…"),
        ] {
            let line = short_line(text, 8);
            assert_eq!(line, expected);
            assert_eq!(short_line(&line, 8), line, "it stays as it is");
        }
    }
}
