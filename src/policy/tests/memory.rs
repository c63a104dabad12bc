//! The memory across runs: off without a rule, and never written without a maintainer where anyone
//! else had a word in the run.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::actors::Tier;
use crate::amend::{AmendmentError, amend};
use crate::approval::Approval;
use crate::intent::{Act, Facts, Intent, Restriction, TriggerKind};
use crate::kind::RuleKind;
use crate::query::parse_intent;
use crate::tests::{facts, policy};
use crate::verdict::Decision::{self, Allow, Deny, Hold};

const RULES: &str = "rules:
  - allow: [\"memory(read/*)\", \"memory(write/build-*)\"]
  - hold: \"memory(write/plans)\"
  - deny: \"memory(read/secret-*)\"
";

fn decide(rules: &str, intent: &str, facts: &Facts) -> Decision {
    policy(rules).decide(&parse_intent(intent).unwrap(), facts).decision
}

#[test]
fn reading_and_writing_each_need_a_rule_of_their_own() {
    for (intent, expected) in [
        ("memory(read/build-notes)", Allow),
        ("memory(read/secret-plan)", Deny),
        ("memory(write/build-notes)", Allow),
        ("memory(write/notes)", Deny),
        ("memory(write/plans)", Hold),
    ] {
        assert_eq!(decide(RULES, intent, &facts("code")), expected, "{intent}");
        assert_eq!(decide("", intent, &facts("code")), Deny, "without rules: {intent}");
    }
    for intent in ["memory(read/../x)", "memory(x)", "memory(delete/x)", "memory(write/A)"] {
        assert!(parse_intent(intent).is_err(), "{intent}");
    }
}

#[test]
fn what_anyone_else_may_have_suggested_waits_for_a_maintainer() {
    let start = |tier, outside_text| Facts { tier, outside_text, ..facts("code") };
    for (facts, expected) in [
        (start(Tier::Maintainer, false), Allow),
        (start(Tier::Maintainer, true), Hold),
        (Facts { trigger: TriggerKind::Dispatch, ..facts("code") }, Allow),
        (Facts { trigger: TriggerKind::Comment, ..facts("code") }, Hold),
        (Facts { trigger: TriggerKind::Push, ..facts("code") }, Hold),
        (start(Tier::Schedule, false), Allow),
        (start(Tier::Schedule, true), Hold),
        (start(Tier::Collaborator, false), Hold),
        (start(Tier::Contributor, false), Hold),
        (start(Tier::Stranger, false), Hold),
        (start(Tier::Bot, false), Hold),
    ] {
        assert_eq!(decide(RULES, "memory(write/build-x)", &facts), expected, "{facts:?}");
        assert_eq!(decide(RULES, "memory(read/build-x)", &facts), Allow, "{facts:?}");
        assert_eq!(decide(RULES, "memory(write/x)", &facts), Deny, "{facts:?}");
    }
    let verdict = policy(RULES).decide(
        &Intent::MemoryWrite("build-x".to_owned()),
        &Facts { tier: Tier::Stranger, ..facts("code") },
    );
    assert_eq!(
        verdict.reason(),
        "allowed by `memory(write/build-*)`, but a maintainer has to agree: no maintainer started \
         this run"
    );
}

/// The act of writing one entry.
#[derive(Debug)]
struct Write(&'static str);

impl Act for Write {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::MemoryWrite(self.0.to_owned())]
    }
}

#[test]
fn an_approval_is_for_the_entry_that_was_shown() {
    let approval = || Approval {
        hold: "name".to_owned(),
        by: "octocat".to_owned(),
        intents: vec!["memory(write/build-x)".to_owned()],
    };
    let stranger = Facts { tier: Tier::Stranger, ..facts("code") };
    let policy = policy(RULES);
    assert!(policy.admit_approved(Write("build-x"), &stranger, approval()).is_ok());
    for name in ["build-y", "other"] {
        assert!(policy.admit_approved(Write(name), &stranger, approval()).is_err(), "{name}");
    }
}

#[test]
fn no_rule_is_proposed_for_what_waits_each_time() {
    let text = format!("version: 1\n{RULES}");
    let policy = Policy::parse(&text, "policy.yml").unwrap();
    let plans = ["memory(write/plans)".to_owned()];
    let amended = amend(&policy, &text, &plans, &facts("code")).unwrap();
    assert_eq!(amended.patterns, plans);
    let stranger = Facts { tier: Tier::Stranger, ..facts("code") };
    for name in ["plans", "build-x"] {
        let held = format!("memory(write/{name})");
        let error = amend(&policy, &text, std::slice::from_ref(&held), &stranger).unwrap_err();
        assert_eq!(error, AmendmentError::EachTime(held));
    }
}

#[test]
fn a_run_that_only_reads_keeps_nothing() {
    let restriction = Restriction { read_only: true, ..Restriction::default() };
    let facts = Facts { restriction, ..facts("code") };
    assert_eq!(decide(RULES, "memory(write/build-x)", &facts), Deny);
    assert_eq!(decide(RULES, "memory(read/build-x)", &facts), Allow);
    assert!(!policy(RULES).may_use(RuleKind::MemoryWrite, &facts));
    assert!(policy(RULES).may_use(RuleKind::MemoryRead, &facts));
}

#[test]
fn a_prompt_says_what_waits_for_a_person() {
    let lines = |facts: &Facts| {
        policy(RULES).summary_lines(facts, |kind| {
            matches!(kind, RuleKind::MemoryRead | RuleKind::MemoryWrite)
        })
    };
    assert_eq!(
        lines(&facts("code")),
        [
            "You may use the memory: `read/*`",
            "You may use the memory: `write/build-*`",
            "A person must agree before you use the memory: `write/plans`",
            "You may not use the memory: `read/secret-*`",
        ]
    );
    let comment = Facts { trigger: TriggerKind::Comment, ..facts("code") };
    assert!(
        lines(&comment)
            .contains(&"A person must agree before you use the memory: `write/build-*`".to_owned()),
        "{:?}",
        lines(&comment)
    );
}
