//! `BaseView`: what the views of all commands of a run have in common, put together once.
//!
//! In: the places outside the checkout. Out: namespaces of files that hold a new root with these
//! places in it. Each command starts from a copy of them, in which its own steps are taken; no
//! process stays in them.
#![expect(clippy::disallowed_methods, reason = "what views need lies beside the private folder")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::linux::places::PlaceUse;
use crate::linux::view::stage::ViewStage;
use crate::linux::view::steps::{ViewPlan, ViewStep, root_in, write_whole};

/// Memory that the new root itself may take: folders, links and places to lay files over.
const ROOT_OPTIONS: &CStr = c"mode=0755,size=64m,nr_inodes=100k";

/// Folders that commands have for themselves when nothing else lies in them. The others are gone
/// with the command, `/tmp` with the run.
pub(super) const OWN_FOLDERS: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Links that programs expect among the devices.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// What is done once to have what all views start from.
pub(crate) struct BasePlan {
    plan: ViewPlan,
    inside: Vec<(PathBuf, PlaceUse)>,
    user: Option<UserMap>,
    /// The user namespace to be in, where there is one already.
    joined: Option<OwnedFd>,
}

/// What all views start from.
pub(crate) struct BaseView {
    /// What is known to be in the root.
    plan: ViewPlan,
    /// Places in folders that commands have for themselves: each view has them anew.
    pub(super) inside: Vec<(PathBuf, PlaceUse)>,
    pub(crate) namespaces: Arc<BaseNamespaces>,
    /// Git's settings that are there only in views: their text, and the file that holds it.
    settings: RefCell<BTreeMap<String, PathBuf>>,
}

/// The namespaces that hold what all views start from.
#[derive(Debug)]
pub(crate) struct BaseNamespaces {
    /// That of the user; `None` where none was needed.
    pub(crate) user: Option<OwnedFd>,
    /// That of files.
    pub(crate) mounts: OwnedFd,
    /// The root in it, still that of this program.
    pub(crate) root: OwnedFd,
}

/// How this user and its group are called inside: the same.
#[derive(Debug)]
struct UserMap {
    users: String,
    groups: String,
}

impl BasePlan {
    /// Works out the steps. `own` is the private folder of commands.
    ///
    /// # Errors
    /// When a path cannot be looked at, or not be passed to the kernel.
    pub(crate) fn of(own: &Path, places: &[(PathBuf, PlaceUse)]) -> io::Result<Self> {
        let mut plan = ViewPlan::new(root_in(own))?;
        for (link, target) in DEVICE_LINKS {
            plan.folders(Path::new("/dev"))?;
            plan.link(Path::new(link), Path::new(target))?;
        }
        plan.folders(Path::new("/proc"))?;
        let mut places: Vec<&(PathBuf, PlaceUse)> =
            places.iter().filter(|(place, _)| place != Path::new("/proc")).collect();
        places.sort_by_key(|(place, _)| place.components().count());
        let mut inside = Vec::new();
        for (place, usage) in places {
            if !lies_in_own_folder(place) {
                plan.place(place, *usage)?;
            } else if fs::symlink_metadata(place).is_ok() {
                inside.push((place.clone(), *usage));
            }
        }
        Ok(Self { plan, inside, user: user_map(), joined: None })
    }

    /// Puts it into a user namespace that there is already.
    pub(crate) fn join(&mut self, user: OwnedFd) {
        self.joined = Some(user);
    }

    /// Returns what the namespaces have of their own.
    pub(crate) fn namespaces(&self) -> i32 {
        let user =
            if self.user.is_some() && self.joined.is_none() { libc::CLONE_NEWUSER } else { 0 };
        user | libc::CLONE_NEWNS
    }

