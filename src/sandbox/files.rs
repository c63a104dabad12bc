//! What commands may do to files: a rule for every place they need, and none for anything else.
//!
//! In: places, the checkout, and how far a command reaches in it. Out: a set of rules ready to be
//! put on a child. The kernel knows no exceptions below a granted folder, so the checkout is
//! granted entry by entry and what is protected is left out.
#![expect(
    clippy::disallowed_methods,
    reason = "the checkout's own git settings are looked at for credentials"
)]

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

use crate::places::Use;
use crate::view::Cover;
use crate::{Network, Reach, Writes};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// The oldest version of the kernel's interface that can keep a file from being cut short.
const OLDEST: ABI = ABI::V3;

/// The newest version that is understood; what it knows more is used where the kernel has it.
pub(super) const NEWEST: ABI = ABI::V9;

/// Entries of a folder that are granted one by one; those after it are not granted.
const ENTRIES_LIMIT: usize = 10_000;

/// Bytes of git's settings that are looked at for credentials.
const CONFIG_LIMIT_BYTES: u64 = 1 << 20;

/// Words in git's settings that mean a credential may be there.
const CREDENTIAL_WORDS: &[&str] = &["extraheader", "password", "token", "credential", "@"];

/// A place that is open and what may be done there.
pub(super) struct Granted {
    fd: OwnedFd,
    access: BitFlags<AccessFs>,
}

/// What a set of rules is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// What of the network commands reach.
    pub(super) network: Network,
    /// The newest version of the kernel's interface that is used; [`NEWEST`], but for tests of
    /// older ones.
    pub(super) newest: ABI,
}

