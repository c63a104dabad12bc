//! What another tool's settings refuse is refused here too, and told as a refusal.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::command::Script;
use crate::import::{ImportSource, Peer, import_all};
use crate::intent::{Facts, Intent};
use crate::verdict::Decision;
use locum_base::path::RepoPath;

/// Returns the verdict as the other tools have it: `allow`, `ask` or `deny`.
pub(super) fn word(policy: &Policy, intent: &Intent) -> &'static str {
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let verdict = policy.decide(intent, &facts);
    match verdict.decision {
        Decision::Allow => "allow",
        Decision::Deny if verdict.is_by_deny_rule() => "deny",
        Decision::Hold | Decision::Deny => "ask",
    }
}

/// Checks commands against imported settings.
fn check(peer: Peer, settings: &str, expected: &[(&str, &str)]) {
    let sources = [ImportSource { origin: "settings", text: settings }];
    let imported = import_all(peer, &sources, "/ws").unwrap();
    let policy = Policy::parse(&imported.policy, "imported").unwrap();
    for (command, wanted) in expected {
        let intent = Intent::Command(Script::parse(command).below("/ws"));
        assert_eq!(word(&policy, &intent), *wanted, "{command}\n{}", imported.policy);
    }
}

#[test]
fn a_denied_text_counts_however_a_shell_reads_it() {
    let allowed = r#"{"allowedCommands": ["echo", "ls", "git", "npm"], "deniedCommands": "#;
    for (denied, command, beside) in [
        ("echo $FOO", "echo $FOO", "echo $BAR"),
        ("echo $FOO", "ls && echo  $FOO x", "ls && echo x $FOO"),
        ("echo $FOO", "ls; (echo $FOO)", "ls; (echo FOO)"),
        ("echo $", "echo $1", "echo 1"),
        ("echo ${", "echo ${FOO}", "echo $FOO"),
        ("echo $((", "echo $((1+1))", "echo 2"),
        ("echo [ab]", "echo [ab]", "echo ab"),
        ("echo {a,b}", "echo {a,b}", "echo a,b"),
        ("ls ~", "ls ~/x", "ls x"),
        ("ls $HOME", "ls $HOME", "ls HOME"),
        ("ls \"$FOO\"", "ls \"$FOO\"", "ls \"$BAR\""),
        ("git commit -m \"wip", "git commit -m \"wip x\"", "git commit -m \"done\""),
        ("npm run \"release\"", "npm run \"release\"", "npm run \"test\""),
        ("npm run \"release\"", "npm run release", "npm run test"),
        ("ls > x", "ls > x", "ls 2>&1"),
    ] {
        let denied = serde_json::to_string(denied).unwrap();
        let settings = format!("{allowed}[{denied}]}}");
        check(Peer::Roo, &settings, &[(command, "deny"), (beside, "allow")]);
    }
    // A script that cannot be judged names the rule too.
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["echo"], "deniedCommands": ["echo ${A@"]}"#,
        &[("echo ${A@P}", "deny"), ("echo ${B@P}", "ask")],
    );
}

#[test]
fn an_allowed_text_counts_as_it_is_written_but_says_nothing_of_what_is_unknown() {
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["echo $HOME", "ls ~", "git commit -m \"fix", "npm run \"a b\"", "cat $X"], "deniedCommands": ["echo"]}"#,
        &[
            ("echo $HOME", "allow"),
            ("echo $HOME x", "allow"),
            ("echo $HOMES", "deny"),
            ("echo $OTHER", "deny"),
            ("ls ~", "allow"),
            ("ls .", "ask"),
            ("git commit -m \"fix it\"", "allow"),
            ("git commit -m \"done\"", "ask"),
            ("git commit -m \"fix $(id)\"", "ask"),
            ("npm run \"a b\"", "allow"),
            ("npm run \"a c\"", "ask"),
            ("cat $X", "ask"),
        ],
    );
}

#[test]
fn a_refused_absolute_path_below_the_repository_is_one_of_its_paths() {
    for (refused, command, beside) in [
        ("Read(//ws/a)", "cat a", "cat b"),
        ("Read(//ws/a)", "cat /ws/a", "cat /ws/b"),
        ("Read(//ws/a)", "cat < a", "cat < b"),
        ("Read(//ws/src/**)", "cat src/x/y", "cat srcs/x"),
        ("Read(//w?/a)", "cat a", "cat b"),
        ("Edit(//ws/a)", "cat b > a", "cat b > c"),
        ("Edit(//ws/a)", "cp b a", "cat a"),
    ] {
        let settings = format!(
            r#"{{"permissions": {{"allow": ["Bash(cat:*)", "Bash(cp:*)"], "deny": ["{refused}"]}}}}"#
        );
        for peer in [Peer::Kode, Peer::Claude] {
            check(peer, &settings, &[(command, "deny"), (beside, "allow")]);
        }
    }
}

#[test]
fn refused_paths_outside_are_carried_although_nothing_there_is_allowed() {
    let policy = |refused: &str| {
        let text = format!(r#"{{"permissions": {{"deny": ["{refused}"]}}}}"#);
        import_all(Peer::Kode, &[ImportSource { origin: "settings", text: &text }], "/ws").unwrap()
    };
    let imported = policy("Read(//usr/share/x/**)");
    assert!(imported.policy.contains("reads: [\"!/usr/share/x/**\"]"), "{}", imported.policy);
    let imported = policy("Read(~/.ssh/**)");
    assert!(imported.policy.contains("\"!/home/*/.ssh/**\""), "{}", imported.policy);
    let imported = policy("Edit(//etc/**)");
    assert!(!imported.policy.contains("reads"), "{}", imported.policy);
    assert_eq!(
        imported.notes,
        ["settings:1: `edit(//etc/**)`: nothing outside the repository is written anyway"]
    );
}

#[test]
fn an_allowed_absolute_path_below_the_repository_is_one_of_its_paths() {
    let settings =
        r#"{"permissions": {"allow": ["Edit(//ws/src/**)", "Edit(//etc/**)", "Read(//**)"]}}"#;
    let sources = [ImportSource { origin: "settings", text: settings }];
    let imported = import_all(Peer::Claude, &sources, "/ws").unwrap();
    let policy = Policy::parse(&imported.policy, "imported").unwrap();
    let edit = |path: &str| word(&policy, &Intent::Edit(RepoPath::parse(path).unwrap()));
    assert_eq!((edit("src/a"), edit("a")), ("allow", "ask"));
    assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
}

#[test]
fn commands_that_need_no_rule_write_no_files() {
    for peer in [Peer::Kode, Peer::Claude] {
        check(
            peer,
            r#"{"permissions": {"allow": ["Bash(cat:*)", "Bash(git log:*)"]}}"#,
            &[
                ("date", "allow"),
                ("date > src/main.rs", "ask"),
                ("date >> a", "ask"),
                ("date 2>&1", "allow"),
                ("date > /dev/null", "allow"),
                ("{ date; } > a", "ask"),
                ("(git diff) > a", "ask"),
                ("date; cat a > b", "allow"),
                ("cat a > b; date", "allow"),
                ("cat $(date > x)", "ask"),
                ("git status > src/main.rs", "ask"),
                ("git status | cat > x", "allow"),
                ("git log > x", "allow"),
                ("date < a", "allow"),
            ],
        );
        check(
            peer,
            r#"{"permissions": {"defaultMode": "acceptEdits", "deny": ["Edit(kept/**)"]}}"#,
            &[("date > a", "allow"), ("date > kept/a", "deny")],
        );
    }
}
