//! `Sandbox`: what is around the commands of a run, chosen by what the policy wants and what this
//! kernel provides.
//!
//! In: the policy's limits, the environment, and how far a command reaches. Out: the restrictions
//! of one command, or why there are none.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use landlock::ABI;
use rustix::thread::CapabilitySet;

use crate::command_env::{self, CommandEnv};
use crate::hosts::ListedHosts;
use crate::layer::LayerFolders;
use crate::level::{ProcessLimit, SandboxLevel};
use crate::linux::file_facts::WritablePlaces;
use crate::linux::files::{self, GrantedPlace, RootGrant, RulesetOptions, SplitCheckout};
use crate::linux::limits::ResourceLimits;
use crate::linux::loopback;
use crate::linux::mount_masks::{Mask, MaskError, MaskFinder};
use crate::linux::outputs::ToolOutputs;
use crate::linux::own_network::{LentNetwork, OwnNetworks};
use crate::linux::owners;
use crate::linux::places::{self, PlaceUse};
use crate::linux::restrictions::{ChildRestrictions, Restrictions};
use crate::linux::seccomp_notify::{self, AnsweredCalls};
use crate::linux::start::setup;
use crate::linux::syscalls::{self, Filters, ProcessVisibility, SocketAccess};
use crate::linux::trial;
use crate::linux::view::base::{BasePlan, BaseView};
use crate::linux::view::steps::{self, LayerUse, own_in};
use crate::linux::view::{SandboxView, ViewLayer, ViewSpec};
use crate::network::proxy::{self, NetworkProxy};
use crate::private_folder::PrivateFolder;
use crate::reach::{CommandReach, NetworkAccess, WriteAccess, git_stays};
use crate::sandbox_error::SandboxError;
use crate::shared_network::SharedNetwork;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::paths::Protection;
use locum_policy::schema::{self, CommandLimits, CommandNetwork};

/// What is left of an administrator's rights: files and names of the checkout, which in a container
/// often belongs to another user.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID);

/// What is around the commands of a run.
pub struct Sandbox {
    wanted: schema::SandboxSetting,
    level: SandboxLevel,
    network: NetworkAccess,
    timeout: Duration,
    limits: ResourceLimits,
    hosts: Option<ListedHosts>,
    shared: Option<SharedSetup>,
    /// The newest version of the kernel's interface for files that is used.
    newest: ABI,
}

/// What all commands have in common.
struct SharedSetup {
    system: Vec<GrantedPlace>,
    places: Vec<(PathBuf, PlaceUse)>,
    filters: Filters,
    protection: Protection,
    variables: BTreeMap<String, String>,
    /// What was seen of each checkout: that of the run, and those of its sub-tasks.
    masks: RefCell<BTreeMap<PathBuf, MaskFinder>>,
    /// What the views of all commands start from, made for the first one.
    base: OnceCell<BaseView>,
    /// The user namespace that it is made in, where that is another sandbox's.
    user: Option<OwnedFd>,
    /// Networks of their own that none of them has now.
    networks: OwnNetworks,
    /// Real path of their home and temporary folder.
    path: PathBuf,
    /// The folder itself; removed with it.
    _own: PrivateFolder,
}

