//! Finds out what sandbox this kernel provides, by trying it.
//!
//! In: nothing. Out: a [`SandboxLevel`], each part of it tried for real: a kernel that knows a call
//! may still refuse it to this user.

use std::io;
use std::path::{Path, PathBuf};

use landlock::RulesetStatus;

use crate::layer::LayerFolders;
use crate::level::SandboxLevel;
use crate::linux::files::{self, RulesetOptions};
use crate::linux::limits::ResourceLimits;
use crate::linux::loopback;
use crate::linux::places::PlaceUse;
use crate::linux::seccomp_notify;
use crate::linux::start::setup;
use crate::linux::syscalls::{self, ProcessVisibility, SocketAccess};
use crate::linux::view::base::BasePlan;
use crate::linux::view::steps::LayerUse;
use crate::linux::view::{SandboxView, ViewLayer, ViewSpec, steps};
use crate::reach::NetworkAccess;

impl SandboxLevel {
    /// Tries on a thread of its own, and in a child process, what this kernel gives.
    pub fn obtained() -> Self {
        Self::tried().0
    }

    /// The same, with the reason why there are no namespaces.
    pub fn tried() -> (Self, Option<String>) {
        // One trial is enough where everything is to be had.
        let pids = rustix::process::geteuid().is_root()
            && try_namespaces(Some(ResourceLimits::default().pids())).is_ok();
        let refused =
            if pids { None } else { try_namespaces(None).err().map(|error| error.to_string()) };
        let namespaces = refused.is_none();
        (Self { namespaces, pids, ..Self::without_namespaces() }, refused)
    }

    fn without_namespaces() -> Self {
        let files = || {
            files::empty(RulesetOptions { network: NetworkAccess::Off, newest: files::NEWEST })
                .ok()
                .and_then(|rules| rules.restrict_self().ok())
        };
        let syscalls = || {
            syscalls::filters(SocketAccess::None, ProcessVisibility::Shared)
                .is_ok_and(|filters| syscalls::load(&filters).is_ok())
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
            calls: seccomp_notify::is_available(),
            pids: false,
        }
    }
}

/// Lays a layer over a checkout once, as a command would get it.
///
/// # Errors
/// What was refused.
pub(crate) fn try_layer(root: &Path, layer: LayerFolders<'_>) -> io::Result<()> {
    let roots = [root.to_owned()];
    let usage = LayerUse::Written;
    let over = ViewLayer {
        lower: root,
        between: None,
        folders: layer,
        usage,
        shared: &[],
        git: None,
        git_layers: Vec::new(),
    };
    try_view(&roots, Some(over), None)
}

/// Makes namespaces once, as a command would get them.
fn try_namespaces(pids: Option<u32>) -> io::Result<()> {
    try_view(&[], None, pids)
}

fn try_view(roots: &[PathBuf], layer: Option<ViewLayer<'_>>, pids: Option<u32>) -> io::Result<()> {
    let own = tempfile::tempdir()?;
    let path = steps::own_in(&own.path().canonicalize()?);
    std::fs::create_dir(&path)?;
    steps::prepare(&path)?;
    let places = [(PathBuf::from("/usr"), PlaceUse::Read)];
    let base = setup::make_base(BasePlan::of(&path, &places)?)?;
    let spec = ViewSpec {
        own: &path,
        base: &base,
        roots,
        masks: &[],
        layer,
        network: NetworkAccess::Own,
        lent: None,
        proxy: loopback::PROXY,
        pids,
    };
    setup::try_view(SandboxView::of(&spec)?)
}
