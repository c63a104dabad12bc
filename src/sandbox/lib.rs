//! The sandbox under every command of the model, because parsers err: which files it reaches, that
//! it reaches no network, and what it may ask of the kernel.
//!
//! In: what the policy wants, the environment, and how far a command reaches. Out: a [`Fence`] that
//! the child puts on itself before it becomes the program, or why there is none. It needs no rights
//! and no set-up, and changes nothing on the machine. Whether a command may run at all is the
//! policy's business.

pub mod env;
pub mod exec;
mod files;
pub mod level;
mod limits;
mod loopback;
mod mount_masks;
pub mod network;
mod outputs;
mod places;
mod root_cleanup;
mod seccomp_notify;
mod syscalls;
mod view;

#[cfg(test)]
extern crate self as locum_sandbox;
#[cfg(test)]
#[path = "../testing/network.rs"]
mod samples;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use landlock::{ABI, RulesetCreated, RulesetStatus};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;
use tempfile::TempDir;

use crate::files::{Granted, Held, Root, Split};
use crate::level::{Level, ProcessLimit};
use crate::limits::Limits;
use crate::mount_masks::Seen;
use crate::network::Gate;
use crate::network::proxy::{self, NetworkProxy};
use crate::outputs::Outputs;
use crate::places::Use;
use crate::root_cleanup::Swept;
use crate::syscalls::{Filters, Processes, Sockets};
use crate::view::{Cover, Scene, View};
use locum_base::path::RepoPath;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::paths::Protection;
use locum_policy::schema::{self, CommandLimits, CommandNetwork};

/// What is left of an administrator's rights: files and names of the checkout, which in a container
/// often belongs to somebody else.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// What of the network commands reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Nothing.
    Off,
    /// A network of their own, which ends at `127.0.0.1`.
    Own,
    /// The same with one way out: a proxy of this program.
    Proxied,
    /// Nothing but the proxy: this program hands out sockets that lead there.
    Handed,
    /// Everything.
    Open,
}

/// How far a command reaches in a checkout.
#[derive(Clone, Copy)]
pub struct Reach<'a> {
    /// The checkout.
    pub root: &'a Path,
    /// Git's own folders of it: they may be read.
    pub git: &'a [PathBuf],
    /// What it may write.
    pub writes: Writes,
    /// Whether git's settings may be read even when they hold credentials. Only for commands whose
    /// every effect is known.
    pub git_settings: bool,
    /// Whether the policy lets a path be read that may hold credentials or that an ignore file
    /// names.
    pub visible: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// Whose ignore files hide paths; `None` where there are none.
    pub policy: Option<&'a Policy>,
}

/// What a command may write in a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// What is not protected. Nothing new can be made directly in the root, besides what build
    /// tools are known to make there.
    Entries,
    /// Everything, the root's own entries included. Only for commands whose every effect is known:
    /// nothing is held back from them.
    Everything,
}

/// What is around the commands of a run.
pub struct Sandbox {
    wanted: schema::Sandbox,
    level: Level,
    network: Network,
    timeout: Duration,
    limits: Limits,
    hosts: Option<Hosts>,
    inside: Option<Inside>,
    /// The newest version of the kernel's interface for files that is used.
    newest: ABI,
}

/// Who decides what commands reach through the proxy.
struct Hosts {
    policy: Arc<Policy>,
    facts: Facts,
}

/// What all commands have in common.
struct Inside {
    system: Vec<Granted>,
    places: Vec<PathBuf>,
    filters: Filters,
    protection: Protection,
    variables: BTreeMap<String, String>,
    /// What was seen of each checkout: that of the run, and those of its sub-tasks.
    seen: RefCell<BTreeMap<PathBuf, Seen>>,
    /// Real path of their home and temporary folder.
    path: PathBuf,
    /// The folder itself; removed with it.
    _own: TempDir,
}

