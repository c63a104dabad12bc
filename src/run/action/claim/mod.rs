//! `Claim`: one run at a time on an issue, a pull request or a job, whatever workflow, runner or
//! machine it is on.
//!
//! In: a subject. Out: a claim on it, or who has it. It is a commit on `refs/locum/claims/SUBJECT`
//! at the remote, moved from exactly the commit that was looked at, so that of two runs one gets
//! it. The run renews it while it works and gives it back at its end; who finds one whose lease is
//! over takes it over. Only the holder publishes. Where the job may not write refs there are no
//! claims: then the workflow's `concurrency` has to keep runs apart.

pub(super) mod listed;
mod record;
mod refs;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use jiff::SignedDuration;

use crate::run::action::ActionEnv;
use crate::run::action::claim::record::{ClaimRecord, Claimant, LEASE_MINUTES};
use crate::run::action::claim::refs::ClaimRef;
use crate::run::error::RunError;
use crate::run::publish::lease::Lease;
use locum_agent::session::id::SessionId;
use locum_base::clock::Clock;
use locum_forge::Forge;
use locum_policy::intent::{Act, Facts, Intent, PublicationKind};
use locum_policy::{Permit, Policy};
use locum_workspace::carried::CLAIM_REFS;
use locum_workspace::repo::{CommitId, RepoError};

/// How long the lease of a claim is over before any run removes it.
const LEFT_OVER: SignedDuration = SignedDuration::from_hours(1);
/// Claims that one workflow run removes at most.
const SWEPT_AT_ONCE: usize = 10;
/// How often a claim is tried for while others are quicker.
const TRIES: u32 = 5;
/// Time between two renewals: two may fail within a lease.
const RENEWAL: Duration = Duration::from_secs(LEASE_MINUTES as u64 * 60 / 3);

/// A claim on a subject, or none where none can be had.
pub(super) struct Claim<'a> {
    /// Until when the run may publish.
    pub(super) lease: Rc<Lease<'a>>,
    held: Option<HeldClaim<'a>>,
    /// Why there is none, for the log and the summary.
    pub(super) note: Option<String>,
}

struct HeldClaim<'a> {
    place: ClaimRef<'a>,
    clock: &'a dyn Clock,
    permit: Permit<HoldClaim>,
    tip: CommitId,
    record: ClaimRecord,
}

/// Who asks, and under which policy.
pub(super) struct ClaimRequest<'r> {
    /// What is to be worked on, in words; empty where runs need not be kept apart.
    pub(super) subject: &'r str,
    /// Login of who asked; empty for a schedule.
    pub(super) by: &'r str,
    /// Hidden line of the run's comment.
    pub(super) comment: &'r str,
    /// The policy of the run.
    pub(super) policy: &'r Policy,
    /// Who asked and how.
    pub(super) facts: &'r Facts,
}

/// What came of asking for a claim.
pub(super) enum ClaimAnswer<'a> {
    /// The run may work.
    Granted(Box<Claim<'a>>),
    /// Another run works on the subject, as this sentence says.
    Busy(String),
}

/// Why a claim was not renewed.
enum RenewalError {
    /// Somebody else has it.
    Lost(String),
    /// The remote cannot be reached, for this reason.
    Failed(String),
}

/// The act of claiming a subject in the repository: it belongs to what the run publishes.
struct HoldClaim(PublicationKind);

impl Act for HoldClaim {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(self.0)]
    }
}

