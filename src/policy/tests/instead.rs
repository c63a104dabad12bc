//! What a refusal offers instead: the part that is allowed, the nearest rule, or the open paths.

use pretty_assertions::assert_eq;

use super::{facts, policy};
use crate::Policy;
use crate::intent::{Act, Facts, Intent};
use crate::query::parse_intent;

#[derive(Debug)]
struct Asked(Intent);

impl Act for Asked {
    fn intents(&self) -> Vec<Intent> {
        vec![self.0.clone()]
    }
}

fn hint(policy: &Policy, facts: &Facts, intent: &str) -> Option<String> {
    let asked = Asked(parse_intent(intent).unwrap());
    match policy.admit(asked, facts) {
        Ok(_) => Some("allowed".to_owned()),
        Err(refusal) => refusal.hint,
    }
}

const RULES: &str = "rules:
  - allow: ['read(**)', 'edit(src/**)', 'edit(tests/**)', 'fetch(docs.rs)', 'search(rust *)']
  - allow: ['command(pytest:*)', 'command(git diff:*)', 'command(cargo update)', 'command(ls:*)', \
                     'command(echo:*)']
  - allow: 'command(cargo test:*)'
    modes: [debug]
  - deny: 'command(git push:*)'
    reason: publishing is the run's part
";

#[test]
fn a_refusal_names_what_would_be_allowed_and_nothing_that_would_not() {
    let policy = policy(RULES);
    let facts = Facts { sandboxed: true, ..facts("code") };
    let mut wrong = Vec::new();
    for (intent, expected) in [
        // A part of the script is allowed.
        ("command(pytest -q 2>&1 | tail -20)", "Allowed by itself: `pytest -q 2>&1`."),
        ("command(pytest -q; true)", "Allowed by itself: `pytest -q`."),
        ("command(pytest || true)", "Allowed by itself: `pytest`."),
        ("command(pytest; echo exit=$?)", "Allowed by itself: `pytest`."),
        ("command(pytest > out.txt)", "Allowed by itself: `pytest`."),
        ("command(export X=1 && pytest -x)", "Allowed by itself: `pytest -x`."),
        ("command(FOO=1 pytest -x)", "Allowed by itself: `pytest -x`."),
        ("command(pytest -k 'a; b' | head)", "Allowed by itself: `pytest -k 'a; b'`."),
        (
            "command(pytest; echo run > src/f; echo x > AGENTS.md; echo n > src/n)",
            "Allowed by itself: `pytest; echo run > src/f`.",
        ),
        // The nearest rule, as `explain` says it.
        (
            "command(cargo update --dry-run)",
            "Nearest rule: `cargo update`; without `:*` at its end nothing may follow, and \
             `--dry-run` does.",
        ),
        (
            "command(cargo test)",
            "Nearest rule: `cargo test:*`; it counts only in `debug`, and this is mode `code`.",
        ),
        ("command(git diff --ext-diff)", "Without that, `git diff:*` allows it."),
        (
            "command(python x.py)",
            "Commands allowed here: `pytest:*`, `git diff:*`, `cargo update`, `ls:*`, `echo:*`.",
        ),
        // The right kind of list: a redirection is an edit.
        ("command(echo x > notes.txt)", "May be edited here: `src/**`, `tests/**`."),
        ("edit(notes.txt)", "May be edited here: `src/**`, `tests/**`."),
        ("fetch(evil.example)", "Addresses allowed here: `docs.rs`."),
        ("search(go maps)", "Queries allowed here: `rust *`."),
        ("delegate(ask)", ""),
        // No rule helps against a check, nor against a rule that refuses.
        ("edit(.github/workflows/ci.yml)", ""),
        ("read(.env)", ""),
        ("command(git push)", ""),
        ("command(echo x > .github/workflows/ci.yml)", ""),
    ] {
        let found = hint(&policy, &facts, intent).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{intent}: {found}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn of_many_rules_the_nearest_few_are_named() {
    let rules: Vec<String> = (0..90).map(|number| format!("'edit(d{number}/**)'")).collect();
    let policy = policy(&format!(
        "rules:\n  - allow: [{}, 'edit(src/run/**)']\n  - allow: [{}]\n",
        rules.join(", "),
        (0..90).map(|one| format!("'command(c{one})'")).collect::<Vec<_>>().join(", ")
    ));
    assert_eq!(
        hint(&policy, &facts("code"), "edit(src/b.rs)").unwrap(),
        "May be edited here: `src/run/**`, `d0/**`, `d1/**`, `d2/**`, `d3/**`, `d4/**`, and 85 more."
    );
    assert_eq!(hint(&policy, &facts("code"), "command(other)"), None);
}

#[test]
fn sub_tasks_are_offered_the_modes_they_may_have() {
    let policy = policy("modes: { allow: [orchestrator, code, ask] }\n");
    let hint = hint(&policy, &facts("orchestrator"), "delegate(debug)").unwrap();
    assert_eq!(hint, "Sub-tasks may run in `orchestrator`, `code`, `ask`.");
}

#[test]
fn a_refusal_names_what_it_is_about_once() {
    let policy = policy("rules: [{ hold: 'command(cargo add:*)' }]\n");
    let refused = |intent: &str| {
        let asked = Asked(parse_intent(intent).unwrap());
        let facts = Facts { sandboxed: true, ..facts("code") };
        policy.admit(asked, &facts).unwrap_err().to_string()
    };
    assert_eq!(refused("command(mak test)"), "denied: no rule allows `command(mak test)`");
    let held = refused("command(cargo add x)");
    assert!(held.starts_with("held: command(cargo add x): held by"), "{held}");
}
