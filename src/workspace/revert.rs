//! Takes a commit back by another one, as `git revert` does. `HEAD`, the index and the files stay
//! as they are.

use git2::{MergeOptions, Signature};

use crate::repo::{CommitId, Repo, RepoError};

/// A commit about to take another one back.
#[derive(Clone, Copy, Debug)]
pub struct NewRevert<'a> {
    /// The commit it builds on.
    pub tip: &'a CommitId,
    /// The commit whose changes go: the tip itself, or one that it builds on.
    pub reverted: &'a CommitId,
    /// Subject, body and trailers.
    pub message: &'a str,
    /// Name and e-mail of author and committer.
    pub author: (&'a str, &'a str),
}

impl Repo {
    /// Makes the commit; no ref moves. `None` where later commits changed the same lines, or
    /// nothing of the change is left.
    ///
    /// # Errors
    /// When a commit or its parent is not there, or git fails.
    pub fn revert(&self, new: &NewRevert<'_>) -> Result<Option<CommitId>, RepoError> {
        let (tip, reverted) = (self.find(new.tip)?, self.find(new.reverted)?);
        let before = reverted.parent(0)?.tree()?;
        let mut options = MergeOptions::new();
        let mut index = self.git.merge_trees(
            &reverted.tree()?,
            &tip.tree()?,
            &before,
            Some(options.find_renames(true)),
        )?;
        if index.has_conflicts() {
            return Ok(None);
        }
        let tree = self.git.find_tree(index.write_tree_to(&self.git)?)?;
        if tree.id() == tip.tree_id() {
            return Ok(None);
        }
        let author = Signature::now(new.author.0, new.author.1)?;
        let id = self.git.commit(None, &author, &author, new.message, &tree, &[&tip])?;
        Ok(Some(CommitId::of(id)))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::NewRevert;
    use crate::fixture::{RepoFixture, paths};
    use crate::repo::{CommitId, NewCommit};

    const AUTHOR: (&str, &str) = ("a", "a@example.org");

    fn commit(fixture: &RepoFixture, parent: &CommitId, path: &str, text: &str) -> CommitId {
        fixture.write(path, text);
        let touched = paths(&[path]);
        let new = NewCommit { parent, touched: &touched, message: "m", author: AUTHOR };
        fixture.repo.commit(&new).unwrap()
    }

    fn revert(fixture: &RepoFixture, tip: &CommitId, reverted: &CommitId) -> Option<CommitId> {
        let new = NewRevert { tip, reverted, message: "r", author: AUTHOR };
        fixture.repo.revert(&new).unwrap()
    }

    #[test]
    fn takes_back_one_commit_and_keeps_what_came_later() {
        let fixture = RepoFixture::new();
        let first = commit(&fixture, &fixture.base, "src/lib.rs", "one\n2\nthree\n");
        let second = commit(&fixture, &first, "new", "later");
        let files = paths(&["src/lib.rs", "new"]);

        let made = revert(&fixture, &second, &first).unwrap();
        assert_eq!(fixture.repo.message_of(&made).unwrap(), ("r".to_owned(), Some(second.clone())));
        fixture.write("src/lib.rs", "one\ntwo\nthree\n");
        assert_eq!(fixture.repo.changes(&made, &files).unwrap(), []);

        let both = revert(&fixture, &made, &second).unwrap();
        fixture.remove("new");
        assert_eq!(fixture.repo.changes(&both, &files).unwrap(), []);
        assert_eq!(revert(&fixture, &made, &first), None, "nothing of it is left");
    }

    #[test]
    fn gives_up_where_the_same_lines_changed_since() {
        let fixture = RepoFixture::new();
        let first = commit(&fixture, &fixture.base, "src/lib.rs", "one\n2\nthree\n");
        let second = commit(&fixture, &first, "src/lib.rs", "one\nII\nthree\n");
        assert_eq!(revert(&fixture, &second, &first), None);
    }
}
