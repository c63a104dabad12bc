//! Starts a command as the leader of a session of its own, with one pipe for both streams, in
//! namespaces of its own where it gets a view.
//!
//! With `seccomp_notify` the only place with `unsafe`: what a child does between fork and exec can
//! only be said through `pre_exec`, and a first process of namespaces only be made by forking once
//! more. What these processes do afterwards is in `pid1`.
#![expect(clippy::disallowed_types, reason = "the owner of child processes the model asks for")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{self, PipeWriter, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Pid, Signal, setsid};
use rustix::thread::UnshareFlags;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::exec::pid1;
use crate::file_facts::WritablePlaces;
use crate::loopback;
use crate::outputs::ToolOutputs;
use crate::process_tree::{CommandMark, ProcessCounter, ProcessTree};
use crate::restrictions::{ChildRestrictions, Restrictions};
use crate::view::SandboxView;
use crate::view::live_layers::LiveLayers;
use crate::view::stage::ViewStage;
use crate::view::steps::c_string;

/// The kernel's preference for ending a command when memory is short, from -1000 to 1000, as text.
const ENDED_FIRST: &[u8] = b"800";

/// How much a command lets others go before it, from -20 to 19.
const NICE: i32 = 5;

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
    /// The process itself, or the one that waits for it outside its namespaces.
    pub(super) child: Child,
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
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(env);
    if restrictions.as_ref().is_none_or(|around| around.view.is_none()) {
        command.current_dir(folder);
    }
    let talks = matches!(streams, ChildStreams::Talk);
    let talk = match streams {
        ChildStreams::Output(reports) => {
            let input = reports.map_or_else(Stdio::null, Stdio::from);
            command.stdin(input).stdout(writer.try_clone()?).stderr(writer);
            None
        }
        ChildStreams::Talk => {
            let ((input_reader, input), (errors, errors_writer)) = (io::pipe()?, io::pipe()?);
            command.stdin(input_reader).stdout(writer).stderr(errors_writer);
            Some((input, errors))
        }
    };
    let (mut channels, mut has_proxy, mut counter, mut notify_in) = (None, false, None, None);
    let mut layers = None;
    let (mut outputs, mut writable) = (ToolOutputs::default(), WritablePlaces::default());
    match restrictions {
        Some(around) => {
            outputs = around.outputs;
            writable = around.writable;
            counter = around.processes.map(|limit| ProcessCounter::of(mark, limit));
            let pair = if around.child.has_calls() { Some(UnixStream::pair()?) } else { None };
            let (ours, notify) = pair.unzip();
            notify_in = ours;
            match around.view {
                Some(view) => {
                    let (ours, theirs) = Channels::pair()?;
                    has_proxy = view.has_proxy();
                    channels = Some(ours);
                    layers = view.live_layers().filter(|_| talks);
                    let mut inside = InNamespaces {
                        view,
                        channels: theirs,
                        shares_files: layers.is_some(),
                        folder: c_string(folder)?,
                        restrictions: around.child,
                        notify,
                    };
                    before_exec(command.as_std_mut(), move || start_inside(mark, &mut inside));
                }
                None => {
                    let mut own = around.child;
                    before_exec(command.as_std_mut(), move || {
                        start_outside(mark, Some(&mut own), notify.as_ref())
                    });
                }
            }
        }
        None => before_exec(command.as_std_mut(), move || start_outside(mark, None, None)),
    }
    ProcessTree::adopt_orphans();
    let spawned = command.spawn();
    // The command holds our ends for writing; the pipes would never close.
    drop(command);
    let (child, status, control) = match (spawned, channels) {
        (Ok(child), Some(channels)) => (child, Some(channels.status), Some(channels.control)),
        (Ok(child), None) => (child, None, None),
        (Err(error), channels) => {
            return Err(match channels {
                Some(channels) => channels.explained(error),
                None => error,
            });
        }
    };
    // Whatever it was that came over the channel, the command is killed when this fails.
    let listener = status.as_ref().filter(|_| has_proxy).map(loopback::receive);
    let receive =
        || status.as_ref().ok_or(io::ErrorKind::NotConnected.into()).and_then(loopback::receive);
    let layers = layers.map(|plan| Ok::<_, io::Error>(Arc::new(plan.of(receive()?, receive()?))));
    let notify = notify_in.as_ref().map(loopback::receive);
    let tree = ProcessTree::of(child.id().and_then(|id| i32::try_from(id).ok()), mark, control);
    let output = Some(pipe::Receiver::from_owned_fd(reader.into())?);
    let (input, errors) = talk.unzip();
    let input = input.map(|input| pipe::Sender::from_owned_fd(input.into())).transpose()?;
    let errors = errors.map(|errors| pipe::Receiver::from_owned_fd(errors.into())).transpose()?;
    let (listener, notify) = (listener.transpose()?, notify.transpose()?);
    let layers = layers.transpose()?;
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
        layers,
        _outputs: outputs,
    })
}

