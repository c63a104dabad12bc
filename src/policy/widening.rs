//! Whether one mode may do more than another, by the rules: a task that was given one mode must not
//! gain rights by going on in another.
//!
//! In: rules, and the facts of two modes in one run. Out: a rule that makes the second wider. Where
//! texts do not show that a rule covers another, the second counts as wider. What the modes
//! themselves say is not known here.

use crate::intent::Facts;
use crate::kind::RuleKind;
use crate::pattern::Pattern;
use crate::rule::{LocatedPattern, Rule};
use crate::verdict::Decision;

/// Returns the first rule that allows what it does not allow before, or no longer refuses it.
pub(crate) fn gained<'r>(
    rules: &'r [Rule],
    (from, to): (&Facts, &Facts),
    used: impl Fn(RuleKind) -> bool,
) -> Option<&'r LocatedPattern> {
    let is_used = |written: &&LocatedPattern| {
        let kind = written.pattern.kind;
        !matches!(kind, RuleKind::Mode | RuleKind::Publish) && used(kind)
    };
    let more = rules.iter().filter(|rule| match rule.decision {
        Decision::Allow => rule.narrowing.holds(to) && !rule.narrowing.holds(from),
        Decision::Hold | Decision::Deny => rule.narrowing.holds(from) && !rule.narrowing.holds(to),
    });
    let is_covered = |rule: &Rule, pattern: &Pattern| {
        let there = if rule.decision == Decision::Allow { from } else { to };
        rules.iter().any(|other| {
            let speaks = match rule.decision {
                Decision::Allow => other.decision == Decision::Allow,
                least @ (Decision::Hold | Decision::Deny) => other.decision >= least,
            };
            speaks
                && other.except.is_empty()
                && (other.protected || !rule.protected)
                && other.narrowing.holds(there)
                && other.patterns.iter().any(|written| written.pattern.covers(pattern))
        })
    };
    more.flat_map(|rule| rule.patterns.iter().map(move |written| (rule, written)))
        .filter(|(_, written)| is_used(written))
        .find(|(rule, written)| !is_covered(rule, &written.pattern))
        .map(|(_, written)| written)
}
