//! Starts a command as the leader of a session of its own, with one pipe for both streams; where it
//! gets a view, in namespaces of its own (`inside`).
#![expect(clippy::disallowed_types, reason = "the owner of child processes the model asks for")]

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Signal, setsid};
use tokio::net::unix::pipe;
use tokio::process::Command;

use crate::linux::file_facts::WritablePlaces;
use crate::linux::loopback;
use crate::linux::outputs::ToolOutputs;
use crate::linux::own_network::{LentNetwork, OwnNetworks};
use crate::linux::process_tree::{CommandMark, ProcessCounter, ProcessTree};
use crate::linux::restrictions::{ChildRestrictions, Restrictions};
use crate::linux::start::child::{before_exec, close_others_at_exec, go_first, restrict};
use crate::linux::start::inside::{self, InNamespaces, ProgramWords};
use crate::linux::start::process::{CommandProcess, FirstProcess};
use crate::linux::view::SandboxView;
use crate::linux::view::live_layers::LiveLayers;
use crate::linux::view::steps::c_string;

/// What a program reads and writes.
#[derive(Debug)]
pub(super) enum ChildStreams {
    /// It reads nothing, and both its outputs are one. In the place of its input it may be given
    /// what it reports to.
    Output(Option<OwnedFd>),
    /// A dialogue: input, output and errors are pipes of their own.
    Talk,
}

/// A command that runs.
pub(super) struct StartedCommand {
    /// Its program, for messages.
    pub(super) program: String,
    /// Both streams, or the output of a dialogue; `None` once they ended.
    pub(super) output: Option<pipe::Receiver>,
    /// The input of a dialogue.
    pub(super) input: Option<pipe::Sender>,
    /// The errors of a dialogue.
    pub(super) errors: Option<pipe::Receiver>,
    /// Every process of it; killed when dropped.
    pub(super) tree: ProcessTree,
    /// The process itself, or the first one of its namespaces.
    pub(super) child: CommandProcess,
    /// Where its status comes in, where it is not that of the child.
    status: Option<UnixStream>,
    /// Counts its processes, where the kernel does not.
    pub(super) counter: Option<ProcessCounter>,
    /// A socket inside its network that a proxy is to serve.
    pub(super) listener: Option<OwnedFd>,
    /// Where its calls come in, where this program answers them.
    pub(super) notify: Option<OwnedFd>,
    /// Where mode, owner and times of files may be changed, where this program changes them.
    pub(super) writable: WritablePlaces,
    /// Its network, where that can be kept for another command.
    pub(super) network: Option<LentNetwork>,
    /// The layers of a dialogue, where it has some.
    pub(super) layers: Option<Arc<LiveLayers>>,
    /// Files it needed; removed after it when they were not used.
    _outputs: ToolOutputs,
}

impl StartedCommand {
    /// Returns the status of the command, from that of the child.
    pub(super) fn status(&mut self, child: ExitStatus) -> ExitStatus {
        use std::os::unix::process::ExitStatusExt as _;
        let Some(channel) = &mut self.status else { return child };
        let mut raw = [0; 4];
        // Without a status it was killed from outside.
        let raw = channel.read_exact(&mut raw).map_or(libc::SIGKILL, |()| i32::from_ne_bytes(raw));
        ExitStatus::from_raw(raw)
    }
}

/// What is started: a program with its arguments, where, and with what environment.
pub(super) struct ChildProgram<'a> {
    /// The program and its arguments.
    pub(super) words: &'a [String],
    /// Working folder, as an absolute path.
    pub(super) folder: &'a Path,
    /// The whole environment; nothing is inherited.
    pub(super) env: BTreeMap<String, String>,
    /// What it reads and writes.
    pub(super) streams: ChildStreams,
}

