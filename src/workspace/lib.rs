//! The checkout: files beneath its root, git objects, and the git program. Every effect takes a
//! permit.
//!
//! # A checkout
//!
//! [`checkout::Checkout`] opens files beneath one root without ever leaving it, whatever links lie
//! there. [`repo::Repo`] has git's objects and refs. A [`Workspace`] is both:
//!
//! ```
//! # use std::path::Path;
//! # use locum_workspace::{Workspace, checkout::Checkout, repo::Repo};
//! # fn open(root: &Path) -> Result<Workspace, Box<dyn std::error::Error>> {
//! Ok(Workspace { checkout: Checkout::open(root)?, repo: Repo::open(root)? })
//! # }
//! ```
//!
//! # What a run does to it
//!
//! 1. Tools read and write files with a permit that names them.
//! 2. Commands write to a [`layer::Layer`] over the checkout. What they changed is judged there,
//!    and only then brought in. Without a layer, [`touched`] compares before and after.
//! 3. Touched files are kept as checkpoints on a private ref, below `refs/locum/`.
//! 4. Sub-tasks that run in parallel have a [`worktree`] each. [`merge`] joins what they changed,
//!    and a [`checkout_update`] brings it into a checkout, completely or not at all.
//! 5. What is published is a commit of its own. `HEAD`, the index and the files stay as they are.
//!
//! [`git_binary`] starts the `git` program for what libgit2 cannot do, or does slowly: status,
//! fetch and push. No hook, filter or helper of the repository starts with it.

pub mod aside;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod attacks;
mod attributes;
pub mod below;
mod beneath;
mod caches;
pub mod carried;
mod changes;
pub mod checkout;
pub mod checkout_update;
mod checkpoint;
mod closed;
mod commit;
pub mod committed;
pub mod copied;
pub mod diff;
mod file_stamp;
mod filtered;
#[cfg(test)]
mod fixture;
pub mod git_binary;
mod git_data;
mod guarded;
mod history;
pub mod index_folder;
pub mod layer;
pub mod lfs_pointer;
mod links;
mod look_further;
pub mod memory_ref;
pub mod merge;
mod moved_out;
mod opened;
pub mod outputs;
mod own_ref;
mod patch_id;
mod planted;
pub mod private;
pub mod rebase;
mod rebuilt;
pub mod recorded_files;
pub mod remote;
pub mod repo;
pub mod revert;
pub mod run_lock;
pub mod seed;
mod session_refs;
mod shared;
mod stand_in;
mod stored;
mod switch;
pub mod touched;
mod trees;
pub mod uncommitted;
pub mod updated;
pub mod worktree;
pub mod writable;
mod write;

use crate::checkout::Checkout;
use crate::repo::Repo;

/// A git checkout the run works in.
pub struct Workspace {
    /// Files of the checkout, below its root.
    pub checkout: Checkout,
    /// Its objects and refs.
    pub repo: Repo,
}
