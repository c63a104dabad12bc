//! Moves git data out of the checkout, to where git takes it for none.
//!
//! In: a name in an open folder of the checkout, and a free place outside. Out: what had the name
//! lies at the place alone, also where that is on another disk; with an error, one of the two has
//! it whole. No link is followed.
#![expect(clippy::disallowed_methods, reason = "what is moved lies outside the checkout then")]

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::opened;
use crate::private::make_private;

/// Levels of folders that are copied to another disk.
const DEPTH_LIMIT: usize = 64;

/// Moves what has a name in a folder, and takes from a folder the names by which git knows one.
///
/// # Errors
/// When it cannot be moved: nothing is removed then that has no whole copy.
pub(crate) fn move_entry(folder: &OwnedFd, name: &str, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat(folder, name, CWD, to) {
        Ok(()) => disarm(to),
        Err(Errno::XDEV) => move_by_copy(folder, &CString::new(name)?, to),
        Err(errno) => Err(errno.into()),
    }
}

/// The same to another disk.
fn move_by_copy(folder: &OwnedFd, name: &CStr, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Err(error) = copy_entry(folder, name, to, DEPTH_LIMIT).and_then(|()| disarm(to)) {
        // Half a copy is worth nothing: the whole is where it was.
        let _ = fs::remove_dir_all(to).or_else(|_| fs::remove_file(to));
        return Err(error);
    }
    remove(folder, name)
}

/// Copies a file, a folder with all that is in it, or a link as a link. A pipe, a socket and a
/// device hold nothing.
fn copy_entry(folder: &OwnedFd, name: &CStr, to: &Path, depth: usize) -> io::Result<()> {
    let facts = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::Directory => copy_folder(folder, name, to, depth),
        FileType::RegularFile => copy_file(folder, name, to),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
            Ok(rustix::fs::symlinkat(&target, CWD, to)?)
        }
        _ => Ok(()),
    }
}

fn copy_folder(folder: &OwnedFd, name: &CStr, to: &Path, depth: usize) -> io::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        let why = format!("more than {DEPTH_LIMIT} folders in each other are not copied");
        return Err(io::Error::other(why));
    };
    let inner = open_folder(folder, name)?;
    make_private(to)?;
    for name in names_in(&inner)? {
        copy_entry(&inner, &name, &to.join(OsStr::from_bytes(name.to_bytes())), depth)?;
    }
    Ok(())
}

fn copy_file(folder: &OwnedFd, name: &CStr, to: &Path) -> io::Result<()> {
    opened::open_in(folder, name)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::other("a file was replaced while it was copied"));
    }
    let mode = facts.permissions().mode() & 0o777;
    let mut copy = File::options().write(true).create_new(true).mode(mode).open(to)?;
    io::copy(&mut file, &mut copy).map(drop)
}

