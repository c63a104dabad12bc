//! `RunError`: why a command or a run could not do its work, with every mistake found and what to
//! do about each: `error: place: message`, the line of the file, then `hint: what to do`.

use crate::config::source::{ConfigError, ConfigErrors};
use locum_files::excerpt::Excerpt;
use locum_files::yaml::Mistake;
use locum_modes::loader::{ModeError, ModeErrors};
use locum_policy::schema::{PolicyError, PolicyErrors};

/// Why a command or a run could not do its work; every mistake found, not only the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", diagnostics.iter().map(Diagnostic::headline).collect::<Vec<_>>().join("\n"))]
pub struct RunError {
    /// Whether the person who started it can correct it.
    pub kind: RunErrorKind,
    /// What is wrong, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether the person who started a command can correct what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunErrorKind {
    /// A flag, a file or a variable is wrong; the person who set it can correct it.
    Usage,
    /// The machine, the forge or the program failed.
    Internal,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `file:line:column`, a flag or a variable; empty when the message says it itself.
    pub place: String,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl RunError {
    /// Returns an error of a flag, a file or a variable (exit code 2).
    #[must_use]
    pub fn usage(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::one(RunErrorKind::Usage, Diagnostic::new(place, message))
    }

    /// Returns an error of the machine, the forge or the program (exit code 1).
    #[must_use]
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::one(RunErrorKind::Internal, Diagnostic::new("", message.to_string()))
    }

    /// Returns the mistakes of a file as one error.
    #[must_use]
    pub fn file(origin: &str, mistakes: Vec<Mistake>) -> Self {
        mistakes
            .into_iter()
            .map(|mistake| Diagnostic {
                place: at(origin.to_owned(), mistake.place.line, mistake.place.column),
                message: mistake.message,
                hint: mistake.hint,
                excerpt: mistake.excerpt,
            })
            .collect()
    }

    /// Returns the same error with advice on its last diagnostic.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.hint = Some(hint.into());
        }
        self
    }

    /// Returns every diagnostic in full, as the command line shows it.
    #[must_use]
    pub fn report(&self) -> String {
        let lines: Vec<String> =
            self.diagnostics.iter().map(|diagnostic| format!("error: {diagnostic}")).collect();
        lines.join("\n")
    }

    fn one(kind: RunErrorKind, diagnostic: Diagnostic) -> Self {
        Self { kind, diagnostics: vec![diagnostic] }
    }
}

impl FromIterator<Diagnostic> for RunError {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        Self { kind: RunErrorKind::Usage, diagnostics: diagnostics.into_iter().collect() }
    }
}

impl Diagnostic {
    /// Returns a diagnostic without a hint.
    #[must_use]
    pub fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), hint: None, excerpt: None }
    }

    fn headline(&self) -> String {
        let colon = if self.place.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", self.place, self.message)
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.headline())?;
        if let Some(excerpt) = &self.excerpt {
            write!(formatter, "\n{excerpt}")?;
        }
        self.hint.iter().try_for_each(|hint| write!(formatter, "\nhint: {hint}"))
    }
}

impl From<ConfigErrors> for RunError {
    fn from(errors: ConfigErrors) -> Self {
        errors.0.into_iter().map(Diagnostic::from).collect()
    }
}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> Self {
        Self::one(RunErrorKind::Usage, error.into())
    }
}

impl From<ConfigError> for Diagnostic {
    fn from(error: ConfigError) -> Self {
        let ConfigError { place, message, hint, excerpt } = error;
        Self { place, message, hint, excerpt }
    }
}

impl From<PolicyErrors> for RunError {
    fn from(errors: PolicyErrors) -> Self {
        errors.0.into_iter().map(Diagnostic::from).collect()
    }
}

impl From<PolicyError> for Diagnostic {
    fn from(error: PolicyError) -> Self {
        let PolicyError { origin, line, column, message, hint, excerpt } = error;
        Self { place: at(origin, line, column), message, hint, excerpt }
    }
}

impl From<ModeErrors> for RunError {
    fn from(errors: ModeErrors) -> Self {
        errors.0.into_iter().map(Diagnostic::from).collect()
    }
}

impl From<ModeError> for Diagnostic {
    fn from(error: ModeError) -> Self {
        let ModeError { origin, line, column, path, message, hint, excerpt } = error;
        let message = if path.is_empty() { message } else { format!("`{path}`: {message}") };
        Self { place: at(origin, line, column), message, hint, excerpt }
    }
}

/// Returns where a mistake is; line 0 means the whole file.
fn at(origin: String, line: u32, column: u32) -> String {
    if line == 0 { origin } else { format!("{origin}:{line}:{column}") }
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, RunError};
    use pretty_assertions::assert_eq;

    #[test]
    fn report_shows_place_message_and_hint_of_every_diagnostic() {
        let unknown = Diagnostic {
            hint: Some("did you mean `mode`?".to_owned()),
            ..Diagnostic::new(".locum/config.yml:3:1", "unknown key `mod`")
        };
        let error: RunError =
            [unknown, Diagnostic::new("", "no model is configured")].into_iter().collect();
        assert_eq!(
            error.report(),
            "error: .locum/config.yml:3:1: unknown key `mod`\nhint: did you mean `mode`?\nerror: \
             no model is configured"
        );
    }
}
