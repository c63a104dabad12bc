//! `Warning`: a rule, or a key of the settings, that cannot do what it says.

use serde::Serialize;

use crate::Policy;
use crate::rule::LocatedPattern;
use crate::verdict::RuleRef;

/// A rule that cannot do what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The rule; a key of the settings has line 0.
    pub rule: RuleRef,
    /// Why: a sentence without a full stop.
    pub message: String,
}

impl Warning {
    pub(super) fn of_rule(policy: &Policy, written: &LocatedPattern, message: String) -> Self {
        Self { rule: written.reference(policy.origin()), message }
    }

    pub(super) fn of_key(policy: &Policy, key: &str, message: String) -> Self {
        Self { rule: RuleRef::setting(key, policy.origin()), message }
    }
}
