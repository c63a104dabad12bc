//! What a command sees of the machine when it has namespaces of its own: a root that holds nothing
//! but the places it needs, with covers over what is protected or hidden, processes of its own, and
//! a network of its own that ends at `127.0.0.1`.
//!
//! In: places, the checkout, and what of it is covered. Out: a [`View`], steps worked out
//! beforehand, that the first process of the namespaces takes before any foreign code runs. It
//! changes nothing outside: mounts made here are seen by nobody else.
#![expect(
    clippy::disallowed_methods,
    reason = "the folder of the new root is made beside the private folders of commands"
)]

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use crate::places::Use;
use crate::{Network, loopback};

/// Memory that files of the new root, `/tmp` among them, may take.
const ROOT_OPTIONS: &std::ffi::CStr = c"mode=0755,size=1g,nr_inodes=100k";

/// Links followed on the way to one place (Linux follows 40).
const LINKS_LIMIT: usize = 40;

/// Folders that a command has for itself when nothing else lies in them. They are gone with the
/// command.
const OWN_FOLDERS: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Links that programs expect among the devices.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// What keeps a path from being written, or read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// It stays as it is and cannot be changed, moved or removed.
    ReadOnly(PathBuf),
    /// An empty file or folder lies over it.
    Hidden(PathBuf),
}

/// A part of taking the view, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// The namespaces themselves.
    Namespaces = 1,
    /// Who the user is inside.
    User,
    /// The first process inside.
    Processes,
    /// The new root and what is in it.
    Root,
    /// A `/proc` of its own.
    Proc,
    /// Leaving the old root.
    Pivot,
    /// The network of its own.
    Network,
    /// A limit on the numbers of processes.
    Pids,
}

impl Stage {
    const ALL: [Self; 8] = [
        Self::Namespaces,
        Self::User,
        Self::Processes,
        Self::Root,
        Self::Proc,
        Self::Pivot,
        Self::Network,
        Self::Pids,
    ];

    /// Returns the part with this number.
    pub(crate) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| *stage as u8 == number)
    }

    /// Returns what could not be done, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Namespaces => "making namespaces",
            Self::User => "becoming the same user inside",
            Self::Processes => "starting the first process inside",
            Self::Root => "making a root",
            Self::Proc => "mounting `/proc`",
            Self::Pivot => "leaving the old root",
            Self::Network => "starting the loopback network",
            Self::Pids => "limiting the number of processes",
        }
    }
}

/// One step on the way to the view; paths are below the folder of the new root unless said
/// otherwise.
#[derive(Debug)]
enum Step {
    Folder(CString),
    SharedFolder(CString),
    File(CString),
    Link {
        target: CString,
        at: CString,
    },
    /// `from` is a path of the old root.
    Bind {
        from: CString,
        at: CString,
    },
    /// As `Bind`, but nothing below `at` can be changed. `flags` are those the file system has
    /// already.
    Fixed {
        from: CString,
        at: CString,
        flags: MountFlags,
    },
    Proc(CString),
}

/// What is done to get the view.
#[derive(Debug)]
pub(crate) struct View {
    root: CString,
    steps: Vec<Step>,
    own_folders: Vec<CString>,
    user: Option<UserMap>,
    /// Which network it is in.
    network: Network,
    /// The largest number a process may have, as text, where that holds how many there are.
    pids: Option<String>,
}

/// How this user is called inside: the same.
#[derive(Debug)]
struct UserMap {
    users: String,
    groups: String,
}

/// Everything a view is made of.
pub(super) struct Scene<'a> {
    /// The private folder of commands.
    pub(super) own: &'a Path,
    /// What they find outside the checkout.
    pub(super) places: &'a [PathBuf],
    /// The checkout and git's own folders.
    pub(super) roots: &'a [PathBuf],
    /// What is covered.
    pub(super) covers: &'a [Cover],
    /// Which network the command is in.
    pub(super) network: Network,
    /// The largest number a process may have, where that holds how many there are.
    pub(super) pids: Option<u32>,
}

