//! What is done to namespaces without a program in them: a trial, what all views start from, and
//! the layers of a program that goes on running.
//!
//! Each is one step that a child process takes and ends after; the program that is named for it is
//! never started.
#![expect(clippy::disallowed_types, reason = "children that take one step and start no program")]

use std::io;
use std::process::Stdio;
use std::sync::Arc;

use rustix::io::Errno;

use crate::exec::spawn::{self, Channels, ChildChannels};
use crate::loopback;
use crate::view::SandboxView;
use crate::view::base::{BaseNamespaces, BasePlan, BaseView};
use crate::view::live_layers::LiveLayers;
use crate::view::stage::ViewStage;

/// Error number of a step in which nothing was refused: none fails with it.
const ALL_WELL: Errno = Errno::OWNERDEAD;

/// Makes namespaces and takes a view as a command would, and runs nothing.
///
/// # Errors
/// What was refused.
pub(crate) fn try_view(view: SandboxView) -> io::Result<()> {
    let (ours, theirs) = Channels::pair()?;
    in_child(move || spawn::enter(&view, &theirs)).map_err(|error| ours.explained(error))
}

/// Puts together what all views of a run start from.
///
/// # Errors
/// What was refused.
pub(crate) fn make_base(plan: BasePlan) -> io::Result<BaseView> {
    let (plan, (ours, theirs)) = (Arc::new(plan), Channels::pair()?);
    let child = Arc::clone(&plan);
    if let Err(error) = in_child(move || hold_base(&child, &theirs)) {
        return Err(ours.explained(error));
    }
    let receive = || loopback::receive(&ours.status);
    let (mounts, root) = (receive()?, receive()?);
    let user = plan.has_own_user().then(receive).transpose()?;
    Ok(plan.made(BaseNamespaces { user, mounts, root }))
}

/// Renews the layers of a program that goes on running.
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
    spawn::before_exec(&mut command, move || step().and(Err(ALL_WELL.into())));
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
fn hold_base(plan: &BasePlan, channels: &ChildChannels) -> io::Result<()> {
    let tell = |stage, error| channels.tell(stage, error);
    spawn::unshare(plan.namespaces()).map_err(|error| tell(ViewStage::Namespaces, error))?;
    spawn::with_own_files(|| plan.take_user()).map_err(|error| tell(ViewStage::User, error))?;
    plan.take().map_err(|(stage, errno)| tell(stage, errno.into()))?;
    let opened = plan.opened().map_err(|errno| tell(ViewStage::Namespaces, errno.into()))?;
    for held in [Some(&opened.mounts), Some(&opened.root), opened.user.as_ref()] {
        held.map_or(Ok(()), |held| loopback::hand_over(&channels.status, held))?;
    }
    Ok(())
}
