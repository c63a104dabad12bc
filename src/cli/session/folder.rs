//! The folder that holds the sessions, and a session in it by name or the beginning of one.

use std::path::{Path, PathBuf};

use crate::cli::CommandContext;
use crate::config::load::FlagValue;
use crate::run::error::RunError;
use crate::run::kept_folder::check_outside;
use crate::run::session_record::names;
use crate::run::user::own_settings;
use locum_agent::session::id::SessionId;
use locum_workspace::repo::Repo;

/// Returns the folder that holds the sessions.
///
/// # Errors
/// When no setting and no variable names one, or the settings are wrong.
pub(in crate::cli) fn sessions_folder(
    context: &CommandContext,
    session_dir: Option<&Path>,
) -> Result<PathBuf, RunError> {
    let flag = |folder: &Path| FlagValue::new("--session-dir", "session_dir", folder.display());
    let flags: Vec<FlagValue> = session_dir.map(flag).into_iter().collect();
    let settings = own_settings(&context.environment, &flags)?;
    Ok(context.folder.join(settings.session_folder()?))
}

/// Returns the folder that holds the sessions, where what is in them is believed.
///
/// # Errors
/// As for [`sessions_folder`], and when it is in the checkout, where a run could have changed it.
pub(in crate::cli) fn believed_sessions_folder(
    context: &CommandContext,
    session_dir: Option<&Path>,
) -> Result<PathBuf, RunError> {
    let folder = sessions_folder(context, session_dir)?;
    if let Ok(repo) = Repo::open(&context.folder) {
        check_outside("session_dir", &folder, repo.root())?;
    }
    Ok(folder)
}

/// Finds the folder of the session with this name, or whose name alone begins so.
///
/// # Errors
/// When there is none, or more than one.
pub(in crate::cli) fn find(sessions: &Path, name: &str) -> Result<PathBuf, RunError> {
    let unknown = || {
        RunError::usage("ID", format!("there is no session `{name}`"))
            .hint("`locum session list` shows every session")
    };
    SessionId::parse(name).ok_or_else(unknown)?;
    let found: Vec<String> =
        names(sessions)?.into_iter().filter(|other| other.starts_with(name)).collect();
    match found.as_slice() {
        [] => Err(unknown()),
        [only] => Ok(sessions.join(only)),
        several if several.iter().any(|other| other == name) => Ok(sessions.join(name)),
        several => {
            Err(RunError::usage("ID", format!("{} sessions begin with `{name}`", several.len()))
                .hint("write more of the ID"))
        }
    }
}
