//! What a command sees of the machine when it has namespaces of its own. That is a root with only
//! the places it needs and masks over what is protected or hidden, processes of its own, and a
//! network of its own that ends at `127.0.0.1`.
//!
//! In: what all views of a run start from, the checkout, and what of it is masked. Out: a
//! [`SandboxView`], steps worked out beforehand, that the first process of the namespaces takes
//! before any foreign code runs. Mounts made here are invisible outside.

pub(crate) mod base;
pub(crate) mod live_layers;
pub(crate) mod stage;
pub(crate) mod steps;

use std::ffi::CString;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::command_env::temporary_in;
use crate::layer::{GitLayer, LayerFolders, MovedGit, SharedFolder};
use crate::linux::git_settings::without_credentials;
use crate::linux::loopback;
use crate::linux::mount_masks::Mask;
use crate::linux::places::PlaceUse;
use crate::linux::view::base::{BaseNamespaces, BaseView, OWN_FOLDERS, write_to};
use crate::linux::view::live_layers::LiveLayersPlan;
use crate::linux::view::stage::ViewStage;
use crate::linux::view::steps::{LayerUse, ViewPlan, ViewStep, c_string};
use crate::reach::NetworkAccess;

/// The folder for temporary files, where every program looks for it.
const TEMPORARY: &str = "/tmp";

/// What is done to get the view.
#[derive(Debug)]
pub(crate) struct SandboxView {
    root: CString,
    steps: Vec<ViewStep>,
    own_folders: Vec<CString>,
    settings: Vec<CString>,
    /// What a layer lies over, and what may be done there.
    layered: Vec<(CString, PlaceUse)>,
    /// Where layers lie, as seen inside.
    overlays: Vec<CString>,
    /// What it starts from.
    base: Arc<BaseNamespaces>,
    /// Which network it is in.
    network: NetworkAccess,
    /// The network itself, where there is one already.
    lent: Option<Arc<OwnedFd>>,
    /// Where the proxy is to be found in it.
    proxy: SocketAddrV4,
    /// The largest number a process may have, as text, where that holds how many there are.
    pids: Option<String>,
}

/// Everything a view is made of.
pub(crate) struct ViewSpec<'a> {
    /// The private folder of commands.
    pub(crate) own: &'a Path,
    /// What they find outside the checkout.
    pub(crate) base: &'a BaseView,
    /// The checkout and git's own folders.
    pub(crate) roots: &'a [PathBuf],
    pub(crate) masks: &'a [Mask],
    /// What lies over the checkout, which is the first of the roots.
    pub(crate) layer: Option<ViewLayer<'a>>,
    /// Which network the command is in.
    pub(crate) network: NetworkAccess,
    /// The network itself, where there is one already.
    pub(crate) lent: Option<Arc<OwnedFd>>,
    /// Where the proxy is to be found in it.
    pub(crate) proxy: SocketAddrV4,
    /// The largest number a process may have, where that holds how many there are.
    pub(crate) pids: Option<u32>,
}

/// A copy-on-write layer over the checkout.
#[derive(Clone)]
pub(crate) struct ViewLayer<'a> {
    /// What it lies over: the checkout, or what stands for it.
    pub(crate) lower: &'a Path,
    /// What another layer holds that is seen through this one.
    pub(crate) between: Option<&'a Path>,
    pub(crate) folders: LayerFolders<'a>,
    pub(crate) usage: LayerUse,
    /// What is seen of the checkout where something stands for it.
    pub(crate) shared: &'a [SharedFolder],
    /// Git's folder where something stands for the checkout it lies in.
    pub(crate) git: Option<&'a MovedGit>,
    /// Git's folders outside the checkout that are written in the layer.
    pub(crate) git_layers: Vec<&'a GitLayer>,
}

impl ViewSpec<'_> {
    /// Whether `/tmp` can be a folder that is kept from command to command: nothing else may lie
    /// in it, since it is open as a whole.
    fn has_kept_temporary(&self) -> bool {
        temporary_in(self.own).is_dir()
            && !self.own.starts_with(TEMPORARY)
            && !self.roots.iter().any(|path| path.starts_with(TEMPORARY))
            && !self.base.inside.iter().any(|(path, _)| path.starts_with(TEMPORARY))
    }
}

