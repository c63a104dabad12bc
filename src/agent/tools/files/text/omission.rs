//! What a whole new content of a file leaves out by mistake: a line that stands for the rest, or
//! more than half of the file. Pure.

use crate::tools::files::text::placeholder::first_placeholder;

/// Files shorter than this may lose as much as they like, in lines.
const LONG_FILE_LINES: usize = 40;

/// What seems to be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Omission {
    /// A line of the new content stands for text of the old one.
    Placeholder(String),
    /// More than half of the lines would be gone.
    Shrinkage {
        /// Lines before.
        before: usize,
        /// Lines after.
        after: usize,
    },
}

/// Returns what a new content seems to leave out of the old one.
pub fn omission(before: &str, after: &str) -> Option<Omission> {
    let [old, new] = [before, after].map(|text| text.lines().count());
    let known = |line: &str| before.lines().any(|known| known.trim() == line);
    if let Some(line) = first_placeholder(after.lines(), known, new < old) {
        return Some(Omission::Placeholder(line.to_owned()));
    }
    (old >= LONG_FILE_LINES && new < old / 2)
        .then_some(Omission::Shrinkage { before: old, after: new })
}

#[cfg(test)]
mod tests {
    use super::{Omission, omission};
    use pretty_assertions::assert_eq;

    #[test]
    fn notices_what_is_left_out() {
        let long = "a\n".repeat(100);
        let placeholder = |line: &str| Some(Omission::Placeholder(line.to_owned()));
        for (before, after, expected) in [
            ("a\nb\n", "a\n# ... existing code ...\n", placeholder("# ... existing code ...")),
            ("a\n# ... existing code ...\n", "b\n# ... existing code ...\n", None),
            (long.as_str(), "a\n", Some(Omission::Shrinkage { before: 100, after: 1 })),
            (
                long.as_str(),
                &"b\n".repeat(49),
                Some(Omission::Shrinkage { before: 100, after: 49 }),
            ),
            (long.as_str(), &"b\n".repeat(50), None),
            (&"a\n".repeat(39), "a\n", None),
            (&"a\n".repeat(40), "a\n", Some(Omission::Shrinkage { before: 40, after: 1 })),
            ("", &long, None),
        ] {
            assert_eq!(omission(before, after), expected, "{after}");
        }
    }
}
