//! What a shell completes: the modes, jobs, sessions and profiles there are where it asks.
//!
//! In: the folder and the environment of the shell. Out: names, with a word about each. What cannot
//! be read is left out: nobody reads an error while completing.

use std::path::PathBuf;

use clap_complete::engine::CompletionCandidate;

use crate::cli::args::GlobalArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::session::folder::sessions_folder;
use crate::cli::{CommandContext, local_run};
use crate::config::environment::Environment;
use crate::run::job;
use crate::run::session_record::names;
use crate::run::source::FileSource;
use locum_policy::pattern;

/// Most sessions that are offered, the latest first.
const SESSIONS_LIMIT: usize = 50;

/// Returns the modes of the repository.
pub(super) fn modes() -> Vec<CompletionCandidate> {
    let modes = context().and_then(|context| {
        let modes = InspectedRepository::open(&context, None).ok()?.modes().ok()?;
        Some(modes.iter().map(|mode| candidate(&mode.slug, &mode.name)).collect())
    });
    modes.unwrap_or_default()
}

/// Returns the sessions of this machine.
pub(super) fn sessions() -> Vec<CompletionCandidate> {
    let names = context().and_then(|context| names(&sessions_folder(&context, None).ok()?).ok());
    let names = names.unwrap_or_default();
    names.iter().rev().take(SESSIONS_LIMIT).map(CompletionCandidate::new).collect()
}

/// Returns the jobs of the commit that is checked out.
pub(super) fn jobs() -> Vec<CompletionCandidate> {
    let jobs = context().and_then(|context| {
        let workspace = local_run::open(&context.folder).ok()?;
        let commit = local_run::base(&workspace, None).ok()?;
        job::read_all(&FileSource::Commit(&workspace.repo, commit)).ok()
    });
    let about = |job: &job::Job| job.description.clone().unwrap_or_default();
    jobs.unwrap_or_default().iter().map(|job| candidate(&job.name, &about(job))).collect()
}

/// Returns the profiles of models.
pub(super) fn profiles() -> Vec<CompletionCandidate> {
    let settings = context()
        .and_then(|context| InspectedRepository::open(&context, None).ok()?.settings().ok());
    let profiles = settings.map(|settings| settings.values.models.profiles).unwrap_or_default();
    profiles.keys().map(CompletionCandidate::new).collect()
}

/// Returns the beginnings of intents.
pub(super) fn intents() -> Vec<CompletionCandidate> {
    pattern::KINDS.iter().map(|kind| CompletionCandidate::new(format!("{kind}("))).collect()
}

fn candidate(name: &str, about: &str) -> CompletionCandidate {
    let about = about.lines().next().filter(|about| !about.trim().is_empty());
    CompletionCandidate::new(name).help(about.map(|about| about.to_owned().into()))
}

/// Returns where the shell asks; `None` where its folder is gone.
fn context() -> Option<CommandContext> {
    let environment = Environment::snapshot();
    let folder: PathBuf = std::env::current_dir().ok()?;
    Some(CommandContext { environment, folder, global: GlobalArgs::default() })
}
