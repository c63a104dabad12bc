//! Writing, renaming and removing files of a [`Checkout`]: in one step, never through a link, never
//! inside `.git`.
//!
//! In: a resolved path, a permit that covers it as an edit, the content. Out: the file replaced or
//! removed, or as it was. A name that shares its content with another (hard link) is replaced, so
//! the other name keeps what it had.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawMode, RenameFlags, Stat};
use rustix::io::Errno;

use crate::beneath::{bits_as, name_of, refuse_other_name, stat_in, taken};
use crate::checkout::{Checkout, FileError, file_error, refuse_unless_regular};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};

/// Largest file that is recorded, compared, restored or copied, in bytes (GitHub takes no larger
/// one).
pub(super) const FILE_LIMIT_BYTES: u64 = 100 * 1024 * 1024;

impl Checkout {
    /// Replaces or creates a regular file in one step (written beside, renamed over), parents
    /// included, permissions and owner kept; set-user and set-group bits are dropped. `path` is a
    /// resolved path the permit covers as an edit. A killed process leaves the old file or the new
    /// one. The disk is not waited for: what a machine without power loses is the run's, like the
    /// journal's last lines, and never a commit of the user's.
    ///
    /// # Errors
    /// See [`FileError`]; the file is then as it was.
    pub fn write(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
        content: &[u8],
    ) -> Result<(), FileError> {
        refuse_unless_edit(permit, path)?;
        self.refuse_git_data(path)?;
        self.put_file(path, content, Executable::AsBefore)
    }

    /// As [`Checkout::write`], with these permission bits, as [`CheckoutEntry`] has them.
    ///
    /// # Errors
    /// See [`FileError`]; the file is then as it was.
    ///
    /// [`CheckoutEntry`]: crate::checkout::CheckoutEntry
    pub fn write_as(
        &self,
        permit: &Permit<impl Act>,
        path: &RepoPath,
        content: &[u8],
        permissions: u32,
    ) -> Result<(), FileError> {
        refuse_unless_edit(permit, path)?;
        self.refuse_git_data(path)?;
        self.put_file(path, content, Executable::Bits(bits_as(permissions)))
    }

    /// Removes a file, or a link without following it. `path` is a resolved path or name the permit
    /// covers as an edit.
    ///
    /// # Errors
    /// See [`FileError`]; folders are not removed.
    pub fn remove(&self, permit: &Permit<impl Act>, path: &RepoPath) -> Result<(), FileError> {
        refuse_unless_edit(permit, path)?;
        self.take_away(path)
    }

    /// Gives a regular file another name, parents included; what it holds and its permissions stay.
    /// It takes one step where the file system can do so without replacing a file. Both are
    /// resolved paths the permit covers as edits.
    ///
    /// # Errors
    /// See [`FileError`]; the file is then where it was. Nothing is moved over what is there.
    pub fn rename(
        &self,
        permit: &Permit<impl Act>,
        from: &RepoPath,
        to: &RepoPath,
    ) -> Result<(), FileError> {
        refuse_unless_edit(permit, from)?;
        refuse_unless_edit(permit, to)?;
        self.refuse_git_data(to)?;
        self.give_name(from, to)
    }

    /// Renames a file on behalf of whoever checked the right to.
    fn give_name(&self, from: &RepoPath, to: &RepoPath) -> Result<(), FileError> {
        let (name, new_name) = (self.name_outside_git(from)?, self.name_outside_git(to)?);
        let folder =
            self.beneath.folder(&from.parent()).map_err(|errno| file_error(from, errno))?;
        let Some(stat) = self.look_at_file(&folder, from)? else {
            return Err(FileError::Missing(from.clone()));
        };
        let new_folder =
            self.beneath.folder_made(&to.parent()).map_err(|errno| file_error(to, errno))?;
        let moved = FileMove { old: (&folder, name), new: (&new_folder, new_name) };
        match moved.rename() {
            Err(errno) if is_unsupported(errno) => {}
            done => return done.map_err(|errno| file_error(to, errno)),
        }
        match moved.link() {
            Err(errno) if is_unsupported(errno) => {}
            done => return done.map_err(|errno| file_error(to, errno)),
        }
        moved.copy(&stat).map_err(|source| match Errno::from_io_error(&source) {
            Some(errno) => file_error(to, errno),
            None => FileError::Io { path: to.clone(), source },
        })
    }

