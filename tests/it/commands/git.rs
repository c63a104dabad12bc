//! Git, in whatever way it is started: it starts nothing itself, looks at no other repository,
//! shows nothing that is hidden.

use std::path::Path;
use std::process::Command;

use crate::commands::run::{policy, run};

/// A repository that would run `CANARY` at every turn, and has files that are hidden, protected,
/// and neither.
struct Trap {
    folder: tempfile::TempDir,
}

impl Trap {
    fn new() -> Self {
        let trap = Self { folder: tempfile::tempdir().unwrap() };
        let root = trap.root();
        trap.git(".", &["init", "-q", "-b", "main"]);
        for (file, text) in [
            (".gitattributes", "*.txt filter=evil diff=evil merge=evil\n"),
            ("open.txt", "open one\n"),
            (".env", "SECRET=protected\n"),
            ("conf/key.txt", "SECRET hidden\n"),
            ("conf/open.txt", "open two\n"),
            ("sub/deep.secret", "SECRET deep\n"),
        ] {
            write(&root.join(file), text);
        }
        trap.git(".", &["add", "-f", "."]);
        trap.git(".", &["commit", "-q", "-m", "one"]);
        for (file, text) in [
            ("open.txt", "open three\n"),
            (".env", "SECRET=changed\n"),
            ("conf/key.txt", "SECRET changed\n"),
            ("sub/deep.secret", "SECRET more\n"),
        ] {
            write(&root.join(file), text);
        }
        trap.git(".", &["add", "-f", "."]);
        trap.git(".", &["commit", "-q", "-m", "two"]);
        write(&root.join("open.txt"), "open four\n");
        write(&root.join("conf/key.txt"), "SECRET four\n");
        write(&root.join(".env"), "SECRET=four\n");
        let evil = root.join("evil.sh");
        write(
            &evil,
            "#!/bin/sh\necho \"$0 $*\" >> \"$(dirname \"$0\")/CANARY\"\ncat 2>/dev/null\n",
        );
        std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        std::fs::create_dir(root.join("nested")).unwrap();
        trap.git("nested", &["init", "-q"]);
        let evil = evil.display().to_string();
        for folder in [".", "nested"] {
            for (key, value) in [
                ("core.fsmonitor", evil.clone()),
                ("core.pager", evil.clone()),
                ("pager.log", evil.clone()),
                ("pager.status", "true".to_owned()),
                ("diff.external", evil.clone()),
                ("diff.evil.command", evil.clone()),
                ("diff.evil.textconv", evil.clone()),
                ("filter.evil.clean", evil.clone()),
                ("filter.evil.smudge", evil.clone()),
                ("core.editor", evil.clone()),
                ("gpg.program", evil.clone()),
                ("log.showSignature", "true".to_owned()),
                ("alias.st", format!("!{evil}")),
                ("alias.status", format!("!{evil}")),
                ("core.hooksPath", root.join("hooks").display().to_string()),
            ] {
                trap.git(folder, &["config", key, &value]);
            }
        }
        for hook in [
            "pre-commit",
            "post-index-change",
            "post-checkout",
            "reference-transaction",
            "fsmonitor-watchman",
        ] {
            let hook = root.join("hooks").join(hook);
            write(&hook, &format!("#!/bin/sh\n{evil} hook\n"));
            std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
        }
        trap
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn git(&self, folder: &str, words: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
            .args(words)
            .current_dir(self.root().join(folder))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Returns what was started, and forgets it.
    fn started(&self) -> Option<String> {
        let canary = self.root().join("CANARY");
        let text = std::fs::read_to_string(&canary).ok();
        let _ = std::fs::remove_file(canary);
        text
    }

    /// Makes git look at the files again.
    fn touch(&self) {
        let text = std::fs::read_to_string(self.root().join("open.txt")).unwrap();
        write(&self.root().join("open.txt"), &format!("{text}more\n"));
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn nothing_that_a_repository_configures_is_started() {
    let trap = Trap::new();
    for plain in ["git status", "git diff", "git log -p -1", "git st"] {
        trap.touch();
        let _ = Command::new("sh")
            .args(["-c", plain])
            .current_dir(trap.root())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output();
        assert!(trap.started().is_some(), "`{plain}` is harmless by itself: the trap is none");
    }
    let policy = policy(
        &[
            "read(**)",
            "command(git status:*)",
            "command(git diff:*)",
            "command(git log:*)",
            "command(git show:*)",
            "command(git blame:*)",
            "command(git commit:*)",
            "command(git add:*)",
            "command(git grep:*)",
            "command(git stash list)",
            "command-prefix(git)",
            "command(cat:*)",
            "command(echo:*)",
            "command(xargs git diff HEAD)",
            "command(env git status)",
            "command(sh -c 'git status; git diff')",
            "command-prefix(for)",
            "command-prefix(if)",
            "script(for verb in status diff; do git $verb; done)",
            "edit(**)",
        ],
        ", expansions: allow, edits: checkout",
        "",
    );
    for folder in [".", "nested", "sub"] {
        for script in [
            "git status",
            "git status --short",
            "git diff",
            "git diff HEAD~1",
            "git log -p",
            "git log --format='%h %G? %GS'",
            "git show",
            "git show HEAD:open.txt",
            "git blame HEAD~1 -- open.txt",
            "git grep open",
            "git stash list",
            "git diff | cat",
            "git status && git diff",
            "(git status; git log -p) | cat",
            "if git diff; then git status; fi",
            "echo $(git diff)",
            "echo \"`git status`\"",
            "for x in a b; do git diff; done",
            "echo $HOME; git status",
            "git diff ./*.txt",
            "for verb in status diff; do git $verb; done",
            "echo a | xargs git diff HEAD",
            "env git status",
            "sh -c 'git status; git diff'",
        ] {
            trap.touch();
            let ran = run(&policy, &trap.root(), folder, script);
            assert!(ran.is_ok() || folder != ".", "{script}: {ran:?}");
            assert_eq!(trap.started(), None, "in {folder}: {script}: {ran:?}");
        }
    }
    for script in ["git st", "echo $(git st)", "git frob x"] {
        assert!(run(&policy, &trap.root(), ".", script).is_err(), "{script}");
    }
    let ran = run(&policy, &trap.root(), "nested", "git log --format=%s -1").unwrap();
    assert_eq!(ran, "two\n", "a repository inside is not the repository");
}

#[test]
fn what_is_hidden_or_protected_is_not_shown_by_what_goes_through_folders() {
    let trap = Trap::new();
    let policy = policy(
        &[
            "read(**)",
            "command(git:*)",
            "command-prefix(git)",
            "command(grep:*)",
            "command(rg:*)",
            "command(cat:*)",
            "command(echo:*)",
            "command-prefix(for)",
        ],
        ", expansions: allow",
        "/conf/key.txt\n*.secret\n",
    );
    let blob = {
        let output = Command::new("git")
            .args(["rev-parse", "HEAD:.env"])
            .current_dir(trap.root())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let number = format!("git show {blob}");
    let short = format!("git show {}", &blob[..7]);
    let range = format!("git diff {blob}..{blob}");
    let pair = format!("git diff HEAD {blob}");
    let grepped = format!("git grep SECRET {blob}");
    let typed = format!("git cat-file -p {blob}");
    let blobbed = format!("git cat-file blob {blob}");
    let spelled: Vec<String> = ["^{}", "^{blob}", "^{object}"]
        .iter()
        .flat_map(|ending| ["git show", "git cat-file -p"].map(|git| (git, ending)))
        .map(|(git, ending)| format!("{git} '{blob}{ending}'"))
        .chain([
            format!("git show x-1-g{}", &blob[..12]),
            format!("git cat-file -p x-1-g{}", &blob[..12]),
            "git grep . 'HEAD^{tree}'".to_owned(),
            "git diff-tree -r -p 'HEAD~1^{tree}' 'HEAD^{tree}'".to_owned(),
        ])
        .collect();
    let shown = [
        ("git diff", "open four"),
        ("git diff HEAD~1", "open four"),
        ("git diff HEAD~1 HEAD", "open three"),
        ("git diff HEAD~1..HEAD -- .", "open three"),
        ("git diff HEAD -- ':(top)*'", "open four"),
        ("git diff -- '*'", "open four"),
        ("git log -p", "open three"),
        ("git log -p --all -- .", "open three"),
        ("git log -U0 -1", "open three"),
        ("git log --stat", "open.txt"),
        ("git show", "open three"),
        ("git show HEAD~1", "open two"),
        ("git show HEAD HEAD~1 --", "open two"),
        ("git grep -n e", "open two"),
        ("git grep e HEAD", "open three"),
        ("git grep -e e -- '*'", "open two"),
        ("git diff-tree -p HEAD", "open three"),
        ("git diff | cat", "open four"),
        ("echo \"$(git diff)\"", "open four"),
        ("for x in a; do git log -p; done", "open three"),
        ("git status --short", "open.txt"),
        ("git ls-files", "open.txt"),
        ("grep -r e conf sub open.txt", "open two"),
        ("grep -rn e conf | cat", "open two"),
        ("echo x; grep -r e conf; echo $HOME", "open two"),
    ];
    let seen = |text: &str| {
        text.contains("SECRET")
            || text.contains(".env")
            || text.contains("key.txt")
            || text.contains("deep.secret")
    };
    for (script, wanted) in shown {
        let ran =
            run(&policy, &trap.root(), ".", script).unwrap_or_else(|why| panic!("{script}: {why}"));
        assert!(ran.contains(wanted) && !seen(&ran), "{script}: {ran}");
    }
    let in_folder = run(&policy, &trap.root(), "conf", "git diff HEAD~1 -- .")
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(!seen(&in_folder), "{in_folder}");
    for script in [
        "git show HEAD:.env",
        "git show 'HEAD@{2030-01-01 00:00}:.env'",
        "git show 'HEAD^{/tw: o}:.env' 'HEAD^{/two}:.env'",
        "git cat-file -p 'HEAD@{10:00}:.env'",
        "git show 'HEAD@{10:00}:conf/key.txt'",
        "git grep . 'HEAD@{10:00}:conf'",
        "git log -p --follow -- '*.env'",
        "git log -p --follow -- '*.en?'",
        "git show :0:.env",
        "git show :.env",
        "git show HEAD:./.env",
        "git show HEAD:conf/key.txt",
        "git diff HEAD:conf HEAD~1:conf",
        "git grep SECRET HEAD:conf",
        "git log -L1,1:.env",
        "git log -L 1,1:conf/key.txt",
        "git log -L:x:.env",
        "git blame .env",
        "git blame -- conf/key.txt",
        "git diff -- ':(top).env'",
        "git diff -- :/.env",
        "git diff --no-index /dev/null .env",
        "git cat-file -p HEAD:.env",
        "git cat-file --batch",
        "git log -p --follow -- .env",
        "git log -p --follow -- sub",
        "git archive HEAD",
        "cat .env",
        "cat conf/*.txt",
        "cat sub/*.secret",
        "echo $HOME; cat *.env",
        "grep -f .env x",
        "grep e -r .",
        &number,
        &short,
        &range,
        &pair,
        &grepped,
        &typed,
        &blobbed,
    ]
    .into_iter()
    .chain(spelled.iter().map(String::as_str))
    {
        if let Ok(text) = run(&policy, &trap.root(), ".", script) {
            assert!(!seen(&text), "{script}: {text}");
        }
    }
    let commit = run(&policy, &trap.root(), ".", "git log -1 --format=%h").unwrap();
    let ran = run(&policy, &trap.root(), ".", &format!("git show --stat {commit}")).unwrap();
    assert!(ran.contains("open.txt") && !seen(&ran), "{ran}");
}
