//! Imported settings decide as their tool does, or more strictly.

use pretty_assertions::assert_eq;

use super::{Peer, import};
use crate::policy::Policy;
use crate::policy::command::Script;
use crate::policy::intent::{Facts, Intent};
use crate::policy::verdict::Decision;

/// Checks commands against imported settings: those that run and those that do not.
fn check(peer: Peer, settings: &str, allowed: &[&str], refused: &[&str]) {
    let policy = Policy::parse(&import(peer, settings, "settings").unwrap().policy, "imported").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    for (commands, expected) in [(allowed, true), (refused, false)] {
        for command in commands {
            let verdict = policy.decide(&Intent::Command(Script::parse(command)), &facts);
            assert_eq!(verdict.decision == Decision::Allow, expected, "{command}: {}", verdict.reason);
        }
    }
}

#[test]
fn the_longer_prefix_wins_and_a_tie_denies() {
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["git", "git push --dry-run", "npm"], "deniedCommands": ["git push", "npm"]}"#,
        &["git status", "GIT status", "git push --dry-run origin", "git pull"],
        &["git push", "git push origin", "gitleaks", "npm", "npm test", "git status; git push", "echo $(git push)"],
    );
}

#[test]
fn a_shell_may_work_words_out_only_where_that_is_harmless() {
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["echo", "ls", "rg", "cat", "find", "git log", "rm", "FOO=1 make"]}"#,
        &["echo $HOME", "echo ${A:-b}", "ls *.rs", "cat src/*.rs", "echo $(ls)", "echo `ls`", "ls & ls", "FOO=1 make x", "echo $((1+2))"],
        &[
            "rg foo *",
            "rg x $OPTIONS",
            "cat $FILE",
            "cat *.pem",
            "cat *",
            "find . $X",
            "git log $X",
            "$X",
            "echo $(curl x)",
            "echo \"$(curl x)\"",
            "echo ${X:-$(ls)}",
            "echo ${X@P}",
            "echo ${!X}",
            "echo $((a[$(ls)]))",
            "echo $X > $Y",
            "echo $X > out",
            "rm *.o",
            "rm -rf .",
            "rm -rf /",
            "ls | xargs ls",
            "f() { ls; }; f",
            "PATH=. ls",
            "ls @(e:id:)",
        ],
    );
}

#[test]
fn permission_rules_keep_their_words_and_their_paths() {
    check(
        Peer::Claude,
        r#"{"permissions": {"allow": ["Bash(cargo test:*)", "Bash(echo $(id))", "Bash(cat:*)", "Bash(cp:*)", "Read(//etc/ssl/**)", "Bash(node:*)"],
            "deny": ["Read(secrets/**)"], "ask": ["Bash(cargo test --release:*)"]}}"#,
        &["cargo test", "cargo test -p x", "echo $(id)", "cat a.rs", "cat /etc/ssl/cert.conf", "git status", "node x.js", "cp a b"],
        &[
            "cargo testify",
            "Cargo test",
            "cargo test --release",
            "echo $(whoami)",
            "cat secrets/a",
            "cat /etc/passwd",
            "cat /etc/ssl/../passwd",
            "git status -s",
            "cp a .git/config",
            "cp /etc/passwd x",
            "FOO=1 cargo test",
        ],
    );
}

/// What is refused of an opened folder stays refused, however it is written and reached.
#[test]
fn a_refusal_inside_an_opened_folder_is_kept() {
    let settings = |refusal: &str, key: &str| {
        format!(
            r#"{{"permissions": {{"allow": ["Bash(cat:*)", "Bash(grep:*)", "Bash(ls:*)", "Read(//etc/**)", "Read(//home/**)"], "{key}": ["{refusal}"]}}}}"#
        )
    };
    for key in ["deny", "ask"] {
        for (refusal, refused, allowed) in [
            ("Read(//etc/shadow)", "cat /etc/shadow", "cat /etc/hosts"),
            ("Read(//etc/ssl/private/**)", "cat /etc/ssl/private/a/b", "cat /etc/ssl/cert"),
            ("Read(//etc/ssl/private)", "cat < /etc/ssl/private/a", "cat < /etc/ssl/private.txt"),
            ("Read(//etc/ssl/private/**)", "grep -r x /etc/ssl", "grep x /etc/ssl"),
            ("Read(//etc/ssl/private/**)", "ls -R /etc/ssl", "ls /etc/ssl"),
            ("Read(//**/shad[ou]w)", "cat /etc/shadow", "cat /etc/shade"),
            ("Read(//etc/*.pw)", "cat /etc/A.PW", "cat /etc/a.p"),
            ("Read(~/.config/**)", "cat /home/me/.config/x", "cat /home/me/config/x"),
            ("Read(~/.config)", "cat /home/me/.config/x/y", "cat /home/me/x.config"),
        ] {
            check(Peer::Kode, &settings(refusal, key), &[allowed], &[refused]);
        }
    }
    let inside = format!("version: 1\n{}", "rules: [{ allow: [read(**), 'command(cat:*)'] }]\ncommands: { reads: ['!/ws/kept/**'] }\n");
    let policy = Policy::parse(&inside, "p").unwrap();
    for (root, command, expected) in
        [("/ws", "cat kept/a", Decision::Deny), ("/ws", "cat keep/a", Decision::Allow), ("/w", "cat kept/a", Decision::Allow)]
    {
        let verdict = policy.decide(&Intent::Command(Script::parse(command).below(root)), &Facts::default());
        assert_eq!(verdict.decision, expected, "{root} {command}: {}", verdict.reason);
    }
}

