//! `EditedLines`: the lines of a file, each with its own line end, while runs of them are replaced.
//!
//! Lines that are not replaced come out byte for byte as they went in, also where a file mixes line
//! ends. A byte order mark stays in front of them. A final line end starts an empty last line.

use std::ops::Range;

/// What some programs begin a text with.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// A place of the new text that differs from the old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedRange {
    /// First line in the new text, counted from 1.
    pub line: usize,
    /// Lines taken out.
    pub removed: usize,
    /// Lines put in.
    pub added: usize,
}

/// The lines of a file while it is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedLines {
    /// The byte order mark, or nothing.
    mark: &'static str,
    lines: Vec<String>,
    /// One for each line; that of the last stands for what would follow it.
    ends: Vec<LineEnd>,
    changed: Vec<ChangedRange>,
}

impl EditedLines {
    /// Splits a text.
    pub fn new(text: &str) -> Self {
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest),
            None => ("", text),
        };
        let mut parts: Vec<&str> = text.split('\n').collect();
        let last = parts.pop().unwrap_or_default();
        let (mut lines, mut ends): (Vec<String>, Vec<LineEnd>) = parts
            .into_iter()
            .map(|line| match line.strip_suffix('\r') {
                Some(line) => (line.to_owned(), LineEnd::CrLf),
                None => (line.to_owned(), LineEnd::Lf),
            })
            .unzip();
        lines.push(last.to_owned());
        ends.push(ends.last().copied().unwrap_or(LineEnd::Lf));
        Self { mark, lines, ends, changed: Vec::new() }
    }

    /// Returns the lines, without their ends.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns what differs from the text it began with, from top to bottom as replaced.
    pub fn changed(&self) -> &[ChangedRange] {
        &self.changed
    }

    /// Returns true when the text ends with a line end or is empty.
    pub fn is_ended(&self) -> bool {
        self.lines.last().is_none_or(String::is_empty)
    }

    /// Ends the text with a line end, or with its last line.
    pub fn set_ended(&mut self, ended: bool) {
        if ended == self.is_ended() || self.lines.len() < 2 && !ended {
            return;
        }
        if ended {
            self.lines.push(String::new());
            self.ends.push(self.ends.last().copied().unwrap_or(LineEnd::Lf));
        } else {
            self.lines.pop();
            self.ends.pop();
        }
    }

    /// Puts `new` lines in the place of those in `range`, each with the end of the line it stands
    /// for; returns false when nothing would change.
    pub fn replace(&mut self, range: Range<usize>, new: Vec<String>) -> bool {
        self.replace_runs(vec![(range, new)])
    }

    /// As [`EditedLines::replace`], for several runs of lines, which are in order and apart.
    pub fn replace_runs(&mut self, runs: Vec<(Range<usize>, Vec<String>)>) -> bool {
        let last = self.lines.len().saturating_sub(1);
        // From the last to the first, so that the numbers of the lines above stay as they are; what
        // is below is put back once.
        let mut below = Vec::new();
        for (range, new) in runs.into_iter().rev() {
            let (Range { start, end }, new) = self.differing(range, new);
            if start == end && new.is_empty() {
                continue;
            }
            let own = |at: usize| {
                let at = (start + at).min(end.saturating_sub(1).max(start));
                let at = if at >= last { last.saturating_sub(1) } else { at };
                self.ends.get(at).copied().unwrap_or(LineEnd::Lf)
            };
            let ends: Vec<LineEnd> = (0..new.len()).map(own).collect();
            self.note(start, end - start, new.len());
            below.push((self.lines.split_off(end), self.ends.split_off(end)));
            below.push((new, ends));
            self.lines.truncate(start);
            self.ends.truncate(start);
        }
        let is_changed = !below.is_empty();
        for (lines, ends) in below.into_iter().rev() {
            self.lines.extend(lines);
            self.ends.extend(ends);
        }
        is_changed
    }

    /// Leaves out the lines at both ends that stay as they are.
    fn differing(&self, range: Range<usize>, mut new: Vec<String>) -> (Range<usize>, Vec<String>) {
        let end = range.end.min(self.lines.len());
        let start = range.start.min(end);
        let old = self.lines.get(start..end).unwrap_or_default();
        let shared = |left: &mut dyn Iterator<Item = (&String, &String)>| {
            left.take_while(|(old, new)| old == new).count()
        };
        let head = shared(&mut old.iter().zip(&new));
        let most = old.len().min(new.len()) - head;
        let tail = shared(&mut old.iter().rev().zip(new.iter().rev())).min(most);
        new.truncate(new.len() - tail);
        new.drain(..head);
        (start + head..end - tail, new)
    }

    /// Moves the places noted so far, and notes one more.
    fn note(&mut self, start: usize, removed: usize, added: usize) {
        let line = start + 1;
        // What is replaced once more is one place.
        self.changed.retain(|known| {
            known.added == 0 || known.line < line || known.line + known.added > line + removed
        });
        for known in self.changed.iter_mut().filter(|known| known.line >= line + removed) {
            known.line = known.line + added - removed;
        }
        self.changed.push(ChangedRange { line, removed, added });
    }

    /// Returns where a line of the text it began with stands by now, both counted from 1.
    pub fn moved(&self, line: usize) -> usize {
        let mut sorted = self.changed.clone();
        sorted.sort_by_key(|change| change.line);
        sorted.iter().fold(line, |line, change| {
            if line >= change.line + change.removed {
                line + change.added - change.removed
            } else {
                line.min(change.line)
            }
        })
    }

    /// Returns true when a run of lines holds something that was put in.
    pub fn is_new(&self, range: &Range<usize>) -> bool {
        self.changed.iter().any(|change| {
            change.added > 0
                && change.line - 1 < range.end
                && range.start < change.line - 1 + change.added
        })
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let size: usize = self.lines.iter().map(|line| line.len() + 2).sum();
        let mut text = String::with_capacity(self.mark.len() + size);
        text.push_str(self.mark);
        let last = self.lines.len().saturating_sub(1);
        for (at, (line, end)) in self.lines.iter().zip(&self.ends).enumerate() {
            text.push_str(line);
            if at < last {
                text.push_str(if *end == LineEnd::CrLf { "\r\n" } else { "\n" });
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangedRange, EditedLines};
    use pretty_assertions::assert_eq;

    fn replaced(text: &str, range: std::ops::Range<usize>, new: &[&str]) -> String {
        let mut lines = EditedLines::new(text);
        lines.replace(range, new.iter().map(|line| (*line).to_owned()).collect());
        lines.text()
    }

    #[test]
    fn lines_that_are_not_replaced_stay_byte_for_byte() {
        for text in [
            "",
            "a",
            "\u{feff}",
            "\u{feff}a\n",
            "a\n",
            "a\r\nb\nc\r\n",
            "\r\n",
            "a\r",
            "a\n\r\nb\r\r\n",
        ] {
            assert_eq!(EditedLines::new(text).text(), text, "{text:?}");
        }
        assert_eq!(replaced("a\r\nb\nc\r\n", 0..1, &["x", "y"]), "x\r\ny\r\nb\nc\r\n");
        assert_eq!(replaced("a\r\nb\nc\r\n", 1..2, &["x", "y"]), "a\r\nx\ny\nc\r\n");
        assert_eq!(replaced("a\r\nb", 1..2, &["x", "y"]), "a\r\nx\r\ny");
        assert_eq!(replaced("a\r\nb\r\n", 0..2, &[]), "");
        assert_eq!(replaced("a", 0..1, &["x", "y"]), "x\ny");
    }

    #[test]
    fn only_what_differs_counts_as_changed() {
        let mut lines = EditedLines::new("a\nb\nc\nd\n");
        let new = |text: &str| text.split('|').map(ToOwned::to_owned).collect::<Vec<_>>();
        assert!(lines.replace(2..4, new("c|D|E")));
        assert!(!lines.replace(0..1, new("a")));
        assert!(lines.replace(0..2, new("a|x|b")));
        let range = |line, removed, added| ChangedRange { line, removed, added };
        assert_eq!(lines.changed(), [range(5, 1, 2), range(2, 0, 1)]);
        assert_eq!([1, 2, 3, 4].map(|line| lines.moved(line)), [1, 3, 4, 5]);
        assert_eq!(
            [(0..1), (1..2), (2..4), (3..5)].map(|run| lines.is_new(&run)),
            [false, true, false, true]
        );
        assert_eq!(lines.text(), "a\nx\nb\nc\nD\nE\n");
    }

    #[test]
    fn several_runs_are_replaced_as_they_would_be_one_by_one() {
        let text = "a\r\nb\nc\nd\r\ne";
        let runs = [(0..1, vec!["x", "y"]), (1..3, vec!["b"]), (4..5, vec!["f", "g"])];
        let owned = |new: &[&str]| new.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let (mut together, mut alone) = (EditedLines::new(text), EditedLines::new(text));
        for (range, new) in runs.iter().rev() {
            assert!(alone.replace(range.clone(), owned(new)));
        }
        assert!(together.replace_runs(runs.map(|(range, new)| (range, owned(&new))).to_vec()));
        assert_eq!(together, alone);
        assert_eq!(together.text(), "x\r\ny\r\nb\nd\r\nf\r\ng");
        assert!(!together.replace_runs(vec![(0..1, owned(&["x"])), (2..3, owned(&["b"]))]));
    }

    #[test]
    fn the_final_line_end_can_be_set() {
        for (text, ended, expected) in [
            ("a", true, "a\n"),
            ("a\r\nb", true, "a\r\nb\r\n"),
            ("a\n", false, "a"),
            ("", false, ""),
            ("", true, ""),
        ] {
            let mut lines = EditedLines::new(text);
            lines.set_ended(ended);
            assert_eq!(lines.text(), expected, "{text:?}");
        }
    }
}
