//! Which part of a checkout is masked by mounts for commands that have a view of their own: hidden
//! files, credentials, sockets, and protected paths at any depth.
//!
//! In: the checkout and what the policy says of its paths. Out: the masks, the outer ones first.
//! What was seen of a folder is kept and used again while the kernel says that the folder has not
//! changed. Where it has, names are judged again.
#![expect(
    clippy::disallowed_methods,
    reason = "a folder that changed a moment ago may change again unseen: the clock tells"
)]

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use crate::caches;
use crate::linux::protected::{
    GuardedGitEntry, ProtectedKind, guarded, is_git_folder, is_protected, open_folder,
};
use crate::reach::{CommandReach, WriteAccess};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// Entries of a checkout that are looked at; with more no command runs, since what is hidden could
/// not be.
const ENTRIES_LIMIT: usize = 400_000;

/// Masks of one command.
const MASKS_LIMIT: usize = 2_000;

/// Age from which a folder's time of change reveals every later change.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// What keeps a path from being written, or read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mask {
    /// It stays as it is and cannot be changed, moved or removed.
    ReadOnly(PathBuf),
    /// An empty file or folder lies over it.
    Hidden(PathBuf),
    /// Git's settings: a copy without credentials lies over them.
    Settings(PathBuf),
}

impl Mask {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::ReadOnly(path) | Self::Hidden(path) | Self::Settings(path) => path,
        }
    }
}

/// Finds the masks of one checkout; keeps what it saw of its folders.
#[derive(Debug, Default)]
pub(crate) struct MaskFinder(HashMap<RepoPath, Arc<ScannedFolder>>);

/// One folder as it was when `state` was.
#[derive(Debug)]
struct ScannedFolder {
    state: ChangeStamp,
    folders: Vec<RepoPath>,
    /// Git folders of other repositories inside.
    git: Vec<RepoPath>,
    marked: Vec<(RepoPath, MaskReason)>,
    /// Names that the policy cannot express, links aside.
    unnamed: Vec<OsString>,
    entries: usize,
}

/// What changes when anything in a folder does.
type ChangeStamp = (u64, i64, u64);

/// Why an entry may need a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MaskReason {
    /// An ignore file names it, a rule denies reading it, or it may hold credentials.
    Sensitive,
    Protected,
    /// It is not a file.
    Special,
}

/// Why the masks could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MaskError {
    /// The checkout could not be looked at.
    #[error("the checkout cannot be listed: {0}")]
    Checkout(#[from] rustix::io::Errno),
    /// There is too much to look at.
    #[error(
        "the checkout has more than {ENTRIES_LIMIT} entries; what is hidden in it could not be \
         found"
    )]
    TooManyEntries,
    /// There is too much to mask.
    #[error("more than {MASKS_LIMIT} files of the checkout are hidden or protected")]
    TooManyMasks,
}

