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
