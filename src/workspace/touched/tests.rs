//! Snapshots before and after changes of all kinds.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;

use super::{Snapshot, changed_in_checkout, parse_status, repositories_in};
use crate::fixture::{RepoFixture, path};
use crate::git_binary::GitBinary;
use crate::repo::CommitId;
use locum_base::path::RepoPath;

fn env() -> BTreeMap<String, String> {
    BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
}

async fn touched_by(fixture: &RepoFixture, act: impl FnOnce(&RepoFixture)) -> Vec<String> {
    let git = GitBinary::new(&fixture.repo, &env());
    let before = fixture.repo.snapshot(&git).await.unwrap();
    act(fixture);
    let after = fixture.repo.snapshot(&git).await.unwrap();
    fixture.repo.touched(&before, &after).unwrap().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn sees_every_kind_of_change_and_no_other() {
    let fixture = RepoFixture::new();
    fixture.write("dirty", "mine");
    fixture.write("run.sh", "mine too");
    assert_eq!(touched_by(&fixture, |_| {}).await, Vec::<String>::new());
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("src/lib.rs", "changed");
        fixture.write("new folder/a b", "new");
        fixture.write("ignored/build", "never counts");
        fixture.remove("latin");
        fixture.remove("link");
        fixture.link("latin", "link");
        std::fs::rename(fixture.root.join("old/only"), fixture.root.join("moved")).unwrap();
    });
    assert_eq!(
        touched.await,
        ["latin", "link", "moved", "new folder/a b", "old/only", "src/lib.rs"]
    );
}

#[tokio::test]
async fn what_was_ignored_does_not_count_when_it_is_ignored_no_longer() {
    let fixture = RepoFixture::new();
    for file in ["ignored/build", "mine.log"] {
        fixture.write(file, "not the command's");
    }
    fixture.write(".gitignore", "ignored/\n*.log\n");
    let touched = touched_by(&fixture, |fixture| {
        fixture.write(".gitignore", "");
        fixture.write("new.log", "");
    });
    assert_eq!(touched.await, [".gitignore", "new.log"]);
}

#[tokio::test]
async fn sees_new_and_changed_protected_files_though_git_ignores_them() {
    let fixture = RepoFixture::new();
    let ignored = "ignored/\nCLAUDE.local.md\n.vscode/\n.envrc\nbuilt/\n.venv/\n";
    fixture.write(".gitignore", ignored);
    fixture.write("ignored/AGENTS.md", "build output");
    fixture.write(".venv/bin/python", "a tool's");
    for file in ["old/CLAUDE.local.md", "old/.vscode/tasks.json", "CLAUDE.local.md", ".envrc"] {
        fixture.write(file, "a person's");
    }
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("old/CLAUDE.local.md", "planted");
        fixture.write("old/.vscode/launch.json", "planted");
        fixture.remove("old/.vscode/tasks.json");
        fixture.write("CLAUDE.local.md", "a person's");
        fixture.write(".venv/bin/python", "a tool's, changed");
        fixture.write("ignored/AGENTS.md", "build output, changed");
        fixture.write("ignored/deep/CLAUDE.md", "build output");
        fixture.write("src/built/pkg/AGENTS.md", "build output");
        for file in ["src/CLAUDE.local.md", "src/.vscode/tasks.json", "src/.envrc", "x.log"] {
            fixture.write(file, "planted");
        }
        fixture.write("sub/.gitignore", "*\n");
        for file in ["sub/AGENTS.md", "sub/deep/er/CLAUDE.md", "sub/deep/harmless"] {
            fixture.write(file, "planted");
        }
    });
    assert_eq!(
        touched.await,
        [
            "old/.vscode/launch.json",
            "old/.vscode/tasks.json",
            "old/CLAUDE.local.md",
            "src/.envrc",
            "src/.vscode/tasks.json",
            "src/CLAUDE.local.md",
            "sub/AGENTS.md",
            "sub/deep/er/CLAUDE.md",
            "x.log",
        ]
    );
}

