//! Which entries of a checkout commands may not change, and which of git's own folder may hold
//! credentials.
//!
//! In: paths, and the files there. Out: yes or no; the entries to hide. Masks, rules and the
//! clean-up of the root all ask here, so that they agree.
#![expect(
    clippy::disallowed_methods,
    reason = "the checkout's own git settings are looked at for credentials"
)]

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::reach::CommandReach;
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// Entries of one folder that are looked at; those after it are not granted.
pub(crate) const ENTRIES_LIMIT: usize = 10_000;

/// Bytes of git's settings that are looked at for credentials.
const CONFIG_LIMIT_BYTES: u64 = 1 << 20;

/// Words in git's settings that mean a credential may be there.
const CREDENTIAL_WORDS: &[&str] = &["extraheader", "password", "token", "credential", "@"];

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

/// Opens a folder to list it.
///
/// # Errors
/// What the kernel says.
pub(crate) fn open_folder(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
}

/// Returns the entries of a git folder that may hold credentials.
///
/// # Errors
/// When it cannot be listed.
pub(crate) fn guarded_git_entries(
    folder: &Path,
    reach: &CommandReach<'_>,
) -> Result<Vec<PathBuf>, Errno> {
    let root = open_folder(folder)?;
    let mut found = Vec::new();
    for entry in Dir::read_from(&root)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        if is_guarded(folder, &name, reach) {
            found.push(folder.join(name.as_ref()));
        }
    }
    Ok(found)
}

/// Whether an entry of a git folder is hidden because it may hold credentials.
pub(crate) fn is_guarded(folder: &Path, name: &str, reach: &CommandReach<'_>) -> bool {
    let guarded = name.starts_with("config")
        || name.starts_with("credential")
        || name == "modules"
        || name == "worktrees";
    guarded
        && !reach.git_settings
        && !(name.starts_with("config") && is_free_of_credentials(&folder.join(name)))
}

fn is_free_of_credentials(config: &Path) -> bool {
    let mut text = String::new();
    let read =
        File::open(config).and_then(|file| file.take(CONFIG_LIMIT_BYTES).read_to_string(&mut text));
    let lower = text.to_ascii_lowercase();
    read.is_ok()
        && text.len() < 1 << 20
        && !CREDENTIAL_WORDS.iter().any(|word| lower.contains(word))
}
