//! What the words of one simple command would do: options looked up in the tables, operands turned
//! into paths that are read or written, and everything that a `:*` may not cover.
//!
//! In: literal words and the folder they run in. Out: a [`CommandEffects`]. It knows no rules; the
//! policy weighs what is found.

mod examiner;
mod operands;
mod options;
mod programs;

use crate::glob::PathGlob;
use locum_base::path::RepoPath;

/// What one simple command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEffects {
    /// What `:*` does not cover, by the index of the word: a rule that spells that word out covers
    /// it.
    pub findings: Vec<UncoveredWord>,
    /// Files and folders it reads.
    pub reads: Vec<PathUse>,
    /// Files it writes.
    pub edits: Vec<PathUse>,
    /// Where no table says which words are paths: what any word of it, or a part of one, could
    /// name.
    pub perhaps: Vec<RepoPath>,
    /// Files that a shell finds by a pattern, and whether that is an absolute one.
    pub globs: Vec<(bool, PathGlob)>,
    /// Paths of another revision: if one is a folder, what is shown of it has no names from the
    /// root.
    pub trees: Vec<RepoPath>,
    /// Whether it also reads what lies in the folders it is given.
    pub descends: bool,
    /// Whether it runs code of the repository.
    pub runs_code: bool,
    /// Whether it is known to only read.
    pub only_reads: bool,
    /// Why no rule at all may allow it.
    pub never: Option<String>,
}

/// A word that `:*` does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncoveredWord {
    /// Position among the words of the command, from 0.
    pub index: usize,
    /// Why `:*` does not cover it.
    pub reason: String,
    /// Whether it only means that nothing is known of a verb or program.
    pub unfamiliar: bool,
}

/// A path a command uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathUse {
    /// In the repository.
    Inside(RepoPath),
    /// In the repository, if it is a path at all: only a refusal counts.
    Perhaps(RepoPath),
    /// Not in the repository.
    Outside(String),
}

impl PathUse {
    /// Returns the path, if it can be in the repository.
    pub fn inside(&self) -> Option<&RepoPath> {
        match self {
            Self::Inside(path) | Self::Perhaps(path) => Some(path),
            Self::Outside(_) => None,
        }
    }
}

/// Returns the path a word names, seen from a folder; `None` for what is harmless anywhere (`-`,
/// `/dev/null`).
pub fn path_use(word: &str, folder: &RepoPath) -> Option<PathUse> {
    if word == "-" || word == "/dev/null" {
        return None;
    }
    Some(folder.join(word).map_or_else(|_| PathUse::Outside(word.to_owned()), PathUse::Inside))
}

#[cfg(test)]
mod tests;
