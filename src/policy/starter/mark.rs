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

/// Returns true for a text that began as one of `locum init`.
pub fn is_marked(text: &str) -> bool {
    text.contains(BEGIN)
}

/// What somebody chose for a file, in place of what would be proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedChoices {
    /// Globs of what may be edited.
    pub edits: Vec<String>,
    /// Names of jobs.
    pub jobs: Vec<String>,
}

impl MarkedChoices {
    /// Returns the flags that choose the same.
    fn flags(&self) -> String {
        let edits = self.edits.iter().map(|glob| format!(" --edit {glob}"));
        edits.chain(self.jobs.iter().map(|name| format!(" --job {name}"))).collect()
    }

    /// Reads what the mark of a text says; nothing where it has none.
    pub fn of(text: &str) -> Self {
        let mark = text.rfind(BEGIN).and_then(|at| text.get(at + BEGIN.len()..));
        let flags = mark.unwrap_or_default().split('`').next().unwrap_or_default();
        let mut words = flags.split_ascii_whitespace();
        let mut choices = Self::default();
        while let (Some(flag), Some(value)) = (words.next(), words.next()) {
            match flag {
                "--edit" => choices.edits.push(value.to_owned()),
                "--job" => choices.jobs.push(value.to_owned()),
                _ => {}
            }
        }
        choices
    }
}

/// Adds the mark, which names what somebody chose.
pub fn marked(text: &str, choices: &MarkedChoices) -> String {
    let hash = hash_of(text);
    let number: String = hash.chars().take(DIGITS).collect();
    format!("{text}{BEGIN}{}` {number}{END}\n", choices.flags())
}

/// Returns true for a text that is as `locum init` wrote it.
pub fn is_as_written(text: &str) -> bool {
    let above = text.rfind(BEGIN).and_then(|at| text.get(..at));
    above.is_some_and(|above| marked(above, &MarkedChoices::of(text)) == text)
}

#[cfg(test)]
mod tests {
    use super::{MarkedChoices, is_as_written, marked};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_mark_fits_only_what_was_written() {
        let chosen = MarkedChoices {
            edits: vec!["src/**".to_owned(), "lib/*.rb".to_owned()],
            jobs: vec!["release-notes".to_owned()],
        };
        for choices in [MarkedChoices::default(), chosen] {
            let text = marked("a: 1\nb: 2\n", &choices);
            assert!(is_as_written(&text), "{text}");
            assert_eq!(MarkedChoices::of(&text), choices);
            for changed in [text.replace('2', "3"), text.replace("a: 1\n", "")] {
                assert!(!is_as_written(&changed), "{changed}");
            }
        }
        assert!(!is_as_written("a: 1\n"));
        assert_eq!(MarkedChoices::of("a: 1\n"), MarkedChoices::default());
    }
}
