//! What is done to namespaces without a program in them: a trial, what all views start from, and
//! the layers of a program that keeps running.
//!
//! Each is one step that a child process takes and ends after; the program that is named for it is
//! never started.
#![expect(clippy::disallowed_types, reason = "children that take one step and start no program")]

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

use crate::linux::loopback;
use crate::linux::start::child;
use crate::linux::view::SandboxView;
use crate::linux::view::base::{BaseNamespaces, BasePlan, BaseView};
use crate::linux::view::live_layers::LiveLayers;
use crate::linux::view::stage::ViewStage;

/// Error number of a step in which nothing was refused: none fails with it.
const ALL_WELL: Errno = Errno::OWNERDEAD;

/// Makes namespaces and takes a view as a command would, and runs nothing.
///
/// # Errors
/// What was refused.
pub(crate) fn try_view(view: SandboxView) -> io::Result<()> {
    let (ours, theirs) = channel()?;
    in_child(move || enter(&view, &theirs)).map_err(|error| explained(ours, error))
}

/// Puts together what all views of a run start from.
///
/// # Errors
/// What was refused.
pub(crate) fn make_base(plan: BasePlan) -> io::Result<BaseView> {
    let (plan, (ours, theirs)) = (Arc::new(plan), channel()?);
    let own = Arc::clone(&plan);
    if let Err(error) = in_child(move || hold_base(&own, &theirs)) {
        return Err(explained(ours, error));
    }
    let receive = || loopback::receive(&ours);
    let (mounts, root) = (receive()?, receive()?);
    let user = plan.has_own_user().then(receive).transpose()?;
    Ok(plan.made(BaseNamespaces { user, mounts, root }))
}

/// Renews the layers of a program that keeps running.
///
/// # Errors
/// What was refused.
pub(super) fn renew(layers: &Arc<LiveLayers>) -> io::Result<()> {
    let layers = Arc::clone(layers);
    in_child(move || Ok(layers.renew()?))
}

/// Takes a step in a child process that ends after it.
fn in_child(mut step: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> io::Result<()> {
    let mut command = std::process::Command::new("true");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child::before_exec(&mut command, move || step().and(Err(ALL_WELL.into())));
    let outcome = command.spawn();
    drop(command);
    match outcome {
        Err(error) if error.raw_os_error() == Some(ALL_WELL.raw_os_error()) => Ok(()),
        Err(error) => Err(error),
        Ok(mut child) => {
            child.wait()?;
            Err(io::ErrorKind::Other.into())
        }
    }
}

/// Makes the namespaces that all views start from, and hands them out.
fn hold_base(plan: &BasePlan, channel: &OwnedFd) -> io::Result<()> {
    let tell = |stage, error| tell(channel, stage, error);
    plan.enter().map_err(|errno| tell(ViewStage::Namespaces, errno.into()))?;
    child::unshare(plan.namespaces()).map_err(|error| tell(ViewStage::Namespaces, error))?;
    child::with_own_files(|| plan.take_user()).map_err(|error| tell(ViewStage::User, error))?;
    plan.take().map_err(|(stage, errno)| tell(stage, errno.into()))?;
    let opened = plan.opened().map_err(|errno| tell(ViewStage::Namespaces, errno.into()))?;
    for held in [Some(&opened.mounts), Some(&opened.root), opened.user.as_ref()] {
        held.map_or(Ok(()), |held| loopback::hand_over(channel, held))?;
    }
    Ok(())
}

/// Makes the namespaces of a command and their first process, which takes the view and ends.
fn enter(view: &SandboxView, channel: &OwnedFd) -> io::Result<()> {
    let tell = |stage, error| tell(channel, stage, error);
    view.join().map_err(|errno| tell(ViewStage::Namespaces, errno.into()))?;
    child::unshare(view.namespaces()).map_err(|error| tell(ViewStage::Namespaces, error))?;
    let Some(first) = fork().map_err(|error| tell(ViewStage::Processes, error))? else {
        let code = view.take().err().map_or(0, |(stage, errno)| {
            tell(stage, errno.into());
            errno.raw_os_error()
        });
        child::exit(code)
    };
    let (_, status) =
        rustix::process::waitpid(Some(first), WaitOptions::empty())?.ok_or(io::ErrorKind::Other)?;
    match status.exit_status() {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
        None => Err(io::ErrorKind::Other.into()),
    }
}

/// Makes a channel on which a child says which part could not be had.
fn channel() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    Ok((ours, theirs.into()))
}

/// Says which part could not be had; whoever waits learns of the error itself another way.
fn tell(channel: &OwnedFd, stage: ViewStage, error: io::Error) -> io::Error {
    let _ = rustix::io::write(channel, &[stage as u8]);
    error
}

/// Adds to an error which part could not be had, if it was one.
fn explained(mut ours: UnixStream, error: io::Error) -> io::Error {
    let mut stage = [0];
    let said = ours.read_exact(&mut stage).is_ok();
    let [stage] = stage;
    match ViewStage::numbered(stage).filter(|_| said) {
        Some(stage) => stage.explain(&error),
        None => error,
    }
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
