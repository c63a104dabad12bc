//! The ref of the memory across runs, in this repository: it moves from the commit that was looked
//! at, or not at all.

use git2::ErrorCode;

use crate::carried::MEMORY_REF;
use crate::repo::{CommitId, Repo, RepoError};

impl Repo {
    /// Returns the commit the memory is at; `None` where there is none.
    ///
    /// # Errors
    /// When git cannot read the ref.
    pub fn memory_tip(&self) -> Result<Option<CommitId>, RepoError> {
        match self.git.find_reference(MEMORY_REF) {
            Ok(found) => Ok(Some(CommitId::of(found.peel_to_commit()?.id()))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves the memory from one commit to another, `None` standing for no ref. Returns false where
    /// it is not, or no longer, where it was looked at; somebody who holds git's lock counts as
    /// quicker.
    ///
    /// # Errors
    /// When a commit is not there or git cannot write the ref.
    pub fn move_memory(&self, from: Option<&CommitId>, to: &CommitId) -> Result<bool, RepoError> {
        let (why, to) = ("locum: memory", self.find(to)?.id());
        let moved = match from {
            None => self.git.reference(MEMORY_REF, to, false, why),
            Some(from) => {
                let from = self.find(from)?.id();
                self.git.reference_matching(MEMORY_REF, to, true, from, why)
            }
        };
        match moved {
            Ok(_) => Ok(true),
            Err(error) => match error.code() {
                ErrorCode::Modified
                | ErrorCode::Exists
                | ErrorCode::NotFound
                | ErrorCode::Locked => Ok(false),
                _ => Err(error.into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::RepoFixture;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_memory_moves_only_from_where_it_was_looked_at() {
        let fixture = RepoFixture::new();
        let repo = &fixture.repo;
        let commit = |text: &str, parents: &[_]| {
            repo.carry(&[("memory.json", text.as_bytes())], parents, "x").unwrap()
        };
        assert_eq!(repo.memory_tip().unwrap(), None);
        let first = commit("1", &[]);
        assert!(repo.move_memory(None, &first).unwrap());
        let (second, other) = (commit("2", &[&first]), commit("3", &[&first]));
        assert!(!repo.move_memory(None, &second).unwrap(), "somebody was quicker");
        assert!(repo.move_memory(Some(&first), &second).unwrap());
        assert!(!repo.move_memory(Some(&first), &other).unwrap(), "it has moved on");
        assert_eq!(repo.memory_tip().unwrap(), Some(second.clone()));
        assert_eq!(repo.message_of(&second).unwrap().1, Some(first));
    }
}
