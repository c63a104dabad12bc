//! What git ignores in a checkout, copied into a worktree: dependencies and build output, where no
//! layer can show them there.
//!
//! In: a checkout and its worktree. Out: which folders fit within the bounds and which do not, and
//! copies of the first. The file system shares their content where it can.
#![expect(clippy::disallowed_methods, reason = "copies folders that git ignores into a worktree")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs as unix;
use std::path::Path;

use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;

/// Most files that are copied into one worktree.
const FILES_LIMIT: usize = 30_000;

/// Most bytes that are copied into one worktree.
const BYTES_LIMIT: u64 = 512 << 20;

/// Levels of folders that are looked at.
const DEPTH_LIMIT: usize = 64;

/// Names of folders with dependencies. They go before others, which can be built.
const DEPENDENCIES: &[&str] =
    &["node_modules", ".venv", "venv", "vendor", ".bundle", "deps", "Pods", ".tox"];

/// Which folders that git ignores fit into a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredFolders {
    /// They are copied.
    pub copied: Vec<RepoPath>,
    /// They are too large.
    pub left_out: Vec<RepoPath>,
}

/// What copies may still take.
struct Room {
    files: usize,
    bytes: u64,
}

impl Repo {
    /// Finds out which folders that git ignores here can be copied into a worktree at `place`,
    /// which may lie in one of them.
    ///
    /// # Errors
    /// When git cannot look at the checkout.
    pub fn copyable(&self, place: &Path) -> Result<IgnoredFolders, RepoError> {
        let mut folders: Vec<RepoPath> = self.shareable_folders(None)?.into_keys().collect();
        folders.retain(|path| !place.starts_with(self.checkout.absolute(path)));
        folders.sort_by_key(|path| !path.name().is_some_and(|name| DEPENDENCIES.contains(&name)));
        let mut room = Room { files: FILES_LIMIT, bytes: BYTES_LIMIT };
        let mut found = IgnoredFolders::default();
        for path in folders {
            let fits = room.without(&self.checkout.absolute(&path), DEPTH_LIMIT);
            match fits {
                Some(rest) => {
                    room = rest;
                    found.copied.push(path);
                }
                None => found.left_out.push(path),
            }
        }
        Ok(found)
    }

    /// Copies what fits of the folders that git ignores in another checkout into this worktree,
    /// besides files that are not `readable`.
    ///
    /// # Errors
    /// When git cannot look at the checkout, or something cannot be copied.
    pub fn copy_ignored(
        &self,
        other: &Self,
        readable: impl Fn(&RepoPath) -> bool,
    ) -> Result<(), RepoError> {
        for path in other.copyable(self.checkout.root())?.copied {
            // What this worktree does not ignore would be its change.
            if !self.stays_in_layer(&path, true)? {
                continue;
            }
            let to = self.checkout.absolute(&path);
            let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
                copy(&path, (&other.checkout.absolute(&path), &to), &readable, DEPTH_LIMIT)
            });
            copied.map_err(|source| RepoError::Worktree {
                folder: to.display().to_string(),
                message: source.to_string(),
            })?;
        }
        Ok(())
    }
}

impl Room {
    /// Returns what is left besides a folder; `None` where it does not fit.
    fn without(&self, folder: &Path, depth: usize) -> Option<Self> {
        let mut room = Self { files: self.files, bytes: self.bytes };
        for entry in fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let facts = entry.metadata().ok()?;
            room.files = room.files.checked_sub(1)?;
            if facts.is_dir() {
                room = room.without(&entry.path(), depth.checked_sub(1)?)?;
            } else if facts.is_file() {
                room.bytes = room.bytes.checked_sub(facts.len())?;
            }
        }
        Some(room)
    }
}

/// Copies a folder; times of change are kept, so that builds see none.
fn copy(
    path: &RepoPath,
    (from, to): (&Path, &Path),
    readable: &impl Fn(&RepoPath) -> bool,
    depth: usize,
) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(path) = name.to_str().and_then(|name| path.child(name).ok()) else { continue };
        let (kind, to) = (entry.file_type()?, to.join(&name));
        if kind.is_dir() {
            copy(&path, (&entry.path(), &to), readable, depth)?;
        } else if kind.is_symlink() {
            unix::symlink(fs::read_link(entry.path())?, to)?;
        } else if kind.is_file() && readable(&path) {
            fs::copy(entry.path(), &to)?;
            if let Ok(modified) = entry.metadata().and_then(|facts| facts.modified())
                && let Ok(file) = File::options().write(true).open(&to)
            {
                // A file that may not be written keeps the time of its copy.
                let _ = file.set_modified(modified);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::IgnoredFolders;
    use crate::fixture::{RepoFixture, path};

    #[test]
    fn folders_that_git_ignores_are_copied_as_far_as_they_fit() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "node_modules/\ntarget/\nbuild/\n");
        fixture.commit("ignores");
        fixture.write("node_modules/x/index.js", "dependency");
        fixture.write("node_modules/x/.npmrc", "token");
        fixture.write("node_modules/x/__pycache__/y", "");
        fixture.link("../x/index.js", "node_modules/x/link");
        fixture.write("build/out", "built");
        fixture.write("target/large", "");
        let large = std::fs::File::options().write(true).open(fixture.root.join("target/large"));
        large.unwrap().set_len(super::BYTES_LIMIT + 1).unwrap();
        let outside = tempfile::tempdir().unwrap();
        let found = fixture.repo.copyable(outside.path()).unwrap();
        let expected = IgnoredFolders {
            copied: vec![path("node_modules"), path("build")],
            left_out: vec![path("target")],
        };
        assert_eq!(found, expected);
        let inside = fixture.repo.copyable(&fixture.root.join("build/tree")).unwrap();
        assert_eq!(inside.copied, [path("node_modules")], "no folder is copied into itself");
        let base = fixture.repo.commit_of("HEAD").unwrap();
        let (made, _) = fixture.repo.worktree(&outside.path().join("tree"), &base).unwrap();
        let readable = |path: &locum_base::path::RepoPath| path.name() != Some(".npmrc");
        made.repo.copy_ignored(&fixture.repo, readable).unwrap();
        let there = |file: &str| std::fs::symlink_metadata(made.checkout.root().join(file)).ok();
        assert!(there("build/out").is_some() && there("target").is_none());
        assert!(there("node_modules/x/link").unwrap().is_symlink());
        assert!(there("node_modules/x/.npmrc").is_none(), "what may not be read stays out");
        let (copied, original) = (
            there("node_modules/x/index.js").unwrap(),
            std::fs::metadata(fixture.root.join("node_modules/x/index.js")).unwrap(),
        );
        assert_eq!(copied.modified().unwrap(), original.modified().unwrap());
        std::fs::write(made.checkout.root().join("build/out"), "by the sub-task").unwrap();
        assert_eq!(std::fs::read_to_string(fixture.root.join("build/out")).unwrap(), "built");
    }
}
