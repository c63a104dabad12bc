//! The files of Locum's own as one commit has them: policy, modes, jobs. What is wrong with them,
//! and what has no effect.
//!
//! In: a commit, perhaps of somebody who may not be trusted. Out: mistakes and warnings at their
//! lines. Nothing of it is obeyed.

use crate::config::settings::Settings;
use crate::run::checks;
use crate::run::error::{RunError, RunErrorKind};
use crate::run::job;
use crate::run::source::{FileSource, JOBS_FOLDER};
use crate::run::trusted::POLICY_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_modes::merge;
use locum_modes::prompts::checks::is_check_file;
use locum_policy::Policy;
use locum_policy::cases::CASES_FILE;
use locum_policy::lint::warning::Warning;
use locum_policy::lint::{self, idle};

/// Where a repository keeps its files for Locum.
const OWN_FOLDER: &str = ".locum/";

/// What a check of Locum's own files found.
#[derive(Debug, Default)]
pub(super) struct PolicyExamination {
    /// Whether there is a policy.
    pub(super) has_policy: bool,
    /// What is wrong.
    pub(super) mistakes: Vec<Diagnostic>,
    /// What has no effect or is risky.
    pub(super) warnings: Vec<Warning>,
}

/// Returns whether a path is one of the files that are examined.
pub(super) fn is_own_file(path: &str, settings: &Settings) -> bool {
    path.starts_with(OWN_FOLDER) || is_check_file(path) || path == policy_path(settings)
}

/// Examines the files of a commit; the settings say where its policy is.
///
/// # Errors
/// When the machine fails.
pub(super) fn examine(
    source: &FileSource<'_>,
    settings: &Settings,
) -> Result<PolicyExamination, RunError> {
    let mut found = PolicyExamination::default();
    let file = found.take(source.own_file(policy_path(settings)))?.flatten();
    let policy = file.map(|file| Policy::parse(&file.text, &file.origin).map_err(RunError::from));
    found.has_policy = policy.is_some();
    let policy = found.take(policy.transpose())?.flatten();
    found.take(source.own_file(CASES_FILE))?;
    let jobs = found.take(job::read_all(source))?;
    let merged = source
        .mode_texts()
        .and_then(|texts| merge::merge(&texts, settings.values.mode_files).map_err(RunError::from));
    let modes = found.take(merged)?.map(|merged| merged.modes);
    let checks = found.take(checks::read_all(source))?;
    let Some(policy) = policy else { return Ok(found) };
    found.warnings = lint::warnings(&policy);
    if let Some(modes) = &modes {
        let slugs: Vec<String> = modes.iter().map(|mode| mode.slug.clone()).collect();
        found.warnings.extend(idle::unknown_modes(&policy, &slugs));
        let default = &policy.settings().modes.default;
        let unusable = jobs.iter().flatten().filter_map(|job| job.mistake_of_mode(modes, default));
        found.mistakes.extend(unusable);
    }
    if let Some(checks) = checks {
        let names: Vec<String> = checks.into_iter().map(|check| check.slug).collect();
        found.warnings.extend(idle::unknown_checks(&policy, &names));
    }
    let files = found.take(source.below(JOBS_FOLDER))?.unwrap_or_default();
    let names = files.iter().filter_map(|(path, _)| path.as_str().strip_suffix(".yml"));
    let names: Vec<String> = names.map(str::to_owned).collect();
    found.warnings.extend(idle::unknown_jobs(&policy, &names));
    Ok(found)
}

impl PolicyExamination {
    /// Takes in the mistakes of a file.
    fn take<T>(&mut self, read: Result<T, RunError>) -> Result<Option<T>, RunError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.kind == RunErrorKind::Internal => Err(error),
            Err(error) => {
                self.mistakes.extend(error.diagnostics);
                Ok(None)
            }
        }
    }
}

fn policy_path(settings: &Settings) -> &str {
    settings.values.policy.as_deref().unwrap_or(POLICY_FILE)
}
