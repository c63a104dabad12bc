//! Why something of a run is not published: because it was not meant to be, or because something
//! stood in the way. Only the second ends a run as `not-published`.

use std::fmt;

use crate::run::publish::cure;
use crate::run::publish::lease::LEASE_OVER;
use locum_agent::session::hindrance::Hindrance;
use locum_forge::ForgeError;
use locum_policy::verdict::Refusal;

/// Why the changes become no branch, pull request or review.
pub(super) enum Unpublished {
    /// The policy says so, or how the run ended does.
    Intended(String),
    /// Something is known against the change: intended, where the run ended so.
    Flawed(String),
    /// Something stood in the way.
    Hindered(Box<Hindrance>),
    /// The run was cancelled meanwhile.
    Cancelled,
}

/// Why a posting was not made.
#[derive(Debug)]
pub(crate) enum NotPosted {
    /// The policy does not let it.
    Policy(Box<Refusal>),
    /// The forge refused, or failed.
    Forge(ForgeError),
    /// The run's claim on the work is over.
    LeaseOver,
}

impl Unpublished {
    /// Returns something that stood in the way, with what helps.
    pub(super) fn hindered(why: String) -> Self {
        Self::Hindered(Box::new(hindrance(why)))
    }
}

/// Returns a hindrance with what helps against it.
pub(super) fn hindrance(why: String) -> Hindrance {
    let why = why.trim_end().trim_end_matches('.').to_owned();
    Hindrance { cure: cure::of(&why), why, ..Hindrance::default() }
}

impl NotPosted {
    /// Returns whether the same posting may be tried again later: the forge was busy for longer
    /// than a posting waits, or answered something odd. A limit is not tried again: that is what
    /// the forge asks for.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::LeaseOver
            | Self::Forge(
                ForgeError::Unavailable { .. }
                | ForgeError::Failed { .. }
                | ForgeError::Conflict { .. },
            ) => true,
            Self::Policy(_)
            | Self::Forge(
                ForgeError::Forbidden { .. }
                | ForgeError::NotFound { .. }
                | ForgeError::RateLimited { .. },
            ) => false,
        }
    }
}

/// Whatever is not known to be intended stood in the way.
impl From<String> for Unpublished {
    fn from(why: String) -> Self {
        Self::hindered(why)
    }
}

impl From<NotPosted> for Unpublished {
    fn from(not: NotPosted) -> Self {
        match not {
            NotPosted::Policy(refusal) => Self::Intended(refusal.to_string()),
            NotPosted::Forge(_) | NotPosted::LeaseOver => Self::hindered(not.to_string()),
        }
    }
}

impl fmt::Display for NotPosted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(refusal) => refusal.fmt(formatter),
            Self::Forge(error) => error.fmt(formatter),
            Self::LeaseOver => formatter.write_str(LEASE_OVER),
        }
    }
}
