//! The memory across runs: read before a run begins, written once it is over.
//!
//! In: the notes on their ref, and what a session wrote into its journal. Out: the notes for the
//! session's tools; afterwards a line for the outcome on each note that was kept or was not. It is
//! off where no rule is about it. What it cannot read or write stops no run.

pub mod record;
pub mod reference;

use std::sync::Arc;

use crate::run::execution::RunExecution;
use crate::run::kept_file::KeptAt;
use crate::run::memory::reference::{KeepEntry, MemoryRef};
use crate::run::spending::store::RecordStore;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_agent::tools::memory::entry::{Memory, MemoryChange};
use locum_policy::Permit;
use locum_policy::approval::Approval;
use locum_policy::intent::{Facts, Intent};
use locum_policy::kind::RuleKind;

/// The notes as a run begins, and what is to be said of them.
#[derive(Default)]
pub(super) struct LoadedMemory {
    /// The notes.
    pub(super) notes: Arc<Memory>,
    /// Why they could not be read.
    problem: Option<String>,
}

impl LoadedMemory {
    /// Says in an outcome what became of the memory, and keeps what the session wrote.
    pub(super) async fn keep(self, execution: &RunExecution<'_>, outcome: &mut Outcome) {
        let mut said: Vec<String> = self.problem.into_iter().collect();
        match Journal::read(execution.folder) {
            Ok(lines) => said.extend(keep(execution, &SessionState::of(&lines)).await),
            Err(error) => tracing::warn!(%error, "what is to be kept in memory is not known"),
        }
        said.retain(|note| !outcome.notes.contains(note));
        outcome.notes.extend(said);
    }
}

/// Reads the notes where some rule lets a mode of the run read or write any.
pub(super) async fn load(execution: &RunExecution<'_>) -> LoadedMemory {
    let run = execution.run;
    let may_use = |slug: &str| {
        let facts = Facts { mode: slug.to_owned(), ..run.plan.facts.clone() };
        let kinds = [RuleKind::MemoryRead, RuleKind::MemoryWrite];
        kinds.into_iter().any(|kind| run.policy.may_use(kind, &facts))
    };
    if !run.modes.iter().any(|mode| may_use(&mode.slug)) {
        return LoadedMemory::default();
    }
    match place(execution).load().await {
        Ok(record) => LoadedMemory { notes: Arc::new(record.entries), problem: None },
        Err(error) => {
            let problem = format!("The memory could not be read: {error}.");
            LoadedMemory { problem: Some(problem), ..LoadedMemory::default() }
        }
    }
}

/// Writes what a session kept, each note by itself; says what became of it.
async fn keep(execution: &RunExecution<'_>, state: &SessionState) -> Vec<String> {
    let mut said = Vec::new();
    for change in &state.memory {
        let name = &change.name;
        let written = match permit(execution, state, change) {
            Ok(permit) => write(execution, &permit, change).await,
            Err(why) => Err(why),
        };
        said.push(match (written, &change.entry) {
            (Ok(()), Some(_)) => format!("Kept in memory for later runs: `{name}`."),
            (Ok(()), None) => format!("Removed from memory: `{name}`."),
            (Err(why), _) => format!("The memory was not changed: `{name}`: {why}."),
        });
    }
    said
}

/// Judges a change once more, as the run began; what was held then needs its approval.
fn permit(
    execution: &RunExecution<'_>,
    state: &SessionState,
    change: &MemoryChange,
) -> Result<Permit<KeepEntry>, String> {
    let policy = &execution.run.policy;
    let begun = state.start.as_ref().map_or(&execution.run.plan.facts, |start| &start.facts);
    let facts = Facts { mode: change.mode.clone(), ..begun.clone() };
    let act = || KeepEntry(change.name.clone());
    let intent = Intent::MemoryWrite(change.name.clone()).to_string();
    let mut approvals = state.approved.iter().map(|call| &call.approval);
    let approval: Option<&Approval> =
        approvals.rfind(|approval| approval.intents.contains(&intent));
    let permit = match approval {
        Some(approval) => policy.admit_approved(act(), &facts, approval.clone()),
        None => policy.admit(act(), &facts),
    };
    permit.map_err(|refusal| refusal.to_string())
}

async fn write(
    execution: &RunExecution<'_>,
    permit: &Permit<KeepEntry>,
    change: &MemoryChange,
) -> Result<(), String> {
    let session = execution.run.plan.session.as_str();
    let verb = if change.entry.is_some() { "keep" } else { "remove" };
    let message = format!("{verb} {}\n\nBy session {session}.\n", change.name);
    let place = place(execution);
    let written = place.change(permit, execution.clock, &message, |record| {
        record.apply(session, change).map_err(|error| error.to_string())
    });
    written.await.map_err(|error| error.to_string())
}

fn place<'a>(execution: &RunExecution<'a>) -> MemoryRef<'a> {
    let repo = &execution.workspace.repo;
    match execution.record {
        RecordStore::Local => MemoryRef::Local(repo),
        RecordStore::Remote { git, remote } => MemoryRef::Remote(KeptAt { git, remote, repo }),
    }
}
