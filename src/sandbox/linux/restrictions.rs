//! What one command gets put around it, and what its process puts on itself before it becomes the
//! program.
//!
//! In: rules, filters, limits and a view, made by `sandbox`. Out: [`Restrictions`] for whoever
//! starts the command. They cannot be taken off again.

use std::ffi::CString;
use std::io;
use std::os::unix::net::UnixStream;

use landlock::{RulesetCreated, RulesetStatus};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;

use crate::command_env::CommandEnv;
use crate::linux::file_facts::WritablePlaces;
use crate::linux::files::{self, RulesetOptions};
use crate::linux::limits;
use crate::linux::loopback;
use crate::linux::outputs::ToolOutputs;
use crate::linux::own_network::{LentNetwork, OwnNetworks};
use crate::linux::places::PlaceUse;
use crate::linux::seccomp_notify;
use crate::linux::syscalls::{self, Filters};
use crate::linux::view::SandboxView;

/// What one command gets.
pub(crate) struct Restrictions {
    /// What the child puts on itself.
    pub(crate) child: ChildRestrictions,
    /// Where mode, owner and times of files may be changed, where this program changes them.
    pub(crate) writable: WritablePlaces,
    /// Processes it may have at once, where this program counts them.
    pub(crate) processes: Option<usize>,
    /// What it sees; `None` for the machine's own view.
    pub(crate) view: Option<SandboxView>,
    /// The networks that one of its own is taken from.
    pub(crate) networks: OwnNetworks,
    /// The one it has, where there was one already.
    pub(crate) network: Option<LentNetwork>,
    /// What its environment gets besides its own.
    pub(crate) env: CommandEnv,
    /// Files that had to be there; removed with it when they were not used.
    pub(crate) outputs: ToolOutputs,
}

/// What a child puts on itself before it becomes the program.
pub(crate) struct ChildRestrictions {
    pub(crate) rules: Option<RulesetCreated>,
    /// What these are about.
    pub(crate) options: RulesetOptions,
    /// Places that are there only in the view.
    pub(crate) late: Vec<(CString, PlaceUse)>,
    pub(crate) filters: Filters,
    /// Which calls wait for an answer of this program; empty where none do.
    pub(crate) calls: Vec<libc::sock_filter>,
    pub(crate) limits: Vec<(Resource, u64)>,
    /// What is left of an administrator's rights.
    pub(crate) kept: CapabilitySet,
}

impl ChildRestrictions {
    /// Whether this program is to answer calls of the process.
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Lets calls of the calling process wait for an answer, and hands out the descriptor they come
    /// in on. Has to come after [`apply`](Self::apply).
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn notify(&mut self, channel: &UnixStream) -> io::Result<()> {
        let listener = seccomp_notify::install(&mut self.calls)?;
        Ok(loopback::hand_over(channel, &listener)?)
    }

    /// Restricts the calling process. Takes no memory and no lock: it runs between fork and exec.
    ///
    /// # Errors
    /// When the kernel refuses any part of it, or it was used before.
    pub(crate) fn apply(&mut self) -> io::Result<()> {
        for (resource, limit) in &self.limits {
            limits::lower(*resource, *limit)?;
        }
        if let Some(mut rules) = self.rules.take() {
            for (path, usage) in &self.late {
                rules = files::add_late(self.options, rules, path, *usage)?;
            }
            let status = rules
                .restrict_self()
                .map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
            if status.ruleset == RulesetStatus::NotEnforced {
                return Err(io::ErrorKind::Unsupported.into());
            }
        }
        rustix::thread::set_no_new_privs(true)?;
        drop_capabilities(self.kept)?;
        syscalls::load(&self.filters)
    }
}

/// Gives up what an administrator may and a build does not need; an ordinary user has nothing to
/// give up. No program started later gets it back: the rules, or the filters, made sure of that.
fn drop_capabilities(kept: CapabilitySet) -> io::Result<()> {
    let mut sets = rustix::thread::capabilities(None)?;
    let kept = |set: CapabilitySet| set & kept;
    (sets.effective, sets.permitted, sets.inheritable) =
        (kept(sets.effective), kept(sets.permitted), CapabilitySet::empty());
    Ok(rustix::thread::set_capabilities(None, sets)?)
}
