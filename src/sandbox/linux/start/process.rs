//! `CommandProcess`: the process of a command that this program waits for.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, PidfdFlags, WaitOptions};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::Child;

/// See the module.
pub(crate) enum CommandProcess {
    /// The command itself.
    Itself(Child),
    /// The first process of its namespaces.
    First(FirstProcess),
}

/// The first process of a command's namespaces, a child of this program. It is killed by whoever
/// owns the processes of the command.
pub(crate) struct FirstProcess {
    process: Pid,
    watch: AsyncFd<OwnedFd>,
    ended: Option<ExitStatus>,
}

impl CommandProcess {
    /// Returns its number.
    pub(super) fn id(&self) -> Option<i32> {
        match self {
            Self::Itself(child) => child.id().and_then(|id| i32::try_from(id).ok()),
            Self::First(first) => Some(first.process.as_raw_nonzero().get()),
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Itself(child) => child.wait().await,
            Self::First(first) => first.wait().await,
        }
    }
}

impl FirstProcess {
    /// Watches a child. Has to be called inside a runtime.
    ///
    /// # Errors
    /// When it cannot be watched.
    #[expect(
        unsafe_code,
        reason = "the runtime asks for the word that the descriptor stays open while it waits on it"
    )]
    pub(super) fn of(process: Pid) -> io::Result<Self> {
        let watch = rustix::process::pidfd_open(process, PidfdFlags::empty())?;
        // SAFETY: the descriptor is owned and stays the same until it is dropped, after its
        // registration.
        let watch = unsafe { AsyncFd::register_with_interest(watch, Interest::READABLE)? };
        Ok(Self { process, watch, ended: None })
    }

    async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(ended) = self.reaped()? {
                return Ok(ended);
            }
            self.watch.readable().await?.clear_ready();
        }
    }

    /// Returns how it ended, if it has.
    fn reaped(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            let ended = rustix::process::waitpid(Some(self.process), WaitOptions::NOHANG)?;
            self.ended = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
        }
        Ok(self.ended)
    }
}

impl Drop for FirstProcess {
    fn drop(&mut self) {
        // It was killed before; nobody is to be told.
        let _ = self.reaped();
    }
}
