//! The workflow that starts runs: only the events the policy lets start something, and what the
//! tests need before Locum's step.
//!
//! In: who may start what, the steps that set up, and a model. Out: the text of a workflow.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::budget::Budget;
use crate::intent::{PublicationKind, TriggerKind};
use crate::schema::PolicySpec;
use crate::starter::StarterProposal;
use crate::starter::mark;
use crate::starter::setup_step;
use crate::starter::workflow_events::WorkflowEvents;
use crate::written::quoted;

/// The model a workflow asks, as inputs of the Action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowModel {
    /// The model where the variable `LOCUM_MODEL` names none, with its protocol before a colon.
    pub model: String,
    /// Where its API starts, unless that follows from the model.
    pub base_url: Option<String>,
    /// The expression that gives the key; `None` where the job's own identity stands in for it.
    pub key: Option<String>,
    /// A permission the key or the identity needs, as a line of `permissions`.
    pub permission: Option<String>,
    /// Variables of the repository that the job gets under their own names.
    pub variables: Vec<String>,
    /// Steps after set-up that log in, as text.
    pub login: String,
}

/// Locum's Action, as a workflow names it: a repository and one of its commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionReference {
    /// The repository, as `OWNER/NAME`.
    pub repository: String,
    /// The commit, as 40 hexadecimal digits.
    pub commit: String,
    /// The version at that commit, for people who read the workflow.
    pub version: Option<String>,
}

impl ActionReference {
    /// Returns true for the Action among those that a workflow uses: by its name, or in a file of
    /// `locum init` that uses none of that name, the one that is no set-up.
    pub fn is_of(repository: &str, workflow: &str) -> bool {
        let is_setup = |name: &str| {
            name.starts_with("actions/")
                || ["setup", "toolchain", "cache"].iter().any(|word| name.contains(word))
        };
        let is_named = |name: &str| name.ends_with("/locum");
        let names_one = workflow.contains("/locum@");
        is_named(repository) || (!names_one && mark::is_marked(workflow) && !is_setup(repository))
    }
}

impl FromStr for ActionReference {
    type Err = String;

    /// Reads `OWNER/NAME@COMMIT`. Tags and branches can be moved, so only a whole commit is taken.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        let (repository, commit) = text.split_once('@').unwrap_or((text, ""));
        let named = repository
            .split_once('/')
            .is_some_and(|(owner, name)| is_name(owner) && name.split('/').all(is_name));
        if !named {
            return Err("not of the form OWNER/NAME@COMMIT".to_owned());
        }
        if commit.len() != 40 || !commit.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
            return Err(
                "a commit is 40 hexadecimal digits; a tag or branch can be moved".to_owned()
            );
        }
        if commit.chars().all(|c| c == '0') {
            return Err("this commit is a placeholder".to_owned());
        }
        Ok(Self { repository: repository.to_owned(), commit: commit.to_owned(), version: None })
    }
}

impl fmt::Display for ActionReference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}@{}", self.repository, self.commit)?;
        self.version.as_ref().map_or(Ok(()), |version| write!(out, " # {version}"))
    }
}

/// Minutes that a job takes besides its run: to set up before it, and to publish after it.
const MINUTES_BESIDES: u32 = 15;

/// Returns after how many minutes GitHub may cancel a job that runs under a budget.
pub fn timeout_minutes(budget: &Budget) -> u32 {
    budget.minutes.saturating_add(MINUTES_BESIDES)
}

/// How many jobs a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowForm {
    /// One works and publishes.
    OneJob,
    /// One works and may write nothing, the other publishes and has no key of a model.
    TwoJobs,
}

/// Without them `.git/config` holds a token.
const CHECKOUT: &str = "      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # \
                        v5.0.0\n        with:\n          persist-credentials: false\n";

/// An input of the checkout, for jobs that read the history.
const WHOLE_HISTORY: &str = "          fetch-depth: 0 # release notes are made of commits\n";

/// Keeps the bundle for the job that publishes, where there is one.
const UPLOAD: &str = "      - if: steps.locum.outputs.bundle-path != ''\n        uses: \
     actions/upload-artifact@330a01c490aca151604b8cf639adc76d48f6c5d4 # v5.0.0\n        \
     with:\n          \
     name: locum-bundle\n          path: ${{ steps.locum.outputs.bundle-path }}\n          \
     if-no-files-found: error\n          retention-days: 1\n          overwrite: true\n";

