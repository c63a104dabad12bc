//! How a process that only computes gives everything else up: by limits and by seccomp, which takes
//! a kernel with or without namespaces.
#![expect(clippy::disallowed_types, reason = "a part of how `exec::confined` starts its own")]

use std::collections::BTreeMap;
use std::io;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Signal};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use crate::linux::start::child::{before_exec, close_others_at_exec};
use crate::linux::{limits, syscalls};

/// System calls that it keeps: those on its memory, its pipes and its end.
const KEPT: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Lets it end with this program and inherit nothing of it.
///
/// # Errors
/// None: another system cannot confine it.
#[expect(clippy::unnecessary_wraps, reason = "another system refuses here")]
pub(crate) fn prepare(command: &mut Command) -> io::Result<()> {
    before_exec(command, || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        close_others_at_exec()
    });
    Ok(())
}

/// Gives up, for the rest of this process, everything but its memory and its pipes. For a process
/// with one thread.
///
/// # Errors
/// When the kernel refuses: then nothing hostile may be looked at.
pub(crate) fn give_up(memory_bytes: u64, time: Duration) -> io::Result<()> {
    for (resource, limit) in [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, 3),
        (Resource::As, memory_bytes),
        (Resource::Cpu, time.as_secs()),
    ] {
        limits::lower(resource, limit)?;
    }
    rustix::thread::set_no_new_privs(true)?;
    syscalls::load(&vec![filter().map_err(io::Error::other)?])
}

fn filter() -> Result<BpfProgram, seccompiler::Error> {
    let rules: BTreeMap<i64, _> = KEPT.iter().map(|number| (*number, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let target: TargetArch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, refused, SeccompAction::Allow, target)?.try_into()?)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test tries what is refused")]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, UdpSocket};
    use std::process::Command;
    use std::time::Duration;

    use super::give_up;

    /// What the test below starts: the same program, which then has given everything up.
    #[test]
    fn inside() {
        if std::env::args().all(|argument| argument != "--test-threads=3") {
            return;
        }
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let own = rustix::process::getpid();
        give_up(768 << 20, Duration::from_secs(20)).unwrap();
        let mut done = Vec::new();
        let mut tried = |what: &str, succeeded: bool| {
            if succeeded {
                done.push(what.to_owned());
            }
        };
        tried("read", std::fs::read("/etc/hostname").is_ok());
        tried("list", std::fs::read_dir("/").is_ok());
        tried("own", std::fs::read("/proc/self/environ").is_ok());
        tried("write", std::fs::write("/tmp/confined", "x").is_ok());
        let removed = std::fs::remove_file("/tmp/none").unwrap_err();
        tried("look", removed.raw_os_error() != Some(libc::EPERM));
        tried("listen", TcpListener::bind("127.0.0.1:0").is_ok());
        tried("send", UdpSocket::bind("127.0.0.1:0").is_ok());
        tried("start", Command::new("/bin/true").spawn().is_ok());
        tried("thread", std::thread::Builder::new().spawn(|| ()).is_ok());
        let signal = rustix::process::Signal::URG;
        tried("signal", rustix::process::kill_process(own, signal).is_ok());
        tried("memory", Vec::<u8>::new().try_reserve_exact(1 << 30).is_ok());
        assert!(Vec::<u8>::new().try_reserve_exact(64 << 20).is_ok(), "it has memory");
        writer.write_all(b"x").unwrap();
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(done, Vec::<String>::new());
    }

    #[test]
    fn a_process_that_gave_everything_up_reaches_nothing() {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["linux::confined::tests::inside", "--exact", "--test-threads=3", "--nocapture"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("1 passed"), "{text}\n{errors}");
    }
}
