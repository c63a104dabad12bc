//! `OwnProcess`: this program once more, as a process of its own beside it, with the same rights.
//!
//! In: arguments of its own command line, in which nothing of others is a flag. Out: what it
//! prints. It is asked to end, and waited for, when nobody wants it any more.
#![expect(clippy::disallowed_types, reason = "the owner of child processes")]

use std::io;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// See the module.
pub struct OwnProcess(Child);

impl OwnProcess {
    /// Starts it without input; returns what it prints, too. Its standard error is this program's.
    ///
    /// # Errors
    /// When the system starts no further process.
    pub fn start(arguments: &[String], folder: &Path) -> io::Result<(Self, Option<ChildStdout>)> {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.args(arguments).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take();
        Ok((Self(child), output))
    }

    /// Asks it to end.
    pub fn ask_to_end(&self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        // It was not waited for, so that the number is still its own.
        let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
    }

    /// Waits for its end; returns true when that was a good one.
    pub fn wait(mut self) -> bool {
        self.0.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.ask_to_end();
            let _ = self.0.wait();
        }
    }
}
