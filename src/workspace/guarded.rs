//! `Guarded`: what `git status` does not show of a checkout and no command may change: git's own
//! data of other repositories in it, and protected files that git ignores.
//!
//! In: two looks at a checkout. Out: which git data is different. Of protected files it also has
//! what they hold, as long as this program runs: nothing else has that.

use std::collections::BTreeMap;

use crate::file_stamp::FileStamp;
use crate::stored::StoredFile;
use crate::write::names_git_folder;
use locum_base::path::RepoPath;

/// What is guarded, by what changes when it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Guarded {
    /// Each `.git`, with its settings and hooks.
    pub(crate) git: BTreeMap<RepoPath, FileStamp>,
    /// Protected files that git ignores.
    pub(crate) files: BTreeMap<RepoPath, FileStamp>,
    /// What these hold, where it is not too much.
    #[serde(skip)]
    pub(crate) kept: BTreeMap<RepoPath, StoredFile>,
}

impl Guarded {
    /// Whether something was there before a command.
    pub(crate) fn holds(&self, path: &RepoPath) -> bool {
        let is_known = |path: &RepoPath| self.git.contains_key(path);
        self.files.contains_key(path)
            || is_known(path)
            || git_around(path).is_some_and(|git| is_known(&git))
    }

    /// Whether a path can be put back as it was.
    pub(crate) fn keeps(&self, path: &RepoPath) -> bool {
        self.kept.contains_key(path)
    }

    /// Returns the git data that differs: all of one that is new or gone by its `.git` alone.
    pub(crate) fn git_difference<'g>(
        &'g self,
        after: &'g Self,
    ) -> impl Iterator<Item = RepoPath> + 'g {
        let differs = move |path: &&RepoPath| self.git.get(*path) != after.git.get(*path);
        self.git.keys().chain(after.git.keys()).filter(differs).map(move |path| {
            let whole = git_around(path);
            let is_in_one_only =
                |git: &RepoPath| self.git.contains_key(git) != after.git.contains_key(git);
            whole.filter(is_in_one_only).unwrap_or_else(|| path.clone())
        })
    }
}

/// Returns the `.git` that a path lies in or is.
pub(crate) fn git_around(path: &RepoPath) -> Option<RepoPath> {
    let mut around = RepoPath::root();
    for part in path.parts() {
        around = around.child(part).ok()?;
        if names_git_folder(part) {
            return Some(around);
        }
    }
    None
}
