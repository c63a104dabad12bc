//! What a starter shares with the built-in policy is the same there.

use pretty_assertions::assert_eq;

use super::{scan, starter};
use crate::Policy;
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::rule::LocatedPattern;
use crate::verdict::Decision;

#[test]
fn a_starter_and_the_built_in_policy_look_change_and_refuse_alike() {
    let built_in = Policy::builtin();
    let starter = starter(&scan(&[("src/a.rs", "")])).unwrap();
    let starter = Policy::parse(&starter, "policy.yml").unwrap();
    let rules = |policy: &Policy, decision: Decision| -> Vec<(Vec<String>, Vec<String>)> {
        let rules = policy.judge.rules().iter().filter(|rule| rule.decision == decision);
        let texts = |all: &[LocatedPattern]| all.iter().map(|one| one.text.clone()).collect();
        rules.map(|rule| (texts(&rule.patterns), texts(&rule.except))).collect()
    };
    assert_eq!(rules(&built_in, Decision::Deny), rules(&starter, Decision::Deny));
    assert_eq!(rules(&starter, Decision::Deny).len(), 3);
    let shared = rules(&starter, Decision::Allow);
    for program in ["command(ls:*)", "command(mkdir:*)"] {
        let has = |(patterns, _): &&(Vec<String>, Vec<String>)| {
            patterns.first().is_some_and(|first| first == program)
        };
        let found = shared.iter().find(has);
        assert!(found.is_some(), "{program}");
        assert_eq!(rules(&built_in, Decision::Allow).iter().find(has), found, "{program}");
    }
    for (command, is_refused) in [
        ("gh pr list --json title", false),
        ("gh -R o/r pr view 5", false),
        ("gh pr view 5 -R o/r", false),
        ("gh run view 5 --log", false),
        ("glab mr diff 5", false),
        ("hub ci-status", false),
        ("gh pr merge 5", true),
        ("gh pr create", true),
        ("gh -R o/r pr merge 5", true),
        ("gh --unheard pr list", true),
        ("gh api repos/o/r", true),
        ("gh auth token", true),
        ("gh secret list", true),
        ("gh alias list", true),
        ("gh extension list", true),
        ("gh repo delete o/r", true),
        ("gh release download v1", true),
        ("glab mr merge 5", true),
        ("hub pr checkout 5", true),
    ] {
        for policy in [&built_in, &starter] {
            let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
            let intent = parse_intent(&format!("command({command})")).unwrap();
            let verdict = policy.decide(&intent, &facts);
            assert_eq!(verdict.rule().is_some(), is_refused, "{command}: {}", verdict.reason());
        }
    }
}
