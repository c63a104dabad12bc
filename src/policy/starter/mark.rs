//! The last line of a file that `locum init` writes: it tells later whether anything was changed by
//! hand, and what was chosen for it.
//!
//! In: a text. Out: the text with its mark, or what a mark says.

use crate::hash_of;

/// How the line begins; flags follow.
const BEGIN: &str = "# Written by `locum init";
/// What follows the hash.
const END: &str = "; `locum init --update` keeps what you change.";
/// Digits of the hash that are kept.
const DIGITS: usize = 12;
/// The flag that names what may be edited.
const EDIT: &str = " --edit ";

/// Adds the mark, which names the globs of what may be edited where somebody chose them.
pub fn marked(text: &str, edits: &[String]) -> String {
    let flags: String = edits.iter().map(|glob| format!("{EDIT}{glob}")).collect();
    let hash = hash_of(text);
    let number: String = hash.chars().take(DIGITS).collect();
    format!("{text}{BEGIN}{flags}` {number}{END}\n")
}

/// Returns true for a text that is as `locum init` wrote it.
pub fn is_as_written(text: &str) -> bool {
    let above = text.rfind(BEGIN).and_then(|at| text.get(..at));
    above.is_some_and(|above| marked(above, &chosen_edits(text)) == text)
}

/// Returns the globs that somebody chose for what may be edited.
pub fn chosen_edits(text: &str) -> Vec<String> {
    let mark = text.rfind(BEGIN).and_then(|at| text.get(at + BEGIN.len()..)).unwrap_or_default();
    let flags = mark.split('`').next().unwrap_or_default();
    flags.split(EDIT).skip(1).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{chosen_edits, is_as_written, marked};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_mark_fits_only_what_was_written() {
        for edits in [&[][..], &["src/**".to_owned(), "lib/*.rb".to_owned()]] {
            let text = marked("a: 1\nb: 2\n", edits);
            assert!(is_as_written(&text), "{text}");
            assert_eq!(chosen_edits(&text), edits);
            for changed in [text.replace('2', "3"), text.replace("a: 1\n", "")] {
                assert!(!is_as_written(&changed), "{changed}");
            }
        }
        assert!(!is_as_written("a: 1\n"));
    }
}
