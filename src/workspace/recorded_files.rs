//! `RecordedFiles`: which files are kept as they were before a command that may change them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::repo::CommitId;
use locum_base::path::RepoPath;

/// Files as they are before a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFiles {
    /// A commit that has them. No ref names it; git keeps such a commit for two weeks.
    pub commit: CommitId,
    /// The files in it.
    pub paths: BTreeSet<RepoPath>,
    /// Files that are not in it: too large, too many, or not for the run to read.
    pub left_out: BTreeSet<RepoPath>,
}
