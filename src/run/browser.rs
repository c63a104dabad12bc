//! The browser of a run: which program it is, and whether a run here uses it.
//!
//! In: the settings, the policy, what the sandbox comes to. Out: a program, or why there is none.
//! Nothing is started.

use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::config::settings::Settings;
use locum_agent::tools::browser::program;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::kind::RuleKind;

/// Finds the browser that the user names, or one that a package installed.
///
/// # Errors
/// Why there is none, with the cure.
pub fn installed(settings: &Settings, environment: &Environment) -> Result<PathBuf, String> {
    let home = environment.get("HOME").map(Path::new);
    program::find(settings.values.browser.program.as_deref(), home)
}

/// Returns the browser that the policy lets be used, or a note that says why it is not. The whole
/// sandbox is asked about only where some page is allowed.
pub fn usable(
    (policy, facts): (&Policy, &Facts),
    holds: impl FnOnce() -> bool,
    installed: impl FnOnce() -> Result<PathBuf, String>,
) -> (Option<PathBuf>, Option<String>) {
    if !policy.may_use(RuleKind::Browse, facts) {
        return (None, None);
    }
    let no = |why: &str| (None, Some(format!("`browser_action` is not offered: {why}")));
    match installed() {
        _ if !holds() => no("a browser runs only in the whole sandbox"),
        Ok(program) => (Some(program), None),
        Err(why) => no(&why),
    }
}
