//! What lies below a folder of the checkout.
//!
//! In: a folder, and a question about what is in it. Out: the answer. Links are not followed, and
//! what is looked at is bounded.

use crate::checkout::EntryKind;
use crate::repo::Repo;
use locum_base::path::RepoPath;

/// Entries of a folder that are looked at; one with more counts as one in which something is found.
const ENTRIES_LIMIT: usize = 400_000;

/// Something that lies in a folder, at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryBelow {
    /// Where it lies.
    pub path: RepoPath,
    /// What it is.
    pub kind: EntryKind,
    /// Whether it lies in a folder that git ignores.
    pub is_output: bool,
}

impl Repo {
    /// Whether something that lies in a folder of the checkout is what is looked for. Links are not
    /// followed.
    pub fn holds_below(&self, folder: &RepoPath, is_found: impl Fn(&EntryBelow) -> bool) -> bool {
        let is_ignored =
            |folder: &RepoPath| self.git.is_path_ignored(format!("{folder}/")).unwrap_or(false);
        let (mut ahead, mut seen) = (vec![(folder.clone(), is_ignored(folder))], 0_usize);
        while let Some((folder, is_output)) = ahead.pop() {
            let entries = self.checkout.listed(&folder);
            seen = seen.saturating_add(entries.len());
            if seen > ENTRIES_LIMIT {
                return true;
            }
            for (path, kind) in entries {
                let entry = EntryBelow { path, kind, is_output };
                if is_found(&entry) {
                    return true;
                }
                if kind == EntryKind::Folder {
                    let is_output = is_output || is_ignored(&entry.path);
                    ahead.push((entry.path, is_output));
                }
            }
        }
        false
    }

    /// Returns the folders in a folder of the checkout.
    pub fn folders_in(&self, folder: &RepoPath) -> Vec<RepoPath> {
        let entries = self.checkout.listed(folder).into_iter();
        entries.filter(|(_, kind)| *kind == EntryKind::Folder).map(|(path, _)| path).collect()
    }
}
