//! `Verdict`: a decision with the rule and line that made it; `Refusal`: what is told when an act is not allowed.

use serde::{Deserialize, Serialize};

/// What the policy says; the worst of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Go on.
    Allow,
    /// A person has to say yes first.
    Hold,
    /// No.
    Deny,
}

/// A decision on one intent and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The intent in the policy's own words: `edit(src/lib.rs)`, `command(cargo test)`.
    pub intent: String,
    /// The pattern that decided, or `None` when no rule matched or a built-in guard spoke.
    pub rule: Option<RuleRef>,
    /// One sentence without a full stop: the rule's own reason, or the guard's.
    pub reason: String,
}

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRef {
    /// The pattern as written.
    pub pattern: String,
    /// The file it stands in, as named at load.
    pub origin: String,
    /// Its line, counted from 1.
    pub line: u32,
}

/// Told when an act is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{decision:?}: {}", verdicts.iter().map(|verdict| format!("{}: {}", verdict.intent, verdict.reason)).collect::<Vec<_>>().join("; "))]
pub struct Refusal {
    /// `Hold` or `Deny`.
    pub decision: Decision,
    /// The verdicts that are not `Allow`, in order of the act's intents.
    pub verdicts: Vec<Verdict>,
    /// What would be allowed instead, where that can be said.
    pub hint: Option<String>,
}
