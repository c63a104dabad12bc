//! `Failure`: why a command did not do its work, ready to be shown: `error: place: what`, the line
//! of the file, then `hint: what to do`.

use crate::cli::ExitStatus;
use crate::cli::output::Output;
use crate::run::fault::{Fault, FaultKind};
use locum_files::excerpt::Excerpt;

/// Why a command did not do its work; every mistake found, not only the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How the program ends.
    pub status: ExitStatus,
    /// What is wrong, at least one.
    pub mistakes: Vec<Mistake>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// `file:line:column`, a flag or a variable; empty when the message says it itself.
    pub place: String,
    /// What is wrong: a lowercase fragment without a full stop.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl Failure {
    /// Returns a failure of the command line, of a file or of a variable (exit code 2).
    #[must_use]
    pub fn usage(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::one(ExitStatus::Usage, place.into(), what.into())
    }

    /// Returns a failure of the program or of the machine under it (exit code 1).
    #[must_use]
    pub fn internal(what: impl Into<String>) -> Self {
        Self::one(ExitStatus::Internal, String::new(), what.into())
    }

    /// Returns the same failure with advice on its last mistake.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(mistake) = self.mistakes.last_mut() {
            mistake.hint = Some(hint.into());
        }
        self
    }

    /// Says what is wrong and returns how the program ends.
    pub fn show(&self, output: &mut Output) -> ExitStatus {
        output.talk(self);
        self.status
    }

    fn one(status: ExitStatus, place: String, what: String) -> Self {
        Self { status, mistakes: vec![Mistake { place, what, hint: None, excerpt: None }] }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            write!(formatter, "{}error: {mistake}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let colon = if self.place.is_empty() { "" } else { ": " };
        write!(formatter, "{}{colon}{}", self.place, self.what)?;
        if let Some(excerpt) = &self.excerpt {
            write!(formatter, "\n{excerpt}")?;
        }
        match &self.hint {
            Some(hint) => write!(formatter, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let status = match fault.kind {
            FaultKind::Setup => ExitStatus::Usage,
            FaultKind::Machine => ExitStatus::Internal,
        };
        let mistakes = fault.notes.into_iter().map(|note| Mistake {
            place: note.place,
            what: note.what,
            hint: note.hint,
            excerpt: note.excerpt,
        });
        Self { status, mistakes: mistakes.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Mistake};
    use crate::cli::ExitStatus;
    use pretty_assertions::assert_eq;

    #[test]
    fn shows_place_message_and_hint_of_every_mistake() {
        let mistake = |place: &str, what: &str, hint: Option<&str>| Mistake {
            place: place.to_owned(),
            what: what.to_owned(),
            hint: hint.map(str::to_owned),
            excerpt: None,
        };
        let failure = Failure {
            status: ExitStatus::Usage,
            mistakes: vec![
                mistake(".locum/config.yml:3:1", "unknown key `mod`", Some("did you mean `mode`?")),
                mistake("", "no model is configured", None),
            ],
        };
        assert_eq!(
            failure.to_string(),
            "error: .locum/config.yml:3:1: unknown key `mod`\nhint: did you mean `mode`?\nerror: \
             no model is configured"
        );
    }
}