/// Why a command gets no sandbox although the policy wants one: it is refused.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel does not give what the policy requires.
    #[error(
        "the policy requires a sandbox and this kernel does not give it: {0}; `commands: {{ \
         sandbox: best-effort }}` accepts less"
    )]
    Below(String),
    /// Nothing would hold commands to the proxy.
    #[error(
        "`commands.network: policy` needs a sandbox, with namespaces or with calls that can be \
         answered, and there is none here; `off` and `open` do without"
    )]
    NoProxy,
    /// The rules could not be made.
    #[error("the sandbox could not be made: {0}")]
    Rules(String),
    /// The private folder could not be made.
    #[error("the private folder of commands could not be made: {0}")]
    Folder(#[from] io::Error),
}

impl Sandbox {
    /// Prepares what the policy wants on this kernel. `env` is the whole environment of this
    /// program.
    ///
    /// # Errors
    /// When the folder for commands cannot be made. A kernel that does not give enough is no error
    /// here: commands are refused then.
    pub fn prepare(
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, SandboxError> {
        match limits.sandbox {
            schema::Sandbox::Off => {
                Ok(Self { network: around_nothing(limits.network), ..Self::around_nothing() })
            }
            schema::Sandbox::Required | schema::Sandbox::BestEffort => {
                Self::on(limits, env, Level::obtained())
            }
        }
    }

    /// Returns no sandbox at all: what the policy says with `sandbox: off`.
    #[must_use]
    pub fn around_nothing() -> Self {
        Self {
            wanted: schema::Sandbox::Off,
            level: Level::default(),
            network: Network::Open,
            timeout: Duration::MAX,
            limits: Limits::default(),
            hosts: None,
            inside: None,
            newest: files::NEWEST,
        }
    }

    fn on(
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
        level: Level,
    ) -> Result<Self, SandboxError> {
        let network = match (limits.network, level.namespaces) {
            (CommandNetwork::Open, _) => Network::Open,
            (CommandNetwork::Listed, false) if level.hands_sockets() => Network::Handed,
            // Without either it is refused when a command would run.
            (CommandNetwork::Listed, true | false) => Network::Proxied,
            (CommandNetwork::Off, true) => Network::Own,
            (CommandNetwork::Off, false) => Network::Off,
        };
        let own = tempfile::Builder::new().prefix("locum-commands-").tempdir()?;
        // The kernel grants real folders; a temporary folder may lie behind a link.
        let path = own.path().canonicalize()?;
        std::fs::create_dir(places::home_in(&path))?;
        std::fs::create_dir(places::temporary_in(&path))?;
        view::prepare(&path)?;
        let mut places = places::places(env, &path, network);
        let reads: Vec<_> = places::reads(limits).collect();
        // A socket in a folder that may be read would be a way to whoever listens there.
        let named = if reads.is_empty() { Sockets::Own } else { Sockets::Unnamed };
        places.extend(reads);
        let system = if level.files { files::open_places(&places) } else { Vec::new() };
        let sockets = match network {
            Network::Off => Sockets::None,
            Network::Own | Network::Proxied => named,
            Network::Handed => Sockets::Handed,
            Network::Open => Sockets::Internet,
        };
        let view = if level.namespaces { Processes::Own } else { Processes::Shared };
        let filters = if level.syscalls {
            syscalls::filters(sockets, view)
                .map_err(|error| SandboxError::Rules(error.to_string()))?
        } else {
            Vec::new()
        };
        let variables = places::variables(env, &path);
        let places = places.into_iter().map(|(place, _)| place).collect();
        let (protection, seen) = (Protection::default(), RefCell::default());
        let inside =
            Inside { system, places, filters, protection, variables, seen, path, _own: own };
        Ok(Self {
            wanted: limits.sandbox,
            level,
            network,
            timeout: limits.timeout,
            limits: Limits::default(),
            hosts: None,
            inside: Some(inside),
            newest: files::NEWEST,
        })
    }

    /// Lets commands reach what a policy lists, where it says so.
    #[must_use]
    pub fn with_hosts_of(self, policy: &Policy, facts: &Facts) -> Self {
        let hosts = self
            .is_proxied()
            .then(|| Hosts { policy: Arc::new(policy.clone()), facts: facts.clone() });
        Self { hosts, ..self }
    }

    /// Returns the proxy that commands in a mode are held to; `None` where they are not.
    #[must_use]
    pub fn proxy(&self, mode: &str) -> Option<NetworkProxy> {
        let hosts = self.hosts.as_ref()?;
        let (policy, facts) =
            (Arc::clone(&hosts.policy), Facts { mode: mode.to_owned(), ..hosts.facts.clone() });
        Some(NetworkProxy::new(
            Gate::default(),
            Arc::new(move |connection| policy.admit(connection, &facts)),
        ))
    }

    /// Whether commands are held to a proxy.
    fn is_proxied(&self) -> bool {
        matches!(self.network, Network::Proxied | Network::Handed)
    }

    /// Returns true when commands run with files, network and system calls held.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.inside.is_some() && self.level.is_full()
    }

