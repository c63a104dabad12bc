//! A session as a commit, so that it can go on in another checkout: a few files, and as parents the
//! commits that are needed there.

use git2::FileMode;

use crate::checkpoint::checkpoint_ref;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::path::RepoPath;

/// Where carried sessions lie, here and at a remote: below no branch and no tag.
pub const SESSION_REFS: &str = "refs/locum/sessions/";

/// Where claims of runs on issues, pull requests and jobs lie, at a remote.
pub const CLAIM_REFS: &str = "refs/locum/claims/";

/// What keeps count of what runs spent together, here and at a remote.
pub const SPENT_REF: &str = "refs/locum/spent";

/// What runs keep for later ones, here and at a remote.
pub const MEMORY_REF: &str = "refs/locum/memory";

/// What keeps how jobs ended, at a remote.
pub const JOBS_REF: &str = "refs/locum/jobs";

impl Repo {
    /// Makes a commit of these files alone, at the top, each named once; no ref moves.
    ///
    /// # Errors
    /// When a parent is not there or git fails.
    pub fn carry(
        &self,
        files: &[(&str, &[u8])],
        parents: &[&CommitId],
        message: &str,
    ) -> Result<CommitId, RepoError> {
        let mut tree = self.git.treebuilder(None)?;
        for (name, content) in files {
            tree.insert(*name, self.git.blob(content)?, FileMode::Blob.into())?;
        }
        let tree = self.git.find_tree(tree.write()?)?;
        let mut distinct: Vec<&CommitId> = Vec::new();
        for parent in parents {
            if !distinct.contains(parent) {
                distinct.push(parent);
            }
        }
        let parents =
            distinct.into_iter().map(|parent| self.find(parent)).collect::<Result<Vec<_>, _>>()?;
        self.own_commit(message, &tree, &parents.iter().collect::<Vec<_>>())
    }

    /// Makes a commit that says something about another: the same files, and that one as its
    /// parent.
    ///
    /// # Errors
    /// When it is not there or git fails.
    pub fn remark(&self, commit: &CommitId, message: &str) -> Result<CommitId, RepoError> {
        let parent = self.find(commit)?;
        self.own_commit(message, &parent.tree()?, &[&parent])
    }

    /// Returns what a commit says and its first parent.
    ///
    /// # Errors
    /// When it is not there.
    pub fn message_of(&self, commit: &CommitId) -> Result<(String, Option<CommitId>), RepoError> {
        let found = self.find(commit)?;
        let parent = found.parent_ids().next().map(CommitId::of);
        Ok((found.message().unwrap_or_default().to_owned(), parent))
    }

    /// Returns the e-mail address of who made a commit, which is not always its author.
    ///
    /// # Errors
    /// When it is not there.
    pub fn committer_of(&self, commit: &CommitId) -> Result<String, RepoError> {
        let found = self.find(commit)?;
        Ok(String::from_utf8_lossy(found.committer().email_bytes()).into_owned())
    }

    /// Returns when a commit was made, in seconds since 1970.
    ///
    /// # Errors
    /// When it is not there.
    pub fn time_of(&self, commit: &CommitId) -> Result<i64, RepoError> {
        Ok(self.find(commit)?.time().seconds())
    }

    /// Takes a carried checkpoint up as the last one of its session, and brings the touched files
    /// to it.
    ///
    /// # Errors
    /// When it is not there, or a file cannot be written.
    pub fn take_up(
        &self,
        session: &str,
        checkpoint: &CommitId,
        touched: &std::collections::BTreeSet<RepoPath>,
    ) -> Result<(), RepoError> {
        let name = checkpoint_ref(session)?;
        let commit = self.find(checkpoint)?;
        self.restore(checkpoint, touched)?;
        self.set_own_ref(&name, commit.id(), "locum: carried on")
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, path, paths};

    #[test]
    fn a_session_is_a_commit_of_its_own_files_on_what_it_needs() {
        let fixture = RepoFixture::new();
        fixture.write("new", "by the run");
        let checkpoint =
            fixture.repo.checkpoint("s1", &fixture.base, &paths(&["new"]), "x").unwrap();
        let parents = [&checkpoint, &fixture.base, &fixture.base];
        let carried = fixture
            .repo
            .carry(&[("journal.jsonl", b"{}\n".as_slice())], &parents, "waits")
            .unwrap();
        assert_eq!(
            fixture.repo.list_at(&carried, &locum_base::path::RepoPath::root(), 9).unwrap(),
            [path("journal.jsonl")]
        );
        assert_eq!(
            fixture.repo.message_of(&carried).unwrap(),
            ("waits".to_owned(), Some(checkpoint.clone()))
        );
        let remark = fixture.repo.remark(&carried, "taken").unwrap();
        assert_eq!(
            fixture.repo.message_of(&remark).unwrap(),
            ("taken".to_owned(), Some(carried.clone()))
        );

        fixture.repo.restore(&fixture.base, &paths(&["new"])).unwrap();
        fixture.repo.take_up("s1", &checkpoint, &paths(&["new"])).unwrap();
        assert_eq!(fixture.repo.changes(&checkpoint, &paths(&["new"])).unwrap(), []);
        assert!(fixture.repo.take_up("a b", &checkpoint, &paths(&["new"])).is_err());
    }
}
