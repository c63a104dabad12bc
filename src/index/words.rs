//! Words of a text: identifiers are taken as a whole and in their parts, so that `parseHeader`,
//! `parse_header` and "parse a header" meet.
//!
//! In: bytes. Out: hashes of words. A word is in lower case and without the commonest English
//! endings. Text that puts no blanks between words is one long word, which is left out.

/// Longest identifier whose words are taken, in bytes: longer ones are data.
const IDENTIFIER_LIMIT_BYTES: usize = 64;

/// Most different words of a file; others are left out.
const WORDS_LIMIT: usize = 20_000;

/// A word, by its hash.
pub type Word = u32;

/// Hands over the words of a text in their order.
pub fn words_of(text: &[u8], mut take: impl FnMut(Word)) {
    let identifiers = text.split(|byte| !is_letter(*byte));
    for identifier in identifiers.filter(|text| text.len() <= IDENTIFIER_LIMIT_BYTES) {
        words_of_identifier(identifier, &mut take);
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn words_of_identifier(identifier: &[u8], take: &mut impl FnMut(Word)) {
    let (mut whole, mut start, mut parts) = (HashedWord::new(), 0, 0);
    let mut before = b'_';
    let next = identifier.iter().skip(1).chain(std::iter::once(&b'_'));
    for ((at, byte), next) in identifier.iter().copied().enumerate().zip(next.copied()) {
        if at > start && begins_part(before, byte, next) {
            parts += usize::from(take_part(identifier.get(start..at), take));
            start = at;
        }
        if byte == b'_' {
            start = at + 1;
        } else {
            whole.add(byte);
        }
        before = byte;
    }
    parts += usize::from(take_part(identifier.get(start..), take));
    if parts > 1 {
        take(whole.end());
    }
}

/// Whether a part of an identifier begins at a byte: `fooBar`, `HTTPServer`, `foo_bar`.
fn begins_part(before: u8, byte: u8, next: u8) -> bool {
    byte == b'_'
        || (byte.is_ascii_uppercase()
            && (!before.is_ascii_uppercase() || next.is_ascii_lowercase()))
}

/// Takes a part of an identifier, and says whether there is one. A single letter is none.
fn take_part(part: Option<&[u8]>, take: &mut impl FnMut(Word)) -> bool {
    let Some(part) = part.filter(|part| !part.is_empty()) else { return false };
    if part.len() > 1 {
        let (stem, ending) = stem(part);
        let mut word = HashedWord::new();
        stem.iter().for_each(|byte| word.add(*byte));
        ending.iter().for_each(|byte| word.add(*byte));
        take(word.end());
    }
    true
}

/// Returns a word without the commonest endings, and what stands for them: `parses`, `parsed`,
/// `parsing` and `parse` become the same, though no word.
fn stem(word: &[u8]) -> (&[u8], &'static [u8]) {
    let singular = match word {
        [stem @ .., b'i' | b'I', b'e' | b'E', b's' | b'S'] if stem.len() > 1 => {
            return (stem, b"y");
        }
        [_, _, .., b's' | b'S' | b'u' | b'U' | b'i' | b'I', b's' | b'S'] => word,
        [stem @ .., b's' | b'S'] if stem.len() > 2 => stem,
        _ => word,
    };
    let stem = match singular {
        [stem @ .., b'i' | b'I', b'n' | b'N', b'g' | b'G'] if has_vowel(stem) => undoubled(stem),
        [stem @ .., b'e' | b'E', b'd' | b'D'] if has_vowel(stem) => undoubled(stem),
        _ => singular,
    };
    match stem {
        [short @ .., b'e' | b'E'] if short.len() > 2 => (short, b""),
        _ => (stem, b""),
    }
}

/// Whether what is left of a word can be one.
fn has_vowel(stem: &[u8]) -> bool {
    stem.len() > 2 && stem.iter().any(|byte| b"aeiouy".contains(&byte.to_ascii_lowercase()))
}

/// Returns `stop` for `stopp`.
fn undoubled(stem: &[u8]) -> &[u8] {
    match stem {
        [rest @ .., one, last]
            if one.eq_ignore_ascii_case(last) && !b"lsz".contains(&last.to_ascii_lowercase()) =>
        {
            stem.get(..rest.len() + 1).unwrap_or(stem)
        }
        _ => stem,
    }
}

/// FNV-1a of a word in lower case.
struct HashedWord(u32);

impl HashedWord {
    fn new() -> Self {
        Self(0x811c_9dc5)
    }

    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
    }

    fn end(self) -> Word {
        self.0
    }
}

/// The words of a file: how many there are, and how often each of them is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileWords<'w> {
    /// Words of the file, each counted as often as it is there.
    total: u32,
    /// Four bytes for each word, in ascending order.
    words: &'w [u8],
    /// A byte for each word: how often it is there, 255 for more.
    counts: &'w [u8],
}

