//! Starts a command as the leader of a session and a process group of its own.
#![expect(clippy::disallowed_types, reason = "the owner of child processes the model asks for")]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use rustix::io::FdFlags;
use tokio::process::{Child, Command};

use crate::elsewhere::process_tree::ProcessTree;
use crate::elsewhere::restrictions::Restrictions;
use crate::network::proxy::{NetworkProxy, Traffic};
use crate::program::ProgramStart;

/// How much a command lets others go before it, from -20 to 19.
const NICE: i32 = 5;

/// Where a process finds the descriptors it has open.
const OPEN_DESCRIPTORS: &str = "/dev/fd";

/// The first descriptor after input, output and errors.
const FIRST_OTHER: RawFd = 3;

/// A command that was started.
pub(crate) struct StartedProcess {
    /// Its process group; killed when dropped.
    pub(crate) tree: ProcessTree,
    /// The process itself.
    pub(crate) process: CommandProcess,
    /// What is kept for it while it runs: nothing.
    pub(crate) around: Around,
}

/// The process of a command.
pub(crate) struct CommandProcess(Child);

/// What is kept for a command while it runs: nothing, since nothing is around it.
pub(crate) struct Around;

impl CommandProcess {
    /// Waits until it has ended.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }
}

impl Around {
    /// Returns the status of the command, which is that of the child.
    pub(crate) fn status(&mut self, child: ExitStatus) -> ExitStatus {
        child
    }

    /// Returns false: the system counts processes of a user.
    pub(crate) fn counts(&self) -> bool {
        false
    }

    /// Returns false: they are not counted.
    pub(crate) fn has_too_many(&self) -> bool {
        false
    }

    /// Does nothing: a command that would need a proxy is refused before.
    ///
    /// # Errors
    /// None.
    pub(crate) fn serve(&mut self, _proxy: Option<&NetworkProxy>) -> io::Result<()> {
        Ok(())
    }

    /// Returns nothing: no proxy serves it.
    pub(crate) fn traffic(&mut self) -> Option<Traffic> {
        None
    }

    /// Does nothing: it has no network of its own.
    pub(crate) fn keep_network(&mut self) {}

    /// Returns nothing: it has no network of its own.
    pub(crate) fn network(&self) -> Option<Arc<OwnedFd>> {
        None
    }

    /// Does nothing: it has no layer.
    ///
    /// # Errors
    /// None.
    pub(crate) fn renew_layers(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts a program.
///
/// # Errors
/// When the program does not exist or may not be run.
pub(crate) fn start(
    program: ProgramStart<'_>,
    _restrictions: Option<Restrictions>,
) -> io::Result<StartedProcess> {
    let ProgramStart { words, folder, env, streams, .. } = program;
    let (name, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear().envs(env).current_dir(folder);
    let [input, output, errors] = streams.map(Stdio::from);
    command.stdin(input).stdout(output).stderr(errors);
    set_apart(command.as_std_mut(), other_descriptors()?);
    let child = command.spawn()?;
    // The command holds our ends for writing; the pipes would never close.
    drop(command);
    let tree = ProcessTree::of_group(child.id().and_then(|id| i32::try_from(id).ok()));
    Ok(StartedProcess { tree, process: CommandProcess(child), around: Around })
}

/// Returns the descriptors that are open besides input, output and errors: this program may have
/// been given some that hold keys.
fn other_descriptors() -> io::Result<Vec<RawFd>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(OPEN_DESCRIPTORS)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        found.extend(number.filter(|number| *number >= FIRST_OTHER));
    }
    Ok(found)
}

/// Gives the command a session of its own (no terminal to ask at), lets everything else on this
/// machine go before it, and closes `others` when it becomes the program.
#[expect(
    unsafe_code,
    reason = "the child must change itself before it becomes the program; there is no other way"
)]
fn set_apart(command: &mut std::process::Command, others: Vec<RawFd>) {
    let step = move || {
        rustix::process::setsid()?;
        // Others keep their turn without it, too, only later.
        let _ = rustix::process::nice(NICE);
        for other in &others {
            // SAFETY: only a flag is set; a number that is closed by now is refused.
            let other = unsafe { BorrowedFd::borrow_raw(*other) };
            let _ = rustix::io::fcntl_setfd(other, FdFlags::CLOEXEC);
        }
        Ok(())
    };
    // SAFETY: the step makes plain system calls on what was made before; it takes no memory and
    // waits for no lock.
    unsafe {
        command.pre_exec(step);
    }
}
