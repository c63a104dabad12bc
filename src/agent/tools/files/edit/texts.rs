//! Old texts and the new ones that take their places, one after another.
//!
//! An old text may be a part of a line, and has to stand there letter for letter; whole lines are
//! looked for as those of a block are. Text that stands elsewhere with other blanks may have lost
//! or gained some on its way here, and is ambiguous.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tools::files::apply_diff::miss::{Miss, listed};
use crate::tools::files::apply_diff::parse::DiffBlock;
use crate::tools::files::apply_diff::{BlockError, TargetText};
use crate::tools::files::edit::replacement::{
    EditWork, LineRun, Replacement, ReplacementError, line_numbers, newlines, occurrences, runs,
    same,
};
use crate::tools::files::text::stand::{Likeness, places};

/// How much longer than finding a text it takes to compare it with each line, blanks left out of
/// account.
const ALIKE_COST: usize = 8;

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

/// Why one text was not replaced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TextError {
    /// It stands in several places.
    #[error(
        "the old text stands in several places, at {}{}",
        listed(.lines),
        if *.exact {
            ". Give more of the text around the one that is meant, or `replace_all: true` for each \
             of them"
        } else {
            ", blanks left out of account. Give more of the text around the one that is meant"
        }
    )]
    Several {
        /// The first line of each.
        lines: Vec<usize>,
        /// Whether it stands in each letter for letter.
        exact: bool,
    },
    /// It is in too many places, or makes the file too large.
    #[error(transparent)]
    Places(#[from] ReplacementError),
    /// It does not fit as a block does not.
    #[error(transparent)]
    Block(#[from] BlockError),
}

impl TextError {
    /// Whether the same call sent again is done.
    pub(super) fn is_question(&self) -> bool {
        matches!(self, Self::Block(error) if error.is_question())
    }
}

impl TargetText<'_> {
    /// Replaces a text that stands letter for letter in one place, or in each; else whole lines as
    /// those of a block.
    pub(super) fn replace_text(
        &mut self,
        edit: &TextEdit,
        work: &mut EditWork,
    ) -> Result<(), TextError> {
        let [old, new] = [&edit.old, &edit.new].map(|text| text.replace("\r\n", "\n"));
        let block = DiffBlock { start_line: 0, search: old, replace: new };
        self.check_texts(&block)?;
        let DiffBlock { search: old, replace: new, .. } = &block;
        let text = self.edited.lines().join("\n");
        let found = occurrences(&text, old, edit.all, work)?;
        match (found.as_slice(), edit.all) {
            ([], _) => return self.replace_lines(&block),
            ([one], false) => {
                work.scan(ALIKE_COST.saturating_mul(text.len()))?;
                let lines = self.alike(&text, one.clone());
                if !lines.is_empty() {
                    return Err(TextError::Several { lines, exact: false });
                }
            }
            (_, true) => {}
            (several, false) => {
                let lines = line_numbers(&text, several.iter());
                return Err(TextError::Several { lines, exact: true });
            }
        }
        let found = same(&text, found, new)?;
        self.replace_found(&text, &found);
        Ok(())
    }

    /// Refuses an empty text, one that is to stay as it is, and a new one that stands for more.
    pub(super) fn check_texts(&self, block: &DiffBlock) -> Result<(), BlockError> {
        let DiffBlock { search: old, replace: new, .. } = block;
        if old.is_empty() {
            return Err(BlockError::EmptySearch);
        }
        if old == new {
            return Err(BlockError::Identical);
        }
        match self.placeholder(old, new) {
            Some(line) => Err(self.no_match(block, Miss::Placeholder { line })),
            None => Ok(()),
        }
    }

    /// Returns the lines of the text at a place, counted from 1, and of those that are the same but
    /// for blanks and signs; nothing where there are no others.
    pub(super) fn alike(&self, text: &str, range: Range<usize>) -> Vec<usize> {
        let old = text.get(range.clone()).unwrap_or_default();
        let within = old.trim_start_matches('\n');
        let first = line_of(text, range.start + old.len() - within.len());
        let wanted: Vec<&str> = within.trim_end_matches('\n').split('\n').collect();
        let lines = self.edited.lines();
        let found = places(lines, &wanted, Likeness::Signs, 0..lines.len());
        if found.iter().all(|line| *line == first) {
            return Vec::new();
        }
        let mut numbers: Vec<usize> =
            found.into_iter().chain([first]).map(|line| line + 1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Puts new texts in their places, which are in order and apart.
    pub(super) fn replace_found(&mut self, text: &str, found: &[Replacement]) {
        let new_lines = |run: &LineRun| {
            let mut new_lines = String::new();
            let mut at = run.start;
            for Replacement { range, new } in found.get(run.places.clone()).unwrap_or_default() {
                new_lines.push_str(text.get(at..range.start).unwrap_or_default());
                new_lines.push_str(new);
                at = range.end;
            }
            new_lines.push_str(text.get(at..run.end).unwrap_or_default());
            let height = newlines(text.get(run.start..run.end).unwrap_or_default()) + 1;
            let new_lines = new_lines.split('\n').map(str::to_owned).collect();
            (run.line..run.line + height, new_lines)
        };
        self.edited.replace_runs(runs(text, found).iter().map(new_lines).collect());
    }

    /// Replaces whole lines, which may differ from the file's in blanks.
    pub(super) fn replace_lines(&mut self, block: &DiffBlock) -> Result<(), TextError> {
        let DiffBlock { search: old, replace: new, .. } = block;
        let (search, replace) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) if new.is_empty() => (old, ""),
            (None, None) => (old.as_str(), new.as_str()),
            // A line would be joined with the next one, or split.
            (Some(_), None) | (None, Some(_)) => return Err(self.nowhere(block).into()),
        };
        let lines = self.edited.lines();
        let wanted: Vec<&str> = search.split('\n').collect();
        let found = places(lines, &wanted, Likeness::Signs, 0..lines.len());
        if found.len() > 1 {
            let lines = found.iter().map(|line| line + 1).collect();
            return Err(TextError::Several { lines, exact: false });
        }
        let (search, replace) = (search.to_owned(), replace.to_owned());
        Ok(self.apply(DiffBlock { start_line: 0, search, replace })?)
    }
}

