//! Files a user names: the user's own settings, a policy or script given by flag, an event's
//! payload; and files a user lets us write.
//!
//! In: a path on this machine. Out: text, bounded in size, from regular files only: a pipe or
//! device neither blocks nor fills memory. Files of the checkout that judge or shape a run are not
//! read here but from the trusted ref.

#![expect(clippy::disallowed_methods, reason = "reads configuration files")]

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use locum_files::position::Position;

/// Largest file read, in bytes; GitHub's payloads have at most 25 MiB.
pub const FILE_LIMIT_BYTES: u64 = 26 * 1024 * 1024;

/// Why a file could not be read or replaced.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// It is a folder, a device, a pipe or a socket.
    #[error("not a regular file")]
    NotAFile,
    /// It has another text than it was read with.
    #[error("another program changed it meanwhile; try again")]
    Changed,
    /// It is larger than [`FILE_LIMIT_BYTES`].
    #[error("has {0} bytes, more than the {FILE_LIMIT_BYTES} that are read")]
    TooLarge(u64),
    /// It is a folder with more files than are read.
    #[error("holds more than {0} files")]
    TooMany(usize),
    /// It holds bytes that are not UTF-8; the first of them is here.
    #[error("{0}: is not UTF-8 text")]
    NotText(Position),
    /// The operating system reports an error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Reads a text file; `None` when it is not there.
///
/// # Errors
/// When it is not a regular file, too large, not UTF-8, or cannot be read.
pub fn read(path: &Path) -> Result<Option<String>, FileFault> {
    let found = match std::fs::metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        found => found?,
    };
    if !found.is_file() {
        return Err(FileFault::NotAFile);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_LIMIT_BYTES {
        return Err(FileFault::TooLarge(found.len()));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        FileFault::NotText(Position::behind(&String::from_utf8_lossy(good)))
    })
}

/// Writes a text file in one step: who reads it sees the old text or the new one, whole. Its folder
/// is made when it is not there.
///
/// # Errors
/// When there is something else in its place (a folder, a link, a device), or the operating system
/// reports an error.
pub fn replace(path: &Path, text: &str) -> Result<(), FileFault> {
    let permissions =
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?)
                .map(|found| {
                    if found.is_file() { Ok(found.permissions()) } else { Err(FileFault::NotAFile) }
                })
                .transpose()?,
        };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".locum-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Replaces a text file that still has the text it was read with, so that no change of another
/// process is lost; one that is not there has none.
///
/// # Errors
/// When it was changed meanwhile, and as [`replace`].
pub fn replace_unchanged(path: &Path, (before, text): (&str, &str)) -> Result<(), FileFault> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let folder = File::open(folder)?;
    // Held until the end: others who replace a file of this folder wait. Where a file system knows
    // no locks, the look alone has to do.
    let _ = folder.lock();
    if read(path)?.unwrap_or_default() != before {
        return Err(FileFault::Changed);
    }
    replace(path, text)
}

/// Removes a file.
///
/// # Errors
/// When it is not there, or the operating system reports an error.
pub fn remove(path: &Path) -> Result<(), FileFault> {
    Ok(std::fs::remove_file(path)?)
}

/// Returns the paths of the files below a folder, relative to it, in order; none when it is not
/// there. Links are left out, so that the walk ends.
///
/// # Errors
/// When a folder cannot be read, or holds more than `limit` files.
pub fn below(folder: &Path, limit: usize) -> Result<Vec<String>, FileFault> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(prefix) = open.pop() {
        let entries = match std::fs::read_dir(folder.join(&prefix)) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                continue;
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let (path, kind) = (format!("{prefix}{name}"), entry.file_type()?);
            if kind.is_dir() {
                open.push(format!("{path}/"));
            } else if kind.is_file() {
                found.push(path);
            }
            if found.len() + open.len() > limit {
                return Err(FileFault::TooMany(limit));
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{FileFault, read, replace_unchanged};
    use locum_files::position::Position;

    #[test]
    fn a_file_is_replaced_only_where_it_is_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/config.yml");
        replace_unchanged(&file, ("", "mode: ask")).unwrap();
        let stale = replace_unchanged(&file, ("", "mode: code"));
        assert!(matches!(stale, Err(FileFault::Changed)), "{stale:?}");
        assert_eq!(read(&file).unwrap().as_deref(), Some("mode: ask"));
        replace_unchanged(&file, ("mode: ask", "mode: code")).unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("mode: code"));
    }

    #[test]
    fn reads_regular_text_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yml");
        assert!(matches!(read(&file), Ok(None)));
        assert!(matches!(read(&file.join("below")), Ok(None)));
        std::fs::write(&file, "mode: code").unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("mode: code"));
        std::fs::write(&file, b"a: \xc3\xbc\nb: \xff").unwrap();
        assert!(matches!(read(&file), Err(FileFault::NotText(Position { line: 2, column: 4 }))));
        assert!(matches!(read(folder.path()), Err(FileFault::NotAFile)));
        assert!(matches!(read(std::path::Path::new("/dev/zero")), Err(FileFault::NotAFile)));
    }
}
