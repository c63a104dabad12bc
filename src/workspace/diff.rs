//! Unified diffs of the files a run touched, and their size in lines.

/// A change to one file, from the run's base to now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileChange {
    /// The file.
    pub path: crate::base::path::RepoPath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// The unified diff with `--- a/` and `+++ b/` headers; a line saying so for binary files.
    pub patch: String,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It is gone.
    Deleted,
}
