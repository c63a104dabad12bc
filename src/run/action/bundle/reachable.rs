//! Which modes a run can have worked in: the one it starts in by this job's own event, and those
//! that the policy lets it switch to or delegate to, from one to the next.
//!
//! In: the policy, the first mode and every mode. Out: slugs. What a bundle says of its modes
//! counts for nothing else.

use std::collections::BTreeSet;

use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;

/// Returns the modes that a run may work in which starts under these facts. What waits for an
/// approval is not among them: in two jobs nobody approves.
pub(super) fn modes(policy: &Policy, facts: &Facts, known: &[String]) -> BTreeSet<String> {
    let mut reached = BTreeSet::from([facts.mode.clone()]);
    let mut next = vec![facts.mode.clone()];
    while let Some(from) = next.pop() {
        let from = Facts { mode: from, ..facts.clone() };
        let allows = |intent: Intent| policy.decide(&intent, &from).decision == Decision::Allow;
        for mode in
            known.iter().filter(|mode| !reached.contains(*mode)).cloned().collect::<Vec<_>>()
        {
            let delegates = policy.may_delegate(&from) && allows(Intent::Delegate(mode.clone()));
            if delegates || allows(Intent::Mode(mode.clone())) {
                reached.insert(mode.clone());
                next.push(mode);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::modes;
    use locum_policy::Policy;
    use locum_policy::intent::Facts;

    #[test]
    fn only_modes_that_the_policy_leads_to_can_have_worked() {
        let known = ["ask", "architect", "code", "review"].map(str::to_owned);
        let reached = |modes_of_policy: &str, first: &str| {
            let text = format!("version: 1\nmodes: {{ {modes_of_policy} }}\nrules: []\n");
            let policy = Policy::parse(&text, "policy.yml").unwrap();
            let facts = Facts { mode: first.to_owned(), ..Facts::default() };
            modes(&policy, &facts, &known).into_iter().collect::<Vec<_>>().join(" ")
        };
        let all = "default: ask, allow: [ask, architect, code, review]";
        let chain = "transitions: { ask: [architect], architect: [code], code: [], review: [] }";
        let chain = format!("{all}, {chain}");
        assert_eq!(reached(&chain, "ask"), "architect ask code");
        assert_eq!(reached(&chain, "review"), "review");
        let nothing = "transitions: { ask: [], architect: [], code: [], review: [] }";
        let delegation = "delegation: { from: [architect], depth: 1, tasks: 2 }";
        let delegates = format!("{all}, {nothing}, {delegation}");
        assert_eq!(reached(&delegates, "ask"), "ask");
        assert_eq!(reached(&delegates, "architect"), "architect ask code review");
    }
}