#[tokio::test]
async fn puts_protected_files_back_that_git_ignores() {
    let fixture = RepoFixture::new();
    fixture.write(".gitignore", "*.local.md\n.claude/\n");
    fixture.write("src/CLAUDE.local.md", "mine");
    fixture.set_mode("src/CLAUDE.local.md", 0o600);
    fixture.write("src/.claude/settings.local.json", "{}");
    let git = GitBinary::new(&fixture.repo, &env());
    let before = fixture.repo.snapshot(&git).await.unwrap();
    fixture.remove("src/CLAUDE.local.md");
    fixture.write("src/.claude/settings.local.json", "{\"hooks\": {}}");
    for file in ["src/CLAUDE.local.md", "src/.claude/settings.local.json"] {
        assert!(before.keeps(&path(file)) && before.is_dirty(&path(file)), "{file}");
        assert!(fixture.repo.put_back(&before, &path(file)).unwrap(), "{file}");
    }
    assert!(!fixture.repo.put_back(&before, &path("src/lib.rs")).unwrap());
    let facts = std::fs::metadata(fixture.root.join("src/CLAUDE.local.md")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&facts.permissions());
    assert_eq!((facts.len(), mode & 0o777), (4, 0o600));
    let after = fixture.repo.snapshot(&git).await.unwrap();
    assert_eq!(fixture.repo.touched(&before, &after).unwrap(), [].into());
}

fn nest(fixture: &RepoFixture, folder: &str) {
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", "[core]\n\tbare = false\n"),
        ("objects/x", ""),
        ("refs/heads/x", ""),
    ] {
        fixture.write(&format!("{folder}/.git/{file}"), text);
    }
}

#[tokio::test]
async fn sees_git_folders_that_a_command_leaves_and_every_file_beside_them() {
    let fixture = RepoFixture::new();
    fixture.write(".gitignore", "target/\n*.log\n");
    fixture.write("target/x", "built");
    nest(&fixture, "theirs");
    fixture.write("theirs/a", "a person's");
    fixture.write("theirs/b", "a person's");
    fixture.write("lib/.git", "gitdir: ../.git/modules/lib\n");
    let touched = touched_by(&fixture, |fixture| {
        nest(fixture, "src");
        nest(fixture, "inner/deep");
        nest(fixture, "target");
        nest(fixture, "target/build/dependency");
        for file in ["inner/deep/no/f", "inner/deep/AGENTS.md", "inner/deep/x.log", "theirs/a"] {
            fixture.write(file, "planted");
        }
        fixture.write("old/.git", "gitdir: ../elsewhere\n");
        fixture.write("bare/.git/config", "not a repository, and yet");
    });
    assert_eq!(
        touched.await,
        [
            "bare/.git",
            "inner/deep/.git",
            "inner/deep/AGENTS.md",
            "inner/deep/no/f",
            "old/.git",
            "src/.git",
            "target/.git",
        ]
    );
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("theirs/.git/config", "[core]\n\tfsmonitor = x\n");
        fixture.write("theirs/.git/hooks/post-commit", "x");
        fixture.write("theirs/.git/HEAD", "ref: refs/heads/other\n");
        fixture.write("lib/.git", "gitdir: ../elsewhere\n");
    });
    assert_eq!(touched.await, ["lib/.git", "theirs/.git/config", "theirs/.git/hooks/post-commit"]);
}

