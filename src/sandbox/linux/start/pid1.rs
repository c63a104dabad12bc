//! PID 1 of a command's namespaces, once the command runs.
//!
//! When PID 1 ends, the kernel kills every other process there: nothing that the command started
//! outlives it, in whatever session or group it hides. PID 1 only makes system calls and takes no
//! memory; whoever calls this ends the process afterwards.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

/// Waits inside, as PID 1, until the command itself has ended and writes its status to what is put
/// in the place of the input; reaps what lost its parent meanwhile.
pub(super) fn wait_inside(program: Pid) {
    let out = rustix::stdio::stdin();
    loop {
        // Whatever its process group: `timeout` and `setsid` make one of their own.
        match rustix::process::wait(WaitOptions::empty()) {
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
