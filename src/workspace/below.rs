//! What lies below a folder of the checkout.
//!
//! In: a folder, and a question about what is in it. Out: the answer. Links are not followed, and
//! what is looked at is bounded.

use crate::checkout::{EntryKind, FolderEntries};
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
    /// Whether something that lies in a folder of the checkout is what is looked for, or may be:
    /// what has no name that is text, and what is in a folder that cannot be listed. Links are not
    /// followed.
    pub fn holds_below(&self, folder: &RepoPath, is_found: impl Fn(&EntryBelow) -> bool) -> bool {
        let is_ignored =
            |folder: &RepoPath| self.git.is_path_ignored(format!("{folder}/")).unwrap_or(false);
        let (mut ahead, mut seen) = (vec![(folder.clone(), is_ignored(folder))], 0_usize);
        while let Some((folder, is_output)) = ahead.pop() {
            let FolderEntries { entries, is_whole } = self.checkout.listed(&folder);
            seen = seen.saturating_add(entries.len());
            if !is_whole || seen > ENTRIES_LIMIT {
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

    /// Returns the folders in a folder of the checkout; `None` where there may be others.
    pub fn folders_in(&self, folder: &RepoPath) -> Option<Vec<RepoPath>> {
        let FolderEntries { entries, is_whole } = self.checkout.listed(folder);
        let folders = entries.into_iter().filter(|(_, kind)| *kind == EntryKind::Folder);
        is_whole.then(|| folders.map(|(path, _)| path).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, path};

    #[test]
    fn what_is_in_a_folder_is_looked_at_and_a_name_that_is_no_text_counts_as_what_is_looked_for() {
        let fixture = RepoFixture::new();
        for file in ["plain/deep/file", "odd/deep/file"] {
            fixture.write(file, "x");
        }
        let finds = |folder: &str, name: &str| {
            fixture.repo.holds_below(&path(folder), |entry| entry.path.name() == Some(name))
        };
        let folders = |folder: &str| fixture.repo.folders_in(&path(folder));
        assert_eq!(
            (finds("plain", "file"), finds("plain", "secret"), finds("odd", "secret")),
            (true, false, false)
        );
        let odd = fixture.root.join("odd/deep").join(OsStr::from_bytes(b"secret\xff"));
        // Not every file system takes such a name.
        if std::fs::create_dir(&odd).is_ok() {
            assert!(finds("odd", "secret") && !finds("plain", "secret"));
            assert_eq!(folders("odd/deep"), None);
        }
        assert_eq!(folders("plain"), Some(vec![path("plain/deep")]));
        assert_eq!(folders("plain/deep/file"), Some(Vec::new()), "a file is no folder");
        assert_eq!(folders("missing"), Some(Vec::new()));
        fixture.write("plain/~x", "an editor's");
        assert!(finds("plain", "~x") && !finds("plain", "secret"));
        fixture.write("~x", "no path of a repository");
        assert!(finds(".", "secret"));
    }
}
