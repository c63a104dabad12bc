//! Edits that are not SEARCH/REPLACE blocks, as other agents' tools have them: old and new texts,
//! of which all are made or none, and lines inserted at a number.
//!
//! In: the file's text and the edits. Out: the new text and what changed, or why nothing did. An
//! old text may be a part of a line, and has to stand there letter for letter; whole lines are
//! looked for as those of a block are.

use serde::{Deserialize, Serialize};

use crate::tools::files::apply_diff::miss::{Miss, listed};
use crate::tools::files::apply_diff::parse::DiffBlock;
use crate::tools::files::apply_diff::{
    AppliedDiff, BlockError, DiffError, NearCopies, TargetText, Tolerance, apply_with, no_match,
};
use locum_base::text::counted;

/// What `apply_diff` is to do with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// SEARCH/REPLACE blocks, as written.
    Blocks(String),
    /// Texts to replace one after another, all or none.
    Texts(Vec<TextEdit>),
    /// Lines to put in.
    Insertion(Insertion),
}

/// A text and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// The text as it is now.
    pub old: String,
    /// The text that is to be there; empty to delete.
    pub new: String,
    /// Whether every place is meant, and not the only one.
    pub all: bool,
}

/// Lines to put in at a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insertion {
    /// The line they follow, counted from 1; 0 for the beginning, `None` for the end of the file.
    pub after: Option<usize>,
    /// Whether a line beyond the last one means the end of the file.
    pub or_end: bool,
    /// The lines; a final line end is not needed.
    pub text: String,
}

impl Insertion {
    /// Whether the place depends on what the file holds.
    pub fn counts_lines(&self) -> bool {
        self.after.is_some_and(|line| line > 0)
    }
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// The blocks do not fit.
    #[error(transparent)]
    Blocks(#[from] DiffError),
    /// One of the texts does not fit.
    #[error("{}{why}", of_several(*.number, *.count))]
    Text {
        /// Which one, counted from 1.
        number: usize,
        /// How many there are.
        count: usize,
        /// What is wrong with it.
        why: TextError,
    },
    /// The line is beyond the last one.
    #[error("the file has {}, and the text was to follow line {line}", counted(*.lines, "line"))]
    NoLine {
        /// The line it was to follow.
        line: usize,
        /// How many the file has.
        lines: usize,
    },
    /// There is nothing to put in.
    #[error("there is no text to insert")]
    NoText,
}

/// Why one text was not replaced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TextError {
    /// It stands in several places.
    #[error(
        "the old text stands in several places, at {}. Give more of the text around the one that \
         is meant, or `replace_all: true` for each of them",
        listed(.0)
    )]
    Several(Vec<usize>),
    /// It does not fit as a block does not.
    #[error(transparent)]
    Block(#[from] BlockError),
}

fn of_several(number: usize, count: usize) -> String {
    match count {
        1 => String::new(),
        _ => format!("edit {number} of {count} does not fit, and all are made or none: "),
    }
}

/// Applies a change to a file's text.
///
/// # Errors
/// When it does not fit.
pub fn change(
    original: &str,
    change: &FileChange,
    near_copies: NearCopies,
) -> Result<AppliedDiff, ChangeError> {
    match change {
        FileChange::Blocks(diff) => {
            Ok(apply_with(original, diff, Tolerance { near_copies, ..Tolerance::default() })?)
        }
        FileChange::Texts(edits) => {
            let mut file = TargetText::new(original, Tolerance::default());
            for (at, edit) in edits.iter().enumerate() {
                let fault = |why| ChangeError::Text { number: at + 1, count: edits.len(), why };
                file.replace_text(edit).map_err(fault)?;
            }
            Ok(file.applied())
        }
        FileChange::Insertion(insertion) => {
            let mut file = TargetText::new(original, Tolerance::default());
            file.insert(insertion)?;
            Ok(file.applied())
        }
    }
}

