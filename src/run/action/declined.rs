//! `Declined`: why something that was asked for was not done, where that may be a sentence for
//! whoever asked as well as a failure.

use crate::run::error::RunError;

/// Why something that was asked for was not done.
#[derive(Debug)]
pub(super) enum Declined {
    /// For this reason, which is shown to whoever asked.
    Refused(String),
    /// The machine, the forge or the program failed.
    Failed(RunError),
}

impl Declined {
    /// Returns a refusal for this reason.
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}

impl From<RunError> for Declined {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}
