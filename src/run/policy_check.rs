//! The files that say what a run may do and how: policy, modes, jobs, checks, hooks, ignore files.
//! What is wrong with them, and what has no effect.
//!
//! In: where they are read, perhaps a commit of somebody who may not be trusted. Out: mistakes and
//! warnings at their lines, as the command `locum policy check` and the check run of that name show
//! them. Nothing of it is obeyed.

use crate::config::load::ConfigFile;
use crate::config::settings::Settings;
use crate::run::checks;
use crate::run::error::{RunError, RunErrorKind};
use crate::run::hooks;
use crate::run::job;
use crate::run::source::JOBS_FOLDER;
use crate::run::trusted::{ConfigOrigin, POLICY_FILE};
use locum_agent::tools::hooks::HOOKS_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_modes::merge;
use locum_modes::prompts::checks::is_check_file;
use locum_policy::Policy;
use locum_policy::cases::CASES_FILE;
use locum_policy::ignore::{IGNORE_FILES, IgnoreFiles};
use locum_policy::lint::warning::Warning;
use locum_policy::lint::{self, idle};
use locum_policy::schema::RepositoryHooks;
use locum_policy::verdict::RuleRef;

/// Where a repository keeps its files for Locum.
const OWN_FOLDER: &str = ".locum/";

/// What a check of Locum's own files found.
#[derive(Debug, Default)]
pub struct PolicyExamination {
    /// Whether there is a policy file.
    pub has_policy: bool,
    /// The policy; without a file the built-in one; `None` where it has mistakes.
    pub policy: Option<Policy>,
    /// What is wrong.
    pub mistakes: Vec<Diagnostic>,
    /// What has no effect or is risky.
    pub warnings: Vec<Warning>,
}

/// Returns whether a path is one of the files that are examined.
pub(super) fn is_own_file(path: &str, settings: &Settings) -> bool {
    path.starts_with(OWN_FOLDER)
        || is_check_file(path)
        || path == policy_path(settings)
        || path == HOOKS_FILE
        || IGNORE_FILES.contains(&path)
}

/// Examines the files that a run would read; the settings say where its policy is.
///
/// # Errors
/// When the machine fails.
pub fn examine(
    origin: &ConfigOrigin<'_>,
    settings: &Settings,
) -> Result<PolicyExamination, RunError> {
    let source = &origin.source;
    let mut found = PolicyExamination::default();
    let file = found.take(source.own_file(policy_path(settings)))?;
    found.has_policy = !matches!(file, Some(None));
    let policy = match file {
        Some(None) => Some(Policy::builtin()),
        file => found.parsed(file.flatten().as_ref())?,
    };
    found.take(source.own_file(CASES_FILE))?;
    let jobs = found.take(job::read_all(source))?;
    let merged = origin
        .mode_texts()
        .and_then(|texts| merge::merge(&texts, settings.values.mode_files).map_err(RunError::from));
    let modes = found.take(merged)?.map(|merged| merged.modes);
    let checks = found.take(checks::read_all(source))?;
    let ignored = found.take(source.ignored())?;
    let files = found.take(source.below(JOBS_FOLDER))?.unwrap_or_default();
    let Some(policy) = policy else { return Ok(found) };
    found.warnings = lint::warnings(&policy);
    if let Some(modes) = &modes {
        let default = &policy.settings().modes.default;
        let unusable = jobs.iter().flatten().filter_map(|job| job.mistake_of_mode(modes, default));
        found.mistakes.extend(unusable);
        found.mistakes.extend(checks::unknown_modes(checks.iter().flatten(), modes));
    }
    let names = files.iter().filter_map(|(path, _)| path.as_str().strip_suffix(".yml"));
    let names: Vec<String> = names.map(str::to_owned).collect();
    found.warnings.extend(idle::unknown_jobs(&policy, &names));
    if let Some(checks) = checks {
        let names: Vec<String> = checks.into_iter().map(|check| check.slug).collect();
        found.warnings.extend(idle::unknown_checks(&policy, &names));
    }
    if policy.settings().commands.hooks == RepositoryHooks::On
        && let Some(file) = found.take(hooks::read(source))?
    {
        found.warnings.extend(file.warnings.iter().map(of_hooks));
        found.warnings.extend(hooks::unallowed(&policy, &file.hooks));
    }
    let hidden = ignored.iter().flat_map(IgnoreFiles::left_out);
    found.warnings.extend(hidden.map(of_ignore_file));
    if let Some(modes) = &modes {
        let slugs: Vec<String> = modes.iter().map(|mode| mode.slug.clone()).collect();
        found.warnings.extend(idle::unknown_modes(&policy, &slugs));
    }
    found.policy = Some(policy);
    Ok(found)
}

/// Examines one policy file, beside no others.
///
/// # Errors
/// When the machine fails.
pub fn examine_file(file: &ConfigFile) -> Result<PolicyExamination, RunError> {
    let mut found = PolicyExamination { has_policy: true, ..PolicyExamination::default() };
    found.policy = found.parsed(Some(file))?;
    found.warnings = found.policy.iter().flat_map(lint::warnings).collect();
    Ok(found)
}

impl PolicyExamination {
    fn parsed(&mut self, file: Option<&ConfigFile>) -> Result<Option<Policy>, RunError> {
        let Some(file) = file else { return Ok(None) };
        self.take(Policy::parse(&file.text, &file.origin).map_err(RunError::from))
    }

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

/// A part of the hooks that has no effect.
fn of_hooks(warning: &Diagnostic) -> Warning {
    let rule = RuleRef::at("hooks", HOOKS_FILE, warning.place.line);
    Warning { rule, message: warning.message.clone() }
}

/// A line of an ignore file that hides nothing.
fn of_ignore_file((name, warning): (&str, &Diagnostic)) -> Warning {
    let rule = RuleRef::at(name, name, warning.place.line);
    Warning { rule, message: warning.message.clone() }
}

fn policy_path(settings: &Settings) -> &str {
    settings.values.policy.as_deref().unwrap_or(POLICY_FILE)
}
