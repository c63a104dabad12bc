//! Says why: the verdict on one intent, with the rule that comes nearest to allowing it.

use serde::Serialize;

use crate::Policy;
use crate::intent::{Facts, Intent};
use crate::lint::nearest::{NearestRule, nearest};
use crate::verdict::Verdict;

/// A verdict and what would have changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict as a run would get it.
    pub verdict: Verdict,
    /// The allowing rule that comes nearest, where the verdict is not `Allow`, and why it did not
    /// do.
    pub nearest: Option<NearestRule>,
}

/// Judges one intent and names the rule that comes nearest to allowing it.
pub fn explain(policy: &Policy, intent: &Intent, facts: &Facts) -> Explanation {
    let verdict = policy.decide(intent, facts);
    let nearest = nearest(policy, intent, facts, &verdict);
    Explanation { verdict, nearest }
}
