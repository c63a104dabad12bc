//! Calls that change the mode, owner or times of files, answered by this program where commands
//! have no view of their own: the kernel's rules for files do not hold these calls.
//!
//! In: a call that waits, and where the command may write. Out: the change, made on its behalf to
//! the very file that was judged, or a refusal. A file is opened once, by what the caller named;
//! what is judged is where the open file lies. So it does not matter what the caller makes of its
//! memory or its links meanwhile.
#![expect(
    clippy::disallowed_methods,
    reason = "what a call names is read from the caller's memory and descriptors"
)]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Timestamps, Uid};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::linux::protected::{ProtectedKind, is_protected};
use locum_base::path::RepoPath;
use locum_policy::paths::Protection;

/// Calls that are answered.
#[cfg(target_arch = "x86_64")]
pub(crate) const CALLS: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_utimensat,
];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const CALLS: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
];

/// A call that has the same number on every machine, and that no library names yet.
const FCHMODAT2: i64 = 452;

/// Longest path, with the byte that ends it.
const PATH_BYTES: usize = 4096;

/// Where a program finds its own descriptors: these links lead elsewhere for this program.
const OWN_DESCRIPTORS: &[&str] = &["/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"];

/// Where a command may write, as real paths.
#[derive(Debug, Default)]
pub(crate) struct WritablePlaces {
    /// Folders outside the checkout.
    pub(crate) folders: Vec<PathBuf>,
    /// The checkout; `None` where it may write nothing of it.
    pub(crate) checkout: Option<PathBuf>,
    /// What in it is hidden or stays as it is.
    pub(crate) masked: Vec<PathBuf>,
    pub(crate) protection: Protection,
}

/// A call as it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileFactsCall {
    pub(crate) process: u32,
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
}

/// What is to become of a file.
#[derive(Clone, Debug)]
enum FactsChange {
    Mode(u32),
    Owner(u32, u32),
    Times(Timestamps),
}

/// Which file a call means.
#[derive(Clone, Copy, Debug)]
enum NamedFile {
    /// One that the caller has open, or its working folder.
    Open(i32),
    /// A path, from a folder that it has open or its working folder.
    Path { folder: i32, text: u64, flags: i32 },
}

impl WritablePlaces {
    fn hold(&self, path: &Path, kind: FileType) -> bool {
        if self.folders.iter().any(|folder| path != folder && path.starts_with(folder)) {
            return true;
        }
        let below = self.checkout.as_ref().and_then(|root| path.strip_prefix(root).ok());
        let Some(below) =
            below.and_then(Path::to_str).and_then(|below| RepoPath::parse(below).ok())
        else {
            return false;
        };
        !below.is_root()
            && below.parts().all(|part| part != ".git")
            && !self.masked.iter().any(|masked| path.starts_with(masked))
            && !is_protected(&self.protection, &below, ProtectedKind::of(kind))
    }
}