/// Asks for the claim on a subject.
///
/// # Errors
/// When the remote cannot be reached, or its ref holds something else.
pub(super) async fn take<'a>(
    env: &ActionEnv<'a>,
    request: &ClaimRequest<'_>,
) -> Result<ClaimAnswer<'a>, RunError> {
    if request.subject.is_empty() {
        return Ok(ClaimAnswer::without(env.clock, None));
    }
    let Some(permit) = permit(request.policy, request.facts) else {
        // It publishes neither a comment nor a commit, so there is nothing to keep apart.
        return Ok(ClaimAnswer::without(env.clock, None));
    };
    let place = ClaimRef::of(request.subject, env.kept_at());
    let (id, url) = (SessionId::fresh(), env.job.run_url().unwrap_or_default());
    let who = Claimant {
        id: id.as_str(),
        run: &env.job.run_id,
        attempt: env.job.run_attempt,
        url: &url,
        by: request.by,
        comment: request.comment,
    };
    ask(place, permit, who, (env.forge, env.clock)).await
}

/// Removes claims of runs that were killed, where no other run came to the same work since.
pub(super) async fn sweep(
    env: &ActionEnv<'_>,
    (policy, facts): (&Policy, &Facts),
    refs: &[(String, CommitId)],
) {
    let names = refs.iter().filter_map(|(name, _)| name.strip_prefix(CLAIM_REFS));
    for name in names.take(SWEPT_AT_ONCE) {
        let place = ClaimRef::named(name, env.kept_at());
        let Ok(Some((tip, record))) = place.look().await else { continue };
        let left_over = record.ends().checked_add(LEFT_OVER);
        if !left_over.is_ok_and(|at| at <= env.clock.now()) {
            continue;
        }
        let Some(permit) = permit(policy, facts) else { return };
        match place.push(&permit, (Some(&tip), None)).await {
            Ok(()) => tracing::info!(name, "removed the claim of a run that was killed"),
            Err(error) => tracing::warn!(%error, name, "could not remove a claim that is over"),
        }
    }
}

async fn ask<'a>(
    place: ClaimRef<'a>,
    permit: Permit<HoldClaim>,
    who: Claimant<'_>,
    (forge, clock): (&dyn Forge, &'a dyn Clock),
) -> Result<ClaimAnswer<'a>, RunError> {
    for _ in 0..TRIES {
        let there = place.look().await?;
        let now = clock.now();
        let (from, previous) = match &there {
            Some((_, record))
                if !record.may_be_taken_over(who, now) && !has_ended(forge, record, who).await =>
            {
                return Ok(ClaimAnswer::Busy(record.sentence()));
            }
            Some((tip, record)) => (Some(tip), Some(record)),
            None => (None, None),
        };
        let record = ClaimRecord::new(who, previous, now);
        let tip = place.write(&record)?;
        match place.push(&permit, (from, Some(&tip))).await {
            Ok(()) => {
                let lease = Rc::new(Lease::unbounded(clock));
                lease.extend(record.ends());
                let held = Some(HeldClaim { place, clock, permit, tip, record });
                let claim = Claim { lease, held, note: None };
                return Ok(ClaimAnswer::Granted(Box::new(claim)));
            }
            Err(RepoError::PushRefused(reason)) => {
                if place.tip().await?.as_ref() == from {
                    return Ok(ClaimAnswer::without(clock, Some(no_refs(&reason))));
                }
            }
            Err(error) => return Err(RunError::internal(error)),
        }
    }
    Ok(ClaimAnswer::Busy("several runs ask to work here at once; ask again later".to_owned()))
}

/// Returns whether the forge says that the workflow run of a claim has ended: it was killed, and
/// nothing will renew its claim. Where the forge may not be asked, the lease decides.
async fn has_ended(forge: &dyn Forge, record: &ClaimRecord, who: Claimant<'_>) -> bool {
    let run = record.run();
    !run.is_empty() && run != who.run && matches!(forge.workflow_run_end(run).await, Ok(Some(_)))
}

impl<'a> ClaimAnswer<'a> {
    /// Returns that the run may work without a claim.
    pub(super) fn without(clock: &'a dyn Clock, note: Option<String>) -> Self {
        if let Some(why) = &note {
            tracing::warn!(why, "the run works without a claim");
        }
        let lease = Rc::new(Lease::unbounded(clock));
        Self::Granted(Box::new(Claim { lease, held: None, note }))
    }
}

