//! Why a block has no place, described so that the next try can be right.

use std::fmt::{Display, Formatter, Result, Write};

use crate::tools::files::text::excerpt::{
    AROUND_LIMIT_BYTES, LIKE_LIMIT_BYTES, SENT_LIMIT_BYTES, excerpt,
};
use crate::tools::files::text::stand::Likeness;

/// Most lines named where text stands in several places.
const NAMED_LIMIT: usize = 12;

/// What was looked for, as messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoughtText {
    /// The SEARCH part of a block.
    Block,
    /// The old text of an edit.
    OldText,
    /// The lines that others are put in before.
    Anchor,
}

impl SoughtText {
    fn name(self) -> &'static str {
        match self {
            Self::Block => "this SEARCH part",
            Self::OldText => "the old text",
            Self::Anchor => "`line_text`",
        }
    }

    fn new_text(self) -> &'static str {
        match self {
            Self::Block => "the REPLACE part",
            Self::OldText => "the new text",
            Self::Anchor => "the text to insert",
        }
    }

    /// Says how to tell one place from others.
    fn cure(self) -> &'static str {
        match self {
            Self::Block => {
                "Write `:start_line:N` with the exact first line of the one that is meant, as \
                 read_file shows it, or more lines around it"
            }
            Self::OldText => "Give more of the text around the one that is meant",
            Self::Anchor => {
                "Give the exact `line` of the one that is meant, as read_file shows it, or more \
                 lines from there on as `line_text`"
            }
        }
    }
}

/// A block for which no place of the file is meant without doubt.
#[derive(Clone, Debug, PartialEq)]
pub struct NoMatch {
    /// The text looked for.
    pub search: String,
    /// Where it was to be, counted from 1; 0 when not given.
    pub start_line: usize,
    /// What it is.
    pub sought: SoughtText,
    /// What is wrong with it.
    pub why: Miss,
}

/// What is wrong with a block. Lines count from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Miss {
    /// The text stands nowhere, or nowhere near its line.
    Nowhere {
        /// Where it stands letter for letter, too far from its line.
        elsewhere: Vec<usize>,
        /// The most similar lines: the first of them, similarity 0.0 to 1.0, text.
        best: Option<(usize, f64, String)>,
        /// Similarity it had to reach.
        needed: f64,
        /// The file around the place, numbered.
        surroundings: String,
    },
    /// It stands in several places.
    Several {
        /// The first line of each.
        lines: Vec<usize>,
        /// What was left out of account.
        likeness: Likeness,
    },
    /// It stands where the start line says, and so near to that in other places that the number may
    /// be off.
    NearCopies {
        /// The first line of each place.
        lines: Vec<usize>,
    },
    /// It stands beside its start line, and nearby in other places with other blanks or signs, so
    /// that either number or text may be wrong.
    Alike {
        /// The first line of the place that has the text.
        line: usize,
        /// The first lines of the others.
        alike: Vec<usize>,
    },
    /// It is indented otherwise than the file, in a way that leaves open how deep the new lines go.
    Indentation {
        /// Where it stands.
        line: usize,
        /// The file's lines there.
        text: String,
    },
    /// The replacement holds a line that stands for text left out.
    Placeholder {
        /// The line.
        line: String,
    },
}

impl Display for NoMatch {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let name = self.sought.name();
        match &self.why {
            Miss::Nowhere { .. } => self.nowhere(formatter),
            Miss::Several { lines, likeness } => {
                let like = match likeness {
                    Likeness::Exact => "",
                    _ => ", blanks left out of account",
                };
                let none = match self.start_line {
                    0 => String::new(),
                    line => format!("; line {line} is none of them"),
                };
                write!(
                    formatter,
                    "{name} stands at {}{like}{none}. {}:\n{}",
                    listed(lines),
                    self.sought.cure(),
                    self.sent()
                )
            }
            Miss::NearCopies { lines } => write!(
                formatter,
                "{name} stands at {}, and line {} was named. Send the same call again \
                 to change that one, or write the first line of another, or more lines around \
                 it:\n{}",
                listed(lines),
                self.start_line,
                self.sent()
            ),
            Miss::Alike { line, alike } => write!(
                formatter,
                "{name} stands at line {line}, and with other blanks at {}, and line {} \
                 was named. Send the same call again to change line {line}, or write the first \
                 line of another with its lines as read_file shows them:\n{}",
                listed(alike),
                self.start_line,
                self.sent()
            ),
            Miss::Indentation { line, text } => write!(
                formatter,
                "{name} is indented otherwise than the file, so how deep the new lines \
                 go is unclear. Copy the lines as they are, blanks included. From line {line} the \
                 file has:\n{}",
                excerpt(text, Some(&self.search), LIKE_LIMIT_BYTES)
            ),
            Miss::Placeholder { line } => write!(
                formatter,
                "{} holds `{line}`, which stands for text that would be lost. Write all the lines \
                 that are to be there, or a smaller part; if the words are meant as they are, word \
                 them otherwise",
                self.sought.new_text()
            ),
        }
    }
}

