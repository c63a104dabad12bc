//! Folders that only the user of this machine can look into: sessions, indexes, worktrees, records.
//!
//! In: where one is needed. Out: it is there. One that was there before keeps its mode.
#![expect(clippy::disallowed_methods, reason = "private folders are no part of the checkout")]

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes a folder for the user alone, and those above it that are missing as usual: what is in it
/// has the text of files, and what was said to models.
///
/// # Errors
/// When it cannot be made.
pub fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above)?;
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;

    use super::make_private;

    #[test]
    fn a_private_folder_is_the_user_s_alone_and_those_above_it_are_as_usual() {
        let around = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            let facts = std::fs::metadata(around.path().join(name)).unwrap();
            facts.permissions().mode() & 0o777
        };
        make_private(&around.path().join("above/private")).unwrap();
        std::fs::create_dir(around.path().join("usual")).unwrap();
        assert_eq!((mode("above/private"), mode("above")), (0o700, mode("usual")));
        make_private(&around.path().join("usual")).unwrap();
        assert_eq!(mode("usual"), mode("above"), "one that was there keeps its mode");
        std::fs::write(around.path().join("file"), "x").unwrap();
        assert!(make_private(&around.path().join("file/below")).is_err());
    }
}
