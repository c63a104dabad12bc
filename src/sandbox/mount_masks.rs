//! What of a checkout is covered for commands that have a view of their own: hidden files,
//! credentials, sockets, and protected paths at any depth.
//!
//! In: the checkout and what the policy says of its paths. Out: the covers, the outer ones first.
//! What was seen of a folder is kept and used again while the kernel says that the folder has not
//! changed; names are judged anew where it has.
#![expect(
    clippy::disallowed_methods,
    reason = "a folder that changed a moment ago may change again unseen: the clock tells"
)]

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use crate::files::{Kind, guarded_git_entries, is_protected};
use crate::view::Cover;
use crate::{Reach, Writes};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// Entries of a checkout that are looked at; with more no command runs, since what is hidden could
/// not be.
const ENTRIES_LIMIT: usize = 400_000;

/// Covers of one command.
const COVERS_LIMIT: usize = 2_000;

/// Age from which a folder's time of change tells every later change.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// What was seen of folders before.
#[derive(Debug, Default)]
pub(super) struct Seen(HashMap<RepoPath, Arc<Folder>>);

/// One folder as it was when `state` was.
#[derive(Debug)]
struct Folder {
    state: State,
    folders: Vec<RepoPath>,
    /// Git folders of other repositories inside.
    git: Vec<RepoPath>,
    marked: Vec<(RepoPath, Mark)>,
    entries: usize,
}

/// What changes when anything in a folder does.
type State = (u64, i64, u64);

/// Why an entry may need a cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// An ignore file names it, or it may hold credentials.
    Sensitive,
    Protected,
    /// It is no file, or its name is none the policy can speak of.
    Strange,
}

/// Why there are no covers.
#[derive(Debug, thiserror::Error)]
pub(super) enum CoversFault {
    /// The checkout could not be looked at.
    #[error("the checkout cannot be listed: {0}")]
    Checkout(#[from] rustix::io::Errno),
    /// There is too much to look at.
    #[error(
        "the checkout has more than {ENTRIES_LIMIT} entries; what is hidden in it could not be \
         found"
    )]
    TooManyEntries,
    /// There is too much to cover.
    #[error("more than {COVERS_LIMIT} files of the checkout are hidden or protected")]
    TooManyCovers,
}

impl Seen {
    /// Returns what has to be covered for one command.
    ///
    /// # Errors
    /// When the checkout cannot be listed, or there is too much in it.
    pub(super) fn covers(
        &mut self,
        protection: &Protection,
        reach: &Reach<'_>,
    ) -> Result<Vec<Cover>, CoversFault> {
        let mut found = Vec::new();
        let mut entries = 0;
        // What is known to do nothing but what was judged is held back from nothing.
        let mut ahead = if reach.writes == Writes::Everything {
            Vec::new()
        } else {
            vec![(RepoPath::root(), Fixed::No)]
        };
        while let Some((path, fixed)) = ahead.pop() {
            let Some(folder) = self.folder(protection, reach, &path)? else { continue };
            entries += folder.entries;
            if entries > ENTRIES_LIMIT {
                return Err(CoversFault::TooManyEntries);
            }
            let mut closed = Vec::new();
            for (marked, mark) in &folder.marked {
                match mark {
                    Mark::Strange => found.push(Cover::Hidden(reach.at(marked))),
                    Mark::Sensitive if !(reach.visible)(marked) => {
                        found.push(Cover::Hidden(reach.at(marked)))
                    }
                    Mark::Sensitive => continue,
                    Mark::Protected if closed.iter().any(|(path, _)| path == marked) => continue,
                    Mark::Protected if reach.writes == Writes::Entries && fixed == Fixed::No => {
                        found.push(Cover::ReadOnly(reach.at(marked)));
                    }
                    Mark::Protected => continue,
                }
                closed.push((marked.clone(), *mark));
            }
            for inner in &folder.folders {
                let mark =
                    closed.iter().find(|(path, mark)| path == inner && *mark != Mark::Protected);
                let is_fixed =
                    closed.iter().any(|(path, mark)| path == inner && *mark == Mark::Protected);
                if mark.is_none() {
                    ahead.push((inner.clone(), if is_fixed { Fixed::Yes } else { fixed }));
                }
            }
            for git in folder.git.iter().filter(|_| !path.is_root()) {
                found.extend(
                    guarded_git_entries(&reach.at(git), reach)?.into_iter().map(Cover::Hidden),
                );
            }
            if found.len() > COVERS_LIMIT {
                return Err(CoversFault::TooManyCovers);
            }
        }
        for folder in reach.git {
            let guarded = guarded_git_entries(folder, reach)?;
            found.extend(guarded.into_iter().map(Cover::Hidden));
            if reach.writes != Writes::Nothing {
                found.push(Cover::ReadOnly(
                    folder.canonicalize().map_err(|_| rustix::io::Errno::NOENT)?,
                ));
            }
        }
        found.sort_by_key(|cover| match cover {
            Cover::ReadOnly(path) | Cover::Hidden(path) => path.components().count(),
        });
        Ok(found)
    }

    /// Returns what is in a folder; `None` when it is gone.
    fn folder(
        &mut self,
        protection: &Protection,
        reach: &Reach<'_>,
        path: &RepoPath,
    ) -> Result<Option<Arc<Folder>>, CoversFault> {
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

fn state(facts: &Stat) -> State {
    (facts.st_ino, facts.st_ctime, facts.st_ctime_nsec)
}

/// Whether a folder lies in one that is covered already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fixed {
    No,
    Yes,
}

fn look(
    opened: &OwnedFd,
    state: State,
    path: &RepoPath,
    protection: &Protection,
    reach: &Reach<'_>,
) -> Result<Folder, CoversFault> {
    let mut folder =
        Folder { state, folders: Vec::new(), git: Vec::new(), marked: Vec::new(), entries: 0 };
    for entry in Dir::read_from(opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        folder.entries += 1;
        if folder.entries > ENTRIES_LIMIT {
            return Err(CoversFault::TooManyEntries);
        }
        let Some(inner) = entry.file_name().to_str().ok().and_then(|name| path.join(name).ok())
        else {
            continue;
        };
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let facts =
                    rustix::fs::statat(opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                facts.map_or(FileType::Unknown, |facts| FileType::from_raw_mode(facts.st_mode))
            }
            kind => kind,
        };
        let mark = match kind {
            // A link is no file of its own: what it leads to is judged where it lies.
            FileType::Symlink => None,
            FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Some(Mark::Strange),
            FileType::RegularFile | FileType::Directory | FileType::Fifo => {
                if reach.is_sensitive(protection, &inner) {
                    folder.marked.push((inner.clone(), Mark::Sensitive));
                }
                is_protected(protection, &inner, Kind::of(kind)).then_some(Mark::Protected)
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

impl Reach<'_> {
    fn at(&self, path: &RepoPath) -> PathBuf {
        if path.is_root() { self.root.to_owned() } else { self.root.join(path.as_str()) }
    }
}
