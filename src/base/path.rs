//! `RepoPath`: a place inside the checkout, as text that has been checked once and can be trusted
//! afterwards.
//! In: whatever a user, a file or a model wrote. Out: a relative, `/`-separated, dot-free path, or
//! why it is not one. It does not look at the disk: links are resolved by `workspace`, protection
//! is decided by `policy`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest accepted path, in bytes (Linux `PATH_MAX`, without the closing NUL).
pub const PATH_LIMIT_BYTES: usize = 4095;

/// A path relative to the checkout's root: `/` between parts, no `.` or `..` part, no control
/// character.
///
/// The root itself is the empty path and is shown as `.`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

/// Why a text is not a [`RepoPath`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The text starts at the file system's root, a home directory or a drive.
    #[error("path `{0}` is absolute; give a path relative to the repository root")]
    Absolute(String),
    /// A `..` part climbs above the root.
    #[error("path `{0}` leaves the repository")]
    Outside(String),
    /// The text holds a NUL, a newline or another control character.
    #[error("path {0:?} holds a control character")]
    Control(String),
    /// The text is longer than [`PATH_LIMIT_BYTES`].
    #[error("path of {0} bytes is longer than {PATH_LIMIT_BYTES}")]
    TooLong(usize),
    /// The text is empty.
    #[error("path is empty; use `.` for the repository root")]
    Empty,
}

impl RepoPath {
    /// Reads a path as written by a user or a model; `a/./b`, `a//b` and `a/../b` are reduced to
    /// their plain form.
    ///
    /// # Errors
    /// When the text is empty, absolute, leaves the root, is too long or holds control characters.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > PATH_LIMIT_BYTES {
            return Err(PathError::TooLong(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(PathError::Control(text.to_owned()));
        }
        if text.starts_with('/') || text.starts_with('~') || has_drive(text) {
            return Err(PathError::Absolute(text.to_owned()));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| PathError::Outside(text.to_owned()))?;
                }
                part => parts.push(part),
            }
        }
        Ok(Self(parts.join("/")))
    }

    /// Returns the checkout's root.
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Returns the path as text; the root is `.`.
    pub fn as_str(&self) -> &str {
        if self.0.is_empty() { "." } else { &self.0 }
    }

    /// Returns true for the checkout's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the parts between the slashes; none for the root.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// Returns the last part, or `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.parts().last()
    }

    /// Returns the folder this path lies in; the root is its own parent.
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map(|(head, _)| head.to_owned()).unwrap_or_default())
    }

    /// Returns this path with `below` added, read as [`RepoPath::parse`] reads it.
    ///
    /// # Errors
    /// As [`RepoPath::parse`]; also when `below` climbs above the root through `..`.
    pub fn join(&self, below: &str) -> Result<Self, PathError> {
        if below.starts_with('/') || below.starts_with('~') || has_drive(below) {
            return Err(PathError::Absolute(below.to_owned()));
        }
        if self.is_root() {
            Self::parse(below)
        } else {
            Self::parse(&format!("{}/{below}", self.0))
        }
    }

    /// Returns the path of an entry of this folder by its name, as a walk finds it: `~` and drive
    /// letters mean something at the start of a path alone, so not where this is no root.
    ///
    /// # Errors
    /// As [`RepoPath::parse`]; also when `name` is no single name.
    pub fn child(&self, name: &str) -> Result<Self, PathError> {
        match name {
            "" | "." => Err(PathError::Empty),
            ".." => Err(PathError::Outside(name.to_owned())),
            _ if name.contains('/') => Err(PathError::Absolute(name.to_owned())),
            _ if self.is_root() => Self::parse(name),
            _ => Self::parse(&format!("{}/{name}", self.0)),
        }
    }

    /// Returns true when this path is `folder` or lies below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self == folder
            || self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl TryFrom<String> for RepoPath {
    type Error = PathError;
    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.as_str().to_owned()
    }
}

fn has_drive(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('/' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::{PathError, RepoPath};
    use pretty_assertions::assert_eq;

    #[test]
    fn brings_paths_to_their_plain_form() {
        for (written, plain) in [
            ("src/main.rs", "src/main.rs"),
            ("./src//a/../b", "src/b"),
            (".", "."),
            ("a/..", "."),
            ("a/", "a"),
            ("ä b", "ä b"),
        ] {
            assert_eq!(
                RepoPath::parse(written).map(String::from),
                Ok(plain.to_owned()),
                "{written}"
            );
        }
    }

    #[test]
    fn refuses_what_is_not_inside() {
        for written in ["/etc/passwd", "~/x", "C:/x", "c:\\x"] {
            assert!(matches!(RepoPath::parse(written), Err(PathError::Absolute(_))), "{written}");
        }
        for written in ["..", "a/../../b"] {
            assert!(matches!(RepoPath::parse(written), Err(PathError::Outside(_))), "{written}");
        }
        assert!(matches!(RepoPath::parse("a\0b"), Err(PathError::Control(_))));
        assert_eq!(RepoPath::parse(""), Err(PathError::Empty));
        assert_eq!(RepoPath::parse(&"a".repeat(5000)), Err(PathError::TooLong(5000)));
    }

    #[test]
    fn an_entry_of_a_folder_may_begin_with_a_tilde_and_a_written_path_may_not() {
        let folder = RepoPath::parse("src").unwrap();
        for name in ["~y", "~$w.docx", "c:\\x", "a b"] {
            let path = folder.child(name).map(String::from);
            assert_eq!(path, Ok(format!("src/{name}")), "{name}");
        }
        for name in ["~y", "c:\\x"] {
            assert!(folder.join(name).is_err() && RepoPath::root().child(name).is_err(), "{name}");
        }
        for name in ["", ".", "..", "a/b", "/a", "a\n"] {
            assert!(folder.child(name).is_err(), "{name:?}");
        }
        assert_eq!(RepoPath::root().child("a").map(String::from), Ok("a".to_owned()));
    }

    #[test]
    fn knows_what_lies_within_a_folder() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        assert!(path("src/a").is_within(&path("src")));
        assert!(path("src").is_within(&RepoPath::root()));
        assert!(!path("srcs/a").is_within(&path("src")));
    }
}