impl Held {
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
pub(super) enum Root {
    /// It is covered: the root itself may be open.
    Covered,
    /// It is left out of what is granted.
    EntryByEntry,
}

/// Opens places; those that do not exist are left out.
pub(super) fn open_places(places: &[(PathBuf, Use)]) -> Vec<Granted> {
    places.iter().filter_map(|(path, usage)| grant(CWD, path, Links::Followed, *usage)).collect()
}

/// Makes the rules for one command.
///
/// # Errors
/// When the kernel cannot hold files, or the checkout cannot be listed.
pub(super) fn rules(
    system: &[Granted],
    protection: &Protection,
    reach: &Reach<'_>,
    held: Held,
    split: &Split,
) -> Result<RulesetCreated, RulesFault> {
    let mut rules = empty(held)?;
    for place in system {
        rules = held.add(rules, &place.fd, place.access)?;
    }
    let top = rustix::fs::open(
        reach.root,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let whole = match reach.writes {
        Writes::Everything => allowed(Use::Write),
        Writes::Entries if !split.folders.contains(reach.root) => allowed(Use::Write),
        Writes::Nothing | Writes::Entries => BitFlags::from(AccessFs::ReadDir),
    };
    rules = held.add(rules, &top, whole)?;
    if split.folders.contains(reach.root) {
        for granted in entries(&top, &RepoPath::root(), protection, reach, split)? {
            rules = held.add(rules, &granted.fd, granted.access)?;
        }
    }
    for folder in reach.git {
        for granted in git_entries(folder, reach)? {
            rules = held.add(rules, &granted.fd, granted.access)?;
        }
    }
    Ok(rules)
}

/// Why there are no rules.
#[derive(Debug, thiserror::Error)]
pub(super) enum RulesFault {
    /// The kernel said no.
    #[error(transparent)]
    Kernel(#[from] RulesetError),
    /// The checkout could not be looked at.
    #[error("the checkout cannot be listed: {0}")]
    Checkout(#[from] rustix::io::Errno),
}

/// Makes a set without any rule: nothing is allowed.
pub(super) fn empty(what: Held) -> Result<RulesetCreated, RulesetError> {
    let held = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?;
    let held = held
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(what.newest))?;
    // Older versions know neither; what is empty cannot be asked for.
    let held =
        if what.newest >= ABI::V6 { held.scope(Scope::from_all(what.newest))? } else { held };
    match what.network {
        Network::Off | Network::Handed if what.newest < ABI::V4 => held.create(),
        Network::Off | Network::Handed => {
            held.handle_access(AccessNet::from_all(what.newest))?.create()
        }
        Network::Own | Network::Proxied | Network::Open => held.create(),
    }
}

/// Returns the version of the kernel's interface, 0 for none.
pub(super) fn version(status: &LandlockStatus) -> u8 {
    let number = match status {
        LandlockStatus::Available { kernel_abi: Some(newer), .. } => *newer,
        LandlockStatus::Available { effective_abi, kernel_abi: None } => *effective_abi as i32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    };
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// What of a checkout cannot be granted whole.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// Folders: the root where nothing covers what is protected there, and those above hidden files
    /// where nothing covers these.
    pub(super) folders: BTreeSet<PathBuf>,
    hidden: BTreeSet<PathBuf>,
}

impl Split {
    /// Finds out what it is for one command.
    pub(super) fn of(reach: &Reach<'_>, covers: &[Cover], root: Root) -> Self {
        let mut split = Self::default();
        for cover in covers {
            match (cover, root) {
                (Cover::Hidden(path), Root::EntryByEntry) => {
                    let above =
                        path.ancestors().skip(1).filter(|above| above.starts_with(reach.root));
                    split.folders.extend(above.map(Path::to_owned));
                    split.hidden.insert(path.clone());
                }
                (Cover::Hidden(_), Root::Covered) | (Cover::ReadOnly(_), _) => {}
            }
        }
        if root == Root::EntryByEntry || reach.writes != Writes::Entries {
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
    reach: &Reach<'_>,
    split: &Split,
) -> Result<Vec<Granted>, RulesFault> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let name = entry.file_name();
        let Some(path) = name
            .to_str()
            .ok()
            .filter(|name| !matches!(*name, "." | ".."))
            .and_then(|name| at.join(name).ok())
        else {
            continue;
        };
        let absolute = reach.root.join(path.as_str());
        if path.as_str() == ".git"
            || split.hidden.contains(&absolute)
            || reach.hides(protection, &path)
        {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if split.folders.contains(&absolute)
            && let Ok(inner) = rustix::fs::openat(folder, name, flags, Mode::empty())
        {
            found.extend(entries(&inner, &path, protection, reach, split)?);
            found.push(Granted { fd: inner, access: BitFlags::from(AccessFs::ReadDir) });
            continue;
        }
        let Some(opened) = open(folder, Path::new(path.name().unwrap_or_default()), Links::Refused)
        else {
            continue;
        };
        let kind = rustix::fs::fstat(&opened)
            .map_or(FileType::Unknown, |facts| FileType::from_raw_mode(facts.st_mode));
        let writes =
            reach.writes != Writes::Nothing && !is_protected(protection, &path, Kind::of(kind));
        found.extend(granted(opened, kind, if writes { Use::Write } else { Use::Read }));
    }
    Ok(found)
}

/// What an entry is, as far as its protection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
}

impl Kind {
    /// A file's, unless it is known to be a folder.
    pub(super) fn of(kind: FileType) -> Self {
        if kind == FileType::Directory { Self::Folder } else { Self::File }
    }
}

/// Whether an entry may not be changed; of a folder, anything in it.
pub(super) fn is_protected(protection: &Protection, path: &RepoPath, kind: Kind) -> bool {
    let inside = || RepoPath::parse(&format!("{path}/x")).ok();
    protection.of_edit(path).is_some()
        || (kind == Kind::Folder
            && inside().is_none_or(|inside| protection.of_edit(&inside).is_some()))
}

/// What of git's own folder may be read: all of it but settings with credentials.
fn git_entries(folder: &Path, reach: &Reach<'_>) -> Result<Vec<Granted>, RulesFault> {
    let root = rustix::fs::open(
        folder,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut found: Vec<Granted> =
        grant(CWD, folder, Links::Followed, Use::Read).into_iter().collect();
    found.iter_mut().for_each(|whole| whole.access = BitFlags::from(AccessFs::ReadDir));
    for entry in Dir::read_from(&root)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !matches!(name.as_str(), "." | "..") && !is_guarded(folder, &name, reach) {
            found.extend(grant(&root, Path::new(&name), Links::Refused, Use::Read));
        }
    }
    Ok(found)
}

/// Returns the entries of a git folder that may hold credentials.
///
/// # Errors
/// When it cannot be listed.
pub(super) fn guarded_git_entries(
    folder: &Path,
    reach: &Reach<'_>,
) -> Result<Vec<PathBuf>, rustix::io::Errno> {
    let root = rustix::fs::open(
        folder,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
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

fn is_guarded(folder: &Path, name: &str, reach: &Reach<'_>) -> bool {
    let guarded = name.starts_with("config")
        || name.starts_with("credential")
        || name == "modules"
        || name == "worktrees";
    guarded
        && !reach.git_settings
        && !(name.starts_with("config") && is_free_of_credentials(&folder.join(name)))
}

/// Opens a place that is there only once the process has a view of its own. Takes no memory.
///
/// # Errors
/// When it is not there, or the kernel refuses.
pub(super) fn add_late(
    held: Held,
    rules: RulesetCreated,
    path: &CStr,
    usage: Use,
) -> std::io::Result<RulesetCreated> {
    let fd = rustix::fs::openat(
        CWD,
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    held.add(rules, &fd, allowed(usage)).map_err(|_| std::io::ErrorKind::PermissionDenied.into())
}

fn is_free_of_credentials(config: &Path) -> bool {
    use std::io::Read as _;
    let mut text = String::new();
    let read =
        File::open(config).and_then(|file| file.take(CONFIG_LIMIT_BYTES).read_to_string(&mut text));
    let lower = text.to_ascii_lowercase();
    read.is_ok()
        && text.len() < 1 << 20
        && !CREDENTIAL_WORDS.iter().any(|word| lower.contains(word))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

fn grant(folder: impl AsFd, path: &Path, links: Links, usage: Use) -> Option<Granted> {
    let opened = open(folder, path, links)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened).ok()?.st_mode);
    granted(opened, kind, usage)
}

fn open(folder: impl AsFd, path: &Path, links: Links) -> Option<OwnedFd> {
    let follow = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    rustix::fs::openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty()).ok()
}

fn granted(fd: OwnedFd, kind: FileType, usage: Use) -> Option<Granted> {
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
    Some(Granted { fd, access })
}

fn allowed(usage: Use) -> BitFlags<AccessFs> {
    let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    match usage {
        Use::Read => AccessFs::from_read(NEWEST),
        Use::Write => AccessFs::from_all(NEWEST) & !never,
    }
}
