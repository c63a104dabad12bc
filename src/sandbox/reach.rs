//! How far a command reaches: in the network, and in its checkout.
//!
//! In: what whoever starts a command found out about it. Out: the questions that masks, rules and
//! the view ask of it. It grants nothing by itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::layer::{GitLayer, LayerFolders, MovedGit, SharedFolder, StandIn};
use crate::shared_network::SharedNetwork;
use locum_base::path::RepoPath;
use locum_policy::Policy;
use locum_policy::paths::Protection;

/// How much of the network commands reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkAccess {
    /// No network at all.
    Off,
    /// A network of their own, which ends at `127.0.0.1`.
    Own,
    /// The same with one way out: a proxy of this program.
    Proxied,
    /// Nothing but the proxy: this program hands out sockets that lead there.
    Handed,
    /// Every host, unchecked.
    Open,
}

/// How far a command reaches in a checkout.
#[derive(Clone, Copy)]
pub struct CommandReach<'a> {
    /// Root of the checkout.
    pub root: &'a Path,
    /// Git's own folders of it: they may be read.
    pub git: &'a [PathBuf],
    /// Whether git's folder in the root is hidden: git's objects hold files that this command may
    /// not see. Only where there is a view of its own.
    pub git_hidden: bool,
    /// Whether what it writes to git's folder in the root stays in its layer: an index, a stash, a
    /// branch. Without it, and without a layer, that folder is only read.
    pub git_writable: bool,
    /// What it may write.
    pub writes: WriteAccess,
    /// Whether git's settings, and the git folders of submodules and worktrees, may be read even
    /// when they hold credentials. Only for git itself. Where a copy can lie over the settings,
    /// nothing sees the credentials in them.
    pub git_settings: bool,
    /// Whether it may read files of the checkout at all.
    pub reads_files: bool,
    /// Whether the policy lets a path be read that may hold credentials or that an ignore file
    /// names.
    pub visible: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// Whose ignore files and rules hide paths; `None` where there are none.
    pub policy: Option<&'a Policy>,
    /// Where what it writes goes instead of the checkout; `None` where it writes to the checkout
    /// itself.
    pub layer: Option<LayerFolders<'a>>,
    /// What another layer over the same checkout holds, seen through its own.
    pub seen_below: Option<&'a Path>,
    /// The network of commands that it is to reach, where they have one of their own.
    pub network: Option<&'a SharedNetwork>,
    /// The checkout that this one stands for, where commands have a layer.
    pub stands_for: Option<StandIn<'a>>,
}

impl<'a> CommandReach<'a> {
    /// Reads and writes nothing of a checkout, and has no network of its own: what a program of
    /// Locum's starts with.
    pub fn nothing(root: &'a Path) -> Self {
        Self {
            root,
            git: &[],
            git_hidden: false,
            git_writable: false,
            writes: WriteAccess::Nothing,
            git_settings: false,
            reads_files: false,
            visible: &|_| false,
            policy: None,
            layer: None,
            seen_below: None,
            network: None,
            stands_for: None,
        }
    }

    /// Reads a whole checkout and writes to it directly. For tests: a run hides what its policy
    /// hides.
    pub fn open(root: &'a Path) -> Self {
        Self {
            writes: WriteAccess::Entries,
            reads_files: true,
            visible: &|_| true,
            ..Self::nothing(root)
        }
    }
}

/// What a command may write in a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAccess {
    /// No file of the checkout.
    Nothing,
    /// What is not protected. Nothing new can be made directly in the root, besides what build
    /// tools are known to make there.
    Entries,
    /// The same, and entries of the root that it names. Only for commands whose every effect is
    /// known, and only where the root cannot be open with masks over what is in it.
    Root,
}

impl CommandReach<'_> {
    /// Whether a path is hidden from commands: an ignore file names it, a rule denies reading it,
    /// or it may hold credentials, and the policy does not let it be read.
    pub fn hides(&self, protection: &Protection, path: &RepoPath) -> bool {
        self.is_sensitive(protection, path) && !(self.visible)(path)
    }

    pub(crate) fn is_sensitive(&self, protection: &Protection, path: &RepoPath) -> bool {
        let refused = |policy: &Policy| policy.hides(path) || policy.may_deny_reading(path);
        protection.of_read(path).is_some() || self.policy.is_some_and(refused)
    }

    /// Returns the root as commands find it.
    pub(crate) fn seen_root(&self) -> &Path {
        self.layer.and(self.stands_for).map_or(self.root, |other| other.root)
    }

    /// Returns a path in the checkout as commands find it.
    pub(crate) fn seen(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.root) {
            Ok(below) if below.as_os_str().is_empty() => self.seen_root().to_owned(),
            Ok(below) => self.seen_root().join(below),
            Err(_) => path.to_owned(),
        }
    }

    /// Returns the folders of another checkout that are seen in this one.
    pub(crate) fn shared(&self) -> &[SharedFolder] {
        self.layer.and(self.stands_for).map_or(&[], |other| other.shared)
    }

    /// Whether one of git's folders is written in the layer.
    pub(crate) fn is_in_layer(&self, git: &Path) -> bool {
        self.is_own_git(git) || self.git_layers().any(|layer| git.starts_with(&layer.folder))
    }

    /// Whether a path is git's folder in the root, and written in the layer.
    pub(crate) fn is_own_git(&self, path: &Path) -> bool {
        self.git_writable && self.layer.is_some() && path == self.root.join(".git")
    }

    /// Returns git's folders outside the checkout that are written in the layer.
    pub(crate) fn git_layers(&self) -> impl Iterator<Item = &GitLayer> {
        let layer = self.layer.filter(|_| self.git_writable && !self.git_hidden);
        layer.into_iter().flat_map(|layer| layer.git)
    }

    /// Returns git's folder where it is not seen at its own path.
    pub(crate) fn moved_git(&self) -> Option<&MovedGit> {
        let other = self.layer.and(self.stands_for)?;
        other.common.filter(|_| !self.git_hidden)
    }

    /// Returns the absolute path of an entry of the checkout.
    pub(crate) fn at(&self, path: &RepoPath) -> PathBuf {
        if path.is_root() { self.root.to_owned() } else { self.root.join(path.as_str()) }
    }
}

/// Whether `.git` is there and can be covered, so that nothing else can be put in its place.
pub(crate) fn git_stays(root: &Path) -> bool {
    fs::symlink_metadata(root.join(".git")).is_ok_and(|facts| facts.is_dir() || facts.is_file())
}
