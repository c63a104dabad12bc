//! Imported settings decide as their tool does, or more strictly.

use pretty_assertions::assert_eq;

use super::{ImportSource, Peer, import, import_all};
use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::verdict::Decision;

/// Checks commands against imported settings: those that run and those that do not.
fn check(peer: Peer, settings: &str, allowed: &[&str], refused: &[&str]) {
    let policy =
        Policy::parse(&import(peer, settings, "settings").unwrap().policy, "imported").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    for (commands, expected) in [(allowed, true), (refused, false)] {
        for command in commands {
            let verdict = policy.decide(&Intent::Command(Script::parse(command)), &facts);
            assert_eq!(
                verdict.decision == Decision::Allow,
                expected,
                "{command}: {}",
                verdict.reason()
            );
        }
    }
}

#[test]
fn the_longer_prefix_wins_and_a_tie_denies() {
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["git", "git push --dry-run", "npm"], "deniedCommands": ["git push", "npm"]}"#,
        &["git status", "GIT status", "git push --dry-run origin", "git pull"],
        &[
            "git push",
            "git push origin",
            "gitleaks",
            "npm",
            "npm test",
            "git status; git push",
            "echo $(git push)",
        ],
    );
}

#[test]
fn a_shell_may_work_words_out_only_where_that_is_harmless() {
    check(
        Peer::Roo,
        r#"{"allowedCommands": ["echo", "ls", "rg", "cat", "find", "git log", "rm", "FOO=1 make"]}"#,
        &[
            "echo $HOME",
            "echo ${A:-b}",
            "ls *.rs",
            "cat src/*.rs",
            "echo $(ls)",
            "echo `ls`",
            "ls & ls",
            "FOO=1 make x",
            "echo $((1+2))",
        ],
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
        &[
            "cargo test",
            "cargo test -p x",
            "echo $(id)",
            "cat a.rs",
            "cat /etc/ssl/cert.conf",
            "git status",
            "node x.js",
            "cp a b",
        ],
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
    let inside = format!(
        "version: 1\n{}",
        "rules: [{ allow: [read(**), 'command(cat:*)'] }]\ncommands: { reads: ['!/ws/kept/**'] }\n"
    );
    let policy = Policy::parse(&inside, "p").unwrap();
    for (root, command, expected) in [
        ("/ws", "cat kept/a", Decision::Deny),
        ("/ws", "cat keep/a", Decision::Allow),
        ("/w", "cat kept/a", Decision::Allow),
    ] {
        let verdict =
            policy.decide(&Intent::Command(Script::parse(command).below(root)), &Facts::default());
        assert_eq!(verdict.decision, expected, "{root} {command}: {}", verdict.reason());
    }
}

#[test]
fn a_refused_path_is_refused_as_gitignore_reads_it() {
    for (refusal, refused, allowed) in [
        ("Read(secrets)", "cat a/secrets/key", "cat a/secret"),
        ("Read(secrets/)", "cat a/secrets/key", "cat a/secret"),
        ("Read(/secrets)", "cat secrets/key", "cat a/secrets/key"),
        ("Read(./secrets)", "cat a/secrets/key", "cat a/secret"),
        ("Read(conf/[ab].txt)", "cat conf/a.txt", "cat conf/ab.txt"),
        ("Read(conf/x**y)", "cat conf/x1y", "cat conf/x"),
        ("Read(**)", "cat a", "pwd"),
    ] {
        let settings =
            format!(r#"{{"permissions": {{"allow": ["Bash(cat:*)"], "deny": ["{refusal}"]}}}}"#);
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
fn a_rule_about_web_searches_is_about_every_query() {
    let allows = |text: &str| {
        let settings = format!(r#"{{"permissions": {{"allow": ["{text}"]}}}}"#);
        let imported = import(Peer::Claude, &settings, "settings").unwrap().policy;
        imported.contains("search(**)")
    };
    assert!(allows("WebSearch") && !allows("WebFetch(domain:docs.rs)") && !allows("Grep"));
}

#[test]
fn a_refusal_that_cannot_be_carried_over_refuses_all_that_its_tool_does() {
    for (refusal, refused, allowed) in [
        ("WebFetch", "fetch(https://docs.rs/x)", "command(ls)"),
        ("WebFetch(docs.rs)", "fetch(https://docs.rs/x)", "command(ls)"),
        (
            "WebFetch(domain:other.example)",
            "fetch(https://other.example/)",
            "fetch(https://docs.rs/x)",
        ),
        ("Bash(ls", "command(ls)", "fetch(https://docs.rs/x)"),
        ("Edit(src", "edit(src/a)", "fetch(https://docs.rs/x)"),
        ("Read(src", "read(src/a)", "fetch(https://docs.rs/x)"),
        ("WebSearch(x)", "search(any words)", "fetch(https://docs.rs/x)"),
        ("*", "command(ls)", ""),
        ("*", "fetch(https://docs.rs/x)", ""),
        ("*", "mcp(b/c)", ""),
        ("Skill(x)", "", "command(ls)"),
    ] {
        for list in ["deny", "ask"] {
            let settings = serde_json::json!({ "permissions": {
                "allow": ["Bash(ls:*)", "Edit", "WebFetch(domain:docs.rs)"], list: [refusal],
            } });
            let imported = import(Peer::Claude, &settings.to_string(), "s.json").unwrap();
            let policy = Policy::parse(&imported.policy, "p").unwrap();
            let facts = Facts { mode: "code".into(), sandboxed: true, ..Facts::default() };
            let decided = |text: &str| {
                let intent = crate::query::parse_intent(text).ok()?;
                Some(policy.decide(&intent, &facts).decision)
            };
            let expected = if list == "deny" { Decision::Deny } else { Decision::Hold };
            assert_eq!(
                decided(refused).unwrap_or(expected),
                expected,
                "{refusal}: {}",
                imported.policy
            );
            assert_eq!(
                decided(allowed).unwrap_or(Decision::Allow),
                Decision::Allow,
                "{refusal}: {}",
                imported.policy
            );
        }
    }
    let bare = import(Peer::Claude, r#"{"permissions": {"allow": ["WebFetch"]}}"#, "s").unwrap();
    assert!(bare.policy.contains("allow: \"fetch(*)\""), "{}", bare.policy);
}

#[test]
fn writes_a_rule_once_however_often_the_settings_say_it() {
    let settings = r#"{"permissions": {"allow": ["Read", "Grep", "Glob"], "deny": ["Bash(curl:*)", "Bash(curl *)"]}}"#;
    let imported = import(Peer::Claude, settings, "s.json").unwrap();
    for rule in ["allow: \"read(**)\"", "deny: \"command-prefix(curl)\""] {
        assert_eq!(imported.policy.matches(rule).count(), 1, "{}", imported.policy);
    }
}

#[test]
fn says_what_it_leaves_out() {
    let notes_of = |peer, text| import(peer, text, "s").unwrap().notes.join("; ");
    let roo = notes_of(
        Peer::Roo,
        r#"{"globalSettings": {"allowedCommands": ["", "ls"], "alwaysAllowMcp": true, "alwaysAllowWriteProtected": true}}"#,
    );
    for part in ["an empty command", "alwaysAllowMcp", "alwaysAllowWriteProtected"] {
        assert!(roo.contains(part), "{roo}");
    }
    let kode = notes_of(
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
    let edit = crate::query::parse_intent("edit(a)").unwrap();
    assert_eq!(policy.decide(&edit, &Facts::default()).decision, Decision::Deny);
}

#[test]
fn a_script_spelled_out_runs_unless_a_guard_or_a_refusal_speaks() {
    let policy = "version: 1\nrules:\n- allow: ['read(**)', 'command(ls)', 'script(make a && \
                  ./b)', 'script(make b)', 'script(ls > .git/x)', 'script(cd x && make)']\n- \
                  deny: ['script(ls; ls)', 'command(make b)']\n";
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
        assert_eq!(verdict.decision, expected, "{script} {sandboxed}: {}", verdict.reason());
    }
}

#[test]
fn settings_may_have_comments_and_commas_too_many() {
    check(
        Peer::Claude,
        "// mine\n{\n\t\"permissions\": {\n\t\t\"allow\": [\"Bash(echo //x:*)\", /* later, */ \
         \"Bash(ls:*)\", ],\n\t},\n}\n",
        &["ls", "echo //x"],
        &["echo y"],
    );
    let mistakes =
        import(Peer::Roo, "{ // x\n  /* y */ \"allowedCommands\": [1,],\n}", "s.json").unwrap_err();
    assert_eq!(mistakes.0[0].place.to_string(), "2:31", "{mistakes}");
}

#[test]
fn a_whole_export_becomes_a_policy_and_nothing_is_left_unsaid() {
    let export = r#"{
  "providerProfiles": { "apiConfigs": { "default": { "apiKey": "sk-never-shown" } } },
  "globalSettings": {
    "autoApprovalEnabled": true,
    "alwaysAllowReadOnly": true,
    "alwaysAllowWrite": true,
    "alwaysAllowWriteProtected": true,
    "alwaysAllowExecute": true,
    "alwaysAllowMcp": false,
    "alwaysAllowSomethingNew": true,
    "commandTimeoutAllowlist": ["npm"],
    "allowedCommands": ["npm test"],
    "commandExecutionTimeout": 90,
    "allowedMaxRequests": 20,
    "language": "en", "ttsEnabled": true,
    "customModes": [],
    "customModePrompts": { "code": { "roleDefinition": "You are careful." } },
    "autoCondenseContext": true, "autoCondenseContextPercent": 60
  }
}"#;
    let imported = import(Peer::Roo, export, "export.json").unwrap();
    let notes: Vec<&str> = imported.notes.iter().map(String::as_str).collect();
    assert_eq!(
        notes,
        [
            "export.json:7: `alwaysAllowWriteProtected`: a protected path is opened by a rule \
             that names it in full with `protected: true`",
            "export.json:10: `alwaysAllowSomethingNew`",
            "export.json:11: `commandTimeoutAllowlist`",
            "export.json:15: `language`: write it into `language` of `.locum/config.yml`",
            "export.json:16: `customModes`: they belong into `.roomodes` or `.locum/modes.yml`",
            "export.json:17: `customModePrompts`: write them into `customModePrompts` of \
             `.locum/modes.yml`",
            "export.json:18: `autoCondenseContextPercent`: write it as `condense_percent` of each \
             profile in `.locum/config.yml`",
            "export.json:15: what is not about permissions: `ttsEnabled`, `autoCondenseContext`",
        ]
    );
    assert!(!imported.policy.contains("never-shown"));
    let policy = Policy::parse(&imported.policy, "imported").unwrap();
    assert_eq!(
        (policy.settings().budget.turns, policy.settings().commands.timeout.as_secs()),
        (20, 90)
    );
    check(Peer::Roo, export, &["npm test"], &["npm install"]);
}

#[test]
fn where_a_person_was_asked_a_person_is_asked() {
    let decide = |settings: &str, intent: &str| {
        let policy =
            Policy::parse(&import(Peer::Roo, settings, "s").unwrap().policy, "imported").unwrap();
        let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
        policy.decide(&crate::query::parse_intent(intent).unwrap(), &facts).decision
    };
    let listed =
        |extra: &str| format!(r#"{{"allowedCommands": ["npm"], "alwaysAllowWrite": true{extra}}}"#);
    for (extra, command, read, edit) in [
        ("", Decision::Allow, Decision::Allow, Decision::Allow),
        (r#", "alwaysAllowExecute": false"#, Decision::Hold, Decision::Allow, Decision::Allow),
        (r#", "alwaysAllowReadOnly": false"#, Decision::Allow, Decision::Hold, Decision::Allow),
        (r#", "autoApprovalEnabled": false"#, Decision::Hold, Decision::Hold, Decision::Hold),
    ] {
        let found = ["command(npm test)", "read(a)", "edit(a)"]
            .map(|intent| decide(&listed(extra), intent));
        assert_eq!(found, [command, read, edit], "{extra}");
    }
}

#[test]
fn several_files_are_joined_as_their_tool_joins_them() {
    let decide = |peer: Peer, files: &[(&str, &str)], command: &str| {
        let sources: Vec<ImportSource<'_>> =
            files.iter().map(|(origin, text)| ImportSource { origin, text }).collect();
        let imported = import_all(peer, &sources, &[]).unwrap();
        let policy = Policy::parse(&imported.policy, "imported").unwrap();
        let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
        policy.decide(&Intent::Command(Script::parse(command)), &facts).decision
    };
    let roo = [
        ("user.json", r#"{"allowedCommands": ["npm", "ls"], "alwaysAllowExecute": false}"#),
        (
            "settings.json",
            r#"{"roo-cline.allowedCommands": ["make"], "roo-cline.deniedCommands": ["npm publish"], "alwaysAllowExecute": true}"#,
        ),
    ];
    let claude = [
        (
            "user.json",
            r#"{"permissions": {"allow": ["Bash(npm:*)", "Bash(touch:*)"], "defaultMode": "plan"}}"#,
        ),
        (
            "project.json",
            r#"{"permissions": {"deny": ["Bash(npm publish:*)"], "ask": ["Bash(npm install:*)"]}}"#,
        ),
        ("local.json", r#"{"permissions": {"defaultMode": "default"}}"#),
    ];
    for (peer, files, command, expected) in [
        (Peer::Roo, &roo[..], "npm test", Decision::Allow),
        (Peer::Roo, &roo[..], "make", Decision::Allow),
        (Peer::Roo, &roo[..], "npm publish", Decision::Deny),
        (Peer::Roo, &roo[..1], "npm test", Decision::Hold),
        (Peer::Claude, &claude[..], "npm test", Decision::Allow),
        (Peer::Claude, &claude[..], "npm publish", Decision::Deny),
        (Peer::Claude, &claude[..], "npm install x", Decision::Hold),
        (Peer::Claude, &claude[..2], "npm test", Decision::Hold),
    ] {
        assert_eq!(decide(peer, files, command), expected, "{command} {files:?}");
    }
    let mistakes = import_all(
        Peer::Kode,
        &[ImportSource { origin: "a", text: "{" }, ImportSource { origin: "b", text: "[]" }],
        &[],
    )
    .unwrap_err();
    let origins: Vec<&str> = mistakes.0.iter().map(|mistake| mistake.origin.as_str()).collect();
    assert_eq!(origins, ["a", "b"]);
}

#[test]
fn folders_beside_the_repository_are_opened_to_commands_that_read() {
    let settings = r#"{"model": "x", "permissions": {"allow": ["Bash(cat:*)", "Bash(npm run test *)", "Bash(rm:*)"],
        "additionalDirectories": ["/data/shared/", "../x", "~/y", "/", "/data/*"], "somethingNew": 1}}"#;
    check(
        Peer::Claude,
        settings,
        &["cat /data/shared/a", "npm run test x"],
        &["cat /data/other/a", "cat /etc/passwd", "rm /data/shared/a", "npm run build"],
    );
    let notes = import(Peer::Claude, settings, "s.json").unwrap().notes.join("\n");
    for part in [
        "s.json:1: `model`",
        "s.json:2: `somethingNew`",
        "`../x`: only absolute",
        "`~/y`: only absolute",
        "`/`: only absolute",
        "`/data/*`: only absolute",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn kodes_older_list_is_read_in_its_own_words() {
    let settings = r#"{
  "allowedTools": ["bash(git status)", "bash(npm:*)", "file_write", "Grep", "architect", "web_search"],
  "contextFiles": ["README.md"]
}"#;
    let imported = import(Peer::Kode, settings, ".kode.json").unwrap();
    for rule in ["command(git status)", "command-prefix(npm)", "edit(**)", "search(**)"] {
        assert!(imported.policy.contains(rule), "{rule}: {}", imported.policy);
    }
    assert_eq!(
        imported.notes,
        [
            ".kode.json:2: the rule `architect`",
            ".kode.json:3: `contextFiles`: name the files in `context_files` of `.locum/config.yml`",
        ]
    );
    check(Peer::Kode, settings, &["npm test"], &["cargo test", "npmx test", "bash -c 'npm test'"]);
    check(Peer::Claude, settings, &[], &["npm test"]);
    let wrong = import(Peer::Kode, r#"{"allowedTools": [7]}"#, ".kode.json").unwrap_err();
    assert!(wrong.to_string().contains(".kode.json"), "{wrong}");
}
