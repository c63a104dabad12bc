//! The part of a page's outline that an answer shows: all of it, what the window shows, or what
//! begins at an element.
//!
//! In: lines, in the order of the page. Out: a text, bounded, that says what it leaves out and how
//! that is seen.

/// Most bytes of it, without the lines that say what is left out.
pub(super) const PART_LIMIT_BYTES: usize = 12 * 1024;

/// Shorter gaps between what the window shows are shown.
const GAP_LINES: usize = 5;

/// How deep lines are indented.
const INDENT_LIMIT: usize = 12;

/// A line of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutlineLine {
    /// How many lines it is in.
    pub(super) indent: usize,
    /// What it says.
    pub(super) text: String,
    /// The browser's number for what it is about.
    pub(super) number: Option<u64>,
    /// Whether the window shows that.
    pub(super) in_window: bool,
}

impl OutlineLine {
    fn render(&self) -> String {
        format!("{}- {}\n", "  ".repeat(self.indent.min(INDENT_LIMIT)), self.text)
    }

    /// Adds it to a text; returns false where the text would be too long.
    fn is_added_to(&self, text: &mut String) -> bool {
        let written = self.render();
        let fits = text.len() + written.len() <= PART_LIMIT_BYTES;
        if fits {
            text.push_str(&written);
        }
        fits
    }
}

/// Returns all of a page where that is short, and else what the window shows, with what comes after
/// it. `more` is true where the lines are not all of the page.
pub(super) fn in_window(lines: &[OutlineLine], more: bool) -> String {
    let all: usize = lines.iter().map(|line| line.render().len()).sum();
    if all <= PART_LIMIT_BYTES {
        return from(lines, 0, more);
    }
    let kept = kept(lines);
    let last = kept.iter().rposition(|kept| *kept);
    let mut text = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let gap = kept.get(at..).unwrap_or_default().iter().take_while(|kept| !**kept).count();
        if last.is_some_and(|last| at < last) && gap >= GAP_LINES {
            let hint = look_at(lines.get(at..).unwrap_or_default());
            text.push_str(&format!("({gap} lines that the window does not show{hint})\n"));
            at += gap;
            continue;
        }
        if !line.is_added_to(&mut text) {
            break;
        }
        at += 1;
    }
    text + &rest(lines, at, more)
}

/// Returns what begins at a line.
pub(super) fn from(lines: &[OutlineLine], start: usize, more: bool) -> String {
    let mut text = match start {
        0 => String::new(),
        _ => format!("({start} lines before)\n"),
    };
    let mut at = start;
    while lines.get(at).is_some_and(|line| line.is_added_to(&mut text)) {
        at += 1;
    }
    text + &rest(lines, at, more)
}

/// Says what comes after the lines that are shown.
fn rest(lines: &[OutlineLine], at: usize, more: bool) -> String {
    let left = lines.get(at..).unwrap_or_default();
    let unlisted = if more { ", and more that is not listed" } else { "" };
    match left.len() {
        0 if more => "(the page goes on: the rest of it is not listed)\n".to_owned(),
        0 => String::new(),
        count => format!("(the page goes on for {count} lines{unlisted}{})\n", look_at(left)),
    }
}

/// Says how lines are seen that are left out.
fn look_at(lines: &[OutlineLine]) -> String {
    let number = lines.iter().find_map(|line| line.number);
    number.map_or_else(
        || ": scroll".to_owned(),
        |number| format!(": scroll, or `look` with `element` {number}"),
    )
}

/// Returns which lines the window shows, with those that they are in.
fn kept(lines: &[OutlineLine]) -> Vec<bool> {
    let mut kept = vec![false; lines.len()];
    let mut above: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        while above.pop_if(|(indent, _)| *indent >= line.indent).is_some() {}
        above.push((line.indent, at));
        if !line.in_window {
            continue;
        }
        for (_, outer) in above.iter().rev() {
            match kept.get_mut(*outer) {
                Some(kept) if !*kept => *kept = true,
                _ => break,
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{OutlineLine, PART_LIMIT_BYTES, from, in_window};

    /// A list of so many buttons, of which the window shows some.
    fn buttons(count: u64, shown: std::ops::Range<u64>) -> Vec<OutlineLine> {
        let line = |number: u64| OutlineLine {
            indent: 1,
            text: format!("button \"Button {number}\" [{number}]"),
            number: Some(number),
            in_window: shown.contains(&number),
        };
        let list =
            OutlineLine { indent: 0, text: "list".to_owned(), number: Some(0), in_window: false };
        std::iter::once(list).chain((1..=count).map(line)).collect()
    }

    #[test]
    fn a_short_page_is_shown_whole() {
        let text = in_window(&buttons(3, 2..3), false);
        assert_eq!(text.lines().count(), 4);
        assert!(text.starts_with("- list\n  - button \"Button 1\" [1]\n"), "{text}");
        assert_eq!(in_window(&[], false), "");
        assert!(in_window(&buttons(3, 2..3), true).ends_with("the rest of it is not listed)\n"));
    }

    #[test]
    fn a_long_page_begins_with_what_the_window_shows() {
        let text = in_window(&buttons(2000, 900..920), false);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("- list"));
        assert_eq!(
            lines.next(),
            Some("(899 lines that the window does not show: scroll, or `look` with `element` 1)")
        );
        assert_eq!(lines.next(), Some("  - button \"Button 900\" [900]"));
        let last = text.lines().last().unwrap();
        let number: u64 =
            text.lines().rev().nth(1).unwrap().split(['[', ']']).nth(1).unwrap().parse().unwrap();
        assert!((1200..1400).contains(&number), "{number}");
        assert_eq!(
            last,
            format!(
                "(the page goes on for {} lines: scroll, or `look` with `element` {})",
                2000 - number,
                number + 1
            )
        );
        assert!(text.len() < PART_LIMIT_BYTES + 300);
    }

    #[test]
    fn every_line_is_reached_from_the_one_before() {
        let lines = buttons(2000, 0..0);
        let (mut start, mut seen) = (0, 0);
        loop {
            let text = from(&lines, start, false);
            seen += text.lines().filter(|line| line.contains("- ")).count();
            let Some((_, next)) = text.rsplit_once("`element` ") else { break };
            start = next.trim_end_matches(")\n").parse().unwrap();
        }
        assert_eq!(seen, lines.len());
    }
}