impl ViewSpec<'_> {
    /// Lays a mask over what it names; over git's settings, a copy without credentials.
    fn mask(&self, plan: &mut ViewPlan, mask: &Mask) -> io::Result<()> {
        if let Mask::Settings(named) = mask
            && let Some(path) = plan.masked_place(named)?
            && let Ok(text) = without_credentials(named)
        {
            return plan.settings(&self.base.settings(self.own, text)?, &path);
        }
        plan.mask(mask, self.own)
    }
}

impl SandboxView {
    /// Works out the steps.
    ///
    /// # Errors
    /// When something to be masked cannot be looked at, or a path cannot be passed to the kernel.
    pub(crate) fn of(spec: &ViewSpec<'_>) -> io::Result<Self> {
        let mut plan = spec.base.plan();
        for folder in OWN_FOLDERS.iter().map(Path::new) {
            if folder == Path::new(TEMPORARY) && spec.has_kept_temporary() {
                plan.kept(folder, &temporary_in(spec.own))?;
            } else {
                plan.own(folder)?;
            }
        }
        for (place, usage) in &spec.base.inside {
            plan.place(place, *usage)?;
        }
        plan.proc()?;
        let own_folders = plan.empty_own_folders(spec.roots, spec.own)?;
        plan.place(spec.own, PlaceUse::Write)?;
        let layered = spec.layer.as_ref().zip(spec.roots.first());
        if let Some((layer, root)) = layered.filter(|(layer, root)| layer.lower != *root) {
            plan.stand_in(root, layer.lower)?;
        }
        let (checkout, git) = spec.roots.split_at(spec.roots.len().min(1));
        let holds_it = |folder: &&PathBuf| checkout.iter().any(|root| root.starts_with(folder));
        // What is opened in a folder comes after it.
        let (around, beside): (Vec<_>, Vec<_>) = git.iter().partition(holds_it);
        for root in around {
            plan.place(root, PlaceUse::Read)?;
        }
        for root in checkout {
            plan.place(root, PlaceUse::Write)?;
        }
        for root in beside {
            plan.place(root, PlaceUse::Read)?;
        }
        let (mut overlays, mut open) = (Vec::new(), Vec::new());
        let git = spec.layer.as_ref().and_then(|layer| layer.git);
        let is_moved = |own: &GitLayer| git.is_some_and(|git| git.folder == own.folder);
        if let Some((layer, root)) = layered {
            overlays.push(c_string(root)?);
            open.push((c_string(root)?, layer.usage.access()));
            let lower: Vec<PathBuf> =
                layer.between.into_iter().chain([layer.lower]).map(Path::to_owned).collect();
            plan.layer(root, &lower, (layer.folders, layer.usage))?;
            for shared in layer.shared {
                let folders = LayerFolders::over(&shared.upper, &shared.work);
                let at = root.join(shared.path.as_str());
                plan.layer(&at, &shared.lower, (folders, layer.usage))?;
                overlays.push(c_string(&at)?);
            }
            for own in layer.git_layers.iter().filter(|own| !is_moved(own)) {
                open.push(plan.git_layer(own, layer.usage)?);
            }
        }
        let of_git = |mask: &&Mask| git.is_some_and(|git| mask.path().starts_with(&git.folder));
        let (of_git, masks): (Vec<_>, Vec<_>) = spec.masks.iter().partition(of_git);
        for mask in masks {
            spec.mask(&mut plan, mask)?;
        }
        if let Some((git, (layer, _))) = git.zip(layered) {
            plan.moved_git(git)?;
            for own in layer.git_layers.iter().filter(|own| is_moved(own)) {
                open.push(plan.git_layer(own, layer.usage)?);
            }
            let text = git.seen_at.to_str().ok_or(io::ErrorKind::InvalidInput)?;
            let file = spec.base.settings(spec.own, format!("{text}\n"))?;
            plan.settings(&file, &git.named_in)?;
        }
        for mask in of_git {
            spec.mask(&mut plan, mask)?;
        }
        Ok(Self {
            root: plan.root_path().to_owned(),
            steps: plan.steps,
            own_folders,
            settings: plan.settings,
            layered: open,
            overlays,
            base: Arc::clone(&spec.base.namespaces),
            network: spec.network,
            lent: spec.lent.clone(),
            proxy: spec.proxy,
            pids: spec.pids.map(|pids| pids.to_string()),
        })
    }

