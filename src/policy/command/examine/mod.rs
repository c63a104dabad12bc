//! What the words of one simple command would do: options looked up in the tables, operands turned
//! into paths that are read or written, and everything that a `:*` may not cover.
//!
//! In: literal words and the folder they run in. Out: a [`CommandEffects`]. It knows no rules; the
//! policy weighs what is found.

mod archives;
pub(crate) mod awk;
mod copied;
mod examiner;
pub(crate) mod fed;
pub(crate) mod given;
mod handed;
mod java;
mod launchers;
pub(crate) mod names;
mod native;
mod operands;
mod options;
mod own_patterns;
mod passed_on;
mod patterns;
mod programs;
mod protected;
mod scripts;
mod searches;
mod sed;
mod targets;
mod word_paths;
mod xargs;
mod yq;

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
    /// Files it writes that a shell finds by a pattern: all that match.
    pub edit_globs: Vec<PathGlob>,
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
    /// Whether a table says what it does.
    pub is_known: bool,
    /// Commands that it starts by the names in its words, each to be judged as if it stood alone.
    pub starts: Vec<StartedCommand>,
    /// Whether starting them is all it does: then it needs no rule of its own.
    pub only_starts: bool,
    /// Whether it is git that shows files of a commit whatever they are called, hidden ones too.
    pub shows_hidden: bool,
    /// Whether only the sandbox keeps it from what may not be seen.
    pub needs_sandbox: bool,
    /// Why no rule at all may allow it.
    pub never: Option<String>,
}

impl CommandEffects {
    /// Returns what either of two commands would do.
    pub(super) fn and(mut self, other: Self) -> Self {
        let new = |finding: &UncoveredWord| !self.findings.contains(finding);
        let findings: Vec<_> = other.findings.into_iter().filter(new).collect();
        self.findings.extend(findings);
        self.reads.extend(other.reads);
        self.edits.extend(other.edits);
        self.edit_globs.extend(other.edit_globs);
        self.perhaps.extend(other.perhaps);
        self.globs.extend(other.globs);
        self.trees.extend(other.trees);
        self.starts.extend(other.starts);
        self.descends |= other.descends;
        self.runs_code |= other.runs_code;
        self.only_reads &= other.only_reads;
        self.is_known &= other.is_known;
        self.only_starts &= other.only_starts;
        self.shows_hidden |= other.shows_hidden;
        self.needs_sandbox |= other.needs_sandbox;
        self.never = self.never.or(other.never);
        self
    }

    /// Tells scratch files from others, now that it is known where the repository lies. Code of the
    /// repository is given none to read: there could be settings or more code in it.
    pub(super) fn settled(mut self, root: &str) -> Self {
        let settled =
            |uses: Vec<PathUse>| uses.into_iter().map(|used| used.settled(root)).collect();
        self.edits = settled(self.edits);
        if !self.runs_code {
            self.reads = settled(self.reads);
        }
        for inner in &mut self.starts {
            inner.effects = std::mem::take(&mut inner.effects).settled(root);
        }
        self
    }
}

/// A command inside another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedCommand {
    /// Its words.
    pub words: Vec<String>,
    /// What it would do.
    pub effects: CommandEffects,
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
    /// Whether it is about a command that is started: nothing where that one is allowed by itself.
    pub started: bool,
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
    /// Not in the repository, and in a folder for temporary files, where a command has its own or
    /// can write nothing.
    Scratch(String),
}

impl PathUse {
    /// Returns the path, if it can be in the repository.
    pub fn inside(&self) -> Option<&RepoPath> {
        match self {
            Self::Inside(path) | Self::Perhaps(path) => Some(path),
            Self::Outside(_) | Self::Scratch(_) => None,
        }
    }

    /// Returns what it is where the repository lies at `root`: a file below a folder for temporary
    /// files belongs neither to the repository nor to the machine.
    pub(super) fn settled(self, root: &str) -> Self {
        match self {
            Self::Outside(path) if is_scratch(&path, root) => Self::Scratch(path),
            used => used,
        }
    }
}

/// Folders for temporary files.
const SCRATCH: &[&str] = &["/tmp/", "/var/tmp/", "/dev/shm/"];

/// Returns true for a path below a folder for temporary files, spelled plainly, that neither leads
/// to the repository nor holds it.
fn is_scratch(path: &str, root: &str) -> bool {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let below = SCRATCH.iter().find_map(|folder| trimmed.strip_prefix(folder));
    let meets = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below.is_some_and(|below| below.split('/').all(plain))
        && (root.is_empty() || (!meets(trimmed, root) && !meets(root, trimmed)))
}

/// Returns the path a word names, seen from a folder; `None` for what is harmless anywhere (`-`,
/// `/dev/null`). What has a scheme is none of the repository: many programs fetch it.
pub fn path_use(word: &str, folder: &RepoPath) -> Option<PathUse> {
    if word == "-" || word == "/dev/null" {
        return None;
    }
    if word.contains("://") {
        return Some(PathUse::Outside(word.to_owned()));
    }
    Some(folder.join(word).map_or_else(|_| PathUse::Outside(word.to_owned()), PathUse::Inside))
}

#[cfg(test)]
mod tests;
