//! `CheckoutChanges`: what a session changed in one checkout, the run's own or a worktree.

use std::collections::{BTreeMap, BTreeSet};

use locum_base::path::RepoPath;
use locum_workspace::repo::CommitId;

/// What was changed in a checkout.
#[derive(Clone, Debug, Default)]
pub struct CheckoutChanges {
    /// What it began with; `None` for the run's own, which began with the run's base.
    pub start: Option<CommitId>,
    /// Every path touched in it, with its lines changed since the start; `None` for those that are
    /// as they were there.
    pub touched: BTreeMap<RepoPath, Option<u32>>,
    /// Paths touched since the last checkpoint.
    pub unsaved: BTreeSet<RepoPath>,
    /// Commit of the last checkpoint.
    pub checkpoint: Option<CommitId>,
}
