//! Reads a commit as a forge can recreate it from the one before it.
//!
//! In: a commit of one parent. Out: what a forge's API needs, and the tree that has to come of it.
//! A commit that has no such form is refused.

use git2::{Delta, DiffOptions, FileMode};

use crate::repo::{CommitId, Repo, RepoError};
use locum_base::rebuilt::{Rebuilt, RebuiltEntry, RebuiltFile};

/// Bytes that a commit may bring, all its files together.
const REBUILT_LIMIT_BYTES: usize = 32 * 1024 * 1024;

impl Repo {
    /// Returns a commit as it can be recreated.
    ///
    /// # Errors
    /// [`RepoError::NotRebuildable`] for a path that is not UTF-8, a submodule, or too much
    /// content; when an object cannot be read.
    pub fn rebuilt(&self, commit: &CommitId) -> Result<Rebuilt, RepoError> {
        let made = self.find(commit)?;
        let parent = made.parent(0)?;
        let (before, after) = (parent.tree()?, made.tree()?);
        let mut options = DiffOptions::new();
        let diff = self.git.diff_tree_to_tree(
            Some(&before),
            Some(&after),
            Some(options.include_typechange(true)),
        )?;
        let mut bytes = 0;
        let mut entries = Vec::new();
        for delta in diff.deltas() {
            let file =
                if delta.status() == Delta::Deleted { delta.old_file() } else { delta.new_file() };
            let path = file
                .path_bytes()
                .and_then(|path| std::str::from_utf8(path).ok())
                .map(str::to_owned);
            let path =
                path.ok_or_else(|| RepoError::NotRebuildable("a path is not UTF-8".to_owned()))?;
            if delta.status() == Delta::Deleted {
                entries.push(RebuiltEntry { path, now: None });
                continue;
            }
            let mode = match file.mode() {
                FileMode::Blob | FileMode::BlobGroupWritable => "100644",
                FileMode::BlobExecutable => "100755",
                FileMode::Link => "120000",
                FileMode::Commit | FileMode::Tree | FileMode::Unreadable => {
                    return Err(RepoError::NotRebuildable(format!(
                        "`{path}` is neither a file nor a link"
                    )));
                }
            };
            let blob = self.git.find_blob(file.id())?;
            bytes += blob.size();
            if bytes > REBUILT_LIMIT_BYTES {
                return Err(RepoError::NotRebuildable(format!(
                    "its files have more than {} MiB",
                    REBUILT_LIMIT_BYTES >> 20
                )));
            }
            entries.push(RebuiltEntry {
                path,
                now: Some(RebuiltFile {
                    mode,
                    blob: file.id().to_string(),
                    content: blob.content().to_vec(),
                }),
            });
        }
        let message = made.message().unwrap_or_default().to_owned();
        let (parent, parent_tree) = (parent.id().to_string(), before.id().to_string());
        Ok(Rebuilt { parent, parent_tree, tree: after.id().to_string(), message, entries })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;

    use crate::fixture::{RepoFixture, paths};
    use crate::repo::{CommitId, NewCommit};

    #[test]
    fn tells_new_changed_gone_executable_and_linked_files() {
        let fixture = RepoFixture::new();
        fixture.write("new", "n");
        fixture.write("tool", "#!/bin/sh\n");
        std::fs::set_permissions(fixture.root.join("tool"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        std::os::unix::fs::symlink("new", fixture.root.join("shortcut")).unwrap();
        fixture.remove("latin");
        let touched = paths(&["new", "tool", "shortcut", "latin"]);
        let new = NewCommit {
            parent: &fixture.base,
            touched: &touched,
            message: "subject\n",
            author: ("a", "a@example.org"),
        };
        let commit = fixture.repo.commit(&new).unwrap();
        let rebuilt = fixture.repo.rebuilt(&commit).unwrap();
        let entries: Vec<_> = rebuilt
            .entries
            .iter()
            .map(|entry| (entry.path.as_str(), entry.now.as_ref().map(|file| file.mode)))
            .collect();
        assert_eq!(
            entries,
            [
                ("latin", None),
                ("new", Some("100644")),
                ("shortcut", Some("120000")),
                ("tool", Some("100755"))
            ]
        );
        assert_eq!(
            (CommitId(rebuilt.parent), rebuilt.message.as_str()),
            (fixture.base.clone(), "subject\n")
        );
        assert_eq!(rebuilt.entries[2].now.as_ref().unwrap().content, b"new");
    }
}
