//! What the report of a run needs besides its outcome: where people read it and decide, and how a
//! later run follows on it.

use locum_agent::report::waiting::{DecisionChannel, KeptLine};
use locum_forge::posts::OwnReaction;

/// What is known about publishing only when the run is over.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd<'a> {
    /// The issue or pull request comments belong to, perhaps opened for the decision.
    pub thread: Option<u64>,
    /// Reactions that say it was seen, and go when it is over.
    pub seen: &'a [OwnReaction],
    /// The one on the comment that decided on what the run waited for, which goes in any case.
    pub decided: Option<OwnReaction>,
    /// How maintainers decide on what the run stops for.
    pub decide: DecisionChannel<'a>,
}

/// How a later run follows on this one, which is known once its changes are where they belong.
#[derive(Clone, Copy, Debug, Default)]
pub struct FollowUp<'a> {
    /// The word that commands on the thread start with, where one can start the run again.
    pub retry: Option<&'a str>,
    /// Where its session is kept, or one before it; `None` where neither is, or it waits.
    pub kept: Option<KeptLine<'a>>,
}
