//! Who asked: tiers by the forge's own answer.

use serde::{Deserialize, Serialize};

/// What the forge says of an actor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// May push: admin, maintain, write. Also the person at the command line of their own checkout.
    #[default]
    Maintainer,
    /// Triage, or read on a private repository.
    Collaborator,
    /// Has contributed before, may not push.
    Contributor,
    /// Anyone else.
    Stranger,
    /// A program, listed by name in the policy.
    Bot,
    /// The clock.
    Schedule,
}
