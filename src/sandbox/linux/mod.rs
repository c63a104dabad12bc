//! What is around a command on Linux.
//!
//! From below: `protected`, `git_settings` and `mount_masks` find what of a checkout is hidden or
//! stays as it is. `files` (Landlock), `syscalls` (seccomp), `file_facts` (calls that are
//! answered), `view` (namespaces), `own_network` and `limits` hold one thing each; `restrictions`
//! are all of them for one command. `start` starts it with them, `trial` tries them on this kernel,
//! and `sandbox` chooses among them.

pub(crate) mod file_facts;
mod files;
mod git_settings;
mod limits;
pub(crate) mod loopback;
mod mount_masks;
pub(crate) mod outputs;
pub(crate) mod own_network;
pub(crate) mod places;
pub mod process_tree;
mod protected;
pub(crate) mod restrictions;
pub(crate) mod sandbox;
pub(crate) mod seccomp_notify;
pub(crate) mod start;
mod syscalls;
mod tool_chains;
mod trial;
pub(crate) mod view;