/// Removes what was copied.
fn remove(folder: &OwnedFd, name: &CStr) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) => return Ok(()),
        // Systems differ in what they say of a folder.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    let inner = open_folder(folder, name)?;
    for name in names_in(&inner)? {
        remove(&inner, &name)?;
    }
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// Opens a folder to list and change it, also where a command closed it.
fn open_folder(folder: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    opened::open_in(folder, name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

fn names_in(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Takes from what was git's folder the names by which git knows one.
fn disarm(moved: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(moved).is_ok_and(|facts| facts.is_dir()) {
        return Ok(());
    }
    for name in ["HEAD", "commondir"] {
        match fs::rename(moved.join(name), moved.join(format!("{name}-taken-back"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::{self, File, Permissions};
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use pretty_assertions::assert_eq;

    use super::{DEPTH_LIMIT, move_by_copy, move_entry};

    fn opened(folder: &Path) -> OwnedFd {
        OwnedFd::from(File::open(folder).unwrap())
    }

    fn set_mode(at: &Path, mode: u32) {
        fs::set_permissions(at, Permissions::from_mode(mode)).unwrap();
    }

    fn mode(at: &Path) -> u32 {
        fs::metadata(at).unwrap().permissions().mode() & 0o700
    }

    #[test]
    fn a_move_to_another_disk_copies_everything_and_follows_no_link() {
        let around = tempfile::tempdir().unwrap();
        let (from, to) = (around.path().join("from"), around.path().join("to"));
        let git = from.join(".git");
        fs::create_dir_all(git.join("objects/aa")).unwrap();
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::create_dir_all(around.path().join("outside")).unwrap();
        fs::write(around.path().join("outside/file"), "theirs").unwrap();
        for (file, text, mode) in [
            ("HEAD", "ref: refs/heads/main\n", 0o644),
            ("config", "[core]\n", 0o600),
            ("objects/aa/object", "object", 0o444),
            ("objects/aa/closed", "closed", 0o000),
            ("hooks/pre-push", "#!/bin/sh\n", 0o755),
        ] {
            fs::write(git.join(file), text).unwrap();
            set_mode(&git.join(file), mode);
        }
        let odd = OsStr::from_bytes(b"odd\xff");
        // Not every file system takes such a name.
        let has_odd = fs::write(git.join(odd), "odd").is_ok();
        symlink("../../outside", git.join("folder")).unwrap();
        symlink("../../outside/file", git.join("file")).unwrap();
        set_mode(&git.join("objects/aa"), 0o500);
        set_mode(&git.join("hooks"), 0o000);

        move_by_copy(&opened(&from), c".git", &to).unwrap();
        assert!(fs::symlink_metadata(&git).is_err(), "it lies in one place alone");
        let read = |file: &str| fs::read_to_string(to.join(file)).unwrap();
        for (file, text, bits) in [
            ("HEAD-taken-back", "ref: refs/heads/main\n", 0o600),
            ("config", "[core]\n", 0o600),
            ("objects/aa/object", "object", 0o400),
            ("objects/aa/closed", "closed", 0o400),
            ("hooks/pre-push", "#!/bin/sh\n", 0o700),
        ] {
            assert_eq!((read(file).as_str(), mode(&to.join(file))), (text, bits), "{file}");
        }
        assert!(!to.join("HEAD").exists(), "git takes it for none");
        assert_eq!(to.join(odd).exists(), has_odd);
        for (link, target) in [("folder", "../../outside"), ("file", "../../outside/file")] {
            assert_eq!(fs::read_link(to.join(link)).unwrap(), Path::new(target));
        }
        let theirs = fs::read_to_string(around.path().join("outside/file")).unwrap();
        assert_eq!(theirs, "theirs", "what a link leads to is not removed");
    }

    #[test]
    fn a_link_and_a_file_are_moved_as_what_they_are() {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        fs::write(at("file"), "gitdir: elsewhere\n").unwrap();
        symlink("nowhere", at("link")).unwrap();
        move_by_copy(&opened(around.path()), c"file", &at("1")).unwrap();
        move_by_copy(&opened(around.path()), c"link", &at("2")).unwrap();
        assert_eq!(fs::read_to_string(at("1")).unwrap(), "gitdir: elsewhere\n");
        assert_eq!(fs::read_link(at("2")).unwrap(), Path::new("nowhere"));
        assert!([at("file"), at("link")].iter().all(|old| fs::symlink_metadata(old).is_err()));
    }

    #[test]
    fn what_cannot_be_copied_as_a_whole_stays_and_half_a_copy_does_not() {
        let around = tempfile::tempdir().unwrap();
        let (from, to) = (around.path().join("from"), around.path().join("to"));
        let deepest = (0..DEPTH_LIMIT).fold(from.join(".git"), |folder, _| folder.join("d"));
        fs::create_dir_all(&deepest).unwrap();
        for file in [from.join(".git/HEAD"), deepest.join("file")] {
            fs::write(file, "x").unwrap();
        }
        assert!(move_by_copy(&opened(&from), c".git", &to).is_err());
        assert!(fs::symlink_metadata(&to).is_err());
        assert!(from.join(".git/HEAD").exists() && deepest.join("file").exists());
        // One folder less is not too deep.
        move_by_copy(&opened(&from.join(".git")), c"d", &to).unwrap();
        assert!(!from.join(".git/d").exists() && to.exists());
    }

    #[test]
    fn nothing_is_moved_to_where_something_is_or_nothing_can_be() {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| around.path().join(name);
        fs::create_dir_all(at("from/.git")).unwrap();
        fs::create_dir_all(at("taken")).unwrap();
        for file in ["from/.git/HEAD", "taken/file", "file"] {
            fs::write(at(file), "x").unwrap();
        }
        for to in ["taken", "file/below"] {
            let from = opened(&at("from"));
            assert!(move_by_copy(&from, c".git", &at(to)).is_err(), "{to}");
            assert!(move_entry(&from, ".git", &at(to)).is_err(), "{to}");
            assert!(at("from/.git/HEAD").exists() && at("taken/file").exists(), "{to}");
        }
        move_entry(&opened(&at("from")), ".git", &at("free")).unwrap();
        assert!(!at("from/.git").exists() && at("free/HEAD-taken-back").exists());
    }
}