impl<'w> FileWords<'w> {
    /// Counts the words of a text and adds them to `bytes`.
    pub fn render(text: &[u8], bytes: &mut Vec<u8>) {
        let mut words = Vec::with_capacity(text.len() / 4);
        words_of(text, |word| words.push(word));
        let total = u32::try_from(words.len()).unwrap_or(u32::MAX);
        words.sort_unstable();
        let distinct: Vec<&[Word]> =
            words.chunk_by(|left, right| left == right).take(WORDS_LIMIT).collect();
        bytes.extend(total.to_le_bytes());
        bytes.extend(u32::try_from(distinct.len()).unwrap_or(0).to_le_bytes());
        bytes.extend(distinct.iter().filter_map(|same| same.first()).flat_map(|w| w.to_le_bytes()));
        bytes.extend(distinct.iter().map(|same| u8::try_from(same.len()).unwrap_or(u8::MAX)));
    }

    /// Reads what was rendered, and returns what stands behind it; `None` for anything else.
    pub fn parse(bytes: &'w [u8]) -> Option<(Self, &'w [u8])> {
        let (total, bytes) = bytes.split_first_chunk()?;
        let (count, bytes) = bytes.split_first_chunk()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (words, bytes) = bytes.split_at_checked(count.checked_mul(4)?)?;
        let (counts, bytes) = bytes.split_at_checked(count)?;
        Some((Self { total: u32::from_le_bytes(*total), words, counts }, bytes))
    }

    /// Returns how many words there are.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns how often a word is there.
    pub fn count(&self, word: Word) -> u8 {
        let (words, _) = self.words.as_chunks::<4>();
        let found = words.binary_search_by_key(&word, |bytes| u32::from_le_bytes(*bytes));
        found.ok().and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{FileWords, Word, words_of};
    use pretty_assertions::assert_eq;

    fn words(text: &str) -> Vec<Word> {
        let mut words = Vec::new();
        words_of(text.as_bytes(), |word| words.push(word));
        words
    }

    #[test]
    fn identifiers_meet_however_they_are_written() {
        let whole = |text: &str| words(text).last().copied();
        for (one, other) in [
            ("parseHeader", "parse_header"),
            ("ParseHeader", "PARSE_HEADER"),
            ("HTTPServer", "http_server"),
            ("__parse__header", "parseHeader"),
        ] {
            assert_eq!(words(one), words(other), "{one}");
            assert_eq!(words(one).len(), 3, "{one}");
            assert_eq!(whole(one), whole(other), "{one}");
        }
        assert_eq!(words("parseHeader")[..2], words("parse header"));
        assert!(words("a x 1 _ __").is_empty(), "single letters say nothing");
        assert_eq!(words("utf8").len(), 1);
        assert!(words(&"x".repeat(65)).is_empty());
        assert_eq!(words("größe Größe").len(), 2);
    }

    #[test]
    fn endings_make_no_difference_and_other_words_stay_apart() {
        for same in [
            "parse parses parsed parsing PARSING",
            "stop stops stopped stopping",
            "entry entries",
            "call called calling calls",
            "file files",
        ] {
            let words = words(same);
            assert!(words.iter().all(|word| *word == words[0]), "{same}");
        }
        for apart in ["status stat", "class cla", "sing s", "red r", "this thi", "ring bring"] {
            let words = words(apart);
            assert!(words.len() < 2 || words[0] != words[1], "{apart}");
        }
    }

    #[test]
    fn counts_read_back_and_damaged_ones_do_not() {
        let mut bytes = Vec::new();
        FileWords::render(b"fn header() { header; header }", &mut bytes);
        let length = bytes.len();
        bytes.extend(b"rest");
        let (found, rest) = FileWords::parse(&bytes).unwrap();
        assert_eq!((found.total(), rest), (4, b"rest".as_slice()));
        assert_eq!(found.count(words("headers")[0]), 3);
        assert_eq!(found.count(words("footer")[0]), 0);
        for cut in 0..length {
            assert_eq!(FileWords::parse(&bytes[..cut]), None, "{cut}");
        }
        let mut many = Vec::new();
        FileWords::render("word ".repeat(300).as_bytes(), &mut many);
        assert_eq!(FileWords::parse(&many).unwrap().0.count(words("word")[0]), 255);
    }
}