    /// Writes a file on behalf of whoever checked the right to.
    pub(super) fn put_file(
        &self,
        path: &RepoPath,
        content: &[u8],
        executable: Executable,
    ) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let folder =
            self.beneath.folder_made(&path.parent()).map_err(|errno| file_error(path, errno))?;
        let before = self.look_at_file(&folder, path)?;
        let beside = name_beside(&folder, path);
        let written = write_beside(&folder, &beside, content, before.as_ref(), executable)
            .and_then(|()| {
                rustix::fs::renameat(&folder, beside.as_str(), &folder, name)
                    .map_err(std::io::Error::from)
            });
        written.map_err(|source| {
            // It is gone already when it could not even be made.
            let _ = rustix::fs::unlinkat(&folder, beside.as_str(), AtFlags::empty());
            match Errno::from_io_error(&source) {
                Some(errno) => file_error(path, errno),
                None => FileError::Io { path: path.clone(), source },
            }
        })
    }

    /// Puts a symbolic link in the place of whatever file is there, on behalf of whoever checked
    /// the right to.
    pub(super) fn put_link(&self, path: &RepoPath, target: &[u8]) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let io = |errno| file_error(path, errno);
        let folder = self.beneath.folder_made(&path.parent()).map_err(io)?;
        refuse_other_name(&folder, name).map_err(|errno| io(taken(errno)))?;
        let beside = name_beside(&folder, path);
        rustix::fs::symlinkat(target, &folder, beside.as_str()).map_err(io)?;
        rustix::fs::renameat(&folder, beside.as_str(), &folder, name).map_err(|errno| {
            // The reported error is that of the renaming.
            let _ = rustix::fs::unlinkat(&folder, beside.as_str(), AtFlags::empty());
            file_error(path, errno)
        })
    }

    /// Removes a file or a link on behalf of whoever checked the right to.
    pub(super) fn take_away(&self, path: &RepoPath) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let folder =
            self.beneath.folder(&path.parent()).map_err(|errno| file_error(path, errno))?;
        refuse_other_name(&folder, name)
            .and_then(|()| rustix::fs::unlinkat(folder, name, AtFlags::empty()))
            .map_err(|errno| file_error(path, errno))
    }

    /// Removes the folders above `path` as long as they are empty and do not have to stay; the root
    /// stays.
    pub(super) fn take_away_empty_parents(
        &self,
        path: &RepoPath,
        stays: &dyn Fn(&RepoPath) -> bool,
    ) {
        let mut folder = path.parent();
        while let Some(name) = folder.name() {
            if stays(&folder) {
                return;
            }
            let removed = self
                .beneath
                .folder(&folder.parent())
                .and_then(|parent| rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR));
            if removed.is_err() {
                return;
            }
            folder = folder.parent();
        }
    }

    /// Removes a folder in which there is nothing but such folders; false when it is still there.
    pub(super) fn take_away_empty(&self, folder: &RepoPath) -> bool {
        let Some(name) = folder.name().filter(|_| !folder.parts().any(names_git_folder)) else {
            return false;
        };
        let entries = std::fs::read_dir(self.absolute(folder)).into_iter().flatten().flatten();
        for entry in entries {
            let inner = entry.file_name().to_str().and_then(|name| folder.child(name).ok());
            if !inner.is_some_and(|inner| self.take_away_empty(&inner)) {
                return false;
            }
        }
        self.beneath
            .folder(&folder.parent())
            .is_ok_and(|parent| rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR).is_ok())
    }

    fn name_outside_git<'a>(&self, path: &'a RepoPath) -> Result<&'a str, FileError> {
        if path.parts().any(names_git_folder) {
            return Err(FileError::GitFolder(path.clone()));
        }
        name_of(path).map_err(|errno| file_error(path, errno))
    }

    fn look_at_file(&self, folder: &OwnedFd, path: &RepoPath) -> Result<Option<Stat>, FileError> {
        let name = name_of(path).map_err(|errno| file_error(path, errno))?;
        // What another name leads to is not replaced.
        refuse_other_name(folder, name).map_err(|errno| file_error(path, taken(errno)))?;
        match stat_in(folder, name) {
            Ok(stat) => refuse_unless_regular(path, &stat).map(|()| Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(file_error(path, errno)),
        }
    }
}

/// Whether a written file may be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Executable {
    /// As the file that is replaced; a new one may not.
    AsBefore,
    /// As given: true when it may.
    Set(bool),
    /// As these permission bits have it.
    Bits(RawMode),
}

/// A regular file about to get another name, never over another file. Not every file system can do
/// so in one step.
struct FileMove<'m> {
    /// Its folder and its name there.
    old: (&'m OwnedFd, &'m str),
    /// Those it gets.
    new: (&'m OwnedFd, &'m str),
}