impl TargetText<'_> {
    /// Replaces a text that stands letter for letter in one place, or in each; else whole lines as
    /// those of a block.
    fn replace_text(&mut self, edit: &TextEdit) -> Result<(), TextError> {
        let [old, new] = [&edit.old, &edit.new].map(|text| text.replace("\r\n", "\n"));
        let block = DiffBlock { start_line: 0, search: old, replace: new };
        let DiffBlock { search: old, replace: new, .. } = &block;
        if old.is_empty() {
            return Err(BlockError::EmptySearch.into());
        }
        if old == new {
            return Err(BlockError::Identical.into());
        }
        if let Some(line) = self.placeholder(old, new) {
            return Err(no_match(&block, Miss::Placeholder { line }).into());
        }
        let text = self.edited.lines().join("\n");
        let found = occurrences(&text, old, edit.all);
        match (found.as_slice(), edit.all) {
            ([], _) => return Ok(self.replace_lines(&block)?),
            ([_], _) | (_, true) => {}
            (several, false) => {
                let mut lines: Vec<usize> =
                    several.iter().map(|at| line_of(&text, *at) + 1).collect();
                lines.dedup();
                return Err(TextError::Several(lines));
            }
        }
        // From the last to the first, so that the numbers of the lines above stay as they are.
        for run in runs(&text, &found, old.len()).iter().rev() {
            let old_lines = text.get(run.start..run.end).unwrap_or_default();
            let new_lines = old_lines.replace(old, new);
            let new_lines = new_lines.split('\n').map(str::to_owned).collect();
            self.edited.replace(run.line..run.line + old_lines.split('\n').count(), new_lines);
        }
        Ok(())
    }

    /// Replaces whole lines, which may differ from the file's in blanks.
    fn replace_lines(&mut self, block: &DiffBlock) -> Result<(), BlockError> {
        let DiffBlock { search: old, replace: new, .. } = block;
        let (search, replace) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) if new.is_empty() => (old, ""),
            (None, None) => (old.as_str(), new.as_str()),
            // A line would be joined with the next one, or split.
            (Some(_), None) | (None, Some(_)) => return Err(self.nowhere(block)),
        };
        let (search, replace) = (search.to_owned(), replace.to_owned());
        self.apply(DiffBlock { start_line: 0, search, replace })
    }

    fn insert(&mut self, insertion: &Insertion) -> Result<(), ChangeError> {
        let Insertion { after, or_end, text } = insertion;
        if text.is_empty() {
            return Err(ChangeError::NoText);
        }
        let text = text.replace("\r\n", "\n");
        let new = text.strip_suffix('\n').unwrap_or(&text);
        if let Some(line) = self.placeholder("", new) {
            let block = DiffBlock { replace: new.to_owned(), ..DiffBlock::default() };
            let why = no_match(&block, Miss::Placeholder { line }).into();
            return Err(ChangeError::Text { number: 1, count: 1, why });
        }
        let lines = self.edited.lines().len() - usize::from(self.edited.is_ended());
        let line = match after {
            None => lines,
            Some(line) if *line <= lines => *line,
            Some(_) if *or_end => lines,
            Some(line) => return Err(ChangeError::NoLine { line: *line, lines }),
        };
        self.edited.replace(line..line, new.split('\n').map(str::to_owned).collect());
        Ok(())
    }
}

/// Whole lines that hold one of the places, or several that share lines.
struct LineRun {
    /// The first of them, counted from 0.
    line: usize,
    /// Where it begins, in bytes.
    start: usize,
    /// Where the last one ends.
    end: usize,
}

/// Returns where a text stands. Places that overlap count where one is to be chosen.
fn occurrences(text: &str, old: &str, all: bool) -> Vec<usize> {
    if all {
        return text.match_indices(old).map(|(at, _)| at).collect();
    }
    let step = old.chars().next().map_or(1, char::len_utf8);
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        found.push(from + at);
        from += at + step;
    }
    found
}

