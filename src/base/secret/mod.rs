//! Secrets and their removal: a `Secret` never prints itself, a `Redactor` takes known values and
//! known formats out of text.
//!
//! In: values registered at the start of a run. Out: text without them, also where they are encoded
//! (base64, hexadecimal, percent, entities), reversed, shortened or taken apart by blanks, colours
//! and invisible characters. It does not decide whether a text may leave.

pub mod formats;
pub mod plain;
pub mod runs;
pub mod view;

use std::fmt;
use std::ops::Range;

use crate::secret::formats::Formats;
use crate::secret::plain::PlainValues;
use crate::secret::runs::Runs;
use crate::secret::view::View;

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// Values shorter than this are not registered: they would take ordinary words out of every text.
pub const SHORTEST_VALUE_BYTES: usize = 6;

/// A long text is searched in windows of this many bytes, so that the search takes little memory.
const WINDOW_BYTES: usize = 256 * 1024;

/// How far windows overlap: no secret, in whatever encoding, is longer.
const OVERLAP_BYTES: usize = 16 * 1024;

/// A value that must not be shown. `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a value into care.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value itself; only for the header or variable it belongs in.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

/// Takes registered values and known secret formats out of text.
#[derive(Clone, Debug)]
pub struct Redactor {
    values: Vec<Secret>,
    runs: Runs,
    formats: Formats,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new([])
    }
}

impl Redactor {
    /// Prepares a redactor for the given values; values shorter than [`SHORTEST_VALUE_BYTES`] are
    /// not registered.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        let mut values: Vec<Secret> = values
            .into_iter()
            .map(|value| Secret::new(value.expose().trim()))
            .filter(|value| value.expose().len() >= SHORTEST_VALUE_BYTES)
            .collect();
        values.sort_by(|one, other| {
            other
                .expose()
                .len()
                .cmp(&one.expose().len())
                .then_with(|| one.expose().cmp(other.expose()))
        });
        values.dedup();
        let runs = Runs::new(values.iter().map(Secret::expose));
        Self { values, runs, formats: Formats::new() }
    }

    /// Returns the registered values, to look for as they are written.
    #[must_use]
    pub fn plain_values(&self) -> PlainValues {
        PlainValues::new(self.values.iter().cloned())
    }

    /// Returns the text with every secret replaced by [`MASK`]. Redacting twice changes nothing
    /// more.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let found = self.find(text);
        if found.is_empty() {
            return text.to_owned();
        }
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for range in found {
            clean.push_str(text.get(from..range.start).unwrap_or_default());
            clean.push_str(MASK);
            from = range.end;
        }
        clean.push_str(text.get(from..).unwrap_or_default());
        clean
    }

    /// Returns true when [`Redactor::redact`] would change the text because of a secret.
    #[must_use]
    pub fn finds_secret(&self, text: &str) -> bool {
        self.first_secret(text).is_some()
    }

    /// Returns where the first secret of a text of any length starts, in bytes.
    #[must_use]
    pub fn first_secret(&self, text: &str) -> Option<usize> {
        let mut from = 0;
        loop {
            let end = text.floor_char_boundary(from + WINDOW_BYTES);
            if let Some(found) = self.find(text.get(from..end)?).first() {
                return Some(from + found.start);
            }
            if end == text.len() {
                return None;
            }
            from = text.floor_char_boundary(end - OVERLAP_BYTES);
        }
    }

    /// Returns where secrets stand, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for value in &self.values {
            found.extend(text.match_indices(value.expose()).map(|(at, part)| at..at + part.len()));
        }
        let plain = View::plain(text);
        found.extend(self.formats.find(plain.bytes()).into_iter().map(|range| plain.source(range)));
        let joined = plain.joined();
        found.extend(
            self.formats.find_joined(joined.bytes()).into_iter().map(|range| joined.source(range)),
        );
        let folded = joined.folded();
        found.extend(self.runs.find(folded.bytes()).into_iter().map(|range| folded.source(range)));
        merge(found)
    }
}

fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::{Redactor, Secret};
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use pretty_assertions::assert_eq;

    const VALUE: &str = "correct-horse-battery-staple-42";

    fn redactor() -> Redactor {
        Redactor::new([Secret::new(VALUE)])
    }

    fn token(parts: &[&str]) -> String {
        parts.concat()
    }

    fn hides(text: &str) {
        let clean = redactor().redact(text);
        assert!(clean.contains("***"), "{text} -> {clean}");
        assert_eq!(redactor().redact(&clean), clean, "redacting twice");
        assert!(redactor().finds_secret(text));
    }

    fn keeps(text: &str) {
        assert_eq!(redactor().redact(text), text);
        assert!(!redactor().finds_secret(text));
    }

    #[test]
    fn a_secret_never_prints_itself() {
        let secret = Secret::new(VALUE);
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
    }

    #[test]
    fn hides_a_registered_value_and_keeps_the_words_around_it() {
        assert_eq!(redactor().redact(&format!("the value is {VALUE} ok")), "the value is *** ok");
        assert_eq!(redactor().redact(&format!("{VALUE}{VALUE}")), "***");
    }

    #[test]
    fn hides_a_registered_value_however_it_is_written() {
        let percent: String = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let entities: String = VALUE.bytes().map(|byte| format!("&#{byte};")).collect();
        let hex_entities: String = VALUE.bytes().map(|byte| format!("&#x{byte:x};")).collect();
        let escapes: String = VALUE.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
        let spaced: String = VALUE.chars().flat_map(|letter| [letter, ' ']).collect();
        let lines: String = VALUE.chars().flat_map(|letter| [letter, '\n']).collect();
        let invisible: String = VALUE.chars().flat_map(|letter| [letter, '\u{200b}']).collect();
        let coloured: String =
            VALUE.chars().map(|letter| format!("\u{1b}[31m{letter}\u{1b}[0m")).collect();
        let wide: String =
            VALUE.chars().filter_map(|letter| char::from_u32(u32::from(letter) + 0xfee0)).collect();
        for text in [
            percent,
            entities,
            hex_entities,
            escapes,
            hex.to_uppercase(),
            hex,
            spaced,
            lines,
            invisible,
            coloured,
            wide,
        ] {
            hides(&text);
        }
        hides(&VALUE.chars().rev().collect::<String>());
        hides(&VALUE.to_uppercase());
        for shift in ["", "x", "xx", "xxx"] {
            hides(&STANDARD.encode(format!("{shift}{VALUE}")));
            hides(&URL_SAFE_NO_PAD.encode(format!("{shift}{VALUE}?>")));
        }
    }

    #[test]
    fn hides_a_value_without_its_first_or_last_characters_but_not_a_word_of_it() {
        hides(&VALUE[7..]);
        hides(&VALUE[..20]);
        hides(&format!("x{}y", &VALUE[5..25]));
        keeps("correct");
        keeps("a horse and a battery");
    }

    #[test]
    fn short_values_are_not_registered() {
        let redactor =
            Redactor::new([Secret::new("main"), Secret::new(" "), Secret::new("hunter22")]);
        assert_eq!(redactor.redact("main hunter22"), "main ***");
    }

    #[test]
    fn hides_known_formats_and_keeps_what_only_resembles_them() {
        let tail = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        for prefix in ["gh\u{70}_", "gh\u{73}_", "gh\u{6f}_", "gh\u{75}_", "gh\u{72}_"] {
            hides(&token(&[prefix, tail]));
            hides(&token(&["\\n", prefix, tail]));
            keeps(&token(&["a word like ", prefix, " alone"]));
        }
        hides(&token(&[
            "github",
            "_pat_",
            "11ABCDEFG0abcdefghijkl",
            "_",
            "mnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghi",
        ]));
        hides(&token(&["sk", "-ant-", "api03-", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"]));
        hides(&token(&["sk", "-proj-", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]));
        hides(&token(&["AK", "IA", "ABCDEFGHIJKLMNOP"]));
        hides(&token(&["xo", "xb-", "123456789012-", "123456789012-", "abcdefghijklmnopqrstuvwx"]));
        hides(&token(&[
            "ey",
            "JhbGciOiJIUzI1NiJ9",
            ".",
            "ey",
            "JzdWIiOiIxMjM0NTY3ODkwIn0",
            ".",
            "c2lnbmF0dXJlc2lnbmF0dXJlc2ln",
        ]));
        hides(&token(&[
            "-----BEGIN ",
            "RSA PRIVATE KEY-----\nMIIEfake\n-----END ",
            "RSA PRIVATE KEY-----",
        ]));
        hides(&token(&["-----BEGIN ", "PRIVATE KEY-----\nMIIEfakefakefake\nfakefake"]));
        hides(&token(&["np", "m_", "abcdefghijklmnopqrstuvwxyz0123456789"]));
        hides(&token(&["AI", "za", "SyA1234567890abcdefghijklmnopqrstuv"]));
        hides(&token(&["sk", "_live_", "abcdefghijklmnopqrstuvwx"]));
        hides("git clone https://x:hunter2hunter2@git.example/a");
        hides("Authorization: Bearer abcdefghijklmnop123456");
        keeps("The commit is 3fce3b5bb0236da2df6d99672afb8a719642eca7");
        keeps("-----BEGIN CERTIFICATE-----\nMIIEfakefakefake\n-----END CERTIFICATE-----");
        keeps("see https://docs.rs/regex and mail a.b@example.com");
        keeps("Authorization: Bearer $TOKEN");
        keeps("task-list-items-are-not-keys and risk-proj-x");
    }

    #[test]
    fn hides_known_formats_taken_apart() {
        let whole = token(&["gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"]);
        hides(&whole.chars().map(String::from).collect::<Vec<_>>().join(" "));
        hides(&format!("{}\n{}", &whole[..20], &whole[20..]));
        hides(&whole.chars().map(|letter| format!("&#{};", u32::from(letter))).collect::<String>());
        hides(&format!("{}\u{200b}{}", &whole[..8], &whole[8..]));
        hides(&format!("\u{1b}[31m{whole}\u{1b}[0m"));
        hides(&format!("\"{}\" + \"{}\"", &whole[..9], &whole[9..]).replace(" + ", " "));
    }

    #[test]
    fn finds_a_secret_anywhere_in_a_long_text() {
        let line = "an ordinary line of some length, é\n";
        for before in [0, 262_130, 262_144 - 8, 300_000] {
            let head: String = line.repeat(before / line.len() + 1).chars().take(before).collect();
            let text = format!("{head}{VALUE}\n{}", line.repeat(100));
            assert_eq!(redactor().first_secret(&text), Some(head.len()), "{before}");
        }
        assert_eq!(redactor().first_secret(&line.repeat(9_000)), None);
    }

    #[test]
    fn long_texts_take_linear_time() {
        for piece in [
            "a ",
            "&#",
            "%4",
            "\\u00",
            "gh",
            "-----BEGIN ",
            "correct-horse-",
            "Y29ycmVjdC1ob3",
            "\u{1b}[",
        ] {
            let text = piece.repeat(300_000 / piece.len());
            let _ = redactor().redact(&text);
        }
    }
}
