//! How texts and commands are written so that a policy file reads exactly them.

use crate::command::tree;

/// Writes a text so that YAML gives nothing in it a meaning of its own.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Writes words so that a command pattern reads exactly them.
pub(crate) fn pattern_words<W: AsRef<str>>(words: &[W]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_-./=,@%+:".contains(letter))
    };
    let quote = |word: &W| {
        let word = word.as_ref();
        if plain(word) { word.to_owned() } else { tree::quoted(word) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
