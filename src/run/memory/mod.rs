//! The memory across runs: read before a run begins, written once it is over.
//!
//! In: the notes on their ref, and what a session wrote into its journal. Out: the notes for the
//! session's tools; afterwards a line for the outcome on each note that was kept or was not. It is
//! off where no rule is about it. What it cannot read or write stops no run.

pub mod record;
pub mod reference;

use std::cell::Cell;
use std::sync::Arc;

use crate::run::error::RunError;
use crate::run::execution::RunExecution;
use crate::run::kept_file::KeptAt;
use crate::run::memory::reference::{KeepEntry, MemoryRef};
use crate::run::spending::store::RecordStore;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_agent::tools::memory::entry::{EarlierNotes, MemoryChange};
use locum_policy::Permit;
use locum_policy::approval::Approval;
use locum_policy::intent::{Facts, Intent};
use locum_policy::kind::RuleKind;

/// The notes as a run begins, and what is to be said of them.
#[derive(Default)]
pub(super) struct LoadedMemory {
    /// The notes.
    pub(super) notes: EarlierNotes,
    /// Why they could not be read.
    pub(super) problem: Option<String>,
}

/// Reads the notes where some rule lets a mode of the run read or write any.
pub(super) async fn load(execution: &RunExecution<'_>) -> LoadedMemory {
    if !may_use(execution) {
        return LoadedMemory::default();
    }
    match place(execution).load().await {
        Ok(record) => {
            let written = record.written(execution.run.plan.session.as_str());
            let notes = EarlierNotes { notes: Arc::new(record.entries), written };
            LoadedMemory { notes, problem: None }
        }
        Err(error) => {
            let problem = format!("The memory could not be read: {}.", said(&error));
            LoadedMemory { problem: Some(problem), ..LoadedMemory::default() }
        }
    }
}

/// Writes what a session kept, and says in its outcome what became of it. Only for a run that may
/// publish: one that lost its claim keeps nothing.
pub async fn keep(execution: &RunExecution<'_>, outcome: &mut Outcome) {
    if !may_use(execution) {
        return;
    }
    let mut notes = match Journal::read(execution.folder) {
        Ok(lines) => kept(execution, &SessionState::of(&lines)).await,
        Err(error) => vec![format!("What is to be kept in memory is not known: {error}.")],
    };
    notes.retain(|note| !outcome.notes.contains(note));
    outcome.notes.extend(notes);
}

/// Whether some rule lets a mode of the run read or write any note.
fn may_use(execution: &RunExecution<'_>) -> bool {
    let run = execution.run;
    let may_use = |slug: &str| {
        let facts = Facts { mode: slug.to_owned(), ..run.plan.facts.clone() };
        let kinds = [RuleKind::MemoryRead, RuleKind::MemoryWrite];
        kinds.into_iter().any(|kind| run.policy.may_use(kind, &facts))
    };
    run.modes.iter().any(|mode| may_use(&mode.slug))
}

/// Writes what a session kept, each note by itself; says what became of it. What is in the memory
/// already was said when it was written.
async fn kept(execution: &RunExecution<'_>, state: &SessionState) -> Vec<String> {
    let (mut said, mut written, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for change in &state.memory {
        let name = format!("`{}`", change.name);
        if !execution.keeps_memory {
            said.push(format!(
                "The memory was not changed: {name}: a job that may write nothing keeps no notes."
            ));
            continue;
        }
        let made = match permit(execution, state, change) {
            Ok(permit) => write(execution, &permit, change).await,
            Err(why) => Err(why),
        };
        match (made, &change.entry) {
            (Ok(true), Some(_)) => written.push(name),
            (Ok(true), None) => removed.push(name),
            (Ok(false), _) => {}
            (Err(why), _) => said.push(format!("The memory was not changed: {name}: {why}.")),
        }
    }
    for (what, names) in
        [("Removed from memory", removed), ("Kept in memory for later runs", written)]
    {
        if !names.is_empty() {
            said.insert(0, format!("{what}: {}.", names.join(", ")));
        }
    }
    said
}

/// Returns what an error says, with what to do about it.
fn said(error: &RunError) -> String {
    let hints = error.diagnostics.iter().filter_map(|diagnostic| diagnostic.hint.as_deref());
    hints.fold(error.to_string(), |text, hint| format!("{text}; {hint}"))
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

/// Makes a change; returns false where it was made before.
async fn write(
    execution: &RunExecution<'_>,
    permit: &Permit<KeepEntry>,
    change: &MemoryChange,
) -> Result<bool, String> {
    let session = execution.run.plan.session.as_str();
    let verb = if change.entry.is_some() { "keep" } else { "remove" };
    let message = format!("{verb} {}\n\nBy session {session}.\n", change.name);
    let (place, made) = (place(execution), Cell::new(false));
    let written = place.change(permit, execution.clock, &message, |record| {
        made.set(record.apply(session, change).map_err(|error| error.to_string())?);
        Ok(())
    });
    written.await.map_err(|error| said(&error))?;
    Ok(made.get())
}

fn place<'a>(execution: &RunExecution<'a>) -> MemoryRef<'a> {
    let repo = &execution.workspace.repo;
    match execution.record {
        RecordStore::Local => MemoryRef::Local(repo),
        RecordStore::Remote { git, remote } => MemoryRef::Remote(KeptAt { git, remote, repo }),
    }
}