impl View {
    /// Works out the steps.
    ///
    /// # Errors
    /// When something to be covered cannot be looked at, or a path cannot be told to the kernel.
    pub(super) fn of(scene: &Scene<'_>) -> io::Result<Self> {
        let mut plan = Plan::new(root_in(scene.own));
        for (link, target) in DEVICE_LINKS {
            plan.folders(Path::new("/dev"))?;
            plan.link(Path::new(link), Path::new(target))?;
        }
        for folder in OWN_FOLDERS {
            plan.own(Path::new(folder))?;
        }
        let mut places: Vec<&Path> = scene
            .places
            .iter()
            .map(PathBuf::as_path)
            .filter(|place| *place != Path::new("/proc"))
            .collect();
        places.sort_by_key(|place| place.components().count());
        for place in places {
            plan.place(place)?;
        }
        plan.proc()?;
        let own_folders = plan.empty_own_folders(scene.roots)?;
        plan.place(scene.own)?;
        for root in scene.roots {
            plan.place(root)?;
        }
        for cover in scene.covers {
            plan.cover(cover, scene.own)?;
        }
        let root = c_string(&plan.root)?;
        Ok(Self {
            root,
            steps: plan.steps,
            own_folders,
            user: user_map(),
            network: scene.network,
            pids: scene.pids.map(|pids| pids.to_string()),
        })
    }

    /// Returns what the namespaces have of their own.
    pub(crate) fn namespaces(&self) -> i32 {
        let user = if self.user.is_some() { libc::CLONE_NEWUSER } else { 0 };
        let network = match self.network {
            Network::Off | Network::Own | Network::Proxied | Network::Handed => libc::CLONE_NEWNET,
            Network::Open => 0,
        };
        user | network | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC
    }

    /// Whether a proxy outside is to serve a socket inside.
    pub(crate) fn has_proxy(&self) -> bool {
        self.network == Network::Proxied
    }

    /// Whether every right inside comes from being in a user namespace, so that none has to be
    /// kept.
    pub(crate) fn has_own_user(&self) -> bool {
        self.user.is_some()
    }

    /// Returns what is there only in the view, and what may be done there.
    pub(super) fn late(&self) -> impl Iterator<Item = (CString, Use)> {
        let own = self.own_folders.iter().map(|folder| (folder.clone(), Use::Write));
        own.chain([(c"/proc".to_owned(), Use::Read)])
    }

    /// Makes the calling process the same user inside the user namespace it just made.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn take_user(&self) -> io::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        tell(c"/proc/self/setgroups", b"deny")?;
        tell(c"/proc/self/uid_map", user.users.as_bytes())?;
        tell(c"/proc/self/gid_map", user.groups.as_bytes())?;
        Ok(())
    }

    /// Takes the view; called by the first process of the namespaces. Takes no memory: it runs
    /// between fork and exec. Returns the socket that a proxy outside is to serve, where there is
    /// one.
    ///
    /// # Errors
    /// What could not be done, and what the kernel says.
    pub(crate) fn take(&self) -> Result<Option<OwnedFd>, (Stage, Errno)> {
        let at = |stage: Stage| move |errno: Errno| (stage, errno);
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change(c"/", private).map_err(at(Stage::Root))?;
        let inert = MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount(c"locum", &self.root, c"tmpfs", inert, ROOT_OPTIONS)
            .map_err(at(Stage::Root))?;
        for step in &self.steps {
            step.take()?;
        }
        rustix::process::chdir(&self.root).map_err(at(Stage::Pivot))?;
        rustix::process::pivot_root(c".", c".").map_err(at(Stage::Pivot))?;
        rustix::mount::unmount(c".", UnmountFlags::DETACH).map_err(at(Stage::Pivot))?;
        rustix::process::chdir(c"/").map_err(at(Stage::Pivot))?;
        if let Some(pids) = &self.pids {
            tell(c"/proc/sys/kernel/pid_max", pids.as_bytes()).map_err(at(Stage::Pids))?;
        }
        match self.network {
            Network::Off | Network::Open | Network::Handed => Ok(None),
            Network::Own => loopback::start().map(|()| None).map_err(at(Stage::Network)),
            Network::Proxied => loopback::start()
                .and_then(|()| loopback::listen())
                .map(Some)
                .map_err(at(Stage::Network)),
        }
    }
}

