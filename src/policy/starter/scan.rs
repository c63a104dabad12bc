//! `StarterScan`: what is known of a repository, and the lines of a policy that are made of it.

use std::collections::BTreeMap;

use crate::pattern::Pattern;
use crate::words;
use locum_base::path::RepoPath;

/// What is known of a repository.
#[derive(Clone, Debug, Default)]
pub struct StarterScan {
    /// Its files, sorted; without those that git ignores.
    pub files: Vec<RepoPath>,
    /// The texts of those that [`is_read`](crate::starter::is_read) names.
    pub texts: BTreeMap<RepoPath, String>,
    /// Modes of its own.
    pub modes: Vec<OwnMode>,
}

/// A mode of the repository's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnMode {
    /// Its slug, as its file names it.
    pub slug: String,
    /// Whether it may edit files or run commands.
    pub writes: bool,
}

/// One line of the policy with what it is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProposedLine {
    pub(super) pattern: String,
    pub(super) why: String,
}

impl ProposedLine {
    /// `None` when the pattern cannot be written: a name with a wildcard or a control character in
    /// it.
    pub(super) fn new(pattern: String, why: impl Into<String>) -> Option<Self> {
        let why: String = why.into();
        let plain = !why.chars().any(char::is_control);
        (plain && Pattern::parse(&pattern).is_ok()).then_some(Self { pattern, why })
    }

    /// Returns the glob of a line about edits.
    pub(super) fn edited(&self) -> Option<&str> {
        self.pattern.strip_prefix("edit(")?.strip_suffix(')')
    }

    /// Returns true for a command after which more words may follow.
    pub(super) fn is_open(&self) -> bool {
        self.pattern.ends_with(":*)")
    }

    /// Returns true for one that covers what begins so. Which module an interpreter runs is not
    /// covered by a line for the interpreter.
    pub(super) fn is_wide(&self) -> bool {
        self.is_open() && !self.pattern.contains(" -m ")
    }

    /// Returns true when another line says the same for more.
    pub(super) fn is_covered(&self, others: &[Self]) -> bool {
        let Ok(own) = Pattern::parse(&self.pattern) else { return false };
        let others = others.iter().filter(|other| other.pattern != self.pattern);
        others
            .filter_map(|other| Pattern::parse(&other.pattern).ok())
            .any(|other| other.covers(&own))
    }
}

/// Folders of what is installed: their manifests are those of others.
const INSTALLED: &str = "node_modules .venv venv site-packages bower_components";

/// Returns true for a file of what is installed.
pub(super) fn is_installed(path: &RepoPath) -> bool {
    path.parts().any(|part| words::holds(INSTALLED, part))
}

/// Returns the folder a file lies in and its name, as texts; the folder of a top-level file is
/// empty.
pub(super) fn split(path: &RepoPath) -> (&str, &str) {
    path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()))
}

/// Returns the folder that holds another one; empty for the top.
pub(super) fn parent(folder: &str) -> &str {
    folder.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Returns the path of a file in a folder.
pub(super) fn at(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether a folder has a file.
pub(super) fn has(scan: &StarterScan, folder: &str, name: &str) -> bool {
    let path = at(folder, name);
    scan.files.iter().any(|file| file.as_str() == path)
}

/// Returns the text of a file in a folder.
pub(super) fn text<'s>(scan: &'s StarterScan, folder: &str, name: &str) -> Option<&'s str> {
    let path = RepoPath::parse(&at(folder, name)).ok()?;
    scan.texts.get(&path).map(String::as_str)
}

/// Whether the name of a file or folder means nothing but itself to a shell, to YAML and to
/// Actions: only such names get into a workflow.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(plain)
}
