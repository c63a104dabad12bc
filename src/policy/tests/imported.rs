//! What another tool's settings refuse is refused here too, and reported as a refusal.

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
    let imported = import_all(peer, &sources, &["/ws"]).unwrap();
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
fn what_is_refused_anywhere_is_refused_in_the_repository_too() {
    let tool = |settings: &str, root: &str, intent: &str| {
        let sources = [ImportSource { origin: "settings", text: settings }];
        let imported = import_all(Peer::Claude, &sources, &[root]).unwrap();
        let policy = Policy::parse(&imported.policy, "imported").unwrap();
        word(&policy, &crate::query::parse_intent(intent).unwrap())
    };
    for (refused, intent, beside) in [
        ("Edit(//**/key.txt)", "edit(key.txt)", "edit(key.md)"),
        ("Read(//**/key.txt)", "read(d/key.txt)", "read(d/xkey.txt)"),
        ("Read(//**/key.txt)", "command(cat d/key.txt)", "command(cat d/key)"),
        ("Edit(//**/d/*.txt)", "edit(x/d/a.txt)", "edit(d/x/a.txt)"),
        ("Edit(//)", "edit(a)", "read(a)"),
        ("Edit(//**)", "edit(a)", "read(a)"),
        ("Read(//)", "read(a)", "edit(a)"),
    ] {
        for (key, expected) in [("deny", "deny"), ("ask", "ask")] {
            let settings = format!(
                r#"{{"permissions": {{"allow": ["Edit", "Bash(cat:*)"], "{key}": ["{refused}"]}}}}"#
            );
            for root in ["/ws", "/a/b/ws", "/", ""] {
                assert_eq!(tool(&settings, root, intent), expected, "{refused} {root}");
                assert_eq!(tool(&settings, root, beside), "allow", "{refused} {root}");
            }
        }
    }
    // Nobody knows whose home directory `~` is, so nothing there belongs to the repository.
    let home = r#"{"permissions": {"allow": ["Edit", "Read(//srv/**)"], "deny": ["Read(~/k)"]}}"#;
    assert_eq!(tool(home, "/ws", "read(k)"), "allow");
    assert_eq!(tool(home, "/home/me", "read(k)"), "deny");
}

#[test]
fn an_absolute_path_that_cannot_be_read_refuses_all_that_its_tool_does() {
    let import = |key: &str, rule: &str| {
        let mut lists = serde_json::json!({ "allow": ["Edit", "Bash(ls:*)"] });
        lists[key] = serde_json::json!([rule]);
        let text = serde_json::json!({ "permissions": lists }).to_string();
        import_all(Peer::Claude, &[ImportSource { origin: "s", text: &text }], &["/tmp/ws"])
            .unwrap()
    };
    for (rule, intent, beside) in [
        ("Read(//tmp/ws/sub/../k)", "read(k)", "edit(k)"),
        ("Read(~/../../tmp/x/k)", "read(k)", "edit(k)"),
        ("Edit(//tmp/ws/../k)", "edit(k)", "read(k)"),
        ("Read(//tmp/ws/a\u{200b}b)", "read(k)", "edit(k)"),
        ("Read(//tmp/a\nb)", "read(k)", "edit(k)"),
        ("WebFetch(//docs.rs)", "fetch(https://docs.rs/x)", "edit(k)"),
    ] {
        for (key, expected) in [("deny", "deny"), ("ask", "ask")] {
            let imported = import(key, rule);
            let policy = Policy::parse(&imported.policy, "imported").unwrap();
            let said = |intent| word(&policy, &crate::query::parse_intent(intent).unwrap());
            assert_eq!((said(intent), said(beside)), (expected, "allow"), "{}", imported.policy);
            assert!(imported.changes[0].contains("takes its place"), "{:?}", imported.changes);
        }
    }
    for rule in ["Edit(//tmp/ws/../k)", "Read(//etc/../k)", "Skill(~/x)"] {
        assert_eq!(import("allow", rule).notes.len(), 1, "{rule}");
    }
    assert_eq!(import("deny", "Read(//tmp/ws/sub/k)").notes, [""; 0]);
}