/// Returns where the new root is put together.
fn root_in(own: &Path) -> PathBuf {
    own.join("root")
}

/// Returns the empty file and the empty folder that hide what they are put over.
fn nothing_in(own: &Path) -> [PathBuf; 2] {
    [own.join("nothing"), own.join("none")]
}

/// Makes what views need in the private folder of commands.
///
/// # Errors
/// When it cannot be made.
pub(super) fn prepare(own: &Path) -> io::Result<()> {
    let [file, folder] = nothing_in(own);
    fs::create_dir(root_in(own))?;
    fs::create_dir(folder)?;
    fs::write(file, "")
}

impl Step {
    fn take(&self) -> Result<(), (Stage, Errno)> {
        let made = |result: Result<(), Errno>| match result {
            Err(Errno::EXIST) => Ok(()),
            result => result,
        };
        let root = |errno: Errno| (Stage::Root, errno);
        let mode = Mode::from_raw_mode(0o755);
        match self {
            Self::Folder(at) => made(rustix::fs::mkdir(at, mode)).map_err(root),
            Self::SharedFolder(at) => made(rustix::fs::mkdir(at, mode))
                .and_then(|()| rustix::fs::chmod(at, Mode::from_raw_mode(0o1777)))
                .map_err(root),
            Self::File(at) => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
                rustix::fs::openat(CWD, at, flags, Mode::from_raw_mode(0o644))
                    .map(drop)
                    .map_err(root)
            }
            Self::Link { target, at } => made(rustix::fs::symlink(target, at)).map_err(root),
            Self::Bind { from, at } => rustix::mount::mount_bind_recursive(from, at).map_err(root),
            Self::Fixed { from, at, flags } => rustix::mount::mount_bind(from, at)
                .and_then(|()| {
                    rustix::mount::mount_remount(
                        at,
                        MountFlags::BIND | MountFlags::RDONLY | *flags,
                        c"",
                    )
                })
                .map_err(root),
            Self::Proc(at) => {
                let inert = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                rustix::mount::mount(c"proc", at, c"proc", inert, None)
                    .map_err(|errno| (Stage::Proc, errno))
            }
        }
    }
}

/// What is known to be in the new root while the steps are worked out.
struct Plan {
    root: PathBuf,
    known: BTreeMap<PathBuf, Known>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Folder,
    /// A folder the command has for itself.
    Own,
    /// The same as in the old root, with everything below it.
    Bound,
    Link,
}

impl Plan {
    fn new(root: PathBuf) -> Self {
        Self { root, known: BTreeMap::new(), steps: Vec::new() }
    }

