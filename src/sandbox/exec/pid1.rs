//! The two supervisors of a command in namespaces of its own: one waits outside them, one is PID 1
//! inside.
//!
//! When PID 1 ends, the kernel kills every other one there: nothing that the
//! command started outlives it, in whatever session or group it hides. Both only make system calls
//! and take no memory; whoever calls them ends the process afterwards.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

/// Waits outside until the first process inside has ended. On every byte that comes in, all inside
/// are asked to end; when the input closes, whoever started the command is gone and they are
/// killed.
pub(super) fn wait_outside(first: Pid) {
    let Ok(watch) = rustix::process::pidfd_open(first, PidfdFlags::empty()) else {
        return kill_and_reap(first);
    };
    let input = rustix::stdio::stdin();
    loop {
        let mut ready = [PollFd::new(&watch, PollFlags::IN), PollFd::new(&input, PollFlags::IN)];
        if !matches!(poll(&mut ready, None), Ok(_) | Err(Errno::INTR)) {
            return kill_and_reap(first);
        }
        let [ended, asked] = ready.map(|one| !one.revents().is_empty());
        if ended {
            return reap(first);
        }
        if asked {
            match rustix::io::read(input, &mut [0_u8]) {
                // The first process has a group of its own, which the command is in; it does not
                // heed the signal itself.
                Ok(1) => drop(rustix::process::kill_process_group(first, Signal::TERM)),
                Ok(_) | Err(_) => return kill_and_reap(first),
            }
        }
    }
}

fn kill_and_reap(first: Pid) {
    // Fails only when it is gone.
    let _ = rustix::process::kill_process(first, Signal::KILL);
    reap(first);
}

fn reap(process: Pid) {
    while matches!(rustix::process::waitpid(Some(process), WaitOptions::empty()), Err(Errno::INTR))
    {
    }
}

/// Waits inside, as PID 1, until the command itself has ended and writes its status to what is put
/// in the place of the input; reaps what lost its parent meanwhile.
pub(super) fn wait_inside(program: Pid) {
    let out = rustix::stdio::stdin();
    loop {
        match rustix::process::waitpid(None, WaitOptions::empty()) {
            Ok(Some((process, status))) if process == program => {
                // The write fails when the parent is gone, and then its result is not needed.
                let _ = rustix::io::write(out, &status.as_raw().to_ne_bytes());
                return;
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
