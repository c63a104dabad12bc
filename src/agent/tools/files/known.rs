//! `KnownFiles`: what a task's model knows of files: the content it read or wrote last, by hash.
//!
//! Computed from the journal alone, so that a resumed task knows what the stopped one did. An edit
//! of a file that holds something else by now, and an overwrite of one that was never read, would
//! destroy what the model never saw. What a command or a sub-task changed counts as not seen, and
//! a part of a file that was read as the whole.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use locum_base::path::RepoPath;

/// What a call showed the model of a file, or wrote for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    /// Its real path.
    pub path: RepoPath,
    /// Hash of its whole content.
    pub hash: String,
}

impl SeenFile {
    /// Notes a file's whole content.
    pub fn new(path: &RepoPath, content: &[u8]) -> Self {
        Self { path: path.clone(), hash: content_hash(content) }
    }

    /// Returns the same of a file that was moved.
    pub(crate) fn at(self, path: &RepoPath) -> Self {
        Self { path: path.clone(), ..self }
    }
}

/// What a task's model knows of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFiles {
    hashes: BTreeMap<RepoPath, String>,
    /// What calls that answered the last reply are refused until they are sent again.
    asked: BTreeSet<String>,
    /// The same of the last reply before it that has any: what a call sent now confirms.
    unconfirmed: BTreeSet<String>,
}

/// What a model knows of the content a file has now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquaintance {
    /// It read or wrote exactly this.
    Current,
    /// It read or wrote something else.
    Outdated,
    /// It never read or wrote it.
    Unread,
}

impl KnownFiles {
    /// Takes in what a call showed or wrote, and the edit it refused until it is sent again.
    pub fn note(&mut self, seen: &[SeenFile], unconfirmed: Option<&String>) {
        for SeenFile { path, hash } in seen {
            self.hashes.insert(path.clone(), hash.clone());
        }
        self.asked.extend(unconfirmed.cloned());
    }

    /// Whether calls were refused until they are sent again, and the model has not replied since.
    pub fn has_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Notes a reply: its calls are sent by a model that has read what was asked. A call that is
    /// twice in one reply confirms nothing.
    pub fn replied(&mut self) {
        if self.has_asked() {
            self.unconfirmed = std::mem::take(&mut self.asked);
        }
    }

    /// Says what is known of a file that holds this now.
    pub fn acquaintance(&self, path: &RepoPath, content: &[u8]) -> Acquaintance {
        match self.hashes.get(path) {
            None => Acquaintance::Unread,
            Some(hash) if *hash == content_hash(content) => Acquaintance::Current,
            Some(_) => Acquaintance::Outdated,
        }
    }

    /// Whether an edit is among those that were last refused until they are sent again.
    pub fn is_confirmed(&self, edit: &str) -> bool {
        self.unconfirmed.contains(edit)
    }
}

/// Returns what tells a content from others: half of its SHA-256.
pub fn content_hash(content: &[u8]) -> String {
    format!("{:x}", Sha256::digest(content)).split_at(32).0.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Acquaintance, KnownFiles, SeenFile};
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn knows_what_was_seen_last() {
        let (path, other) = (RepoPath::parse("a").unwrap(), RepoPath::parse("b").unwrap());
        let mut known = KnownFiles::default();
        assert_eq!(known.acquaintance(&path, b"1"), Acquaintance::Unread);
        known.note(&[SeenFile::new(&path, b"1")], None);
        assert_eq!(known.acquaintance(&path, b"1"), Acquaintance::Current);
        assert_eq!(known.acquaintance(&path, b"2"), Acquaintance::Outdated);
        assert_eq!(known.acquaintance(&other, b"1"), Acquaintance::Unread);
        known.note(&[SeenFile::new(&path, b"2")], None);
        assert_eq!(known.acquaintance(&path, b"2"), Acquaintance::Current);
    }

    #[test]
    fn only_a_later_reply_confirms() {
        let mut known = KnownFiles::default();
        let asked = |known: &mut KnownFiles, edit: &str| known.note(&[], Some(&edit.to_owned()));
        let confirmed = |known: &KnownFiles| ["x", "y", "z"].map(|edit| known.is_confirmed(edit));
        known.replied();
        asked(&mut known, "x");
        asked(&mut known, "y");
        assert_eq!(confirmed(&known), [false, false, false]);
        known.replied();
        assert_eq!(confirmed(&known), [true, true, false]);
        // What else is done in between changes nothing, until there is something newer.
        known.replied();
        asked(&mut known, "z");
        assert_eq!(confirmed(&known), [true, true, false]);
        known.replied();
        assert_eq!(confirmed(&known), [false, false, true]);
    }
}