    /// Makes the fence of one command; `None` when the policy wants none.
    ///
    /// # Errors
    /// When the policy requires more than there is, or the rules cannot be made.
    pub fn fence(&self, reach: &Reach<'_>) -> Result<Option<Fence>, SandboxError> {
        if self.network == Network::Proxied && !self.level.namespaces {
            return Err(SandboxError::NoProxy);
        }
        let Some(inside) = &self.inside else { return Ok(None) };
        if self.wanted == schema::Sandbox::Required && !self.level.is_full() {
            return Err(SandboxError::Below(self.level.missing()));
        }
        let fault = |error: &dyn std::fmt::Display| SandboxError::Rules(error.to_string());
        let covers = inside
            .seen
            .borrow_mut()
            .entry(reach.root.to_owned())
            .or_default()
            .covers(&inside.protection, reach)
            .map_err(|error| fault(&error))?;
        let root = if self.level.namespaces && reach.git_stays() {
            Root::Covered
        } else {
            Root::EntryByEntry
        };
        let split = Split::of(reach, &covers, root);
        let held = Held { network: self.network, newest: self.newest };
        let outputs =
            if self.level.files { Outputs::make(&split.folders) } else { Outputs::default() };
        let rules = if self.level.files {
            let rules = files::rules(&inside.system, &inside.protection, reach, held, &split);
            Some(rules.map_err(|error| fault(&error))?)
        } else {
            None
        };
        let view = self
            .level
            .namespaces
            .then(|| inside.view(reach, &covers, self))
            .transpose()
            .map_err(|error| fault(&error))?;
        let swept = (root == Root::Covered && reach.writes == Writes::Entries)
            .then(|| Swept::before(reach.root))
            .transpose()?;
        let mut variables = inside.variables.clone();
        if self.is_proxied() {
            variables.extend(proxy::variables(loopback::PROXY.into()));
        }
        let kept = if view.as_ref().is_some_and(View::has_own_user) {
            CapabilitySet::empty()
        } else {
            KEPT_CAPABILITIES
        };
        let late = view.iter().flat_map(|view| view.late()).collect();
        let (processes, answered) = match self.level.process_limit() {
            ProcessLimit::User | ProcessLimit::Namespace => (None, false),
            ProcessLimit::Answered => (Some(self.limits.processes()), true),
            ProcessLimit::Looked => (Some(self.limits.processes()), false),
        };
        let calls = seccomp_notify::calls(self.network == Network::Handed, answered);
        let lock = Lock {
            rules,
            held,
            late,
            filters: inside.filters.clone(),
            calls,
            limits: self.limits.list(self.timeout),
            kept,
        };
        let root = reach.root.to_string_lossy().into_owned();
        Ok(Some(Fence { lock, processes, view, variables, root, outputs, swept }))
    }
}

/// What commands reach without a sandbox.
fn around_nothing(wanted: CommandNetwork) -> Network {
    match wanted {
        CommandNetwork::Listed => Network::Proxied,
        CommandNetwork::Off | CommandNetwork::Open => Network::Open,
    }
}

