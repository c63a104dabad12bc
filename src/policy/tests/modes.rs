//! Which mode may follow which, who may delegate to which, and where a mode may do more.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::kind::RuleKind;
use crate::query::parse_intent;
use crate::tests::{check, facts, policy};
use crate::verdict::Decision::{Allow, Deny, Hold};

const MODES: &str = "
modes:
  allow: [orchestrator, architect, code, ask, debug]
  transitions: { ask: [architect, code], architect: [] }
  delegation: { from: [orchestrator] }
";

#[test]
fn transitions_bind_switches_and_neither_starts_nor_sub_tasks() {
    let policy = policy(&format!("{MODES}rules:\n  - allow: read(**)\n"));
    for (from, cases) in [
        ("ask", [("mode(code)", Allow), ("mode(debug)", Deny), ("mode(ask)", Allow)]),
        ("architect", [("mode(code)", Deny), ("mode(ask)", Deny), ("mode(architect)", Allow)]),
        ("code", [("mode(ask)", Allow), ("mode(debug)", Allow), ("mode(nope)", Deny)]),
        (
            "orchestrator",
            [("delegate(code)", Allow), ("delegate(ask)", Allow), ("delegate(nope)", Deny)],
        ),
        ("ask", [("delegate(code)", Deny), ("delegate(debug)", Deny), ("delegate(ask)", Deny)]),
    ] {
        check(&policy, &facts(from), &cases);
    }
    let said = |from: &str, to: &str| {
        let verdict = policy.decide(&parse_intent(&format!("mode({to})")).unwrap(), &facts(from));
        (verdict.reason(), verdict.rule().map(|rule| rule.pattern.clone()))
    };
    assert_eq!(
        said("ask", "debug").0,
        "mode `ask` is followed only by architect, code (`modes.transitions`)"
    );
    assert_eq!(
        said("architect", "ask").0,
        "no other mode follows mode `architect` (`modes.transitions`)"
    );
    assert_eq!(said("ask", "code").1.as_deref(), Some("modes.transitions"));
    assert_eq!(said("code", "ask").1.as_deref(), Some("modes.allow"));
}

#[test]
fn what_rules_say_of_a_mode_holds_for_sub_tasks_in_it() {
    let rules = "rules:\n  - hold: mode(code)\n    reason: agree first\n  - deny: mode(debug)\n  - \
                 hold: delegate(ask)\n  - hold: delegate(debug)\n";
    let policy = policy(&format!("{MODES}{rules}"));
    let cases = [
        ("delegate(code)", Hold),
        ("delegate(debug)", Deny),
        ("delegate(ask)", Hold),
        ("delegate(architect)", Allow),
        ("mode(code)", Hold),
        ("mode(debug)", Deny),
        ("mode(ask)", Allow),
    ];
    check(&policy, &facts("orchestrator"), &cases);
    let verdict = policy.decide(&parse_intent("delegate(code)").unwrap(), &facts("orchestrator"));
    assert_eq!(verdict.reason(), "agree first");
}

#[test]
fn a_rule_lets_another_mode_delegate_where_it_names_it() {
    let rules = "rules:\n  - allow: delegate(*)\n  - hold: delegate(code)\n    modes: [ask]\n";
    let policy = policy(&format!("{MODES}{rules}"));
    check(&policy, &facts("ask"), &[("delegate(code)", Hold), ("delegate(debug)", Allow)]);
    check(&policy, &facts("code"), &[("delegate(ask)", Deny), ("delegate(debug)", Deny)]);
    check(&policy, &facts("orchestrator"), &[("delegate(code)", Allow)]);
    let may = ["ask", "code", "orchestrator"].map(|mode| policy.may_delegate(&facts(mode)));
    assert_eq!(may, [true, false, true]);
}

#[test]
fn a_mode_gains_by_rules_that_no_rule_of_the_other_covers() {
    let gained = |rules: &str, kind: RuleKind| {
        let policy: Policy = policy(&format!("{MODES}rules:\n{rules}"));
        let used = move |used: RuleKind| used == kind;
        policy.gained((&facts("ask"), &facts("code")), used).map(|rule| rule.pattern)
    };
    for (rules, expected) in [
        ("  - allow: edit(src/**)\n", None),
        ("  - allow: edit(src/**)\n    modes: [code]\n", Some("edit(src/**)")),
        ("  - allow: edit(src/**)\n    modes: [ask]\n", None),
        ("  - allow: edit(src/**)\n    modes: [ask, code]\n", None),
        (
            "  - allow: edit(src/**)\n    modes: [code]\n  - allow: edit(**)\n    modes: [ask]\n",
            None,
        ),
        (
            "  - allow: edit(**)\n    modes: [code]\n  - allow: edit(src/**)\n    modes: [ask]\n",
            Some("edit(**)"),
        ),
        (
            "  - allow: edit(src/a)\n    modes: [code]\n  - allow: edit(src/**)\n    except: edit(src/a)\n    modes: [ask]\n",
            Some("edit(src/a)"),
        ),
        ("  - deny: edit(src/x)\n    modes: [ask]\n", Some("edit(src/x)")),
        (
            "  - hold: edit(src/x)\n    modes: [ask]\n  - deny: edit(src/**)\n    modes: [code]\n",
            None,
        ),
        (
            "  - deny: edit(src/x)\n    modes: [ask]\n  - hold: edit(src/**)\n    modes: [code]\n",
            Some("edit(src/x)"),
        ),
        ("  - deny: edit(src/x)\n    modes: [code]\n", None),
        ("  - allow: read(src/**)\n    modes: [code]\n", None),
        ("  - hold: mode(debug)\n    modes: [ask]\n", None),
    ] {
        assert_eq!(gained(rules, RuleKind::Edit).as_deref(), expected, "{rules}");
    }
    assert_eq!(
        gained("  - allow: delegate(code)\n    modes: [code]\n", RuleKind::Delegate).as_deref(),
        Some("delegate(code)")
    );
}

#[test]
fn delegation_has_bounds() {
    let limits = |text: &str| {
        Policy::parse(&format!("version: 1\nmodes: {{ delegation: {{ {text} }} }}\n"), "p.yml")
            .is_ok()
    };
    for (fits, passes) in [
        ("depth: 16", "depth: 17"),
        ("tasks: 10000", "tasks: 10001"),
        ("parallel: 32", "parallel: 33"),
        ("parallel: 0", "parallel: 1000"),
    ] {
        assert!(limits(fits) && !limits(passes), "{fits}, {passes}");
    }
}
