//! The lines around one line that belong together by their indentation: a method, a class, a block
//! of a configuration.

use std::ops::Range;

use crate::tools::files::read::view::{FileView, OutOfRange, lines_of};

/// Columns that make one level; a tab is one level.
const LEVEL_COLUMNS: usize = 4;

/// What starts a line that explains the line below it.
const COMMENT_STARTS: &[&str] = &["#", "//", "--", "/*", "*", "'''", "\"\"\""];

/// What is wanted around which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndentationScope {
    /// The line to start from, counted from 1.
    pub anchor_line: usize,
    /// Levels above the anchor's own that are shown; 0 for all.
    pub max_levels: usize,
    /// Shows what lies next to the outermost block, too.
    pub include_siblings: bool,
    /// Shows the comments right above the outermost block.
    pub include_header: bool,
    /// Most lines shown.
    pub max_lines: usize,
}

/// Grows a view from the anchor, one line up and one line down in turn, as long as lines are
/// indented deeply enough.
///
/// # Errors
/// When the anchor is not a line of the file.
pub fn around<'a>(text: &'a str, wanted: &IndentationScope) -> Result<FileView<'a>, OutOfRange> {
    let lines = lines_of(text);
    let total_lines = lines.len();
    let anchor = wanted.anchor_line.wrapping_sub(1);
    let levels = levels(&lines);
    let Some(own) = levels.get(anchor) else {
        return Err(OutOfRange::Anchor { anchor_line: wanted.anchor_line, total_lines });
    };
    let least = if wanted.max_levels == 0 { 0 } else { own.saturating_sub(wanted.max_levels) };
    let most_lines = wanted.max_lines.min(total_lines).max(1);
    if most_lines == 1 {
        // The line that was asked for is shown, blank or not.
        let lines = lines.get(anchor..=anchor).unwrap_or_default().to_vec();
        return Ok(FileView { first: anchor + 1, lines, total_lines, truncated: total_lines > 1 });
    }
    let grow = ScopeGrowth { lines: &lines, levels: &levels, least, wanted };
    let (Range { start, end }, is_cut) = grow.from(anchor, most_lines);
    let shown = lines.get(start..end).unwrap_or_default();
    let leading = shown.iter().take_while(|line| line.trim().is_empty()).count();
    let trailing = shown.iter().rev().take_while(|line| line.trim().is_empty()).count();
    let shown =
        shown.get(leading..shown.len().saturating_sub(trailing).max(leading)).unwrap_or_default();
    Ok(FileView {
        first: start + leading + 1,
        lines: shown.to_vec(),
        total_lines,
        // Blank lines at the edges that are not shown count, too.
        truncated: is_cut || shown.len() >= most_lines,
    })
}

struct ScopeGrowth<'a> {
    lines: &'a [&'a str],
    levels: &'a [usize],
    least: usize,
    wanted: &'a IndentationScope,
}

impl ScopeGrowth<'_> {
    /// Returns the range of lines, counted from 0, and whether the limit ended it before both sides
    /// were looked at to their ends.
    fn from(&self, anchor: usize, most_lines: usize) -> (Range<usize>, bool) {
        let (mut start, mut end) = (anchor, anchor + 1);
        let (mut up, mut down) = (true, true);
        let (mut outermost_above, mut outermost_below) = (0, 0);
        let is_header = |start: usize| {
            let above = self.lines.get(start - 1).map_or("", |line| line.trim_start());
            self.wanted.include_header && COMMENT_STARTS.iter().any(|mark| above.starts_with(mark))
        };
        while end - start < most_lines && (up || down) {
            up = up && start > 0 && self.takes(start - 1, is_header(start), &mut outermost_above);
            if up {
                start -= 1;
            }
            if end - start >= most_lines {
                break;
            }
            down = down && self.takes(end, false, &mut outermost_below);
            if down {
                end += 1;
            }
        }
        (start..end, (up && start > 0) || (down && end < self.lines.len()))
    }

    /// Whether the line next to the range belongs to it; one that does not may follow once.
    fn takes(&self, at: usize, is_header: bool, outermost: &mut usize) -> bool {
        let Some(level) = self.levels.get(at).copied() else { return false };
        if level > self.least || (level == self.least && self.wanted.include_siblings) {
            return true;
        }
        let taken = level == self.least && (*outermost == 0 || is_header);
        *outermost += 1;
        taken
    }
}

