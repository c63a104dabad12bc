//! What the kernel gives a sandbox, found out by trying.
//!
//! In: nothing. Out: a [`Level`], each part of it tried for real: a kernel that knows a call may still refuse it to this user.

use std::io;
use std::path::PathBuf;

use landlock::RulesetStatus;

use crate::workspace::exec::spawn;
use crate::workspace::sandbox::syscalls::{Processes, Sockets};
use crate::workspace::sandbox::view::{self, Scene, View};
use crate::workspace::sandbox::{Network, files, load, switchboard, syscalls};

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
    /// Commands get namespaces of their own: processes, network, and a view of files without what they must not see.
    pub namespaces: bool,
    /// Calls of a command for sockets can be answered by this program, so that a proxy is all it reaches also without namespaces.
    pub sockets: bool,
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
        let refused = try_namespaces().err().map(|error| error.to_string());
        (Self { namespaces: refused.is_none(), ..Self::without_namespaces() }, refused)
    }

    fn without_namespaces() -> Self {
        let files = || files::empty(Network::Off).ok().and_then(|rules| rules.restrict_self().ok());
        let syscalls = || syscalls::filters(Sockets::None, Processes::Shared).is_ok_and(|filters| load(&filters).is_ok());
        let status = std::thread::spawn(files).join().ok().flatten();
        let files = status.as_ref().is_some_and(|status| status.ruleset != RulesetStatus::NotEnforced);
        let landlock = status.map_or(0, |status| files::version(&status.landlock));
        let syscalls = std::thread::spawn(syscalls).join().unwrap_or(false);
        Self { files, network: syscalls, syscalls, landlock, namespaces: false, sockets: switchboard::is_to_be_had() }
    }

    /// Returns true when everything is held that a policy can require. Namespaces hold the same a second time.
    #[must_use]
    pub fn is_full(self) -> bool {
        self.files && self.network && self.syscalls
    }

    /// Whether commands can be given sockets that lead to a proxy only: nothing else they call may open a way beside them.
    pub(super) fn hands_sockets(self) -> bool {
        self.syscalls && self.network && self.sockets
    }

    /// Returns what is missing, in words; empty when nothing is.
    #[must_use]
    pub fn missing(self) -> String {
        let parts = [
            (self.files, "files are not held (Landlock version 3 or later, Linux 6.2)"),
            (self.network, "the network is not held (seccomp)"),
            (self.syscalls, "system calls are not held (seccomp)"),
        ];
        parts.iter().filter(|(held, _)| !held).map(|(_, words)| *words).collect::<Vec<_>>().join("; ")
    }
}

/// Makes namespaces once, as a command would get them.
fn try_namespaces() -> io::Result<()> {
    let own = tempfile::tempdir()?;
    let path = own.path().canonicalize()?;
    view::prepare(&path)?;
    let scene = Scene { own: &path, places: &[PathBuf::from("/usr")], roots: &[], covers: &[], network: Network::Own };
    spawn::try_view(View::of(&scene)?)
}