    /// Brings a path of the old root into the new one, with the links that lead to it; one that
    /// does not exist is left out.
    fn place(&mut self, path: &Path) -> io::Result<()> {
        let mut ahead: Vec<OsString> = parts(path);
        ahead.reverse();
        let mut here = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == ".." {
                here.pop();
                continue;
            }
            here.push(part);
            if self.known.get(&here) == Some(&Known::Bound) {
                return Ok(());
            }
            let Ok(facts) = fs::symlink_metadata(&here) else { return Ok(()) };
            if facts.is_symlink() {
                links += 1;
                if links > LINKS_LIMIT {
                    return Ok(());
                }
                let target = fs::read_link(&here)?;
                self.link(&here, &target)?;
                if target.is_absolute() {
                    here = PathBuf::from("/");
                } else {
                    here.pop();
                }
                ahead.extend(parts(&target).into_iter().rev());
            } else if ahead.is_empty() {
                return self.bind(&here, facts.is_dir());
            } else {
                self.folder(&here)?;
            }
        }
        Ok(())
    }

    fn bind(&mut self, path: &Path, is_folder: bool) -> io::Result<()> {
        if is_folder {
            self.folder(path)?;
        } else {
            self.steps.push(Step::File(self.at(path)?));
        }
        self.steps.push(Step::Bind { from: c_string(path)?, at: self.at(path)? });
        self.known.insert(path.to_owned(), Known::Bound);
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        if !self.known.contains_key(path) && path != Path::new("/") {
            self.steps.push(Step::Folder(self.at(path)?));
            self.known.insert(path.to_owned(), Known::Folder);
        }
        Ok(())
    }

    fn folders(&mut self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        above.into_iter().try_for_each(|folder| self.folder(folder))
    }

    fn link(&mut self, at: &Path, target: &Path) -> io::Result<()> {
        if !self.known.contains_key(at) {
            self.steps.push(Step::Link { target: c_string(target)?, at: self.at(at)? });
            self.known.insert(at.to_owned(), Known::Link);
        }
        Ok(())
    }

    fn own(&mut self, path: &Path) -> io::Result<()> {
        self.folders(path.parent().unwrap_or(path))?;
        self.steps.push(Step::SharedFolder(self.at(path)?));
        self.known.insert(path.to_owned(), Known::Own);
        Ok(())
    }

    fn proc(&mut self) -> io::Result<()> {
        self.folder(Path::new("/proc"))?;
        self.steps.push(Step::Proc(self.at(Path::new("/proc"))?));
        Ok(())
    }

    /// Returns the command's own folders that nothing else lies in: only these can be opened whole.
    /// The private folder does not count, for it is open anyway.
    fn empty_own_folders(&self, roots: &[PathBuf]) -> io::Result<Vec<CString>> {
        let lies_in = |folder: &Path| {
            roots.iter().any(|root| root.starts_with(folder))
                || self.known.keys().any(|known| known != folder && known.starts_with(folder))
        };
        let own =
            self.known.iter().filter(|(_, known)| **known == Known::Own).map(|(path, _)| path);
        own.filter(|folder| !lies_in(folder)).map(|folder| c_string(folder)).collect()
    }

    fn cover(&mut self, cover: &Cover, own: &Path) -> io::Result<()> {
        let (path, from) = match cover {
            Cover::ReadOnly(path) => (path, path.clone()),
            Cover::Hidden(path) => {
                let [file, folder] = nothing_in(own);
                (path, if fs::symlink_metadata(path)?.is_dir() { folder } else { file })
            }
        };
        let has = rustix::fs::statvfs(&from)?.f_flag;
        let pairs = [
            (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
            (StatVfsMountFlags::NODEV, MountFlags::NODEV),
            (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        ];
        let flags = pairs
            .into_iter()
            .filter(|(there, _)| has.contains(*there))
            .fold(MountFlags::empty(), |all, (_, flag)| all | flag);
        self.steps.push(Step::Fixed { from: c_string(&from)?, at: self.at(path)?, flags });
        Ok(())
    }

    /// Returns where a path of the new root is now.
    fn at(&self, path: &Path) -> io::Result<CString> {
        c_string(&self.root.join(path.strip_prefix("/").unwrap_or(path)))
    }
}

fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// An administrator needs no user namespace to make the others, and would lose sight of other
/// users' files in one.
fn user_map() -> Option<UserMap> {
    let may = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::SYS_ADMIN));
    let same = |id: u32| format!("{id} {id} 1");
    (!may).then(|| UserMap {
        users: same(rustix::process::geteuid().as_raw()),
        groups: same(rustix::process::getegid().as_raw()),
    })
}

fn tell(file: &std::ffi::CStr, text: &[u8]) -> Result<(), Errno> {
    let file = rustix::fs::openat(CWD, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    if rustix::io::write(&file, text)? == text.len() { Ok(()) } else { Err(Errno::IO) }
}
