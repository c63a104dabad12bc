//! Why the Action cannot start runs in a repository, as the files of its last commit show it.

use std::collections::BTreeSet;

use crate::cli::CommandContext;
use crate::cli::action_workflow::{ActionWorkflows, StepInput, Workflow};
use crate::cli::doctor::laptop::said;
use crate::cli::doctor::report::broken_modes;
use crate::cli::doctor::workflow_checks::{ActionFacts, workflow_problems};
use crate::cli::inspected::InspectedRepository;
use crate::cli::local_run::no_checkout;
use crate::cli::policy_file::{parse, repository_file};
use crate::run::checks;
use crate::run::job::{self, Job};
use crate::run::source::JOBS_FOLDER;
use crate::run::trusted::POLICY_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_policy::Policy;
use locum_policy::lint::tiers::{starts_anything, ways_without_tiers};
use locum_policy::schema::events::EventRule;
use locum_policy::starter::unheard::unheard_events;
use locum_workspace::repo::{Repo, RepoError};

/// What is said of a folder that has nothing to look at.
const NO_COMMIT: &str = "this is not a git checkout with a commit";
/// What is said of a commit in which nothing starts a run.
const NO_WORKFLOW: &str = "the last commit has no workflow that uses Locum: `locum init` writes \
                           one, for you to commit";

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
        Err(error) => problems.extend(said(&error)),
    }
    problems.extend(uncommitted.map(|what| format!("{what}; commit it")));
    // Mistakes in settings are reported with the policy that they name.
    if place.settings().is_ok() {
        problems.extend(place.modes().err().map(|error| broken_modes(&error)));
    }
    problems.extend(place.source().ignored().err().iter().flat_map(said));
    let modes = place.modes().ok();
    match checks::read_all(&place.source()) {
        Ok(checks) => {
            let unknown = modes.iter().flat_map(|modes| checks::unknown_modes(&checks, modes));
            problems.extend(unknown.map(|mistake| mistake.headline()));
        }
        Err(error) => problems.extend(error.diagnostics.iter().map(Diagnostic::headline)),
    }
    let slugs: Option<Vec<&str>> =
        modes.as_ref().map(|modes| modes.iter().map(|mode| mode.slug.as_str()).collect());
    let jobs = match job::read_all(&place.source()) {
        Ok(jobs) => Some(jobs),
        Err(error) => {
            problems.extend(said(&error));
            None
        }
    };
    let settings = place.settings().ok();
    let profiles: Vec<&str> = settings
        .iter()
        .flat_map(|settings| settings.values.models.profiles.keys().map(String::as_str))
        .collect();
    problems.extend(policy.iter().filter_map(nothing_starts));
    problems.extend(missing_jobs(policy.as_ref(), jobs.as_deref()));
    problems.extend(missing_modes(policy.as_ref(), slugs.as_deref()));
    let workflows = match ActionWorkflows::all(&place.source()) {
        Ok(ActionWorkflows { read, broken }) => {
            if read.is_empty() && broken.is_empty() {
                problems.push(NO_WORKFLOW.to_owned());
            }
            problems.extend(broken.iter().map(not_yaml));
            read
        }
        Err(error) => {
            problems.extend(said(&error));
            Vec::new()
        }
    };
    problems.extend(missing_policies(&place, &workflows));
    if let Some(workflow) = workflows.iter().find(|workflow| has_placeholder(workflow)) {
        problems.push(format!(
            "`{}` holds a placeholder: name the Action's account and commit",
            workflow.path
        ));
        return problems;
    }
    let facts = ActionFacts {
        policy: policy.as_ref().map(Policy::settings),
        jobs: jobs.as_deref(),
        modes: slugs.as_deref(),
        profiles: &profiles,
    };
    problems.extend(policy.iter().flat_map(|policy| unheard(policy, &workflows)));
    problems.extend(workflow_problems(&workflows, &facts));
    problems
}

/// Names the policies that steps are given and that are not in the commit.
fn missing_policies(place: &InspectedRepository<'_>, workflows: &[Workflow]) -> Vec<String> {
    let steps = workflows.iter().flat_map(|workflow| &workflow.steps);
    let named = steps.filter_map(|step| step.fixed("policy"));
    let problem = |input: &StepInput| match place.source().regular_file(input.value.trim()) {
        Ok(Some(_)) => Vec::new(),
        Ok(None) => vec![format!(
            "{}: `policy` names `{}`, which the last commit does not have",
            input.place, input.value
        )],
        Err(error) => said(&error),
    };
    named.flat_map(problem).collect()
}

fn has_placeholder(workflow: &Workflow) -> bool {
    workflow.steps.iter().any(|step| step.reference.starts_with("0000000"))
}

fn not_yaml(mistake: &Diagnostic) -> String {
    format!("{}: not YAML that GitHub can read: {}", mistake.location(), mistake.what())
}

/// Says that the ways to start a run that the policy has are open to nobody.
fn nothing_starts(policy: &Policy) -> Option<String> {
    let idle = ways_without_tiers(policy);
    (!starts_anything(&policy.settings().triggers)).then_some(())?;
    Some(idle.first()?.message.clone())
}

/// Names the jobs that the policy starts and that do not exist.
fn missing_jobs(policy: Option<&Policy>, jobs: Option<&[Job]>) -> Vec<String> {
    let (Some(policy), Some(jobs)) = (policy, jobs) else { return Vec::new() };
    let started: BTreeSet<&String> = policy.settings().triggers.started_jobs().collect();
    let missing = started.into_iter().filter(|name| jobs.iter().all(|job| job.name != **name));
    let said = |name: &String| {
        format!("the policy starts the job `{name}`, and there is no `{JOBS_FOLDER}/{name}.yml`")
    };
    missing.map(said).collect()
}

/// Names the modes that the policy's events start and that no run can have.
fn missing_modes(policy: Option<&Policy>, slugs: Option<&[&str]>) -> Vec<String> {
    let (Some(policy), Some(slugs)) = (policy, slugs) else { return Vec::new() };
    let allowed = &policy.settings().modes.allow;
    let said = |rule: &EventRule| {
        let mode = rule.mode.as_ref()?;
        let can_run = slugs.contains(&mode.as_str()) && allowed.contains(mode);
        (!can_run).then(|| rule.unusable_mode(mode, policy.origin()))
    };
    policy.settings().triggers.events.iter().filter_map(said).collect()
}

/// Names the events that the policy lets start something and that no workflow listens to.
fn unheard(policy: &Policy, workflows: &[Workflow]) -> Vec<String> {
    let of = |workflow: &Workflow| unheard_events(policy.settings(), &workflow.text);
    let Some((first, others)) = workflows.split_first() else { return Vec::new() };
    let others: Vec<Vec<String>> = others.iter().map(of).collect();
    let events = of(first).into_iter().filter(|event| others.iter().all(|one| one.contains(event)));
    let said = |event: String| {
        format!(
            "the policy lets `{event}` start something, but `{}` does not listen to it: \
             `locum init --update` adds it",
            first.path
        )
    };
    events.map(said).collect()
}
