//! Brings the checkout to another commit: what a run on a pull request starts from. Before any
//! model speaks, never after.

use crate::repo::{CommitId, Repo, RepoError};

impl Repo {
    /// Brings the files to a commit and detaches `HEAD` there. Files that differ from `HEAD` and
    /// from the commit are a refusal: nothing that was not committed is lost.
    ///
    /// # Errors
    /// When the commit does not exist or a file is in the way; the checkout is then as it was.
    pub fn switch_to(&self, commit: &CommitId) -> Result<(), RepoError> {
        let target = self.find(commit)?;
        let mut how = git2::build::CheckoutBuilder::new();
        how.safe();
        self.git.checkout_tree(target.as_object(), Some(&mut how))?;
        self.git.set_head_detached(target.id())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, paths};
    use crate::repo::NewCommit;

    #[test]
    fn switches_and_loses_nothing_uncommitted() {
        let fixture = RepoFixture::new();
        fixture.write("new", "on the branch");
        let new = NewCommit {
            parent: &fixture.base,
            touched: &paths(&["new"]),
            message: "m",
            author: ("a", "a@example.org"),
        };
        let commit = fixture.repo.commit(&new).unwrap();
        fixture.remove("new");
        fixture.repo.switch_to(&commit).unwrap();
        assert_eq!(fixture.repo.commit_of("HEAD").unwrap(), commit);
        assert_eq!(fixture.repo.changes(&commit, &paths(&["new"])).unwrap(), []);
        fixture.write("new", "not committed");
        assert!(fixture.repo.switch_to(&fixture.base).is_err());
        assert_eq!(fixture.repo.commit_of("HEAD").unwrap(), commit);
    }
}
