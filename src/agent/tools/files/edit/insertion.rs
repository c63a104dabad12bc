//! Lines put in before others. A number alone is asked about; with the lines that stand there now,
//! the place is found as that of a block is.

use serde::{Deserialize, Serialize};

use crate::tools::files::apply_diff::miss::{Miss, numbered};
use crate::tools::files::apply_diff::parse::DiffBlock;
use crate::tools::files::apply_diff::{BlockError, NearCopies, TargetText};
use crate::tools::files::text::blank;
use crate::tools::files::text::excerpt::{AROUND_LIMIT_BYTES, excerpt};
use locum_base::text::counted;

/// Lines shown above and below a place that is asked about.
const AROUND_LINES: usize = 3;

/// Lines to put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    /// Where.
    pub place: InsertionPlace,
    /// The lines; a final line end is not needed.
    pub text: String,
}

/// Where lines are put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertionPlace {
    /// Before the first line.
    Start,
    /// Behind the last line.
    End,
    /// Before a line.
    Before {
        /// Its number, counted from 1.
        line: usize,
        /// What stands from there on now, one line or more.
        lines: Option<String>,
    },
}

/// Why lines were not put in.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InsertionError {
    /// The line is beyond the last one.
    #[error(
        "the file has {}, and the text was to go before line {line}; 0 puts it behind the last one",
        counted(*.lines, "line")
    )]
    NoLine {
        /// The line it was to go before.
        line: usize,
        /// How many the file has.
        lines: usize,
    },
    /// There is nothing to put in.
    #[error("there is no text to insert")]
    NoText,
    /// A number alone says where.
    #[error(
        "the text would go before line {line}, and only a number says so. Send the same call again \
         if that is right, or give `line_text`, what that line holds. The file there:\n{}",
        excerpt(.surroundings.trim_end_matches('\n'), None, AROUND_LIMIT_BYTES)
    )]
    Unconfirmed {
        /// The line it would go before.
        line: usize,
        /// The file there, numbered.
        surroundings: String,
    },
    /// The lines are not there, or in several places.
    #[error(transparent)]
    Anchor(#[from] BlockError),
}

impl InsertionError {
    /// Whether the same call sent again is done.
    pub(super) fn is_question(&self) -> bool {
        match self {
            Self::Unconfirmed { .. } => true,
            Self::Anchor(error) => error.is_question(),
            Self::NoLine { .. } | Self::NoText => false,
        }
    }
}

