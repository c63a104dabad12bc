//! What commands may do to files: a rule for every place they need, and none for anything else.
//!
//! In: places, the checkout, and how far a command reaches in it. Out: a set of rules ready to be
//! put on a child. The kernel knows no exceptions below a granted folder, so the checkout is
//! granted entry by entry and what is protected is left out.
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

use crate::linux::mount_masks::Mask;
use crate::linux::places::PlaceUse;
use crate::linux::protected::{
    ENTRIES_LIMIT, ProtectedKind, is_guarded, is_protected, open_folder,
};
use crate::reach::{CommandReach, NetworkAccess, WriteAccess};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// The oldest version of the kernel's interface that can keep a file from being cut short.
const OLDEST: ABI = ABI::V3;

/// The newest version that is understood; what it knows more is used where the kernel has it.
pub(crate) const NEWEST: ABI = ABI::V9;

/// A place that is open and what may be done there.
pub(crate) struct GrantedPlace {
    fd: OwnedFd,
    access: BitFlags<AccessFs>,
}

/// What a set of rules is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RulesetOptions {
    /// How much of the network commands reach.
    pub(crate) network: NetworkAccess,
    /// The newest version of the kernel's interface that is used; [`NEWEST`], but for tests of
    /// older ones.
    pub(crate) newest: ABI,
}

impl RulesetOptions {
    fn add(
        self,
        rules: RulesetCreated,
        place: &OwnedFd,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, RulesetError> {
        rules.add_rule(PathBeneath::new(place, access & AccessFs::from_all(self.newest)))
    }
}

/// How what is protected in a checkout is kept from commands that write there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootGrant {
    /// It is masked: the root itself may be open.
    Masked,
    /// It is left out of what is granted.
    EntryByEntry,
}

/// Opens places; those that do not exist are left out.
pub(crate) fn open_places(places: &[(PathBuf, PlaceUse)]) -> Vec<GrantedPlace> {
    places
        .iter()
        .filter_map(|(path, usage)| grant(CWD, path, LinkHandling::Followed, *usage))
        .collect()
}

/// Makes the rules for one command.
///
/// # Errors
/// When the kernel cannot hold files, or the checkout cannot be listed.
pub(crate) fn rules(
    system: &[GrantedPlace],
    protection: &Protection,
    reach: &CommandReach<'_>,
    options: RulesetOptions,
    split: &SplitCheckout,
) -> Result<RulesetCreated, RulesError> {
    let mut rules = empty(options)?;
    for place in system {
        rules = options.add(rules, &place.fd, place.access)?;
    }
    let top = open_folder(reach.root)?;
    let whole = match reach.writes {
        WriteAccess::Root => allowed(PlaceUse::Write),
        WriteAccess::Entries if !split.folders.contains(reach.root) => allowed(PlaceUse::Write),
        WriteAccess::Nothing | WriteAccess::Entries => BitFlags::from(AccessFs::ReadDir),
    };
    rules = options.add(rules, &top, whole)?;
    if split.folders.contains(reach.root) {
        for granted in entries(&top, &RepoPath::root(), protection, reach, split)? {
            rules = options.add(rules, &granted.fd, granted.access)?;
        }
    }
    for folder in reach.git.iter().filter(|_| !reach.git_hidden) {
        for granted in git_entries(folder, reach)? {
            rules = options.add(rules, &granted.fd, granted.access)?;
        }
    }
    Ok(rules)
}

/// Why the rules could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RulesError {
    /// The kernel refused.
    #[error(transparent)]
    Kernel(#[from] RulesetError),
    /// The checkout could not be looked at.
    #[error("the checkout cannot be listed: {0}")]
    Checkout(#[from] rustix::io::Errno),
}

/// Makes a set without any rule: nothing is allowed.
pub(crate) fn empty(options: RulesetOptions) -> Result<RulesetCreated, RulesetError> {
    let held = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?;
    let held = held
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(options.newest))?;
    // Older versions know neither; an empty set cannot be requested.
    let held =
        if options.newest >= ABI::V6 { held.scope(Scope::from_all(options.newest))? } else { held };
    match options.network {
        NetworkAccess::Off | NetworkAccess::Handed if options.newest < ABI::V4 => held.create(),
        NetworkAccess::Off | NetworkAccess::Handed => {
            held.handle_access(AccessNet::from_all(options.newest))?.create()
        }
        NetworkAccess::Own | NetworkAccess::Proxied | NetworkAccess::Open => held.create(),
    }
}