impl MaskFinder {
    /// Returns what has to be masked for one command.
    ///
    /// # Errors
    /// When the checkout cannot be listed, or there is too much in it.
    pub(crate) fn masks(
        &mut self,
        protection: &Protection,
        reach: &CommandReach<'_>,
    ) -> Result<Vec<Mask>, MaskError> {
        let mut found = Vec::new();
        let mut entries = 0;
        let mut ahead = vec![(RepoPath::root(), MaskState::No)];
        while let Some((path, masked)) = ahead.pop() {
            let Some(folder) = self.folder(protection, reach, &path)? else { continue };
            entries += folder.entries;
            if entries > ENTRIES_LIMIT {
                return Err(MaskError::TooManyEntries);
            }
            let at = reach.at(&path);
            found.extend(folder.unnamed.iter().map(|name| Mask::Hidden(at.join(name))));
            let mut closed = Vec::new();
            for (marked, reason) in &folder.marked {
                match reason {
                    MaskReason::Special => found.push(Mask::Hidden(reach.at(marked))),
                    MaskReason::Sensitive if !(reach.visible)(marked) => {
                        found.push(Mask::Hidden(reach.at(marked)))
                    }
                    MaskReason::Sensitive => continue,
                    MaskReason::Protected if reach.layer.is_some() && caches::holds(marked) => {
                        continue;
                    }
                    MaskReason::Protected if closed.iter().any(|(path, _)| path == marked) => {
                        continue;
                    }
                    MaskReason::Protected
                        if reach.writes != WriteAccess::Nothing && masked == MaskState::No =>
                    {
                        let at = reach.at(marked);
                        if !reach.is_own_git(&at) {
                            found.push(Mask::ReadOnly(at));
                        }
                    }
                    MaskReason::Protected => continue,
                }
                closed.push((marked.clone(), *reason));
            }
            for inner in &folder.folders {
                match closed.iter().find(|(path, _)| path == inner) {
                    None => ahead.push((inner.clone(), masked)),
                    Some((_, MaskReason::Protected)) => ahead.push((inner.clone(), MaskState::Yes)),
                    Some((_, MaskReason::Sensitive | MaskReason::Special)) => {}
                }
            }
            for git in folder.git.iter().filter(|_| !path.is_root()) {
                found.extend(masks_of_git(&reach.at(git), reach)?);
            }
            if found.len() > MASKS_LIMIT {
                return Err(MaskError::TooManyMasks);
            }
        }
        if reach.git_hidden {
            found.push(Mask::Hidden(reach.root.join(".git")));
        }
        for folder in reach.git.iter().filter(|_| !reach.git_hidden) {
            found.extend(masks_of_git(folder, reach)?);
            // A folder that holds the checkout is closed before that is opened in it.
            if !reach.is_in_layer(folder)
                && !reach.root.starts_with(folder)
                && reach.writes != WriteAccess::Nothing
            {
                found.push(Mask::ReadOnly(
                    folder.canonicalize().map_err(|_| rustix::io::Errno::NOENT)?,
                ));
            }
        }
        found.sort_by_key(|mask| mask.path().components().count());
        Ok(found)
    }

    /// Returns what is in a folder; `None` when it is gone.
    fn folder(
        &mut self,
        protection: &Protection,
        reach: &CommandReach<'_>,
        path: &RepoPath,
    ) -> Result<Option<Arc<ScannedFolder>>, MaskError> {
        let at = reach.at(path);
        if let Some(known) = self.0.get(path)
            && rustix::fs::statat(CWD, &at, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|facts| state(&facts) == known.state)
        {
            return Ok(Some(Arc::clone(known)));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // What this user may not look into, no command of this user can.
        let Ok(opened) = rustix::fs::openat(CWD, &at, flags, Mode::empty()) else {
            return Ok(None);
        };
        let facts = rustix::fs::fstat(&opened)?;
        let folder = Arc::new(look(&opened, state(&facts), path, protection, reach)?);
        if is_settled(facts.st_ctime) {
            self.0.insert(path.clone(), Arc::clone(&folder));
        } else {
            self.0.remove(path);
        }
        Ok(Some(folder))
    }
}

/// Returns the masks over what of a git folder may hold credentials.
fn masks_of_git(folder: &Path, reach: &CommandReach<'_>) -> Result<Vec<Mask>, rustix::io::Errno> {
    let root = open_folder(folder)?;
    let mut found = Vec::new();
    for entry in Dir::read_from(&root)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        let at = folder.join(name.as_ref());
        match guarded(folder, &name) {
            Some(GuardedGitEntry::Settings) => found.push(Mask::Settings(at)),
            // Git itself needs those of submodules, but no credential in them.
            Some(GuardedGitEntry::Store) if reach.git_settings && name == "modules" => {
                found.extend(masks_of_modules(&at)?);
            }
            // What is the checkout's own is needed; what lies beside it is of other checkouts.
            Some(GuardedGitEntry::Store) if is_needed(&at, reach) => {
                found.extend(masks_beside(at, reach)?);
            }
            Some(GuardedGitEntry::Store) => found.push(Mask::Hidden(at)),
            None => {}
        }
    }
    Ok(found)
}

/// Whether the checkout or one of its git folders is at a path, or below it.
fn is_needed(at: &Path, reach: &CommandReach<'_>) -> bool {
    reach.root.starts_with(at) || reach.git.iter().any(|git| git.starts_with(at))
}