    /// Brings the calling process into the user namespace it is to be in. Takes no memory: it runs
    /// between fork and exec.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn enter(&self) -> Result<(), Errno> {
        let Some(user) = &self.joined else { return Ok(()) };
        move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))
    }

    /// Makes the calling process the same user inside the user namespace it just made.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn take_user(&self) -> io::Result<()> {
        let Some(user) = self.user.as_ref().filter(|_| self.joined.is_none()) else {
            return Ok(());
        };
        write_to(c"/proc/self/setgroups", b"deny")?;
        write_to(c"/proc/self/uid_map", user.users.as_bytes())?;
        write_to(c"/proc/self/gid_map", user.groups.as_bytes())?;
        Ok(())
    }

    /// Puts the root together. Takes no memory: it runs between fork and exec.
    ///
    /// # Errors
    /// What could not be done, and what the kernel says.
    pub(crate) fn take(&self) -> Result<(), (ViewStage, Errno)> {
        let at = |errno: Errno| (ViewStage::Root, errno);
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change(c"/", private).map_err(at)?;
        let inert = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount(c"locum", self.plan.root_path(), c"tmpfs", inert, ROOT_OPTIONS)
            .map_err(at)?;
        self.plan.steps.iter().try_for_each(ViewStep::take)
    }

    /// Opens the namespaces that the calling process is in.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn opened(&self) -> Result<BaseNamespaces, Errno> {
        let open = |path: &CStr| {
            rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        Ok(BaseNamespaces {
            user: self.has_own_user().then(|| open(c"/proc/self/ns/user")).transpose()?,
            mounts: open(c"/proc/self/ns/mnt")?,
            root: open(c"/")?,
        })
    }

    pub(crate) fn has_own_user(&self) -> bool {
        self.user.is_some()
    }

    /// Returns what views start from, with the namespaces in which the steps were taken.
    pub(crate) fn made(&self, namespaces: BaseNamespaces) -> BaseView {
        BaseView {
            plan: self.plan.continued(),
            inside: self.inside.clone(),
            namespaces: Arc::new(namespaces),
            settings: RefCell::default(),
        }
    }
}

impl BaseView {
    /// Returns a plan that goes on where this one ended.
    pub(super) fn plan(&self) -> ViewPlan {
        self.plan.continued()
    }

    /// Returns a file with this text, which lies where no command sees it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn settings(&self, own: &Path, text: String) -> io::Result<PathBuf> {
        let mut known = self.settings.borrow_mut();
        if let Some(file) = known.get(&text) {
            return Ok(file.clone());
        }
        let file = own.with_file_name(format!("git-settings-{}", known.len()));
        fs::write(&file, &text)?;
        known.insert(text, file.clone());
        Ok(file)
    }
}

impl BaseNamespaces {
    /// Brings the calling process into them. Takes no memory: it runs between fork and exec.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn join(&self) -> Result<(), Errno> {
        if let Some(user) = &self.user {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(self.mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
        // The kernel takes the root of the machine, and this program may have another one.
        rustix::process::fchdir(&self.root)?;
        rustix::process::chroot(c".")
    }
}

/// Whether a place, or what it leads to, lies in a folder that commands have for themselves.
fn lies_in_own_folder(place: &Path) -> bool {
    let real = fs::canonicalize(place).ok();
    [Some(place), real.as_deref()]
        .into_iter()
        .flatten()
        .any(|path| OWN_FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

/// Returns the user and the group that commands know, if those are all they know. An administrator
/// needs no user namespace to make the others, and would lose sight of other users' files in one.
pub(crate) fn only_known() -> Option<(u32, u32)> {
    let may = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::SYS_ADMIN));
    let ids = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    (!may).then_some(ids)
}

fn user_map() -> Option<UserMap> {
    let same = |id: u32| format!("{id} {id} 1");
    only_known().map(|(user, group)| UserMap { users: same(user), groups: same(group) })
}

/// Writes a file of the kernel's.
///
/// # Errors
/// What the kernel says.
pub(super) fn write_to(file: &CStr, text: &[u8]) -> Result<(), Errno> {
    let file = rustix::fs::openat(CWD, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    write_whole(&file, text)
}
