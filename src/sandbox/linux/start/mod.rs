//! Starts a command as the leader of a session of its own with restrictions around it; where it
//! gets a view, in namespaces of its own (`inside`).
#![expect(clippy::disallowed_types, reason = "the owner of child processes the model asks for")]

pub(super) mod child;
mod inside;
mod pid1;
mod process;
pub(crate) mod setup;

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Signal, setsid};
use tokio::process::Command;

use crate::linux::file_facts::WritablePlaces;
use crate::linux::loopback;
use crate::linux::outputs::ToolOutputs;
use crate::linux::own_network::{LentNetwork, OwnNetworks};
use crate::linux::process_tree::{CommandMark, ProcessCounter, ProcessTree};
use crate::linux::restrictions::{ChildRestrictions, Restrictions};
use crate::linux::seccomp_notify::{Supervisor, SyscallGrants};
use crate::linux::start::child::{before_exec, close_others_at_exec, go_first, restrict};
use crate::linux::start::inside::{InNamespaces, ProgramWords};
use crate::linux::start::process::FirstProcess;
use crate::linux::view::SandboxView;
use crate::linux::view::live_layers::LiveLayers;
use crate::linux::view::steps::c_string;
use crate::network::proxy::{NetworkProxy, RunningProxy, Traffic};
use crate::program::ProgramStart;

pub(crate) use crate::linux::start::process::CommandProcess;

/// A command that was started.
pub(crate) struct StartedProcess {
    /// Every process of it; killed when dropped.
    pub(crate) tree: ProcessTree,
    /// The process itself, or the first one of its namespaces.
    pub(crate) process: CommandProcess,
    /// What is kept for it while it runs.
    pub(crate) around: Around,
}

/// What is kept for a command while it runs.
#[derive(Default)]
pub(crate) struct Around {
    /// Where its status comes in, where it is not that of the child.
    status: Option<UnixStream>,
    /// Counts its processes, where the kernel does not.
    counter: Option<ProcessCounter>,
    /// A socket inside its network that a proxy is to serve.
    listener: Option<OwnedFd>,
    /// Where its calls come in, where this program answers them.
    notify: Option<OwnedFd>,
    /// Where mode, owner and times of files may be changed, where this program changes them.
    writable: WritablePlaces,
    /// Its network, where that can be kept for another command.
    network: Option<LentNetwork>,
    /// Its network, where no other command has it without being told.
    shared_network: Option<Arc<OwnedFd>>,
    /// The layers of what keeps running, where it has some.
    layers: Option<Arc<LiveLayers>>,
    /// The proxy that serves it.
    serving: Option<RunningProxy>,
    /// What answers its calls.
    supervisor: Option<Supervisor>,
    /// Files it needed; removed after it when they were not used.
    outputs: ToolOutputs,
}

impl Around {
    /// Returns the status of the command, from that of the child.
    pub(crate) fn status(&mut self, child: ExitStatus) -> ExitStatus {
        use std::os::unix::process::ExitStatusExt as _;
        let Some(channel) = &mut self.status else { return child };
        let mut raw = [0; 4];
        // Without a status it was killed from outside.
        let raw = channel.read_exact(&mut raw).map_or(libc::SIGKILL, |()| i32::from_ne_bytes(raw));
        ExitStatus::from_raw(raw)
    }

    /// Whether its processes have to be counted from time to time.
    pub(crate) fn counts(&self) -> bool {
        self.counter.is_some()
    }

    /// Counts its processes; returns true when there are too many.
    pub(crate) fn has_too_many(&self) -> bool {
        self.counter.as_ref().is_some_and(ProcessCounter::is_over)
    }

    /// Serves what leads the command to a proxy, and answers its calls. Without a proxy nothing
    /// answers there.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn serve(&mut self, proxy: Option<&NetworkProxy>) -> io::Result<()> {
        self.serving = match (self.listener.take(), self.notify.is_some(), proxy) {
            (Some(listener), _, Some(proxy)) => Some(proxy.on(listener.into())?),
            (None, true, Some(proxy)) => Some(proxy.on_loopback()?),
            (_, _, None) | (None, false, Some(_)) => None,
        };
        // Where calls are answered, nothing has to be looked at from time to time.
        let proxy = self.serving.as_ref().map(RunningProxy::address);
        let supervise = |notify| {
            let writable = std::mem::take(&mut self.writable);
            let counter = self.counter.take();
            Supervisor::on(notify, SyscallGrants { proxy, counter, writable })
        };
        self.supervisor = self.notify.take().map(supervise).transpose()?;
        Ok(())
    }

    /// Ends the proxy; returns what the command asked it for.
    pub(crate) fn traffic(&mut self) -> Option<Traffic> {
        self.serving.take().map(RunningProxy::finish)
    }

    /// Keeps the network for another command. Only to be called once no process is in it any more.
    pub(crate) fn keep_network(&mut self) {
        self.network.take().into_iter().for_each(LentNetwork::keep);
    }

    /// Returns its network, for others that are to reach it; `None` where it has that of this
    /// machine, or none.
    pub(crate) fn network(&self) -> Option<Arc<OwnedFd>> {
        self.shared_network.clone().or_else(|| self.network.as_ref().map(LentNetwork::network))
    }

    /// Shows the program what was changed below its layer, or taken out of it, since it looked.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn renew_layers(&self) -> io::Result<()> {
        self.layers.as_ref().map_or(Ok(()), setup::renew)
    }
}