impl Sandbox {
    /// Prepares what the policy wants on this kernel. `env` is the whole environment of this
    /// program.
    ///
    /// # Errors
    /// When the folder for commands cannot be made. A kernel that does not give enough is not an
    /// error here: commands are refused then.
    pub fn prepare(
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, SandboxError> {
        match limits.sandbox {
            schema::SandboxSetting::Off => {
                Ok(Self { network: around_nothing(limits.network), ..Self::around_nothing() })
            }
            schema::SandboxSetting::Required | schema::SandboxSetting::BestEffort => {
                Self::on(limits, env, SandboxLevel::obtained())
            }
        }
    }

    /// Prepares another one, whose commands can be in the networks of this one's: they are in the
    /// same user namespace, where there is one. Nothing else do they have in common.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and when the namespace cannot be had.
    pub fn beside(
        &self,
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, SandboxError> {
        let mut other = Self::prepare(limits, env)?;
        if let (Some(own), Some(other)) = (&self.shared, &mut other.shared)
            && self.level.namespaces
        {
            let fault = |error: io::Error| SandboxError::Rules(error.to_string());
            let user = &own.base().map_err(fault)?.namespaces.user;
            other.user = user.as_ref().map(OwnedFd::try_clone).transpose().map_err(fault)?;
        }
        Ok(other)
    }

    /// Returns no sandbox at all: what the policy says with `sandbox: off`.
    pub fn around_nothing() -> Self {
        Self {
            wanted: schema::SandboxSetting::Off,
            level: SandboxLevel::default(),
            network: NetworkAccess::Open,
            timeout: Duration::MAX,
            limits: ResourceLimits::default(),
            hosts: None,
            shared: None,
            newest: files::NEWEST,
        }
    }

    fn on(
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
        level: SandboxLevel,
    ) -> Result<Self, SandboxError> {
        let network = match (limits.network, level.namespaces) {
            (CommandNetwork::Open, _) => NetworkAccess::Open,
            (CommandNetwork::Listed, false) if level.hands_sockets() => NetworkAccess::Handed,
            // Without either it is refused when a command would run.
            (CommandNetwork::Listed, true | false) => NetworkAccess::Proxied,
            (CommandNetwork::Off, true) => NetworkAccess::Own,
            (CommandNetwork::Off, false) => NetworkAccess::Off,
        };
        let own = PrivateFolder::make()?;
        let path = own_in(own.path());
        std::fs::create_dir(&path)?;
        command_env::make_folders(&path)?;
        steps::prepare(&path)?;
        let mut places = places::places(env, &path, network);
        let reads: Vec<_> = places::reads(limits).collect();
        // A socket in a folder that may be read would be a way to whoever listens there.
        let named = if reads.is_empty() { SocketAccess::Own } else { SocketAccess::Unnamed };
        places.extend(reads);
        let system = if level.files { files::open_places(&places) } else { Vec::new() };
        let sockets = match network {
            NetworkAccess::Off => SocketAccess::None,
            NetworkAccess::Own | NetworkAccess::Proxied => named,
            NetworkAccess::Handed => SocketAccess::Handed,
            NetworkAccess::Open => SocketAccess::Internet,
        };
        let view =
            if level.namespaces { ProcessVisibility::Own } else { ProcessVisibility::Shared };
        let filters = if level.syscalls {
            syscalls::filters(sockets, view)
                .map_err(|error| SandboxError::Rules(error.to_string()))?
        } else {
            Vec::new()
        };
        let variables = command_env::variables(env, &path);
        let shared = SharedSetup {
            system,
            places,
            filters,
            protection: Protection::default(),
            variables,
            masks: RefCell::default(),
            base: OnceCell::new(),
            user: None,
            networks: OwnNetworks::default(),
            path,
            _own: own,
        };
        Ok(Self {
            wanted: limits.sandbox,
            level,
            network,
            timeout: limits.timeout,
            limits: ResourceLimits::default(),
            hosts: None,
            shared: Some(shared),
            newest: files::NEWEST,
        })
    }

    /// Lets commands reach what a policy lists, where it says so.
    pub fn with_hosts_of(self, policy: &Policy, facts: &Facts) -> Self {
        let hosts = self.is_proxied().then(|| ListedHosts::of(policy, facts));
        Self { hosts, ..self }
    }

    /// Returns the proxy that commands in a mode are held to; `None` where they are not.
    pub fn proxy(&self, mode: &str) -> Option<NetworkProxy> {
        self.hosts.as_ref().map(|hosts| hosts.proxy(mode))
    }

    /// Returns true when commands reach no host at all.
    pub fn is_offline(&self) -> bool {
        self.shared.is_some() && matches!(self.network, NetworkAccess::Off | NetworkAccess::Own)
    }

    /// Returns true when no command reaches any host, and that is held, not only asked for.
    pub fn keeps_offline(&self) -> bool {
        self.holds() && self.is_offline()
    }

    /// Returns true when commands reach only hosts that the policy allows.
    pub fn is_proxied(&self) -> bool {
        matches!(self.network, NetworkAccess::Proxied | NetworkAccess::Handed)
    }

    /// Returns true when commands run with files, network and system calls held.
    pub fn holds(&self) -> bool {
        self.shared.is_some() && self.level.is_full()
    }

    /// Whether what commands write can go to a layer over the checkout at `root` instead of the
    /// checkout itself; tried for real. It takes namespaces, `.git` in its place, and a file system
    /// that overlayfs can write to.
    pub fn can_layer(&self, root: &Path, layer: LayerFolders<'_>) -> bool {
        git_stays(root) && self.can_layer_folder(root, layer)
    }

    /// Whether the same holds of any folder.
    pub fn can_layer_folder(&self, folder: &Path, layer: LayerFolders<'_>) -> bool {
        self.shared.is_some()
            && self.level.namespaces
            && owners::unlayered(folder).is_none()
            && trial::try_layer(folder, layer).is_ok()
    }

    /// Whether commands in the checkout at `root` are contained: files, network and system calls
    /// are held, and what they write can go to a layer; tried for real.
    pub fn contains(&self, root: &Path) -> bool {
        self.uncontained(root).is_none()
    }

    /// Returns why they are not; `None` where they are.
    pub fn uncontained(&self, root: &Path) -> Option<String> {
        let Some(shared) = self.shared.as_ref().filter(|_| self.level.is_full()) else {
            return Some(self.level.missing());
        };
        if let Some(owner) = owners::unlayered(root) {
            return Some(owner);
        }
        let tried = || -> io::Result<bool> {
            let own = tempfile::tempdir_in(&shared.path)?;
            let (upper, work) = (&own.path().join("upper"), &own.path().join("work"));
            [upper, work].iter().try_for_each(std::fs::create_dir)?;
            let layer = LayerFolders::over(upper, work);
            let contained = self.can_layer(root, layer);
            // What the kernel left in it could not be removed with it.
            layer.empty_work()?;
            Ok(contained)
        };
        let failed = |error: io::Error| Some(format!("no layer can be tried: {error}"));
        tried().map_or_else(failed, |contained| {
            (!contained).then(|| "nothing can be layered over the checkout here".to_owned())
        })
    }

    /// Makes the restrictions of one command; `None` when the policy wants none.
    ///
    /// # Errors
    /// When the policy requires more than there is, or the rules cannot be made.
    pub(crate) fn restrictions(
        &self,
        reach: &CommandReach<'_>,
    ) -> Result<Option<Restrictions>, SandboxError> {
        if self.network == NetworkAccess::Proxied && !self.level.namespaces {
            return Err(SandboxError::NoProxy);
        }
        let Some(shared) = &self.shared else { return Ok(None) };
        if self.wanted == schema::SandboxSetting::Required && !self.level.is_full() {
            return Err(SandboxError::Below(self.level.missing()));
        }
        let fault = |error: &dyn std::fmt::Display| SandboxError::Rules(error.to_string());
        let masks = shared.masks(reach).map_err(|error| fault(&error))?;
        // Without a layer, a folder that may be moved takes what is hidden below it along.
        let root = if self.level.namespaces && reach.layer.is_some() && git_stays(reach.root) {
            RootGrant::Masked
        } else {
            RootGrant::EntryByEntry
        };
        let reach = &CommandReach { writes: writes_held(reach, &masks, root), ..*reach };
        let split = SplitCheckout::of(reach, &masks, root);
        let options = RulesetOptions { network: self.network, newest: self.newest };
        let makes = reach.writes != WriteAccess::Nothing && reach.layer.is_none();
        let outputs = if self.level.files && makes {
            ToolOutputs::make(&split.folders)
        } else {
            ToolOutputs::default()
        };
        let rules = self
            .level
            .files
            .then(|| files::rules(&shared.system, &shared.protection, reach, options, &split))
            .transpose()
            .map_err(|error| fault(&error))?;
        let network = (self.network == NetworkAccess::Own && reach.network.is_none())
            .then(|| shared.networks.lend())
            .flatten();
        let lent = match reach.network {
            Some(network) => Some(network.network()),
            None => network.as_ref().map(LentNetwork::network),
        };
        let proxy = reach.network.map_or(loopback::PROXY, SharedNetwork::next_proxy);
        let view = self
            .level
            .namespaces
            .then(|| shared.view(reach, &masks, self, (lent, proxy)))
            .transpose()
            .map_err(|error| fault(&error))?;
        let mut variables = shared.variables.clone();
        if self.is_proxied() {
            variables.extend(proxy::variables(proxy.into()));
        }
        let kept = if view.as_ref().is_some_and(SandboxView::has_own_user) {
            CapabilitySet::empty()
        } else {
            KEPT_CAPABILITIES
        };
        let (processes, answered) = match self.level.process_limit() {
            ProcessLimit::User | ProcessLimit::Namespace => (None, false),
            ProcessLimit::Answered => (Some(self.limits.processes()), true),
            ProcessLimit::Looked => (Some(self.limits.processes()), false),
        };
        let child = ChildRestrictions {
            rules,
            options,
            late: view.iter().flat_map(|view| view.late()).collect(),
            filters: shared.filters.clone(),
            calls: seccomp_notify::calls(AnsweredCalls {
                sockets: self.network == NetworkAccess::Handed,
                processes: answered,
                file_facts: view.is_none() && self.level.files && self.level.calls,
            }),
            limits: self.limits.list(self.timeout),
            kept,
        };
        let env = CommandEnv {
            variables,
            root: reach.seen_root().to_string_lossy().into_owned(),
            is_layered: reach.layer.is_some(),
        };
        let writable = shared.writable(reach, masks);
        let networks = shared.networks.clone();
        Ok(Some(Restrictions { child, writable, processes, view, networks, network, env, outputs }))
    }
}

/// Returns what a command may write: the root as a whole only where no mask can lie in it, and
/// nothing that is hidden becomes readable by it.
fn writes_held(reach: &CommandReach<'_>, masks: &[Mask], root: RootGrant) -> WriteAccess {
    let hides = masks.iter().any(|mask| !matches!(mask, Mask::ReadOnly(_)));
    match reach.writes {
        WriteAccess::Root if root == RootGrant::Masked || (reach.reads_files && hides) => {
            WriteAccess::Entries
        }
        writes => writes,
    }
}

/// What commands reach without a sandbox.
fn around_nothing(wanted: CommandNetwork) -> NetworkAccess {
    match wanted {
        CommandNetwork::Listed => NetworkAccess::Proxied,
        CommandNetwork::Off | CommandNetwork::Open => NetworkAccess::Open,
    }
}

impl SharedSetup {
    /// Returns what is masked of a checkout, and of folders of another one that are seen in it.
    fn masks(&self, reach: &CommandReach<'_>) -> Result<Vec<Mask>, MaskError> {
        let mut finders = self.masks.borrow_mut();
        let mut found_in = |reach: &CommandReach<'_>| {
            finders.entry(reach.root.to_owned()).or_default().masks(&self.protection, reach)
        };
        let mut masks = found_in(reach)?;
        if reach.shared().is_empty() {
            return Ok(masks);
        }
        let other = CommandReach {
            root: reach.seen_root(),
            git: &[],
            git_hidden: false,
            git_writable: false,
            layer: None,
            seen_below: None,
            stands_for: None,
            ..*reach
        };
        let shared: Vec<PathBuf> =
            reach.shared().iter().map(|shared| other.at(&shared.path)).collect();
        let is_shared = |mask: &Mask| shared.iter().any(|at| mask.path().starts_with(at));
        masks.extend(found_in(&other)?.into_iter().filter(is_shared));
        Ok(masks)
    }

    /// Returns where a command may change mode, owner and times of files: where it may write.
    fn writable(&self, reach: &CommandReach<'_>, masks: Vec<Mask>) -> WritablePlaces {
        let is_written = |(place, usage): &&(PathBuf, PlaceUse)| {
            *usage == PlaceUse::Write && place.is_dir() && !place.starts_with("/dev")
        };
        let written = self.places.iter().filter(is_written);
        WritablePlaces {
            folders: written.filter_map(|(place, _)| place.canonicalize().ok()).collect(),
            checkout: (reach.writes != WriteAccess::Nothing).then(|| reach.root.to_owned()),
            masked: masks.iter().map(|mask| mask.path().to_owned()).collect(),
            protection: self.protection,
        }
    }

    /// Returns what the views of all commands start from.
    fn base(&self) -> io::Result<&BaseView> {
        if let Some(base) = self.base.get() {
            return Ok(base);
        }
        let mut plan = BasePlan::of(&self.path, &self.places)?;
        if let Some(user) = &self.user {
            plan.join(user.try_clone()?);
        }
        let base = setup::make_base(plan)?;
        Ok(self.base.get_or_init(|| base))
    }

    fn view(
        &self,
        reach: &CommandReach<'_>,
        masks: &[Mask],
        sandbox: &Sandbox,
        (lent, proxy): (Option<Arc<OwnedFd>>, SocketAddrV4),
    ) -> io::Result<SandboxView> {
        let mut roots = vec![reach.seen_root().to_owned()];
        for folder in reach.git.iter().filter(|_| !reach.git_hidden) {
            let folder = folder.canonicalize()?;
            if reach.is_in_layer(&folder) && folder.starts_with(reach.root) {
                continue;
            }
            if reach.moved_git().is_none_or(|moved| moved.folder != folder) {
                roots.push(folder);
            }
        }
        let pids = (sandbox.level.process_limit() == ProcessLimit::Namespace)
            .then(|| sandbox.limits.pids());
        SandboxView::of(&ViewSpec {
            own: &self.path,
            base: self.base()?,
            roots: &roots,
            masks,
            layer: reach.layer.map(|folders| ViewLayer {
                lower: reach.root,
                between: reach.seen_below,
                folders,
                usage: match reach.writes {
                    WriteAccess::Nothing => LayerUse::Seen,
                    WriteAccess::Entries | WriteAccess::Root => LayerUse::Written,
                },
                shared: reach.shared(),
                git: reach.moved_git(),
                git_layers: reach.git_layers().collect(),
            }),
            network: sandbox.network,
            lent,
            proxy,
            pids,
        })
    }
}

#[cfg(test)]
mod tests;
