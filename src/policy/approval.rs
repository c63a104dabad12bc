//! `Approval`: a maintainer's approval of one held act. It turns holds into permits, never denials.
//!
//! In: what was shown to the approver, in the policy's words. Who may approve, and until when, the
//! caller has checked.

use serde::{Deserialize, Serialize};

use crate::verdict::{Decision, Verdict};

/// The approval of one held act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The name of the hold: a hash of the call, its arguments and what was held of it.
    pub hold: String,
    /// Login of who approved.
    pub by: String,
    /// The intents that were held and shown, in the policy's words.
    pub intents: Vec<String>,
}

impl Approval {
    /// Returns what a verdict comes to for an act that was approved: a hold that was shown is
    /// allowed; nothing else changes.
    pub fn applied(approval: Option<&Self>, verdict: &Verdict) -> Decision {
        let covers = |approval: &Self| {
            verdict.decision == Decision::Hold && approval.intents.contains(&verdict.intent)
        };
        if approval.is_some_and(covers) { Decision::Allow } else { verdict.decision }
    }
}
