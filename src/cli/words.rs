//! Options that take one word of a few, each of which stands for a value of another crate.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, what it stands for, and what `--help` says of it.
pub(super) type Word<T> = (&'static str, T, &'static str);

/// Returns a parser that takes these words and no others.
pub(super) fn one_of<T: Copy + Send + Sync>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|(word, _, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(known).try_map(|given| {
        let found = words.iter().find(|(word, ..)| *word == given);
        found.map(|(_, value, _)| *value).ok_or("this word is not known")
    })
}
