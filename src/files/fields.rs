//! `Diagnostics`: strict reading of the single values of a `yaml` tree, collecting every mistake
//! instead of stopping at the first.
//!
//! In: a node. Out: a value, and mistakes in the list, each with its place and, for a word that is
//! nearly right, the right one. Mappings are read by `section`. It knows no particular file
//! format.

use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::position::Position;
use crate::rejection::Rejection;
use crate::yaml::{MISTAKE_LIMIT, YamlNode, YamlValue};

/// Mistakes collected while one file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Returns what was collected of one file: in order of place, each with its line, at
    /// most [`MISTAKE_LIMIT`] of them.
    pub fn finish(self, text: &str) -> Vec<Diagnostic> {
        let mut mistakes = self.0;
        mistakes.sort_by_key(|mistake| mistake.place);
        let more = mistakes.len().saturating_sub(MISTAKE_LIMIT);
        mistakes.truncate(MISTAKE_LIMIT);
        Diagnostic::attach_excerpts(&mut mistakes, text);
        if more > 0 {
            mistakes.push(Diagnostic::new(
                Position::default(),
                format!("{more} more mistakes are not listed"),
            ));
        }
        mistakes
    }

    /// Returns what was collected of one file, in order of reading, with the file's name.
    pub fn in_file(self, origin: &str) -> Vec<Diagnostic> {
        self.0.into_iter().map(|mistake| mistake.in_file(origin)).collect()
    }

    /// Adds a mistake without a hint.
    pub fn add(&mut self, place: Position, message: impl Into<String>) {
        self.0.push(Diagnostic::new(place, message));
    }

    /// Adds a mistake with what to do about it.
    pub fn add_with_hint(
        &mut self,
        place: Position,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Diagnostic::new(place, message).hint(hint));
    }

    /// Adds that a value is not what was wanted; gives nothing in its place.
    pub fn wanted<T>(&mut self, node: &YamlNode, what: &str, wanted: &str) -> Option<T> {
        self.refuse(node.place, format!("`{what}` must be {wanted}, not {}", node.kind()))
    }

    /// Adds a mistake without a hint; gives nothing in the place of what cannot be read.
    pub fn refuse<T>(&mut self, place: Position, message: impl Into<String>) -> Option<T> {
        self.add(place, message);
        None
    }

    /// Reads text, quoted or plain.
    pub fn text(&mut self, node: &YamlNode, what: &str) -> Option<String> {
        node.text().map(str::to_owned).or_else(|| self.wanted(node, what, "text"))
    }

    /// Reads `true` or `false`.
    pub fn flag(&mut self, node: &YamlNode, what: &str) -> Option<bool> {
        if let YamlValue::Bool(flag) = node.value {
            return Some(flag);
        }
        self.wanted(node, what, "`true` or `false`")
    }

    /// Reads a count: a whole number, with an optional `k` or `M` (thousands, millions).
    pub fn count(&mut self, node: &YamlNode, what: &str) -> Option<u64> {
        let wanted = "a whole number such as `400`, `20k` or `2M`";
        written(node).and_then(parse_count).or_else(|| match &node.value {
            YamlValue::Number(number) => {
                self.refuse(node.place, format!("`{what}` must be {wanted}, not `{number}`"))
            }
            _ => self.wanted(node, what, wanted),
        })
    }

    /// Reads a list of texts; a single text is a list of one.
    pub fn texts(&mut self, node: &YamlNode, what: &str) -> Vec<(String, Position)> {
        match &node.value {
            YamlValue::Text(text) => vec![(text.clone(), node.place)],
            YamlValue::List(nodes) => {
                nodes.iter().filter_map(|node| Some((self.text(node, what)?, node.place))).collect()
            }
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Map(_) => {
                self.wanted(node, what, "text or a list of texts").unwrap_or_default()
            }
        }
    }

    /// Adds why a check refuses a text.
    pub fn reject(&mut self, place: Position, why: Rejection) {
        self.0.push(Diagnostic { hint: why.hint, ..Diagnostic::new(place, why.message) });
    }
}

