//! The steps that put a new root together.
//!
//! In: places of the old root, and masks over some of them. Out: a list of [`ViewStep`]s, worked
//! out beforehand, which the first process of the namespaces takes one after the other.
#![expect(
    clippy::disallowed_methods,
    reason = "the folder of the new root is made beside the private folders of commands"
)]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use crate::layer::{GitLayer, LayerFolders, MovedGit};
use crate::linux::mount_masks::Mask;
use crate::linux::places::PlaceUse;
use crate::linux::view::stage::ViewStage;

/// Links followed on the way to one place (Linux follows 40).
const LINKS_LIMIT: usize = 40;

/// Memory that the files of one of the command's own folders may take.
const OWN_OPTIONS: &CStr = c"mode=1777,size=1g,nr_inodes=100k";

/// One step on the way to the view; paths are below the folder of the new root unless said
/// otherwise.
#[derive(Debug)]
pub(super) enum ViewStep {
    Folder(CString),
    /// A folder the command has for itself, gone with it.
    Own(CString),
    File(CString),
    Link {
        target: CString,
        at: CString,
    },
    /// `from` is a path of the old root, which comes with all that is mounted below it. With
    /// flags, which are those its file system has already, nothing in it can be changed: neither
    /// content nor mode, owner or times.
    Bind {
        from: CString,
        at: CString,
        closed: Option<MountFlags>,
    },
    /// As `Bind`, but nothing below `at` can be changed. `flags` are those the file system has
    /// already.
    ReadOnly {
        from: CString,
        at: CString,
        flags: MountFlags,
    },
    /// A copy-on-write layer of the folders of the old root that `options` names.
    Overlay {
        options: CString,
        at: CString,
    },
    Proc(CString),
}

/// What is known to be in the new root while the steps are worked out.
pub(super) struct ViewPlan {
    root: PathBuf,
    root_path: CString,
    known: BTreeMap<PathBuf, RootEntry>,
    pub(super) steps: Vec<ViewStep>,
    /// Git's settings that are there only in the new root.
    pub(super) settings: Vec<CString>,
    /// What is seen where, instead of at its own path; the inner folders last.
    moved: Vec<(PathBuf, PathBuf)>,
}

/// What lies at a path of the new root.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RootEntry {
    Folder,
    /// A folder the command has for itself.
    Own,
    /// The same as in the old root, with everything below it.
    Bound,
    Link,
}

impl ViewPlan {
    pub(super) fn new(root: PathBuf) -> io::Result<Self> {
        let root_path = c_string(&root)?;
        Ok(Self {
            root,
            root_path,
            known: BTreeMap::new(),
            steps: Vec::new(),
            settings: Vec::new(),
            moved: Vec::new(),
        })
    }

    /// Returns a plan without steps for a root in which the steps of this one were taken.
    pub(super) fn continued(&self) -> Self {
        Self {
            root: self.root.clone(),
            root_path: self.root_path.clone(),
            known: self.known.clone(),
            steps: Vec::new(),
            settings: self.settings.clone(),
            moved: self.moved.clone(),
        }
    }

    /// Returns where the new root is put together.
    pub(super) fn root_path(&self) -> &CStr {
        &self.root_path
    }

