//! `SharedFolders`: what a layer over a worktree shows of the checkout that the worktree stands
//! for.
//!
//! In: the folders of the checkout. Out: folders for what is written to them, below the layer's.
#![expect(clippy::disallowed_methods, reason = "shared folders lie in the folder of a layer")]

use std::path::{Path, PathBuf};
use std::{fs, io};

use git2::{ObjectType, Oid};

use locum_base::path::RepoPath;
use locum_sandbox::{LayerFolders, MovedGit, SharedFolder, StandIn, remove_all};

/// What stands for a checkout, and what is seen of the checkout in it.
#[derive(Debug)]
pub(super) struct SharedFolders {
    pub(super) root: PathBuf,
    pub(super) folders: Vec<SharedFolder>,
    pub(super) common: Option<MovedGit>,
}

impl SharedFolders {
    pub(super) fn stands_for(&self) -> StandIn<'_> {
        StandIn { root: &self.root, shared: &self.folders, common: self.common.as_ref() }
    }
}

/// Folder below those of all shared folders: what is written to each of them lies in it at the path
/// of the shared folder.
const WRITTEN: &str = "written";

/// Makes the folders for what is written to a shared folder, below `folder`.
pub(super) fn make(folder: &Path, path: RepoPath, lower: Vec<PathBuf>) -> io::Result<SharedFolder> {
    let name = Oid::hash_object(ObjectType::Blob, path.as_str().as_bytes());
    let own = folder.join(name.map_err(io::Error::other)?.to_string());
    let upper = folder.join(WRITTEN).join(path.as_str());
    fs::create_dir_all(&own)?;
    fs::create_dir_all(&upper)?;
    Ok(SharedFolder { path, lower, upper, work: own.join("work") })
}

/// Removes what [`make`] made.
pub(super) fn discard(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let own = entry?.path();
        LayerFolders::over(&own.join("upper"), &own.join("work")).empty_work()?;
    }
    remove_all(folder)
}
