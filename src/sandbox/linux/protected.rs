//! Which entries of a checkout commands may not change, and which of git's own folder may hold
//! credentials.
//!
//! In: paths, and the files there. Out: yes or no. Masks, rules and the
//! clean-up of the root all ask here, so that they agree.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::linux::git_settings::is_free_of_credentials;
use crate::reach::CommandReach;
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// Entries of one folder that are looked at; those after it are not granted.
pub(crate) const ENTRIES_LIMIT: usize = 10_000;

/// What an entry is, as far as its protection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtectedKind {
    File,
    Folder,
}

impl ProtectedKind {
    /// A file's, unless it is known to be a folder.
    pub(crate) fn of(kind: FileType) -> Self {
        if kind == FileType::Directory { Self::Folder } else { Self::File }
    }
}

/// Whether an entry may not be changed; of a folder, anything in it.
pub(crate) fn is_protected(protection: &Protection, path: &RepoPath, kind: ProtectedKind) -> bool {
    let inside = || RepoPath::parse(&format!("{path}/x")).ok();
    protection.of_edit(path).is_some()
        || (kind == ProtectedKind::Folder
            && inside().is_none_or(|inside| protection.of_edit(&inside).is_some()))
}

/// Folders that git, and what extends it, keep in git's own. `common` is where a worktree that
/// Locum made shows what it shares.
const GIT_FOLDERS: &[&str] = &[
    ".",
    "..",
    "annex",
    "branches",
    "common",
    "fsmonitor--daemon",
    "hooks",
    "info",
    "lfs",
    "logs",
    "objects",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "svn",
];

/// Whether git, or what extends it, keeps a folder of this name in git's own.
pub(crate) fn is_git_folder(name: &str) -> bool {
    GIT_FOLDERS.contains(&name)
}

/// Opens a folder to list it.
///
/// # Errors
/// What the kernel says.
pub(crate) fn open_folder(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
}

/// Whether an entry of a git folder is hidden, where no mask can lie over it, because it may hold
/// credentials.
pub(crate) fn is_guarded(folder: &Path, name: &str, reach: &CommandReach<'_>) -> bool {
    !reach.git_settings && guarded(folder, name).is_some()
}

/// Which part of a git folder may hold credentials.
pub(crate) enum GuardedGitEntry {
    /// Settings: git needs what else is in them.
    Settings,
    /// Credentials themselves, git folders of others, or checkouts.
    Store,
}

/// Returns what an entry of a git folder may hold; `None` for what is no secret.
pub(crate) fn guarded(folder: &Path, name: &str) -> Option<GuardedGitEntry> {
    if name.starts_with("config") {
        (!is_free_of_credentials(&folder.join(name))).then_some(GuardedGitEntry::Settings)
    } else {
        let store = name.starts_with("credential") || matches!(name, "modules" | "worktrees");
        // A repository without files of its own often has its worktrees in its git folder.
        let is_other = || !is_git_folder(name) && folder.join(name).is_dir();
        (store || is_other()).then_some(GuardedGitEntry::Store)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes a folder like git's")]
mod tests {
    use super::{GuardedGitEntry, guarded};

    #[test]
    fn folders_of_git_are_its_own_and_others_are_checkouts() {
        let git = tempfile::tempdir().unwrap();
        for folder in ["objects", "annex", "lfs", "worktrees", "main", "wts/inner"] {
            std::fs::create_dir_all(git.path().join(folder)).unwrap();
        }
        std::fs::write(git.path().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let is_store =
            |name: &str| matches!(guarded(git.path(), name), Some(GuardedGitEntry::Store));
        for (name, expected) in [
            ("objects", false),
            ("annex", false),
            ("lfs", false),
            ("HEAD", false),
            ("worktrees", true),
            ("main", true),
            ("wts", true),
        ] {
            assert_eq!(is_store(name), expected, "{name}");
        }
    }
}