impl Inside {
    fn view(&self, reach: &Reach<'_>, covers: &[Cover], sandbox: &Sandbox) -> io::Result<View> {
        let mut roots = vec![reach.root.to_owned()];
        for folder in reach.git {
            roots.push(folder.canonicalize()?);
        }
        let pids = (sandbox.level.process_limit() == ProcessLimit::Namespace)
            .then(|| sandbox.limits.pids());
        View::of(&Scene {
            own: &self.path,
            places: &self.places,
            roots: &roots,
            covers,
            network: sandbox.network,
            pids,
        })
    }
}

impl Reach<'_> {
    /// Whether a path is hidden from commands: an ignore file names it, or it may hold credentials,
    /// and the policy does not let it be read.
    fn hides(&self, protection: &Protection, path: &RepoPath) -> bool {
        self.is_sensitive(protection, path) && !(self.visible)(path)
    }

    fn is_sensitive(&self, protection: &Protection, path: &RepoPath) -> bool {
        protection.of_read(path).is_some() || self.policy.is_some_and(|policy| policy.hides(path))
    }

    /// Whether `.git` is there and can be covered, so that nothing else can be put in its place.
    fn git_stays(&self) -> bool {
        std::fs::symlink_metadata(self.root.join(".git"))
            .is_ok_and(|facts| facts.is_dir() || facts.is_file())
    }
}

/// What one command gets.
pub struct Fence {
    /// What the child puts on itself.
    pub(crate) lock: Lock,
    /// Processes it may have at once, where this program counts them.
    pub(crate) processes: Option<usize>,
    /// What it sees; `None` for what everybody sees.
    pub(crate) view: Option<View>,
    /// Variables it gets besides its own.
    variables: BTreeMap<String, String>,
    /// The checkout.
    root: String,
    /// Files that had to be there; removed with it when they were not used.
    pub(crate) outputs: Outputs,
    /// What of the root it may not add to.
    pub(crate) swept: Option<Swept>,
}

impl Fence {
    /// Changes an environment to that of a command inside.
    pub(crate) fn adapt(&self, env: &mut BTreeMap<String, String>) {
        env.extend(self.variables.clone());
        // Git does not work in a folder of somebody else, as a container's often is, unless told
        // that it may. This comes after settings that are there already.
        let count =
            env.get("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        env.insert(format!("GIT_CONFIG_KEY_{count}"), "safe.directory".to_owned());
        env.insert(format!("GIT_CONFIG_VALUE_{count}"), self.root.clone());
        env.insert("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string());
    }
}

/// What a child puts on itself before it becomes the program. It cannot be taken off again.
pub(crate) struct Lock {
    rules: Option<RulesetCreated>,
    /// What these are about.
    held: Held,
    /// Places that are there only in the view.
    late: Vec<(CString, Use)>,
    filters: Filters,
    /// Which calls wait for an answer of this program; empty where none do.
    calls: Vec<libc::sock_filter>,
    limits: Vec<(Resource, u64)>,
    /// What is left of an administrator's rights.
    kept: CapabilitySet,
}

impl Lock {
    /// Whether this program is to answer calls of the process.
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Lets calls of the calling process wait for an answer, and hands out where they come in. Has
    /// to come after [`close`](Self::close).
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn connect(&mut self, wire: &UnixStream) -> io::Result<()> {
        let line = seccomp_notify::put_on_this_process(&mut self.calls)?;
        Ok(loopback::hand_over(wire, &line)?)
    }

    /// Locks the calling process. Takes no memory and no lock: it runs between fork and exec.
    ///
    /// # Errors
    /// When the kernel refuses any part of it, or it was used before.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        for (resource, limit) in &self.limits {
            limits::lower(*resource, *limit)?;
        }
        if let Some(mut rules) = self.rules.take() {
            for (path, usage) in &self.late {
                rules = files::add_late(self.held, rules, path, *usage)?;
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
        load(&self.filters)
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

fn load(filters: &Filters) -> io::Result<()> {
    filters.iter().try_for_each(|filter| {
        seccompiler::apply_filter(filter).map_err(|_| io::ErrorKind::PermissionDenied.into())
    })
}

/// Keeps other processes of this user from looking into this one, and its memory from being written
/// to disk when it fails.
///
/// # Errors
/// When the kernel refuses.
pub fn close_own_process() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

#[cfg(test)]
mod tests;
