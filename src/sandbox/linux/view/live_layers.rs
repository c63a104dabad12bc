//! `LiveLayers`: the layers of a program that goes on running, an MCP server. What is changed below
//! them, or taken out of them, is seen once they are renewed.
//!
//! The kernel remembers what it found in a layer's folders, and a file that is replaced there is
//! not noticed. Renewing a mount makes it forget all that is not in use: a file that the program
//! keeps open, and the folder it is in, stay what they were.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::fs::StatVfsMountFlags;
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::linux::view::base::BaseNamespaces;

/// What is known of the layers before the program runs.
pub(crate) struct LiveLayersPlan {
    pub(super) base: Arc<BaseNamespaces>,
    pub(super) overlays: Vec<CString>,
}

/// The layers of a running program.
pub(crate) struct LiveLayers {
    plan: LiveLayersPlan,
    /// The program's namespace of files.
    mounts: OwnedFd,
    /// The root in it.
    root: OwnedFd,
}

impl LiveLayersPlan {
    /// Returns the layers of the program that handed out its namespace of files and its root.
    pub(crate) fn of(self, mounts: OwnedFd, root: OwnedFd) -> LiveLayers {
        LiveLayers { plan: self, mounts, root }
    }
}

impl LiveLayers {
    /// Renews the layers; the calling process, a child with one thread, is in the program's
    /// namespaces afterwards. Takes no memory: it runs between fork and exec.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn renew(&self) -> Result<(), Errno> {
        if let Some(user) = &self.plan.base.user {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(self.mounts.as_fd(), Some(LinkNameSpaceType::Mount))?;
        rustix::process::fchdir(&self.root)?;
        rustix::process::chroot(c".")?;
        let inert = MountFlags::NOSUID | MountFlags::NODEV;
        self.plan.overlays.iter().try_for_each(|overlay| {
            // The kernel refuses to open one that has no folder to write to.
            let has = rustix::fs::statvfs(overlay)?.f_flag;
            let closed = if has.contains(StatVfsMountFlags::RDONLY) {
                MountFlags::RDONLY
            } else {
                MountFlags::empty()
            };
            rustix::mount::mount_remount(overlay, inert | closed, c"")
        })
    }
}
