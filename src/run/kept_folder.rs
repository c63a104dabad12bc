//! Folders that are believed later, of sessions and of state, lie outside of the checkout: a run may
//! edit what is in it, and could write an approval into the journal of another session.

use std::path::Path;

use crate::run::error::RunError;
use locum_workspace::layer::Layer;

/// Checks that a folder, which need not exist yet, lies outside of the checkout at `root`.
///
/// # Errors
/// When it is in the checkout; names the setting.
pub fn check_outside(setting: &str, folder: &Path, root: &Path) -> Result<(), RunError> {
    if Layer::can_lie_over(folder, root) {
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
