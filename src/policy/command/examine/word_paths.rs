//! Which paths a word could name, and whether one of them leaves the repository.
//!
//! In: a word, or the name of an option, and the folder that a command runs in. Out: paths, or yes
//! and no. Nothing here knows what a program does with it.

use locum_base::path::RepoPath;

/// What separates paths in a word, besides blanks.
const SEPARATORS: &[char] = &['=', ':', ',', '@'];

/// What names of options hold whose values are left alone.
const LEAVING_OUT: &[&str] = &["exclude", "ignore", "omit", "skip"];

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
