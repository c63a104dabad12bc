//! Runs commands of a model, and on Linux restricts them, since parsers err: which files a command
//! reaches, that it reaches no network but what a policy lists, and what it may ask of the kernel.
//! It needs no rights and no set-up, and changes nothing on the machine. Whether a command may run
//! at all is the policy's business (`locum-policy`).
//!
//! - [`Sandbox`] is prepared once for a run; [`CommandReach`] says how far one command reaches in a
//!   checkout.
//! - [`exec::run`] runs a command to its end; [`exec::dialogue::Dialogue`] is a program that is
//!   talked to in lines, an MCP server; [`exec::background::BackgroundCommand`] is a command that
//!   goes on running.
//! - [`exec::confined`] is a process that only computes: what parses hostile files.
//! - [`network::Connector`] is the one place that turns a permitted destination into a connection.
//! - [`level::Level`] says what this kernel provides.
//! - [`env::clean_env`] is the environment that child processes get.
//!
//! Inside, `exec` starts a command and follows it to its end, and `machine` is what this system
//! puts around it: on Linux the sandbox (`linux`), on others a process group alone (`elsewhere`).
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "some questions are only asked by a sandbox")
)]

mod caches;
mod command_env;
pub mod env;
pub mod exec;
mod hosts;
mod layer;
pub mod level;
pub mod network;
mod private_folder;
mod program;
pub mod programs;
mod reach;
mod sandbox_error;
mod shared_network;

#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, unreachable_pub, reason = "on Linux, only its tests use it")
)]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
use crate::elsewhere as machine;
#[cfg(target_os = "linux")]
use crate::linux as machine;

pub use crate::layer::{GitLayer, LayerFolders, MovedGit, SharedFolder, StandIn, remove_all};
pub use crate::machine::close_own_process;
pub use crate::machine::owners::unlayered;
pub use crate::machine::places::half_visible;
pub use crate::machine::process_tree::ProcessTree;
pub use crate::machine::sandbox::Sandbox;
pub use crate::reach::{CommandReach, WriteAccess};
pub use crate::sandbox_error::SandboxError;
pub use crate::shared_network::SharedNetwork;

#[cfg(test)]
extern crate self as locum_sandbox;
#[cfg(test)]
#[path = "../testing/network.rs"]
#[expect(unreachable_pub, reason = "`locum-testing` builds the same file for other crates")]
mod samples;