    /// Brings a path of the old root into the new one, with the links that lead to it; one that
    /// does not exist is left out.
    pub(super) fn place(&mut self, path: &Path, usage: PlaceUse) -> io::Result<()> {
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
            if self.known.get(&here) == Some(&RootEntry::Bound) {
                return self.open_again(path, usage);
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
                return self.bind(&here, facts.is_dir(), usage);
            } else {
                self.folder(&here)?;
            }
        }
        Ok(())
    }

    /// Opens what may be written in a place that is closed as a whole.
    fn open_again(&mut self, path: &Path, usage: PlaceUse) -> io::Result<()> {
        let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
        if usage == PlaceUse::Write && self.known.get(&real) != Some(&RootEntry::Bound) {
            let (from, at) = (c_string(&real)?, self.at(&real)?);
            self.steps.push(ViewStep::Bind { from, at, closed: None });
            self.known.insert(real, RootEntry::Bound);
        }
        Ok(())
    }

    fn bind(&mut self, path: &Path, is_folder: bool, usage: PlaceUse) -> io::Result<()> {
        if is_folder {
            self.folder(path)?;
        } else {
            self.steps.push(ViewStep::File(self.at(path)?));
        }
        let closed = match usage {
            PlaceUse::Read => Some(flags_of(path)?),
            PlaceUse::Write => None,
        };
        let (from, at) = (c_string(path)?, self.at(path)?);
        self.steps.push(ViewStep::Bind { from, at, closed });
        self.known.insert(path.to_owned(), RootEntry::Bound);
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        if !self.known.contains_key(path) && path != Path::new("/") {
            self.steps.push(ViewStep::Folder(self.at(path)?));
            self.known.insert(path.to_owned(), RootEntry::Folder);
        }
        Ok(())
    }

    pub(super) fn folders(&mut self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        above.into_iter().try_for_each(|folder| self.folder(folder))
    }

    pub(super) fn link(&mut self, at: &Path, target: &Path) -> io::Result<()> {
        if !self.known.contains_key(at) {
            self.steps.push(ViewStep::Link { target: c_string(target)?, at: self.at(at)? });
            self.known.insert(at.to_owned(), RootEntry::Link);
        }
        Ok(())
    }

    pub(super) fn own(&mut self, path: &Path) -> io::Result<()> {
        self.folders(path.parent().unwrap_or(path))?;
        self.steps.push(ViewStep::Own(self.at(path)?));
        self.known.insert(path.to_owned(), RootEntry::Own);
        Ok(())
    }

    /// As [`ViewPlan::own`], with what an earlier command left in it.
    pub(super) fn kept(&mut self, path: &Path, kept: &Path) -> io::Result<()> {
        self.folders(path)?;
        let (from, at) = (c_string(kept)?, self.at(path)?);
        self.steps.push(ViewStep::Bind { from, at, closed: None });
        self.known.insert(path.to_owned(), RootEntry::Own);
        Ok(())
    }

    /// Lets what lies at `other` be seen at `root`, where a layer over it has to follow.
    pub(super) fn stand_in(&mut self, root: &Path, other: &Path) -> io::Result<()> {
        self.folders(root)?;
        self.known.insert(root.to_owned(), RootEntry::Bound);
        self.moved.push((other.to_owned(), root.to_owned()));
        Ok(())
    }

    /// Lets git's folder be seen where the stand-in of its checkout does not cover it.
    pub(super) fn moved_git(&mut self, git: &MovedGit) -> io::Result<()> {
        self.moved.push((git.folder.clone(), git.seen_at.clone()));
        let (from, at) = (c_string(&git.folder)?, self.at(&git.seen_at)?);
        self.steps.push(ViewStep::Bind { from, at, closed: None });
        Ok(())
    }

    /// Lays a copy-on-write layer of the folders `lower`, the uppermost first, over a folder that
    /// is in the new root already. With [`LayerUse::Seen`], what is in the layer is seen, and
    /// nothing can be written.
    pub(super) fn layer(
        &mut self,
        at: &Path,
        lower: &[PathBuf],
        (layer, usage): (LayerFolders<'_>, LayerUse),
    ) -> io::Result<()> {
        let [upper, work] = [layer.upper, layer.work].map(escaped);
        let lower = lower.iter().map(|lower| escaped(lower)).collect::<Vec<_>>().join(&b':');
        let mut options = b"userxattr,lowerdir=".to_vec();
        match usage {
            LayerUse::Seen => options.extend([upper, b":".to_vec(), lower].concat()),
            LayerUse::Written => {
                let parts: [&[u8]; 6] =
                    [&lower, b",upperdir=", &upper, b",workdir=", &work, b",volatile"];
                options.extend(parts.concat());
            }
        }
        let options = CString::new(options).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.steps.push(ViewStep::Overlay { options, at: self.at(at)? });
        Ok(())
    }

    /// Lays the layer of one of git's folders over it. Returns where that is in the new root, and
    /// what may be done there.
    pub(super) fn git_layer(
        &mut self,
        git: &GitLayer,
        usage: LayerUse,
    ) -> io::Result<(CString, PlaceUse)> {
        let folders = LayerFolders::over(&git.upper, &git.work);
        self.layer(&git.folder, std::slice::from_ref(&git.folder), (folders, usage))?;
        Ok((c_string(&self.seen(&git.folder))?, usage.access()))
    }

    pub(super) fn proc(&mut self) -> io::Result<()> {
        self.folder(Path::new("/proc"))?;
        self.steps.push(ViewStep::Proc(self.at(Path::new("/proc"))?));
        Ok(())
    }

    /// Returns the command's own folders that nothing else lies in: only these can be opened whole.
    /// The private folder does not count, for it is open anyway.
    pub(super) fn empty_own_folders(
        &self,
        roots: &[PathBuf],
        own: &Path,
    ) -> io::Result<Vec<CString>> {
        let lies_in = |folder: &Path| {
            let other = |known: &&PathBuf| *known != folder && !own.starts_with(known);
            roots.iter().any(|root| root.starts_with(folder))
                || self.known.keys().filter(other).any(|known| known.starts_with(folder))
        };
        let own =
            self.known.iter().filter(|(_, known)| **known == RootEntry::Own).map(|(path, _)| path);
        own.filter(|folder| !lies_in(folder)).map(|folder| c_string(folder)).collect()
    }

    /// Lays a mask over what it names. Where that is a link, it lies over what the link leads to,
    /// if that is in the new root at all.
    pub(super) fn mask(&mut self, mask: &Mask, own: &Path) -> io::Result<()> {
        let [file, folder] = nothing_in(own);
        let Some(path) = self.masked_place(mask.path())? else { return Ok(()) };
        let from = match mask {
            Mask::ReadOnly(_) => path.clone(),
            Mask::Hidden(_) | Mask::Settings(_) if path.is_dir() => folder,
            Mask::Hidden(_) | Mask::Settings(_) => file,
        };
        let flags = flags_of(&from)?;
        self.steps.push(ViewStep::ReadOnly { from: c_string(&from)?, at: self.at(&path)?, flags });
        Ok(())
    }

    /// Returns what a mask over a path lies over; `None` where that is not in the new root.
    pub(super) fn masked_place(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        if !fs::symlink_metadata(path)?.is_symlink() {
            return Ok(Some(path.to_owned()));
        }
        let leads_to = fs::canonicalize(path).ok();
        Ok(leads_to.filter(|place| {
            let seen = self.seen(place);
            seen.ancestors().any(|above| self.known.get(above) == Some(&RootEntry::Bound))
        }))
    }

    /// Lays a file that no command sees over git's settings at `path`.
    pub(super) fn settings(&mut self, file: &Path, path: &Path) -> io::Result<()> {
        self.settings.push(c_string(&self.seen(path))?);
        let (from, at) = (c_string(file)?, self.at(path)?);
        self.steps.push(ViewStep::ReadOnly { from, at, flags: flags_of(file)? });
        Ok(())
    }

    /// Returns where a path of the old root is in the new one.
    fn seen(&self, path: &Path) -> PathBuf {
        let moved = self.moved.iter().rev().find_map(|(from, to)| {
            let below = path.strip_prefix(from).ok()?;
            Some(if below.as_os_str().is_empty() { to.clone() } else { to.join(below) })
        });
        moved.unwrap_or_else(|| path.to_owned())
    }

    /// Returns where a path of the old root is now, as part of the new one.
    fn at(&self, path: &Path) -> io::Result<CString> {
        let path = self.seen(path);
        c_string(&self.root.join(path.strip_prefix("/").unwrap_or(&path)))
    }
}

