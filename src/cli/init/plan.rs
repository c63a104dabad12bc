//! `InitPlan`: every file that `locum init` is about, with its text and what becomes of it.
//!
//! In: flags and answers, the repository as it is. Out: texts. Nothing is written. What an earlier
//! `locum init` was given holds until a flag says otherwise.

use crate::cli::action_workflow::{ActionWorkflows, Workflow};
use crate::cli::init::args::InitArgs;
use crate::cli::init::edit_glob::edit_problem;
use crate::cli::init::model::{self, InitModel, ModelWish};
use crate::cli::init::questions::InitChoices;
use crate::cli::init::report::ReportedChoices;
use crate::cli::init::update::{self, FileUpdate, PlannedFile};
use crate::config::environment::Environment;
use crate::config::load::ConfigFile;
use crate::config::release;
use crate::run::error::RunError;
use crate::run::job::{self, Job};
use crate::run::source::FileSource;
use crate::run::spending::two_jobs::uncounted;
use crate::run::trusted::POLICY_FILE;
use locum_forge::alerts::AlertSource;
use locum_policy::Policy;
use locum_policy::schema::PolicySpec;
use locum_policy::starter::jobs::{JobNeeds, JobRecipe};
use locum_policy::starter::mark::{MarkedChoices, is_marked, marked};
use locum_policy::starter::scan::StarterScan;
use locum_policy::starter::workflow::{ActionReference, WORKFLOW_FILE, WorkflowForm, workflow};
use locum_policy::starter::{StarterChoices, StarterProposal, propose};
use locum_workspace::repo::Repo;

/// What is known before anything is asked.
pub(super) struct InitStart {
    /// What flags and earlier files chose.
    pub(super) choices: InitChoices,
    /// A label that starts runs.
    label: Option<String>,
    /// Where the workflow is, or is to be.
    workflow_path: String,
    /// The workflow that is there.
    pub(super) workflow: Option<String>,
    /// The Action that it uses, even where it is written anew.
    action: Option<ActionReference>,
}

/// Every file, and what it was made from.
pub(super) struct InitPlan {
    pub(super) proposal: StarterProposal,
    pub(super) model: InitModel,
    pub(super) action: ActionReference,
    /// What flags, answers and earlier files chose.
    pub(super) chosen: StarterChoices,
    /// The policy, the workflow and the files of jobs.
    pub(super) files: Vec<PlannedFile>,
    /// Where the workflow is.
    pub(super) workflow_path: String,
    /// The workflow as it is once everything is written.
    pub(super) workflow: String,
    /// The policy as it is once everything is written.
    pub(super) policy: ConfigFile,
}

impl InitPlan {
    /// Reads what flags and earlier files chose.
    ///
    /// # Errors
    /// When a file cannot be read, a flag cannot stand in a policy, or it is not known whether a
    /// workflow starts runs.
    pub(super) fn begin(args: &InitArgs, source: &FileSource<'_>) -> Result<InitStart, RunError> {
        checked_edits(&args.edit)?;
        if let Some(label) = args.label.as_ref().filter(|label| !is_label(label)) {
            return Err(RunError::usage(
                "--label",
                format!("`{label}` is not the name of a label"),
            )
            .hint("name one as GitHub shows it, without `${{` and line breaks"));
        }
        let workflow_path = workflow_path(source)?;
        let read = |path: &str| -> Result<Option<String>, RunError> {
            Ok(source.file(path)?.map(|file| file.text))
        };
        let (policy, workflow) = (read(POLICY_FILE)?, read(&workflow_path)?);
        if policy.is_none() {
            // A second file beside it would count in its place.
            source.misnamed(POLICY_FILE)?;
        }
        let action = workflow.as_deref().and_then(action_of);
        let [policy, workflow] = [policy, workflow].map(|text| text.filter(|_| !args.force));
        let mut choices = InitChoices {
            provider: args.provider,
            model: args.model.clone(),
            start: args.start,
            edits: args.edit.clone(),
            jobs: args.job.clone(),
        };
        let mut label = args.label.clone();
        if let Some(text) = &policy {
            let earlier = MarkedChoices::of(text);
            if choices.edits.is_empty() {
                choices.edits = earlier.edits;
            }
            choices.jobs.extend(earlier.jobs.iter().filter_map(|name| JobRecipe::of_name(name)));
            if let Ok(policy) = Policy::parse(text, POLICY_FILE) {
                let triggers = &policy.settings().triggers;
                let comment = triggers.comment.as_ref();
                choices.start = choices
                    .start
                    .or_else(|| comment.and_then(|comment| comment.tiers.iter().max().copied()));
                label = label.or_else(|| triggers.label.as_ref().map(|label| label.name.clone()));
            }
        }
        Ok(InitStart { choices, label, workflow_path, workflow, action })
    }
}

