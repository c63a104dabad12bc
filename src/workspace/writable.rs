//! Whether files can be written below a folder that need not be there yet.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Asks the operating system whether files can be written in a folder, or it can be made. Nothing
/// is written.
///
/// # Errors
/// The nearest folder or file on the way that is there and does not let it be, and why.
pub fn writable_folder(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    let there = folder.ancestors().find(|place| place.symlink_metadata().is_ok());
    let there = there.unwrap_or(Path::new("/"));
    let failed = |error| Err((there.to_owned(), error));
    match there.metadata() {
        Ok(found) if !found.is_dir() => failed(io::ErrorKind::NotADirectory.into()),
        Ok(_) => access(there, Access::WRITE_OK | Access::EXEC_OK)
            .or_else(|error| failed(io::Error::from(error))),
        Err(error) => failed(error),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes the folders")]
mod tests {
    use super::writable_folder;

    #[test]
    fn a_folder_that_is_not_there_is_judged_by_the_one_it_would_be_made_in() {
        let folder = tempfile::tempdir().unwrap();
        assert!(writable_folder(&folder.path().join("state/locum/sessions")).is_ok());
        std::fs::write(folder.path().join("state"), "").unwrap();
        let (place, error) = writable_folder(&folder.path().join("state/locum")).unwrap_err();
        assert_eq!(place, folder.path().join("state"));
        assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
        // No one writes there, not even root.
        let below = std::path::Path::new("/proc/self/state/locum");
        if cfg!(target_os = "linux") {
            assert!(writable_folder(below).is_err() || rustix::process::geteuid().is_root());
        }
    }
}