#[test]
fn refused_paths_outside_are_carried_although_nothing_there_is_allowed() {
    let policy = |refused: &str| {
        let text = format!(r#"{{"permissions": {{"deny": ["{refused}"]}}}}"#);
        import_all(Peer::Kode, &[ImportSource { origin: "settings", text: &text }], &["/ws"])
            .unwrap()
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
    let imported = import_all(Peer::Claude, &sources, &["/ws"]).unwrap();
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

#[test]
fn a_denied_word_of_the_shell_is_told_as_denied() {
    for word in ["cd", "export", "source", "eval", "exec", "trap", "umask", "exit", "wait"] {
        let rest = if word == "exit" { "1" } else { "x" };
        let command = format!("ls; {word} {rest}");
        let roo = format!(r#"{{"allowedCommands": ["ls"], "deniedCommands": ["{word}"]}}"#);
        check(Peer::Roo, &roo, &[(&command, "deny"), ("ls", "allow")]);
        let kode = format!(
            r#"{{"permissions": {{"allow": ["Bash(ls:*)"], "deny": ["Bash({word}:*)"]}}}}"#
        );
        check(Peer::Kode, &kode, &[(&command, "deny"), ("ls", "allow")]);
    }
    let roo = r#"{"allowedCommands": ["ls", "cd", "eval"], "deniedCommands": ["cd /etc", "cd ."]}"#;
    check(
        Peer::Roo,
        roo,
        &[
            ("cd /etc && ls", "deny"),
            ("cd . && ls", "deny"),
            ("ls && cd .", "deny"),
            ("ls && cd $(cd .)", "deny"),
            ("ls; exit 1", "allow"),
            ("cd /ws && ls", "allow"),
            // What no rule can allow is still only asked about.
            ("eval ls", "ask"),
            ("cd /usr && ls", "ask"),
        ],
    );
}

#[test]
fn a_denied_change_of_folder_is_refused_at_the_front_of_a_command_too() {
    let policy = |rules: &str| Policy::parse(&format!("version: 1\nrules: {rules}\n"), "p");
    let denied = policy("[{ allow: 'command(ls)' }, { deny: 'command(cd src:*)' }]").unwrap();
    for (command, wanted) in [
        ("cd src && ls", "deny"),
        ("cd src/a && ls", "allow"),
        ("cd docs && ls", "allow"),
        ("ls", "allow"),
    ] {
        assert_eq!(word(&denied, &Intent::Command(Script::asked(command))), wanted, "{command}");
    }
    let held = policy("[{ allow: 'command(ls)' }, { hold: 'command(cd:*)' }]").unwrap();
    assert_eq!(word(&held, &Intent::Command(Script::asked("cd src && ls"))), "ask");
    for denied in ["pushd:*", "popd:*", "cd src:*"] {
        let rules = format!("[{{ allow: 'command(ls)' }}, {{ deny: 'command({denied})' }}]");
        let policy = policy(&rules).unwrap();
        for (command, wanted) in [
            ("pushd src && ls && popd", "deny"),
            ("(pushd src >/dev/null; ls; popd)", "deny"),
            ("cd docs && ls", "allow"),
        ] {
            let script = Script::asked(command);
            assert_eq!(word(&policy, &Intent::Command(script)), wanted, "{denied} {command}");
        }
    }
    let script = Script::asked("pushd docs && ls && popd");
    assert_eq!(word(&denied, &Intent::Command(script)), "allow");
}

#[test]
fn a_denied_keyword_or_script_counts_however_it_is_spaced() {
    for (denied, command, beside) in [
        ("time", "time ls", "ls time"),
        ("if", "if ls; then ls; fi", "ls; ls if"),
        ("then", "if ls; then ls; fi", "ls then"),
        ("for", "for x in a b; do ls $x; done", "ls for"),
        ("{", "{ ls; }", "ls {}"),
        ("!", "! ls", "ls !"),
    ] {
        let roo = format!(
            r#"{{"allowedCommands": ["ls", "if", "for"], "deniedCommands": ["{denied}"]}}"#
        );
        check(Peer::Roo, &roo, &[(command, "deny"), (beside, "allow")]);
        let kode = format!(
            r#"{{"permissions": {{"allow": ["Bash(ls:*)"], "deny": ["Bash({denied}:*)"]}}}}"#
        );
        check(Peer::Kode, &kode, &[(command, "deny"), (beside, "allow")]);
    }
    // What is quoted is no keyword.
    check(
        Peer::Kode,
        r#"{"permissions": {"allow": ["Bash(echo:*)"], "deny": ["Bash(time:*)", "Bash(for:*)"]}}"#,
        &[
            ("echo 'a; time b' \"fix (for now)\"", "allow"),
            ("echo a; time echo b", "deny"),
            ("echo \"$(time echo a)\"", "deny"),
        ],
    );
    check(
        Peer::Kode,
        r#"{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash(ls && pwd)"]}}"#,
        &[
            ("ls && pwd", "deny"),
            ("ls&&pwd", "deny"),
            ("ls  &&  'pwd';", "deny"),
            ("ls; pwd", "allow"),
            ("ls -a && pwd", "allow"),
        ],
    );
}

#[test]
fn a_denied_file_among_others_is_told_as_denied() {
    for (denied, command, beside, other) in [
        ("Read(//etc/**)", "cat /etc/a", "cat /usr/a", "ask"),
        ("Read(//etc/**)", "cat < /etc/a", "cat < /srv/a", "ask"),
        ("Read(a)", "diff a ~/a", "diff b ~/b", "ask"),
        ("Read(a)", "cat /srv/x a", "cat /srv/x b", "ask"),
        ("Read(a)", "head a", "head b", "ask"),
        ("Edit(a)", "cp b /srv/x && cp b a", "cp b /srv/x && cp b c", "ask"),
        ("Edit(a)", "cp b a", "cp b c", "allow"),
    ] {
        let settings = format!(
            r#"{{"permissions": {{"allow": ["Bash(cat:*)", "Bash(cp:*)", "Bash(diff:*)"], "deny": ["{denied}"]}}}}"#
        );
        check(Peer::Kode, &settings, &[(command, "deny"), (beside, other)]);
    }
}

#[test]
fn prefixes_are_as_long_as_they_are_there() {
    for (allowed, denied, command, wanted) in [
        ("l", "*", "l", "deny"),
        ("ls", "*", "ls", "allow"),
        ("git  ", "git ", "git log", "deny"),
        ("git log", "git ", "git log", "allow"),
        (" ls", "rm", "ls", "ask"),
        ("ls", "  rm", "rm", "deny"),
        ("echo \"a  b\"", "echo", "echo \"a  b\"", "allow"),
        ("echo \u{1f600}", "echo \u{1f600}", "echo \u{1f600}", "deny"),
    ] {
        let settings =
            serde_json::json!({ "allowedCommands": [allowed], "deniedCommands": [denied] });
        check(Peer::Roo, &settings.to_string(), &[(command, wanted)]);
    }
}

#[test]
fn what_kode_reads_otherwise_than_its_look_is_read_so() {
    let settings =
        r#"{"permissions": {"allow": ["Bash(cargo :*)", "Bash(cat:*)"], "deny": ["Read(./a)"]}}"#;
    check(
        Peer::Kode,
        settings,
        &[("cargo test", "ask"), ("cat a", "deny"), ("cat src/a", "deny"), ("cat src/b", "allow")],
    );
    check(
        Peer::Claude,
        settings,
        &[("cargo test", "allow"), ("cat a", "deny"), ("cat src/a", "allow")],
    );
}

#[test]
fn a_folder_of_the_repository_may_be_entered_where_a_rule_allows_that() {
    for (peer, settings) in [
        (
            Peer::Roo,
            r#"{"allowedCommands": ["cd", "cargo test", "ls", "rm"], "deniedCommands": ["cd kept"]}"#,
        ),
        (
            Peer::Kode,
            r#"{"permissions": {"allow": ["Bash(cd:*)", "Bash(cargo test:*)", "Bash(ls:*)", "Bash(rm:*)"], "deny": ["Bash(cd kept:*)"]}}"#,
        ),
    ] {
        check(
            peer,
            settings,
            &[
                ("cd sub && cargo test", "allow"),
                ("cd /ws/sub && cargo test", "allow"),
                ("cd sub && ls && cargo test", "allow"),
                ("cd sub && ls | ls && cargo test", "allow"),
                ("cd sub && { ls; cargo test; }", "allow"),
                ("cd kept && cargo test", "deny"),
                ("cd sub && cargo build", "ask"),
                // It would run here if there is no such folder.
                ("cd sub && ls; ls ../..", "ask"),
                ("cd sub && ls; cargo test", "ask"),
                ("cd sub && ls\ncargo test", "ask"),
                ("cd sub && ls || cargo test", "ask"),
                ("cd sub && ls || ls && cargo test", "ask"),
                ("cd sub && ls & cargo test", "ask"),
                ("cd sub && ls &", "ask"),
                ("cd sub && rm x", "ask"),
                ("cd sub && ls > x", "ask"),
                ("cd ../x && cargo test", "ask"),
                ("cd /etc && ls", "ask"),
                ("cd .git && ls", "ask"),
                ("cd $X && ls", "ask"),
                ("cd - && ls", "ask"),
                ("cd sub; ls", "ask"),
                ("cd a && cd b && ls", "ask"),
            ],
        );
    }
    let only = r#"{"allowedCommands": ["cargo test"]}"#;
    check(Peer::Roo, only, &[("cd sub && cargo test", "ask"), ("cd /ws && cargo test", "allow")]);
}

#[test]
fn a_script_behind_a_change_of_folder_names_the_files_of_that_folder() {
    let paths = |text: &str| {
        let paths = Script::parse(text).below("/ws").paths();
        paths.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let found = paths("cd sub && cat x");
    assert!(["sub", "sub/x"].iter().all(|path| found.contains(&(*path).to_owned())), "{found:?}");
    assert!(!paths("cat x").contains(&"sub/x".to_owned()));
}

#[test]
fn long_scripts_take_linear_time() {
    let denied: Vec<String> = (0..50).map(|number| format!("\"tool{number} run\"")).collect();
    let settings =
        format!(r#"{{"allowedCommands": ["echo"], "deniedCommands": [{}]}}"#, denied.join(", "));
    for (script, expected) in [
        (format!("echo '{}'", "; ! ! !".repeat(9_000)), "allow"),
        (format!("echo {}", "; ! ! !".repeat(9_000)), "ask"),
        (format!("echo $(({}", ";a".repeat(40_000)), "ask"),
        (format!("echo {}", "a ".repeat(3_000)), "allow"),
    ] {
        check(Peer::Roo, &settings, &[(&script, expected)]);
    }
}
