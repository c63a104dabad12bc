//! What becomes something else, since no policy says the same, is named in the policy.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::import::{Peer, import};

/// The lines of an imported policy that name what was changed.
fn changed(peer: Peer, settings: &str) -> Vec<String> {
    let imported = import(peer, settings, "s").unwrap();
    Policy::parse(&imported.policy, "p").unwrap();
    let lines = imported.policy.lines().filter_map(|line| line.strip_prefix("# Changed: "));
    let named: Vec<String> = lines.map(str::to_owned).collect();
    let said: Vec<String> = imported.changes.iter().map(|change| format!("{change}.")).collect();
    assert_eq!(named, said, "{}", imported.policy);
    named
}

fn listed(list: &str, rule: &str) -> String {
    serde_json::json!({ "permissions": { list: [rule] } }).to_string()
}

#[test]
fn a_rule_that_is_about_something_else_is_named_with_what_it_is_about() {
    for (peer, list, rule, about) in [
        (Peer::Claude, "deny", "WebFetch(docs.rs)", "; `fetch(*)` takes its place"),
        (Peer::Claude, "allow", "Bash(git * main)", " is about `script(git * main)`"),
        (
            Peer::Claude,
            "ask",
            "Bash(git * main)",
            " is about `script(git * main)`, `command-prefix(git)`",
        ),
        (
            Peer::Kode,
            "deny",
            "Bash(ls $(id))",
            " is about `script(ls $(id))`, `command-prefix(ls)`",
        ),
        (Peer::Claude, "allow", "Edit(src)", " is about `edit(**/src)`"),
        (
            Peer::Kode,
            "deny",
            "Read(conf/[ab].txt)",
            " is about `read(conf/?.txt/**)`, `read(conf/?.txt)`",
        ),
        (
            Peer::Claude,
            "deny",
            "Read(~/.ssh/**)",
            " is about `/home/*/.ssh/**`, `/root/.ssh/**`, `/Users/*/.ssh/**`",
        ),
    ] {
        let expected = format!("s:1: the rule `{rule}`{about}.");
        assert_eq!(changed(peer, &listed(list, rule)), [expected], "{rule}");
    }
    for (list, rule) in [
        ("allow", "Bash(make *)"),
        ("deny", "Bash(make *)"),
        ("deny", "Bash(git push)"),
        ("deny", "Bash(*)"),
        ("allow", "Edit(src/**)"),
        ("allow", "Edit(README.md)"),
        ("allow", "Read(src)"),
        ("deny", "Read(secrets)"),
        ("deny", "Read(//etc/a)"),
        ("allow", "Skill(x)"),
    ] {
        assert_eq!(changed(Peer::Claude, &listed(list, rule)), [""; 0], "{list} {rule}");
    }
}

#[test]
fn a_setting_that_becomes_another_is_named_with_it() {
    for (peer, settings, change) in [
        (
            Peer::Claude,
            r#"{"permissions": {"additionalDirectories": ["/data"]}}"#,
            "`/data` as a folder to write to: commands may read it, and nothing outside is written",
        ),
        (
            Peer::Kode,
            r#"{"permissions": {"defaultMode": "plan"}}"#,
            "the mode `plan`: what the lists allow is held, but for `Read`, `WebFetch` and \
             `WebSearch`",
        ),
        (
            Peer::Roo,
            r#"{"deniedCommands": ["rm  -rf"]}"#,
            "the command `rm  -rf` is denied as `rm -rf`",
        ),
        (
            Peer::Roo,
            r#"{"commandExecutionTimeout": 0}"#,
            "`commandExecutionTimeout` of 0, without a limit: commands end after 600 s",
        ),
    ] {
        assert_eq!(changed(peer, settings), [format!("s:1: {change}.")], "{settings}");
    }
    for (peer, settings) in [
        (Peer::Claude, r#"{"permissions": {"additionalDirectories": ["../data"]}}"#),
        (Peer::Kode, r#"{"permissions": {"defaultMode": "acceptEdits"}}"#),
        (Peer::Roo, r#"{"deniedCommands": ["rm -rf"], "commandExecutionTimeout": 90}"#),
    ] {
        assert_eq!(changed(peer, settings), [""; 0], "{settings}");
    }
}

#[test]
fn limits_that_cannot_be_read_are_named() {
    let settings = r#"{"allowedMaxRequests": "20", "commandExecutionTimeout": 1.5}"#;
    let imported = import(Peer::Roo, settings, "s").unwrap();
    assert_eq!(
        imported.notes,
        [
            "s:1: `allowedMaxRequests`, which is not a number",
            "s:1: `commandExecutionTimeout`, which is not a whole number of seconds",
        ]
    );
}

#[test]
fn a_switch_of_roo_that_is_off_asks_and_one_that_is_missing_says_nothing() {
    let settings = |write: &str| {
        let settings =
            format!("{{\"autoApprovalEnabled\": true, {write} \"alwaysAllowReadOnly\": true}}");
        import(Peer::Roo, &settings, "s.json").unwrap().policy
    };
    let off = settings("\"alwaysAllowWrite\": false,");
    assert!(off.contains("hold: \"edit(**)\""), "{off}");
    let on = settings("\"alwaysAllowWrite\": true,");
    assert!(on.contains("allow: \"edit(**)\""), "{on}");
    assert!(!settings("").contains("edit("));
}
