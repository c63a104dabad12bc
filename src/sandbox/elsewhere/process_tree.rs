//! `ProcessTree`: the process group of a command, to end it. A process that made a session or a
//! group of its own is not found again.

use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// Rounds in which the end of the first process is waited for.
const ROUNDS_LIMIT: usize = 100;

/// Time between two rounds.
const ROUND_PAUSE: Duration = Duration::from_millis(1);

/// The process group of one command. Dropping it kills what is left of it.
#[derive(Debug)]
pub struct ProcessTree {
    leader: Option<Pid>,
    ended: bool,
}

impl ProcessTree {
    /// Takes care of a process and its group.
    pub fn of_group(leader: Option<i32>) -> Self {
        Self { leader: leader.and_then(Pid::from_raw), ended: false }
    }

    /// Asks the command's group to end by itself.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills every process of the group.
    pub fn kill(&mut self) {
        self.ended = true;
        self.signal(Signal::KILL);
        for _ in 0..ROUNDS_LIMIT {
            if self.leader_is_gone() {
                return;
            }
            std::thread::sleep(ROUND_PAUSE);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // Fails only when no process of the group is left.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    /// Returns true once the first process has ended, whether or not its owner knows.
    fn leader_is_gone(&self) -> bool {
        let Some(leader) = self.leader else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(rustix::process::waitid(WaitId::Pid(leader), options), Ok(None))
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
        }
    }
}