/// Starts a program.
///
/// # Errors
/// When the program does not exist or may not be run, or the restrictions cannot be put on it.
pub(super) fn spawn(
    ChildProgram { words, folder, env, streams }: ChildProgram<'_>,
    restrictions: Option<Restrictions>,
) -> io::Result<StartedCommand> {
    let mark = CommandMark::fresh();
    let program = words.first().ok_or(io::ErrorKind::InvalidInput)?;
    let (reader, writer) = io::pipe()?;
    let (streams, talk) = match streams {
        ChildStreams::Output(reports) => {
            let nothing = OFlags::RDONLY | OFlags::CLOEXEC;
            let input = match reports {
                Some(reports) => reports,
                None => rustix::fs::open(c"/dev/null", nothing, Mode::empty())?,
            };
            ([input, writer.try_clone()?.into(), writer.into()], None)
        }
        ChildStreams::Talk => {
            let ((input_reader, input), (errors, errors_writer)) = (io::pipe()?, io::pipe()?);
            let streams = [input_reader.into(), writer.into(), errors_writer.into()];
            (streams, Some((input, errors)))
        }
    };
    let child = ChildWords { words, folder, env, streams, mark };
    ProcessTree::adopt_orphans();
    let (mut outputs, mut writable) = (ToolOutputs::default(), WritablePlaces::default());
    let (mut counter, mut notify_in) = (None, None);
    let mut handed = HandedOut::default();
    let child = match restrictions {
        Some(around) => {
            (outputs, writable) = (around.outputs, around.writable);
            counter = around.processes.map(|limit| ProcessCounter::of(mark, limit));
            let pair = if around.child.has_calls() { Some(UnixStream::pair()?) } else { None };
            let (ours, notify) = pair.unzip();
            notify_in = ours;
            match around.view {
                Some(view) => {
                    handed.network = around.network;
                    let networks = around.networks;
                    let plan = (around.child, notify);
                    let with_layers = talk.is_some();
                    start_in(child, (view, networks, with_layers), plan, &mut handed)?
                }
                None => start_outside(child, Some((around.child, notify)))?,
            }
        }
        None => start_outside(child, None)?,
    };
    let tree = ProcessTree::of(child.id(), mark);
    // Whatever it was that came over the channel, the command is killed when this fails.
    let notify = notify_in.as_ref().map(loopback::receive).transpose()?;
    let output = Some(pipe::Receiver::from_owned_fd(reader.into())?);
    let (input, errors) = talk.unzip();
    let input = input.map(|input| pipe::Sender::from_owned_fd(input.into())).transpose()?;
    let errors = errors.map(|errors| pipe::Receiver::from_owned_fd(errors.into())).transpose()?;
    let HandedOut { status, listener, network, layers } = handed;
    Ok(StartedCommand {
        program: program.to_owned(),
        output,
        input,
        errors,
        tree,
        child,
        status,
        counter,
        listener,
        notify,
        writable,
        network,
        layers,
        _outputs: outputs,
    })
}

/// What is started, and what is the same whatever is around it.
struct ChildWords<'a> {
    words: &'a [String],
    folder: &'a Path,
    env: BTreeMap<String, String>,
    /// Input, output and errors.
    streams: [OwnedFd; 3],
    mark: CommandMark,
}

/// What a command puts on itself, and where it hands out the descriptor its calls come in on.
type OwnRestrictions = (ChildRestrictions, Option<UnixStream>);

/// What came over the channel from a command in namespaces of its own.
#[derive(Default)]
struct HandedOut {
    /// The channel: the status is still to come.
    status: Option<UnixStream>,
    listener: Option<OwnedFd>,
    network: Option<LentNetwork>,
    layers: Option<Arc<LiveLayers>>,
}

/// Starts a command in namespaces of its own.
fn start_in(
    child: ChildWords<'_>,
    (view, networks, with_layers): (SandboxView, OwnNetworks, bool),
    (restrictions, notify): OwnRestrictions,
    handed: &mut HandedOut,
) -> io::Result<CommandProcess> {
    let ChildWords { words, folder, env, streams, mark } = child;
    let (status, theirs) = UnixStream::pair()?;
    let has_proxy = view.has_proxy();
    let networks = Some(networks).filter(|_| view.makes_network());
    let layers = view.live_layers().filter(|_| with_layers);
    let first = inside::start(InNamespaces {
        view,
        status: theirs.into(),
        shares_files: layers.is_some(),
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
        Ok::<_, io::Error>((FirstProcess::of(first)?, listener, network, layers.transpose()?))
    };
    match received() {
        Ok((process, listener, network, layers)) => {
            handed.listener = listener;
            handed.network = network.or(handed.network.take());
            handed.layers = layers.map(Arc::new);
            handed.status = Some(status);
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
    child: ChildWords<'_>,
    restrictions: Option<OwnRestrictions>,
) -> io::Result<CommandProcess> {
    let ChildWords { words, folder, env, streams, mark } = child;
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