/// Returns the line a place is in, counted from 0.
fn line_of(text: &str, at: usize) -> usize {
    newlines(text.get(..at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::TextEdit;
    use crate::tools::files::apply_diff::NearCopies;
    use crate::tools::files::edit::{FileChange, change};
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
    fn lines_shown_behind_the_first_edit_are_said_to_be_no_lines_of_the_file() {
        let said = texts("a\n", &[("a", "x", false), ("q", "y", false)]).unwrap_err();
        assert!(said.ends_with("as the edits before this one would leave them.)"), "{said}");
        let said = texts("a\n", &[("q", "y", false), ("a", "x", false)]).unwrap_err();
        assert!(said.ends_with("The file there:\n1 | a"), "{said}");
    }

    #[test]
    fn one_text_that_does_not_fit_keeps_all_from_being_made() {
        let (once, all) = (false, true);
        // Each of them 10 GB and more, were it built.
        let (long, huge) = ("a\n".repeat(10_000), "x".repeat(1_000_000));
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
            (
                "if a {\n    go();\n}\n  if a {\n      go();\n  }\n",
                &[("if a {\n    go();\n}", "stop();", once)],
                "at lines 1 and 4, blanks left out of account. Give more",
            ),
            (
                "  a\n  b\n    a\n    b\n",
                &[("a\nb\n", "a\nc\n", once)],
                "at lines 1 and 3, blanks left out of account. Give more",
            ),
            ("a\n", &[("", "x", once)], "the text to replace is empty"),
            ("a\n", &[("a", "a", all)], "nothing would change"),
            ("a\n", &[("q", "x", all)], "no lines of the file match"),
            ("a\nb\n", &[("a \n", "x", once)], "no lines of the file match"),
            (&long, &[("a", &huge, all)], "the file would have more than 10485760 bytes"),
            (
                "a\nb\n",
                &[("a", &"aa".repeat(2000), all), ("a", &huge, all)],
                "edit 2 of 2 does not fit, and all are made or none: the file would have more",
            ),
            (&"a".repeat(10_001), &[("a", "b", all)], "in more than 10000 places"),
            (
                "a\nb\nc\n",
                &[("a\nb", "// ... existing code ...", once)],
                "stands for text that would be lost",
            ),
        ] {
            let refused = texts(original, edits).unwrap_err();
            assert!(refused.contains(expected), "{original:.40?} {expected}: {refused:.400}");
        }
    }

    #[test]
    fn edits_that_grow_a_file_or_take_too_long_in_a_long_one_are_refused_in_time() {
        let (grow, all) = ("a".repeat(10), true);
        let grown: Vec<(&str, &str, bool)> = vec![("a", &grow, all); 20];
        assert!(texts("a\n", &grown).unwrap_err().contains("edit 5 of 20 does not fit"));
        let long = format!("{}q\n", "some text\n".repeat(900_000));
        let many: Vec<(&str, &str, bool)> = vec![("q", "qr", false); 8];
        assert!(texts(&long, &many).unwrap_err().contains("too long for so many replacements"));
        // Many places of one line, each with more lines than before.
        let line = "ab".repeat(5_000);
        let done = texts(&line, &[("a", "x\ny", all)]).unwrap();
        assert_eq!(done, "x\nyb".repeat(5_000));
    }
}
