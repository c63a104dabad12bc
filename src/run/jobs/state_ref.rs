//! `JobStateRef`: the record of jobs on its ref at the remote, changed by one run at a time.
//!
//! In: a change of the record. Out: the record as it is then; a change is made again on what
//! another run wrote meanwhile. A fresh checkout knows nothing of earlier runs, so the ref is the
//! only memory of jobs.

use std::time::Duration;

use crate::run::error::RunError;
use crate::run::jobs::states::JobStates;
use crate::run::kept_file::{KeptAt, KeptFile};
use locum_base::clock::Clock;
use locum_policy::intent::{Act, Facts, Intent, PublicationKind};
use locum_policy::{Permit, Policy};
use locum_workspace::carried::JOBS_REF;
use locum_workspace::repo::RepoError;

/// Largest record that is read.
const LIMIT_BYTES: u64 = 4 * 1024 * 1024;
/// How often a change is tried while other runs are quicker.
const TRIES: u32 = 20;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// The act of keeping the record in the repository: it belongs to what runs publish.
pub struct KeepJobStates(PublicationKind);

impl Act for KeepJobStates {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(self.0)]
    }
}

/// The record of jobs at a remote.
pub struct JobStateRef<'a>(KeptFile<'a>);

impl<'a> JobStateRef<'a> {
    /// Returns the record at a remote.
    pub fn new(at: KeptAt<'a>) -> Self {
        Self(KeptFile {
            full_name: JOBS_REF,
            file: "jobs.json",
            limit_bytes: LIMIT_BYTES,
            once_deleted: "paused jobs run again then",
            at,
        })
    }

    /// Reads the record.
    ///
    /// # Errors
    /// When the remote cannot be asked, or the ref holds something else.
    pub async fn load(&self) -> Result<JobStates, RunError> {
        match self.0.look().await? {
            Some((_, text)) => self.parse(&text),
            None => Ok(JobStates::default()),
        }
    }

    /// Changes the record and returns what is there then; the change may be made several times. One
    /// that changes nothing is not written.
    ///
    /// # Errors
    /// As [`JobStateRef::load`]; also when the ref may not be written.
    pub async fn change(
        &self,
        permit: &Permit<KeepJobStates>,
        clock: &dyn Clock,
        mut change: impl FnMut(&mut JobStates),
    ) -> Result<JobStates, RunError> {
        let KeptAt { git, remote, .. } = self.0.at;
        for _ in 0..TRIES {
            let there = self.0.look().await?;
            let before = match &there {
                Some((_, text)) => self.parse(text)?,
                None => JobStates::default(),
            };
            let mut states = before.clone();
            change(&mut states);
            if states == before {
                return Ok(states);
            }
            let text = states.render().map_err(RunError::internal)?;
            let commit = self.0.write(&text, "how jobs ended\n")?;
            let from = there.as_ref().map(|(tip, _)| tip);
            match git.push_jobs(permit, remote, (from, &commit)).await {
                Ok(()) => return Ok(states),
                Err(RepoError::PushRefused(reason)) if self.0.tip().await?.as_ref() == from => {
                    let what = format!("how jobs end cannot be kept at `{JOBS_REF}`: {reason}");
                    return Err(RunError::usage("github-token", what)
                        .hint("give the job `permissions: { contents: write }`"));
                }
                Err(RepoError::PushRefused(_)) => clock.sleep(PAUSE).await,
                Err(error) => return Err(RunError::internal(error)),
            }
        }
        Err(RunError::internal(format!("`{JOBS_REF}`: other runs changed it {TRIES} times")))
    }

    fn parse(&self, text: &str) -> Result<JobStates, RunError> {
        JobStates::parse(text).map_err(|why| self.0.unusable(&why))
    }
}

/// Returns leave to keep the record, where the policy lets runs publish anything that it goes with.
pub fn permit(policy: &Policy, facts: &Facts) -> Option<Permit<KeepJobStates>> {
    [PublicationKind::Comment, PublicationKind::Commit, PublicationKind::Issue]
        .into_iter()
        .find_map(|kind| policy.admit(KeepJobStates(kind), facts).ok())
}
