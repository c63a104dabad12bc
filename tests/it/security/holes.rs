//! Ways round what is hidden that once worked, each played against the binary: what a command
//! looks like takes no mask off.

use serde_json::json;

use crate::support::stage::Stage;

/// What a workflow's checkout leaves in git's settings.
const TOKEN: &str = "AUTHORIZATION: basic eHg6Zml4dHVyZS10b2tlbi0xMjM0NTY3ODkw";

const POLICY: &str = "version: 1\nrules:\n  - allow: [read(**), edit(**), 'command(diff:*)', \
                      'command(tr:*)', 'command(cat:*)', 'command(cp:*)', 'command(mv:*)', \
                      'command(echo:*)', 'command(git status)', 'command(git log:*)', \
                      'command(cargo metadata:*)', 'command(sh t.sh)']\n  - deny: \
                      'read(config/private/**)'\n";

fn stage() -> Stage {
    let stage = Stage::with(&[
        ("README.md", "hi\n"),
        ("src/lib.rs", "//\n"),
        (".gitignore", ".env\n"),
        (".locumignore", "hid/\nsub/hid.txt\n"),
        ("hid/h.txt", "HIDDEN-FOLDER\n"),
        ("sub/hid.txt", "HIDDEN-FILE\n"),
        ("sub/seen.txt", "seen\n"),
        ("config/private/plan.txt", "PLAN=launch-code-777\n"),
        ("config/open.txt", "open\n"),
        ("t.sh", "cat caf*/.env caf*/x\n"),
        (".locum/policy.yml", POLICY),
    ]);
    stage.write("checkout/.env", "DB_PASSWORD=disk-only-secret\n");
    stage.write("checkout/server.pem", "-----BEGIN PRIVATE KEY-----\nPEM-BODY\n");
    stage.git(&["config", "http.https://example.com/.extraheader", TOKEN]);
    stage
}

/// Runs commands, one a turn, and returns what the model was told.
fn told(stage: &Stage, commands: &[&str]) -> String {
    let calls = |command: &&str| json!({ "calls": [{ "tool": "execute_command", "args": { "command": command } }] });
    let end = json!({ "calls": [{ "tool": "attempt_completion", "args": { "result": "r" } }] });
    let turns: Vec<_> = commands.iter().map(calls).chain([end]).collect();
    let script = json!({ "version": 1, "tasks": [{ "turns": turns }] }).to_string();
    stage.play(&script, &["--mode", "code"]);
    let answers = stage.answers().into_iter();
    answers.filter(|(tool, _)| tool == "execute_command").map(|(_, text)| text + "\n").collect()
}

#[test]
fn what_is_hidden_stays_hidden_whatever_a_command_looks_like() {
    for commands in [
        // A write to the root beside something that only reads.
        &["echo x > note.txt; diff -rN --exclude=.git . src"][..],
        &["diff -rN . src"],
        // The folder above what may not be read.
        &["diff -rN config src"],
        &["cp -r config src/copy", "cat src/copy/private/plan.txt"],
        &["mv config src/moved", "cat src/moved/private/plan.txt"],
        &["cp -r config top", "cat top/private/plan.txt"],
        &["cp -r sub top", "cat top/hid.txt"],
    ] {
        for stage in Stage::in_both_worlds(stage) {
            let told = told(&stage, commands);
            for secret in ["disk-only-secret", "PEM-BODY", "HIDDEN-F", "launch-code", "basic eHg6"]
            {
                assert!(!told.contains(secret), "{commands:?}: {told}");
            }
        }
    }
}

#[test]
fn the_token_of_a_checkout_is_in_no_command_s_view_of_git_s_settings() {
    let commands = [
        "diff -rN .git src | tr A-Za-z N-ZA-Mn-za-m",
        "cp -r .git src/x; cat src/x/config",
        "git log --oneline | tr a-z A-Z",
        "git status",
    ];
    for stage in Stage::in_both_worlds(stage) {
        let told = told(&stage, &commands);
        // As it is, and as `tr` turns it.
        for shown in ["AUTHORIZATION", "NHGUBEVMNGVBA"] {
            assert!(!told.contains(shown), "{told}");
        }
        assert!(told.contains("FIRST") && told.contains("On branch main"), "git works: {told}");
    }
}