impl FileFactsCall {
    /// Does what is asked, where it may be done. `is_waiting` says whether the caller still waits:
    /// if so, what was read of it until then was its own.
    ///
    /// # Errors
    /// What the caller is answered.
    pub(crate) fn perform(
        &self,
        places: &WritablePlaces,
        is_waiting: impl Fn() -> bool,
    ) -> Result<(), Errno> {
        let (named, change) = self.parsed()?;
        let file = self.open(named)?;
        if !is_waiting() {
            return Err(Errno::SRCH);
        }
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink) {
            return Err(Errno::PERM);
        }
        let place = descriptor_path("self", std::os::fd::AsRawFd::as_raw_fd(&file));
        let path = rustix::fs::readlink(&place, Vec::new())?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes()));
        if !places.hold(&path, kind) {
            return Err(Errno::PERM);
        }
        match change {
            FactsChange::Mode(_) if kind == FileType::Symlink => Err(Errno::OPNOTSUPP),
            // Programs that run as their owner are made by nobody.
            FactsChange::Mode(mode)
                if mode & 0o4000 != 0 || (mode & 0o2000 != 0 && kind != FileType::Directory) =>
            {
                Err(Errno::PERM)
            }
            FactsChange::Mode(mode) => {
                rustix::fs::chmodat(CWD, &place, Mode::from_raw_mode(mode), AtFlags::empty())
            }
            FactsChange::Owner(user, group) => {
                let user = (user != u32::MAX).then(|| Uid::from_raw(user));
                let group = (group != u32::MAX).then(|| Gid::from_raw(group));
                rustix::fs::chownat(&file, c"", user, group, AtFlags::EMPTY_PATH)
            }
            FactsChange::Times(times) => {
                rustix::fs::utimensat(&file, c"", &times, AtFlags::EMPTY_PATH)
            }
        }
    }

    /// Reads off which file is meant and what is to become of it.
    fn parsed(&self) -> Result<(NamedFile, FactsChange), Errno> {
        let [first, second, third, fourth, fifth, _] = self.arguments;
        let path = |folder: i32, text: u64, flags: i32| NamedFile::Path { folder, text, flags };
        let of_folder = |flags: i32| path(descriptor(first), second, flags);
        let named = match self.number {
            libc::SYS_fchmod | libc::SYS_fchown => NamedFile::Open(descriptor(first)),
            libc::SYS_fchmodat => of_folder(0),
            FCHMODAT2 | libc::SYS_utimensat => of_folder(descriptor(fourth)),
            libc::SYS_fchownat => of_folder(descriptor(fifth)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_futimesat => of_folder(0),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_lchown => path(libc::AT_FDCWD, first, libc::AT_SYMLINK_NOFOLLOW),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod | libc::SYS_chown | libc::SYS_utime | libc::SYS_utimes => {
                path(libc::AT_FDCWD, first, 0)
            }
            _ => return Err(Errno::NOSYS),
        };
        let change = match self.number {
            libc::SYS_fchmod => FactsChange::Mode(half(second)),
            libc::SYS_fchmodat | FCHMODAT2 => FactsChange::Mode(half(third)),
            libc::SYS_fchown => FactsChange::Owner(half(second), half(third)),
            libc::SYS_fchownat => FactsChange::Owner(half(third), half(fourth)),
            libc::SYS_utimensat => FactsChange::Times(self.times(third, 1)?),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => FactsChange::Mode(half(second)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chown | libc::SYS_lchown => FactsChange::Owner(half(second), half(third)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utime => FactsChange::Times(self.old_times(second)?),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utimes => FactsChange::Times(self.times(second, 1000)?),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_futimesat => FactsChange::Times(self.times(third, 1000)?),
            _ => return Err(Errno::NOSYS),
        };
        Ok((named, change))
    }

    /// Opens the file, without any access to its content.
    fn open(&self, named: NamedFile) -> Result<OwnedFd, Errno> {
        let NamedFile::Path { folder, text, flags } = named else {
            let NamedFile::Open(number) = named else { return Err(Errno::INVAL) };
            return self.opened(number);
        };
        // Times are changed of an open file where no path is given.
        if text == 0 {
            return self.opened(folder);
        }
        let text = self.text(text)?;
        if text.is_empty() {
            let empty = flags & libc::AT_EMPTY_PATH != 0;
            return if empty { self.opened(folder) } else { Err(Errno::NOENT) };
        }
        let nofollow = flags & libc::AT_SYMLINK_NOFOLLOW != 0;
        let own = std::str::from_utf8(&text).ok().and_then(|text| {
            let number = OWN_DESCRIPTORS.iter().find_map(|start| text.strip_prefix(start))?;
            number.parse().ok()
        });
        match own {
            Some(_) if nofollow => return Err(Errno::PERM),
            Some(number) => return self.opened(number),
            None => {}
        }
        let link = if nofollow { OFlags::NOFOLLOW } else { OFlags::empty() };
        let how = OFlags::PATH | OFlags::CLOEXEC | link;
        let open = |folder: std::os::fd::BorrowedFd<'_>| {
            let links = ResolveFlags::NO_MAGICLINKS;
            rustix::fs::openat2(folder, text.as_slice(), how, Mode::empty(), links)
        };
        if text.starts_with(b"/") {
            return open(CWD);
        }
        open(std::os::fd::AsFd::as_fd(&self.opened(folder)?))
    }

    /// Opens what the caller has open under a number, or its working folder.
    fn opened(&self, number: i32) -> Result<OwnedFd, Errno> {
        let path = if number == libc::AT_FDCWD {
            format!("/proc/{}/cwd", self.process)
        } else if number < 0 {
            return Err(Errno::BADF);
        } else {
            descriptor_path(&self.process.to_string(), number)
        };
        rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|_| Errno::BADF)
    }

    /// Reads a path from the caller's memory.
    fn text(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let memory = self.memory()?;
        let mut text = Vec::new();
        while text.len() < PATH_BYTES {
            // No further than the page ends: the next one may not be there.
            let at = address.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
            let mut piece = vec![0; 4096 - usize::try_from(at % 4096).unwrap_or(0)];
            let read = memory.read_at(&mut piece, at).map_err(|_| Errno::FAULT)?;
            let piece = piece.get(..read).filter(|piece| !piece.is_empty()).ok_or(Errno::FAULT)?;
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(piece.get(..end).unwrap_or_default());
                return if text.len() < PATH_BYTES { Ok(text) } else { Err(Errno::NAMETOOLONG) };
            }
            text.extend_from_slice(piece);
        }
        Err(Errno::NAMETOOLONG)
    }

    /// Reads two times from the caller's memory, each as seconds and a part of `unit` nanoseconds.
    fn times(&self, address: u64, unit: i64) -> Result<Timestamps, Errno> {
        if address == 0 {
            return Ok(now());
        }
        let [access, access_part, change, change_part] = self.numbers(address)?;
        let time = |seconds: i64, part: i64| {
            Ok(Timespec { tv_sec: seconds, tv_nsec: part.checked_mul(unit).ok_or(Errno::INVAL)? })
        };
        Ok(Timestamps {
            last_access: time(access, access_part)?,
            last_modification: time(change, change_part)?,
        })
    }

    /// Reads two times in seconds.
    #[cfg(target_arch = "x86_64")]
    fn old_times(&self, address: u64) -> Result<Timestamps, Errno> {
        if address == 0 {
            return Ok(now());
        }
        let [access, change] = self.numbers(address)?;
        let time = |tv_sec: i64| Timespec { tv_sec, tv_nsec: 0 };
        Ok(Timestamps { last_access: time(access), last_modification: time(change) })
    }

    fn numbers<const COUNT: usize>(&self, address: u64) -> Result<[i64; COUNT], Errno> {
        let memory = self.memory()?;
        let mut numbers = [0; COUNT];
        for (place, number) in (0_u64..).zip(&mut numbers) {
            let mut bytes = [0; 8];
            let at = address.checked_add(place * 8).ok_or(Errno::FAULT)?;
            memory.read_exact_at(&mut bytes, at).map_err(|_| Errno::FAULT)?;
            *number = i64::from_ne_bytes(bytes);
        }
        Ok(numbers)
    }

    fn memory(&self) -> Result<File, Errno> {
        File::open(format!("/proc/{}/mem", self.process)).map_err(|_| Errno::FAULT)
    }
}

