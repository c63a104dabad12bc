//! The lines that a result names, in any file of a checkout: what a finding can be about where no
//! pull request limits it.
//!
//! In: a result, and how many lines a file has. Out: every file that it names with a line, whole.

use std::collections::BTreeSet;

use crate::report::markdown::visible;
use locum_forge::CommentableLines;

/// Most files that are looked for.
const FILES_LIMIT: usize = 400;

/// What ends a path in a text.
const ENDS: &[char] = &['`', '"', '\'', '(', ')', '[', ']', '<', '>', '*', ',', ';', '|'];

/// Returns the files that a result names as `path:line`. `line_count` says how many lines a file
/// has; `None` when the text names no file.
pub fn named_lines(summary: &str, line_count: impl Fn(&str) -> Option<u32>) -> CommentableLines {
    let text = visible(summary);
    let words = text.split(|letter: char| letter.is_whitespace() || ENDS.contains(&letter));
    let paths: BTreeSet<&str> = words.filter_map(path_of).collect();
    paths
        .into_iter()
        .take(FILES_LIMIT)
        .filter_map(|path| Some((path.to_owned(), line_count(path).filter(|count| *count > 0)?)))
        .map(|(path, count)| (path, vec![(1, count)]))
        .collect()
}

/// Returns the path of a word such as `src/lib.rs:3`.
fn path_of(word: &str) -> Option<&str> {
    word.match_indices(':').find_map(|(at, _)| {
        let is_line = word.get(at + 1..)?.starts_with(|letter: char| letter.is_ascii_digit());
        word.get(..at).filter(|path| is_line && !path.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::named_lines;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_files_that_are_there_have_lines() {
        let count = |path: &str| match path {
            "src/lib.rs" => Some(9),
            "a-b.c" => Some(1),
            "empty" => Some(0),
            _ => None,
        };
        let text = "- **nit** `src/lib.rs:3` and (src/lib.rs:4-5)\n- a-b.c:1: no\n- empty:1, \
                    gone.rs:2, http://localhost:80, 12:30, src/lib.rs";
        let found = named_lines(text, count);
        let expected = [("a-b.c", vec![(1, 1)]), ("src/lib.rs", vec![(1, 9)])];
        let expected = expected.map(|(path, spans)| (path.to_owned(), spans));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
