//! `locum policy init` and `locum init`: a starter policy made from what lies in the repository,
//! and the workflow that starts runs.
//! In: a checkout. Out: new files, or their text. A file appears whole or not at all, and none is
//! overwritten without a flag that says so.

pub mod args;
mod edit_glob;
mod files;
mod ignored;
pub(super) mod last_words;
mod model;
mod plan;
mod questions;
mod report;
mod update;

use std::io::{self, IsTerminal as _};

use crate::cli::init::args::InitArgs;
use crate::cli::init::files::{InitFile, write};
use crate::cli::init::plan::{InitPlan, InitStart};
use crate::cli::init::questions::{InitChoices, ProposedAnswers};
use crate::cli::init::report::{InitReport, MissingProgram};
use crate::cli::init::update::FileUpdate;
use crate::cli::inspected::InspectedRepository;
use crate::cli::local_run::no_checkout;
use crate::cli::onboarding::{self, OnboardingPlan};
use crate::cli::output::Output;
use crate::cli::policy_args::PolicyInitArgs;
use crate::cli::programs::is_on_path;
use crate::cli::success_check;
use crate::cli::words::Word;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::environment::Environment;
use crate::run::error::RunError;
use crate::run::repository_scan::scan;
use crate::run::trusted::POLICY_FILE;
use locum_forge::posts::Receipt;
use locum_modes::{ModeSet, ModeSource, ToolGroup};
use locum_policy::Policy;
use locum_policy::starter::ci_commands::ci_commands;
use locum_policy::starter::jobs::{JOBS, JobRecipe};
use locum_policy::starter::mark::{MarkedChoices, marked};
use locum_policy::starter::scan::{OwnMode, StarterScan};
use locum_policy::starter::{StarterChoices, StarterProposal, propose};
use locum_workspace::repo::{Repo, RepoError};

/// What to do about a workflow that cannot be read.
const MEND_WORKFLOW: &str = "mend it, then run `locum init` again: it may show how a change is \
                             tested";
/// What to do about what the workflow does not take over.
const COPY_STEPS: &str = "if the tests need it, add it: steps before Locum's; a variable to `env` \
                          of Locum's step and to `commands.env` of the policy";

/// What to do about a provider that announced its end.
const OTHER_PROVIDER: &str = "name another one, as in `--provider anthropic --update`, unless the \
                              service still answers for you";

/// Runs `locum policy init`.
///
/// # Errors
/// When the folder is not in a git checkout, or the file exists or cannot be written.
pub(super) fn policy(
    args: &PolicyInitArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if args.stdout {
        let proposal = propose(&read(context, output)?, &StarterChoices::default())?;
        output.raw(marked(&proposal.policy, &MarkedChoices::default()).as_bytes());
        return Ok(ExitStatus::Done);
    }
    let repo = in_checkout(context)?;
    let proposal = propose(&read(context, output)?, &StarterChoices::default())?;
    let text = marked(&proposal.policy, &MarkedChoices::default());
    let mut report = InitReport::new(args.json.into());
    write(repo.root(), &[(POLICY_FILE, text.as_str())], args.force, (&mut report, output))?;
    report.note(&proposal.unreadable, MEND_WORKFLOW, output);
    report.missing_programs = missing(&proposal, context, output);
    report.unignore = last_words::ignored(&repo, &[POLICY_FILE], output);
    let next = "Review it, then try it: `locum policy check`, `locum policy test`, `locum policy \
                explain 'edit(README.md)'`.";
    if args.json {
        report.next_steps.push(next.to_owned());
        report.end(output);
    } else {
        output.talk(next);
    }
    Ok(ExitStatus::Done)
}

/// Runs `locum init`. A success command that does not pass is an exit code where `--check` asks.
///
/// # Errors
/// When the folder is not in a git checkout, or a file cannot be read or written; with
/// `--pull-request`, when GitHub refuses.
pub(super) fn all(
    args: &InitArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let repo = in_checkout(context)?;
    let scan = read(context, output)?;
    let place = InspectedRepository::open(context, None)?;
    let mut start = InitPlan::begin(args, &place.source())?;
    if asks(args, &context.environment) {
        start.choices = asked(&start, args, &scan, &context.environment)?;
    }
    let plan = start.make(args, &scan, (&repo, &place.source()), &context.environment)?;
    let mut report = InitReport::new(args.json.into());
    report.choices = Some(plan.choices());
    report.note(&plan.proposal.unreadable, MEND_WORKFLOW, output);
    report.note(&plan.proposal.left_out, COPY_STEPS, output);
    report.note(plan.model.retired().as_slice(), OTHER_PROVIDER, output);
    if args.pull_request {
        report.opened(open_pull_request(&plan, &scan, context, output)?, output);
        report.end(output);
        return Ok(ExitStatus::Done);
    }
    let new: Vec<InitFile<'_>> = plan
        .files
        .iter()
        .filter(|file| file.update == FileUpdate::New)
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect();
    write(repo.root(), &new, args.force, (&mut report, output))?;
    if new.len() < plan.files.len() {
        if args.update {
            update::write(&repo, &plan.files, &mut report, output)?;
        } else {
            update::propose(&plan.files, &mut report, output);
        }
    }
    if !new.is_empty() {
        let paths: Vec<&str> = plan.files.iter().map(|file| file.path.as_str()).collect();
        report.missing_programs = missing(&plan.proposal, context, output);
        report.unignore = last_words::ignored(&repo, &paths, output);
        report.next_steps = last_words::next_steps(&plan, &repo, args.update)?;
    }
    let is_tried = args.check || !args.no_check && (args.update || !new.is_empty());
    let check = is_tried
        .then(|| success_check::run(&plan.policy, &plan.proposal.installs, context, output))
        .transpose()?;
    if let Some(check) = &check {
        report.checked(check, output);
    }
    report.end(output);
    // What was only tried along with the rest is a finding.
    let fails = args.check && check.is_some_and(|check| !check.passes());
    Ok(if fails { ExitStatus::Usage } else { ExitStatus::Done })
}

