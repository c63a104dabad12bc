//! `ForgeCommit`: a commit that the forge makes and signs itself, described path by path.

use locum_policy::intent::{Act, Intent, PublicationKind};

/// A commit to be made at the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeCommit {
    /// The branch it goes onto.
    pub branch: String,
    /// Whether that branch exists.
    pub onto: TargetBranch,
    /// The commit it builds on.
    pub parent: String,
    /// Tree of that commit.
    pub parent_tree: String,
    /// The tree that has to come of it, so that what was judged is what is published.
    pub tree: String,
    /// Message of the commit.
    pub message: String,
    /// Paths that differ.
    pub entries: Vec<CommitEntry>,
}

/// Whether a branch exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetBranch {
    /// It is made.
    NewBranch,
    /// It is moved forward from the parent.
    Branch,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitEntry {
    /// Path in the tree.
    pub path: String,
    /// Git's mode, the name of the content in git, and the content; `None` when it is gone.
    pub now: Option<(&'static str, String, Vec<u8>)>,
}

impl Act for ForgeCommit {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Commit)]
    }
}
