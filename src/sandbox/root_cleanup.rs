//! Protected names that a command added to a checkout's root: they are removed again when it has
//! ended.
//!
//! In: the root, before and after. Out: what was removed. Only where the root itself is open to
//! commands: what already existed is masked, but the kernel cannot hold names that do not exist
//! yet.
#![expect(clippy::disallowed_methods, reason = "what a command may not make is removed here")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::protected::{ProtectedKind, is_protected};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// The root's entries before a command. Dropping it cleans up.
#[derive(Debug)]
pub(crate) struct RootCleanup {
    root: PathBuf,
    before: BTreeSet<OsString>,
}

impl RootCleanup {
    /// Remembers what is there.
    ///
    /// # Errors
    /// When the root cannot be listed.
    pub(crate) fn before(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.to_owned(), before: names(root)? })
    }

    /// Removes protected names that were not there before, and returns them. Called when every
    /// process of the command is gone.
    pub(crate) fn clean_up(&self) -> Vec<RepoPath> {
        let protection = Protection::default();
        let after = names(&self.root).unwrap_or_default();
        let new =
            after.difference(&self.before).filter_map(|name| RepoPath::parse(name.to_str()?).ok());
        let made = new.filter(|path| {
            let facts = fs::symlink_metadata(self.root.join(path.as_str()));
            // A link may lead to a folder, so it counts as one.
            is_protected(
                &protection,
                path,
                if facts.is_ok_and(|facts| facts.is_file()) {
                    ProtectedKind::File
                } else {
                    ProtectedKind::Folder
                },
            )
        });
        made.filter(|path| remove(&self.root.join(path.as_str())).is_ok()).collect()
    }
}

impl Drop for RootCleanup {
    fn drop(&mut self) {
        self.clean_up();
    }
}

/// Removes what lies at a path, never what a link leads to.
fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn names(root: &Path) -> io::Result<BTreeSet<OsString>> {
    fs::read_dir(root)?.map(|entry| Ok(entry?.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::RootCleanup;

    #[test]
    fn new_protected_names_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at(".old")).unwrap();
        let cleanup = RootCleanup::before(folder.path()).unwrap();
        std::fs::create_dir_all(at(".new/deep")).unwrap();
        std::fs::write(at(".new/deep/file"), "x").unwrap();
        std::fs::write(at(".old/added"), "x").unwrap();
        std::fs::write(at("CLAUDE.md"), "x").unwrap();
        std::fs::write(at("fine"), "x").unwrap();
        std::fs::write(at(".coverage"), "x").unwrap();
        symlink(at(".old"), at(".mcp.json")).unwrap();
        let removed: Vec<String> = cleanup.clean_up().iter().map(ToString::to_string).collect();
        assert_eq!(removed, [".mcp.json", ".new", "CLAUDE.md"]);
        assert!(
            at(".old/added").exists()
                && at("fine").exists()
                && at(".coverage").exists()
                && !at("CLAUDE.md").exists()
                && !at(".new").exists()
        );
    }
}
