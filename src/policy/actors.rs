//! Who asked: tiers by the forge's own answer.

use serde::{Deserialize, Serialize};

/// What the forge says of an actor.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// May push: admin, maintain, write. Also whoever runs Locum on the command line of their
    /// checkout.
    #[default]
    Maintainer,
    /// Triage, or read on a private repository.
    Collaborator,
    /// Has contributed before, may not push.
    Contributor,
    /// Anyone whom no other tier fits.
    Stranger,
    /// A program, listed by name in the policy.
    Bot,
    /// A schedule; it has no actor.
    Schedule,
}

/// What the forge's API answered about an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActorFacts<'a> {
    /// Permission word: `admin`, `maintain`, `write`, `triage`, `read`, `none`; anything else
    /// counts as `none`.
    pub permission: &'a str,
    /// Whether the account is a user's, not a bot's or an organisation's.
    pub is_user: bool,
    /// Whether the repository is private, so that `read` is given to someone on purpose.
    pub is_private: bool,
    /// Whether the forge says that they have contributed before.
    pub has_contributed: bool,
}

impl Tier {
    /// Returns the policy's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Maintainer => "maintainer",
            Self::Collaborator => "collaborator",
            Self::Contributor => "contributor",
            Self::Stranger => "stranger",
            Self::Bot => "bot",
            Self::Schedule => "schedule",
        }
    }

    /// Returns the tier of an actor. Words this program does not know make a stranger.
    pub fn of(facts: ActorFacts<'_>) -> Self {
        if !facts.is_user {
            return Self::Bot;
        }
        match facts.permission {
            "admin" | "maintain" | "write" => Self::Maintainer,
            "triage" => Self::Collaborator,
            "read" if facts.is_private => Self::Collaborator,
            _ if facts.has_contributed => Self::Contributor,
            _ => Self::Stranger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ActorFacts, Tier};
    use pretty_assertions::assert_eq;

    #[test]
    fn reads_the_forges_answer_and_trusts_no_unknown_word() {
        for (permission, is_user, is_private, has_contributed, expected) in [
            ("admin", true, false, false, Tier::Maintainer),
            ("maintain", true, false, false, Tier::Maintainer),
            ("write", true, false, false, Tier::Maintainer),
            ("triage", true, false, false, Tier::Collaborator),
            ("read", true, true, false, Tier::Collaborator),
            ("read", true, false, false, Tier::Stranger),
            ("read", true, false, true, Tier::Contributor),
            ("none", true, true, false, Tier::Stranger),
            ("", true, true, false, Tier::Stranger),
            ("ADMIN", true, true, false, Tier::Stranger),
            ("owner", true, true, true, Tier::Contributor),
            ("admin", false, false, false, Tier::Bot),
        ] {
            let facts = ActorFacts { permission, is_user, is_private, has_contributed };
            assert_eq!(Tier::of(facts), expected, "{facts:?}");
        }
    }
}
