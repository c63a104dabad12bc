//! The checkout: files beneath its root, git objects, and the git program. Every effect takes a
//! permit.

pub mod aside;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod attacks;
mod attributes;
mod beneath;
mod caches;
pub mod carried;
mod changes;
pub mod checkout;
mod checkpoint;
mod commit;
pub mod committed;
pub mod copied;
pub mod diff;
#[cfg(test)]
mod fixture;
pub mod git_binary;
mod history;
pub mod index_folder;
pub mod layer;
pub mod memory_ref;
pub mod merge;
mod opened;
mod outputs;
mod own_ref;
mod patch_id;
mod planted;
pub mod rebase;
mod rebuilt;
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
