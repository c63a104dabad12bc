//! What every fuzz target calls with a text from a stranger, and what has to hold of it: no panic, and what was read means the
//! same when it is read again.

use locum::forge::{command as comment, event as forge_event};
use locum::policy::Policy;
use locum::policy::command::{Execution, Script};
use locum::policy::intent::{Facts, Intent};
use locum::policy::verdict::Decision;
use locum::tools::files::{apply_diff, apply_patch};

/// A script: what runs is made of the words that were judged, and nothing is allowed that would not run.
pub(crate) fn command(text: &str) {
    let script = Script::parse(text);
    let words = |script: &Script| script.simple_commands().into_iter().map(|simple| simple.words.clone()).collect::<Vec<_>>();
    match script.execution() {
        Some(Execution::Words(run)) => assert!(script.problem().is_some() || !run.is_empty(), "{text:?}"),
        Some(Execution::Shell(rendered)) if script.problem().is_none() && !text.contains("git") => {
            let again = Script::parse(&rendered);
            assert!(
                again.problem().is_some_and(|why| why.contains("more than")) || words(&again) == words(&script),
                "{text:?} became {rendered:?}"
            );
        }
        Some(Execution::Shell(_)) | None => {}
    }
    let rules = "version: 1\nrules: [{ allow: ['read(**)', 'command-prefix(*)'] }]\ncommands: { expansions: allow, max_complexity: 1.0 }\n";
    let policy = Policy::parse(rules, "fuzz");
    assert!(policy.is_ok());
    let Ok(policy) = policy else { return };
    let facts = Facts { sandboxed: true, ..Facts::default() };
    let verdict = policy.decide(&Intent::Command(script.clone()), &facts);
    assert!(verdict.decision != Decision::Allow || script.execution().is_some() || text.trim().is_empty(), "{text:?}");
}

/// A policy file: read or refused with places.
pub(crate) fn policy(text: &str) {
    if let Err(errors) = Policy::parse(text, "policy.yml") {
        assert!(!errors.to_string().is_empty());
    }
}

/// Diffs and patches of a model: the first line stands for a file.
pub(crate) fn diff(text: &str) {
    let (file, diff) = text.split_once('\n').unwrap_or((text, text));
    let _ = apply_diff::apply(&file.replace("\\n", "\n"), diff);
    let _ = apply_patch::parse::parse(text);
}

/// An event: its first line names it; and the same text as a comment.
pub(crate) fn event(text: &str) {
    let (name, payload) = text.split_once('\n').unwrap_or(("issue_comment", text));
    let _ = forge_event::parse(name, payload);
    let _ = comment::parse(text, "/locum");
}