/// Opens the pull request with every file as it would be.
fn open_pull_request(
    plan: &InitPlan,
    scan: &StarterScan,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Receipt, RunError> {
    let policy = Policy::parse(&plan.policy.text, &plan.policy.origin)?;
    let files: Vec<(&str, &str)> =
        plan.files.iter().map(|file| (&*file.path, file.update.result(&file.text))).collect();
    let onboarding = OnboardingPlan {
        files: &files,
        jobs: &plan.proposal.jobs,
        policy: &policy,
        workflow: &plan.workflow,
        ci: &ci_commands(scan),
    };
    onboarding::open(&onboarding, context, output)
}

/// Whether somebody sits at a terminal who may be asked.
fn asks(args: &InitArgs, environment: &Environment) -> bool {
    let is_ci = ["CI", "GITHUB_ACTIONS"].iter().any(|name| environment.get(name).is_some());
    !args.yes && !args.json && !is_ci && io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn asked(
    start: &InitStart,
    args: &InitArgs,
    scan: &StarterScan,
    environment: &Environment,
) -> Result<InitChoices, RunError> {
    // Without one nothing is written, whatever the answers are.
    start.action(args)?;
    let wish = args.model_wish(start.choices.provider);
    if wish.provider.is_some() {
        // Nor with a provider that a flag names and that lacks a model.
        model::choose_for(wish, start.workflow.as_deref(), environment)?;
    }
    let provider = model::provider_of(wish, start.workflow.as_deref(), environment);
    let edits = propose(scan, &StarterChoices::default())?.edits;
    let jobs: Vec<Word<JobRecipe>> =
        JOBS.iter().filter(|(_, job, _)| job.fits(scan)).copied().collect();
    let proposed = ProposedAnswers { provider, edits: &edits, jobs: &jobs };
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    questions::ask(start.choices.clone(), &proposed, &mut stdin.lock(), &mut stderr)
        .map_err(|error| RunError::internal(error.to_string()))
}

/// Returns which programs of the repository's builds and tests are not on this machine, and says
/// it.
fn missing(
    proposal: &StarterProposal,
    context: &CommandContext,
    output: &mut Output,
) -> Vec<MissingProgram> {
    let programs = proposal.programs.iter();
    let missing = programs.filter(|(program, _)| !is_on_path(program, &context.environment));
    let missing: Vec<MissingProgram> = missing
        .map(|(program, why)| MissingProgram { program: program.clone(), why: why.clone() })
        .collect();
    for MissingProgram { program, why } in &missing {
        output.talk(format!("note: `{program}` is not installed on this machine ({why})"));
    }
    missing
}

fn in_checkout(context: &CommandContext) -> Result<Repo, RunError> {
    Repo::open(&context.folder).map_err(|error| {
        if !matches!(error, RepoError::NotARepository(_)) {
            return no_checkout(&error);
        }
        let folder = context.folder.display();
        RunError::usage("--repo", format!("`{folder}` is not in a git checkout")).hint(
            "run `git init` first, or print a policy for the folder with `locum policy init \
             --stdout`",
        )
    })
}

/// Returns what would be written for the repository now; `None` where that cannot be known.
pub(super) fn proposal(context: &CommandContext) -> Option<StarterProposal> {
    let place = InspectedRepository::open(context, None).ok()?;
    let scan = scanned(&place, &place.modes().unwrap_or_default()).ok()?;
    propose(&scan, &StarterChoices::default()).ok()
}

/// Reads what a policy is made from. A mode file with mistakes is left out, and that is said.
fn read(context: &CommandContext, output: &mut Output) -> Result<StarterScan, RunError> {
    let place = InspectedRepository::open(context, None)?;
    scanned(&place, &place.usable_modes(output)?)
}

fn scanned(place: &InspectedRepository<'_>, modes: &ModeSet) -> Result<StarterScan, RunError> {
    let of_repository =
        modes.iter().filter(|mode| matches!(mode.source, ModeSource::Project { .. }));
    let own = of_repository.map(|mode| OwnMode {
        slug: mode.slug.clone(),
        writes: mode
            .groups
            .iter()
            .any(|entry| matches!(entry.group, ToolGroup::Edit | ToolGroup::Command)),
    });
    let root = place.root();
    scan(root, own.collect())
        .map_err(|error| RunError::usage("--repo", format!("`{}`: {error}", root.display())))
}
