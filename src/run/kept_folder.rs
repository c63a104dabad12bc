//! Folders that are believed later, of sessions and of state, lie outside of the checkout: a run may
//! edit what is in it, and could write an approval into the journal of another session.

use std::path::{Component, Path, PathBuf};

use crate::run::error::RunError;
use locum_workspace::layer::Layer;

/// Checks that a folder, which need not exist yet, lies outside of the checkout at `root`.
///
/// # Errors
/// When it is in the checkout; names the setting.
pub fn check_outside(setting: &str, folder: &Path, root: &Path) -> Result<(), RunError> {
    // What its text names counts, too: a link in the checkout may lead elsewhere tomorrow.
    if Layer::can_lie_over(folder, root) && !without_dots(folder).starts_with(root) {
        return Ok(());
    }
    let message = format!(
        "`{}` is in the checkout, where a run could change what is kept there",
        folder.display()
    );
    Err(RunError::usage(setting, message).hint(
        "move it to a folder outside of the checkout, and name that as `state_dir` in your own \
         settings or in LOCUM_STATE_DIR; where only the sessions are in the checkout, as \
         `session_dir`, LOCUM_SESSION_DIR or `--session-dir`",
    ))
}

/// Returns a path without `.` and `..`, by its text alone.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
