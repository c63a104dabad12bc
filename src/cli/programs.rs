//! Which programs are on this machine, by the folders of `PATH`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::config::environment::Environment;

/// Returns true for a program that can be started by its name.
pub(super) fn is_on_path(program: &str, environment: &Environment) -> bool {
    let path = environment.get("PATH").unwrap_or_default();
    let found = |folder: &str| {
        let file = Path::new(folder).join(program).metadata();
        file.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    path.split(':').filter(|folder| !folder.is_empty()).any(found)
}