impl FileMove<'_> {
    fn rename(&self) -> Result<(), Errno> {
        let ((folder, name), (new_folder, new_name)) = (self.old, self.new);
        let flags = RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(folder, name, new_folder, new_name, flags)
    }

    /// Gives the file both names, then takes the old one away.
    fn link(&self) -> Result<(), Errno> {
        let ((folder, name), (new_folder, new_name)) = (self.old, self.new);
        rustix::fs::linkat(folder, name, new_folder, new_name, AtFlags::empty())?;
        self.take_old_away()
    }

    /// Writes what the file holds to a new one, then takes the old one away.
    fn copy(&self, stat: &Stat) -> Result<(), std::io::Error> {
        let ((folder, name), (new_folder, new_name)) = (self.old, self.new);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut content = Vec::new();
        let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
        file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut content)?;
        if u64::try_from(content.len()).is_ok_and(|length| length > FILE_LIMIT_BYTES) {
            return Err(Errno::FBIG.into());
        }
        match write_beside(new_folder, new_name, &content, Some(stat), Executable::AsBefore) {
            Ok(()) => Ok(self.take_old_away()?),
            // Somebody else's file stays.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
            Err(error) => {
                let _ = rustix::fs::unlinkat(new_folder, new_name, AtFlags::empty());
                Err(error)
            }
        }
    }

    /// Takes the old name away; where that fails, the new one.
    fn take_old_away(&self) -> Result<(), Errno> {
        let ((folder, name), (new_folder, new_name)) = (self.old, self.new);
        rustix::fs::unlinkat(folder, name, AtFlags::empty()).inspect_err(|_| {
            // The reported error is that of the old name.
            let _ = rustix::fs::unlinkat(new_folder, new_name, AtFlags::empty());
        })
    }
}

/// Whether a file system refuses a way to move a file that another way may replace: no renaming
/// without replacing, no hard links, or two file systems.
fn is_unsupported(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV | Errno::PERM | Errno::MLINK
    )
}

fn refuse_unless_edit(permit: &Permit<impl Act>, path: &RepoPath) -> Result<(), FileError> {
    if permit.covers(&Intent::Edit(path.clone())) {
        Ok(())
    } else {
        Err(FileError::NotPermitted(path.clone()))
    }
}

/// Returns the name that a file has until it takes its place. It is the same each time, so that who
/// writes again after an end by force removes what that left; another one where somebody has it.
fn name_beside(folder: &OwnedFd, path: &RepoPath) -> String {
    let own = git2::Oid::hash_object(git2::ObjectType::Blob, path.as_str().as_bytes());
    let own = own.map(|id| format!(".locum-{id}")).unwrap_or_default();
    let _ = rustix::fs::unlinkat(folder, own.as_str(), AtFlags::empty());
    match rustix::fs::statat(folder, own.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) if !own.is_empty() => own,
        Ok(_) | Err(_) => format!(".locum-{}", uuid::Uuid::now_v7().simple()),
    }
}

fn write_beside(
    folder: &OwnedFd,
    beside: &str,
    content: &[u8],
    before: Option<&Stat>,
    executable: Executable,
) -> Result<(), std::io::Error> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file =
        File::from(rustix::fs::openat(folder, beside, flags, Mode::from_raw_mode(0o666))?);
    file.write_all(content)?;
    let fresh = rustix::fs::fstat(&file)?;
    if let Some(before) = before {
        keep_owner(&file, before, &fresh);
    }
    let mode = mode_of(before.map_or(fresh.st_mode, |before| before.st_mode), executable);
    if mode != fresh.st_mode & 0o7777 {
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

/// Gives the file to who had it before; a process without the right to do so keeps what it writes.
fn keep_owner(file: impl AsFd, before: &Stat, fresh: &Stat) {
    if (before.st_uid, before.st_gid) != (fresh.st_uid, fresh.st_gid) {
        let (user, group) =
            (rustix::fs::Uid::from_raw(before.st_uid), rustix::fs::Gid::from_raw(before.st_gid));
        let _ = rustix::fs::fchown(file, Some(user), Some(group));
    }
}

/// Returns the permission bits of a written file: never set-user, set-group or sticky; execution
/// for those who may read.
fn mode_of(before: RawMode, executable: Executable) -> RawMode {
    let plain = before & 0o777;
    match executable {
        Executable::AsBefore => plain,
        Executable::Set(true) => plain | ((plain & 0o444) >> 2),
        Executable::Set(false) => plain & !0o111,
        Executable::Bits(bits) => bits & 0o777,
    }
}

/// Returns true for `.git` in every spelling some file system takes for it: case, trailing dots and
/// blanks, streams (`.git::$INDEX_ALLOCATION`), the short name `git~1`, and code points that HFS+
/// ignores.
pub(super) fn names_git_folder(part: &str) -> bool {
    let visible: String = part.chars().filter(|letter| !is_ignored(*letter)).collect();
    let name = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn is_ignored(letter: char) -> bool {
    matches!(
        letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests;
