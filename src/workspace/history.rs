//! Whether git's objects hold a file that has to stay hidden: whoever reads the objects can read
//! every file that any ref leads to.

use std::collections::{BTreeSet, HashSet};

use git2::{ObjectType, Oid, Repository, Tree};

use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;

/// Folders of all commits together that are looked at; with more, something counts as found.
const FOLDERS_LIMIT: usize = 200_000;

/// What was looked at in the commits before.
#[derive(Default)]
struct Seen {
    /// Folders as they were in some commit.
    folders: HashSet<(Oid, RepoPath)>,
    /// What is not hidden. A path is in most commits, and to judge it takes longer than to find it.
    paths: HashSet<RepoPath>,
}

impl Repo {
    /// Whether any commit that a ref leads to has a path that `is_hidden` names, or one that a log
    /// of refs, git's own marks such as `ORIG_HEAD` or another worktree's head lead to. What cannot
    /// be looked at counts as such: names that are no [`RepoPath`], refs to anything but commits,
    /// more than 200,000 different folders.
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
        let left = self.left_commits();
        let has_left = !left.is_empty();
        for commit in left {
            walk.push(commit)?;
        }
        let mut seen = Seen::default();
        for commit in walk {
            // What a log leads to may have lost a commit below it.
            if has_left && commit.is_err() {
                return Ok(true);
            }
            let tree = self.git.find_commit(commit?)?.tree()?;
            if self.tree_holds(&tree, &RepoPath::root(), &is_hidden, &mut seen)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns commits that no ref leads to any more, but a log, a mark or another worktree.
    fn left_commits(&self) -> BTreeSet<Oid> {
        const MARKS: &[&str] =
            &["ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        let names = self.git.references().into_iter().flatten().flatten();
        let names = names.filter_map(|found| found.name().ok().map(str::to_owned));
        let logged = names.chain(["HEAD".to_owned()]).flat_map(|name| logged(&self.git, &name));
        let marks = MARKS.iter().filter_map(|name| self.git.refname_to_id(name).ok());
        let trees = self.git.worktrees().into_iter();
        let beside = trees.flat_map(|names| {
            let names: Vec<String> = names.iter().flatten().flatten().map(str::to_owned).collect();
            names.into_iter().flat_map(|name| self.head_beside(&name)).collect::<Vec<_>>()
        });
        let known = |id: &Oid| self.git.find_commit(*id).is_ok();
        logged.chain(marks).chain(beside).filter(known).collect()
    }

    fn head_beside(&self, worktree: &str) -> Vec<Oid> {
        let opened = self.git.find_worktree(worktree);
        let Ok(beside) = opened.and_then(|tree| Repository::open_from_worktree(&tree)) else {
            return Vec::new();
        };
        let head = beside.refname_to_id("HEAD").ok();
        logged(&beside, "HEAD").into_iter().chain(head).collect()
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
        seen: &mut Seen,
    ) -> Result<bool, RepoError> {
        if !seen.folders.insert((tree.id(), folder.clone())) {
            return Ok(false);
        }
        if seen.folders.len() > FOLDERS_LIMIT {
            return Ok(true);
        }
        for entry in tree {
            let path = entry.name().ok().and_then(|name| folder.child(name).ok());
            let Some(path) = path else { return Ok(true) };
            if !seen.paths.contains(&path) {
                if is_hidden(&path) {
                    return Ok(true);
                }
                seen.paths.insert(path.clone());
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

/// Returns what a ref once led to.
fn logged(git: &Repository, name: &str) -> Vec<Oid> {
    let Ok(log) = git.reflog(name) else { return Vec::new() };
    log.iter().flat_map(|entry| [entry.id_old(), entry.id_new()]).collect()
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

    #[test]
    fn a_file_that_only_a_log_or_another_worktree_leads_to_is_found() {
        let fixture = RepoFixture::new();
        let holds = |name: &str| fixture.repo.history_holds(|found| *found == path(name)).unwrap();
        let git = git2::Repository::open(&fixture.root).unwrap();
        let back = |fixture: &RepoFixture| {
            let first = git.find_object(git2::Oid::from_str(&fixture.base.0).unwrap(), None);
            git.reset(&first.unwrap(), git2::ResetType::Hard, None).unwrap();
        };
        fixture.write("reset.env", "KEY=x\n");
        fixture.commit("taken back");
        back(&fixture);
        assert!(holds("reset.env") && !holds("other.env"));
        git.reflog_delete("HEAD").unwrap();
        git.reflog_delete("refs/heads/main").unwrap();
        let _ = git.find_reference("ORIG_HEAD").map(|mut mark| mark.delete());
        assert!(!holds("reset.env"));
        fixture.write("other.env", "KEY=x\n");
        let other = fixture.commit("of a worktree");
        let beside = tempfile::tempdir().unwrap();
        let tree = git.worktree("beside", &beside.path().join("tree"), None).unwrap();
        let tree = git2::Repository::open_from_worktree(&tree).unwrap();
        tree.set_head_detached(git2::Oid::from_str(&other.to_string()).unwrap()).unwrap();
        back(&fixture);
        git.find_reference("refs/heads/beside").unwrap().delete().unwrap();
        git.reflog_delete("HEAD").unwrap();
        git.reflog_delete("refs/heads/main").unwrap();
        let _ = git.find_reference("ORIG_HEAD").map(|mut mark| mark.delete());
        assert!(holds("other.env") && !holds("reset.env"));
    }
}
