//! What is around a command on Linux.
//!
//! From below: `protected`, `git_settings` and `mount_masks` find what of a checkout is hidden or
//! stays as it is. `files` (Landlock), `syscalls` (seccomp), `file_facts` (calls that are
//! answered), `view` (namespaces), `own_network` and `limits` hold one thing each; `restrictions`
//! are all of them for one command. `start` starts it with them, `trial` tries them on this kernel,
//! and `sandbox` chooses among them.

pub(crate) mod confined;
mod file_facts;
mod files;
mod git_settings;
mod limits;
mod loopback;
mod mount_masks;
mod outputs;
mod own_network;
pub(crate) mod owners;
pub(crate) mod places;
pub(crate) mod process_tree;
mod protected;
pub(crate) mod restrictions;
pub(crate) mod sandbox;
mod seccomp_notify;
pub(crate) mod start;
mod syscalls;
mod tool_chains;
mod trial;
mod view;

/// Keeps other processes of this user from looking into this one, and its memory from being written
/// to disk when it fails.
///
/// # Errors
/// When the kernel refuses.
pub fn close_own_process() -> std::io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}