/// Fetches it there.
const DOWNLOAD: &str = "      - if: needs.work.outputs.bundle != ''\n        uses: \
     actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0 # v5.0.0\n        \
     with:\n          \
     name: locum-bundle\n          path: ${{ runner.temp }}\n";

/// Where the workflow is written, unless another one starts runs already.
pub const WORKFLOW_FILE: &str = ".github/workflows/locum.yml";

/// Writes the workflow for a path in the repository.
pub fn workflow(
    path: &str,
    proposal: &StarterProposal,
    settings: &PolicySpec,
    (model, action): (&WorkflowModel, &ActionReference),
    form: WorkflowForm,
) -> String {
    let events = WorkflowEvents::of(&settings.triggers, &settings.publish.allow);
    let mut text = format!(
        "# {path}: starts locum on {}.\nname: locum\n\non:\n{}",
        listed(&events.words),
        events.text
    );
    text.push_str("\npermissions: {}\n\njobs:\n");
    match form {
        WorkflowForm::OneJob => {
            one_job(&mut text, (&events, proposal), settings, (model, action));
        }
        WorkflowForm::TwoJobs => {
            working_job(&mut text, (&events, proposal), settings, (model, action));
            publishing_job(&mut text, &events, settings, action);
        }
    }
    text
}

fn one_job(
    text: &mut String,
    (events, proposal): (&WorkflowEvents, &StarterProposal),
    settings: &PolicySpec,
    (model, action): (&WorkflowModel, &ActionReference),
) {
    begin(text, "locum", &condition(events), timeout_minutes(&settings.budget));
    text.push_str(
        "    # One run at a time for each issue, pull request and schedule.\n    concurrency:\n",
    );
    concurrency(text, "locum");
    text.push_str("    permissions:\n");
    let contents = if pushes(settings) {
        "contents: write # to push branches"
    } else {
        "contents: write # to keep count of what runs spend, and runs that wait"
    };
    lines(
        text,
        [
            contents,
            "issues: write # to comment, react and label",
            "pull-requests: write # to open pull requests and comment on them",
        ],
    );
    lines(text, events.permissions.iter().copied());
    lines(text, model.permission.as_deref());
    lines(text, alerts(proposal));
    variables(text, model);
    text.push_str("    steps:\n");
    checkout(text, proposal);
    text.push_str(&model.login);
    step(text, "- ", action);
    asks(text, model);
}

/// Adds the checkout, and what the tests need.
fn checkout(text: &mut String, proposal: &StarterProposal) {
    text.push_str(CHECKOUT);
    let reads_history = proposal.needs.history;
    if reads_history {
        text.push_str(WHOLE_HISTORY);
    }
    for (name, value) in &proposal.checkout {
        if !(reads_history && name == "fetch-depth") {
            text.push_str(&setup_step::input(name, value));
        }
    }
    text.push_str(&proposal.setup);
}

/// Returns the permission that a job needs which reads alerts.
fn alerts(proposal: &StarterProposal) -> Option<&'static str> {
    proposal.needs.alerts.then_some("security-events: read # to read code scanning alerts")
}

/// The job that works: it may read.
fn working_job(
    text: &mut String,
    (events, proposal): (&WorkflowEvents, &StarterProposal),
    settings: &PolicySpec,
    (model, action): (&WorkflowModel, &ActionReference),
) {
    begin(text, "work", &condition(events), timeout_minutes(&settings.budget));
    text.push_str(
        "    # One run at a time for each issue, pull request and schedule.\n    concurrency:\n",
    );
    concurrency(text, "locum");
    text.push_str(
        "    # It runs the model and the code of the repository, and may write nothing.\n    \
         permissions:\n      contents: read # to read the code\n      issues: read # to read what \
         is asked\n      pull-requests: read # to read what is asked on them\n",
    );
    if settings.triggers.rules_for(TriggerKind::CiFailure).next().is_some() {
        lines(
            text,
            [
                "actions: read # to read the output of failed jobs",
                "checks: read # to see what else failed",
            ],
        );
    }
    lines(text, model.permission.as_deref());
    lines(text, alerts(proposal));
    variables(text, model);
    text.push_str(
        "    outputs:\n      bundle: ${{ steps.locum.outputs.bundle-path }}\n    steps:\n",
    );
    checkout(text, proposal);
    text.push_str(&model.login);
    step(text, "- id: locum\n        ", action);
    text.push_str("          bundle: write\n");
    asks(text, model);
    text.push_str(UPLOAD);
}

