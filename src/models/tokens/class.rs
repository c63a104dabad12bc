//! `CharClass`: the kinds of characters that decide where a text is split into pieces.
//!
//! In: a character. Out: its kind, by `config/tokenizers/classes.table` (Unicode 16), which
//! `config/tokenizers/make.py` makes.

/// The kind of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Punctuation, symbols, controls and what is not assigned.
    Other,
    /// Letters that are upper case or title case.
    Upper,
    /// Letters that are lower case.
    Lower,
    /// Letters that have no case, and modifiers.
    Letter,
    /// Marks that go with a letter.
    Mark,
    /// Digits and other numbers.
    Number,
    /// White space within a line.
    Space,
    /// `\n` and `\r`.
    Newline,
}

/// Where the kind changes, in order: a character times 8, plus the kind from there on.
const CHANGES: &[u8] = include_bytes!("../../../config/tokenizers/classes.table");

impl CharClass {
    /// The kinds by their number in the table.
    const BY_NUMBER: [Self; 8] = [
        Self::Other,
        Self::Upper,
        Self::Lower,
        Self::Letter,
        Self::Mark,
        Self::Number,
        Self::Space,
        Self::Newline,
    ];

    /// Returns the kind of a character.
    pub(super) fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            ' ' | '\t' => Self::Space,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\n' | '\r' => Self::Newline,
            '!'..='~' => Self::Other,
            _ => Self::by_table(character),
        }
    }

    fn by_table(character: char) -> Self {
        let (changes, _) = CHANGES.as_chunks::<4>();
        let after = changes
            .partition_point(|change| u32::from_le_bytes(*change) >> 3 <= u32::from(character));
        let change = after
            .checked_sub(1)
            .and_then(|at| changes.get(at))
            .map_or(0, |change| u32::from_le_bytes(*change));
        let kind = usize::try_from(change % 8).ok().and_then(|kind| Self::BY_NUMBER.get(kind));
        kind.copied().unwrap_or(Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use regex::Regex;

    use super::CharClass;

    /// A newer Unicode knows letters that this table does not; what the table knows stays as it is.
    #[test]
    fn every_character_is_of_the_kind_unicode_says() {
        let kinds = [
            (CharClass::Upper, r"[\p{Lu}\p{Lt}]"),
            (CharClass::Lower, r"\p{Ll}"),
            (CharClass::Letter, r"[\p{Lm}\p{Lo}]"),
            (CharClass::Mark, r"\p{M}"),
            (CharClass::Number, r"\p{N}"),
            (CharClass::Space, r"[\s--\r\n]"),
            (CharClass::Newline, r"[\r\n]"),
        ]
        .map(|(class, pattern)| (class, Regex::new(pattern).unwrap()));
        let mut unknown = 0;
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            let expected = kinds
                .iter()
                .find(|(_, pattern)| pattern.is_match(&text))
                .map_or(CharClass::Other, |(class, _)| *class);
            let found = CharClass::of(character);
            if found == CharClass::Other && expected != CharClass::Other {
                unknown += 1;
            } else {
                assert_eq!(found, expected, "{character:?}");
            }
        }
        assert!(unknown < 20_000, "{unknown} letters are unknown: make the table anew");
        assert_eq!(CharClass::by_table('a'), CharClass::Lower);
    }
}