#[test]
fn a_refused_path_is_refused_as_gitignore_reads_it() {
    for (refusal, refused, allowed) in [
        ("Read(secrets)", "cat a/secrets/key", "cat a/secret"),
        ("Read(secrets/)", "cat a/secrets/key", "cat a/secret"),
        ("Read(/secrets)", "cat secrets/key", "cat a/secrets/key"),
        ("Read(./secrets)", "cat secrets/key", "cat a/secrets/key"),
        ("Read(conf/[ab].txt)", "cat conf/a.txt", "cat conf/ab.txt"),
        ("Read(conf/x**y)", "cat conf/x1y", "cat conf/x"),
        ("Read(**)", "cat a", "pwd"),
    ] {
        let settings = format!(r#"{{"permissions": {{"allow": ["Bash(cat:*)"], "deny": ["{refusal}"]}}}}"#);
        check(Peer::Kode, &settings, &[allowed], &[refused]);
    }
}

#[test]
fn a_refused_command_is_refused_in_every_part_and_however_it_is_quoted() {
    for (refusal, refused, allowed) in [
        (r"Bash(git commit -m 'a b')", r#"ls; git commit -m "a b""#, "git commit -m ab"),
        (r"Bash(git commit -m 'a b':*)", r#"git commit -m a\ b --amend"#, "git commit -m ab"),
        ("Bash(ls $(id))", "ls && ls x", "git log"),
        ("Bash(git push)", "ls && git push", "git push origin"),
    ] {
        let settings = serde_json::json!({ "permissions": { "allow": ["Bash(git:*)", "Bash(ls:*)"], "deny": [refusal] } }).to_string();
        check(Peer::Kode, &settings, &[allowed], &[refused]);
    }
    let starred = r#"{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(make *)"]}}"#;
    check(Peer::Kode, starred, &["make all"], &[]);
    check(Peer::Claude, starred, &[], &["make all", "make"]);
}

#[test]
fn says_what_it_leaves_out() {
    let told = |peer, text| import(peer, text, "s").unwrap().notes.join("; ");
    let roo = told(
        Peer::Roo,
        r#"{"globalSettings": {"allowedCommands": ["", "ls"], "alwaysAllowMcp": true, "alwaysAllowWriteProtected": true}}"#,
    );
    for part in ["an empty command", "alwaysAllowMcp", "alwaysAllowWriteProtected"] {
        assert!(roo.contains(part), "{roo}");
    }
    let kode = told(
        Peer::Kode,
        r#"{"permissions": {"allow": ["Bash(make", "bash(make)", "Skill(x)"], "defaultMode": "bypassPermissions"}, "hooks": {}}"#,
    );
    for part in ["Bash(make", "bash(make)", "Skill(x)", "bypassPermissions", "hooks"] {
        assert!(kode.contains(part), "{kode}");
    }
}

#[test]
fn what_is_no_settings_file_is_told_with_its_place() {
    for text in ["", "[]", "{\"allowedCommands\": 3}", "{\"allowedCommands\": [\"a\""] {
        assert!(import(Peer::Roo, text, "s.json").is_err(), "{text}");
    }
}

#[test]
fn the_text_of_a_rule_cannot_add_to_the_policy() {
    let settings = serde_json::json!({ "allowedCommands": ["ls\"]\n  - allow: edit(**)", "ls \"x\" # y", "a: b"] }).to_string();
    let imported = import(Peer::Roo, &settings, "x\ny: z").unwrap();
    let policy = Policy::parse(&imported.policy, "imported").unwrap();
    let edit = crate::policy::explain::parse_intent("edit(a)").unwrap();
    assert_eq!(policy.decide(&edit, &Facts::default()).decision, Decision::Deny);
}

#[test]
fn a_script_spelled_out_runs_unless_a_guard_or_a_refusal_speaks() {
    let policy = "version: 1\nrules:\n- allow: ['read(**)', 'command(ls)', 'script(make a && ./b)', 'script(make b)', 'script(ls > .git/x)', 'script(cd x && make)']\n\
        - deny: ['script(ls; ls)', 'command(make b)']\n";
    let policy = Policy::parse(policy, "p").unwrap();
    for (script, sandboxed, expected) in [
        ("make a && ./b", true, Decision::Allow),
        (" make a && ./b\n", true, Decision::Allow),
        ("make a && ./b", false, Decision::Deny),
        ("make a && ./b; ls", true, Decision::Deny),
        ("make b", true, Decision::Deny),
        ("ls > .git/x", true, Decision::Deny),
        ("cd x && make", true, Decision::Deny),
        ("ls; ls", true, Decision::Deny),
        ("ls && ls", true, Decision::Allow),
    ] {
        let facts = Facts { mode: "code".to_owned(), sandboxed, ..Facts::default() };
        let verdict = policy.decide(&Intent::Command(Script::parse(script)), &facts);
        assert_eq!(verdict.decision, expected, "{script} {sandboxed}: {}", verdict.reason);
    }
}
