//! Puts what `locum init` made into the checkout.
//!
//! In: paths and texts. Out: files, each whole or not at all; none is overwritten unless that was
//! requested, and no link is followed.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::cli::init::report::{FileState, InitReport};
use crate::cli::output::Output;
use crate::run::error::RunError;
use locum_files::diagnostic::Diagnostic;

/// A file to be written, and its text.
pub(super) type InitFile<'a> = (&'a str, &'a str);

/// Writes the files; none when one of them already exists, unless overwriting was requested.
pub(super) fn write(
    root: &Path,
    files: &[InitFile<'_>],
    force: bool,
    (report, output): (&mut InitReport, &mut Output),
) -> Result<(), RunError> {
    let there = |(path, _): &&InitFile<'_>| root.join(path).symlink_metadata().is_ok();
    let hint = "overwrite it with `--force`, or print the policy with `locum policy init --stdout`";
    let error: RunError = files
        .iter()
        .filter(there)
        .map(|(path, _)| Diagnostic::about(*path, "already exists").hint(hint))
        .collect();
    if !force && !error.diagnostics.is_empty() {
        return Err(error);
    }
    for (path, text) in files {
        put(root, path, text, force).map_err(|error| RunError::usage(*path, error.to_string()))?;
        report.file((path, FileState::Written), String::new(), output);
    }
    Ok(())
}

/// Puts a file in its place whole. Folders on the way are made; a link among them is not followed.
pub(super) fn put(root: &Path, path: &str, text: &str, force: bool) -> io::Result<()> {
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    let mut folder = root.to_owned();
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("`{part}` is not a folder"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(&folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    let target = root.join(path);
    let placed = if force { file.persist(target) } else { file.persist_noclobber(target) };
    placed.map(drop).map_err(|error| error.error)
}
