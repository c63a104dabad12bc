//! `SandboxLevel`: how much of a sandbox this kernel provides; `trial` finds it out.

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
pub struct SandboxLevel {
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

impl SandboxLevel {
    /// Returns true when everything is held that a policy can require. Namespaces hold the same a
    /// second time.
    pub fn is_full(self) -> bool {
        self.files && self.network && self.syscalls
    }

    /// Returns true when nothing is held at all: this machine can make no sandbox.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Whether commands can be given sockets that lead to a proxy only: nothing else they call may
    /// open a way beside them.
    pub(crate) fn hands_sockets(self) -> bool {
        self.syscalls && self.network && self.calls
    }

    /// Whether commands cannot signal any process but their own. Without it they cannot signal this
    /// program, but others of the same user.
    pub fn holds_signals(self) -> bool {
        self.namespaces || (self.files && self.landlock >= FIRST_WITH_SIGNALS)
    }

    /// Returns what holds the number of processes.
    pub fn process_limit(self) -> ProcessLimit {
        match (rustix::process::geteuid().is_root(), self.namespaces && self.pids, self.calls) {
            (false, true | false, true | false) => ProcessLimit::User,
            (true, true, true | false) => ProcessLimit::Namespace,
            (true, false, true) => ProcessLimit::Answered,
            (true, false, false) => ProcessLimit::Looked,
        }
    }

    /// Returns what is missing, as text; empty when nothing is.
    pub fn missing(self) -> String {
        let parts = [
            (self.files, "files are not restricted (needs Landlock ABI 3, Linux 6.2)"),
            (self.network, "the network is not restricted (needs seccomp)"),
            (self.syscalls, "system calls are not filtered (needs seccomp)"),
        ];
        parts
            .iter()
            .filter(|(held, _)| !held)
            .map(|(_, words)| *words)
            .collect::<Vec<_>>()
            .join("; ")
    }
}
