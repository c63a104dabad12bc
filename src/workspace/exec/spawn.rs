//! Starts a command as the leader of a session of its own, with one pipe for both streams.
//!
//! The one file of the crate with `unsafe`: what a child does between fork and exec can only be said through `pre_exec`.
#![expect(clippy::disallowed_types, reason = "the owner of child processes the model asks for")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Signal, setsid};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::policy::command::Execution;
use crate::workspace::exec::ExecError;
use crate::workspace::exec::tree::{Mark, Tree};
use crate::workspace::sandbox::outputs::Outputs;
use crate::workspace::sandbox::{Fence, Lock};

/// The shell that runs rendered scripts.
const SHELL: &str = "/bin/sh";

/// A command that runs.
pub(super) struct Started {
    /// Its program, for messages.
    pub(super) program: String,
    /// Both streams; `None` once they ended.
    pub(super) output: Option<pipe::Receiver>,
    /// Every process of it; killed when dropped.
    pub(super) tree: Tree,
    /// The process itself.
    pub(super) child: Child,
    /// Files it needed; removed after it when they were not used.
    _outputs: Option<Outputs>,
}

/// Starts a command.
///
/// # Errors
/// When the folder is not there, the program is not or may not be run, or the fence cannot be put around it.
pub(super) fn start(
    execution: &Execution,
    folder: &Path,
    env: &BTreeMap<String, String>,
    fence: Option<Fence>,
) -> Result<Started, ExecError> {
    if !folder.is_dir() {
        return Err(ExecError::NoFolder(folder.to_owned()));
    }
    let words = match execution {
        Execution::Words(words) => words.clone(),
        Execution::Shell(text) => [SHELL, "-c", text].map(str::to_owned).to_vec(),
    };
    let (program, arguments) = words.split_first().ok_or(ExecError::NotUnderstood)?;
    let mark = Mark::fresh();
    spawn(program, arguments, folder, env, mark, fence).map_err(|source| ExecError::Start { program: program.clone(), source })
}

fn spawn(
    program: &str,
    arguments: &[String],
    folder: &Path,
    env: &BTreeMap<String, String>,
    mark: Mark,
    fence: Option<Fence>,
) -> io::Result<Started> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().envs(env);
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let (lock, outputs) = match fence {
        Some(fence) => {
            command.envs(fence.variables);
            (Some(fence.lock), Some(fence.outputs))
        }
        None => (None, None),
    };
    before_exec(&mut command, mark, lock);
    Tree::adopt_orphans();
    let child = command.spawn()?;
    // The command holds our ends for writing; the pipe would never close.
    drop(command);
    let tree = Tree::of(child.id().and_then(|id| i32::try_from(id).ok()), mark);
    let output = Some(pipe::Receiver::from_owned_fd(reader.into())?);
    Ok(Started { program: program.to_owned(), output, tree, child, _outputs: outputs })
}

/// What the child does before it becomes the program: a session of its own (no terminal to ask at), death when this program
/// dies, the mark by which its descendants are found, and the sandbox's lock.
#[expect(unsafe_code, reason = "the child must change itself before it becomes the program; there is no other door")]
fn before_exec(command: &mut Command, mark: Mark, mut lock: Option<Lock>) {
    // SAFETY: between fork and exec only async-signal-safe things are done: plain system calls on what was made
    // before, no memory taken, no lock waited for.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            mark.put_on_this_process();
            lock.as_mut().map_or(Ok(()), Lock::close)
        });
    }
}