/// Our ends of the pipes to and from the processes around a command.
pub(super) struct Channels {
    control: PipeWriter,
    pub(super) status: UnixStream,
}

/// The child's ends of the channels.
pub(super) struct ChildChannels {
    control: OwnedFd,
    pub(super) status: OwnedFd,
}

impl Channels {
    pub(super) fn pair() -> io::Result<(Self, ChildChannels)> {
        let ((control_in, control), (status, status_out)) = (io::pipe()?, UnixStream::pair()?);
        Ok((
            Self { control, status },
            ChildChannels { control: control_in.into(), status: status_out.into() },
        ))
    }

    /// Adds to an error which part of the view could not be had, if it was that.
    pub(super) fn explained(mut self, error: io::Error) -> io::Error {
        let mut stage = [0];
        let said = self.status.read_exact(&mut stage).is_ok();
        let [stage] = stage;
        match ViewStage::numbered(stage).filter(|_| said) {
            Some(stage) => {
                let label = stage.label();
                io::Error::new(error.kind(), format!("{label} for the sandbox: {error}"))
            }
            None => error,
        }
    }
}

impl ChildChannels {
    /// Says which part could not be had; whoever started this learns of the error itself another
    /// way.
    pub(super) fn tell(&self, stage: ViewStage, error: io::Error) -> io::Error {
        let _ = rustix::io::write(&self.status, &[stage as u8]);
        error
    }
}

/// Lets the child take a step before it becomes the program.
#[expect(
    unsafe_code,
    reason = "the child must change itself before it becomes the program; there is no other way"
)]
pub(super) fn before_exec(
    command: &mut std::process::Command,
    step: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec the steps of this file only do async-signal-safe things: plain
    // system calls on what was made before, no memory taken, no lock waited for. The processes
    // forked on the way do nothing else either and never return from here.
    unsafe {
        command.pre_exec(step);
    }
}

