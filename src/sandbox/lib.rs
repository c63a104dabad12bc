//! Runs commands of a model on Linux, where parsers err: which files a command reaches, that it
//! reaches no network but what a policy lists, and what it may ask of the kernel. It needs no
//! rights and no set-up, and changes nothing on the machine. Whether a command may run at all is
//! the policy's business (`locum-policy`).
//!
//! - [`Sandbox`] is prepared once for a run; [`CommandReach`] says how far one command reaches in a
//!   checkout.
//! - [`exec::run`] runs a command to its end; [`exec::dialogue::Dialogue`] is a program that is
//!   talked to in lines, an MCP server.
//! - [`network::Connector`] is the one place that turns a permitted destination into a connection.
//! - [`level::Level`] says what this kernel provides.
//! - [`env::clean_env`] is the environment that child processes get.
//!
//! Inside, `linux` holds what is put around a command; `exec` starts it and follows it to its end.

mod caches;
pub mod env;
pub mod exec;
mod layer;
pub mod level;
mod linux;
pub mod network;
pub mod programs;
mod reach;

pub use crate::layer::{LayerFolders, MovedGit, SharedFolder, StandIn};
pub use crate::linux::places::half_visible;
pub use crate::linux::process_tree;
pub use crate::linux::sandbox::{Sandbox, SandboxError};
pub use crate::reach::{CommandReach, WriteAccess};

#[cfg(test)]
extern crate self as locum_sandbox;
#[cfg(test)]
#[path = "../testing/network.rs"]
#[expect(unreachable_pub, reason = "`locum-testing` builds the same file for other crates")]
mod samples;

/// Keeps other processes of this user from looking into this one, and its memory from being written
/// to disk when it fails.
///
/// # Errors
/// When the kernel refuses.
pub fn close_own_process() -> std::io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}
