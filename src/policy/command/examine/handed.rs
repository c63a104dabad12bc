//! What a program is given that runs code of the repository: words and values of which nothing says
//! that they are files it reads or writes.
//!
//! In: such a word. Out: a finding if it names what lies outside the repository or is protected.

use crate::command::examine::examiner::Examiner;
use locum_base::path::RepoPath;

/// What separates paths in a word, besides blanks.
const SEPARATORS: &[char] = &['=', ':', ',', '@'];

/// What names of options hold whose values are left alone.
const LEAVING_OUT: &[&str] = &["exclude", "ignore", "omit", "skip"];

impl Examiner<'_> {
    /// Refuses words that name what lies outside, or is protected.
    pub(super) fn handed(&mut self, words: &[(usize, String)]) {
        for (index, word) in words {
            self.handed_word(*index, word);
        }
    }

    pub(super) fn handed_word(&mut self, index: usize, word: &str) {
        if leaves(word, self.folder) {
            self.outside(index, word);
        } else {
            self.refuse_protected_word(index, word);
        }
    }

    /// The same for the value of an option, which a program may take for several words.
    pub(super) fn handed_value(&mut self, option: &str, index: usize, value: &str) {
        if !self.found.runs_code || leaves_out(option) {
            return;
        }
        if value.split_whitespace().any(|word| leaves(word, self.folder)) {
            self.outside(index, value);
        } else {
            self.refuse_protected_value(index, value);
        }
    }

    fn outside(&mut self, index: usize, word: &str) {
        self.finding(index, format!("`{word}` may be a path outside the repository"));
    }
}

/// Returns the paths that a word could name: the whole of it, and what stands around `=`, `:`, `,`,
/// `@`, brackets and blanks in it.
pub(super) fn nameable<'w>(
    word: &'w str,
    folder: &'w RepoPath,
) -> impl Iterator<Item = RepoPath> + 'w {
    let ends = |letter: char| {
        SEPARATORS.contains(&letter) || letter.is_whitespace() || "[]".contains(letter)
    };
    let pieces = word.split(ends).filter(move |piece| *piece != word);
    std::iter::once(word)
        .chain(pieces)
        .filter(|piece| !piece.is_empty())
        .filter_map(|piece| folder.join(piece).ok())
}

/// Returns true when a word is a path that leaves the repository, or has one behind an option's
/// name, `=`, `:`, `,` or `@`. Network addresses do not count as paths.
pub(super) fn leaves(word: &str, folder: &RepoPath) -> bool {
    let word = word.replace("https://", "").replace("http://", "");
    let pieces = word.split(SEPARATORS).chain(attached(&word)).chain(std::iter::once(&*word));
    let outside = |piece: &str| {
        piece != "/dev/null"
            && (piece.starts_with(['/', '~'])
                || (piece.contains("..") && folder.join(piece).is_err()))
    };
    pieces.filter(|piece| !piece.is_empty()).any(outside)
}

/// Returns what stands right behind a single letter of an option: the `/x` of `-I/x`.
pub(super) fn attached(word: &str) -> Option<&str> {
    let rest = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    rest.char_indices().nth(1).and_then(|(at, _)| rest.get(at..))
}

/// Returns true for an option whose value says what a program leaves out.
pub(super) fn leaves_out(option: &str) -> bool {
    let option = option.to_lowercase();
    option.starts_with("--") && LEAVING_OUT.iter().any(|part| option.contains(part))
}

#[cfg(test)]
mod tests {
    use super::leaves_out;

    #[test]
    fn options_that_leave_something_out_are_known_by_their_names() {
        for option in ["--exclude", "--testPathIgnorePatterns", "--skip-glob"] {
            assert!(leaves_out(option), "{option}");
        }
        for option in ["--output", "ignore", "-x", ""] {
            assert!(!leaves_out(option), "{option}");
        }
    }
}