/// Returns the word most like `text`, if one is like it at all. Letters in another order are
/// likelier than one too many.
pub fn nearest<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    let lower = text.to_lowercase();
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let own = letters(&lower);
    let likeness = |word: &&'w str| {
        let word = word.to_lowercase();
        (strsim::damerau_levenshtein(&lower, &word), letters(&word) != own)
    };
    let allowed = 1 + text.chars().count().saturating_sub(1) / 4;
    let near = words.iter().copied().map(|word| (likeness(&word), word));
    near.filter(|((distance, _), _)| *distance <= allowed).min().map(|(_, word)| word)
}

/// Reads a count: digits (with `_` between), then nothing, `k` or `M`.
pub fn parse_count(text: &str) -> Option<u64> {
    let (digits, unit) = split_unit(text)?;
    let factor = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        _ => return None,
    };
    digits.checked_mul(factor)
}

/// Reads a size in bytes: `KiB`, `MiB`, `GiB` are powers of 1024, as are `K`, `M` and `G`; `kB`,
/// `MB`, `GB` are powers of 1000.
pub(crate) fn parse_bytes(text: &str) -> Option<usize> {
    let (digits, unit) = split_unit(text)?;
    let factor = match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    usize::try_from(digits.checked_mul(factor)?).ok()
}

/// Reads a span of time: one or more of `h`, `m`, `s`, `ms`, each once and in that order; never
/// zero.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut rest = text;
    let mut next_unit = 0;
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let digits_end = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (digits, tail) = rest.split_at_checked(digits_end)?;
        let unit_end = tail.find(|letter: char| letter.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(unit_end)?;
        let index =
            units.iter().position(|(name, _)| *name == unit).filter(|index| *index >= next_unit)?;
        let (_, factor) = units.get(index)?;
        millis = millis.checked_add(digits.parse::<u64>().ok()?.checked_mul(*factor)?)?;
        next_unit = index + 1;
        rest = tail;
    }
    (millis > 0).then(|| Duration::from_millis(millis))
}

fn split_unit(text: &str) -> Option<(u64, &str)> {
    let end =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != '_').unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    Some((digits.replace('_', "").parse().ok()?, unit.trim_start()))
}

/// Returns a text or number as it is written.
pub(crate) fn written(node: &YamlNode) -> Option<&str> {
    match &node.value {
        YamlValue::Text(text) | YamlValue::Number(text) => Some(text),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{nearest, parse_bytes, parse_count, parse_duration};
    use pretty_assertions::assert_eq;
    use std::time::Duration;

    #[test]
    fn reads_units() {
        for (text, expected) in [
            ("400", Some(400)),
            ("2M", Some(2_000_000)),
            ("20k", Some(20_000)),
            ("1_000", Some(1000)),
            ("2X", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(parse_count(text), expected, "{text}");
        }
        for (text, expected) in [
            ("64KiB", Some(65_536)),
            ("64 KiB", Some(65_536)),
            ("2M", Some(2 << 20)),
            ("1kB", Some(1000)),
            ("9", Some(9)),
            ("big", None),
            ("99999999999G", None),
        ] {
            assert_eq!(parse_bytes(text), expected, "{text}");
        }
        for (text, millis) in
            [("10m", 600_000), ("90s", 90_000), ("1h30m", 5_400_000), ("250ms", 250)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["10", "m", "1m1h", "0s", "1d", "1s ", ""] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn suggests_only_what_is_near() {
        assert_eq!(nearest("alow", &["allow", "deny"]), Some("allow"));
        assert_eq!(nearest("Tokens", &["tokens", "turns"]), Some("tokens"));
        assert_eq!(nearest("modle", &["mode", "model"]), Some("model"));
        assert_eq!(nearest("modee", &["mode", "model"]), Some("mode"));
        assert_eq!(nearest("banana", &["allow", "deny"]), None);
    }
}