#[test]
fn a_folder_whose_name_is_no_text_hides_what_is_in_it() {
    use std::os::unix::ffi::OsStrExt as _;
    for stage in Stage::in_both_worlds(stage) {
        let folder = stage.path("checkout").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(".env"), "DB_PASSWORD=disk-only-secret").unwrap();
        let told = told(&stage, &["sh t.sh"]);
        assert!(told.contains("Exit code") && !told.contains("disk-only-secret"), "{told}");
    }
}

#[test]
fn git_works_in_a_worktree_and_in_a_checkout_alike() {
    for stage in Stage::in_both_worlds(stage) {
        stage.git(&["worktree", "add", "-q", stage.path("linked").to_str().unwrap()]);
        std::fs::rename(stage.path("checkout"), stage.path("main")).unwrap();
        std::fs::rename(stage.path("linked"), stage.path("checkout")).unwrap();
        stage.git_in("main", &["worktree", "repair", stage.path("checkout").to_str().unwrap()]);
        let other = stage.path("other-tree");
        stage.git_in("main", &["worktree", "add", "-q", other.to_str().unwrap()]);
        stage.write(
            "checkout/t.sh",
            "cd \"$(git rev-parse --git-common-dir)/worktrees\" && cat */gitdir\n",
        );
        let told = told(&stage, &["git log --oneline", "git status", "sh t.sh"]);
        assert!(told.contains("first") && told.contains("On branch linked"), "{told}");
        assert!(!told.contains("other-tree") && !told.contains("did not start"), "{told}");
    }
}

/// With namespaces; without them git's folders are only read.
#[test]
fn what_git_writes_in_a_linked_worktree_stays_in_the_layer_and_shows_no_credentials() {
    let policy =
        "version: 1\nrules: [{ allow: [read(**), edit(**)] }]\ncommands: { contained: allow }\n";
    let stage = Stage::with(&[("README.md", "hi\n"), (".locum/policy.yml", policy)]);
    stage.git(&["config", "http.https://example.com/.extraheader", TOKEN]);
    stage.git(&["worktree", "add", "-q", stage.path("linked").to_str().unwrap()]);
    std::fs::rename(stage.path("checkout"), stage.path("main")).unwrap();
    std::fs::rename(stage.path("linked"), stage.path("checkout")).unwrap();
    stage.git_in("main", &["worktree", "repair", stage.path("checkout").to_str().unwrap()]);
    let told = told(
        &stage,
        &[
            "for f in 1; do echo x > new.txt; git add new.txt; git -c user.email=a@b -c user.name=a \
             commit -qm inside; git branch side; echo y >> new.txt; git stash; done",
            "for f in 1; do git log --oneline -1; git branch; git stash list; git config --list; cat \
             $(git rev-parse --git-common-dir)/config; echo [x] >> $(git rev-parse \
             --git-common-dir)/config; done",
        ],
    );
    assert!(["inside", "  side", "stash@{0}"].iter().all(|sign| told.contains(sign)), "{told}");
    assert!(!told.contains("AUTHORIZATION") && told.contains("Read-only file system"), "{told}");
    let seen = stage.git_in("main", &["log", "--branches", "--format=%s"]);
    assert_eq!(seen.trim(), "first");
    assert!(!stage.git_in("checkout", &["status", "--porcelain"]).contains('A'));
}

