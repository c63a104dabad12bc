//! What a model, a plan and `locum trigger explain` say is allowed: as the judge would have it.

use pretty_assertions::assert_eq;

use super::{facts, policy};
use crate::intent::{Facts, Restriction, TriggerKind};
use crate::kind::RuleKind;

#[test]
fn tells_a_mode_what_it_may_do() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(cargo test:*)\"]\n  - allow: \
             edit(src/**)\n    modes: [code]\n  - deny: [command(git push:*), command(cargo test --ignored:*)]\n",
    );
    assert_eq!(
        policy.summary_lines(&facts("code"), |_| true),
        [
            "You may read: `**`, but no secrets",
            "You may edit: `src/**`",
            "You may run: `cargo test:*`",
            crate::summary::BY_WORDS,
            "You may not run: `cargo test --ignored:*`"
        ]
    );
    assert_eq!(
        policy.summary_lines(&facts("ask"), |kind| kind != RuleKind::Command),
        ["You may read: `**`, but no secrets"]
    );
    assert_eq!(
        policy.summary_lines(&facts("ask"), |kind| kind == RuleKind::Command),
        [
            "You may run: `cargo test:*`",
            crate::summary::BY_WORDS,
            "You may not run: `cargo test --ignored:*`"
        ]
    );
}

#[test]
fn tells_a_run_what_it_may_do_as_the_judge_narrows_it() {
    let policy = policy(
        "rules:
  - allow: ['read(**)', 'edit(src/**)', 'fetch(docs.rs)', 'search(rust *)', 'command(ls:*)']
    except: ['edit(src/cli/**)']
  - allow: 'command(cargo update)'
    jobs: [deps]
  - allow: 'edit(docs/**)'
    triggers: [comment]
    tiers: [maintainer]
  - allow: 'command-prefix(npm run)'
",
    );
    let lines = |facts: &Facts| policy.summary_lines(facts, |_| true);
    let local = facts("code");
    assert_eq!(
        lines(&local),
        [
            "You may read: `**`, but no secrets",
            "You may edit: `src/**` (except `src/cli/**`)",
            "You may run: `ls:*`, `npm run:*`",
            crate::summary::BY_WORDS,
            "You may fetch: `docs.rs`",
            "You may search the web for: `rust *`",
        ]
    );
    let job = Facts { job: Some("deps".to_owned()), ..local.clone() };
    assert!(lines(&job).contains(&"You may run: `ls:*`, `cargo update`, `npm run:*`".to_owned()));
    let comment = Facts { trigger: TriggerKind::Comment, ..local.clone() };
    let edits = "You may edit: `src/**` (except `src/cli/**`), `docs/**`".to_owned();
    assert_eq!(lines(&comment).contains(&edits), comment.tier == crate::actors::Tier::Maintainer);
    // A restriction of the run takes away what rules give.
    let restriction = Restriction { read_only: true, ..Restriction::default() };
    let reads = lines(&Facts { restriction, ..local.clone() });
    assert!(!reads.iter().any(|line| line.contains("edit:") || line.contains("fetch:")));
    assert!(!reads.iter().any(|line| line.contains("search")));
    assert!(reads.last().unwrap().starts_with("This run may only read"), "{reads:?}");
    let restriction =
        Restriction { paths: vec!["src/run/**".to_owned()], ..Restriction::default() };
    let narrow = lines(&Facts { restriction, ..local.clone() });
    assert_eq!(narrow.last().unwrap(), "This run edits only `src/run/**`");
    // The network, where there is a sandbox to keep commands from it.
    let sandboxed = Facts { sandboxed: true, ..local };
    assert!(lines(&sandboxed).iter().any(|line| line.starts_with("Commands have no network")));
}

#[test]
fn tells_nothing_of_switches_and_sub_tasks_that_the_settings_rule_out() {
    let lines = |settings: &str| {
        let rules = "rules:\n  - hold: ['mode(review)', 'delegate(review)']\n";
        policy(&format!("{settings}{rules}")).summary_lines(&facts("code"), |_| true)
    };
    let switch = "A person must agree before you switch to: `review`";
    let delegate = "A person must agree before you delegate to: `review`";
    assert_eq!(lines("modes: { switching: off, delegation: { from: [] } }\n"), [""; 0]);
    assert_eq!(lines("modes: { switching: direct, delegation: { from: [] } }\n"), [switch]);
    assert_eq!(lines("modes: { switching: off, delegation: { from: [code] } }\n"), [delegate]);
}
