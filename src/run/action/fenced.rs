//! A session at work under its claim: one that loses the claim is stopped, and what came of it is
//! not published.

use futures::FutureExt as _;
use tokio::sync::oneshot;

use crate::run::action::RunControl;
use crate::run::action::claim::Claim;
use crate::run::action::messages::FollowedThread;
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::RunExecution;
use crate::run::memory;
use crate::run::publish::Publisher;
use locum_agent::session::ending::{self, Settlement};
use locum_agent::session::event::JournalLine;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_forge::ReadPatience;

/// How a session ended.
pub(super) enum Worked {
    /// It may be published.
    Ended(Outcome),
    /// Another run has its claim, for this reason: nothing may be published.
    FencedOff(Outcome, String),
}

/// Runs a session beside everything that goes on meanwhile: its comment, what people write, and its
/// claim. One that loses its claim is stopped. What is looked for meanwhile is looked for again
/// soon, so it takes none of the time that publishing may wait for the forge.
///
/// # Errors
/// As [`execute::run_beside_progress`].
pub(super) async fn work(
    execution: &RunExecution<'_>,
    publisher: &Publisher<'_>,
    (thread, claim): (&mut FollowedThread<'_>, &mut Claim<'_>),
    control: RunControl<'_>,
) -> Result<Worked, RunError> {
    let RunControl { cancelled, watch, .. } = control;
    let (stop, stopped) = oneshot::channel();
    let stopped = async move {
        tokio::select! {
            () = cancelled => {}
            Ok(()) = stopped => {}
        }
    };
    let shown = |line: &JournalLine, state: &SessionState| watch(line, state);
    let (mut stop, mut lost) = (Some(stop), None);
    publisher.forge.set_patience(ReadPatience::Short);
    let mut outcome = {
        let session = execute::run_beside_progress(execution, publisher, stopped.boxed(), shown);
        let (followed, kept) = (thread.follow(), claim.keep());
        tokio::pin!(session, followed, kept);
        loop {
            tokio::select! {
                outcome = &mut session => break outcome?,
                never = &mut followed => match never {},
                why = &mut kept, if lost.is_none() => {
                    lost = Some(why);
                    // NOTE: fails only when the session has just ended.
                    stop.take().map(|stop| stop.send(()));
                }
            }
        }
    };
    publisher.forge.set_patience(ReadPatience::AsWrites);
    let lost = match lost {
        Some(why) => Some(why),
        None => claim.confirm().await.err(),
    };
    let Some(why) = lost else {
        memory::keep(execution, &mut outcome).await;
        return Ok(Worked::Ended(outcome));
    };
    tracing::warn!(why, "the run publishes nothing");
    ending::settle(&mut outcome, Settlement::Abandoned(&why));
    Ok(Worked::FencedOff(outcome, why))
}