#[tokio::test]
async fn takes_git_folders_back_as_a_whole() {
    let fixture = RepoFixture::new();
    let git = GitBinary::new(&fixture.repo, &env());
    nest(&fixture, "theirs");
    let before = fixture.repo.snapshot(&git).await.unwrap();
    nest(&fixture, "src");
    fixture.write("old/.git", "gitdir: x\n");
    fixture.write("src/new", "stays");
    let after = fixture.repo.snapshot(&git).await.unwrap();
    let touched = fixture.repo.touched(&before, &after).unwrap();
    assert_eq!(touched, ["old/.git", "src/.git", "src/new"].map(path).into());
    assert!(before.is_dirty(&path("theirs/.git/config")) && !before.is_dirty(&path("src/.git")));
    let kept = tempfile::tempdir().unwrap();
    let taken = ["old/.git", "src/.git"].map(path).into();
    fixture.repo.take_back(&fixture.base, &taken, kept.path()).unwrap();
    let there = |file: &str| fixture.root.join(file).exists();
    assert_eq!(
        ["src/.git", "old/.git", "src/new", "old/only", "theirs/.git/HEAD"].map(there),
        [false, false, true, true, true]
    );
    let copy = kept.path().join("src/git-data-1");
    assert!(copy.join("config").exists() && !copy.join("HEAD").exists());
    let root = ["src/lib.rs", ".git"].map(path).into();
    assert!(fixture.repo.take_back(&fixture.base, &root, kept.path()).is_err());
    assert!(there(".git/HEAD"));
}

#[test]
fn git_data_for_which_there_is_no_place_stays_where_it_is_and_that_is_an_error() {
    let fixture = RepoFixture::new();
    nest(&fixture, "src");
    let taken = [path("src/.git")].into();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| outside.path().join(name);
    std::fs::write(at("file"), "x").unwrap();
    for count in 1..=99 {
        std::fs::create_dir_all(at(&format!("full/src/git-data-{count}"))).unwrap();
    }
    for kept in ["file", "file/below", "full"] {
        let back = fixture.repo.take_back(&fixture.base, &taken, &at(kept));
        assert!(back.is_err(), "{kept}");
        for file in ["HEAD", "config", "objects/x", "refs/heads/x"] {
            assert!(fixture.root.join("src/.git").join(file).exists(), "{kept}: {file}");
        }
    }
    std::fs::remove_dir(at("full/src/git-data-99")).unwrap();
    fixture.repo.take_back(&fixture.base, &taken, &at("full")).unwrap();
    assert!(!fixture.root.join("src/.git").exists());
    assert!(at("full/src/git-data-99/config").exists());
}

#[tokio::test]
async fn sees_changes_that_git_was_told_not_to_look_for() {
    let fixture = RepoFixture::new();
    let mut index = fixture.repo.git.index().unwrap();
    let mut flagged = |file: &str, valid: bool| {
        let mut entry = index.get_path(std::path::Path::new(file), 0).unwrap();
        if valid {
            entry.flags |= 1 << 15
        } else {
            entry.flags_extended |= 1 << 14
        }
        index.add(&entry).unwrap();
    };
    for (file, valid) in
        [("src/lib.rs", true), ("run.sh", true), ("latin", false), ("old/only", true)]
    {
        flagged(file, valid);
    }
    index.write().unwrap();
    fixture.remove("latin");
    fixture.write("run.sh", "a person's");
    let before = fixture.repo.snapshot(&GitBinary::new(&fixture.repo, &env())).await.unwrap();
    assert_eq!(before.dirty().collect::<Vec<_>>(), [&path("run.sh")]);
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("src/lib.rs", "changed");
        fixture.write("latin", "here again");
    });
    assert_eq!(touched.await, ["latin", "src/lib.rs"]);
}

#[tokio::test]
async fn an_index_that_only_git_reads_is_no_reason_to_stop() {
    let fixture = RepoFixture::new();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let output = command.args(arguments).current_dir(&fixture.root).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["update-index", "--split-index"]);
    let touched = touched_by(&fixture, |fixture| fixture.write("src/lib.rs", "changed"));
    assert_eq!(touched.await, ["src/lib.rs"]);
}

#[tokio::test]
async fn sees_changes_of_files_that_were_dirty_before() {
    let fixture = RepoFixture::new();
    for file in ["a", "b", "c", "d"] {
        fixture.write(file, "mine");
    }
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("a", "same");
        fixture.set_mode("b", 0o755);
        fixture.remove("c");
    });
    assert_eq!(touched.await, ["a", "b", "c"]);
}