/// Returns the masks over what lies beside the checkout and its git folders below a path.
fn masks_beside(at: PathBuf, reach: &CommandReach<'_>) -> Result<Vec<Mask>, rustix::io::Errno> {
    let mut found = Vec::new();
    let mut ahead = vec![at];
    while let Some(folder) = ahead.pop() {
        if folder == reach.root || reach.git.iter().any(|git| git == &folder) {
            continue;
        }
        for entry in Dir::read_from(open_folder(&folder)?)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let beside = folder.join(&name);
            match name.as_str() {
                "." | ".." => {}
                _ if is_needed(&beside, reach) => ahead.push(beside),
                _ => found.push(Mask::Hidden(beside)),
            }
        }
    }
    Ok(found)
}

/// Returns the masks over credentials in the git folders of submodules, which lie at any depth.
fn masks_of_modules(modules: &Path) -> Result<Vec<Mask>, rustix::io::Errno> {
    let mut found = Vec::new();
    let mut ahead = vec![modules.to_owned()];
    while let Some(folder) = ahead.pop() {
        let Ok(opened) = open_folder(&folder) else { continue };
        let is_git = folder.join("HEAD").is_file();
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            let at = folder.join(name.as_ref());
            match guarded(&folder, &name) {
                Some(GuardedGitEntry::Settings) if at.is_file() => found.push(Mask::Settings(at)),
                Some(GuardedGitEntry::Store) if at.is_file() => found.push(Mask::Hidden(at)),
                // A submodule may be called like a folder of git's.
                None if is_git && is_git_folder(&name) => {}
                _ if matches!(name.as_ref(), "." | "..") => {}
                _ if at.is_dir() && !at.is_symlink() => ahead.push(at),
                _ => {}
            }
        }
    }
    Ok(found)
}

fn state(facts: &Stat) -> ChangeStamp {
    (facts.st_ino, facts.st_ctime, facts.st_ctime_nsec)
}

/// Whether a folder lies in one that is masked already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MaskState {
    No,
    Yes,
}

fn look(
    opened: &OwnedFd,
    state: ChangeStamp,
    path: &RepoPath,
    protection: &Protection,
    reach: &CommandReach<'_>,
) -> Result<ScannedFolder, MaskError> {
    let mut folder = ScannedFolder {
        state,
        folders: Vec::new(),
        git: Vec::new(),
        marked: Vec::new(),
        unnamed: Vec::new(),
        entries: 0,
    };
    for entry in Dir::read_from(opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        folder.entries += 1;
        if folder.entries > ENTRIES_LIMIT {
            return Err(MaskError::TooManyEntries);
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let facts =
                    rustix::fs::statat(opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                facts.map_or(FileType::Unknown, |facts| FileType::from_raw_mode(facts.st_mode))
            }
            kind => kind,
        };
        let Some(inner) = entry.file_name().to_str().ok().and_then(|name| path.child(name).ok())
        else {
            // A link is not a file of its own: what it leads to is judged where it lies.
            let hidden = (kind != FileType::Symlink).then(|| OsStr::from_bytes(name).to_owned());
            folder.unnamed.extend(hidden);
            continue;
        };
        let mark = match kind {
            FileType::Symlink => None,
            FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Some(MaskReason::Special),
            FileType::RegularFile | FileType::Directory | FileType::Fifo => {
                if reach.is_sensitive(protection, &inner) {
                    folder.marked.push((inner.clone(), MaskReason::Sensitive));
                }
                is_protected(protection, &inner, ProtectedKind::of(kind))
                    .then_some(MaskReason::Protected)
            }
        };
        folder.marked.extend(mark.map(|mark| (inner.clone(), mark)));
        let is_git = inner.name() == Some(".git");
        match (kind == FileType::Directory, is_git) {
            (true, true) => folder.git.push(inner),
            (true, false) => folder.folders.push(inner),
            (false, _) => {}
        }
    }
    Ok(folder)
}

fn is_settled(changed_s: i64) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let changed = Duration::from_secs(u64::try_from(changed_s).unwrap_or(u64::MAX));
    now.checked_sub(SETTLED_AFTER).is_some_and(|limit| changed < limit)
}