/// What the child does before it becomes the program. It gets a session of its own (no terminal to
/// ask at), death when this program dies, the mark by which its descendants are found, and its
/// restrictions. Where its calls are to be answered, it also gets the descriptor they come in on.
fn start_outside(
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

/// Restricts the calling process, and hands out the descriptor its calls come in on.
fn restrict(own: &mut ChildRestrictions, notify: Option<&UnixStream>) -> io::Result<()> {
    own.apply()?;
    notify.map_or(Ok(()), |channel| own.notify(channel))
}

/// What a child in namespaces of its own needs.
struct InNamespaces {
    view: SandboxView,
    channels: ChildChannels,
    /// Whether it hands out its namespace of files.
    shares_files: bool,
    folder: CString,
    restrictions: ChildRestrictions,
    notify: Option<UnixStream>,
}

/// The same in namespaces of its own: the child stays outside and waits, its child is the first
/// process inside and waits as well, and only the child of that becomes the program.
fn start_inside(mark: CommandMark, inside: &mut InNamespaces) -> io::Result<()> {
    setsid()?;
    mark.put_on_this_process();
    go_first()?;
    enter(&inside.view, &inside.channels)?;
    if inside.shares_files {
        share_files(&inside.channels)?;
    }
    rustix::process::chdir(&inside.folder)?;
    restrict(&mut inside.restrictions, inside.notify.as_ref())?;
    close_others_at_exec()
}

/// Makes the namespaces and their first process, and takes the view. Returns in the process that
/// becomes the program.
pub(super) fn enter(view: &SandboxView, channels: &ChildChannels) -> io::Result<()> {
    let tell = |stage, error| channels.tell(stage, error);
    view.join().map_err(|errno| tell(ViewStage::Namespaces, errno.into()))?;
    unshare(view.namespaces()).map_err(|error| tell(ViewStage::Namespaces, error))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(first) = fork().map_err(|error| tell(ViewStage::Processes, error))? {
        keep_only(&channels.control);
        pid1::wait_outside(first);
        exit();
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    setsid()?;
    if let Some(socket) = view.take().map_err(|(stage, errno)| tell(stage, errno.into()))? {
        loopback::hand_over(&channels.status, &socket)
            .map_err(|errno| tell(ViewStage::Network, errno.into()))?;
    }
    if let Some(program) = fork().map_err(|error| tell(ViewStage::Processes, error))? {
        block_signals();
        keep_only(&channels.status);
        pid1::wait_inside(program);
        exit();
    }
    Ok(())
}

/// Hands out the namespace of files that the calling process is in, and its root.
fn share_files(channels: &ChildChannels) -> Result<(), Errno> {
    for path in [c"/proc/self/ns/mnt", c"/"] {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let held = rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty())?;
        loopback::hand_over(&channels.status, &held)?;
    }
    Ok(())
}

/// Does something to the process's own files in `/proc`: one that others cannot look into does not
/// own them.
pub(super) fn with_own_files(act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    let done = act();
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    done
}

/// Lets everything else on this machine go before the command: the processor, and memory when there
/// is none left.
fn go_first() -> io::Result<()> {
    let first = || {
        let file = rustix::fs::open(
            c"/proc/self/oom_score_adj",
            OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(rustix::io::write(&file, ENDED_FIRST).map(drop)?)
    };
    // A container may keep both to itself; the other limits stand.
    let _ = with_own_files(first);
    let _ = rustix::process::nice(NICE);
    Ok(())
}

#[expect(unsafe_code, reason = "namespaces are made by a child that has one thread")]
pub(super) fn unshare(namespaces: i32) -> io::Result<()> {
    let flags = UnshareFlags::from_bits_retain(namespaces.cast_unsigned());
    // SAFETY: descriptors are not among what is unshared, and there are no other threads.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Forks; returns the child's number in the parent and nothing in the child.
#[expect(unsafe_code, reason = "the first process of namespaces can only be forked into them")]
fn fork() -> io::Result<Option<Pid>> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: a plain fork, without a stack of its own. It is asked of the kernel itself so that no
    // handler of a library runs; the caller has one thread and only makes system calls.
    let number = unsafe {
        libc::syscall(libc::SYS_clone, libc::c_long::from(libc::SIGCHLD), none, none, none, none)
    };
    match i32::try_from(number) {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Pid::from_raw(number)),
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Puts one descriptor where input is, and closes every other.
fn keep_only(kept: &OwnedFd) {
    // Both fail only where there is no such descriptor.
    let _ = rustix::stdio::dup2_stdin(kept);
    let _ = close_range(1, 0);
}

/// Sees to it that the program gets its three streams and no other descriptor.
fn close_others_at_exec() -> io::Result<()> {
    close_range(3, libc::CLOSE_RANGE_CLOEXEC)
}

#[expect(unsafe_code, reason = "descriptors of others are closed in processes that never use them")]
fn close_range(first: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: either only a flag is set, or the process uses no descriptor afterwards but its
    // input.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) };
    match closed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Keeps handlers that this program has for signals from running in a process that only waits.
#[expect(unsafe_code, reason = "signals are blocked in a process with one thread")]
fn block_signals() {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` fills what the next call reads.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
    }
}

/// Ends the process without anything else being done.
#[expect(unsafe_code, reason = "a forked process must not run what the program does when it ends")]
fn exit() -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(0) }
}
