//! Lists of words, written as one text with blanks between the words, and words that are numbers.

/// Returns true when a list holds a word.
pub(crate) fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// Returns true when words begin with others.
pub(crate) fn begin(words: &[String], wanted: &[&str]) -> bool {
    words.len() >= wanted.len() && words.iter().zip(wanted).all(|(word, wanted)| word == wanted)
}

/// Returns true for one digit or more, and nothing else.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
