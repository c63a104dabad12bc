//! `SettingSource`: where a setting's value came from; `ConfigErrors`: every mistake in files,
//! variables and flags, each with its place.

use std::fmt;

use locum_files::diagnostic::Diagnostic;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingSource {
    /// Layer that set the value.
    pub layer: Layer,
    /// `file:line`, the variable or the flag; empty for built-in values.
    pub place: String,
}

/// Layers of settings, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Compiled in, or computed from where the program runs.
    BuiltIn,
    /// The user's own file.
    User,
    /// The repository's file, at the trusted ref.
    Repository,
    /// A variable of the environment, the Action's inputs included.
    Environment,
    /// A flag of the command line.
    Flag,
}

impl Layer {
    const ALL: [Self; 5] =
        [Self::BuiltIn, Self::User, Self::Repository, Self::Environment, Self::Flag];

    /// Returns the layer's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }

    /// Finds a layer by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.as_str() == name)
    }
}

impl fmt::Display for SettingSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            formatter.write_str(self.layer.as_str())
        } else {
            write!(formatter, "{} {}", self.layer.as_str(), self.place)
        }
    }
}

/// Every mistake found in the settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Diagnostic::headline).collect::<Vec<_>>().join("\n"))]
pub struct ConfigErrors(pub Vec<Diagnostic>);
