//! What is around a command on systems that have no sandbox this program could make, such as macOS:
//! a session and a process group of its own. A policy that requires a sandbox gets no command
//! started.

pub(crate) mod confined;
pub(crate) mod owners;
pub(crate) mod places;
pub(crate) mod process_tree;
pub(crate) mod restrictions;
pub(crate) mod sandbox;
pub(crate) mod start;

use std::io;

use rustix::process::{Resource, Rlimit};

use crate::level::SandboxLevel;

/// Why commands have no namespaces, and nothing else either.
const REFUSED: &str = "no sandbox: this system is not Linux, whose kernel the sandbox is made with";

/// Why, on the system that most people ask for.
const REFUSED_MACOS: &str =
    "no sandbox: this is macOS, and the sandbox is made with the kernel of Linux";

#[cfg(not(target_os = "linux"))]
impl SandboxLevel {
    /// Returns what this system gives: nothing.
    pub fn obtained() -> Self {
        tried().0
    }

    /// The same, with the reason.
    pub fn tried() -> (Self, Option<String>) {
        tried()
    }
}

/// Returns what this system gives, and why it is nothing.
fn tried() -> (SandboxLevel, Option<String>) {
    let refused = if cfg!(target_os = "macos") { REFUSED_MACOS } else { REFUSED };
    (SandboxLevel::default(), Some(refused.to_owned()))
}

/// Keeps the memory of this process from being written to disk when it fails. Other processes of
/// this user may still look into it.
///
/// # Errors
/// When the system refuses.
pub fn close_own_process() -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    Ok(rustix::process::setrlimit(Resource::Core, none)?)
}

#[cfg(test)]
mod tests;
