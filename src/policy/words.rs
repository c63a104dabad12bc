//! Lists of words, written as one text with blanks between the words.

/// Returns true when a list holds a word.
pub(crate) fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
