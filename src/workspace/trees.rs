//! Trees of a commit with some paths changed: only the folders on the way to a changed path are
//! rewritten.

use std::collections::BTreeMap;

use git2::{FileMode, ObjectType, Oid, Repository, Tree};

use crate::repo::{RepoError, entry_at};
use crate::stored::{OnDisk, StoredFile};
use locum_base::path::RepoPath;

/// Paths to be changed in a tree, folder by folder.
#[derive(Debug, Default)]
pub(super) struct TreeChanges {
    own: Option<TreeChange>,
    below: BTreeMap<String, TreeChanges>,
}

#[derive(Clone, Copy, Debug)]
enum TreeChange {
    /// It is this now.
    Put(Oid, FileMode),
    /// It is a folder or nothing git keeps: what a tree has there as a file goes, a folder or
    /// submodule stays.
    NoFile,
    /// It is gone.
    Remove,
}

impl TreeChanges {
    /// Notes what a path of the checkout is now; its content is written to the repository.
    ///
    /// # Errors
    /// When git cannot write it.
    pub(super) fn note(
        &mut self,
        git: &Repository,
        path: &RepoPath,
        on_disk: &OnDisk,
    ) -> Result<(), RepoError> {
        let change = match on_disk {
            OnDisk::Stored(StoredFile { mode, content }) => {
                TreeChange::Put(git.blob(content)?, *mode)
            }
            OnDisk::Other => TreeChange::NoFile,
            OnDisk::Nothing => TreeChange::Remove,
        };
        self.set(path, change);
        Ok(())
    }

    /// Notes a file that git has already, or that there is none.
    pub(super) fn put(&mut self, path: &RepoPath, file: Option<(Oid, FileMode)>) {
        self.set(path, file.map_or(TreeChange::Remove, |(id, mode)| TreeChange::Put(id, mode)));
    }

    fn set(&mut self, path: &RepoPath, change: TreeChange) {
        path.parts().fold(self, |node, part| node.below.entry(part.to_owned()).or_default()).own =
            Some(change);
    }

    /// Writes the tree that has these changes on top of `base`.
    ///
    /// # Errors
    /// When git cannot write it.
    pub(super) fn apply(&self, git: &Repository, base: &Tree<'_>) -> Result<Oid, RepoError> {
        match self.rewrite(git, Some(base))? {
            Some(tree) => Ok(tree),
            None => Ok(git.treebuilder(None)?.write()?),
        }
    }

    /// Returns the changed tree; `None` when nothing is left in it.
    fn rewrite(&self, git: &Repository, base: Option<&Tree<'_>>) -> Result<Option<Oid>, RepoError> {
        let mut builder = git.treebuilder(base)?;
        for (name, node) in &self.below {
            let before =
                base.and_then(|base| base.get_name(name)).map(|entry| (entry.id(), entry.kind()));
            if let Some(TreeChange::Put(id, mode)) = node.own {
                builder.insert(name, id, mode.into())?;
                continue;
            }
            // What lies below a submodule is of another repository.
            let keeps_submodule = matches!(
                (node.own, before),
                (Some(TreeChange::NoFile) | None, Some((_, Some(ObjectType::Commit))))
            );
            if keeps_submodule {
                continue;
            }
            let folder = match before {
                Some((id, Some(ObjectType::Tree))) => Some(git.find_tree(id)?),
                _ => None,
            };
            if node.below.is_empty() && folder.is_some() {
                continue;
            }
            match node.rewrite(git, folder.as_ref())? {
                Some(id) => {
                    builder.insert(name, id, FileMode::Tree.into())?;
                }
                None if before.is_some() => builder.remove(name)?,
                None => {}
            }
        }
        Ok(if builder.is_empty() { None } else { Some(builder.write()?) })
    }
}

/// Reads what a tree keeps at a path; `None` for folders, submodules and nothing.
///
/// # Errors
/// When git cannot read it.
pub(super) fn stored_in(
    git: &Repository,
    tree: &Tree<'_>,
    path: &RepoPath,
) -> Result<Option<StoredFile>, RepoError> {
    if path.is_root() {
        return Ok(None);
    }
    let entry = entry_at(tree, path)?.filter(|entry| entry.kind() == Some(ObjectType::Blob));
    let Some(entry) = entry else { return Ok(None) };
    let content = git.find_blob(entry.id())?.content().to_vec();
    Ok(Some(StoredFile { mode: file_mode(entry.filemode()), content }))
}

/// Returns the mode of a file or link as we write it: of files, only whether they may be executed.
pub(super) fn file_mode(mode: i32) -> FileMode {
    match mode {
        mode if mode == i32::from(FileMode::BlobExecutable) => FileMode::BlobExecutable,
        mode if mode == i32::from(FileMode::Link) => FileMode::Link,
        _ => FileMode::Blob,
    }
}
