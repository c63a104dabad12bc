//! `RunError`: why a command or a run could not do its work, with every mistake found and what to
//! do about each: `error: place: message`, the line of the file, then `hint: what to do`.

use crate::config::source::ConfigErrors;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_modes::loader::ModeErrors;
use locum_policy::schema::PolicyErrors;

/// Why a command or a run could not do its work; every mistake found, not only the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", diagnostics.iter().map(Diagnostic::headline).collect::<Vec<_>>().join("\n"))]
pub struct RunError {
    /// Whether the user who started it can correct it.
    pub kind: RunErrorKind,
    /// What is wrong, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether the user who started a command can correct what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunErrorKind {
    /// A flag, a file or a variable is wrong; the user who set it can correct it.
    Usage,
    /// The machine, the forge or the program failed.
    Internal,
}

impl RunError {
    /// Returns an error of a flag, a file or a variable (exit code 2).
    pub fn usage(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::one(RunErrorKind::Usage, Diagnostic::about(place, message))
    }

    /// Returns an error of the machine, the forge or the program (exit code 1).
    pub fn internal(message: impl std::fmt::Display) -> Self {
        Self::one(RunErrorKind::Internal, Diagnostic::about("", message.to_string()))
    }

    /// Returns the mistakes of a file as one error.
    pub fn file(origin: &str, mistakes: Vec<Diagnostic>) -> Self {
        mistakes.into_iter().map(|mistake| mistake.in_file(origin)).collect()
    }

    /// Returns the same error with advice on its last diagnostic.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(diagnostic) = self.diagnostics.last_mut() {
            diagnostic.hint = Some(hint.into());
        }
        self
    }

    /// Returns every diagnostic in full, as the command line shows it: it may repeat words of
    /// anyone's file, so control and invisible characters are spelled out.
    pub fn report(&self) -> String {
        let lines: Vec<String> =
            self.diagnostics.iter().map(|diagnostic| format!("error: {diagnostic}")).collect();
        visible(&lines.join("\n"))
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

impl From<ConfigErrors> for RunError {
    fn from(errors: ConfigErrors) -> Self {
        errors.0.into_iter().collect()
    }
}

impl From<Diagnostic> for RunError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::one(RunErrorKind::Usage, diagnostic)
    }
}

impl From<PolicyErrors> for RunError {
    fn from(errors: PolicyErrors) -> Self {
        errors.0.into_iter().collect()
    }
}

impl From<ModeErrors> for RunError {
    fn from(errors: ModeErrors) -> Self {
        errors.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RunError;
    use locum_files::diagnostic::Diagnostic;
    use pretty_assertions::assert_eq;

    #[test]
    fn nothing_of_a_hostile_file_reaches_the_terminal_as_it_is() {
        let unknown = Diagnostic::about("a\u{7}.yml", "unknown key `\u{1b}]0;x\u{7}`\u{202e}");
        let error: RunError = [unknown.hint("\u{1b}[2J")].into_iter().collect();
        assert_eq!(
            error.report(),
            "error: a(U+0007).yml: unknown key `(U+001B)]0;x(U+0007)`(U+202E)\nhint: (U+001B)[2J"
        );
    }

    #[test]
    fn report_shows_place_message_and_hint_of_every_diagnostic() {
        let unknown = Diagnostic::about(".locum/config.yml:3:1", "unknown key `mod`");
        let unknown = unknown.hint("did you mean `mode`?");
        let error: RunError =
            [unknown, Diagnostic::about("", "no model is configured")].into_iter().collect();
        assert_eq!(
            error.report(),
            "error: .locum/config.yml:3:1: unknown key `mod`\nhint: did you mean `mode`?\nerror: \
             no model is configured"
        );
    }
}
