//! Commits and branches that are made for publication.

use pretty_assertions::assert_eq;

use crate::fixture::{RepoFixture, path, paths};
use crate::repo::{CommitId, NewCommit, RepoError};

fn commit(fixture: &RepoFixture, parent: &CommitId, content: &str) -> CommitId {
    fixture.write("new", content);
    let touched = paths(&["new", "latin"]);
    let author = ("Locum", "locum@example.org");
    fixture
        .repo
        .commit(&NewCommit {
            parent,
            touched: &touched,
            message: "subject\n\nbody\n\nKey: value\n",
            author,
        })
        .unwrap()
}

#[test]
fn commits_the_touched_files_and_moves_nothing() {
    let fixture = RepoFixture::new();
    fixture.remove("latin");
    fixture.write("src/lib.rs", "dirty, not touched by the run");
    let id = commit(&fixture, &fixture.base, "x");
    let listed: Vec<_> = fixture.repo.list_at(&id, &locum_base::path::RepoPath::root(), 9).unwrap();
    assert_eq!(
        listed.iter().map(|path| path.as_str()).collect::<Vec<_>>(),
        [".gitignore", "new", "old/only", "run.sh", "src/lib.rs"]
    );
    let made = fixture.repo.find(&id).unwrap();
    assert_eq!(made.message(), Ok("subject\n\nbody\n\nKey: value\n"));
    assert_eq!(made.author().email(), Ok("locum@example.org"));
    assert_eq!(CommitId::of(made.parent_id(0).unwrap()), fixture.base);
    assert_eq!(fixture.repo.changes(&id, &paths(&["new", "latin"])).unwrap(), []);
    assert_eq!(fixture.repo.commit_of("HEAD").unwrap(), fixture.base);
}

#[test]
fn keeps_line_ends_as_the_repository_has_them() {
    let fixture = RepoFixture::new();
    fixture.write(".gitattributes", "*.bat eol=crlf\n*.psd filter=lfs -text\n");
    fixture.write("run.bat", "one\ntwo\n");
    let parent = CommitId(fixture.commit("attributes"));
    fixture.write("run.bat", "one\r\n2\r\n");
    let changes = fixture.repo.changes(&parent, &paths(&["run.bat"])).unwrap();
    assert_eq!((changes[0].added, changes[0].removed), (1, 1), "{}", changes[0].patch);
    let author = ("a", "a@example.org");
    let touched = paths(&["run.bat"]);
    let id = fixture
        .repo
        .commit(&NewCommit { parent: &parent, touched: &touched, message: "m", author })
        .unwrap();
    assert_eq!(fixture.repo.file_at(&id, &path("run.bat"), 99).unwrap().unwrap().text, "one\n2\n");
    fixture.repo.restore(&parent, &touched).unwrap();
    assert!(
        fixture.tree().contains(&"run.bat: one\\r\\ntwo\\r\\n".to_owned()),
        "{:?}",
        fixture.tree()
    );
    fixture.write("a.psd", "x");
    let touched = paths(&["a.psd"]);
    let refused = fixture.repo.commit(&NewCommit {
        parent: &parent,
        touched: &touched,
        message: "m",
        author,
    });
    assert!(matches!(refused, Err(RepoError::Filtered { .. })), "{refused:?}");
}

#[test]
fn makes_branches_and_moves_them_forward_only() {
    let fixture = RepoFixture::new();
    let first = commit(&fixture, &fixture.base, "1");
    let second = commit(&fixture, &first, "2");
    let other = commit(&fixture, &fixture.base, "other");
    let tip = |name: &str| fixture.repo.commit_of(&format!("refs/heads/{name}")).unwrap();
    for (commit, expected) in [(&first, &first), (&first, &first), (&second, &second)] {
        fixture.repo.set_branch("locum/issue-1", commit).unwrap();
        assert_eq!(tip("locum/issue-1"), *expected);
    }
    for commit in [&other, &first] {
        assert!(matches!(
            fixture.repo.set_branch("locum/issue-1", commit),
            Err(RepoError::NotFastForward(_))
        ));
    }
    assert_eq!(tip("locum/issue-1"), second);
}

#[test]
fn never_moves_a_branch_below_its_files() {
    let fixture = RepoFixture::new();
    let second = fixture.root.parent().unwrap().join("second");
    fixture.repo.git.worktree("second", &second, None).unwrap();
    let id = commit(&fixture, &fixture.base, "1");
    for name in ["main", "second"] {
        assert!(
            matches!(fixture.repo.set_branch(name, &id), Err(RepoError::BranchInUse(_))),
            "{name}"
        );
    }
    for name in ["", "-x", "a b", "HEAD", "a..b", "x.lock"] {
        assert!(matches!(fixture.repo.set_branch(name, &id), Err(RepoError::BadName(_))), "{name}");
    }
}
