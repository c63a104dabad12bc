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
    let cure = match setting {
        "state_dir" => "set `state_dir` in your own settings, or LOCUM_STATE_DIR",
        _ => "set `session_dir` in your own settings, LOCUM_SESSION_DIR, or pass `--session-dir`",
    };
    Err(RunError::usage(setting, message).hint(format!("name a folder outside of it: {cure}")))
}
