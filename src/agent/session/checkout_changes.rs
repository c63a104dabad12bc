//! `CheckoutChanges`: what a session changed in one checkout, the run's own or a worktree.

use std::collections::{BTreeMap, BTreeSet};

use crate::session::recorded::TouchedPath;
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
    /// Files that had changes in no commit when a command changed them first.
    pub(crate) uncommitted: BTreeMap<RepoPath, KeptBefore>,
    /// The last checkpoint that the session itself made.
    pub(crate) made: Option<KeptBefore>,
}

/// A checkpoint of files as they were before a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptBefore {
    /// Its number, counted from 1.
    pub(crate) number: usize,
    /// Its commit.
    pub(crate) commit: CommitId,
}

impl CheckoutChanges {
    /// Takes in a checkpoint; `uncommitted` is what it has of files that were in no commit.
    pub(crate) fn save(&mut self, commit: &CommitId, uncommitted: &BTreeSet<RepoPath>) {
        self.checkpoint = Some(commit.clone());
        self.unsaved.clear();
        let before = self.made.take();
        // One that changed nothing is none.
        let made = before.clone().filter(|made| made.commit == *commit);
        let made = made.unwrap_or_else(|| KeptBefore {
            number: before.map_or(0, |made| made.number) + 1,
            commit: commit.clone(),
        });
        for path in uncommitted {
            self.uncommitted.entry(path.clone()).or_insert_with(|| made.clone());
        }
        self.made = Some(made);
    }

    /// Takes in how many lines of a file are changed; returns how many were.
    pub(crate) fn count(&mut self, file: &TouchedPath) -> Option<u32> {
        self.touched.insert(file.path.clone(), file.diff_lines).flatten()
    }
}
