//! Whether git's objects hold a file that has to stay hidden: whoever reads the objects can read
//! every file that any ref leads to.

use std::collections::HashSet;

use git2::{ObjectType, Oid, Tree};

use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;

/// Folders of all commits together that are looked at; with more, something counts as found.
const FOLDERS_LIMIT: usize = 200_000;

impl Repo {
    /// Whether any commit that a ref leads to has a path that `is_hidden` names. What cannot be
    /// looked at counts as such: names that are no [`RepoPath`], refs to anything but commits, more
    /// than 200,000 different folders.
    ///
    /// # Errors
    /// When git's objects cannot be read.
    pub fn history_holds(&self, is_hidden: impl Fn(&RepoPath) -> bool) -> Result<bool, RepoError> {
        let mut walk = self.git.revwalk()?;
        for found in self.git.references()? {
            let found = found?;
            // A branch without a commit yet.
            let Ok(target) = found.peel(ObjectType::Any) else { continue };
            match target.peel_to_commit() {
                Ok(commit) => walk.push(commit.id())?,
                Err(_) => return Ok(true),
            }
        }
        if let Ok(head) = self.git.head() {
            walk.push(head.peel_to_commit()?.id())?;
        }
        let mut seen = HashSet::new();
        for commit in walk {
            let tree = self.git.find_commit(commit?)?.tree()?;
            if self.tree_holds(&tree, &RepoPath::root(), &is_hidden, &mut seen)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the first files of git's index that are wanted, at most `limit`, in git's order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn tracked(
        &self,
        wanted: impl Fn(&RepoPath) -> bool,
        limit: usize,
    ) -> Result<Vec<RepoPath>, RepoError> {
        let index = self.git.index()?;
        let paths = index
            .iter()
            .filter_map(|entry| RepoPath::parse(str::from_utf8(&entry.path).ok()?).ok());
        Ok(paths.filter(wanted).take(limit).collect())
    }

    fn tree_holds(
        &self,
        tree: &Tree<'_>,
        folder: &RepoPath,
        is_hidden: &impl Fn(&RepoPath) -> bool,
        seen: &mut HashSet<(Oid, RepoPath)>,
    ) -> Result<bool, RepoError> {
        if !seen.insert((tree.id(), folder.clone())) {
            return Ok(false);
        }
        if seen.len() > FOLDERS_LIMIT {
            return Ok(true);
        }
        for entry in tree {
            let path = entry.name().ok().and_then(|name| folder.join(name).ok());
            let Some(path) = path else { return Ok(true) };
            if is_hidden(&path) {
                return Ok(true);
            }
            if entry.kind() == Some(ObjectType::Tree) {
                let inner = self.git.find_tree(entry.id())?;
                if self.tree_holds(&inner, &path, is_hidden, seen)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{RepoFixture, path};

    #[test]
    fn a_file_that_any_ref_leads_to_is_found_and_one_that_was_never_there_is_not() {
        let fixture = RepoFixture::new();
        let holds = |name: &str| fixture.repo.history_holds(|found| *found == path(name)).unwrap();
        assert!(holds("src/lib.rs") && holds("old/only") && !holds("only") && !holds(".env"));
        fixture.write(".env", "KEY=x\n");
        fixture.commit("with a secret");
        fixture.remove(".env");
        fixture.commit("without it");
        assert!(holds(".env"));
    }
}
