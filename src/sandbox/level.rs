//! What the kernel gives a sandbox, found out by trying.
//!
//! In: nothing. Out: a [`Level`], each part of it tried for real: a kernel that knows a call may
//! still refuse it to this user.

use std::io;
use std::path::PathBuf;

use landlock::RulesetStatus;

use crate::exec::spawn;
use crate::files::Held;
use crate::limits::Limits;
use crate::syscalls::{Processes, Sockets};
use crate::view::{self, Scene, View};
use crate::{Network, files, load, seccomp_notify, syscalls};

/// The first version of the kernel's interface for files that holds signals too: Linux 6.12.
const FIRST_WITH_SIGNALS: u8 = 6;

/// What holds the number of a command's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// The kernel counts those of this user.
    User,
    /// The kernel counts those of the command's namespaces: an administrator's are not counted
    /// otherwise.
    Namespace,
    /// This program counts, and answers every call for a new one.
    Answered,
    /// This program looks from time to time how many there are, and kills the command when they are
    /// too many.
    Looked,
}

/// What the kernel gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Level {
    /// Files are held: outside and protected paths are out of reach.
    pub files: bool,
    /// The network is held: no socket can be connected.
    pub network: bool,
    /// Dangerous system calls are refused.
    pub syscalls: bool,
    /// Version of the kernel's interface for files; 0 for none.
    pub landlock: u8,
    /// Commands get namespaces of their own: processes, network, and a view of files without what
    /// they must not see.
    pub namespaces: bool,
    /// Calls of a command can be answered by this program: those for sockets, so that a proxy is
    /// all it reaches also without namespaces, and those for new processes.
    pub calls: bool,
    /// Namespaces hold the number of their processes.
    pub pids: bool,
}

impl Level {
    /// Tries on a thread of its own, and in a child process, what this kernel gives.
    #[must_use]
    pub fn obtained() -> Self {
        Self::tried().0
    }

    /// The same, with the reason why there are no namespaces.
    #[must_use]
    pub fn tried() -> (Self, Option<String>) {
        // One trial is enough where everything is to be had.
        let pids = rustix::process::geteuid().is_root()
            && try_namespaces(Some(Limits::default().pids())).is_ok();
        let refused =
            if pids { None } else { try_namespaces(None).err().map(|error| error.to_string()) };
        let namespaces = refused.is_none();
        (Self { namespaces, pids, ..Self::without_namespaces() }, refused)
    }

    fn without_namespaces() -> Self {
        let files = || {
            files::empty(Held { network: Network::Off, newest: files::NEWEST })
                .ok()
                .and_then(|rules| rules.restrict_self().ok())
        };
        let syscalls = || {
            syscalls::filters(Sockets::None, Processes::Shared)
                .is_ok_and(|filters| load(&filters).is_ok())
        };
        let status = std::thread::spawn(files).join().ok().flatten();
        let files =
            status.as_ref().is_some_and(|status| status.ruleset != RulesetStatus::NotEnforced);
        let landlock = status.map_or(0, |status| files::version(&status.landlock));
        let syscalls = std::thread::spawn(syscalls).join().unwrap_or(false);
        Self {
            files,
            network: syscalls,
            syscalls,
            landlock,
            namespaces: false,
            calls: seccomp_notify::is_to_be_had(),
            pids: false,
        }
    }

    /// Returns true when everything is held that a policy can require. Namespaces hold the same a
    /// second time.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.files && self.network && self.syscalls
    }

    /// Whether commands can be given sockets that lead to a proxy only: nothing else they call may
    /// open a way beside them.
    pub(super) fn hands_sockets(self) -> bool {
        self.syscalls && self.network && self.calls
    }

    /// Whether commands cannot signal any process but their own. Without it they cannot signal this
    /// program, but others of the same user.
    #[must_use]
    pub fn holds_signals(self) -> bool {
        self.namespaces || (self.files && self.landlock >= FIRST_WITH_SIGNALS)
    }

    /// Returns what holds the number of processes.
    #[must_use]
    pub fn process_limit(self) -> ProcessLimit {
        match (rustix::process::geteuid().is_root(), self.namespaces && self.pids, self.calls) {
            (false, true | false, true | false) => ProcessLimit::User,
            (true, true, true | false) => ProcessLimit::Namespace,
            (true, false, true) => ProcessLimit::Answered,
            (true, false, false) => ProcessLimit::Looked,
        }
    }

    /// Returns what is missing, in words; empty when nothing is.
    #[must_use]
    pub fn missing(self) -> String {
        let parts = [
            (self.files, "files are not held (Landlock version 3 or later, Linux 6.2)"),
            (self.network, "the network is not held (seccomp)"),
            (self.syscalls, "system calls are not held (seccomp)"),
        ];
        parts
            .iter()
            .filter(|(held, _)| !held)
            .map(|(_, words)| *words)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// Makes namespaces once, as a command would get them.
fn try_namespaces(pids: Option<u32>) -> io::Result<()> {
    let own = tempfile::tempdir()?;
    let path = own.path().canonicalize()?;
    view::prepare(&path)?;
    let scene = Scene {
        own: &path,
        places: &[PathBuf::from("/usr")],
        roots: &[],
        covers: &[],
        network: Network::Own,
        pids,
    };
    spawn::try_view(View::of(&scene)?)
}
