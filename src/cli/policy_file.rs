//! The policy file a command is about: the one a user names, the repository's own, or the built-in.

use std::path::Path;

use crate::cli::CommandContext;
use crate::cli::inspected::InspectedRepository;
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use crate::run::trusted::POLICY_FILE;
use crate::run::user::named_file;
use locum_policy::Policy;
use locum_policy::schema::PolicyErrors;
use locum_policy::verdict::RuleRef;

/// Where a rule stands; of a setting, the file alone.
pub(super) fn place(rule: &RuleRef) -> String {
    if rule.line == 0 { rule.origin.clone() } else { format!("{}:{}", rule.origin, rule.line) }
}

/// Reads a policy file; without one, the built-in policy.
pub(super) fn parse(file: Option<&ConfigFile>) -> Result<Policy, PolicyErrors> {
    file.map_or_else(|| Ok(Policy::builtin()), |file| Policy::parse(&file.text, &file.origin))
}

/// Reads the policy file a user named; it has to exist.
pub(super) fn given(
    context: &CommandContext,
    path: &Path,
    argument: &str,
) -> Result<ConfigFile, RunError> {
    let file = named_file(&context.folder.join(path))?.ok_or_else(|| {
        RunError::usage(argument, format!("there is no file `{}`", path.display()))
    })?;
    Ok(ConfigFile { origin: path.display().to_string(), ..file })
}

/// Reads the repository's own policy file, wherever the settings say it is.
pub(super) fn repository_file(
    context: &CommandContext,
    at: Option<&str>,
) -> Result<Option<ConfigFile>, RunError> {
    let place = InspectedRepository::open(context, at)?;
    let settings = place.settings()?;
    let named = settings.values.policy.as_deref();
    let file = place.source().file(named.unwrap_or(POLICY_FILE))?;
    match (file, named) {
        (None, Some(path)) if path != POLICY_FILE => {
            let source = settings.source("policy").map_or_else(String::new, ToString::to_string);
            Err(RunError::usage(source, format!("`policy` names `{path}`, which does not exist")))
        }
        (file, _) => Ok(file),
    }
}

/// Reads the policy file that is given, else the repository's.
pub(super) fn chosen(
    context: &CommandContext,
    given_path: Option<&Path>,
    argument: &str,
    at: Option<&str>,
) -> Result<Option<ConfigFile>, RunError> {
    match given_path {
        Some(path) => given(context, path, argument).map(Some),
        None => repository_file(context, at),
    }
}
