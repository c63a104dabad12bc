//! `Excerpt`: the line of a file that a mistake is on, with carets under the place.
//!
//! In: a file's text and places in it. Out: two lines of text each. What would act on a terminal or
//! is a secret by its form is not shown, and of a long line only the part around the place.

use std::fmt;

use crate::position::Position;
use locum_base::secret::Redactor;
use locum_base::secret::view::is_invisible;

/// Most characters of a line that are shown.
pub const WIDTH_LIMIT: usize = 120;
/// Characters shown before the place in a line that is too long.
const BEFORE: usize = 40;

/// A line of a file with a place in it. Boxed, since it travels in errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(Box<ExcerptLine>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ExcerptLine {
    line: u32,
    text: String,
    indent: usize,
    carets: usize,
}

impl Excerpt {
    /// Returns the excerpt of a line; `None` when the place is behind its end by more than a caret.
    pub fn of(line: &str, place: Position, redactor: &Redactor) -> Option<Self> {
        let letters: Vec<char> = line.chars().collect();
        let at =
            usize::try_from(place.column).ok()?.checked_sub(1).filter(|at| *at <= letters.len())?;
        let start = if letters.len() > WIDTH_LIMIT { at.saturating_sub(BEFORE) } else { 0 };
        let shown: String =
            letters.iter().skip(start).take(WIDTH_LIMIT).map(|letter| plain(*letter)).collect();
        let redacted = redactor.redact(&shown);
        let carets = token_length(letters.get(at..).unwrap_or_default())
            .min(WIDTH_LIMIT - (at - start).min(WIDTH_LIMIT - 1));
        // What was taken out changes lengths: the caret would point anywhere.
        let (indent, carets) = if redacted == shown { (at - start, carets) } else { (0, 0) };
        let text = redacted.trim_end().to_owned();
        Some(Self(Box::new(ExcerptLine { line: place.line, text, indent, carets })))
    }

    /// Returns the excerpt of a place in a text.
    pub fn find(text: &str, place: Position) -> Option<Self> {
        let above = usize::try_from(place.line).ok()?.checked_sub(1)?;
        Self::of(text.trim_start_matches('\u{feff}').lines().nth(above)?, place, &Redactor::new([]))
    }
}

impl fmt::Display for Excerpt {
    /// Writes the line behind its number, and the carets below.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExcerptLine { line, text, indent, carets } = self.0.as_ref();
        let margin = line.to_string().len();
        write!(formatter, "  {line} | {text}")?;
        if *carets > 0 {
            write!(formatter, "\n  {:margin$} | {:indent$}{}", "", "", "^".repeat(*carets))?;
        }
        Ok(())
    }
}

/// Letters of the word or the quoted text that starts here, at least one.
fn token_length(rest: &[char]) -> usize {
    let length = match rest.first() {
        Some(quote @ ('"' | '\'')) => {
            rest.iter().skip(1).position(|letter| letter == quote).map_or(1, |end| end + 2)
        }
        Some(_) | None => {
            let ends = |at: usize, letter: char| match letter {
                ':' => rest.get(at + 1).is_none_or(|next| next.is_whitespace()),
                letter => letter.is_whitespace() || matches!(letter, ',' | ']' | '}'),
            };
            rest.iter().enumerate().position(|(at, letter)| ends(at, *letter)).unwrap_or(rest.len())
        }
    };
    length.max(1)
}

fn plain(letter: char) -> char {
    match letter {
        '\t' => ' ',
        letter if letter.is_control() || is_invisible(letter) => '\u{fffd}',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;
    use crate::diagnostic::Diagnostic;
    use crate::position::Position;
    use locum_base::secret::Redactor;
    use pretty_assertions::assert_eq;

    fn check(line: &str, column: u32, expected: &str) {
        assert_eq!(
            Excerpt::of(line, Position { line: 12, column }, &Redactor::new([]))
                .map(|found| found.to_string()),
            Some(expected.to_owned()),
            "{line}"
        );
    }

    #[test]
    fn points_at_the_word_or_the_quoted_text() {
        check("  - alow: \"read(**)\"", 5, "  12 |   - alow: \"read(**)\"\n     |     ^^^^");
        check(
            "  - alow: \"read(**)\"",
            11,
            "  12 |   - alow: \"read(**)\"\n     |           ^^^^^^^^^^",
        );
        check("{ a: [x, y] }", 10, "  12 | { a: [x, y] }\n     |          ^");
        check("a:", 3, "  12 | a:\n     |   ^");
        check("größe: ü", 8, "  12 | größe: ü\n     |        ^");
        assert_eq!(Excerpt::of("a:", Position { line: 1, column: 9 }, &Redactor::new([])), None);
        assert_eq!(Excerpt::of("a:", Position::default(), &Redactor::new([])), None);
    }

    #[test]
    fn shows_nothing_that_acts_on_a_terminal_and_no_secret() {
        check("a\t\u{1b}[31m\u{202e}: 1", 1, "  12 | a \u{fffd}[31m\u{fffd}: 1\n     | ^");
        let key = format!("key: ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
        let shown = Excerpt::of(&key, Position { line: 12, column: 1 }, &Redactor::new([]))
            .unwrap()
            .to_string();
        assert!(
            shown.starts_with("  12 | key: ") && !shown.contains("a1B2") && !shown.contains('^'),
            "{shown}"
        );
    }

    #[test]
    fn cuts_a_long_line_around_the_place() {
        let line = format!("{}wrong{}", "x ".repeat(5_000), " y".repeat(5_000));
        let shown = Excerpt::of(&line, Position { line: 1, column: 10_001 }, &Redactor::new([]))
            .unwrap()
            .to_string();
        let (text, carets) = shown.split_once('\n').unwrap();
        assert_eq!(
            (text.len() < 140, text.find("wrong"), carets.find('^')),
            (true, carets.find('^'), text.find("wrong"))
        );
        assert_eq!(carets.matches('^').count(), 5);
    }

    #[test]
    fn every_mistake_of_a_text_gets_its_line() {
        let mistake = |line| Diagnostic::new(Position { line, column: 1 }, "wrong");
        let mut mistakes = [mistake(2), mistake(0), mistake(2), mistake(9), mistake(1)];
        Diagnostic::attach_excerpts(&mut mistakes, "one\r\ntwo\n");
        let shown: Vec<_> = mistakes
            .iter()
            .map(|mistake| mistake.excerpt.as_ref().map(|excerpt| excerpt.0.text.as_str()))
            .collect();
        assert_eq!(shown, [Some("two"), None, Some("two"), None, Some("one")]);
    }
}