#[tokio::test]
async fn line_ends_that_a_checkout_gives_a_file_are_no_change_of_it() {
    let fixture = RepoFixture::new();
    fixture.write(".gitattributes", "*.txt text eol=crlf\n");
    for file in ["a.txt", "b.txt", "plain"] {
        fixture.write(file, "a\nb\n");
    }
    fixture.commit("line ends");
    for file in ["a.txt", "b.txt", "plain"] {
        fixture.write(file, "a\r\nb\r\n");
    }
    let before = fixture.repo.snapshot(&GitBinary::new(&fixture.repo, &env())).await.unwrap();
    assert_eq!(before.dirty().collect::<Vec<_>>(), [&path("plain")]);
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("a.txt", "evil\r\n");
        fixture.write("b.txt", "a\nb\n");
    });
    assert_eq!(touched.await, ["a.txt"]);
}

#[tokio::test]
async fn sees_what_was_committed_meanwhile() {
    let fixture = RepoFixture::new();
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("src/lib.rs", "changed");
        fixture.write("new", "new");
        fixture.remove("old/only");
        let mut index = fixture.repo.git.index().unwrap();
        index.remove_path(std::path::Path::new("old/only")).unwrap();
        index.write().unwrap();
        fixture.commit("by a command");
    });
    assert_eq!(touched.await, ["new", "old/only", "src/lib.rs"]);
}

#[tokio::test]
async fn files_of_a_repository_that_was_there_before_are_left_to_it() {
    let fixture = RepoFixture::new();
    for (file, text) in [("clone/.git/HEAD", "ref: refs/heads/main\n"), ("clone/f", "f")] {
        fixture.write(file, text);
    }
    // The files of `src` are tracked, whatever lies beside them.
    fixture.write("src/.git", "gitdir: elsewhere\n");
    std::fs::create_dir_all(fixture.root.join("clone/.git/objects")).unwrap();
    std::fs::create_dir_all(fixture.root.join("clone/.git/refs")).unwrap();
    let touched = touched_by(&fixture, |fixture| {
        fixture.write("clone/f", "changed");
        fixture.write("clone/new", "new");
        fixture.write("src/lib.rs", "changed");
        fixture.write("new/.git/HEAD", "ref: refs/heads/main\n");
        fixture.write("new/f", "f");
    });
    let touched = touched.await;
    assert!(!touched.iter().any(|path| path.starts_with("clone/")), "{touched:?}");
    for path in ["new/.git", "new/f", "src/lib.rs"] {
        assert!(touched.iter().any(|one| one == path), "{path}: {touched:?}");
    }
}

#[tokio::test]
async fn looks_without_writing_the_index() {
    let fixture = RepoFixture::new();
    let index = fixture.root.join(".git/index");
    fixture.write("src/lib.rs", "one\ntwo\nthree\n");
    let before = std::fs::read(&index).unwrap();
    assert_eq!(touched_by(&fixture, |_| {}).await, Vec::<String>::new());
    assert_eq!(std::fs::read(&index).unwrap(), before);
}

#[test]
fn reads_gits_entries() {
    let status = b"# branch.oid 1234\0# branch.head main\0\
        1 .M N... 100644 100644 100644 aaaa bbbb a b\0\
        u UU N... 100644 100644 100644 100644 a b c both\0\
        1 MM N... 100644 100644 100644 aaaa bbbb staged\0\
        ? new\xff\0? new 2\0? inner/\0! ignored\0! built/\0";
    let parsed = parse_status(status);
    assert_eq!(repositories_in(status), [path("inner")].into());
    assert_eq!(parsed.ignored, ["ignored", "built"].map(path).into());
    let paths: Vec<RepoPath> = parsed.dirty.keys().cloned().collect();
    assert_eq!(
        (parsed.head, paths),
        (Some(CommitId("1234".into())), ["a b", "both", "new 2", "staged"].map(path).to_vec())
    );
    assert_eq!(changed_in_checkout(status), [path("a b")]);
    assert_eq!(parse_status(b"# branch.oid (initial)\0"), Snapshot::default());
}
