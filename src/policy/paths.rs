//! Protected paths and path patterns.

use crate::base::path::RepoPath;

/// Returns why a path is protected from edits whatever the rules say, or `None`.
#[must_use]
pub fn protected(_path: &RepoPath) -> Option<&'static str> {
    todo!()
}
