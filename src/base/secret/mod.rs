//! Secrets and their removal: a `Secret` never prints itself, a `Redactor` takes known values and
//! known formats out of text.
//! In: values registered at the start of a run. Out: text without them, also where they are encoded
//! (base64, hexadecimal, percent, entities), reversed, shortened or split by blanks, colours and
//! invisible characters. Whether a text may leave is decided elsewhere.

pub mod formats;
pub mod name;
pub mod plain;
pub mod runs;
pub mod view;

use std::fmt;
use std::ops::Range;

use crate::secret::formats::Formats;
use crate::secret::plain::PlainValues;
use crate::secret::runs::FragmentFinder;
use crate::secret::view::NormalizedText;

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
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value itself; only for the header or variable it belongs in.
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
    runs: FragmentFinder,
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
        let runs = FragmentFinder::new(values.iter().map(Secret::expose));
        Self { values, runs, formats: Formats::new() }
    }

    /// Returns the registered values, to look for as they are written.
    pub fn plain_values(&self) -> PlainValues {
        PlainValues::new(self.values.iter().cloned())
    }

    /// Returns the text with every secret replaced by [`MASK`]. Redacting twice changes nothing
    /// more.
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
    pub fn finds_secret(&self, text: &str) -> bool {
        self.first_secret(text).is_some()
    }

    /// Returns where the first secret of a text of any length starts, in bytes.
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
        let plain = NormalizedText::plain(text);
        found.extend(self.formats.find(plain.bytes()).into_iter().map(|range| plain.source(range)));
        let untagged = plain.without_tags();
        for view in [Some(plain), untagged].into_iter().flatten() {
            let joined = view.joined();
            let formats = self.formats.find_joined(joined.bytes());
            found.extend(formats.into_iter().map(|range| joined.source(range)));
            let folded = joined.folded();
            let runs = self.runs.find(folded.bytes());
            found.extend(runs.into_iter().map(|range| folded.source(range)));
        }
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
mod tests;
