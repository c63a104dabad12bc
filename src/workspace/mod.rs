//! Floor 4: the checkout and the machine. Files beneath the root, git objects, child processes. Every effect takes a permit.

#[cfg(test)]
mod attacks;
mod attributes;
mod beneath;
pub mod carried;
pub mod checkout;
mod checkpoint;
mod commit;
pub mod committed;
pub mod diff;
pub mod env;
pub mod exec;
#[cfg(test)]
mod fixture;
pub mod git_binary;
pub mod merge;
pub mod network;
pub mod rebuilt;
pub mod remote;
pub mod repo;
pub mod sandbox;
pub mod seed;
mod stored;
mod switch;
pub mod touched;
mod trees;
pub mod worktree;
mod write;

use crate::workspace::checkout::Checkout;
use crate::workspace::repo::Repo;

/// A git checkout the run works in.
pub struct Workspace {
    /// Its files.
    pub checkout: Checkout,
    /// Its objects and refs.
    pub repo: Repo,
}
