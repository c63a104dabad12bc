//! The policy file a command is about: the one a user names, the repository's own, or the built-in.

use std::path::Path;

use crate::cli::CommandContext;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use crate::run::trusted::POLICY_FILE;
use crate::run::user::named_file;
use locum_policy::schema::PolicyErrors;
use locum_policy::{BUILTIN_ORIGIN, BUILTIN_TEXT, Policy};

/// Whether a user asks for the built-in policy.
pub(super) fn is_built_in(path: &Path) -> bool {
    path == Path::new("built-in")
}

/// Returns the built-in policy as a file that was named.
pub(super) fn built_in() -> ConfigFile {
    ConfigFile { origin: BUILTIN_ORIGIN.to_owned(), text: BUILTIN_TEXT.to_owned() }
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
    if is_built_in(path) {
        return Ok(built_in());
    }
    let file = named_file(&context.folder.join(path))?.ok_or_else(|| {
        RunError::usage(argument, format!("there is no file `{}`", path.display()))
            .hint(context.looked_for_in())
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
    let file = place.source().own_file(named.unwrap_or(POLICY_FILE))?;
    match (file, named) {
        (None, Some(path)) if path != POLICY_FILE => {
            let source = settings.source("policy").map_or_else(String::new, ToString::to_string);
            Err(RunError::usage(source, format!("`policy` names `{path}`, which does not exist")))
        }
        (file, _) => Ok(file),
    }
}

/// Says on stderr where the files that were read differ from the commit that a run reads.
pub(super) fn note_uncommitted(
    context: &CommandContext,
    given_path: Option<&Path>,
    at: Option<&str>,
    output: &mut Output,
) -> Result<(), RunError> {
    let place = InspectedRepository::open(context, at)?;
    let policy = match given_path {
        Some(_) => None,
        None => Some(place.settings()?.values.policy.unwrap_or_else(|| POLICY_FILE.to_owned())),
    };
    if let Some(note) = place.uncommitted(policy.as_deref()) {
        output.talk(format_args!("note: {note}; `--at HEAD` asks what a run reads"));
    }
    Ok(())
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
