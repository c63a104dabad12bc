//! Updates of a checkout, what stands in their way, and the way back.

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;

use pretty_assertions::assert_eq;

use super::{CheckoutUpdate, Obstacle};
use crate::fixture::{RepoFixture, path, paths};
use crate::repo::CommitId;
use locum_base::path::RepoPath;

/// A checkout as its first commit has it, and a later commit to update it to.
struct Later {
    fixture: RepoFixture,
    after: CommitId,
    paths: BTreeSet<RepoPath>,
}

impl Later {
    fn new(touched: &[&str], change: impl FnOnce(&RepoFixture)) -> Self {
        let (fixture, paths) = (RepoFixture::new(), paths(touched));
        change(&fixture);
        let after = fixture.repo.checkpoint("later", &fixture.base, &paths, "later").unwrap();
        fixture.repo.restore(&fixture.base, &paths).unwrap();
        Self { fixture, after, paths }
    }

    /// Two changed files, one of them a link before, one that is gone, and two new ones.
    fn of_every_kind() -> Self {
        Self::new(&["latin", "link", "old/only", "new/x", "zz"], |fixture| {
            fixture.write("latin", "changed\n");
            fixture.remove("link");
            fixture.write("link", "a file\n");
            fixture.remove("old/only");
            fixture.write("new/x", "x\n");
            fixture.write("zz", "z\n");
        })
    }

    fn update(&self) -> Option<Obstacle> {
        let Self { fixture, after, paths } = self;
        let update = CheckoutUpdate { before: &fixture.base, after, paths };
        fixture.repo.update_checkout(&update).unwrap()
    }

    fn obstacles(&self) -> Vec<String> {
        let Self { fixture, after, paths } = self;
        let update = CheckoutUpdate { before: &fixture.base, after, paths };
        let found = fixture.repo.obstacles(&update).unwrap();
        found.into_iter().map(|Obstacle { path, what }| format!("{path}: {what}")).collect()
    }

    fn make_folder(&self, at: &str) {
        std::fs::create_dir(self.fixture.root.join(at)).unwrap();
    }
}

#[test]
fn files_become_what_the_later_commit_has() {
    let later = Later::of_every_kind();
    assert_eq!((later.obstacles(), later.update()), (Vec::new(), None));
    let tree = later.fixture.tree();
    for line in ["latin: changed\\n", "link: a file\\n", "new/x: x\\n", "zz: z\\n"] {
        assert!(tree.contains(&line.to_owned()), "{line}: {tree:?}");
    }
    assert!(!tree.iter().any(|line| line.starts_with("old/")), "{tree:?}");
    // Once more, nothing is left to do.
    assert_eq!((later.obstacles(), later.update()), (Vec::new(), None));
    assert_eq!(later.fixture.tree(), tree);
}

#[test]
fn what_stands_in_the_way_is_found_before_anything_is_written() {
    type Meanwhile = fn(&Later);
    let of_others = "latin: has changes of somebody else, which are in no commit";
    let folder = "zz: a folder stands in its place";
    let cases: &[(Meanwhile, &[&str])] = &[
        (|later| later.fixture.write("latin", "theirs\n"), &[of_others]),
        (|later| later.fixture.remove("latin"), &[of_others]),
        (|later| later.fixture.write("zz/f", "theirs\n"), &[folder]),
        (|later| later.make_folder("zz"), &[folder]),
        (
            |later| drop(UnixListener::bind(later.fixture.root.join("zz")).unwrap()),
            &["zz: a pipe, a socket or a device stands in its place"],
        ),
        (|later| later.fixture.write("new", "theirs\n"), &["new/x: `new` is a file, not a folder"]),
        (|later| later.fixture.link("/nowhere", "new"), &["new/x: `new` is a link, not a folder"]),
        // None of these is.
        (|later| later.fixture.write("zz", "z\n"), &[]),
        (|later| later.make_folder("new"), &[]),
        (|later| later.fixture.remove("old/only"), &[]),
    ];
    for (meanwhile, expected) in cases {
        let later = Later::of_every_kind();
        meanwhile(&later);
        assert_eq!(later.obstacles(), *expected);
        assert_eq!(later.update().is_some(), expected.iter().any(|what| !what.contains("else")));
    }
}

#[test]
fn what_was_written_before_a_failure_is_taken_back() {
    let later = Later::of_every_kind();
    later.make_folder("new");
    later.fixture.write("zz/f", "theirs\n");
    let before = later.fixture.tree();
    let failed = later.update().unwrap();
    assert_eq!(failed.path, path("zz"));
    assert!(failed.what.starts_with("could not be written: "), "{}", failed.what);
    assert_eq!(later.fixture.tree(), before);
}

#[test]
fn a_folder_goes_with_its_files_and_stays_with_one_of_somebody_else() {
    let change = |fixture: &RepoFixture| {
        fixture.remove("old/only");
        std::fs::remove_dir(fixture.root.join("old")).unwrap();
        fixture.write("old", "a file\n");
        fixture.remove("latin");
        fixture.write("latin/x", "x\n");
    };
    let touched = ["old", "old/only", "latin", "latin/x"];
    let later = Later::new(&touched, change);
    assert_eq!((later.obstacles(), later.update()), (Vec::new(), None));
    let tree = later.fixture.tree();
    assert!(tree.contains(&"old: a file\\n".to_owned()), "{tree:?}");
    assert!(tree.contains(&"latin/x: x\\n".to_owned()), "{tree:?}");
    let later = Later::new(&touched, change);
    later.fixture.write("old/mine", "theirs\n");
    assert_eq!(later.obstacles(), ["old: a folder stands in its place"]);
    let before = later.fixture.tree();
    assert_eq!(later.update().map(|failed| failed.path), Some(path("old")));
    assert_eq!(later.fixture.tree(), before);
}
