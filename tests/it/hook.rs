//! `locum hook`: the policy's answer in the words of other agents.

use std::io::Write as _;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::stage::{Ran, Stage};

const POLICY: &str = "version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ['read(**)', 'edit(src/**)', 'command(git status:*)', 'mcp(time/now)']
  - hold: 'edit(src/api/**)'
    reason: a person looks
";

fn stage() -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), ("src/a.rs", "one\n"), ("src/api/b.rs", "x\n")])
}

fn ask(stage: &Stage, words: &[&str], question: &str) -> Ran {
    ask_bytes(stage, words, question.as_bytes())
}

fn ask_bytes(stage: &Stage, words: &[&str], question: &[u8]) -> Ran {
    let mut command = stage.locum(&[&["hook"], words].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(question).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Asks as an agent does; returns the decision and its reason, both empty for no opinion.
pub(crate) fn decision(
    stage: &Stage,
    agent: &str,
    tool: &str,
    arguments: &Value,
) -> (String, String) {
    let folder = stage.path("checkout");
    let question = if agent == "copilot" {
        let arguments = arguments.to_string();
        json!({ "timestamp": 1, "cwd": folder, "toolName": tool, "toolArgs": arguments })
    } else {
        json!({
            "hook_event_name": "PreToolUse",
            "cwd": folder,
            "tool_name": tool,
            "tool_input": arguments,
        })
    };
    let ran = ask(stage, &[agent], &question.to_string());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if ran.out.is_empty() {
        return (String::new(), String::new());
    }
    let written: Value = serde_json::from_str(&ran.out).unwrap();
    let answer = if agent == "copilot" { &written } else { &written["hookSpecificOutput"] };
    if agent != "copilot" {
        assert_eq!(answer["hookEventName"], "PreToolUse");
    }
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn each_agent_gets_the_decision_of_the_policy_in_its_own_words() {
    let stage = stage();
    let within = stage.path("checkout/src/a.rs").display().to_string();
    let held = json!({ "file_path": "src/api/b.rs", "old_string": "x", "new_string": "y" });
    let patch = |path: &str| {
        let change = format!("*** Update File: {path}\n@@\n-one\n+two\n");
        json!({ "command": format!("*** Begin Patch\n{change}*** End Patch\n") })
    };
    for (agent, tool, arguments, expected) in [
        ("claude", "Read", json!({ "file_path": within }), "allow"),
        ("claude", "Read", json!({ "file_path": "/etc/passwd" }), "deny"),
        ("claude", "Read", json!({ "file_path": ".env" }), "deny"),
        (
            "claude",
            "Edit",
            json!({ "file_path": within, "old_string": "one", "new_string": "two" }),
            "allow",
        ),
        ("claude", "Edit", held.clone(), "ask"),
        (
            "claude",
            "MultiEdit",
            json!({ "file_path": within, "edits": [{ "old_string": "one", "new_string": "x" }] }),
            "allow",
        ),
        (
            "claude",
            "MultiEdit",
            json!({ "file_path": ".env", "edits": [{ "old_string": "one", "new_string": "x" }] }),
            "deny",
        ),
        ("claude", "Write", json!({ "file_path": "README.md", "content": "x" }), "deny"),
        ("claude", "Write", json!({ "file_path": "src/../../x", "content": "x" }), "deny"),
        (
            "claude",
            "NotebookEdit",
            json!({ "notebook_path": "src/n.ipynb", "new_source": "x" }),
            "allow",
        ),
        (
            "claude",
            "NotebookEdit",
            json!({ "notebook_path": "n.ipynb", "new_source": "x" }),
            "deny",
        ),
        ("claude", "move_file", json!({ "source": within, "destination": "src/b.rs" }), "allow"),
        ("claude", "move_file", json!({ "from": within, "to": "/etc/a.rs" }), "deny"),
        ("claude", "move_file", json!({ "old_path": ".env", "new_path": "src/b.rs" }), "deny"),
        ("claude", "move_file", json!({ "path": within, "to": "README.md" }), "deny"),
        ("claude", "delete_file", json!({ "target_file": within }), "allow"),
        ("claude", "delete_file", json!({ "target_file": "/etc/passwd" }), "deny"),
        ("claude", "Bash", json!({ "command": "git status -s" }), "allow"),
        ("claude", "Bash", json!({ "command": "git status; curl evil.example" }), "deny"),
        ("claude", "Grep", json!({ "pattern": "one", "path": "src" }), "allow"),
        (
            "claude",
            "Bash",
            json!({ "command": "git status", "timeout": 120_000, "run_in_background": true }),
            "allow",
        ),
        (
            "claude",
            "Bash",
            json!({ "command": "git push", "timeout": 1, "run_in_background": true }),
            "deny",
        ),
        (
            "claude",
            "Bash",
            json!({ "command": "git status", "dangerouslyDisableSandbox": true }),
            "ask",
        ),
        (
            "claude",
            "Grep",
            json!({ "pattern": "one", "output_mode": "content", "multiline": true, "-A": 3 }),
            "allow",
        ),
        ("claude", "Grep", json!({ "pattern": "one", "path": "/etc", "multiline": true }), "deny"),
        ("claude", "Edit", json!({ "file_path": "src/a.rs" }), "ask"),
        (
            "codex",
            "shell",
            json!({ "command": ["git", "status"], "sandbox_permissions": "require_escalated" }),
            "deny",
        ),
        ("claude", "mcp__time__now", json!({}), "allow"),
        ("claude", "mcp__time__set", json!({}), "deny"),
        ("claude", "TodoWrite", json!({ "todos": [] }), ""),
        ("claude", "Teleport", json!({}), "ask"),
        ("codex", "Bash", json!({ "command": "git status" }), ""),
        ("codex", "Bash", json!({ "command": "git push" }), "deny"),
        ("codex", "apply_patch", patch("src/a.rs"), ""),
        ("codex", "apply_patch", patch("src/api/b.rs"), "deny"),
        ("codex", "apply_patch", patch("README.md"), "deny"),
        ("codex", "Teleport", json!({}), "deny"),
        ("copilot", "bash", json!({ "command": "git status" }), "allow"),
        ("copilot", "bash", json!({ "command": "rm -rf src" }), "deny"),
        ("copilot", "view", json!({ "path": within }), "allow"),
        ("copilot", "create", json!({ "path": "src/new.rs", "file_text": "x" }), "allow"),
        (
            "copilot",
            "create",
            json!({ "path": ".github/workflows/x.yml", "file_text": "x" }),
            "deny",
        ),
        (
            "copilot",
            "edit",
            json!({ "path": "src/api/b.rs", "old_str": "x", "new_str": "y" }),
            "ask",
        ),
        ("copilot", "report_intent", json!({ "intent": "x" }), ""),
    ] {
        let (word, why) = decision(&stage, agent, tool, &arguments);
        assert_eq!(word, expected, "{agent} {tool} {arguments}: {why}");
    }
    let (_, why) = decision(&stage, "claude", "Edit", &held);
    assert_eq!(
        why,
        "Locum's policy: edit(src/api/b.rs): a person looks (.locum/policy.yml:5 edit(src/api/**))"
    );
    assert_eq!(stage.read("checkout/src/a.rs"), "one\n", "nothing is done");
    // Links count by where they lead.
    std::fs::create_dir(stage.path("outside")).unwrap();
    std::os::unix::fs::symlink(stage.path("outside"), stage.path("checkout/src/out")).unwrap();
    std::os::unix::fs::symlink("nowhere", stage.path("checkout/src/dangling")).unwrap();
    for path in ["src/out/x", "src/out", "src/dangling"] {
        let arguments = json!({ "file_path": path, "content": "x" });
        assert_eq!(decision(&stage, "claude", "Write", &arguments).0, "deny", "{path}");
    }
    let new = json!({ "file_path": "src/new/deep/x.rs", "content": "x" });
    assert_eq!(decision(&stage, "claude", "Write", &new).0, "allow");
}

#[test]
fn each_of_several_files_counts_and_one_that_is_not_read_never_allows() {
    let stage = stage();
    let inside = stage.path("checkout/src/api/b.rs").display().to_string();
    for (agent, arguments, expected) in [
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": "src/api/b.rs" }] }), "allow"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": inside }] }), "allow"),
        ("claude", json!({ "paths": ["src/a.rs", inside] }), "allow"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": ".env" }] }), "deny"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": "../x" }] }), "deny"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": "/etc/passwd" }] }), "deny"),
        ("claude", json!({ "paths": ["src/a.rs", "/etc/passwd"] }), "deny"),
        ("claude", json!({ "args": { "file": [{ "path": "/etc/passwd" }] } }), "deny"),
        ("claude", json!({ "files": r#"[{"path":"src/a.rs"},{"path":"/etc/passwd"}]"# }), "deny"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "path": "src/a.rs\u{0}" }] }), "deny"),
        ("claude", json!({ "path": "src/a.rs", "files": [{ "limit": 7 }] }), "ask"),
        ("codex", json!({ "path": "src/a.rs", "files": [{ "path": "../x" }] }), "deny"),
        ("copilot", json!({ "path": "src/a.rs", "files": [{ "path": "../x" }] }), "deny"),
    ] {
        let (word, why) = decision(&stage, agent, "read_file", &arguments);
        assert_eq!(word, expected, "{agent} {arguments}: {why}");
    }
    // What the policy says of a call that nobody performs in part.
    for (files, code, expected) in [
        (r#"[{"path":"src/api/b.rs"}]"#, 0, "read(src/api/b.rs)"),
        (r#"[{"path":"../x"}]"#, 4, "read(../x)"),
        (r#"[{"path":".env"}]"#, 4, "read(.env)"),
    ] {
        let call =
            format!(r#"{{"name":"read_file","arguments":{{"path":"src/a.rs","files":{files}}}}}"#);
        let ran = stage.run(&["policy", "explain", &call]);
        assert_eq!(ran.code, Some(code), "{files}: {ran:?}");
        assert!(ran.out.contains(expected), "{files}: {ran:?}");
    }
}

#[test]
fn paths_in_lists_count_from_the_folder_of_the_agent() {
    let stage = stage();
    stage.write("checkout/a.rs", "root");
    stage.write("checkout/src/.env", "x");
    stage.write("checkout/7", "x");
    std::os::unix::fs::symlink("/etc/passwd", stage.path("checkout/src/7")).unwrap();
    let question = |paths: Value| {
        json!({ "hook_event_name": "PreToolUse", "cwd": stage.path("checkout/src"),
            "tool_name": "read_file", "tool_input": paths })
        .to_string()
    };
    let allowed = question(json!({ "path": "a.rs", "files": [{ "path": "api/b.rs" }] }));
    let ran = ask(&stage, &["claude"], &allowed);
    assert!(ran.out.contains(r#""allow""#) && ran.out.contains("src/"), "{ran:?}");
    for arguments in [
        json!({ "path": "a.rs", "files": [{ "path": ".env" }] }),
        json!({ "paths": ["a.rs", "../../x"] }),
        json!({ "path": "a.rs", "files": [{ "path": 7 }] }),
    ] {
        let ran = ask(&stage, &["claude"], &question(arguments));
        assert!(ran.out.contains(r#""deny""#), "{ran:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_asked_about_and_not_taken_for_another() {
    let stage = stage();
    let question = |folder: &str| {
        json!({ "hook_event_name": "PreToolUse", "cwd": stage.path(folder),
            "tool_name": "read_file", "tool_input": { "path": "a.rs" } })
        .to_string()
    };
    stage.write("checkout/a.rs", "root");
    let ran = ask(&stage, &["claude"], &question("checkout"));
    assert!(ran.out.contains(r#""allow""#), "{ran:?}");
    let ran = ask(&stage, &["claude"], &question("gone"));
    assert!(ran.out.contains(r#""ask""#) && ran.out.contains("is not there"), "{ran:?}");
}

#[test]
fn what_cannot_be_read_or_decided_never_allows() {
    let stage = stage();
    for question in ["", "{", "[]", r#"{"tool_name":"Bash","tool_input":7}"#, r#"{"cwd":"/"}"#] {
        let claude = ask(&stage, &["claude"], question);
        assert!(
            claude.code == Some(0) && claude.out.contains(r#""ask""#),
            "{question}: {claude:?}"
        );
        let codex = ask(&stage, &["codex"], question);
        assert!(codex.code == Some(0) && codex.out.contains(r#""deny""#), "{question}: {codex:?}");
    }
    let not_utf8 = [br#"{"tool_name":"Bash","tool_input":{"command":"ls "#.as_slice(), b"\xe9\"}}"];
    let asked = ask_bytes(&stage, &["claude"], &not_utf8.concat());
    assert!(asked.code == Some(0) && asked.out.contains(r#""ask""#), "{asked:?}");
    let other = ask(&stage, &["claude"], r#"{"hook_event_name":"Stop"}"#);
    assert_eq!((other.code, other.out.as_str()), (Some(0), ""));
    stage.write("checkout/.locum/policy.yml", "version: 1\nrules: [{ alow: \"read(**)\" }]\n");
    let arguments = json!({ "file_path": "src/a.rs" });
    let (word, why) = decision(&stage, "claude", "Read", &arguments);
    assert!(word == "ask" && why.contains(".locum/policy.yml:2"), "{word} {why}");
    assert_eq!(decision(&stage, "codex", "Read", &arguments).0, "deny");
}

#[test]
fn the_settings_call_the_hook_of_the_same_agent() {
    let stage = stage();
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("copilot", ".github/hooks/locum.json"),
    ] {
        let printed = stage.run(&["hook", agent, "--settings"]);
        let (named, settings) = printed.out.split_once(":\n").unwrap();
        assert_eq!(named, file);
        let settings: Value = serde_json::from_str(settings).unwrap();
        assert!(settings.to_string().contains(&format!("locum hook {agent}")), "{settings}");
    }
}

#[test]
fn what_only_our_sandbox_would_keep_from_hidden_files_is_asked_about() {
    let policy = "version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ['read(**)', 'command(grep:*)', 'command(rg:*)', 'command(find:*)', 'command(cat:*)']
  - allow: ['command(cargo test:*)', 'command(rm:*)', 'command(git log:*)']
commands: { sandbox: required, expansions: allow }
";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".gitignore", ".env\n"),
        (".locumignore", "secrets/\n"),
        ("src/a.rs", "one\n"),
        ("secrets/a.txt", "s\n"),
    ]);
    stage.write("checkout/.env", "X=1\n");
    for (tool, arguments, expected) in [
        ("Grep", json!({ "pattern": "x" }), "ask"),
        ("Grep", json!({ "pattern": "x", "path": "src" }), "allow"),
        ("Grep", json!({ "pattern": "x", "glob": ".env" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "{.env,secrets/*}" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "*.rs" }), "allow"),
        ("Grep", json!({ "pattern": "x", "glob": "*.rs, *.toml" }), "allow"),
        ("Grep", json!({ "pattern": "x", "glob": "*.rs,.env" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "*.rs .env" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "/.env" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "*" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "!*.rs" }), "ask"),
        ("Grep", json!({ "pattern": "x", "glob": "**/*", "path": "src" }), "allow"),
        ("Bash", json!({ "command": "tr -d '\\r' < src/a.rs" }), "deny"),
        ("Bash", json!({ "command": "grep -R x ." }), "ask"),
        ("Bash", json!({ "command": "grep -n x src/a.rs" }), "allow"),
        ("Bash", json!({ "command": "find . -exec cat {} +" }), "ask"),
        ("Bash", json!({ "command": "rg --hidden x" }), "ask"),
        ("Bash", json!({ "command": "rm -rf /tmp/x" }), "ask"),
        ("Bash", json!({ "command": "cargo test" }), "allow"),
        ("Bash", json!({ "command": "grep 'a\rb' src/a.rs" }), "ask"),
        ("Bash", json!({ "command": "cat .env" }), "deny"),
    ] {
        let (decided, why) = decision(&stage, "claude", tool, &arguments);
        assert_eq!(decided, expected, "{tool} {arguments}: {why}");
    }
}

#[test]
fn commands_are_asked_about_where_a_run_would_leave_a_hidden_file_out() {
    let policy = "version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ['read(**)', 'command(grep:*)', 'command(rg:*)', 'command(timeout:*)']
  - allow: ['command(git grep:*)', 'command(git show:*)', 'command(git diff:*)']
  - allow: ['command(git log:*)', 'command(git status:*)', 'command(git ls-files:*)']
commands: { sandbox: required }
";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".gitignore", ".env\n"),
        ("src/a.rs", "one\n"),
        ("docs/a.md", "one\n"),
    ]);
    // With nothing hidden; with a hidden file that git ignores; once it was committed.
    let commands = [
        ("grep -rn one src", "allow", "ask", "ask"),
        ("grep -rn one docs", "allow", "allow", "allow"),
        ("grep -rn one gone docs", "allow", "allow", "allow"),
        ("grep -n one src/a.rs", "allow", "allow", "allow"),
        ("grep -rn one .", "ask", "ask", "ask"),
        ("rg one", "allow", "allow", "allow"),
        ("rg one src", "allow", "allow", "allow"),
        ("rg one docs", "allow", "allow", "allow"),
        ("rg -g '*' one docs", "allow", "allow", "allow"),
        ("rg -g '*' one src", "allow", "ask", "ask"),
        ("cd src && rg one", "allow", "allow", "allow"),
        ("cd src && rg -g '*' one", "allow", "ask", "ask"),
        ("cd docs && rg -g '*' one", "allow", "allow", "allow"),
        ("timeout 5 rg -g '*' one src", "allow", "ask", "ask"),
        ("rg -g '*.rs' one", "allow", "allow", "allow"),
        ("rg --files", "allow", "allow", "allow"),
        ("rg -e --files", "allow", "allow", "allow"),
        ("git grep one", "allow", "allow", "ask"),
        ("git show HEAD", "allow", "allow", "ask"),
        ("git diff HEAD", "allow", "allow", "ask"),
        ("git log -p", "allow", "allow", "ask"),
        ("git log --oneline", "allow", "allow", "allow"),
        ("git log -p | grep git", "allow", "allow", "ask"),
        ("git -C src log -p", "allow", "allow", "ask"),
        ("timeout 5 git log -p", "allow", "allow", "ask"),
        ("git diff --stat", "allow", "allow", "allow"),
        ("git status", "allow", "allow", "allow"),
        ("git status -s && git diff", "allow", "allow", "ask"),
        ("git ls-files", "allow", "allow", "allow"),
    ];
    let decided =
        |command: &str| decision(&stage, "claude", "Bash", &json!({ "command": command }));
    let asked = |expected: &str, command: &str, hidden: &str| {
        let (word, why) = decided(command);
        assert_eq!(word, expected, "{command}: {why}");
        let is_named = command == "grep -rn one ." || why.contains(hidden);
        assert!(word == "allow" || is_named, "{command}: {why}");
    };
    for (command, expected, _, _) in commands {
        asked(expected, command, "");
    }
    stage.write("checkout/src/.env", "X=1\n");
    for (command, _, expected, _) in commands {
        asked(expected, command, "`src/.env`");
    }
    stage.git(&["add", "--force", "src/.env"]);
    for (command, _, _, expected) in commands {
        asked(expected, command, "`src/.env`");
    }
    stage.git(&["commit", "-qm", "secret"]);
    stage.git(&["rm", "-q", "--cached", "src/.env"]);
    stage.git(&["commit", "-qm", "no secret"]);
    for (command, _, _, expected) in commands.iter().filter(|it| it.0.starts_with("git")) {
        asked(expected, command, "history holds");
    }
}

#[test]
fn a_search_that_cannot_be_looked_through_is_asked_about() {
    use std::os::unix::ffi::OsStrExt as _;
    let stage = stage();
    let search =
        |path: &str| decision(&stage, "claude", "Grep", &json!({ "pattern": "one", "path": path }));
    for (glob, expected) in [
        ("*.rs", "allow"),
        ("*.{rs,md}", "allow"),
        ("{*.rs,*.md} *.toml", "allow"),
        ("{*.rs,*.md", "ask"),
        ("*.rs}", "ask"),
        ("}*.rs{", "ask"),
        ("{*.rs, *.md}", "ask"),
        ("{*.rs,{a,b}.md}", "ask"),
        ("\\{a,b}", "ask"),
        ("[{],b}", "ask"),
    ] {
        let arguments = json!({ "pattern": "one", "glob": glob });
        let (word, why) = decision(&stage, "claude", "Grep", &arguments);
        assert_eq!(word, expected, "{glob}: {why}");
    }
    let listed = json!({ "pattern": "one", "path": ["src", "src/api"] });
    assert_eq!(decision(&stage, "claude", "Grep", &listed).0, "ask");
    assert_eq!(search("src").0, "allow");
    let odd = stage.path("checkout/src").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::write(&odd, "one\n").unwrap();
    let (word, why) = search("src");
    assert!(word == "ask" && why.contains("a name that the policy cannot judge"), "{word} {why}");
    assert_eq!(search("src/api").0, "allow");
    std::fs::remove_file(odd).unwrap();
    assert_eq!(search("src").0, "allow");
    // The path of the innermost folder is longer than a system call takes.
    let deep: std::path::PathBuf = std::iter::repeat_n("d".repeat(200), 12).collect();
    let outer = stage.path("checkout/src").join(&deep);
    std::fs::create_dir_all(&outer).unwrap();
    std::fs::create_dir_all(stage.path("inner").join(&deep)).unwrap();
    std::fs::rename(stage.path("inner"), outer.join("inner")).unwrap();
    let (word, why) = search("src");
    assert!(word == "ask" && why.contains("not every file can be looked at"), "{word} {why}");
    assert_eq!(search("src/api").0, "allow");
}
