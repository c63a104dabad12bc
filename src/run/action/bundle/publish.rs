//! The job that publishes: it has the rights and no model, and takes the bundle for hostile.
//!
//! In: this job's own run, prepared from its own event and the trusted commit, and the bundle. Out:
//! what was published. Of the bundle it takes words, which are cleaned again, and files, each
//! judged before it is in the checkout and once more in the commit. Approvals, rights and modes are
//! its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::run::action::bundle::manifest::ReceivedBundle;
use crate::run::action::bundle::reachable;
use crate::run::action::claim::Claim;
use crate::run::action::declined::Declined;
use crate::run::action::session_run::{JobPages, SessionRun, finish};
use crate::run::action::{ActionEnd, ActionEnv, ForgeEvent, RunControl, setup};
use crate::run::error::RunError;
use crate::run::publish::Publisher;
use crate::run::publish::follow_up::{FollowUp, RunEnd};
use locum_agent::report::waiting::DecisionChannel;
use locum_agent::session::outcome::Outcome;
use locum_base::path::RepoPath;
use locum_forge::ReadPatience;
use locum_forge::posts::OwnReaction;
use locum_workspace::committed::CommittedFile;
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::repo::CommitId;

/// Why a run in two jobs does not wait.
const NO_WAIT: &str = "a run in two jobs waits for no decision; allow it in the policy, or let a \
                       run work and publish in one job";

/// Publishes what a bundle holds, as far as this job may.
///
/// # Errors
/// When the token may not write, or the machine fails.
pub(in crate::run::action) async fn publish(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    session: SessionRun,
    (control, claim): (RunControl<'_>, &Claim<'_>),
    bundle: ReceivedBundle,
) -> Result<ActionEnd, RunError> {
    let SessionRun { run, carried, .. } = &session;
    // The work is done: what is read from here on is read to publish it.
    env.forge.set_patience(ReadPatience::AsWrites);
    let (pages, lease) = (JobPages::of(env), Rc::clone(&claim.lease));
    let publisher = session.publisher(env, event, (&pages, &lease), None);
    let lock = env.workspace.repo.lock_run().map_err(RunError::internal)?;
    let _lock = lock.named(Some(run.plan.session.as_str())).map_err(RunError::internal)?;
    let own = publisher.see().await.map_err(setup::may_not_write)?;
    publisher.check_push().await.map_err(setup::may_not_push)?;
    session.sweep_thread(env, event, claim).await;
    let seen: Vec<OwnReaction> = own.into_iter().collect();
    let ending = RunEnd {
        thread: carried.destination.thread,
        seen: &seen,
        decided: None,
        decide: DecisionChannel::Nowhere(NO_WAIT),
    };
    let retry = Some(run.policy.settings().triggers.prefix()).filter(|prefix| !prefix.is_empty());
    let next = FollowUp { retry, kept: None };
    let mut outcome = own_outcome(&bundle, &session);
    let taken = match &bundle.work {
        Some(work) => take_up(env, &publisher, &mut outcome, work),
        None => Ok(()),
    };
    let publication = match taken {
        Ok(()) => publisher.publish(&mut outcome, &ending, next, control.cancelled).await,
        Err(Declined::Refused(why)) => {
            publisher.publish_refused(&mut outcome, &ending, next, why).await
        }
        Err(Declined::Failed(error)) => return Err(error),
    };
    finish(env, session, outcome, publication)
}

/// Returns the outcome as far as it is words: what it says of approvals, of commits and of the
/// policy is not taken over.
fn own_outcome(bundle: &ReceivedBundle, session: &SessionRun) -> Outcome {
    let plan = &session.run.plan;
    Outcome {
        session: plan.session.clone(),
        base: plan.base.clone(),
        policy_hash: plan.policy.hash.clone(),
        approved: Vec::new(),
        changes: Vec::new(),
        checkpoint: None,
        needed_commits: Vec::new(),
        rewritten: Vec::new(),
        hindrance: None,
        ended_as: None,
        ..bundle.outcome.clone()
    }
}

/// Judges the commit of a bundle, then brings its files into the checkout. A refusal says
/// everything that speaks against it; nothing of it is in the checkout then.
fn take_up(
    env: &ActionEnv<'_>,
    publisher: &Publisher<'_>,
    outcome: &mut Outcome,
    work: &CommitId,
) -> Result<(), Declined> {
    let plan = &publisher.run.plan;
    let repo = &env.workspace.repo;
    let committed = repo.committed(&plan.base, work).map_err(|error| {
        Declined::Refused(format!("the changes in the bundle cannot be read: {error}"))
    })?;
    let changed = |path: &RepoPath, before: &CommittedFile, after: &CommittedFile| FileChange {
        path: path.clone(),
        kind: match (before, after) {
            (CommittedFile::Nothing, _) => ChangeKind::Added,
            (_, CommittedFile::Nothing) => ChangeKind::Deleted,
            (_, _) => ChangeKind::Modified,
        },
        added: 0,
        removed: 0,
        patch: String::new(),
        binary_bytes: None,
        withheld: true,
    };
    outcome.changes = committed
        .paths
        .iter()
        .filter_map(|one| Some(changed(one.path.as_ref().ok()?, &one.before, &one.after)))
        .collect();
    let reachable = reachable::modes(&publisher.run.policy, &plan.facts, &plan.modes);
    let unknown = outcome.tasks.iter().map(|task| &task.mode);
    let unknown: BTreeSet<&String> = unknown.filter(|mode| !reachable.contains(*mode)).collect();
    if let Some(mode) = unknown.first() {
        return Err(Declined::Refused(format!(
            "the bundle says that mode `{mode}` worked, which the policy does not let a run enter \
             that starts in mode `{}`",
            plan.mode
        )));
    }
    publisher.judge(outcome, &plan.base, work).map_err(Declined::Refused)?;
    let touched: BTreeSet<RepoPath> =
        committed.paths.iter().filter_map(|one| one.path.as_ref().ok().cloned()).collect();
    repo.restore(work, &touched).map_err(RunError::internal)?;
    outcome.changes = repo.changes(&plan.base, &touched).map_err(RunError::internal)?;
    Ok(())
}
