//! What can be said about a policy besides its verdicts: why something came out so, which rules do
//! nothing, which risks it takes.
//!
//! In: a `Policy`, and questions or past verdicts. Out: plain data; printing is done above. None of
//! it takes part in a decision.

mod every_command;
pub mod explain;
pub mod idle;
pub mod instead;
pub mod nearest;
mod redundant;
pub mod risks;
pub mod tiers;
pub mod warning;

use crate::Policy;
use crate::lint::warning::Warning;

/// Returns the rules that can never decide anything: another one covers them, they never count, or
/// a check refuses what they allow all the same; and those that mean less than they say.
pub fn warnings(policy: &Policy) -> Vec<Warning> {
    let mut warnings = redundant::redundant_rules(policy);
    warnings.extend(idle::idle_rules(policy));
    warnings.extend(every_command::warnings(policy));
    warnings.extend(tiers::ways_without_tiers(policy));
    warnings.sort_by_key(|warning| warning.rule.line);
    warnings
}
