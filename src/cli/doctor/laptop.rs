//! Why no run can start on this machine: what the preparation of a run says, and what the machine
//! lacks.

use std::path::Path;

use crate::cli::doctor::report::DoctorReport;
use crate::cli::{CommandContext, local_run};
use crate::run::error::RunError;
use crate::run::run_request::{RunPurpose, RunRequest};
use locum_files::diagnostic::Diagnostic;
use locum_workspace::repo::{Repo, RepoError};
use locum_workspace::writable::writable_folder;

/// Returns why no run can start on this machine.
pub(super) fn laptop_problems(findings: &DoctorReport, context: &CommandContext) -> Vec<String> {
    let git = findings.git.is_none().then(|| "git is not installed: install it".to_owned());
    // Where there is none at all, a policy can want none.
    let wants_none = findings.sandbox.is_nothing() && findings.commands_run;
    let sandbox = (!findings.sandbox.is_full() && !wants_none).then(|| {
        format!("this machine does not support the whole sandbox: {}", findings.sandbox_missing)
    });
    let prepared = prepared(context).err().map(|error| said(&error)).unwrap_or_default();
    let is_told = !prepared.is_empty() || !findings.settings_problems.is_empty();
    let commands = (!is_told && !findings.commands_run && findings.sandbox.is_full())
        .then(|| format!("policy: {}", findings.commands));
    let model = findings.model_problem.clone();
    let silent = findings.probe.as_ref().and_then(|probe| probe.problem.clone());
    let modes = findings.modes_problem.clone().filter(|_| prepared.is_empty());
    let checks = findings.success_problems.iter().cloned();
    let machine = [git, sandbox].into_iter().flatten();
    // The last commit's are among those of the preparation.
    let settings: Vec<String> =
        findings.settings_problems.iter().filter(|one| !prepared.contains(one)).cloned().collect();
    let others = [commands, model, silent, modes].into_iter().flatten();
    machine.chain(settings).chain(prepared).chain(others).chain(checks).collect()
}

/// Prepares a run of the last commit as `locum run --dry-run` does. Outside a checkout there is
/// nothing to prepare.
fn prepared(context: &CommandContext) -> Result<(), RunError> {
    if matches!(Repo::open(&context.folder), Err(RepoError::NotARepository(_))) {
        return Ok(());
    }
    let workspace = local_run::open(&context.folder)?;
    let base = local_run::base(&workspace, None)?;
    let request = RunRequest {
        purpose: RunPurpose::Plan,
        ..RunRequest::new("say what is missing".to_owned(), base)
    };
    local_run::prepare(&request, &workspace, context).map(|_| ())
}

/// Returns why no session can be kept in a folder; `None` where one can.
pub(super) fn unwritable(sessions: &Path) -> Option<String> {
    let (folder, error) = writable_folder(sessions).err()?;
    let what = if folder == sessions {
        format!("sessions cannot be kept in `{}`: {error}", sessions.display())
    } else {
        format!("`{}` cannot be made in `{}`: {error}", sessions.display(), folder.display())
    };
    Some(format!("{what}; set LOCUM_STATE_DIR to a folder that can be written"))
}

/// Returns each mistake with what to do about it, in a line.
pub(super) fn said(error: &RunError) -> Vec<String> {
    let line = |diagnostic: &Diagnostic| match &diagnostic.hint {
        Some(hint) => format!("{}; {hint}", diagnostic.headline()),
        None => diagnostic.headline(),
    };
    error.diagnostics.iter().map(line).collect()
}
