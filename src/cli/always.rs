//! `locum session approve --always`: the change of the policy by which such calls need no approval.

use std::path::Path;

use crate::cli::local_run::{self, LocalRun};
use crate::cli::{CommandContext, recorded_run};
use crate::run::error::RunError;
use crate::run::proposed_rule::ProposedRule;
use crate::run::trusted::TrustedConfig;
use locum_agent::session::journal::Journal;
use locum_agent::session::outcome::{HeldCall, PendingDecision};
use locum_agent::session::state::SessionState;
use locum_base::secret::Redactor;
use locum_policy::BUILTIN_ORIGIN;

/// Returns what is proposed for held calls of a session, by their names.
///
/// # Errors
/// When the session cannot be read, or was not started at the command line.
pub(super) fn proposed(
    folder: &Path,
    ids: &[String],
    context: &CommandContext,
) -> Result<ProposedRule, RunError> {
    let lines = Journal::read(folder).map_err(|error| RunError::usage("ID", error.to_string()))?;
    let state = SessionState::of(&lines);
    let start = state
        .start
        .as_deref()
        .ok_or_else(|| RunError::usage("ID", "the session was killed before it began"))?;
    let local: LocalRun = recorded_run::local_of(start)?;
    let workspace = local_run::open(local.stands_for.as_ref().unwrap_or(&local.folder))?;
    let commit = local_run::base(&workspace, local.base_revision.as_deref())?;
    let overrides = recorded_run::overrides_now(&local, context)?;
    let config: TrustedConfig<'_> = local_run::config(&workspace, commit, &overrides, context)?;
    let file = match overrides.policy {
        Some(named) => Some(named),
        None => config.policy_file()?,
    };
    let file = file.filter(|file| file.origin != BUILTIN_ORIGIN);
    let held: Vec<&HeldCall> = state
        .pending
        .iter()
        .filter_map(PendingDecision::hold)
        .filter(|hold| ids.contains(&hold.id))
        .collect();
    let redactor = Redactor::new(context.environment.secrets());
    Ok(ProposedRule::of(&held, start, (&config.policy, file.as_ref()), &redactor))
}
