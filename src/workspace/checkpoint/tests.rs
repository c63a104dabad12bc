//! Checkpoints, and the way back to one.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use pretty_assertions::assert_eq;

use crate::fixture::{RepoFixture, paths};
use crate::repo::{CommitId, RepoError};

/// Changes of every kind, and the paths they touch.
fn change(fixture: &RepoFixture) -> std::collections::BTreeSet<locum_base::path::RepoPath> {
    fixture.write("src/lib.rs", "one\n2\nthree");
    fixture.write("deep/er/new", b"\xff\x00");
    fixture.write("tool", "x");
    fixture.set_mode("tool", 0o755);
    fixture.set_mode("run.sh", 0o644);
    fixture.remove("latin");
    fixture.remove("old/only");
    fixture.remove("link");
    fixture.link("run.sh", "link");
    paths(&[
        "src/lib.rs",
        "deep/er/new",
        "tool",
        "run.sh",
        "latin",
        "old/only",
        "link",
        "never/there",
    ])
}

#[test]
fn brings_every_kind_of_change_back_both_ways() {
    let fixture = RepoFixture::new();
    let before = fixture.tree();
    let touched = change(&fixture);
    let after = fixture.tree();
    let checkpoint = fixture.repo.checkpoint("s1", &fixture.base, &touched, "all").unwrap();
    fixture.repo.restore(&fixture.base, &touched).unwrap();
    assert_eq!(fixture.tree(), before);
    fixture.repo.restore(&checkpoint, &touched).unwrap();
    let after_without_empty_folder: Vec<_> =
        after.into_iter().filter(|line| line != "old/").collect();
    assert_eq!(fixture.tree(), after_without_empty_folder);
}

#[test]
fn leaves_files_alone_that_are_not_touched_or_not_different() {
    let fixture = RepoFixture::new();
    fixture.write("run.sh", "mine, not committed");
    fixture.write("untracked", "mine");
    let same = std::fs::metadata(fixture.root.join("src/lib.rs")).unwrap();
    let checkpoint = fixture
        .repo
        .checkpoint("s1", &fixture.base, &paths(&["src/lib.rs", "new"]), "none")
        .unwrap();
    assert_eq!(checkpoint, fixture.base);
    fixture.write("new", "x");
    let checkpoint = fixture
        .repo
        .checkpoint("s1", &fixture.base, &paths(&["src/lib.rs", "new"]), "new")
        .unwrap();
    let listed: Vec<_> = fixture
        .repo
        .list_at(&checkpoint, &locum_base::path::RepoPath::root(), 99)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(listed, [".gitignore", "latin", "new", "old/only", "run.sh", "src/lib.rs"]);
    let committed =
        fixture.repo.file_at(&checkpoint, &crate::fixture::path("run.sh"), 99).unwrap().unwrap();
    assert_eq!(committed.text, "#!/bin/sh\n");
    fixture.repo.restore(&fixture.base, &paths(&["src/lib.rs", "new"])).unwrap();
    assert_eq!(
        std::fs::metadata(fixture.root.join("src/lib.rs")).unwrap().modified().unwrap(),
        same.modified().unwrap()
    );
    let tree = fixture.tree();
    assert!(
        tree.contains(&"untracked: mine".to_owned())
            && tree.contains(&"run.sh*: mine, not committed".to_owned()),
        "{tree:?}"
    );
}

#[test]
fn makes_a_chain_and_touches_no_branch() {
    let fixture = RepoFixture::new();
    let mut made: Vec<CommitId> = Vec::new();
    for label in ["one", "two", "two again", "three"] {
        fixture.write("file", label.split(' ').next().unwrap());
        made.push(fixture.repo.checkpoint("s1", &fixture.base, &paths(&["file"]), label).unwrap());
    }
    let listed = fixture.repo.checkpoints("s1", &fixture.base, 9).unwrap();
    let expected = [(3, "three"), (1, "two"), (0, "one")]
        .map(|(at, label): (usize, &str)| (made[at].clone(), label.to_owned()));
    assert_eq!((listed.as_slice(), &made[2]), (expected.as_slice(), &made[1]));
    assert_eq!(fixture.repo.checkpoints("s1", &fixture.base, 1).unwrap(), expected[..1]);
    assert_eq!(fixture.repo.checkpoints("other", &fixture.base, 9).unwrap(), []);
    assert_eq!(fixture.repo.commit_of("main").unwrap(), fixture.base);
    assert!(fixture.repo.git.index().unwrap().get_path(std::path::Path::new("file"), 0).is_none());
}

#[test]
fn exchanges_files_and_folders() {
    let fixture = RepoFixture::new();
    let before = fixture.tree();
    fixture.remove("latin");
    fixture.write("latin/inner", "folder now");
    fixture.remove("old/only");
    std::fs::remove_dir(fixture.root.join("old")).unwrap();
    fixture.write("old", "file now");
    let touched = paths(&["latin", "latin/inner", "old", "old/only"]);
    let after = fixture.tree();
    let checkpoint = fixture.repo.checkpoint("s1", &fixture.base, &touched, "swap").unwrap();
    fixture.repo.restore(&fixture.base, &touched).unwrap();
    assert_eq!(fixture.tree(), before);
    fixture.repo.restore(&checkpoint, &touched).unwrap();
    assert_eq!(fixture.tree(), after);
}

#[test]
fn never_follows_a_folder_that_became_a_link() {
    let fixture = RepoFixture::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("lib.rs"), "theirs").unwrap();
    let before = fixture.tree();
    fixture.remove("src/lib.rs");
    std::fs::remove_dir(fixture.root.join("src")).unwrap();
    fixture.link(outside.path().to_str().unwrap(), "src");
    let touched = paths(&["src", "src/lib.rs"]);
    let checkpoint = fixture.repo.checkpoint("s1", &fixture.base, &touched, "link").unwrap();
    assert!(
        fixture
            .repo
            .file_at(&checkpoint, &crate::fixture::path("src/lib.rs"), 99)
            .unwrap()
            .is_none()
    );
    fixture.repo.restore(&fixture.base, &touched).unwrap();
    assert_eq!(fixture.tree(), before);
    assert_eq!(std::fs::read_to_string(outside.path().join("lib.rs")).unwrap(), "theirs");
}

#[test]
fn refuses_a_session_that_is_no_name() {
    let fixture = RepoFixture::new();
    for session in ["", "a b", "../heads/main", "a..b"] {
        let error =
            fixture.repo.checkpoint(session, &fixture.base, &paths(&["x"]), "x").unwrap_err();
        assert!(matches!(error, RepoError::BadName(_)), "{session}: {error}");
    }
}

#[test]
fn a_submodule_stays_what_it_is_whatever_lies_below_it() {
    let fixture = RepoFixture::new();
    let base = fixture.commit_submodule("vendor/sub");
    fixture.write("vendor/sub/file", "of another repository");
    fixture.write("vendor/own", "of this one");
    let touched = paths(&["vendor/sub/file", "vendor/own"]);
    let checkpoint = fixture.repo.checkpoint("s1", &base, &touched, "all").unwrap();
    let tree = fixture.repo.find(&checkpoint).unwrap().tree().unwrap();
    let kind =
        |at: &str| tree.get_path(std::path::Path::new(at)).map(|entry| entry.filemode()).ok();
    assert_eq!(kind("vendor/sub"), Some(git2::FileMode::Commit.into()));
    assert_eq!(kind("vendor/sub/file"), None);
    assert_eq!(kind("vendor/own"), Some(git2::FileMode::Blob.into()));
}