impl TargetText<'_> {
    /// Puts lines in.
    pub(super) fn insert(&mut self, insertion: &Insertion) -> Result<(), InsertionError> {
        let Insertion { place, text } = insertion;
        if text.is_empty() {
            return Err(InsertionError::NoText);
        }
        let text = text.replace("\r\n", "\n");
        let new = text.strip_suffix('\n').unwrap_or(&text);
        if let Some(line) = self.placeholder("", new) {
            let block = DiffBlock { replace: new.to_owned(), ..DiffBlock::default() };
            return Err(InsertionError::Anchor(self.no_match(&block, Miss::Placeholder { line })));
        }
        let count = self.line_count();
        let line = match place {
            InsertionPlace::Start => 0,
            InsertionPlace::End => count,
            InsertionPlace::Before { line, lines } => {
                let lines = lines.as_deref().filter(|lines| !blank::trim(lines).is_empty());
                match lines {
                    Some(lines) => return self.insert_before(*line, lines, new),
                    None => self.counted_place(*line, count)?,
                }
            }
        };
        self.edited.replace(line..line, new.split('\n').map(str::to_owned).collect());
        Ok(())
    }

    /// Returns where a line is, counted from 0, of which nothing but the number is known.
    fn counted_place(&self, line: usize, count: usize) -> Result<usize, InsertionError> {
        let at = line.saturating_sub(1);
        if at > count {
            return Err(InsertionError::NoLine { line, lines: count });
        }
        if self.tolerance.near_copies == NearCopies::Ask && count > 0 {
            let start = at.saturating_sub(AROUND_LINES);
            let surroundings = numbered(self.edited.lines(), start, at - start + AROUND_LINES);
            return Err(InsertionError::Unconfirmed { line, surroundings });
        }
        Ok(at)
    }

    /// Puts lines in before others, which are found as the lines of a block are.
    fn insert_before(&mut self, line: usize, lines: &str, new: &str) -> Result<(), InsertionError> {
        let lines = lines.replace("\r\n", "\n");
        let lines = lines.strip_suffix('\n').unwrap_or(&lines);
        let is_numbered = blank::is_numbered(lines);
        let plain = |text: &str| {
            if is_numbered { blank::strip_numbers(text) } else { text.to_owned() }
        };
        let search = plain(lines);
        let new = if blank::is_numbered(new) { plain(new) } else { new.to_owned() };
        let replace = format!("{new}\n{search}");
        Ok(self.apply_alone(DiffBlock { start_line: line, search, replace })?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Insertion, InsertionPlace};
    use crate::tools::files::apply_diff::NearCopies;
    use crate::tools::files::edit::{FileChange, change};
    use pretty_assertions::assert_eq;

    fn inserted(
        original: &str,
        place: InsertionPlace,
        text: &str,
        near_copies: NearCopies,
    ) -> Result<String, String> {
        let insertion = FileChange::Insertion(Insertion { place, text: text.to_owned() });
        change(original, &insertion, near_copies)
            .map(|applied| applied.content)
            .map_err(|error| error.to_string())
    }

    fn before(line: usize, lines: Option<&str>) -> InsertionPlace {
        InsertionPlace::Before { line, lines: lines.map(str::to_owned) }
    }

    #[test]
    fn lines_are_put_in_before_the_line_that_is_named() {
        let (start, end) = (InsertionPlace::Start, InsertionPlace::End);
        for (original, place, text, expected) in [
            ("a\nb\n", before(2, None), "x\n", Ok("a\nx\nb\n")),
            ("a\nb\n", start, "x", Ok("x\na\nb\n")),
            ("a\nb\n", before(3, None), "x\ny", Ok("a\nb\nx\ny\n")),
            ("a\nb", before(3, None), "x\n", Ok("a\nb\nx")),
            ("a\nb\n", end.clone(), "x", Ok("a\nb\nx\n")),
            ("a\r\nb\r\n", before(2, None), "x\ny\n", Ok("a\r\nx\r\ny\r\nb\r\n")),
            ("", end, "x\n", Ok("x\n")),
            ("a\n", before(2, None), "\n", Ok("a\n\n")),
            (
                "a\nb\n",
                before(4, None),
                "x",
                Err(
                    "the file has 2 lines, and the text was to go before line 4; 0 puts it behind \
                     the last one",
                ),
            ),
            ("a\n", before(1, None), "", Err("there is no text to insert")),
        ] {
            let done = inserted(original, place.clone(), text, NearCopies::Take);
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(done, expected, "{original:?} {place:?} {text:?}");
        }
    }

    #[test]
    fn a_number_alone_is_asked_about_and_the_lines_there_find_the_place() {
        let ask = |original, place, text| inserted(original, place, text, NearCopies::Ask);
        assert_eq!(
            ask("a\nb\nc\n", before(2, None), "x").unwrap_err(),
            "the text would go before line 2, and only a number says so. Send the same call again \
             if that is right, or give `line_text`, what that line holds. The file there:\n1 | \
             a\n2 | b\n3 | c"
        );
        for (original, place, expected) in [
            ("a\nb\nc\n", before(2, Some("b")), "a\nx\nb\nc\n"),
            // The text says where, and the number may be off.
            ("a\nb\nc\n", before(3, Some("b")), "a\nx\nb\nc\n"),
            ("a\nb\nc\n", before(1, Some("2 | b\n3 | c\n")), "a\nx\nb\nc\n"),
            ("x\nb\n", before(1, Some("x\nb")), "x\nx\nb\n"),
            ("a\r\nb\r\n", before(2, Some("b\r\n")), "a\r\nx\r\nb\r\n"),
            ("a\n  b\n", before(2, Some("b")), "a\n  x\n  b\n"),
        ] {
            assert_eq!(ask(original, place.clone(), "x").as_deref(), Ok(expected), "{place:?}");
        }
        for (original, place, expected) in [
            ("a\nb\n", before(2, Some("q")), "no lines near line 2 match `line_text`"),
            ("b\na\nb\n", before(2, Some("b")), "`line_text` stands at lines 1 and 3; line 2 is"),
            ("b\na\nb\n", before(3, Some("b")), "stands at lines 1 and 3, and line 3 was named"),
            ("b\na\nb\n", before(3, Some(" \n")), "only a number says so"),
        ] {
            let refused = ask(original, place.clone(), "x").unwrap_err();
            assert!(refused.contains(expected), "{place:?}: {refused}");
        }
    }
}
