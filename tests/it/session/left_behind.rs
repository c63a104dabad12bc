//! What commands leave in the checkout or take out of it where they write to it directly, and what
//! git takes for a repository in both worlds.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use locum_testing::repository::commit_all;
use pretty_assertions::assert_eq;

use crate::session::fixture::{Fixture, POLICY, Ran, turns};

const STEP: &str = r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;

/// A checkout whose `step.sh` does this, with more files that git ignores.
fn fixture(script: &str, policy: &str, step: &str, ignored: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::with_policy(&turns(script), policy);
    std::fs::write(fixture.root.join("step.sh"), format!("#!/bin/sh\nset -e\n{step}")).unwrap();
    let names: Vec<&str> = ignored.iter().map(|(path, _)| *path).collect();
    std::fs::write(fixture.root.join(".gitignore"), names.join("\n")).unwrap();
    commit_all(&git2::Repository::open(&fixture.root).unwrap(), "second");
    for (path, text) in ignored {
        let path = fixture.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    fixture
}

/// A run whose commands write to the checkout, and which nothing else keeps from doing so.
fn uncontained(policy: &str) -> String {
    format!("{policy}commands: {{ sandbox: off }}\n")
}

fn told(ran: &Ran) -> String {
    let notes = ran.outcome.notes.join("\n");
    format!("{}: {}\n{:?}\n{notes}", ran.word(), ran.reason(), ran.answers("execute_command"))
}

const GIT: &str = "plant() { mkdir -p $1/objects $1/refs/heads; echo 'ref: refs/heads/main' > \
                   $1/HEAD; printf '[core]\\n\\tbare = false\\n' > $1/config; echo x > $1/objects/k; \
                   echo x > $1/refs/k; }\n";

#[test]
fn a_git_folder_that_a_command_leaves_is_taken_back_and_hides_no_file() {
    let step = format!(
        "{GIT}plant src/.git; plant src/inner/.git\necho x > src/inner/AGENTS.md; echo x > \
         src/inner/f; echo 'gitdir: ../.git' > src/inner/g; mkdir src/w; echo 'gitdir: x' > \
         src/w/.git\n"
    );
    let fixture = fixture(STEP, &uncontained(POLICY), &step, &[]);
    let ran = fixture.run();
    let said = told(&ran);
    assert_eq!(ran.changed(), ["src/inner/f", "src/inner/g"], "{said}");
    for path in ["src/.git", "src/inner/.git", "src/w/.git", "src/inner/AGENTS.md"] {
        assert!(!fixture.root.join(path).exists(), "{path}: {said}");
        assert!(said.contains(&format!("`{path}`")), "{path}: {said}");
    }
    assert!(fixture.file("src/inner/f").is_some() && fixture.file(".git/HEAD").is_some());
}

#[test]
fn protected_files_that_git_ignores_are_put_back() {
    let ignored = [
        ("src/CLAUDE.local.md", "mine"),
        ("src/.claude/settings.local.json", "{}"),
        ("src/plain.log", "mine"),
    ];
    let step = "echo evil >> src/CLAUDE.local.md; rm src/.claude/settings.local.json; echo built > \
                src/plain.log; echo x > src/new\n";
    let fixture = fixture(STEP, &uncontained(POLICY), step, &ignored);
    let ran = fixture.run();
    let said = told(&ran);
    assert_eq!(fixture.file("src/CLAUDE.local.md").as_deref(), Some("mine"), "{said}");
    assert_eq!(fixture.file("src/.claude/settings.local.json").as_deref(), Some("{}"), "{said}");
    assert_eq!(fixture.file("src/plain.log").as_deref(), Some("built\n"));
    assert_eq!(ran.changed(), ["src/new"], "{said}");
    assert!(said.contains("Taken back") && said.contains("`src/CLAUDE.local.md`"), "{said}");
}

#[test]
fn what_a_person_closed_is_no_part_of_the_work_and_what_a_command_closed_is() {
    let step = "chmod 755 src/theirs; echo x >> src/theirs/p; mkdir src/own; echo x > src/own/f; \
                echo x > src/new; chmod 000 src/own src/new\n";
    let fixture = fixture(STEP, &uncontained(POLICY), step, &[]);
    let closed = fixture.root.join("src/theirs");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("p"), "a person's").unwrap();
    std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let ran = fixture.run();
    let said = told(&ran);
    assert_eq!(ran.changed(), ["src/new", "src/own/f"], "{said}");
    assert!(said.contains("`src/theirs/p` was closed before the command"), "{said}");
    assert!(fixture.file("src/theirs/p").is_some(), "{said}");
}

