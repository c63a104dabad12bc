//! `SpendingLedger`: the record of ceilings where it is kept, changed by one run at a time.
//!
//! In: a change of the record. Out: the changed record in its place, or an error; a change is made
//! again on what another run wrote meanwhile. On this machine a lock keeps others out; at the forge
//! the ref moves from exactly the commit that was read, or not at all.

#![expect(
    clippy::disallowed_methods,
    reason = "the record lies in the state directory, outside the checkout"
)]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::run::error::RunError;
use crate::run::execution::RunExecution;
use crate::run::kept_file::{KeptAt, KeptFile};
use crate::run::spending::file_name;
use crate::run::spending::record::SpendingRecord;
use crate::run::spending::store::RecordStore;
use locum_base::clock::Clock;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent, PublicationKind};
use locum_workspace::carried::SPENT_REF;
use locum_workspace::private::make_private;
use locum_workspace::repo::RepoError;

/// Largest record that is read.
const RECORD_LIMIT_BYTES: u64 = 16 * 1024 * 1024;
/// How often a change is tried while other runs are quicker.
const TRIES: u32 = 20;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// The record where it is kept.
pub(super) enum SpendingLedger<'a> {
    /// A file of the state directory.
    Local(PathBuf),
    /// A ref of the repository.
    Remote { at: KeptAt<'a>, permit: Permit<RecordSpending> },
}

/// The act of keeping count in the repository: it belongs to the comment that reports the run.
pub(super) struct RecordSpending;

impl Act for RecordSpending {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Comment)]
    }
}

/// Returns where a run is counted.
///
/// # Errors
/// When there is no state directory, or the policy lets nothing be kept at the forge.
pub(super) fn ledger_of<'a>(execution: &RunExecution<'a>) -> Result<SpendingLedger<'a>, RunError> {
    let (run, workspace) = (execution.run, execution.workspace);
    match execution.record {
        RecordStore::Local => {
            let state = run.settings.values.state_dir.as_ref();
            let state = state.ok_or_else(|| {
                RunError::usage(
                    "state_dir",
                    "not set, so there is no place to count what runs spend together \
                     (`budget.daily`, `budget.per_thread`)",
                )
                .hint("set LOCUM_STATE_DIR or HOME")
            })?;
            let git_folder = workspace.repo.git_folders().pop().unwrap_or_default();
            Ok(SpendingLedger::Local(state.join(file_name(&git_folder))))
        }
        RecordStore::Remote { git, remote } => {
            let permit = run.policy.admit(RecordSpending, &run.plan.facts).map_err(|refusal| {
                RunError::usage(
                    &run.plan.policy.origin,
                    format!("what runs spend together cannot be kept: {refusal}"),
                )
                .hint(
                    "let comments be published, or take `daily` and `per_thread` out of \
                         `budget`",
                )
            })?;
            Ok(SpendingLedger::Remote { at: KeptAt { git, remote, repo: &workspace.repo }, permit })
        }
    }
}

impl SpendingLedger<'_> {
    /// Returns true where the record is kept on this machine.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    /// Changes the record; the change sees what is there, and may be made several times.
    ///
    /// # Errors
    /// When the record cannot be read, is none, or cannot be written.
    pub(super) async fn change<T>(
        &self,
        clock: &dyn Clock,
        change: impl Fn(&mut SpendingRecord) -> Result<T, String>,
    ) -> Result<T, RunError> {
        match self {
            Self::Local(path) => {
                let _lock = lock(path, clock).await?;
                let mut record = read(path)?;
                let done = change(&mut record).map_err(RunError::internal)?;
                write(path, &record)?;
                Ok(done)
            }
            Self::Remote { at, permit } => {
                let (file, KeptAt { git, remote, .. }) = (file(*at), at);
                for _ in 0..TRIES {
                    let there = file.look().await?;
                    let (tip, mut record) = match &there {
                        None => (None, SpendingRecord::empty()),
                        Some((tip, text)) => {
                            let record = SpendingRecord::parse(text.as_bytes());
                            (Some(tip), record.map_err(|why| file.unusable(&why))?)
                        }
                    };
                    let done = change(&mut record).map_err(RunError::internal)?;
                    let text = record.render().map_err(RunError::internal)?;
                    let commit = file.write(&text, "what runs spent\n")?;
                    match git.push_spent(permit, remote, (tip, &commit)).await {
                        Ok(()) => return Ok(done),
                        Err(RepoError::PushRefused(reason))
                            if file.tip().await.is_ok_and(|now| now.as_ref() == tip) =>
                        {
                            let what = format!(
                                "what runs spend together cannot be kept at `{SPENT_REF}`: \
                                 {reason}"
                            );
                            return Err(RunError::internal(what)
                                .hint("the job needs `permissions: contents: write`"));
                        }
                        Err(RepoError::PushRefused(_)) => clock.sleep(PAUSE).await,
                        Err(error) => {
                            return Err(RunError::internal(error)
                                .hint("the job needs `permissions: contents: write`"));
                        }
                    }
                }
                Err(RunError::internal(format!(
                    "`{SPENT_REF}`: other runs changed it {TRIES} times meanwhile"
                )))
            }
        }
    }
}

fn file(at: KeptAt<'_>) -> KeptFile<'_> {
    KeptFile {
        full_name: SPENT_REF,
        file: "spent.json",
        limit_bytes: RECORD_LIMIT_BYTES,
        once_deleted: "the count restarts from zero then",
        at,
    }
}

async fn lock(path: &Path, clock: &dyn Clock) -> Result<File, RunError> {
    let failed =
        |error: std::io::Error| RunError::internal(format!("`{}`: {error}", path.display()));
    let folder = path.parent().unwrap_or(path);
    make_private(folder).map_err(failed)?;
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_extension("lock"))
        .map_err(failed)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => clock.sleep(PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(RunError::internal(format!("`{}` is in use by another process", path.display())))
}

fn read(path: &Path) -> Result<SpendingRecord, RunError> {
    let place = path.display().to_string();
    let mut text = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(RECORD_LIMIT_BYTES).read_to_end(&mut text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(SpendingRecord::empty());
        }
        Err(error) => Err(error),
    }
    .map_err(|error| RunError::internal(format!("`{place}`: {error}")))?;
    SpendingRecord::parse(&text).map_err(|why| {
        let hint = format!("delete `{place}` to restart the count from zero");
        RunError::usage(&place, format!("the spending record is unusable: {why}")).hint(hint)
    })
}

/// Puts the record in place at once: a kill leaves the old one or the new one.
fn write(path: &Path, record: &SpendingRecord) -> Result<(), RunError> {
    let failed =
        |error: std::io::Error| RunError::internal(format!("`{}`: {error}", path.display()));
    let text = record.render().map_err(RunError::internal)?;
    let mut file =
        tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path)).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_data().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
