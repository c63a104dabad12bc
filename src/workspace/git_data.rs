//! Folders that git takes for a repository although none of them is called `.git`: in one, git
//! obeys the settings there, which start programs.
//!
//! In: a path that is written, and what else is there. Out: the folder that is such a repository
//! then. Only where one of git's own names is written is anything looked at.

use std::collections::BTreeSet;

use crate::checkout::{Checkout, FileError};
use crate::repo::Repo;
use locum_base::path::RepoPath;

/// What a repository is known by, or obeys.
const NAMES: &[&str] = &["HEAD", "commondir", "config", "hooks", "objects", "refs"];

/// Returns the folder that is a repository with a path written: it, or what is around it, is one of
/// what git looks for, and `is_there` says that the others are there. The root is none: its `.git`
/// comes first.
pub(crate) fn makes_git_data(
    path: &RepoPath,
    is_there: impl Fn(&RepoPath) -> bool,
) -> Option<RepoPath> {
    let mut folder = RepoPath::root();
    for part in path.parts() {
        let own = NAMES.iter().find(|name| part.eq_ignore_ascii_case(name));
        let has = |name: &str| {
            own.is_some_and(|own| *own == name)
                || folder.join(name).is_ok_and(|path| is_there(&path))
        };
        let is_whole = || ["config", "objects", "refs"].into_iter().all(has);
        if own.is_some() && !folder.is_root() && has("HEAD") && (has("commondir") || is_whole()) {
            return Some(folder);
        }
        folder = folder.child(part).ok()?;
    }
    None
}

impl Checkout {
    /// Refuses a path with which a folder becomes a repository.
    pub(crate) fn refuse_git_data(&self, path: &RepoPath) -> Result<(), FileError> {
        match makes_git_data(path, |path| self.has(path)) {
            Some(folder) => Err(FileError::GitData { path: path.clone(), folder }),
            None => Ok(()),
        }
    }

    fn has(&self, path: &RepoPath) -> bool {
        !matches!(self.entry(path), Ok(None) | Err(FileError::Link(_) | FileError::NotAFile { .. }))
    }
}

impl Repo {
    /// Returns which of the paths that a command wrote belong to a folder that git takes for a
    /// repository, with that folder. `removed` are not there any more.
    pub fn git_data_in(
        &self,
        written: &BTreeSet<RepoPath>,
        removed: &BTreeSet<RepoPath>,
    ) -> Vec<(RepoPath, RepoPath)> {
        let is_written = |path: &RepoPath| {
            let begins = |next: &&RepoPath| next.as_str().starts_with(path.as_str());
            written.range(path.clone()..).take_while(begins).any(|next| next.is_within(path))
        };
        let is_there = |path: &RepoPath| {
            is_written(path) || (self.checkout.has(path) && !removed.contains(path))
        };
        let found = written
            .iter()
            .filter_map(|path| makes_git_data(path, is_there).map(|folder| (path.clone(), folder)));
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::makes_git_data;
    use crate::checkout::FileError;
    use crate::fixture::{RepoFixture, path, paths};

    #[test]
    fn a_folder_is_a_repository_by_what_git_looks_for_in_it() {
        let with = |written: &str, there: &[&str]| {
            makes_git_data(&path(written), |path| there.contains(&path.as_str()))
                .map(|folder| folder.to_string())
        };
        let others = ["b/HEAD", "b/config", "b/objects", "b/refs"];
        for name in ["HEAD", "config", "Config", "objects/k", "refs/heads/main", "hooks/pre-push"] {
            assert_eq!(with(&format!("b/{name}"), &others), Some("b".to_owned()), "{name}");
        }
        assert_eq!(with("a/b/commondir", &["a/b/HEAD"]), Some("a/b".to_owned()));
        assert_eq!(with("b/HEAD", &["b/commondir"]), Some("b".to_owned()));
        for (written, there) in [
            ("b/readme", &others[..]),
            ("b/wt/k", &others[..]),
            ("b/refs/k", &others[..2]),
            ("b/objects/k", &others[1..]),
            ("b/HEAD", &["b/config", "b/refs"]),
            ("HEAD", &["config", "objects", "refs"]),
        ] {
            assert_eq!(with(written, there), None, "{written}");
        }
    }

    #[test]
    fn no_tool_writes_what_completes_one() {
        let fixture = RepoFixture::new();
        for file in ["b/HEAD", "b/config", "b/objects/k"] {
            fixture.repo.checkout.refuse_git_data(&path(file)).unwrap();
            fixture.write(file, "x");
        }
        fixture.repo.checkout.refuse_git_data(&path("b/wt/k")).unwrap();
        let refused = fixture.repo.checkout.refuse_git_data(&path("b/refs/k"));
        assert!(matches!(refused, Err(FileError::GitData { .. })), "{refused:?}");
    }

    #[test]
    fn what_a_command_wrote_counts_together_with_what_was_there() {
        let fixture = RepoFixture::new();
        fixture.write("b/HEAD", "ref: refs/heads/main\n");
        let written = paths(&["b/config", "b/objects-x/k", "b/objects/k", "b/readme", "b/refs/k"]);
        let found = |removed: &[&str]| {
            let found = fixture.repo.git_data_in(&written, &paths(removed)).into_iter();
            found.map(|(path, _)| path).collect::<BTreeSet<_>>()
        };
        assert_eq!(found(&[]), paths(&["b/config", "b/objects/k", "b/refs/k"]));
        assert_eq!(found(&["b/HEAD"]), BTreeSet::new());
    }
}
