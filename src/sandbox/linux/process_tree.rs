//! `ProcessTree`: every process a command started, to end them all.
//!
//! Killing the process group leaves those that made a session of their own. So this program adopts
//! orphaned descendants, and every command carries a `CommandMark` that its descendants inherit.
//! They cannot take it off by changing session or environment: it is a limit on the time of
//! real-time processes, far too large ever to matter, whose value is the command's number.
#![expect(
    clippy::disallowed_methods,
    reason = "the kernel's tables of processes are read here, and not too often"
)]

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions};

/// Rounds in which survivors are looked for and killed; each kill may orphan the next generation.
const ROUNDS_LIMIT: usize = 100;

/// Time between two rounds.
const ROUND_PAUSE: Duration = Duration::from_millis(1);

/// Time between two counts of a command that has no room left.
const RECOUNT_PAUSE: Duration = Duration::from_millis(20);

/// The smallest limit used as a mark, in microseconds: 34 years.
const MARK_BASE_US: u64 = 1 << 50;

/// The number of a command, carried by all its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandMark(u64);

impl CommandMark {
    /// Returns a number no other running command has.
    pub(crate) fn fresh() -> Self {
        let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
        Self(MARK_BASE_US | (random & (MARK_BASE_US - 1)))
    }

    /// Marks the calling process and all that descend from it. A kernel that refuses leaves the
    /// group as the only hold.
    pub(crate) fn put_on_this_process(self) {
        let limit = Rlimit { current: Some(self.0), maximum: Some(self.0) };
        let _ = rustix::process::setrlimit(Resource::Rttime, limit);
    }

    fn is_on(self, process: Pid) -> bool {
        let limits = fs::read_to_string(format!("/proc/{}/limits", process.as_raw_nonzero()))
            .unwrap_or_default();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()) == Some(self.0)
    }
}

/// Every process of one command. Dropping it kills them.
#[derive(Debug)]
pub struct ProcessTree {
    leader: Option<Pid>,
    mark: CommandMark,
    ended: bool,
}

impl ProcessTree {
    /// Makes this program the parent of descendants whose own parent ends. A kernel that refuses
    /// gives them to `init`.
    pub(crate) fn adopt_orphans() {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }

    /// Takes care of a process and its group.
    pub fn of_group(leader: Option<i32>) -> Self {
        Self::of(leader, CommandMark::fresh())
    }

    /// Takes care of the processes of a command by its first process.
    pub(crate) fn of(leader: Option<i32>, mark: CommandMark) -> Self {
        Self { leader: leader.and_then(Pid::from_raw), mark, ended: false }
    }

    /// Asks the command's group to end by itself. The first process of namespaces does not heed
    /// the signal itself.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Kills every process of the command.
    pub fn kill(&mut self) {
        self.ended = true;
        self.signal(Signal::KILL);
        for _ in 0..ROUNDS_LIMIT {
            // Once the leader is gone, whatever is left has an ancestor among our own children.
            let leader_is_gone = self.leader_is_gone();
            let survivors = self.adopted();
            if leader_is_gone && survivors.is_empty() {
                return;
            }
            for survivor in survivors {
                // Both fail only when it is gone.
                let _ = rustix::process::kill_process(survivor, Signal::KILL);
                let _ = rustix::process::waitpid(Some(survivor), WaitOptions::NOHANG);
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

    /// Returns the command's processes that were orphaned. The first process is not among them: its
    /// owner reaps it.
    fn adopted(&self) -> Vec<Pid> {
        children()
            .into_iter()
            .filter(|child| Some(*child) != self.leader && self.mark.is_on(*child))
            .collect()
    }
}

/// Counts the processes of a command, where the kernel does not.
#[derive(Clone, Debug)]
pub(crate) struct ProcessCounter {
    mark: CommandMark,
    limit: usize,
    /// New ones that are let in before all are counted again.
    room: usize,
    counted: Option<Instant>,
    /// Processes on this machine below which the command cannot have too many.
    harmless: usize,
}

impl ProcessCounter {
    /// Lets the command with this mark have up to this many.
    pub(crate) fn of(mark: CommandMark, limit: usize) -> Self {
        Self {
            mark,
            limit,
            room: 0,
            counted: None,
            harmless: processes().count().saturating_add(limit),
        }
    }

    /// Lets one more in, or not. Those let in that have not begun yet are not seen by the next
    /// count: there may be as many again for a moment, and none after these.
    pub(crate) fn admits(&mut self) -> bool {
        if self.room == 0 && self.counted.is_none_or(|counted| counted.elapsed() > RECOUNT_PAUSE) {
            self.room = self.limit.saturating_sub(
                processes().filter(|process| self.mark.is_on(*process)).map(threads_of).sum(),
            );
            self.counted = Some(Instant::now());
        }
        let admitted = self.room > 0;
        self.room = self.room.saturating_sub(1);
        admitted
    }

    /// Returns true when it has more. Only when there are many on this machine is it looked at
    /// whose they are.
    pub(crate) fn is_over(&self) -> bool {
        processes().count() > self.harmless
            && processes().filter(|process| self.mark.is_on(*process)).count() > self.limit
    }
}

/// Returns how many threads a process has; one when that cannot be read.
fn threads_of(process: Pid) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()))
        .unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("Threads:")?.trim().parse().ok()).unwrap_or(1)
}

/// Returns every process on this machine.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?))
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
        }
    }
}

/// Returns the processes whose parent is this program.
fn children() -> Vec<Pid> {
    let mut lists =
        threads().filter_map(|thread| fs::read_to_string(thread.join("children")).ok()).peekable();
    if lists.peek().is_none() {
        return children_by_search();
    }
    lists.flat_map(|list| list.split_whitespace().filter_map(process).collect::<Vec<_>>()).collect()
}

fn threads() -> impl Iterator<Item = std::path::PathBuf> {
    fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|thread| thread.path())
}

/// The same for kernels that keep no list of children.
fn children_by_search() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().to_string();
    processes().filter(|candidate| parent_of(*candidate).as_deref() == Some(own.as_str())).collect()
}

fn parent_of(process: Pid) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // The name in parentheses may hold anything; state and parent follow the last one.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1).map(str::to_owned)
}

fn process(digits: &str) -> Option<Pid> {
    digits.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{CommandMark, children, children_by_search, parent_of};

    #[test]
    fn marks_differ_and_are_far_from_any_real_limit() {
        let (first, second) = (CommandMark::fresh(), CommandMark::fresh());
        assert_ne!(first, second);
        assert!(first.0 >= super::MARK_BASE_US);
        assert!(!first.is_on(rustix::process::getpid()));
    }

    #[test]
    #[expect(clippy::disallowed_types, reason = "a child that needs no sandbox")]
    fn both_ways_find_the_same_children() {
        let mut cat = std::process::Command::new("cat");
        let mut child = cat.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        assert!(children().contains(&pid) && children_by_search().contains(&pid));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(!children().contains(&pid) && !children_by_search().contains(&pid));
        let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().to_string());
        assert_eq!(parent_of(rustix::process::getpid()), parent);
    }
}