    /// Brings the calling process to where the view starts from.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn join(&self) -> Result<(), Errno> {
        self.base.join()?;
        let Some(network) = &self.lent else { return Ok(()) };
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
    }

    /// Returns what the namespaces have of their own.
    pub(crate) fn namespaces(&self) -> i32 {
        let network = match self.network {
            NetworkAccess::Off
            | NetworkAccess::Own
            | NetworkAccess::Proxied
            | NetworkAccess::Handed
                if self.lent.is_none() =>
            {
                libc::CLONE_NEWNET
            }
            NetworkAccess::Off
            | NetworkAccess::Own
            | NetworkAccess::Proxied
            | NetworkAccess::Handed
            | NetworkAccess::Open => 0,
        };
        network | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC
    }

    /// Whether a proxy outside is to serve a socket inside.
    pub(crate) fn has_proxy(&self) -> bool {
        self.network == NetworkAccess::Proxied
    }

    /// Returns the network that was there before.
    pub(crate) fn shared_network(&self) -> Option<Arc<OwnedFd>> {
        self.lent.clone()
    }

    /// Whether it makes a network that can be kept for other commands.
    pub(crate) fn makes_network(&self) -> bool {
        self.network == NetworkAccess::Own && self.lent.is_none()
    }

    /// Whether every right inside comes from being in a user namespace, so that none has to be
    /// kept.
    pub(crate) fn has_own_user(&self) -> bool {
        self.base.user.is_some()
    }

    /// Returns what it takes to renew the layers of a program that keeps running; `None` where it
    /// has none.
    pub(crate) fn live_layers(&self) -> Option<LiveLayersPlan> {
        (!self.overlays.is_empty()).then(|| LiveLayersPlan {
            base: Arc::clone(&self.base),
            overlays: self.overlays.clone(),
        })
    }

    /// Returns what is there only in the view, and what may be done there.
    pub(crate) fn late(&self) -> impl Iterator<Item = (CString, PlaceUse)> {
        let own = self.own_folders.iter().map(|folder| (folder.clone(), PlaceUse::Write));
        let read = self.settings.iter().cloned().chain([c"/proc".to_owned()]);
        own.chain(read.map(|path| (path, PlaceUse::Read))).chain(self.layered.iter().cloned())
    }

    /// Takes the view; called by the first process of the namespaces. Takes no memory: it runs
    /// between fork and exec. Returns what is handed out: the socket that a proxy outside is to
    /// serve, or a network that can be kept.
    ///
    /// # Errors
    /// What could not be done, and what the kernel says.
    pub(crate) fn take(&self) -> Result<Option<OwnedFd>, (ViewStage, Errno)> {
        let at = |stage: ViewStage| move |errno: Errno| (stage, errno);
        for step in &self.steps {
            step.take()?;
        }
        // What all views start from is one file system: no command writes to it.
        let closed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        rustix::mount::mount_remount(&self.root, closed, c"").map_err(at(ViewStage::Root))?;
        rustix::process::chdir(&self.root).map_err(at(ViewStage::Pivot))?;
        rustix::process::pivot_root(c".", c".").map_err(at(ViewStage::Pivot))?;
        rustix::mount::unmount(c".", UnmountFlags::DETACH).map_err(at(ViewStage::Pivot))?;
        rustix::process::chdir(c"/").map_err(at(ViewStage::Pivot))?;
        if let Some(pids) = &self.pids {
            write_to(c"/proc/sys/kernel/pid_max", pids.as_bytes()).map_err(at(ViewStage::Pids))?;
        }
        match self.network {
            NetworkAccess::Off | NetworkAccess::Open | NetworkAccess::Handed => Ok(None),
            NetworkAccess::Own if self.lent.is_some() => Ok(None),
            NetworkAccess::Own => loopback::start()
                .and_then(|()| {
                    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                    rustix::fs::openat(CWD, c"/proc/self/ns/net", flags, Mode::empty())
                })
                .map(Some)
                .map_err(at(ViewStage::Network)),
            NetworkAccess::Proxied => self
                .lent
                .as_ref()
                .map_or_else(loopback::start, |_| Ok(()))
                .and_then(|()| loopback::listen(&self.proxy))
                .map(Some)
                .map_err(at(ViewStage::Network)),
        }
    }
}
