//! Places of a text and what is to stand there: found, counted and measured before a new text is
//! built.
//!
//! In: a text and what is looked for. Out: the places in order, or that there are too many of them
//! or that the file would become too large. What a call may find and look through is bounded.

use std::ops::Range;
use std::rc::Rc;

use crate::tools::files::FILE_LIMIT_BYTES;

/// Most places that one call replaces.
const PLACES_LIMIT: usize = 10_000;

/// Most bytes that one call looks through, those that are looked at again for the next place
/// included.
const SCANNED_LIMIT_BYTES: usize = 512 * 1024 * 1024;

/// Why places are not replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplacementError {
    /// There are too many.
    #[error("the text is in more than {PLACES_LIMIT} places; replace a part of them at a time")]
    TooMany,
    /// They are too many for a file of this length.
    #[error("the file is too long for so many replacements at once; make a part of them at a time")]
    TooMuch,
    /// What would be written is more than a file may hold.
    #[error("the file would have more than {FILE_LIMIT_BYTES} bytes")]
    TooLarge,
}

/// What one call found and looked through so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EditWork {
    places: usize,
    scanned_bytes: usize,
}

impl EditWork {
    /// Counts bytes about to be looked through.
    pub(super) fn scan(&mut self, bytes: usize) -> Result<(), ReplacementError> {
        self.scanned_bytes = self.scanned_bytes.saturating_add(bytes);
        if self.scanned_bytes > SCANNED_LIMIT_BYTES {
            return Err(ReplacementError::TooMuch);
        }
        Ok(())
    }

    /// Counts a place.
    pub(super) fn place(&mut self) -> Result<(), ReplacementError> {
        self.places += 1;
        if self.places > PLACES_LIMIT { Err(ReplacementError::TooMany) } else { Ok(()) }
    }
}

/// A place of a text and what is to stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    /// Where, in bytes.
    pub(super) range: Range<usize>,
    /// The text that is to be there; places that get the same share it.
    pub(super) new: Rc<str>,
}

/// The length of a text while parts of it are to be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewLength {
    kept: usize,
    added: usize,
}

impl NewLength {
    pub(super) fn of(text: &str) -> Self {
        Self { kept: text.len(), added: 0 }
    }

    /// Notes a part that is to be replaced.
    ///
    /// # Errors
    /// When the new parts alone are more than a file may hold.
    pub(super) fn replace(
        &mut self,
        old: usize,
        new: Option<usize>,
    ) -> Result<(), ReplacementError> {
        self.kept = self.kept.saturating_sub(old);
        let added = new.and_then(|new| self.added.checked_add(new));
        self.added = added.ok_or(ReplacementError::TooLarge)?;
        refuse_too_large(self.added)
    }

    /// # Errors
    /// When the whole text is more than a file may hold.
    pub(super) fn check(self) -> Result<(), ReplacementError> {
        refuse_too_large(self.kept.saturating_add(self.added))
    }
}

fn refuse_too_large(bytes: usize) -> Result<(), ReplacementError> {
    let is_too_large = u64::try_from(bytes).is_ok_and(|bytes| bytes > FILE_LIMIT_BYTES);
    if is_too_large { Err(ReplacementError::TooLarge) } else { Ok(()) }
}

/// Returns where a text stands. Of places that overlap the first one counts; a second one is
/// returned where `all` are not meant and it keeps the first from being the only one.
pub(super) fn occurrences(
    text: &str,
    old: &str,
    all: bool,
    work: &mut EditWork,
) -> Result<Vec<Range<usize>>, ReplacementError> {
    work.scan(text.len())?;
    let mut found = Vec::new();
    for (at, _) in text.match_indices(old) {
        work.place()?;
        found.push(at..at + old.len());
    }
    if let ([only], false) = (found.as_slice(), all) {
        let next = only.start + old.chars().next().map_or(1, char::len_utf8);
        let overlapping = text.get(next..).and_then(|rest| rest.find(old));
        found.extend(overlapping.map(|at| next + at..next + at + old.len()));
    }
    Ok(found)
}

/// Gives each place the same new text.
pub(super) fn same(
    text: &str,
    found: Vec<Range<usize>>,
    new: &str,
) -> Result<Vec<Replacement>, ReplacementError> {
    let new: Rc<str> = Rc::from(new);
    let mut length = NewLength::of(text);
    for range in &found {
        length.replace(range.len(), Some(new.len()))?;
    }
    length.check()?;
    Ok(found.into_iter().map(|range| Replacement { range, new: Rc::clone(&new) }).collect())
}

/// Whole lines that hold one of the places, or several that share lines.
pub(super) struct LineRun {
    /// The first of them, counted from 0.
    pub(super) line: usize,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where the last one ends.
    pub(super) end: usize,
    /// Which of the places they hold.
    pub(super) places: Range<usize>,
}