/// A blank line is as deep as the line before it.
fn levels(lines: &[&str]) -> Vec<usize> {
    let mut previous = 0;
    lines
        .iter()
        .map(|line| {
            if !line.trim().is_empty() {
                let indent = line.chars().take_while(|letter| matches!(letter, ' ' | '\t'));
                let columns: usize =
                    indent.map(|letter| if letter == '\t' { LEVEL_COLUMNS } else { 1 }).sum();
                previous = columns / LEVEL_COLUMNS;
            }
            previous
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{IndentationScope, around};
    use pretty_assertions::assert_eq;

    const TEXT: &str = "use a;\n\n// Adds.\n// Twice.\nfn add() {\n    one();\n\n    two \
                        {\n\tthree();\n    }\n}\n\nfn other() {\n    four();\n}\n";

    fn range(wanted: &IndentationScope) -> (usize, usize) {
        around(TEXT, wanted).map(|view| (view.first, view.last())).unwrap()
    }

    #[test]
    fn shows_what_belongs_together() {
        let base = IndentationScope {
            anchor_line: 6,
            max_levels: 1,
            include_siblings: false,
            include_header: true,
            max_lines: 2000,
        };
        assert_eq!(range(&base), (3, 11));
        assert_eq!(range(&IndentationScope { include_header: false, ..base }), (5, 11));
        assert_eq!(range(&IndentationScope { include_siblings: true, ..base }), (1, 15));
        assert_eq!(range(&IndentationScope { max_levels: 0, ..base }), (3, 11));
        assert_eq!(range(&IndentationScope { max_lines: 3, ..base }), (5, 6));
        assert_eq!(range(&IndentationScope { max_lines: 1, ..base }), (6, 6));
    }

    #[test]
    fn a_cut_is_told_also_where_blank_lines_at_the_edge_are_left_out() {
        let text = "def a():\n    x\n\n    y\n    z\n\ndef b():\n    w\n";
        for (anchor_line, max_lines, shown, truncated) in [
            // The third line is the blank one above.
            (4, 3, (4, 5), true),
            (4, 2, (4, 4), true),
            (2, 5, (1, 5), true),
            (4, 6, (1, 5), true),
            (4, 2000, (1, 8), false),
        ] {
            let wanted = IndentationScope {
                anchor_line,
                max_levels: 1,
                include_siblings: false,
                include_header: true,
                max_lines,
            };
            let view = around(text, &wanted).unwrap();
            let found = ((view.first, view.last()), view.truncated);
            assert_eq!(found, (shown, truncated), "{anchor_line} {max_lines}");
        }
    }

    #[test]
    fn blank_lines_alone_are_no_range() {
        let view = |text: &'static str, anchor_line, max_lines| {
            let wanted = IndentationScope {
                anchor_line,
                max_levels: 0,
                include_siblings: false,
                include_header: true,
                max_lines,
            };
            let view = around(text, &wanted).unwrap();
            (view.range(), view.render(), view.truncated)
        };
        let shown = |first, last, text: &str, cut| (Some((first, last)), text.to_owned(), cut);
        assert_eq!(view("a\n\n\nb", 3, 1), shown(3, 3, "3 | ", true));
        assert_eq!(view("a\n\n\nb", 3, 2), (None, String::new(), true));
        assert_eq!(view("a\n\n\nb", 3, 3), shown(4, 4, "4 | b", true));
        assert_eq!(view("\n\n\n", 2, 2000), (None, String::new(), false));
        assert_eq!(view("", 1, 2000), shown(1, 1, "1 | ", false));
        assert_eq!(view("a", 1, 2000), shown(1, 1, "1 | a", false));
    }

    #[test]
    fn refuses_an_anchor_outside() {
        for anchor_line in [0, 17, usize::MAX] {
            let wanted = IndentationScope {
                anchor_line,
                max_levels: 0,
                include_siblings: false,
                include_header: true,
                max_lines: 9,
            };
            assert!(around(TEXT, &wanted).is_err(), "{anchor_line}");
        }
    }
}