#[test]
fn a_pointer_in_the_place_of_content_that_a_command_wrote_over_is_named() {
    let content = "the content of a large file\n";
    let hash = "4a5c2fc6bc98adac426e0762751daad303a48744fb518a31171689d25505bfa8";
    let head = "version https://git-lfs.github.com/spec/v1";
    let pointer = format!("{head}\noid sha256:{hash}\nsize {}\n", content.len());
    let fixture = fixture(STEP, &uncontained(POLICY), "echo run > docs/a.bin\n", &[]);
    std::fs::create_dir_all(fixture.root.join("docs")).unwrap();
    std::fs::write(fixture.root.join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    std::fs::write(fixture.root.join("docs/a.bin"), &pointer).unwrap();
    commit_all(&git2::Repository::open(&fixture.root).unwrap(), "third");
    std::fs::write(fixture.root.join("docs/a.bin"), content).unwrap();
    let ran = fixture.run();
    let said = told(&ran);
    assert_eq!(fixture.file("docs/a.bin"), Some(pointer), "{said}");
    assert!(said.contains("Only what git keeps is in the checkout now"), "{said}");
    assert!(said.contains("`docs/a.bin`. `git lfs pull`"), "{said}");
}

#[test]
fn a_folder_is_not_removed_with_what_may_not_be_read_or_changed() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "rm -r d" } }]
- calls: [{ tool: execute_command, args: { command: "rm -rf src/e/" } }]
- calls: [{ tool: execute_command, args: { command: "mv ign src/ign" } }]
- calls: [{ tool: execute_command, args: { command: "rm -r local" } }]
- expect: { contains: ["something in it may not be read or changed"] }
  calls: [{ tool: execute_command, args: { command: "rm -r src/free out && rm src/g/x && mkdir -p d" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let policy = POLICY
        .replace("edit(src/**)", "edit(**)")
        .replace("command(touch:*)", "command(rm:*)\", \"command(mv:*)\", \"command(mkdir:*)");
    let ignored = [
        ("d/.env", "A=1"),
        ("src/e/deep/k.pem", "A=1"),
        ("ign/.env", "A=1"),
        ("local/CLAUDE.local.md", "mine"),
        ("src/g/.env", "A=1"),
        ("out/AGENTS.md", "build output of a folder that git ignores"),
        ("src/free/x.log", "x"),
        ("src/g/x", "x"),
    ];
    let fixture = fixture(script, &uncontained(&policy), "true\n", &ignored);
    std::fs::write(fixture.root.join(".gitignore"), ".env\n*.pem\n*.log\n*.local.md\nout/\n")
        .unwrap();
    commit_all(&git2::Repository::open(&fixture.root).unwrap(), "third");
    let ran = fixture.run();
    let said = told(&ran);
    for (path, _) in &ignored[..5] {
        assert!(fixture.file(path).is_some(), "{path}: {said}");
    }
    for (path, _) in &ignored[5..] {
        assert!(fixture.file(path).is_none(), "{path}: {said}");
    }
    let answers = ran.answers("execute_command");
    assert!(
        answers[..4].iter().all(|text| text.contains("may not be read or changed")),
        "{answers:?}"
    );
}

#[test]
fn a_folder_is_not_removed_with_what_has_no_name_that_is_text() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "rm -r src/odd" } }]
- calls: [{ tool: execute_command, args: { command: "rm -r src/odd/*" } }]
- calls: [{ tool: execute_command, args: { command: "rm -r src/plain" } }]
- calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let policy =
        POLICY.replace("edit(src/**)", "edit(**)").replace("command(touch:*)", "command(rm:*)");
    let ignored = [("src/odd/x", "x"), ("src/plain/x", "x")];
    let fixture = fixture(script, &uncontained(&policy), "true\n", &ignored);
    let odd = fixture.root.join("src/odd").join(OsStr::from_bytes(b"odd\xff"));
    // Not every file system takes such a name.
    if std::fs::create_dir(&odd).is_err() {
        return;
    }
    std::fs::write(odd.join("file"), "mine").unwrap();
    let ran = fixture.run();
    let said = told(&ran);
    assert!(odd.join("file").exists() && fixture.file("src/plain/x").is_none(), "{said}");
    let answers = ran.answers("execute_command");
    assert!(answers[0].contains("or cannot be looked at"), "{answers:?}");
}

#[test]
fn a_file_that_is_too_large_to_be_recorded_ends_no_run_as_failed() {
    let step = "truncate -s 200M src/big; echo x > src/new\n";
    let fixture = fixture(STEP, &uncontained(POLICY), step, &[]);
    let ran = fixture.run();
    let said = told(&ran);
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/new"]), "{said}");
    assert!(!fixture.root.join("src/big").exists() && said.contains("more than the"), "{said}");
}

#[test]
fn a_folder_that_git_takes_for_a_repository_is_not_completed() {
    let script = r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls:
    - { tool: write_to_file, args: { path: src/t/HEAD, content: "ref: refs/heads/main\n" } }
    - { tool: write_to_file, args: { path: src/t/config, content: "[core]\n" } }
    - { tool: write_to_file, args: { path: src/t/objects/k, content: "x\n" } }
- calls: [{ tool: write_to_file, args: { path: src/t/refs/k, content: "x\n" } }]
- expect: { contains: ["for a repository of its own"] }
  calls: [{ tool: attempt_completion, args: { result: r } }]
"#;
    let step = format!("{GIT}plant src/b\necho x > src/b/other\n");
    let contained = format!("{POLICY}commands: {{ contained: allow }}\n");
    for fixture in [
        fixture(script, POLICY, &step, &[]).without_layer(),
        fixture(script, &contained, &step, &[]),
    ] {
        let ran = fixture.run();
        let said = told(&ran);
        assert_eq!(
            ran.changed(),
            ["src/b/other", "src/t/HEAD", "src/t/config", "src/t/objects/k"],
            "{said}"
        );
        assert!(fixture.file("src/b/HEAD").is_none(), "{said}");
        assert!(said.contains("git would take `src/b` for a repository"), "{said}");
    }
}
