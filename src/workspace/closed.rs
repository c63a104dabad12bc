//! What is closed in a checkout: folders that their owner may not enter or change, and files that
//! their owner may not read.
//!
//! In: a look at a checkout, and the look before a command. Out: what a command closed is opened,
//! since git keeps no such mode. What was closed before is a person's: nothing opens it, and what
//! lies there is no part of the work, also where a command opened or moved it.

use std::collections::BTreeMap;
use std::ffi::CString;

use rustix::fs::FileType;

use crate::beneath::bits_as;
use crate::checkout::Checkout;
use crate::file_stamp::FileStamp;
use crate::opened;
use crate::repo::Repo;
use locum_base::path::RepoPath;

/// What the owner of a folder needs.
const FOLDER: u32 = 0o700;
/// What a look into a folder takes.
const LOOK_INTO: u32 = 0o500;
/// What the owner of a file needs.
const FILE: u32 = 0o400;

/// What was closed when somebody looked.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct ClosedPlaces(BTreeMap<RepoPath, FileStamp>);

/// A look at what is closed.
#[derive(Debug)]
pub(crate) struct ClosedLook<'b> {
    /// What was closed before a command; `None` before the first one, when all that is closed is.
    pub(crate) before: Option<&'b ClosedPlaces>,
    /// What stays closed.
    pub(crate) closed: ClosedPlaces,
    /// Whether something was opened, so that more can be seen than before.
    pub(crate) opened: bool,
}

impl<'b> ClosedLook<'b> {
    pub(crate) fn new(before: Option<&'b ClosedPlaces>) -> Self {
        Self { before, closed: ClosedPlaces::default(), opened: false }
    }
}

impl ClosedPlaces {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a place, or one that was moved there, was closed.
    fn had(&self, path: &RepoPath, stamp: FileStamp) -> bool {
        self.0.contains_key(path) || self.0.values().any(|closed| closed.is_same_place(stamp))
    }

    /// Whether nobody could see what a path held.
    pub(crate) fn hides(&self, path: &RepoPath) -> bool {
        !self.0.is_empty() && around(path).any(|at| self.0.get(&at).is_some_and(is_unseen))
    }

    fn hides_place(&self, stamp: FileStamp) -> bool {
        self.0.values().any(|closed| closed.is_same_place(stamp) && is_unseen(closed))
    }
}

impl Repo {
    /// Opens a file or folder to its owner where a command closed it; what was closed before stays
    /// so and is noted.
    pub(crate) fn open_if_new(&self, path: &RepoPath, look: &mut ClosedLook<'_>) {
        let Some(stamp) = self.stamp(path) else { return };
        let needed = match FileType::from_raw_mode(stamp.mode) {
            FileType::Directory => FOLDER,
            FileType::RegularFile => FILE,
            _ => return,
        };
        if bits(stamp) & needed == needed || path.is_root() {
            return;
        }
        let is_new = look.before.is_some_and(|before| !before.had(path, stamp));
        if is_new && self.checkout.open_to_owner(path) {
            look.opened = true;
        } else {
            look.closed.0.insert(path.clone(), stamp);
        }
    }

    /// Whether nobody could see what lies at a path now when these places were closed: it is one of
    /// them or in one, under this name or another.
    pub(crate) fn was_closed(&self, closed: &ClosedPlaces, path: &RepoPath) -> bool {
        let is_moved =
            |at: &RepoPath| self.stamp(at).is_some_and(|stamp| closed.hides_place(stamp));
        !closed.0.is_empty() && (closed.hides(path) || around(path).any(|at| is_moved(&at)))
    }

    /// Returns what changes when a place does; `None` where nothing is, or nobody can look.
    pub(crate) fn stamp(&self, path: &RepoPath) -> Option<FileStamp> {
        self.checkout.beneath.stat(path).ok().flatten().map(|stat| FileStamp::of(&stat))
    }
}

impl Checkout {
    /// Opens a file or folder to its owner; false where that does not work.
    fn open_to_owner(&self, path: &RepoPath) -> bool {
        let name = path.name().and_then(|name| CString::new(name).ok());
        let folder = self.beneath.folder(&path.parent()).ok();
        folder.zip(name).is_some_and(|(folder, name)| opened::open_to_work(&folder, &name).is_ok())
    }
}

/// Returns a path and the folders around it, without the root.
fn around(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    std::iter::successors(Some(path.clone()), |path| Some(path.parent()))
        .take_while(|path| !path.is_root())
}

fn is_unseen(stamp: &FileStamp) -> bool {
    let is_folder = FileType::from_raw_mode(stamp.mode) == FileType::Directory;
    let needed = if is_folder { LOOK_INTO } else { FILE };
    bits(*stamp) & needed != needed
}

fn bits(stamp: FileStamp) -> u32 {
    bits_as(stamp.mode)
}
