//! Why the Action cannot start runs in a repository, as the files of its last commit show it.

use crate::cli::CommandContext;
use crate::cli::doctor::laptop::said;
use crate::cli::doctor::report::broken_modes;
use crate::cli::inspected::InspectedRepository;
use crate::cli::local_run::no_checkout;
use crate::cli::policy_file::{parse, repository_file};
use crate::run::checks;
use crate::run::trusted::POLICY_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_policy::starter::unheard::unheard_events;
use locum_workspace::repo::{Repo, RepoError};

/// Where workflows are.
const WORKFLOWS: &str = ".github/workflows";
/// What is said of a folder that has nothing to look at.
const NO_COMMIT: &str = "this is not a git checkout with a commit";

/// Returns why the Action cannot start runs in this repository, as its files show it.
pub(super) fn action_problems(context: &CommandContext, uncommitted: Option<&str>) -> Vec<String> {
    let place = match Repo::open(&context.folder) {
        Err(RepoError::NotARepository(_)) => Err(NO_COMMIT.to_owned()),
        Err(error) => Err(said(&no_checkout(&error)).join("; ")),
        Ok(_) => InspectedRepository::open(context, Some("HEAD")).map_err(|_| NO_COMMIT.to_owned()),
    };
    let place = match place {
        Ok(place) => place,
        Err(why) => return vec![why],
    };
    let mut problems = Vec::new();
    let mut policy = None;
    match repository_file(context, Some("HEAD")) {
        Ok(Some(file)) => match parse(Some(&file)) {
            Ok(read) => policy = Some(read),
            Err(_) => problems.push(format!(
                "`{}` of the last commit has mistakes: `locum policy check --at HEAD` lists them",
                file.origin
            )),
        },
        Ok(None) => problems.push(format!(
            "the last commit has no `{POLICY_FILE}`: `locum init` writes one, for you to commit"
        )),
        Err(error) => problems.push(error.to_string()),
    }
    problems.extend(uncommitted.map(|what| format!("{what}; commit it")));
    problems.extend(place.modes().err().map(|error| broken_modes(&error)));
    if let Err(error) = checks::read_all(&place.source()) {
        problems.extend(error.diagnostics.iter().map(Diagnostic::headline));
    }
    let workflows = place.source().below(WORKFLOWS).unwrap_or_default();
    match workflows.iter().find(|(_, text)| text.contains("locum@")) {
        None => problems.push(
            "the last commit has no workflow that uses Locum: `locum init` writes one, for you to commit"
                .to_owned(),
        ),
        Some((path, text)) if text.contains("locum@0000000") => {
            problems.push(format!(
                "`{WORKFLOWS}/{path}` holds a placeholder: name the Action's account and commit"
            ));
        }
        Some((path, text)) => problems.extend(policy.iter().flat_map(|policy| {
            unheard_events(policy.settings(), text).into_iter().map(move |event| {
                format!(
                    "the policy lets `{event}` start something, but `{WORKFLOWS}/{path}` does not \
                     listen to it: `locum init --update` adds it"
                )
            })
        })),
    }
    problems
}