impl InitPlan {
    /// Whether the workflow uses the Action, whatever its version.
    pub(super) fn uses_action(&self) -> bool {
        let (path, text) = (self.workflow_path.clone(), self.workflow.clone());
        action_of(&text).is_some() || Workflow::read(path, text).is_ok_and(|used| used.is_some())
    }

    /// Returns what the files are made from.
    pub(super) fn choices(&self) -> ReportedChoices {
        ReportedChoices {
            secret: self.model.secret,
            variables: self.model.workflow.variables.clone(),
            model: self.model.workflow.model.clone(),
            action: self.action.to_string(),
            start: self.chosen.lowest_tier.as_str(),
            label: self.chosen.label.clone(),
            edits: self.proposal.edits.clone(),
            jobs: self.proposal.jobs.iter().map(|job| job.name).collect(),
        }
    }
}

impl InitStart {
    /// Returns the Action that the workflow uses.
    ///
    /// # Errors
    /// Where neither a flag nor the program nor the workflow that is there names one.
    pub(super) fn action(&self, args: &InitArgs) -> Result<ActionReference, RunError> {
        let own = args.action.clone().or_else(release::own_action);
        own.or_else(|| self.action.clone()).ok_or_else(no_action)
    }

    /// Makes every text.
    ///
    /// # Errors
    /// When a file cannot be read, or the model's name cannot stand in a workflow.
    pub(super) fn make(
        self,
        args: &InitArgs,
        scan: &StarterScan,
        (repo, source): (&Repo, &FileSource<'_>),
        environment: &Environment,
    ) -> Result<InitPlan, RunError> {
        let action = self.action(args)?;
        let Self { mut choices, label, workflow: earlier, workflow_path, .. } = self;
        // A job that was chosen earlier goes with what it works on.
        choices.jobs.retain(|job| job.fits(scan) || args.job.contains(job));
        let named = choices.model.as_deref();
        let wish = ModelWish { model: named, ..args.model_wish(choices.provider) };
        let model = model::choose_for(wish, earlier.as_deref(), environment)?;
        let has_two_jobs = earlier.is_some_and(|text| text.contains("bundle: publish"));
        let form = if args.two_jobs || has_two_jobs {
            WorkflowForm::TwoJobs
        } else {
            WorkflowForm::OneJob
        };
        let chosen = StarterChoices {
            lowest_tier: choices.start.unwrap_or_default(),
            label,
            edits: choices.edits.into_iter().map(|glob| whole_folder(glob, scan)).collect(),
            jobs: choices.jobs,
            without_daily_limit: form == WorkflowForm::TwoJobs,
        };
        checked_edits(&chosen.edits)?;
        let mut proposal = propose(scan, &chosen)?;
        let planned = |path: &str, text: String| -> Result<PlannedFile, RunError> {
            let update =
                if args.force { FileUpdate::New } else { update::of(repo, source, (path, &text))? };
            Ok(PlannedFile { path: path.to_owned(), text, update })
        };
        let marks = MarkedChoices {
            edits: chosen.edits.clone(),
            jobs: proposal.jobs.iter().map(|job| job.name.to_owned()).collect(),
        };
        let nothing = MarkedChoices::default();
        let mut policy = planned(POLICY_FILE, marked(&proposal.policy, &marks))?;
        policy.keep_unless(|text| Policy::parse(text, POLICY_FILE).is_ok());
        let text = policy.update.result(&policy.text).to_owned();
        let settings = Policy::parse(&text, POLICY_FILE)?;
        if form == WorkflowForm::TwoJobs {
            let place = if args.two_jobs { "--two-jobs" } else { &workflow_path };
            let problem = uncounted(place, settings.settings());
            problem.map_or(Ok(()), |problem| Err(RunError::from(problem)))?;
        }
        proposal.needs = needs_of(source, settings.settings(), proposal.needs);
        let asked = (&model.workflow, &action);
        let written = workflow(&workflow_path, &proposal, settings.settings(), asked, form);
        let workflow = planned(&workflow_path, marked(&written, &nothing))?;
        let written = workflow.update.result(&workflow.text).to_owned();
        let jobs = proposal
            .jobs
            .iter()
            .map(|job| planned(job.recipe.path(), marked(&job.text, &nothing)))
            .collect::<Result<Vec<_>, _>>()?;
        let files = [policy, workflow].into_iter().chain(jobs).collect();
        let policy = ConfigFile { origin: POLICY_FILE.to_owned(), text };
        let workflow = written;
        Ok(InitPlan { proposal, model, action, chosen, files, workflow_path, workflow, policy })
    }
}

/// Adds what the policy's own jobs need, as the repository's files have them. A file with mistakes
/// adds nothing: `locum doctor` names them.
fn needs_of(source: &FileSource<'_>, settings: &PolicySpec, mut needs: JobNeeds) -> JobNeeds {
    let jobs = job::read_all(source).unwrap_or_default();
    let is_started = |job: &&Job| settings.triggers.started_jobs().any(|name| *name == job.name);
    for job in jobs.iter().filter(is_started) {
        let by_name = JobNeeds::of(JobRecipe::of_name(&job.name));
        needs.alerts |= job.alerts.contains(&AlertSource::CodeScanning);
        needs.history |= by_name.history;
    }
    needs
}

/// Refuses globs that a policy cannot have, or that open nothing there.
fn checked_edits(globs: &[String]) -> Result<(), RunError> {
    match globs.iter().find_map(|glob| edit_problem(glob)) {
        None => Ok(()),
        Some(problem) => Err(RunError::usage("--edit", problem)
            .hint("name files from the top of the repository, as in `--edit 'src/**'`")),
    }
}

/// Whether a condition of the workflow can ask for a label.
fn is_label(label: &str) -> bool {
    !label.contains("${{") && !label.chars().any(char::is_control)
}

/// What to do about a workflow that names the Action and cannot be read.
const MEND_ACTION_WORKFLOW: &str = "mend it, or delete it, and run `locum init` again: it names the \
                                    Action, and beside a second workflow each event might start \
                                    two runs";

/// Returns where the workflow is that starts runs: a second one would start each of them twice.
///
/// # Errors
/// When workflows cannot be read, so that one of them may be it.
fn workflow_path(source: &FileSource<'_>) -> Result<String, RunError> {
    let ActionWorkflows { read, broken } = ActionWorkflows::all(source)?;
    let answers = |workflow: &&Workflow| {
        is_marked(&workflow.text) || workflow.events.iter().any(|event| event == "issue_comment")
    };
    let usual = read.iter().find(|workflow| workflow.path == WORKFLOW_FILE);
    if let Some(found) = usual.or_else(|| read.iter().find(answers)) {
        return Ok(found.path.clone());
    }
    // The usual file itself is shown with what would change in it.
    if broken.iter().all(|mistake| mistake.origin == WORKFLOW_FILE) {
        return Ok(WORKFLOW_FILE.to_owned());
    }
    Err(broken.into_iter().map(|mistake| mistake.hint(MEND_ACTION_WORKFLOW)).collect())
}

/// Returns the Action that a workflow uses.
fn action_of(workflow: &str) -> Option<ActionReference> {
    workflow.lines().find_map(|line| {
        let used = line.trim_start().trim_start_matches("- ").strip_prefix("uses: ")?;
        let (name, version) = used.split_once(" # ").unwrap_or((used, ""));
        let mut action: ActionReference = name.parse().ok()?;
        action.version = Some(version.to_owned()).filter(|version| !version.is_empty());
        // Those of the set-up belong to others.
        ActionReference::is_of(&action.repository, workflow).then_some(action)
    })
}

/// Returns a folder's name as the glob of everything in it.
fn whole_folder(glob: String, scan: &StarterScan) -> String {
    let folder = format!("{}/", glob.trim_end_matches('/'));
    let is_folder = scan.files.iter().any(|path| path.as_str().starts_with(&folder));
    if is_folder { format!("{folder}**") } else { glob }
}

fn no_action() -> RunError {
    RunError::usage("--action", "this program is not of a release, so it knows no Action").hint(
        "name the commit of Locum's repository that workflows use with `--action \
         OWNER/NAME@COMMIT`, or write a policy alone with `locum policy init`",
    )
}