impl Claim<'_> {
    /// Returns whether there is one, and so no other run at the same work.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Renews the claim until it is lost; returns to whom. Never where there is none to lose.
    pub(super) async fn keep(&mut self) -> String {
        loop {
            let Some(held) = &mut self.held else { return std::future::pending().await };
            held.clock.sleep(RENEWAL).await;
            match held.renew().await {
                Ok(()) => self.lease.extend(held.record.ends()),
                Err(RenewalError::Lost(why)) => return self.lose(why),
                Err(RenewalError::Failed(error)) => {
                    tracing::warn!(error, "the claim is not renewed yet");
                }
            }
        }
    }

    /// Makes sure that the run still has its claim, right before it publishes.
    ///
    /// # Errors
    /// Why it may publish nothing.
    pub(super) async fn confirm(&mut self) -> Result<(), String> {
        let Some(held) = &mut self.held else { return Ok(()) };
        match held.renew().await {
            Ok(()) => self.lease.extend(held.record.ends()),
            Err(RenewalError::Lost(why)) => return Err(self.lose(why)),
            Err(RenewalError::Failed(error)) if self.lease.is_over() => {
                return Err(format!("its claim on this work cannot be renewed: {error}"));
            }
            // Within the lease nobody else can have it.
            Err(RenewalError::Failed(_)) => {}
        }
        Ok(())
    }

    /// What is lost is not given back, and nothing more is published under it.
    fn lose(&mut self, why: String) -> String {
        if let Some(held) = self.held.take() {
            self.lease.extend(held.clock.now());
        }
        why
    }

    /// Gives the claim back. One that stays ends with its lease.
    pub(super) async fn release(self) {
        let Some(HeldClaim { place, permit, tip, record, .. }) = self.held else { return };
        let Err(error) = place.push(&permit, (Some(&tip), None)).await else { return };
        // The answer to the last renewal may have been lost.
        let moved = place.look().await.ok().flatten().filter(|(_, there)| there.is_same(&record));
        if let Some((tip, _)) = moved
            && place.push(&permit, (Some(&tip), None)).await.is_ok()
        {
            return;
        }
        tracing::warn!(%error, "the claim is not given back; it ends with its lease");
    }
}

impl HeldClaim<'_> {
    async fn renew(&mut self) -> Result<(), RenewalError> {
        let failed = |error: &dyn std::fmt::Display| RenewalError::Failed(error.to_string());
        let record = self.record.renewed(self.clock.now());
        let tip = self.place.write(&record).map_err(|error| failed(&error))?;
        let mut last = String::new();
        for _ in 0..TRIES {
            let moved = self.place.push(&self.permit, (Some(&self.tip), Some(&tip))).await;
            let Err(error) = moved else {
                (self.tip, self.record) = (tip, record);
                return Ok(());
            };
            last = error.to_string();
            // The answer to an earlier push may have been lost.
            match self.place.look().await.map_err(|error| failed(&error))? {
                Some((tip, there)) if there.is_same(&self.record) => self.tip = tip,
                Some((_, there)) => return Err(RenewalError::Lost(lost_to(&there.holder()))),
                None => return Err(RenewalError::Lost(lost_to("a run that has ended since"))),
            }
        }
        Err(RenewalError::Failed(last))
    }
}

fn lost_to(whom: &str) -> String {
    format!("its claim on this work was taken over by {whom}, so it publishes nothing")
}

fn no_refs(reason: &str) -> String {
    format!(
        "this job may not write refs ({reason}), so there is no claim: only the workflow's \
         `concurrency` keeps runs apart"
    )
}

fn permit(policy: &Policy, facts: &Facts) -> Option<Permit<HoldClaim>> {
    [PublicationKind::Comment, PublicationKind::Commit]
        .into_iter()
        .find_map(|kind| policy.admit(HoldClaim(kind), facts).ok())
}
