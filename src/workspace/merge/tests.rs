//! Merges of two sides, and what is in conflict.
#![expect(clippy::disallowed_methods, reason = "tests read the files they look at")]

use std::collections::BTreeSet;

use pretty_assertions::assert_eq;

use super::{Conflict, MergeOutcome, MergeSides};
use crate::fixture::{RepoFixture, path, paths};
use crate::repo::CommitId;
use locum_base::path::RepoPath;

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/// Two sides, each made by changing a checkout of the base.
struct MergeFixture {
    fixture: RepoFixture,
    touched: BTreeSet<RepoPath>,
    ours: CommitId,
    base: CommitId,
}

impl MergeFixture {
    fn new(
        touched: &[&str],
        before: impl FnOnce(&RepoFixture),
        ours: impl FnOnce(&RepoFixture),
    ) -> Self {
        let fixture = RepoFixture::new();
        let touched = paths(touched);
        before(&fixture);
        let base = fixture.repo.checkpoint("base", &fixture.base, &touched, "base").unwrap();
        ours(&fixture);
        let ours = fixture.repo.checkpoint("ours", &base, &touched, "ours").unwrap();
        fixture.repo.restore(&base, &touched).unwrap();
        Self { fixture, touched, ours, base }
    }

    fn merge(&self, theirs: impl FnOnce(&RepoFixture)) -> MergeOutcome {
        theirs(&self.fixture);
        let theirs =
            self.fixture.repo.checkpoint("theirs", &self.base, &self.touched, "theirs").unwrap();
        let sides = MergeSides {
            base: &self.base,
            ours: &self.ours,
            theirs: &theirs,
            their_name: "sub-task",
            touched: &self.touched,
        };
        self.fixture.repo.merge(&sides).unwrap()
    }

    /// Merges, brings the result into the checkout and says what changed.
    fn whole(&self, theirs: impl FnOnce(&RepoFixture)) -> Vec<String> {
        let merged = self.merge(theirs);
        let MergeOutcome::Whole { commit, changed } = merged else { panic!("{merged:?}") };
        self.fixture.repo.restore(&commit, &self.touched).unwrap();
        changed.iter().map(ToString::to_string).collect()
    }

    fn conflicts(&self, theirs: impl FnOnce(&RepoFixture)) -> Vec<Conflict> {
        let merged = self.merge(theirs);
        let MergeOutcome::Conflicts(conflicts) = merged else { panic!("{merged:?}") };
        conflicts
    }

    fn read(&self, at: &str) -> String {
        std::fs::read_to_string(self.fixture.root.join(at)).unwrap()
    }
}

#[test]
fn changes_of_different_lines_files_modes_and_names_come_together() {
    let two = MergeFixture::new(
        &["t", "a", "b", "gone", "run.sh", "moved", "folder/t"],
        |fixture| {
            fixture.write("t", TEN);
            fixture.write("gone", "x");
        },
        |fixture| {
            fixture.write("t", TEN.replace("2\n", "two\n"));
            fixture.write("a", "ours");
        },
    );
    let changed = two.whole(|fixture| {
        fixture.write("t", TEN.replace("9\n", "nine\n"));
        fixture.write("b", b"\xff\x00");
        fixture.remove("gone");
        fixture.set_mode("run.sh", 0o600);
    });
    assert_eq!(changed, ["b", "gone", "run.sh", "t"]);
    assert_eq!(two.read("t"), TEN.replace("2\n", "two\n").replace("9\n", "nine\n"));
    assert_eq!((two.read("a").as_str(), two.fixture.root.join("gone").exists()), ("ours", false));
}

#[test]
fn a_moved_file_takes_the_other_sides_change_along() {
    let two = MergeFixture::new(
        &["t", "folder/t"],
        |fixture| fixture.write("t", TEN),
        |fixture| fixture.write("t", TEN.replace("2\n", "two\n")),
    );
    let changed = two.whole(|fixture| {
        fixture.remove("t");
        fixture.write("folder/t", TEN);
    });
    assert_eq!(changed, ["folder/t", "t"]);
    assert_eq!(two.read("folder/t"), TEN.replace("2\n", "two\n"));
}

#[test]
fn what_is_the_same_on_both_sides_changes_nothing() {
    let two = MergeFixture::new(&["t"], |_| {}, |fixture| fixture.write("t", TEN));
    assert_eq!(two.whole(|fixture| fixture.write("t", TEN)), Vec::<String>::new());
}

#[test]
fn two_sides_of_one_line_are_shown_with_what_was_before() {
    let two = MergeFixture::new(
        &["t"],
        |fixture| fixture.write("t", TEN),
        |fixture| fixture.write("t", TEN.replace("5\n", "five\n")),
    );
    let conflicts = two.conflicts(|fixture| fixture.write("t", TEN.replace("5\n", "cinq\n")));
    let sides = "@@ line 5 @@\n<<<<<<< here\nfive\n||||||| before\n5\n=======\ncinq\n>>>>>>> \
                     sub-task\n";
    let expected = Conflict {
        path: path("t"),
        what: "both sides changed the same lines".into(),
        sides: sides.into(),
    };
    assert_eq!(conflicts, [expected]);
}

#[test]
fn says_what_contradicts_what() {
    let binary = |last: u8| vec![0, 1, 2, last];
    let what = |touched: &[&str], ours: &dyn Fn(&RepoFixture), theirs: &dyn Fn(&RepoFixture)| {
        let two =
            MergeFixture::new(touched, |fixture| fixture.write("t", TEN), |fixture| ours(fixture));
        two.conflicts(|fixture| theirs(fixture))
            .into_iter()
            .map(|conflict| conflict.what)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let change = |fixture: &RepoFixture| fixture.write("t", TEN.replace("5\n", "five\n"));
    let remove = |fixture: &RepoFixture| fixture.remove("t");
    assert!(what(&["t"], &change, &remove).contains("removed by the sub-task"));
    assert!(what(&["t"], &remove, &change).contains("removed here"));
    assert!(
        what(&["n"], &|fixture| fixture.write("n", "a\n"), &|fixture| fixture.write("n", "b\n"))
            .contains("added on both sides")
    );
    assert!(
        what(&["n"], &|fixture| fixture.write("n", binary(3)), &|fixture| fixture
            .write("n", binary(4)))
        .contains("binary")
    );
    assert!(
        what(&["n", "n/x"], &|fixture| fixture.write("n", "a\n"), &|fixture| fixture
            .write("n/x", "b\n"))
        .contains("folder")
    );
}
