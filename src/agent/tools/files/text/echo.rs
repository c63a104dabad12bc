//! The lines around what an edit changed, numbered as `read_file` does, for the answer to it: the
//! model sees what stands there now. Bounded in lines and bytes.

use std::fmt::Write as _;

use crate::tools::files::text::lines::ChangedRange;
use locum_base::text::head;

/// Lines shown above and below a change.
const AROUND_LINES: usize = 2;

/// Lines of one change that are shown; of a longer one its first and last.
const CHANGE_LIMIT_LINES: usize = 12;

/// Lines shown of all changes of a file.
const FILE_LIMIT_LINES: usize = 60;

/// Most bytes shown of one line.
const LINE_LIMIT_BYTES: usize = 200;

/// Bytes of a longer line that are shown before what is new in it.
const BEFORE_CHANGE_BYTES: usize = 60;

/// Shows the changed places of a text, given what it was; places that touch are shown as one.
pub fn echo(before: &[String], lines: &[String], changed: &[ChangedRange]) -> String {
    let count = lines.len() - usize::from(lines.last().is_some_and(String::is_empty));
    let mut text = String::new();
    let mut shown = 0;
    let mut next = 0;
    let mut sorted = changed.to_vec();
    sorted.sort_by_key(|change| change.line);
    for (at, change) in sorted.iter().enumerate() {
        if shown >= FILE_LIMIT_LINES {
            let left = sorted.len() - at;
            let _ = write!(text, "\n[{left} more places]");
            break;
        }
        let first = change.line - 1;
        let end = (first + change.added).min(count);
        let from = first.saturating_sub(AROUND_LINES).max(next);
        let until = (end + AROUND_LINES).min(count);
        if from > next && !text.is_empty() {
            text.push_str("\n[...]");
        }
        let half = CHANGE_LIMIT_LINES / 2;
        let hidden = if change.added > CHANGE_LIMIT_LINES {
            first + half..end.saturating_sub(half)
        } else {
            0..0
        };
        for number in from..until {
            if number == hidden.start && !hidden.is_empty() {
                let _ = write!(text, "\n[{} lines as sent]", hidden.len());
            }
            if hidden.contains(&number) {
                continue;
            }
            let line = lines.get(number).map_or("", String::as_str);
            let old = counterpart(&sorted, number).and_then(|number| before.get(number));
            let line = cut(line, old.map(String::as_str), LINE_LIMIT_BYTES);
            let _ = write!(text, "\n{} | {line}", number + 1);
            shown += 1;
        }
        next = next.max(until);
    }
    text
}

/// Returns which line of the old text a changed one was, where as many came as went. Lines count
/// from 0, changes are in order.
fn counterpart(changed: &[ChangedRange], number: usize) -> Option<usize> {
    let mut old = number;
    for change in changed {
        let first = change.line - 1;
        if number < first {
            return None;
        }
        if number < first + change.added {
            return (change.added == change.removed).then_some(old);
        }
        old = (old + change.removed).checked_sub(change.added)?;
    }
    None
}

/// Returns what is shown of a line: of one that is longer than `limit_bytes` its beginning, or from
/// shortly before where it is another than `old`.
pub(crate) fn cut(line: &str, old: Option<&str>, limit_bytes: usize) -> String {
    if line.len() <= limit_bytes {
        return line.to_owned();
    }
    let is_same = |(one, other): &(char, char)| one == other;
    let same = old.map_or(0, |old| {
        line.chars().zip(old.chars()).take_while(is_same).map(|(one, _)| one.len_utf8()).sum()
    });
    let from = line.floor_char_boundary(same.saturating_sub(BEFORE_CHANGE_BYTES));
    let rest = line.get(from..).unwrap_or_default();
    let shown = head(rest, limit_bytes);
    let dots = |is_cut: bool| if is_cut { "..." } else { "" };
    format!("{}{shown}{}", dots(from > 0), dots(shown.len() < rest.len()))
}

#[cfg(test)]
mod tests {
    use super::echo;
    use crate::tools::files::text::lines::ChangedRange;
    use pretty_assertions::assert_eq;

    fn text(count: usize) -> Vec<String> {
        (1..=count).map(|line| format!("l{line}")).chain([String::new()]).collect()
    }

    fn range(line: usize, removed: usize, added: usize) -> ChangedRange {
        ChangedRange { line, removed, added }
    }

    #[test]
    fn shows_the_lines_around_each_change_once() {
        assert_eq!(
            echo(&[], &text(9), &[range(5, 1, 1)]),
            "\n3 | l3\n4 | l4\n5 | l5\n6 | l6\n7 | l7"
        );
        assert_eq!(
            echo(&[], &text(30), &[range(20, 1, 0), range(2, 1, 1), range(4, 1, 1)]),
            "\n1 | l1\n2 | l2\n3 | l3\n4 | l4\n5 | l5\n6 | l6\n[...]\n18 | l18\n19 | l19\n20 | l20\n21 | l21"
        );
        assert_eq!(echo(&[], &text(0), &[range(1, 3, 0)]), "");
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let long = echo(&[], &text(300), &[range(10, 0, 200)]);
        assert!(long.contains("\n15 | l15\n[188 lines as sent]\n204 | l204\n"), "{long}");
        let many: Vec<ChangedRange> = (0..50).map(|at| range(10 * at + 5, 1, 1)).collect();
        let shown = echo(&[], &text(600), &many);
        assert!(shown.ends_with("[38 more places]") && shown.lines().count() < 80, "{shown}");
        assert_eq!(
            echo(&[], &["x".repeat(500), String::new()], &[range(1, 0, 1)]).len(),
            200 + "\n1 | ...".len()
        );
    }

    #[test]
    fn of_a_long_line_what_is_new_in_it_is_shown() {
        let line = |word: &str| format!("{}{word}{}", "é".repeat(200), "y".repeat(300));
        let before = ["a".to_owned(), line("OLD")];
        // A line more above moves it.
        let after = ["a".to_owned(), "b".to_owned(), line("NEW")];
        let shown = echo(&before, &after, &[range(2, 0, 1), range(3, 1, 1)]);
        let expected = format!("\n3 | ...{}NEW{}...", "é".repeat(30), "y".repeat(137));
        assert!(shown.ends_with(&expected), "{shown}");
        let longer = [after[0].clone(), line("NEW"), line("more")];
        let shown = echo(&before, &longer, &[range(2, 1, 2)]);
        assert!(shown.contains("\n2 | éé") && !shown.contains("NEW"), "{shown}");
    }
}
