//! What git ignores in a checkout, seen in a worktree that stands for it: dependencies and build
//! output, which a worktree lacks.
//!
//! In: a checkout with its layer, and the worktree. Out: folders of both, copied on write, and the
//! places in the worktree where they are seen.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use git2::{Status, StatusOptions, StatusShow};

use crate::caches::CACHES;
use crate::layer::{Layer, on_layer};
use crate::repo::{Repo, RepoError};
use crate::shared::SharedFolders;
use crate::worktree::{COMMON_FILE, COMMON_FOLDER};
use locum_base::path::RepoPath;
use locum_sandbox::MovedGit;

/// Most folders that are seen: each costs a mount.
const FOLDERS_LIMIT: usize = 64;

impl Repo {
    /// Returns the folders that git ignores in this checkout and in the layer over it, besides
    /// caches, each with what is seen there, the uppermost first.
    pub(super) fn shareable_folders(
        &self,
        layer: Option<&Layer>,
    ) -> Result<BTreeMap<RepoPath, Vec<PathBuf>>, RepoError> {
        let mut options = StatusOptions::new();
        options.show(StatusShow::Workdir).include_ignored(true).recurse_ignored_dirs(false);
        options.exclude_submodules(true).no_refresh(true);
        let statuses = self.git.statuses(Some(&mut options))?;
        let ignored = statuses.iter().filter(|entry| entry.status() == Status::IGNORED);
        let on_disk =
            ignored.filter_map(|entry| RepoPath::parse(entry.path().ok()?.strip_suffix('/')?).ok());
        let mut found: BTreeMap<RepoPath, Vec<PathBuf>> = BTreeMap::new();
        if let Some(layer) = layer {
            for folder in layer.shared() {
                let lower = std::iter::once(&folder.upper).chain(&folder.lower).cloned();
                found.insert(folder.path.clone(), lower.collect());
            }
            for path in self.ignored_in(layer)? {
                found.entry(path.clone()).or_insert_with(|| vec![layer.upper_at(&path)]);
            }
        }
        for path in on_disk {
            let at = self.checkout.absolute(&path);
            if layer.is_none_or(|layer| layer.shared().iter().all(|folder| folder.path != path)) {
                found.entry(path).or_default().push(at);
            }
        }
        found.retain(|path, _| !path.name().is_some_and(|name| CACHES.contains(&name)));
        Ok(found)
    }

    /// Returns the folders in a layer that git ignores, without those inside them.
    fn ignored_in(&self, layer: &Layer) -> Result<Vec<RepoPath>, RepoError> {
        let mut found = Vec::new();
        let mut ahead = vec![RepoPath::root()];
        while let Some(folder) = ahead.pop() {
            let names = layer.names(&folder).map_err(|source| on_layer(&folder, source))?;
            for path in names.into_iter().flatten() {
                let facts = layer.facts(&path).map_err(|source| on_layer(&path, source))?;
                if !facts.is_dir() || path.name() == Some(".git") {
                    continue;
                }
                let ignored = self.stays(layer, &path, true)?;
                if ignored { &mut found } else { &mut ahead }.push(path);
            }
        }
        Ok(found)
    }

    /// Lets commands in this worktree find it where another checkout is, with what git ignores
    /// there. `layer` is the one over the worktree, `other_layer` that over the checkout.
    ///
    /// # Errors
    /// When the checkout cannot be looked at or the folders cannot be made.
    pub fn stand_for(
        &self,
        layer: &mut Layer,
        other: &Self,
        other_layer: Option<&Layer>,
    ) -> Result<(), RepoError> {
        let mut ignored: Vec<_> = other.shareable_folders(other_layer)?.into_iter().collect();
        ignored.sort_by_key(|(path, _)| path.parts().count());
        ignored.truncate(FOLDERS_LIMIT);
        let mut folders = Vec::new();
        for (path, lower) in ignored {
            // Where something else stands in its way in the worktree, it is not seen.
            if self.checkout.beneath.folder_made(&path).is_ok() {
                // What tools write there lies in the worktree itself.
                let own = self.checkout.absolute(&path);
                let lower = std::iter::once(own).chain(lower).collect();
                folders.push(layer.share(path, lower).map_err(|source| unusable(layer, source))?);
            }
        }
        let root = other_layer
            .and_then(Layer::stands_for)
            .map_or(other.root(), |stands_for| stands_for.root)
            .to_owned();
        let (own, common) = (self.git.path(), self.git.commondir());
        let common = common.canonicalize().map_err(|source| unusable(layer, source))?;
        let moved = MovedGit {
            seen_at: own.join(COMMON_FOLDER),
            named_in: own.join(COMMON_FILE),
            folder: common,
        };
        let common = moved.folder.starts_with(&root).then_some(moved);
        let shared = SharedFolders { root, folders, common };
        layer.stand(shared).map_err(|source| unusable(layer, source))
    }
}

fn unusable(layer: &Layer, source: io::Error) -> RepoError {
    RepoError::Worktree {
        folder: layer.folders().upper.display().to_string(),
        message: source.to_string(),
    }
}
