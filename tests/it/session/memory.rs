//! When a note for later runs waits for a maintainer, whatever the rules allow: once the session
//! has met text that may be anyone's.

use crate::session::fixture::{Fixture, POLICY, turns};
use pretty_assertions::assert_eq;

const END: &str = r#"
- calls: [{ tool: write_memory, args: { name: build, text: "Run make." } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

/// Runs these calls and then keeps a note; returns whether it was kept without being held.
fn is_kept(settings: &str, calls: &str) -> bool {
    let rule = "rules:\n  - allow: [\"memory(write/*)\", \"command(true)\"]\n";
    let policy = format!("{}{settings}", POLICY.replacen("rules:\n", rule, 1));
    let ran = Fixture::with_policy(&turns(&format!("{calls}{END}")), &policy).run();
    let kept = ran.answers("write_memory").concat().contains("is kept for later runs");
    let held = ran.outcome.held.as_ref().and_then(|held| held.note.clone());
    assert_eq!(held.is_none(), kept, "{:?}", ran.outcome.word);
    assert!(kept || held.as_deref() == Some("Run make."));
    kept
}

#[test]
fn a_command_counts_unless_the_network_is_kept_from_it() {
    let run = r#"- calls: [{ tool: execute_command, args: { command: "true" } }]"#;
    let background =
        r#"- calls: [{ tool: execute_command, args: { command: "sleep 100", background: true } }]"#;
    let listed = "commands: { network: policy }\nnetwork: { allow: [docs.rs] }\n";
    assert!(is_kept("", run) && is_kept("", background) && is_kept(listed, ""));
    for settings in [listed, "commands: { sandbox: off }\n", "commands: { network: open }\n"] {
        assert!(!is_kept(settings, run), "{settings}");
    }
    assert!(!is_kept(listed, background));
}

#[test]
fn a_check_that_follows_an_edit_counts_like_a_command() {
    let edit = r#"- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]"#;
    let check = |network: &str| {
        format!(
            "commands: {{ network: {network}, after_edit: [{{ files: 'src/**', run: 'true' }}] }}\n\
             network: {{ allow: [docs.rs] }}\n"
        )
    };
    assert!(is_kept("", edit) && is_kept(&check("off"), edit));
    assert!(!is_kept(&check("policy"), edit));
}

#[test]
fn a_call_that_was_refused_brings_nothing_along() {
    let fetch = r#"- calls: [{ tool: web_fetch, args: { url: "https://docs.rs" } }]"#;
    assert!(is_kept("", fetch));
}

#[test]
fn a_note_with_a_secret_is_refused_not_kept_with_a_hole() {
    let policy = POLICY.replacen("rules:\n", "rules:\n  - allow: \"memory(write/*)\"\n", 1);
    let calls = r#"
- calls: [{ tool: write_memory, args: { name: build, text: "the key is hunter2hunter2" } }]
- expect: { contains: ["secret"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let ran = Fixture::with_policy(&turns(calls), &policy).run();
    assert_eq!(ran.outcome.refusals.len(), 1);
    assert!(!ran.answers("write_memory").concat().contains("is kept"));
}