/// The job that publishes: it has the rights that the policy's `publish` needs, and no secret.
fn publishing_job(
    text: &mut String,
    events: &WorkflowEvents,
    settings: &PolicySpec,
    action: &ActionReference,
) {
    text.push_str("  publish:\n    name: publish\n    needs: work\n");
    text.push_str("    if: ${{ !cancelled() && needs.work.result != 'skipped' }}\n");
    runner(text, timeout_minutes(&Budget::default()));
    text.push_str(
        "    # What is published of one issue or pull request is published in turn.\n    \
         concurrency:\n",
    );
    concurrency(text, "locum-publish");
    text.push_str(
        "    # It judges again what the other job left, and runs nothing of it.\n    permissions:\n",
    );
    let contents = if pushes(settings) {
        "contents: write # to push branches"
    } else {
        "contents: read # to read the policy"
    };
    lines(
        text,
        [
            contents,
            "issues: write # to comment, react and label",
            "pull-requests: write # to open pull requests and comment on them",
        ],
    );
    lines(text, events.permissions.iter().copied());
    text.push_str("    steps:\n");
    text.push_str(CHECKOUT);
    text.push_str(DOWNLOAD);
    step(text, "- ", action);
    text.push_str("          bundle: publish\n");
}

/// Begins a job that an event starts.
fn begin(text: &mut String, name: &str, condition: &str, minutes: u32) {
    let _ = write!(
        text,
        "  {name}:\n    name: {name}\n    # Most comments are not for locum: a runner starts only \
         for its trigger word. The policy decides who may use it.\n    if: >-\n      {condition}\n"
    );
    runner(text, minutes);
}

fn condition(events: &WorkflowEvents) -> String {
    events.conditions.join(" ||\n      ")
}

fn runner(text: &mut String, minutes: u32) {
    let _ = write!(text, "    runs-on: ubuntu-24.04\n    timeout-minutes: {minutes}\n");
}

/// Whether the policy lets branches be pushed.
fn pushes(settings: &PolicySpec) -> bool {
    let kinds = [PublicationKind::Commit, PublicationKind::PullRequest];
    settings.publish.allow.iter().any(|kind| kinds.contains(kind))
}

fn concurrency(text: &mut String, group: &str) {
    let _ = write!(
        text,
        "      group: {group}-${{{{ github.event.issue.number || \
         github.event.pull_request.number || github.event.schedule || github.run_id }}}}\n      \
         cancel-in-progress: false\n"
    );
}

/// Adds lines of `permissions`.
fn lines<'l>(text: &mut String, permissions: impl IntoIterator<Item = &'l str>) {
    for permission in permissions {
        let _ = writeln!(text, "      {permission}");
    }
}

/// Adds the variables of the job.
fn variables(text: &mut String, model: &WorkflowModel) {
    if !model.variables.is_empty() {
        text.push_str("    env: # variables of the repository, no secrets\n");
    }
    for name in &model.variables {
        let _ = writeln!(text, "      {name}: ${{{{ vars.{name} }}}}");
    }
}

/// Adds the Action's own step, up to its inputs.
fn step(text: &mut String, begins: &str, action: &ActionReference) {
    let _ = write!(
        text,
        "      # This commit pins the program too: the checksum of the release is in its \
         source.\n      {begins}uses: {action}\n        with:\n"
    );
}

/// Adds the inputs that name the model.
fn asks(text: &mut String, model: &WorkflowModel) {
    let _ = writeln!(text, "          model: ${{{{ vars.LOCUM_MODEL || '{}' }}}}", model.model);
    if let Some(url) = &model.base_url {
        let _ = writeln!(text, "          base-url: {url}");
    }
    if let Some(key) = &model.key {
        let _ = writeln!(text, "          api-key: {key}");
    }
}

fn listed(words: &[&str]) -> String {
    match words {
        [] => quoted("nothing"),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
