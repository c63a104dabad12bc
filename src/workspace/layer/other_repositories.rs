//! Other repositories below a checkout: submodules, and clones that git keeps no entry of.
//!
//! In: a path of the checkout. Out: the folder of the other repository that it lies in. A run
//! changes only its own repository: tools are refused there, and what commands write stays in the
//! layer.

use std::path::Path;

use git2::{FileMode, ObjectType};

use crate::repo::{Repo, RepoError, entry_at};
use locum_base::path::RepoPath;

impl Repo {
    /// Returns the folder of another repository that a path is or lies in; `None` for a path of
    /// this repository.
    ///
    /// # Errors
    /// When git cannot read the commit that is checked out.
    pub fn other_repository(&self, path: &RepoPath) -> Result<Option<RepoPath>, RepoError> {
        let mut at = RepoPath::root();
        for part in path.parts() {
            let Ok(next) = at.child(part) else { return Ok(None) };
            if self.is_of_another_repository(&next)? {
                return Ok(Some(next));
            }
            at = next;
        }
        Ok(None)
    }

    pub(super) fn is_of_another_repository(&self, folder: &RepoPath) -> Result<bool, RepoError> {
        // Files that git has here are this repository's, whatever else lies beside them.
        let index = self.git.index()?;
        if index.find_prefix(format!("{folder}/")).is_ok() {
            return Ok(false);
        }
        if let Some(entry) = index.get_path(Path::new(folder.as_str()), 0) {
            return Ok(entry.mode == u32::from(FileMode::Commit));
        }
        if let Ok(head) = self.git.head()
            && let Some(entry) = entry_at(&head.peel_to_tree()?, folder)?
        {
            return Ok(entry.kind() == Some(ObjectType::Commit));
        }
        let inner = folder.join(".git").ok().and_then(|git| self.checkout.entry(&git).ok());
        Ok(inner.flatten().is_some())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, path};

    #[test]
    fn submodules_and_clones_are_other_repositories_and_folders_are_not() {
        let fixture = RepoFixture::new();
        fixture.commit_submodule("vendor/sub");
        fixture.write("clone/.git/HEAD", "ref: refs/heads/main\n");
        fixture.write("linked/.git", "gitdir: /elsewhere\n");
        // The files of `src` are tracked.
        fixture.write("src/.git/HEAD", "ref: refs/heads/main\n");
        for (of, other) in [
            ("vendor/sub", Some("vendor/sub")),
            ("vendor/sub/deep/file", Some("vendor/sub")),
            ("clone/file", Some("clone")),
            ("linked/file", Some("linked")),
            ("vendor/own", None),
            ("vendor/submarine", None),
            ("src/lib.rs", None),
            ("src/lib.rs/below", None),
            (".git/config", None),
            ("no/such", None),
        ] {
            let found = fixture.repo.other_repository(&path(of)).unwrap();
            assert_eq!(found, other.map(path), "{of}");
        }
    }
}