/// What a filter of git's prints is what a script could read, whichever rule allows `git add`.
#[test]
fn git_itself_sees_no_credential_of_a_submodule_and_stops_no_later_command() {
    let policy = "version: 1\nrules: [{ allow: [read(**), edit(**), 'command(git add:*)', \
                  'command(git diff:*)', 'command(git worktree prune)'] }]\ncommands: { \
                  contained: allow }\n";
    let stage = Stage::with(&[("README.md", "hi\n"), (".locum/policy.yml", policy)]);
    stage.git(&["worktree", "add", "-q", stage.path("other").to_str().unwrap()]);
    let settings = format!("[http \"https://example.com/\"]\n\textraheader = {TOKEN}\n");
    stage.write("checkout/.git/modules/libs/s/config", &settings);
    stage.write("checkout/.git/modules/hooks/config", &settings);
    stage.write("checkout/.git/modules/hooks/credentials", TOKEN);
    let told = told(
        &stage,
        &[
            "for f in $(echo b); do git config filter.x.clean 'cat .git/modules/libs/s/config \
             .git/modules/hooks/c*'; echo \"$f \
             filter=x\" > .git/info/attributes; echo hi > $f; done",
            "git add b && git diff --cached b",
            "git worktree prune; git status",
            "for f in 1; do echo still works; done",
        ],
    );
    assert!(told.contains("+[http") && told.contains("still works"), "{told}");
    assert!(!told.contains("AUTHORIZATION"), "{told}");
}

/// Worktrees in the folder of a repository that has no files of its own, as many keep them.
#[test]
fn a_worktree_in_git_s_own_folder_is_written_and_those_beside_it_are_not_seen() {
    let policy =
        "version: 1\nrules: [{ allow: [read(**), edit(**)] }]\ncommands: { contained: allow }\n";
    let stage = Stage::with(&[("README.md", "hi\n"), (".locum/policy.yml", policy)]);
    let at = |name: &str| stage.path(name).to_str().unwrap().to_owned();
    stage.git(&["clone", "-q", "--bare", ".", &at("bare")]);
    for tree in ["bare/mine", "bare/other"] {
        stage.git_in("bare", &["worktree", "add", "-q", &at(tree)]);
    }
    stage.write("bare/other/.env", "TOKEN=of-another\n");
    std::fs::rename(stage.path("checkout"), stage.path("first")).unwrap();
    std::os::unix::fs::symlink(stage.path("bare/mine"), stage.path("checkout")).unwrap();
    let told = told(
        &stage,
        &[
            "for f in $(echo new); do echo x > $f.txt; cat ../other/.env; git log --oneline -1; done",
            "for f in $(echo .loc); do echo x >> ${f}um/policy.yml; done",
        ],
    );
    assert!(told.contains("Files changed: new.txt") && told.contains(" first"), "{told}");
    assert!(!told.contains("of-another") && told.contains("Read-only file system"), "{told}");
    assert!(stage.path("bare/mine/new.txt").exists());
}

#[test]
fn commands_that_ask_the_repository_s_compiler_run_code() {
    let stage = stage();
    stage.write("checkout/Cargo.toml", "[package]\nname = \"a\"\nedition = \"2021\"\n");
    let ran = stage.run(&["policy", "explain", "command(cargo metadata --offline)"]);
    assert!(ran.out.contains("runs code of the repository"), "{ran:?}");
    let refused = stage.run(&["policy", "explain", "edit(rust-toolchain.toml)"]);
    assert!(refused.out.contains("which program a tool's name starts"), "{refused:?}");
}

