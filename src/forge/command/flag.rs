//! `Flag`: the flags of a command, each with whether it takes a value.

/// A flag of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Publish nothing but what would be.
    DryRun,
    /// A pull request of its own.
    NewPullRequest,
    /// The mode.
    Mode,
    /// The model profile.
    Model,
    /// The most that may be spent.
    Budget,
    /// What may be changed.
    Paths,
}

impl Flag {
    /// Every flag.
    pub const ALL: &[Self] =
        &[Self::DryRun, Self::NewPullRequest, Self::Mode, Self::Model, Self::Budget, Self::Paths];

    /// Returns its name, without dashes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DryRun => "dry-run",
            Self::NewPullRequest => "new-pr",
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Budget => "budget",
            Self::Paths => "paths",
        }
    }

    /// Returns whether it takes a value, which may also follow as the next word: `--mode code`.
    pub fn takes_value(self) -> bool {
        match self {
            Self::DryRun | Self::NewPullRequest => false,
            Self::Mode | Self::Model | Self::Budget | Self::Paths => true,
        }
    }

    /// Reads a name, without dashes.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|flag| flag.as_str() == name)
    }
}