/// What a command does with a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerUse {
    /// It sees what is in it and writes nothing.
    Seen,
    /// What it writes goes there.
    Written,
}

impl LayerUse {
    /// Returns what it may do in the checkout as it sees it.
    pub(super) fn access(self) -> PlaceUse {
        match self {
            Self::Seen => PlaceUse::Read,
            Self::Written => PlaceUse::Write,
        }
    }
}

/// Returns which flags the mount that a path is on has: they cannot be taken off.
fn flags_of(path: &Path) -> io::Result<MountFlags> {
    let has = rustix::fs::statvfs(path)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let had = pairs.into_iter().filter(|(there, _)| has.contains(*there));
    Ok(had.fold(MountFlags::empty(), |all, (_, flag)| all | flag))
}

/// Returns a path as an option of overlayfs: what separates there is escaped.
fn escaped(path: &Path) -> Vec<u8> {
    let escape = |byte: &u8| match byte {
        b'\\' | b':' | b',' => vec![b'\\', *byte],
        _ => vec![*byte],
    };
    path.as_os_str().as_bytes().iter().flat_map(escape).collect()
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

/// Returns a path as the kernel takes it.
pub(crate) fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Returns the private folder of commands in a folder where nothing else lies. What views need lies
/// beside it, where no command sees it.
pub(crate) fn own_in(folder: &Path) -> PathBuf {
    folder.join("own")
}

/// Makes what views need, beside the private folder of commands.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn prepare(own: &Path) -> io::Result<()> {
    let [file, folder] = nothing_in(own);
    fs::create_dir(root_in(own))?;
    fs::create_dir(folder)?;
    fs::write(file, "")
}

