//! What commands may do to files: a rule for every place they need, and none for anything else.
//!
//! In: places, the checkout, and how far a command reaches in it. Out: a set of rules ready to be put on a child. The kernel knows no
//! exceptions below a granted folder, so the checkout is granted entry by entry and what is protected is left out.
#![expect(clippy::disallowed_methods, reason = "the checkout's own git settings are looked at for credentials")]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};

use crate::base::path::RepoPath;
use crate::policy::paths::Protection;
use crate::workspace::sandbox::places::Use;
use crate::workspace::sandbox::{Network, Reach, Writes};

/// The oldest version of the kernel's interface that can keep a file from being cut short.
const OLDEST: ABI = ABI::V3;

/// The newest version that is understood; what it knows more is used where the kernel has it.
const NEWEST: ABI = ABI::V9;

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
    network: Network,
) -> Result<RulesetCreated, RulesFault> {
    let mut rules = empty(network)?;
    for place in system {
        rules = rules.add_rule(PathBeneath::new(&place.fd, place.access))?;
    }
    let root = rustix::fs::open(reach.root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let whole = match reach.writes {
        Writes::Everything => allowed(Use::Write),
        Writes::Nothing | Writes::Entries => BitFlags::from(AccessFs::ReadDir),
    };
    rules = rules.add_rule(PathBeneath::new(&root, whole))?;
    for granted in entries(&root, protection, reach)? {
        rules = rules.add_rule(PathBeneath::new(&granted.fd, granted.access))?;
    }
    for folder in reach.git {
        for granted in git_entries(folder, reach)? {
            rules = rules.add_rule(PathBeneath::new(&granted.fd, granted.access))?;
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
pub(super) fn empty(network: Network) -> Result<RulesetCreated, RulesetError> {
    let held = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(OLDEST))?;
    let held = held.set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(NEWEST))?.scope(Scope::from_all(NEWEST))?;
    match network {
        Network::Off => held.handle_access(AccessNet::from_all(NEWEST))?.create(),
        Network::Open => held.create(),
    }
}

/// Returns the version of the kernel's interface, 0 for none.
pub(super) fn version() -> u8 {
    let known = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, ABI::V6, ABI::V7, ABI::V8, ABI::V9];
    let has = |abi: &ABI| {
        let fits = |set: Ruleset| set.create().is_ok();
        let hard = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let files = hard.handle_access(AccessFs::from_all(*abi));
        let network = |set: Ruleset| if *abi >= ABI::V4 { set.handle_access(AccessNet::from_all(*abi)) } else { Ok(set) };
        let scope = |set: Ruleset| if *abi >= ABI::V6 { set.scope(Scope::from_all(*abi)) } else { Ok(set) };
        files.and_then(network).and_then(scope).is_ok_and(fits)
    };
    u8::try_from(known.iter().take_while(|abi| has(abi)).count()).unwrap_or(u8::MAX)
}

/// The entries of the checkout's top folder, each with what may be done below it.
fn entries(root: &OwnedFd, protection: &Protection, reach: &Reach<'_>) -> Result<Vec<Granted>, RulesFault> {
    let mut found = Vec::new();
    for entry in Dir::read_from(root)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let Some(path) = entry.file_name().to_str().ok().and_then(|name| RepoPath::parse(name).ok()) else { continue };
        if path == RepoPath::root() || path.as_str() == ".git" {
            continue;
        }
        if protection.of_read(&path).is_some() && !(reach.visible)(&path) {
            continue;
        }
        let writes = reach.writes != Writes::Nothing && !is_protected(protection, &path);
        let usage = if writes { Use::Write } else { Use::Read };
        found.extend(grant(root, Path::new(path.as_str()), Links::Refused, usage));
    }
    Ok(found)
}

/// Whether an entry, or anything in it if it is a folder, may not be changed.
fn is_protected(protection: &Protection, path: &RepoPath) -> bool {
    let inside = RepoPath::parse(&format!("{path}/x")).ok();
    protection.of_edit(path).is_some() || inside.is_none_or(|inside| protection.of_edit(&inside).is_some())
}

/// What of git's own folder may be read: all of it but settings with credentials.
fn git_entries(folder: &Path, reach: &Reach<'_>) -> Result<Vec<Granted>, RulesFault> {
    let root = rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut found: Vec<Granted> = grant(CWD, folder, Links::Followed, Use::Read).into_iter().collect();
    found.iter_mut().for_each(|whole| whole.access = BitFlags::from(AccessFs::ReadDir));
    for entry in Dir::read_from(&root)?.take(ENTRIES_LIMIT) {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let guarded = name.starts_with("config") || name.starts_with("credential") || name == "modules" || name == "worktrees";
        let fine = !guarded || reach.git_settings || (name.starts_with("config") && is_free_of_credentials(&folder.join(&name)));
        if !matches!(name.as_str(), "." | "..") && fine {
            found.extend(grant(&root, Path::new(&name), Links::Refused, Use::Read));
        }
    }
    Ok(found)
}

fn is_free_of_credentials(config: &Path) -> bool {
    use std::io::Read as _;
    let mut text = String::new();
    let read = File::open(config).and_then(|file| file.take(CONFIG_LIMIT_BYTES).read_to_string(&mut text));
    let lower = text.to_ascii_lowercase();
    read.is_ok() && text.len() < 1 << 20 && !CREDENTIAL_WORDS.iter().any(|word| lower.contains(word))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

fn grant(folder: impl std::os::fd::AsFd, path: &Path, links: Links, usage: Use) -> Option<Granted> {
    let follow = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    let fd = rustix::fs::openat(folder, path, OFlags::PATH | OFlags::CLOEXEC | follow, Mode::empty()).ok()?;
    let access = match FileType::from_raw_mode(rustix::fs::fstat(&fd).ok()?.st_mode) {
        FileType::Directory => allowed(usage),
        FileType::RegularFile | FileType::CharacterDevice => allowed(usage) & AccessFs::from_file(NEWEST),
        FileType::Symlink | FileType::Fifo | FileType::Socket | FileType::BlockDevice | FileType::Unknown => return None,
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