impl NoMatch {
    /// Returns whether the same call may be sent again to confirm it.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        matches!(self.why, Miss::NearCopies { .. } | Miss::Alike { .. })
    }

    /// Returns the text looked for, as far as it is repeated.
    fn sent(&self) -> String {
        excerpt(&self.search, None, SENT_LIMIT_BYTES)
    }

    fn nowhere(&self, formatter: &mut Formatter<'_>) -> Result {
        let Miss::Nowhere { elsewhere, best, needed, surroundings } = &self.why else {
            return Ok(());
        };
        match self.start_line {
            0 => write!(formatter, "no lines of the file match {}", self.sought.name())?,
            line => write!(formatter, "no lines near line {line} match {}", self.sought.name())?,
        }
        write!(formatter, " (letter case counts, blanks do not):\n{}\n", self.sent())?;
        if !elsewhere.is_empty() {
            write!(formatter, "\nIt stands at {}.\n", listed(elsewhere))?;
        }
        if let Some((line, similarity, text)) = best {
            let text = excerpt(text, Some(&self.search), LIKE_LIMIT_BYTES);
            write!(
                formatter,
                "\nMost similar, {:.0}% of the {:.0}% needed, at line {line}:\n{text}\n",
                similarity * 100.0,
                needed * 100.0
            )?;
        }
        if surroundings.is_empty() {
            formatter.write_str("\nThe file has no lines there.")
        } else {
            let lines = excerpt(surroundings.trim_end_matches('\n'), None, AROUND_LIMIT_BYTES);
            write!(formatter, "\nThe file there:\n{lines}")
        }
    }
}

/// Returns `line 3`, or `lines 3, 7 and 9`.
pub fn listed(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED_LIMIT).map(ToString::to_string).collect();
    match (named.as_slice(), lines.len().saturating_sub(NAMED_LIMIT)) {
        ([line], 0) => format!("line {line}"),
        ([before @ .., last], 0) => format!("lines {} and {last}", before.join(", ")),
        (named, more) => format!("lines {} and {more} more", named.join(", ")),
    }
}

/// Returns lines of a file with their numbers, from `start`, counted from 0.
pub(crate) fn numbered(lines: &[String], start: usize, count: usize) -> String {
    let mut text = String::new();
    // What follows a final line end is no line.
    let lines = match lines {
        [before @ .., last] if last.is_empty() => before,
        all => all,
    };
    for (at, line) in lines.iter().enumerate().skip(start).take(count) {
        let _ = writeln!(text, "{} | {line}", at + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Miss, NoMatch, SoughtText, listed};
    use crate::tools::files::text::stand::Likeness;

    #[test]
    fn names_lines_as_people_do() {
        assert_eq!(
            [listed(&[3]), listed(&[3, 7]), listed(&[3, 7, 9])],
            ["line 3", "lines 3 and 7", "lines 3, 7 and 9"]
        );
        let many: Vec<usize> = (1..=20).collect();
        assert!(listed(&many).ends_with(", 11, 12 and 8 more"));
    }

    #[test]
    fn whatever_does_not_fit_the_answer_is_bounded() {
        let huge = "x".repeat(1_000_000);
        let many = "a line of many\n".repeat(100_000);
        for text in [huge, many] {
            let nowhere = Miss::Nowhere {
                elsewhere: (1..=1000).collect(),
                best: Some((1, 0.5, text.clone())),
                needed: 1.0,
                surroundings: text.clone(),
            };
            let several = Miss::Several { lines: vec![1, 2], likeness: Likeness::Exact };
            let indentation = Miss::Indentation { line: 1, text: text.clone() };
            let alike = Miss::Alike { line: 1, alike: vec![2] };
            let near = Miss::NearCopies { lines: vec![1, 2] };
            for why in [nowhere, several, indentation, alike, near] {
                let search = text.clone();
                let miss = NoMatch { search, start_line: 1, sought: SoughtText::Block, why };
                let shown = miss.to_string();
                assert!(shown.len() < 16 * 1024, "{} {shown:.300}", shown.len());
            }
        }
    }
}
