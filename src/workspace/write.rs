//! Writing and removing files of a [`Checkout`]: in one step, never through a link, never inside
//! `.git`.
//!
//! In: a resolved path, a permit that covers it as an edit, the content. Out: the file replaced or
//! removed, or as it was. A name that shares its content with another (hard link) is replaced, so
//! the other name keeps what it had.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::beneath::{name_of, stat_in};
use crate::checkout::{Checkout, FileError, fault, refuse_unless_regular};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};

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
        self.put_file(path, content, Executable::AsBefore)
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

    /// Writes a file on behalf of whoever checked the right to.
    pub(super) fn put_file(
        &self,
        path: &RepoPath,
        content: &[u8],
        executable: Executable,
    ) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let folder =
            self.beneath.folder_made(&path.parent()).map_err(|errno| fault(path, errno))?;
        let before = self.look_at_file(&folder, path)?;
        let beside = format!(".locum-{}", uuid::Uuid::now_v7().simple());
        let written = write_beside(&folder, &beside, content, before.as_ref(), executable)
            .and_then(|()| {
                rustix::fs::renameat(&folder, beside.as_str(), &folder, name)
                    .map_err(std::io::Error::from)
            });
        written.map_err(|source| {
            // It is gone already when it could not even be made.
            let _ = rustix::fs::unlinkat(&folder, beside.as_str(), AtFlags::empty());
            match Errno::from_io_error(&source) {
                Some(errno) => fault(path, errno),
                None => FileError::Io { path: path.clone(), source },
            }
        })
    }

    /// Puts a symbolic link in the place of whatever file is there, on behalf of whoever checked
    /// the right to.
    pub(super) fn put_link(&self, path: &RepoPath, target: &[u8]) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let io = |errno| fault(path, errno);
        let folder = self.beneath.folder_made(&path.parent()).map_err(io)?;
        let beside = format!(".locum-{}", uuid::Uuid::now_v7().simple());
        rustix::fs::symlinkat(target, &folder, beside.as_str()).map_err(io)?;
        rustix::fs::renameat(&folder, beside.as_str(), &folder, name).map_err(|errno| {
            // The error that is told is the renaming's.
            let _ = rustix::fs::unlinkat(&folder, beside.as_str(), AtFlags::empty());
            fault(path, errno)
        })
    }

    /// Removes a file or a link on behalf of whoever checked the right to.
    pub(super) fn take_away(&self, path: &RepoPath) -> Result<(), FileError> {
        let name = self.name_outside_git(path)?;
        let folder = self.beneath.folder(&path.parent()).map_err(|errno| fault(path, errno))?;
        rustix::fs::unlinkat(folder, name, AtFlags::empty()).map_err(|errno| fault(path, errno))
    }

    /// Removes the folders above `path` as long as they are empty; the root stays.
    pub(super) fn take_away_empty_parents(&self, path: &RepoPath) {
        let mut folder = path.parent();
        while let Some(name) = folder.name() {
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

    fn name_outside_git<'a>(&self, path: &'a RepoPath) -> Result<&'a str, FileError> {
        if path.parts().any(names_git_folder) {
            return Err(FileError::GitFolder(path.clone()));
        }
        name_of(path).map_err(|errno| fault(path, errno))
    }

    fn look_at_file(&self, folder: &OwnedFd, path: &RepoPath) -> Result<Option<Stat>, FileError> {
        match name_of(path).and_then(|name| stat_in(folder, name)) {
            Ok(stat) => refuse_unless_regular(path, &stat).map(|()| Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(fault(path, errno)),
        }
    }
}

/// Whether a written file may be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Executable {
    /// As the file that is replaced; a new one may not.
    AsBefore,
    /// As given.
    Set(bool),
}