#[test]
fn an_edit_shows_nothing_of_a_file_that_may_not_be_read() {
    let write = |path: &str, content: &str| json!({ "tool": "write_to_file", "args": { "path": path, "content": content } });
    let calls = [
        json!({ "tool": "insert_content", "args": { "path": ".env", "line": 0, "content": "FOO=1" } }),
        json!({ "tool": "apply_patch", "args": { "patch": "*** Begin Patch\n*** Update File: .env\n@@\n+BAR=1\n*** End Patch" } }),
        json!({ "tool": "delete_file", "args": { "path": "server.pem" } }),
        write("config/private/plan.txt", "x\n"),
        write("hid/h.txt", "x\n"),
        // New ones, and others, are made.
        write("config/private/new.txt", "new\n"),
        write("src/new.rs", "new\n"),
    ];
    let turns: Vec<_> = calls
        .into_iter()
        .chain([json!({ "tool": "attempt_completion", "args": { "result": "r" } })])
        .map(|call| json!({ "calls": [call] }))
        .collect();
    let script = json!({ "version": 1, "tasks": [{ "turns": turns }] }).to_string();
    for stage in Stage::in_both_worlds(stage) {
        let ran = stage.play(&script, &["--mode", "code", "--output-format", "json"]);
        let report = ran.json();
        let refused: Vec<_> = report["refusals"]
            .as_array()
            .unwrap()
            .iter()
            .map(|refusal| refusal["call"].as_str().unwrap())
            .collect();
        let calls = [
            "edit .env",
            "edit .env",
            "delete server.pem",
            "write config/private/plan.txt",
            "write hid/h.txt",
        ];
        assert_eq!(refused, calls, "{report}");
        let shown = format!(
            "{ran:?}{}",
            stage.read(&format!("state/locum/sessions/{}/journal.jsonl", stage.sessions()[0]))
        );
        for hidden in ["disk-only-secret", "PEM-BODY", "launch-code-777", "HIDDEN-FOLDER"] {
            assert!(!shown.contains(hidden), "{hidden}: {shown}");
        }
        assert_eq!(stage.read("checkout/.env"), "DB_PASSWORD=disk-only-secret\n");
        assert_eq!(stage.read("checkout/config/private/new.txt"), "new\n");
        assert_eq!(stage.read("checkout/src/new.rs"), "new\n");
    }
}

#[test]
fn what_git_keeps_of_hidden_files_is_shown_by_no_tool_and_no_command() {
    let read = |path: &str| json!({ "tool": "read_file", "args": { "path": path } });
    let run = |command: &str| json!({ "tool": "execute_command", "args": { "command": command } });
    let calls = [
        read(".git/lfs/objects/ab/abcd"),
        read(".git/rebase-merge/patch"),
        json!({ "tool": "search_files", "args": { "path": ".git", "regex": "HIDDEN" } }),
        run("cat .git/lfs/objects/ab/abcd"),
        run("cp -r .git/lfs src/copy"),
        run("git log --oneline"),
        read(".git/HEAD"),
    ];
    let turns: Vec<_> = calls
        .into_iter()
        .chain([json!({ "tool": "attempt_completion", "args": { "result": "r" } })])
        .map(|call| json!({ "calls": [call] }))
        .collect();
    let script = json!({ "version": 1, "tasks": [{ "turns": turns }] }).to_string();
    let stage_of = || {
        let stage = stage();
        stage.write("checkout/.git/lfs/objects/ab/abcd", "HIDDEN-LFS\n");
        stage.write("checkout/.git/rebase-merge/patch", "HIDDEN-PATCH\n");
        stage
    };
    for stage in Stage::in_both_worlds(stage_of) {
        let ran = stage.play(&script, &["--mode", "code"]);
        let journal = format!("state/locum/sessions/{}/journal.jsonl", stage.sessions()[0]);
        let shown = format!("{ran:?}{}", stage.read(&journal));
        for hidden in ["HIDDEN-LFS", "HIDDEN-PATCH"] {
            assert!(!shown.contains(hidden), "{hidden}: {shown}");
        }
        let copied = ["src", "-type", "f", "-path", "*objects*"];
        let found = stage.plain("find").args(copied).current_dir(stage.path("checkout")).output();
        assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "", "{shown}");
        // Git itself shows what is not hidden.
        let answers = stage.answers();
        assert!(answers[5].1.contains("Exit code: 0"), "{:?}", answers[5]);
        assert!(answers[6].1.contains("ref: refs/heads/main"), "{:?}", answers[6]);
    }
}
