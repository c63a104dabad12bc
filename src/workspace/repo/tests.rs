//! Files, lists and names of commits.

use pretty_assertions::assert_eq;

use super::{CommitId, Repo, RepoError};
use crate::checkout::FileError;
use crate::fixture::{RepoFixture, path};
use locum_testing::repository;

#[test]
fn opens_the_repository_that_holds_a_folder() {
    let fixture = RepoFixture::new();
    let inner = Repo::open(&fixture.root.join("src")).unwrap();
    assert_eq!(inner.root(), fixture.root);
    assert_eq!(inner.branch().as_deref(), Some("main"));
}

#[test]
fn says_why_a_folder_cannot_be_worked_in() {
    let folder = tempfile::tempdir().unwrap();
    let error = |at: &std::path::Path| Repo::open(at).err().unwrap();
    assert!(matches!(error(folder.path()), RepoError::NotARepository(_)));
    assert!(matches!(error(&folder.path().join("none")), RepoError::NotARepository(_)));
    git2::Repository::init_bare(folder.path().join("bare")).unwrap();
    assert!(matches!(error(&folder.path().join("bare")), RepoError::Bare(_)));
    repository::init(&folder.path().join("empty"));
    let empty = Repo::open(&folder.path().join("empty")).unwrap();
    assert!(matches!(empty.commit_of("HEAD"), Err(RepoError::Empty)));
    assert_eq!(empty.branch().as_deref(), Some("main"));
    let elsewhere = repository::init(&folder.path().join("elsewhere"));
    elsewhere
        .config()
        .unwrap()
        .set_str("core.worktree", folder.path().join("empty").to_str().unwrap())
        .unwrap();
    assert!(matches!(error(&folder.path().join("elsewhere")), RepoError::NotARepository(_)));
}

#[test]
fn names_commits_by_revision() {
    let fixture = RepoFixture::new();
    for revision in ["HEAD", "main", "refs/heads/main", fixture.base.0.as_str()] {
        assert_eq!(fixture.repo.commit_of(revision).unwrap(), fixture.base, "{revision}");
    }
    for revision in ["none", "", "HEAD~1", "HEAD:src", "0000000000000000000000000000000000000000"] {
        assert!(
            matches!(fixture.repo.commit_of(revision), Err(RepoError::NoRevision(_))),
            "{revision}"
        );
    }
}

#[test]
fn knows_a_detached_head_and_a_second_worktree() {
    let fixture = RepoFixture::new();
    let second = fixture.root.parent().unwrap().join("second");
    fixture.repo.git.worktree("second", &second, None).unwrap();
    let repo = Repo::open(&second).unwrap();
    assert_eq!(
        (repo.branch().as_deref(), repo.commit_of("HEAD").unwrap()),
        (Some("second"), fixture.base.clone())
    );
    fixture.repo.git.set_head_detached(git2::Oid::from_str(&fixture.base.0).unwrap()).unwrap();
    assert_eq!(fixture.repo.branch(), None);
    assert_eq!(fixture.repo.commit_of("HEAD").unwrap(), fixture.base);
}

#[test]
fn reads_files_of_a_commit_not_of_the_checkout() {
    let fixture = RepoFixture::new();
    fixture.write("src/lib.rs", "changed");
    let text = |at: &str| {
        fixture.repo.file_at(&fixture.base, &path(at), 100).unwrap().map(|file| file.text)
    };
    assert_eq!(text("src/lib.rs").as_deref(), Some("one\ntwo\nthree\n"));
    assert_eq!(text("latin").as_deref(), Some("caf\u{fffd}\n"));
    for absent in ["none", "src", "link", "src/lib.rs/x"] {
        assert_eq!(text(absent), None, "{absent}");
    }
    let error = fixture.repo.file_at(&fixture.base, &path("src/lib.rs"), 13).unwrap_err();
    assert!(
        matches!(error, RepoError::File(FileError::TooLarge { size_bytes: 14, .. })),
        "{error}"
    );
    for commit in ["none", "1234"] {
        let error = fixture.repo.file_at(&CommitId(commit.into()), &path("latin"), 9).unwrap_err();
        assert!(matches!(error, RepoError::NoRevision(_)), "{error}");
    }
}

#[test]
fn lists_regular_files_of_a_commit_in_order() {
    let fixture = RepoFixture::new();
    fixture.write("src/a.b", "");
    fixture.write("src/a/b", "");
    let commit = CommitId(fixture.commit("second"));
    let list = |folder: &str, limit| {
        let found = fixture.repo.list_at(&commit, &path(folder), limit).unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        list(".", 100),
        [".gitignore", "latin", "old/only", "run.sh", "src/a.b", "src/a/b", "src/lib.rs"]
    );
    assert_eq!(list("src", 2), ["src/a.b", "src/a/b"]);
    assert_eq!(list("none", 9), Vec::<String>::new());
    assert_eq!(list("run.sh", 9), Vec::<String>::new());
}
