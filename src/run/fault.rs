//! `Fault`: why a run could not start or be published, with every mistake found and what to do
//! about each.

use locum_files::excerpt::Excerpt;
use locum_files::yaml::Mistake;

/// Why a run could not start or be published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Fault {
    /// Whose fault it is.
    pub kind: FaultKind,
    /// What is wrong, at least one.
    pub notes: Vec<Note>,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A flag, a file or a variable is wrong; the person who set it can mend it.
    Setup,
    /// The machine, the forge or the program.
    Machine,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `file:line:column`, a flag or a variable; empty when the message says it itself.
    pub place: String,
    /// What is wrong: a fragment without a full stop.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl Fault {
    /// Returns a fault of a flag, a file or a variable.
    #[must_use]
    pub fn setup(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::one(FaultKind::Setup, place.into(), what.into())
    }

    /// Returns a fault of the machine, the forge or the program.
    #[must_use]
    pub fn machine(what: impl std::fmt::Display) -> Self {
        Self::one(FaultKind::Machine, String::new(), what.to_string())
    }

    /// Returns the mistakes of a file as one fault.
    #[must_use]
    pub fn file(origin: &str, mistakes: Vec<Mistake>) -> Self {
        let note = |mistake: Mistake| Note {
            place: format!("{origin}:{}:{}", mistake.place.line, mistake.place.column),
            what: mistake.message,
            hint: mistake.hint,
            excerpt: mistake.excerpt,
        };
        Self { kind: FaultKind::Setup, notes: mistakes.into_iter().map(note).collect() }
    }

    /// Returns the same fault with advice on its last note.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Some(note) = self.notes.last_mut() {
            note.hint = Some(hint.into());
        }
        self
    }

    fn one(kind: FaultKind, place: String, what: String) -> Self {
        Self { kind, notes: vec![Note { place, what, hint: None, excerpt: None }] }
    }
}

impl std::fmt::Display for Note {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let colon = if self.place.is_empty() { "" } else { ": " };
        write!(formatter, "{}{colon}{}", self.place, self.what)
    }
}
