//! Checkpoints: snapshots of the touched files on a private ref, and the way back to one.
//!
//! A checkpoint is a commit on `refs/locum/{session}`, child of the one before or of the base. It
//! costs what changed, not what the repository holds. Neither the user's branches nor the index is
//! ever looked at.

use std::collections::BTreeSet;

use git2::{Reference, Signature, Tree};

use crate::attributes::Attributes;
use crate::repo::{CommitId, Repo, RepoError};
use crate::stored::{OnDisk, Stored};
use crate::trees::{TreeChanges, stored_in};
use locum_base::path::RepoPath;

/// Who checkpoints are by; they never leave the machine.
const AUTHOR: (&str, &str) = ("locum", "locum@localhost");

impl Repo {
    /// Records the touched files on the private ref `refs/locum/{session}`, as a child of the
    /// checkpoint before or of `base`. Returns the checkpoint before (or the base) when nothing is
    /// different from it.
    ///
    /// # Errors
    /// When a file cannot be read or git fails; the ref is then as it was.
    pub fn checkpoint(
        &self,
        session: &str,
        base: &CommitId,
        touched: &BTreeSet<RepoPath>,
        label: &str,
    ) -> Result<CommitId, RepoError> {
        let name = checkpoint_ref(session)?;
        let parent = match self.git.refname_to_id(&name) {
            Ok(id) => self.git.find_commit(id)?,
            Err(_) => self.find(base)?,
        };
        let tree = self.tree_with(&parent.tree()?, touched)?;
        if tree.id() == parent.tree_id() {
            return Ok(CommitId::of(parent.id()));
        }
        let author = Signature::now(AUTHOR.0, AUTHOR.1)?;
        let id = self.git.commit(None, &author, &author, label, &tree, &[&parent])?;
        self.git.reference(&name, id, true, "locum: checkpoint")?;
        Ok(CommitId::of(id))
    }

    /// Lists a session's checkpoints, latest first, with their labels; none when it has none. At
    /// most `limit`.
    ///
    /// # Errors
    /// When git cannot read them.
    pub fn checkpoints(
        &self,
        session: &str,
        base: &CommitId,
        limit: usize,
    ) -> Result<Vec<(CommitId, String)>, RepoError> {
        let Ok(latest) = self.git.refname_to_id(&checkpoint_ref(session)?) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut next = Some(self.git.find_commit(latest)?);
        while let Some(commit) =
            next.filter(|commit| found.len() < limit && CommitId::of(commit.id()) != *base)
        {
            found
                .push((CommitId::of(commit.id()), commit.message().unwrap_or_default().to_owned()));
            next = commit.parents().next();
        }
        Ok(found)
    }

    /// Forgets a session's checkpoints; one that has none is forgotten already.
    ///
    /// # Errors
    /// When git cannot remove the ref.
    pub fn drop_checkpoints(&self, session: &str) -> Result<(), RepoError> {
        match self.git.find_reference(&checkpoint_ref(session)?) {
            Ok(mut found) => Ok(found.delete()?),
            Err(_) => Ok(()),
        }
    }

    /// Brings the touched files back to what they are in a commit; files that are not in it are
    /// removed.
    ///
    /// # Errors
    /// When a file cannot be written; the others before it are then already back.
    pub fn restore(
        &self,
        commit: &CommitId,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<(), RepoError> {
        let tree = self.tree_of(commit)?;
        let mut wanted: Vec<(&RepoPath, Option<Stored>)> = Vec::new();
        let mut attributes = Attributes::new(&self.git, &tree);
        for path in touched {
            let stored = stored_in(&self.git, &tree, path)?;
            let checked_out = stored
                .map(|stored| Ok::<_, RepoError>(attributes.of(path)?.checked_out(stored)))
                .transpose()?;
            wanted.push((path, checked_out));
        }
        // What has to go goes first: a file may stand where a folder is needed, or the other way
        // round.
        for (path, _) in wanted.iter().rev().filter(|(_, stored)| stored.is_none()) {
            self.checkout.put_stored(path, None)?;
        }
        for (path, stored) in wanted.iter().filter(|(_, stored)| stored.is_some()) {
            self.checkout.put_stored(path, stored.as_ref())?;
        }
        Ok(())
    }

    /// Writes the tree that `base` becomes when the touched paths are as in the checkout.
    pub(super) fn tree_with(
        &self,
        base: &Tree<'_>,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<Tree<'_>, RepoError> {
        let mut changes = TreeChanges::default();
        let mut attributes = Attributes::new(&self.git, base);
        for path in touched {
            let on_disk = match self.checkout.stored(path)? {
                OnDisk::Stored(stored) => OnDisk::Stored(attributes.of(path)?.kept(stored)),
                other => other,
            };
            changes.note(&self.git, path, &on_disk)?;
        }
        Ok(self.git.find_tree(changes.apply(&self.git, base)?)?)
    }
}

fn checkpoint_ref(session: &str) -> Result<String, RepoError> {
    let name = format!("refs/locum/{session}");
    if Reference::is_valid_name(&name) { Ok(name) } else { Err(RepoError::BadName(name)) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::{Fixture, paths};
    use crate::repo::{CommitId, RepoError};

    /// Changes of every kind, and the paths they touch.
    fn change(fixture: &Fixture) -> std::collections::BTreeSet<locum_base::path::RepoPath> {
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
        let fixture = Fixture::new();
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
        let fixture = Fixture::new();
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
        let committed = fixture
            .repo
            .file_at(&checkpoint, &crate::fixture::path("run.sh"), 99)
            .unwrap()
            .unwrap();
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
        let fixture = Fixture::new();
        let mut made: Vec<CommitId> = Vec::new();
        for label in ["one", "two", "two again", "three"] {
            fixture.write("file", label.split(' ').next().unwrap());
            made.push(
                fixture.repo.checkpoint("s1", &fixture.base, &paths(&["file"]), label).unwrap(),
            );
        }
        let listed = fixture.repo.checkpoints("s1", &fixture.base, 9).unwrap();
        let expected = [(3, "three"), (1, "two"), (0, "one")]
            .map(|(at, label): (usize, &str)| (made[at].clone(), label.to_owned()));
        assert_eq!((listed.as_slice(), &made[2]), (expected.as_slice(), &made[1]));
        assert_eq!(fixture.repo.checkpoints("s1", &fixture.base, 1).unwrap(), expected[..1]);
        assert_eq!(fixture.repo.checkpoints("other", &fixture.base, 9).unwrap(), []);
        assert_eq!(fixture.repo.commit_of("main").unwrap(), fixture.base);
        assert!(
            fixture.repo.git.index().unwrap().get_path(std::path::Path::new("file"), 0).is_none()
        );
    }

    #[test]
    fn exchanges_files_and_folders() {
        let fixture = Fixture::new();
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
        let fixture = Fixture::new();
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
        let fixture = Fixture::new();
        for session in ["", "a b", "../heads/main", "a..b"] {
            let error =
                fixture.repo.checkpoint(session, &fixture.base, &paths(&["x"]), "x").unwrap_err();
            assert!(matches!(error, RepoError::BadName(_)), "{session}: {error}");
        }
    }
}
