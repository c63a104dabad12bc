//! `PlainValues`: registered values as they are written, for the last moment before a text is
//! shown. Everything was redacted before; this keeps a mistake of ours from costing a secret. It
//! knows no encodings but JSON's, and takes next to no time.

use std::borrow::Cow;

use crate::secret::{MASK, SHORTEST_VALUE_BYTES, Secret};

/// Takes registered values out of text that is about to be shown.
#[derive(Clone, Debug, Default)]
pub struct PlainValues(Vec<Secret>);

impl PlainValues {
    /// Registers values; those shorter than [`SHORTEST_VALUE_BYTES`] are not.
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        for value in values {
            let value = value.expose().trim();
            let quoted = serde_json::to_string(value).unwrap_or_default();
            let quoted = quoted
                .strip_prefix('"')
                .and_then(|quoted| quoted.strip_suffix('"'))
                .unwrap_or(value);
            forms.extend(
                [value, quoted]
                    .map(str::to_owned)
                    .into_iter()
                    .filter(|form| form.len() >= SHORTEST_VALUE_BYTES),
            );
        }
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self(forms.into_iter().map(Secret::new).collect())
    }

    /// Returns the text without the values.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for value in &self.0 {
            if shown.contains(value.expose()) {
                shown = Cow::Owned(shown.replace(value.expose(), MASK));
            }
        }
        shown
    }

    /// Returns bytes without the values; bytes that are not UTF-8 are only replaced where they hold
    /// one.
    pub fn hide_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let text = String::from_utf8_lossy(bytes);
        match self.hide(&text) {
            Cow::Borrowed(_) => Cow::Borrowed(bytes),
            Cow::Owned(shown) => Cow::Owned(shown.into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PlainValues;
    use crate::secret::Secret;
    use pretty_assertions::assert_eq;

    fn values() -> PlainValues {
        PlainValues::new(["unseen \"value\"\n", "unseen", "x"].map(Secret::new))
    }

    #[test]
    fn hides_values_as_written_and_as_json_writes_them() {
        assert_eq!(values().hide("x unseen \"value\" y"), "x *** y");
        assert_eq!(values().hide(r#"{"a":"unseen \"value\""}"#), r#"{"a":"***"}"#);
        assert_eq!(values().hide("unseenx"), "***x");
        assert_eq!(values().hide("seen"), "seen");
    }

    #[test]
    fn leaves_other_bytes_as_they_are() {
        assert_eq!(values().hide_bytes(b"caf\xe9"), b"caf\xe9".as_slice());
        assert_eq!(values().hide_bytes(b"unseen\xff"), "***\u{fffd}".as_bytes());
    }

    #[test]
    fn nothing_is_shown_that_an_earlier_floor_forgot() {
        let line = "a log line with unseen in it";
        assert_eq!(values().hide(line), "a log line with *** in it");
        assert_eq!(PlainValues::default().hide(line), line);
    }
}