/// Returns the version of the kernel's interface, 0 for none.
pub(crate) fn version(status: &LandlockStatus) -> u8 {
    let number = match status {
        LandlockStatus::Available { kernel_abi: Some(newer), .. } => *newer,
        LandlockStatus::Available { effective_abi, kernel_abi: None } => *effective_abi as i32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Which part of a checkout cannot be granted whole.
#[derive(Debug, Default)]
pub(crate) struct SplitCheckout {
    /// Folders: the root where nothing masks what is protected there, and those above hidden files
    /// where nothing masks these.
    pub(crate) folders: BTreeSet<PathBuf>,
    hidden: BTreeSet<PathBuf>,
}

impl SplitCheckout {
    /// Finds out what it is for one command.
    pub(crate) fn of(reach: &CommandReach<'_>, masks: &[Mask], root: RootGrant) -> Self {
        let mut split = Self::default();
        let is_hidden = |mask: &&Mask| match mask {
            Mask::Hidden(_) => true,
            Mask::Settings(_) => !reach.git_settings,
            Mask::ReadOnly(_) => false,
        };
        if root == RootGrant::EntryByEntry {
            for path in masks.iter().filter(is_hidden).map(Mask::path) {
                let above = path.ancestors().skip(1).filter(|above| above.starts_with(reach.root));
                split.folders.extend(above.map(Path::to_owned));
                split.hidden.insert(path.to_owned());
            }
        }
        if root == RootGrant::EntryByEntry || reach.writes == WriteAccess::Nothing {
            split.folders.insert(reach.root.to_owned());
        }
        split
    }
}

/// The entries of a folder of the checkout, each with what may be done below it. Those that cannot
/// be granted whole are granted entry by entry in turn.
fn entries(
    folder: &OwnedFd,
    at: &RepoPath,
    protection: &Protection,
    reach: &CommandReach<'_>,
    split: &SplitCheckout,
) -> Result<Vec<GrantedPlace>, RulesError> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let name = entry.file_name();
        let Some(path) = name
            .to_str()
            .ok()
            .filter(|name| !matches!(*name, "." | ".."))
            .and_then(|name| at.child(name).ok())
        else {
            continue;
        };
        let absolute = reach.root.join(path.as_str());
        if split.hidden.contains(&absolute) || reach.hides(protection, &path) {
            continue;
        }
        let is_git = path.as_str() == ".git";
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if !is_git
            && split.folders.contains(&absolute)
            && let Ok(inner) = rustix::fs::openat(folder, name, flags, Mode::empty())
        {
            found.extend(entries(&inner, &path, protection, reach, split)?);
            found.push(GrantedPlace { fd: inner, access: BitFlags::from(AccessFs::ReadDir) });
            continue;
        }
        let Some(opened) =
            open(folder, Path::new(path.name().unwrap_or_default()), LinkHandling::Refused)
        else {
            continue;
        };
        let kind = rustix::fs::fstat(&opened)
            .map_or(FileType::Unknown, |facts| FileType::from_raw_mode(facts.st_mode));
        // In a worktree, a file says where git's folder is.
        if is_git && kind != FileType::RegularFile {
            continue;
        }
        let writes = reach.writes != WriteAccess::Nothing
            && !is_protected(protection, &path, ProtectedKind::of(kind));
        found.extend(granted(opened, kind, if writes { PlaceUse::Write } else { PlaceUse::Read }));
    }
    Ok(found)
}

/// Which part of git's own folder may be read: all of it but settings with credentials.
fn git_entries(folder: &Path, reach: &CommandReach<'_>) -> Result<Vec<GrantedPlace>, RulesError> {
    let root = open_folder(folder)?;
    let mut found: Vec<GrantedPlace> =
        grant(CWD, folder, LinkHandling::Followed, PlaceUse::Read).into_iter().collect();
    found.iter_mut().for_each(|whole| whole.access = BitFlags::from(AccessFs::ReadDir));
    for entry in Dir::read_from(&root)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !matches!(name.as_str(), "." | "..") && !is_guarded(folder, &name, reach) {
            found.extend(grant(&root, Path::new(&name), LinkHandling::Refused, PlaceUse::Read));
        }
    }
    Ok(found)
}

/// Grants a place that is there only once the process has a view of its own. Takes no memory.
///
/// # Errors
/// When it is not there, or the kernel refuses.
pub(crate) fn add_late(
    options: RulesetOptions,
    rules: RulesetCreated,
    path: &CStr,
    usage: PlaceUse,
) -> std::io::Result<RulesetCreated> {
    let fd = rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
    let refused = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    let place = granted(fd, kind, usage).ok_or_else(refused)?;
    options.add(rules, &place.fd, place.access).map_err(|_| refused())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkHandling {
    Followed,
    Refused,
}

fn grant(
    folder: impl AsFd,
    path: &Path,
    links: LinkHandling,
    usage: PlaceUse,
) -> Option<GrantedPlace> {
    let opened = open(folder, path, links)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened).ok()?.st_mode);
    granted(opened, kind, usage)
}

fn open(folder: impl AsFd, path: &Path, links: LinkHandling) -> Option<OwnedFd> {
    let follow = if links == LinkHandling::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    rustix::fs::openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty()).ok()
}

fn granted(fd: OwnedFd, kind: FileType, usage: PlaceUse) -> Option<GrantedPlace> {
    let access = match kind {
        FileType::Directory => allowed(usage),
        FileType::RegularFile | FileType::CharacterDevice => {
            allowed(usage) & AccessFs::from_file(NEWEST)
        }
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::BlockDevice
        | FileType::Unknown => return None,
    };
    Some(GrantedPlace { fd, access })
}

fn allowed(usage: PlaceUse) -> BitFlags<AccessFs> {
    let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    match usage {
        PlaceUse::Read => AccessFs::from_read(NEWEST),
        PlaceUse::Write => AccessFs::from_all(NEWEST) & !never,
    }
}
