//! Commits and branches a run makes for publication. `HEAD`, the index and the files stay as they
//! are.

use std::collections::BTreeSet;

use git2::{Branch, Signature, Tree};

use crate::attributes::Attributes;
use crate::repo::{CommitId, NewCommit, Repo, RepoError};
use crate::stored::OnDisk;
use crate::trees::stored_in;
use locum_base::path::RepoPath;

impl Repo {
    /// Makes a commit object; no ref moves.
    ///
    /// # Errors
    /// When a file cannot be read or git fails; [`RepoError::Filtered`] for a changed file that git
    /// keeps through a program.
    pub fn commit(&self, commit: &NewCommit<'_>) -> Result<CommitId, RepoError> {
        let parent = self.find(commit.parent)?;
        let before = parent.tree()?;
        self.refuse_filtered(&before, commit.touched)?;
        let tree = self.tree_with(&before, commit.touched)?;
        let (name, email) = commit.author;
        let author = Signature::now(name, email)?;
        let id = self.git.commit(None, &author, &author, commit.message, &tree, &[&parent])?;
        Ok(CommitId::of(id))
    }

    /// Makes a branch point to a commit: a new branch, or an old one the commit builds on.
    ///
    /// # Errors
    /// [`RepoError::BadName`], [`RepoError::BranchInUse`] for a branch some checkout is on,
    /// [`RepoError::NotFastForward`].
    pub fn set_branch(&self, name: &str, commit: &CommitId) -> Result<(), RepoError> {
        if !Branch::name_is_valid(name)? || name == "HEAD" {
            return Err(RepoError::BadName(name.to_owned()));
        }
        let target = self.find(commit)?;
        let Ok(existing) = self.git.find_branch(name, git2::BranchType::Local) else {
            self.git.branch(name, &target, false)?;
            return Ok(());
        };
        let Some(tip) = existing.get().target() else {
            return Err(RepoError::NotFastForward(name.to_owned()));
        };
        if tip == target.id() {
            return Ok(());
        }
        if existing.is_head()
            || self.branch().as_deref() == Some(name)
            || self.is_on_other_checkout(name)
        {
            return Err(RepoError::BranchInUse(name.to_owned()));
        }
        // A shallow clone may not know the way between the two: then it is not known to build on
        // it.
        if !self.git.graph_descendant_of(target.id(), tip).unwrap_or(false) {
            return Err(RepoError::NotFastForward(name.to_owned()));
        }
        // Moves it only if it still is where it was looked at.
        self.git.reference_matching(
            &format!("refs/heads/{name}"),
            target.id(),
            true,
            tip,
            "locum: new commit",
        )?;
        Ok(())
    }

    fn refuse_filtered(
        &self,
        tree: &Tree<'_>,
        touched: &BTreeSet<RepoPath>,
    ) -> Result<(), RepoError> {
        let mut attributes = Attributes::new(&self.git, tree);
        for path in touched {
            let Some(filter) = attributes.of(path)?.filter else { continue };
            let before = stored_in(&self.git, tree, path)?;
            if matches!(&self.checkout.stored(path)?, OnDisk::Stored(now) if before.as_ref() != Some(now))
            {
                return Err(RepoError::Filtered { path: path.clone(), filter });
            }
        }
        Ok(())
    }

    fn is_on_other_checkout(&self, branch: &str) -> bool {
        let names = self
            .git
            .worktrees()
            .map(|names| names.iter().flatten().flatten().map(str::to_owned).collect::<Vec<_>>());
        names.unwrap_or_default().iter().any(|name| {
            let other = self
                .git
                .find_worktree(name)
                .and_then(|worktree| git2::Repository::open_from_worktree(&worktree));
            let head = other.and_then(|other| {
                Ok(other.find_reference("HEAD")?.symbolic_target()?.map(str::to_owned))
            });
            head.is_ok_and(|head| head.as_deref() == Some(format!("refs/heads/{branch}").as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::{Fixture, commit_all, path, paths};
    use crate::repo::{CommitId, NewCommit, RepoError};

    fn commit(fixture: &Fixture, parent: &CommitId, content: &str) -> CommitId {
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
        let fixture = Fixture::new();
        fixture.remove("latin");
        fixture.write("src/lib.rs", "dirty, not touched by the run");
        let id = commit(&fixture, &fixture.base, "x");
        let listed: Vec<_> =
            fixture.repo.list_at(&id, &locum_base::path::RepoPath::root(), 9).unwrap();
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
        let fixture = Fixture::new();
        fixture.write(".gitattributes", "*.bat eol=crlf\n*.psd filter=lfs -text\n");
        fixture.write("run.bat", "one\ntwo\n");
        let parent = CommitId::of(commit_all(&fixture.repo.git, "attributes"));
        fixture.write("run.bat", "one\r\n2\r\n");
        let changes = fixture.repo.changes(&parent, &paths(&["run.bat"])).unwrap();
        assert_eq!((changes[0].added, changes[0].removed), (1, 1), "{}", changes[0].patch);
        let author = ("a", "a@example.org");
        let touched = paths(&["run.bat"]);
        let id = fixture
            .repo
            .commit(&NewCommit { parent: &parent, touched: &touched, message: "m", author })
            .unwrap();
        assert_eq!(
            fixture.repo.file_at(&id, &path("run.bat"), 99).unwrap().unwrap().text,
            "one\n2\n"
        );
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
        let fixture = Fixture::new();
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
        let fixture = Fixture::new();
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
            assert!(
                matches!(fixture.repo.set_branch(name, &id), Err(RepoError::BadName(_))),
                "{name}"
            );
        }
    }
}
