//! Text that leaves: normalised, redacted, neutralised (no pings, no closing keywords, no hidden text), cut, in that order.

use crate::base::secret::Redactor;

/// GitHub refuses a comment body of more characters than this.
pub const BODY_LIMIT_CHARS: usize = 65_536;

/// What may stay in a text.
#[derive(Clone, Debug, Default)]
pub struct TextRules {
    /// Logins that may be mentioned, without `@`.
    pub mentions: Vec<String>,
    /// Whether `closes #1` may stay.
    pub closing: bool,
    /// Hosts links may point to; empty means any.
    pub hosts: Vec<String>,
    /// The word commands start with, so that own output never triggers.
    pub prefix: String,
}

/// Returns the text as it may be published as Markdown.
#[must_use]
pub fn markdown(_text: &str, _rules: &TextRules, _redactor: &Redactor) -> String {
    todo!()
}
