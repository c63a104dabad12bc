//! What an ignore file hides from every tool of a run.

use crate::session::fixture::{Fixture, turns};
use locum_policy::ignore::IgnoreFiles;
use pretty_assertions::assert_eq;

const SCRIPT: &str = r#"
- calls:
    - { tool: list_files, args: { path: ., recursive: true } }
    - { tool: search_files, args: { path: src, regex: "secret|one" } }
    - { tool: read_file, args: { path: src/secret.txt } }
    - { tool: execute_command, args: { command: "cat src/secret.txt" } }
- calls:
    - { tool: write_to_file, args: { path: src/secret.txt, content: "x\n" } }
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

#[test]
fn what_is_hidden_is_seen_and_changed_by_no_tool() {
    let policy = "version: 1\nrules:\n  - allow: [ 'read(**)', 'edit(**)', 'command(cat:*)' ]\n";
    let open = Fixture::with_policy(&turns(SCRIPT), policy);
    let mut closed = Fixture::with_policy(&turns(SCRIPT), policy);
    let mut ignored = IgnoreFiles::default();
    ignored.add(".locumignore", "secret.*\n").unwrap();
    closed.policy = closed.policy.with_ignored(ignored);
    let (open_ran, closed_ran) = (open.run(), closed.run());
    for tool in ["list_files", "search_files", "read_file", "execute_command"] {
        let (shown, hidden) =
            (open_ran.answers(tool).join("\n"), closed_ran.answers(tool).join("\n"));
        assert!(
            shown.contains("secret.txt") || shown.contains("secret\n") || shown.ends_with("secret"),
            "{tool}: {shown}"
        );
        let looked = matches!(tool, "list_files" | "search_files");
        assert_eq!(
            (hidden.contains("a.txt"), hidden.contains("secret.txt")),
            (looked, !looked),
            "{tool}: {hidden}"
        );
        assert_eq!(
            hidden.contains("is hidden by `secret.*` in .locumignore:1"),
            !looked,
            "{tool}: {hidden}"
        );
    }
    assert_eq!(open.file("src/secret.txt").as_deref(), Some("x\n"));
    assert_eq!(closed.file("src/secret.txt").as_deref(), Some("secret\n"));
    assert_eq!(closed_ran.outcome.refusals.len(), 3);
}

#[test]
fn a_file_that_may_not_be_read_leaves_the_others_of_the_call() {
    let script = turns(
        r#"
- calls:
    - tool: read_file
      args: { path: src/a.txt, files: [{ path: src/secret.txt }, { path: src/a.txt, line_ranges: ["1-1"] }] }
    - { tool: read_file, args: { path: src/secret.txt, files: [{ path: src/secret.txt }] } }
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let policy = "version: 1\nrules:\n  - allow: [ 'read(**)' ]\n  - deny: \
                  [ 'read(src/secret.txt)' ]\n    reason: not yours\n";
    let ran = Fixture::with_policy(&script, policy).run();
    let answers = ran.answers("read_file");
    let shown: Vec<&String> = answers.iter().filter(|text| text.starts_with("File: ")).collect();
    assert_eq!(
        shown,
        [
            "File: src/a.txt\n1 | one\n2 | two\n3 | three\n\nFile: src/secret.txt\nLeft out, because \
          the policy refused it: `read(src/secret.txt)`: not yours (rule `read(src/secret.txt)`, \
          policy.yml:4).\n\nFile: src/a.txt\nLines 1-1 of 3.\n\n1 | one"
        ]
    );
    assert!(answers.iter().any(|text| text.starts_with("The policy refused this call")));
    assert_eq!(ran.outcome.refusals.len(), 2, "both are listed");
}

#[test]
fn a_file_that_waits_for_a_person_leaves_the_others_only_where_nobody_is_asked() {
    let script = turns(
        r#"
- calls: [{ tool: read_file, args: { path: src/a.txt, files: [{ path: src/secret.txt }] } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let policy = "version: 1\nrules:\n  - allow: [ 'read(**)' ]\n  - hold: \
                  [ 'read(src/secret.txt)' ]\n";
    let paused = Fixture::with_policy(&script, policy).run();
    assert_eq!(paused.word(), "on-hold");
    let ran = Fixture::with_policy(&script, &format!("{policy}on_hold: refuse\n")).run();
    let answers = ran.answers("read_file");
    assert!(
        answers[0].starts_with("File: src/a.txt\n1 | one\n")
            && answers[0].contains("\n\nFile: src/secret.txt\nLeft out,"),
        "{}",
        answers[0]
    );
}