fn refuse_unless_edit(permit: &Permit<impl Act>, path: &RepoPath) -> Result<(), FileError> {
    if permit.covers(&Intent::Edit(path.clone())) {
        Ok(())
    } else {
        Err(FileError::NotPermitted(path.clone()))
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
fn mode_of(before: u32, executable: Executable) -> u32 {
    let plain = before & 0o777;
    match executable {
        Executable::AsBefore => plain,
        Executable::Set(true) => plain | ((plain & 0o444) >> 2),
        Executable::Set(false) => plain & !0o111,
    }
}

/// Returns true for `.git` in every spelling some file system takes for it: case, trailing dots and
/// blanks, streams (`.git::$INDEX_ALLOCATION`), the short name `git~1`, and code points that HFS+
/// ignores.
fn names_git_folder(part: &str) -> bool {
    let visible: String = part.chars().filter(|letter| !is_ignored(*letter)).collect();
    let name = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use pretty_assertions::assert_eq;

    use super::{Executable, names_git_folder};
    use crate::checkout::{Checkout, FileError};
    use locum_base::path::RepoPath;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn put(checkout: &Checkout, at: &str, content: &str) -> Result<(), FileError> {
        checkout.put_file(&path(at), content.as_bytes(), Executable::AsBefore)
    }

    fn mode(file: &Path) -> u32 {
        std::fs::metadata(file).unwrap().permissions().mode() & 0o7777
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_a_file_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.sh");
        let checkout = Checkout::open(folder.path()).unwrap();
        for (before, after) in
            [(0o755, 0o755), (0o600, 0o600), (0o444, 0o444), (0o4755, 0o755), (0o2711, 0o711)]
        {
            std::fs::write(&file, "old").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(before)).unwrap();
            put(&checkout, "run.sh", "new").unwrap();
            assert_eq!(
                (std::fs::read_to_string(&file).unwrap().as_str(), mode(&file)),
                ("new", after)
            );
            std::fs::remove_file(&file).unwrap();
        }
        assert_eq!(names_in(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn makes_parents_and_sets_the_executable_bit_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = Checkout::open(folder.path()).unwrap();
        put(&checkout, "a/b/plain", "x").unwrap();
        assert_eq!(mode(&folder.path().join("a/b/plain")) & 0o111, 0);
        checkout.put_file(&path("a/b/tool"), b"x", Executable::Set(true)).unwrap();
        assert_ne!(mode(&folder.path().join("a/b/tool")) & 0o100, 0);
        checkout.put_file(&path("a/b/tool"), b"x", Executable::Set(false)).unwrap();
        assert_eq!(mode(&folder.path().join("a/b/tool")) & 0o111, 0);
    }

    #[test]
    fn never_writes_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().join("victim");
        std::fs::write(&victim, "kept").unwrap();
        symlink(&victim, folder.path().join("file-link")).unwrap();
        symlink(outside.path(), folder.path().join("folder-link")).unwrap();
        std::fs::hard_link(&victim, folder.path().join("hard")).unwrap();
        let checkout = Checkout::open(folder.path()).unwrap();
        for at in ["file-link", "folder-link/new", "folder-link/victim", "folder-link/deep/new"] {
            assert!(matches!(put(&checkout, at, "x"), Err(FileError::Link(_))), "{at}");
            if at != "file-link" {
                assert!(matches!(checkout.take_away(&path(at)), Err(FileError::Link(_))), "{at}");
            }
        }
        put(&checkout, "hard", "mine").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("hard")).unwrap(), "mine");
        checkout.take_away(&path("file-link")).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
        assert_eq!(names_in(outside.path()), ["victim"]);
    }

    #[test]
    fn refuses_what_is_no_file_and_leaves_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("plain"), "x").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let checkout = Checkout::open(folder.path()).unwrap();
        for at in [".", "sub", "socket", "plain/below"] {
            assert!(matches!(put(&checkout, at, "x"), Err(FileError::NotAFile { .. })), "{at}");
        }
        assert!(matches!(checkout.take_away(&path("sub")), Err(FileError::NotAFile { .. })));
        assert!(matches!(checkout.take_away(&path("none")), Err(FileError::Missing(_))));
        assert!(matches!(put(&checkout, &"n".repeat(300), "x"), Err(FileError::Io { .. })));
        assert_eq!(names_in(folder.path()), ["plain", "socket", "sub"]);
    }

    #[test]
    fn knows_every_spelling_of_gits_folder() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".git.",
            ".git ",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~1",
            ".g\u{200c}it",
        ] {
            assert!(names_git_folder(name), "{name:?}");
        }
        for name in ["git", ".gitignore", ".github", ".gitmodules", "git~10", "x.git", "..git"] {
            assert!(!names_git_folder(name), "{name:?}");
        }
    }

    #[test]
    fn never_writes_inside_gits_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        let checkout = Checkout::open(folder.path()).unwrap();
        for at in
            [".git", ".git/config", ".GIT/config", "sub/.git/hooks/pre-commit", ".git./config"]
        {
            assert!(matches!(put(&checkout, at, "x"), Err(FileError::GitFolder(_))), "{at}");
            assert!(
                matches!(checkout.put_link(&path(at), b"x"), Err(FileError::GitFolder(_))),
                "{at}"
            );
            assert!(matches!(checkout.take_away(&path(at)), Err(FileError::GitFolder(_))), "{at}");
        }
        put(&checkout, ".gitignore", "target").unwrap();
    }

    #[test]
    fn removes_empty_parents_up_to_the_first_that_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = Checkout::open(folder.path()).unwrap();
        put(&checkout, "a/keep", "x").unwrap();
        put(&checkout, "a/b/c/file", "x").unwrap();
        checkout.take_away(&path("a/b/c/file")).unwrap();
        checkout.take_away_empty_parents(&path("a/b/c/file"));
        assert_eq!(names_in(&folder.path().join("a")), ["keep"]);
    }

    /// Writes again and again while another thread puts a link out of the checkout in the place of
    /// the file, or of its folder.
    fn race(swapped: &str, written: &str) {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().to_path_buf(), outside.path().to_path_buf());
        std::fs::write(out.join("victim"), "kept").unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/file"), "x").unwrap();
        let target = if swapped == "src" { out.clone() } else { out.join("victim") };
        let done = AtomicBool::new(false);
        let checkout = Checkout::open(&root).unwrap();
        let (mut written_count, mut refused_count) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (link, real, aside) =
                    (root.join("link"), root.join(swapped), root.join("aside"));
                while !done.load(Ordering::Relaxed) {
                    let _ = symlink(&target, &link);
                    let _ = std::fs::rename(&real, &aside);
                    let _ = std::fs::rename(&link, &real);
                    let _ = std::fs::remove_file(&real);
                    let _ = std::fs::rename(&aside, &real);
                }
            });
            for _ in 0..1000 {
                match put(&checkout, written, "mine") {
                    Ok(()) => written_count += 1,
                    Err(_) => refused_count += 1,
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(std::fs::read_to_string(out.join("victim")).unwrap(), "kept");
        assert_eq!(names_in(&out), ["victim"]);
        assert_eq!(written_count + refused_count, 1000);
        assert!(written_count > 0);
    }

    #[test]
    fn a_file_swapped_for_a_link_meanwhile_changes_nothing_outside() {
        race("src/file", "src/file");
    }

    #[test]
    fn a_folder_swapped_for_a_link_meanwhile_changes_nothing_outside() {
        race("src", "src/file");
    }
}
