//! How much of the machine a command may take.
//!
//! In: how long it may run. Out: limits for the kernel to hold, and the number of processes where
//! it does not count them. Room on the disk is not among them: the size of
//! one file is limited, the number of files is not.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit};

/// Processor time of one process, as a multiple of the command's wall time.
const CPU_FACTOR: u64 = 64;

/// The least that the kernel takes as the largest number of a process.
const LEAST_PIDS: u32 = 301;

/// Limits of one command, or of each process of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceLimits {
    /// Processes of this user, those outside included, above which a command cannot start another
    /// one; of an administrator, those of the command.
    processes: u32,
    /// Memory of one process of its own, in bytes.
    memory_bytes: u64,
    /// Largest file a command writes, in bytes.
    file_bytes: u64,
    /// Files, sockets and pipes a process has open at once.
    descriptors: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self { processes: 4096, memory_bytes: 32 << 30, file_bytes: 8 << 30, descriptors: 65_536 }
    }
}

impl ResourceLimits {
    /// Returns what the kernel holds for every process.
    pub(crate) fn list(&self, timeout: Duration) -> Vec<(Resource, u64)> {
        vec![
            (Resource::Core, 0),
            (Resource::Nproc, self.processes.into()),
            (Resource::Data, self.memory_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Nofile, self.descriptors),
            (Resource::Cpu, timeout.as_secs().saturating_mul(CPU_FACTOR).max(1)),
        ]
    }

    /// Returns how many processes there may be where the kernel does not count those of the user:
    /// an administrator's.
    pub(crate) fn processes(&self) -> usize {
        usize::try_from(self.processes).unwrap_or(usize::MAX)
    }

    /// Returns the largest number that a process of a command's namespaces may have.
    pub(crate) fn pids(&self) -> u32 {
        self.processes.max(LEAST_PIDS)
    }

    /// Sets what a test can reach.
    #[cfg(test)]
    pub(crate) fn set(&mut self, processes: u32, memory_bytes: u64) {
        (self.processes, self.memory_bytes) = (processes, memory_bytes);
    }
}

/// Lowers a limit of the calling process; one that is lower already stays.
///
/// # Errors
/// What the kernel says.
pub(crate) fn lower(resource: Resource, limit: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let least = |value: Option<u64>| Some(value.map_or(limit, |value| value.min(limit)));
    Ok(rustix::process::setrlimit(
        resource,
        Rlimit { current: least(now.current), maximum: least(now.maximum) },
    )?)
}