fn now() -> Timestamps {
    let now = || Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    Timestamps { last_access: now(), last_modification: now() }
}

fn descriptor_path(process: &str, number: i32) -> String {
    format!("/proc/{process}/fd/{number}")
}

/// The kernel looks at the lower half of these arguments only.
fn half(argument: u64) -> u32 {
    u32::try_from(argument & u64::from(u32::MAX)).unwrap_or_default()
}

fn descriptor(argument: u64) -> i32 {
    half(argument).cast_signed()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::WritablePlaces;
    use rustix::fs::FileType;

    #[test]
    fn only_what_a_command_may_write_is_changed() {
        let places = WritablePlaces {
            folders: vec![PathBuf::from("/own")],
            checkout: Some(PathBuf::from("/co")),
            masked: vec![PathBuf::from("/co/web/key.pem")],
            ..WritablePlaces::default()
        };
        for (path, expected) in [
            ("/own/tmp/x", true),
            ("/own", false),
            ("/co/src/a", true),
            ("/co/new", true),
            ("/co", false),
            ("/co/.git/config", false),
            ("/co/sub/.git/config", false),
            ("/co/.locum/policy.yml", false),
            ("/co/sub/AGENTS.md", false),
            ("/co/web/key.pem", false),
            ("/co-other/x", false),
            ("/etc/passwd", false),
            ("pipe:[12]", false),
        ] {
            assert_eq!(places.hold(Path::new(path), FileType::RegularFile), expected, "{path}");
        }
    }
}
