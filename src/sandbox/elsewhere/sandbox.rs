//! `Sandbox` where there is none: commands are refused, unless the policy wants no sandbox or as
//! much of one as there is.
//!
//! In: the policy's limits and the environment. Out: what a command gets, or why it is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command_env::{self, CommandEnv};
use crate::elsewhere::restrictions::Restrictions;
use crate::hosts::ListedHosts;
use crate::layer::LayerFolders;
use crate::level::SandboxLevel;
use crate::network::proxy::NetworkProxy;
use crate::private_folder::PrivateFolder;
use crate::reach::CommandReach;
use crate::sandbox_error::SandboxError;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};

/// What is around the commands of a run.
pub struct Sandbox {
    wanted: SandboxSetting,
    network: CommandNetwork,
    hosts: Option<ListedHosts>,
    own: Option<OwnFolder>,
}

/// The folder that commands have for themselves.
struct OwnFolder {
    variables: BTreeMap<String, String>,
    /// Removed with it.
    _folder: PrivateFolder,
}

impl Sandbox {
    /// Prepares what the policy wants. `env` is the whole environment of this program.
    ///
    /// # Errors
    /// When the folder for commands cannot be made. That there is no sandbox is not an error here:
    /// commands are refused then.
    pub fn prepare(
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, SandboxError> {
        let own = match limits.sandbox {
            SandboxSetting::BestEffort => Some(OwnFolder::make(env)?),
            SandboxSetting::Off | SandboxSetting::Required => None,
        };
        Ok(Self { wanted: limits.sandbox, network: limits.network, hosts: None, own })
    }

    /// Prepares another one; nothing is shared here.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn beside(
        &self,
        limits: &CommandLimits,
        env: &BTreeMap<String, String>,
    ) -> Result<Self, SandboxError> {
        Self::prepare(limits, env)
    }

    /// Returns no sandbox at all: what the policy says with `sandbox: off`.
    pub fn around_nothing() -> Self {
        let (wanted, network) = (SandboxSetting::Off, CommandNetwork::Open);
        Self { wanted, network, hosts: None, own: None }
    }

    /// Takes the hosts that a policy lists, where it lists some for commands.
    pub fn with_hosts_of(self, policy: &Policy, facts: &Facts) -> Self {
        let hosts = self.is_proxied().then(|| ListedHosts::of(policy, facts));
        Self { hosts, ..self }
    }

    /// Returns the proxy that commands in a mode would be held to; `None` where the policy lists no
    /// hosts.
    pub fn proxy(&self, mode: &str) -> Option<NetworkProxy> {
        self.hosts.as_ref().map(|hosts| hosts.proxy(mode))
    }

    /// Returns false: what a command reaches is not held here.
    pub fn keeps_offline(&self) -> bool {
        false
    }

    /// Returns false: nothing keeps commands from the network.
    pub fn is_offline(&self) -> bool {
        false
    }

    /// Returns true when the policy lists hosts for commands, which are refused for it.
    pub fn is_proxied(&self) -> bool {
        self.network == CommandNetwork::Listed
    }

    /// Returns false: nothing is held.
    pub fn holds(&self) -> bool {
        false
    }

    /// Returns false: commands write to the checkout itself.
    pub fn can_layer(&self, _root: &Path, _layer: LayerFolders<'_>) -> bool {
        false
    }

    /// None here either.
    pub fn can_layer_folder(&self, _folder: &Path, _layer: LayerFolders<'_>) -> bool {
        false
    }

    /// Returns false: nothing contains commands.
    pub fn contains(&self, _root: &Path) -> bool {
        false
    }

    /// Returns why: nothing could.
    pub fn uncontained(&self, _root: &Path) -> Option<String> {
        Some(SandboxLevel::default().missing())
    }

    /// Returns what one command gets; `None` when the policy wants no sandbox.
    ///
    /// # Errors
    /// When the policy requires a sandbox, or hosts that commands would have to be held to.
    pub(crate) fn restrictions(
        &self,
        reach: &CommandReach<'_>,
    ) -> Result<Option<Restrictions>, SandboxError> {
        if self.is_proxied() {
            return Err(SandboxError::NoProxy);
        }
        if self.wanted == SandboxSetting::Required {
            return Err(SandboxError::Below(SandboxLevel::default().missing()));
        }
        Ok(self.own.as_ref().map(|own| Restrictions {
            env: CommandEnv {
                variables: own.variables.clone(),
                is_layered: false,
                root: reach.root.to_string_lossy().into_owned(),
            },
        }))
    }
}

impl OwnFolder {
    fn make(env: &BTreeMap<String, String>) -> Result<Self, SandboxError> {
        let folder = PrivateFolder::make()?;
        let path: PathBuf = folder.path().to_owned();
        command_env::make_folders(&path)?;
        Ok(Self { variables: command_env::variables(env, &path), _folder: folder })
    }
}