/// Starts a program.
///
/// # Errors
/// When the program does not exist or may not be run, or the restrictions cannot be put on it.
pub(crate) fn start(
    program: ProgramStart<'_>,
    restrictions: Option<Restrictions>,
) -> io::Result<StartedProcess> {
    let mark = CommandMark::fresh();
    ProcessTree::adopt_orphans();
    let (mut around, mut notify_in) = (Around::default(), None);
    let process = match restrictions {
        Some(own) => {
            (around.outputs, around.writable) = (own.outputs, own.writable);
            around.counter = own.processes.map(|limit| ProcessCounter::of(mark, limit));
            let pair = if own.child.has_calls() { Some(UnixStream::pair()?) } else { None };
            let (ours, notify) = pair.unzip();
            notify_in = ours;
            let plan = (own.child, notify);
            match own.view {
                Some(view) => {
                    around.network = own.network;
                    start_in(program, mark, (view, own.networks), plan, &mut around)?
                }
                None => start_outside(program, mark, Some(plan))?,
            }
        }
        None => start_outside(program, mark, None)?,
    };
    let tree = ProcessTree::of(process.id(), mark);
    // Whatever it was that came over the channel, the command is killed when this fails.
    around.notify = notify_in.as_ref().map(loopback::receive).transpose()?;
    Ok(StartedProcess { tree, process, around })
}

/// What a command puts on itself, and where it hands out the descriptor its calls come in on.
type OwnRestrictions = (ChildRestrictions, Option<UnixStream>);

/// Starts a command in namespaces of its own.
fn start_in(
    program: ProgramStart<'_>,
    mark: CommandMark,
    (view, networks): (SandboxView, OwnNetworks),
    (restrictions, notify): OwnRestrictions,
    around: &mut Around,
) -> io::Result<CommandProcess> {
    let ProgramStart { words, folder, env, streams, goes_on } = program;
    let (status, theirs) = UnixStream::pair()?;
    let has_proxy = view.has_proxy();
    let networks = Some(networks).filter(|_| view.makes_network());
    let layers = view.live_layers().filter(|_| goes_on);
    let shared = view.shared_network();
    let shares_network = goes_on && has_proxy && shared.is_none();
    let first = inside::start(InNamespaces {
        view,
        status: theirs.into(),
        shares_files: layers.is_some(),
        shares_network,
        folder: c_string(folder)?,
        restrictions,
        notify,
        mark,
        streams,
        program: ProgramWords::of(words, &env)?,
    })?;
    // In the order in which they are handed out.
    let receive = || loopback::receive(&status);
    let received = || {
        let listener = has_proxy.then(receive).transpose()?;
        let network = networks.map(|networks| Ok::<_, io::Error>(networks.take_up(receive()?)));
        let network = network.transpose()?;
        let layers = layers.map(|plan| Ok::<_, io::Error>(plan.of(receive()?, receive()?)));
        let layers = layers.transpose()?;
        let shared = match shares_network {
            true => Some(Arc::new(receive()?)),
            false => shared,
        };
        Ok::<_, io::Error>((FirstProcess::of(first)?, listener, (network, shared), layers))
    };
    match received() {
        Ok((process, listener, (network, shared), layers)) => {
            around.listener = listener;
            around.network = network.or(around.network.take());
            around.shared_network = shared;
            around.layers = layers.map(Arc::new);
            around.status = Some(status);
            Ok(CommandProcess::First(process))
        }
        Err(error) => {
            // Nobody else knows of it yet.
            inside::kill(first);
            Err(error)
        }
    }
}

/// Starts a command in the namespaces of this program.
fn start_outside(
    program: ProgramStart<'_>,
    mark: CommandMark,
    restrictions: Option<OwnRestrictions>,
) -> io::Result<CommandProcess> {
    let ProgramStart { words, folder, env, streams, .. } = program;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(env).current_dir(folder);
    let [input, output, errors] = streams.map(Stdio::from);
    command.stdin(input).stdout(output).stderr(errors);
    match restrictions {
        Some((mut own, notify)) => before_exec(command.as_std_mut(), move || {
            restrict_outside(mark, Some(&mut own), notify.as_ref())
        }),
        None => before_exec(command.as_std_mut(), move || restrict_outside(mark, None, None)),
    }
    let child = command.spawn()?;
    // The command holds our ends for writing; the pipes would never close.
    drop(command);
    Ok(CommandProcess::Itself(child))
}

/// What the child does before it becomes the program. It gets a session of its own (no terminal to
/// ask at), death when this program dies, the mark by which its descendants are found, and its
/// restrictions. Where its calls are to be answered, it also gets the descriptor they come in on.
fn restrict_outside(
    mark: CommandMark,
    restrictions: Option<&mut ChildRestrictions>,
    notify: Option<&UnixStream>,
) -> io::Result<()> {
    setsid()?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    mark.put_on_this_process();
    go_first()?;
    restrictions.map_or(Ok(()), |own| restrict(own, notify))?;
    close_others_at_exec()
}