/// Returns where the new root is put together.
pub(super) fn root_in(own: &Path) -> PathBuf {
    own.with_file_name("root")
}

/// Returns the empty file and the empty folder that hide what they are put over.
fn nothing_in(own: &Path) -> [PathBuf; 2] {
    [own.with_file_name("nothing"), own.with_file_name("none")]
}

impl ViewStep {
    pub(super) fn take(&self) -> Result<(), (ViewStage, Errno)> {
        let made = |result: Result<(), Errno>| match result {
            Err(Errno::EXIST) => Ok(()),
            result => result,
        };
        let root = |errno: Errno| (ViewStage::Root, errno);
        let mode = Mode::from_raw_mode(0o755);
        match self {
            Self::Folder(at) => made(rustix::fs::mkdir(at, mode)).map_err(root),
            Self::Own(at) => made(rustix::fs::mkdir(at, mode))
                .and_then(|()| {
                    let inert = MountFlags::NOSUID | MountFlags::NODEV;
                    rustix::mount::mount(c"locum", at, c"tmpfs", inert, OWN_OPTIONS)
                })
                .map_err(root),
            Self::File(at) => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
                rustix::fs::openat(CWD, at, flags, Mode::from_raw_mode(0o644))
                    .map(drop)
                    .map_err(root)
            }
            Self::Link { target, at } => made(rustix::fs::symlink(target, at)).map_err(root),
            Self::Bind { from, at, closed } => rustix::mount::mount_bind_recursive(from, at)
                .and_then(|()| closed.map_or(Ok(()), |flags| close(at, flags)))
                .map_err(root),
            Self::ReadOnly { from, at, flags } => match read_only(from, at, *flags) {
                // A command removed it in the layer: there is nothing to cover.
                Err(Errno::NOENT) => Ok(()),
                covered => covered.map_err(root),
            },
            Self::Overlay { options, at } => {
                let inert = MountFlags::NOSUID | MountFlags::NODEV;
                rustix::mount::mount(c"locum", at, c"overlay", inert, options.as_c_str())
                    .map_err(|errno| (ViewStage::Layer, errno))
            }
            Self::Proc(at) => {
                let inert = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                rustix::mount::mount(c"proc", at, c"proc", inert, None)
                    .map_err(|errno| (ViewStage::Proc, errno))
            }
        }
    }
}

/// Lays a file or folder over another so that nothing there can be changed.
fn read_only(from: &CStr, at: &CStr, flags: MountFlags) -> Result<(), Errno> {
    rustix::mount::mount_bind(from, at)?;
    close(at, flags)
}

fn close(at: &CStr, flags: MountFlags) -> Result<(), Errno> {
    rustix::mount::mount_remount(at, MountFlags::BIND | MountFlags::RDONLY | flags, c"")
}

/// Writes all of it; a file that would be cut short is an error.
pub(super) fn write_whole(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    if rustix::io::write(file, bytes)? == bytes.len() { Ok(()) } else { Err(Errno::IO) }
}