/// Returns the lines around the places, from top to bottom.
fn runs(text: &str, found: &[usize], length: usize) -> Vec<LineRun> {
    let mut runs: Vec<LineRun> = Vec::new();
    let (mut line, mut counted_to) = (0, 0);
    for at in found {
        let start = text.get(..*at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let last = at + length;
        let end =
            text.get(last..).and_then(|rest| rest.find('\n')).map_or(text.len(), |to| last + to);
        line += text.get(counted_to..start).map_or(0, |passed| passed.matches('\n').count());
        counted_to = start.max(counted_to);
        match runs.last_mut() {
            Some(run) if start < run.end || start == run.start => run.end = end,
            _ => runs.push(LineRun { line, start, end }),
        }
    }
    runs
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::{FileChange, Insertion, TextEdit, change};
    use crate::tools::files::apply_diff::NearCopies;
    use pretty_assertions::assert_eq;

    fn texts(original: &str, edits: &[(&str, &str, bool)]) -> Result<String, String> {
        let edit = |(old, new, all): &(&str, &str, bool)| TextEdit {
            old: (*old).to_owned(),
            new: (*new).to_owned(),
            all: *all,
        };
        let edits = FileChange::Texts(edits.iter().map(edit).collect());
        change(original, &edits, NearCopies::Ask)
            .map(|applied| applied.content)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn texts_are_replaced_where_they_stand_and_nowhere_else() {
        let (once, all) = (false, true);
        for (original, edits, expected) in [
            ("a b\nc\n", &[("b", "x", once)][..], "a x\nc\n"),
            ("a b\nc\n", &[("b\nc", "x", once)], "a x\n"),
            ("a\nb\nc\n", &[("b\n", "", once)], "a\nc\n"),
            ("a\nb\nc", &[("c", "d\n", once)], "a\nb\nd\n"),
            ("a\r\nb c\r\n", &[("b", "x\ny", once)], "a\r\nx\r\ny c\r\n"),
            ("a\r\nb\r\n", &[("a\r\nb", "x", once)], "x\r\n"),
            ("a a\nb a\na\n", &[("a", "xy", all)], "xy xy\nb xy\nxy\n"),
            ("a\n\n\na\n\n\nb\n", &[("\n\n", "\n", all)], "a\n\na\n\nb\n"),
            ("a\nb\na\nb\nc\n", &[("a\nb\n", "x\n", all)], "x\nx\nc\n"),
            ("é é\n", &[("é", "e", all)], "e e\n"),
            // Each edit sees what those before it left.
            ("a\n", &[("a", "b c", once), ("c", "d", once)], "b d\n"),
            // Whole lines may differ in blanks.
            ("  a\n  b\n", &[("a\nb\n", "a\nc\n", once)], "  a\n  c\n"),
        ] {
            assert_eq!(texts(original, edits).as_deref(), Ok(expected), "{original:?} {edits:?}");
        }
    }

    #[test]
    fn one_text_that_does_not_fit_keeps_all_from_being_made() {
        let (once, all) = (false, true);
        for (original, edits, expected) in [
            (
                "a\nb\n",
                &[("a", "x", once), ("q", "y", once)][..],
                "edit 2 of 2 does not fit, and all are made or none: no lines of the file match",
            ),
            (
                "ab\nb\n",
                &[("b", "x", once)],
                "the old text stands in several places, at lines 1 and 2. Give more",
            ),
            (
                "aaa\n",
                &[("aa", "x", once)],
                "the old text stands in several places, at line 1. Give more",
            ),
            ("a\n", &[("", "x", once)], "SEARCH part is empty"),
            ("a\n", &[("a", "a", all)], "would change nothing"),
            ("a\n", &[("q", "x", all)], "no lines of the file match"),
            ("a\nb\n", &[("a \n", "x", once)], "no lines of the file match"),
            (
                "a\nb\nc\n",
                &[("a\nb", "// ... existing code ...", once)],
                "stands for text that would be lost",
            ),
        ] {
            let refused = texts(original, edits).unwrap_err();
            assert!(refused.contains(expected), "{original:?} {edits:?}: {refused}");
        }
    }

    #[test]
    fn lines_are_put_in_after_the_line_that_is_named() {
        for (original, after, or_end, text, expected) in [
            ("a\nb\n", Some(1), false, "x\n", Ok("a\nx\nb\n")),
            ("a\nb\n", Some(0), false, "x", Ok("x\na\nb\n")),
            ("a\nb\n", Some(2), false, "x\ny", Ok("a\nb\nx\ny\n")),
            ("a\nb", Some(2), false, "x\n", Ok("a\nb\nx")),
            ("a\nb\n", None, true, "x", Ok("a\nb\nx\n")),
            ("a\nb\n", Some(9), true, "x", Ok("a\nb\nx\n")),
            ("a\r\nb\r\n", Some(1), false, "x\ny\n", Ok("a\r\nx\r\ny\r\nb\r\n")),
            ("", Some(0), false, "x\n", Ok("x\n")),
            ("a\n", Some(1), false, "\n", Ok("a\n\n")),
            (
                "a\nb\n",
                Some(3),
                false,
                "x",
                Err("the file has 2 lines, and the text was to follow line 3"),
            ),
            ("a\n", Some(1), false, "", Err("there is no text to insert")),
        ] {
            let insertion = Insertion { after, or_end, text: text.to_owned() };
            let done = change(original, &FileChange::Insertion(insertion), NearCopies::Ask)
                .map(|applied| applied.content)
                .map_err(|error| error.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(done, expected, "{original:?} {after:?} {text:?}");
        }
    }
}