/// Returns the lines around the places, from top to bottom.
pub(super) fn runs(text: &str, found: &[Replacement]) -> Vec<LineRun> {
    let line_end = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.find('\n').map_or(text.len(), |to| from + to)
    };
    let mut runs: Vec<LineRun> = Vec::new();
    let (mut line, mut counted_to) = (0, 0);
    for (at, Replacement { range, .. }) in found.iter().enumerate() {
        if let Some(run) = runs.last_mut().filter(|run| range.start <= run.end) {
            if range.end > run.end {
                run.end = line_end(range.end);
            }
            run.places.end = at + 1;
            continue;
        }
        let passed = text.get(counted_to..range.start).unwrap_or_default();
        let start = passed.rfind('\n').map_or(counted_to, |end| counted_to + end + 1);
        line += newlines(passed);
        counted_to = start;
        runs.push(LineRun { line, start, end: line_end(range.end), places: at..at + 1 });
    }
    runs
}

/// Returns the lines, counted from 1, in which places begin, each once; the places are in order.
pub(super) fn line_numbers<'r>(
    text: &str,
    found: impl Iterator<Item = &'r Range<usize>>,
) -> Vec<usize> {
    let (mut line, mut counted_to) = (1, 0);
    let number = |range: &Range<usize>| {
        line += newlines(text.get(counted_to..range.start).unwrap_or_default());
        counted_to = range.start;
        line
    };
    let mut lines: Vec<usize> = found.map(number).collect();
    lines.dedup();
    lines
}

/// Returns how many lines a text ends.
pub(super) fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::{EditWork, NewLength, ReplacementError, line_numbers, occurrences, runs, same};
    use pretty_assertions::assert_eq;

    #[test]
    fn places_are_counted_with_their_lines_and_those_that_overlap_keep_one_from_being_alone() {
        for (text, old, all, expected, lines) in [
            ("aaa\n", "aa", false, vec![(0, 2), (1, 3)], vec![1]),
            ("aaa\n", "aa", true, vec![(0, 2)], vec![1]),
            ("a\nb a\n\na", "a", true, vec![(0, 1), (4, 5), (7, 8)], vec![1, 2, 4]),
            ("ababa", "aba", false, vec![(0, 3), (2, 5)], vec![1]),
            ("éé", "é", false, vec![(0, 2), (2, 4)], vec![1]),
            ("b", "a", false, vec![], vec![]),
        ] {
            let found = occurrences(text, old, all, &mut EditWork::default()).unwrap();
            let ends: Vec<_> = found.iter().map(|it| (it.start, it.end)).collect();
            assert_eq!(ends, expected, "{text:?} {old:?}");
            assert_eq!(line_numbers(text, found.iter()), lines, "{text:?} {old:?}");
        }
    }

    #[test]
    fn places_that_share_lines_are_one_run() {
        let text = "a\n\n\nb a a\nc\n";
        for (old, expected) in [
            ("a", vec![(0, 0, 1, 0..1), (3, 4, 9, 1..3)]),
            ("\n\n", vec![(0, 0, 3, 0..1)]),
            ("\n", vec![(0, 0, 12, 0..5)]),
            ("b a", vec![(3, 4, 9, 0..1)]),
        ] {
            let found = occurrences(text, old, true, &mut EditWork::default()).unwrap();
            let found = same(text, found, "x").unwrap();
            let runs: Vec<_> = runs(text, &found)
                .into_iter()
                .map(|run| (run.line, run.start, run.end, run.places))
                .collect();
            assert_eq!(runs, expected, "{old:?}");
        }
    }

    #[test]
    fn what_would_be_too_large_or_too_much_is_refused_before_it_is_built() {
        let mut length = NewLength::of("abc");
        assert_eq!(length.replace(1, Some(10 * 1024 * 1024)), Ok(()));
        assert_eq!(length.check(), Err(ReplacementError::TooLarge));
        assert_eq!(length.replace(2, Some(0)), Ok(()));
        assert_eq!(length.check(), Ok(()));
        assert_eq!(length.replace(0, Some(1)), Err(ReplacementError::TooLarge));
        assert_eq!(length.replace(0, None), Err(ReplacementError::TooLarge));
        let mut work = EditWork::default();
        assert_eq!(work.scan(512 * 1024 * 1024), Ok(()));
        assert_eq!(work.scan(1), Err(ReplacementError::TooMuch));
        let ten_thousand = "a".repeat(10_000);
        let found = |text: &str| occurrences(text, "a", true, &mut EditWork::default());
        assert_eq!(found(&ten_thousand).map(|found| found.len()), Ok(10_000));
        assert_eq!(found(&format!("{ten_thousand}a")), Err(ReplacementError::TooMany));
    }
}
