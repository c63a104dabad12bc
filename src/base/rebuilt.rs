//! `Rebuilt`: a commit as a forge can recreate it from the one before it: each path that changes,
//! with its mode and content. Read from git by `workspace`, made again by `forge`.

/// A commit, path by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The commit it builds on.
    pub parent: String,
    /// Tree of that commit.
    pub parent_tree: String,
    /// The tree that has to come of it, so that what was judged is what is published.
    pub tree: String,
    /// Message of the commit.
    pub message: String,
    /// Paths that differ.
    pub entries: Vec<RebuiltEntry>,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebuiltEntry {
    /// Path in the tree.
    pub path: String,
    /// What it is now; `None` when it is gone.
    pub now: Option<RebuiltFile>,
}

/// A file or link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebuiltFile {
    /// Git's mode: `100644`, `100755` or `120000`.
    pub mode: &'static str,
    /// Name of the content in git.
    pub blob: String,
    /// Content in bytes.
    pub content: Vec<u8>,
}
