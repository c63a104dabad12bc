//! `locum action`: the Action's entry. Everything comes from its inputs, the environment and the
//! event's payload; outputs, job summary and annotations go back to the runner.
//!
//! Nothing that a child, a model, a forge or another job wrote reaches the runner's log unfiltered:
//! a line of theirs is never a command to it. Commands of our own go through [`Output::command`].

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;

use crate::cli::local_run::open;
use crate::cli::output::Output;
use crate::cli::step_summary::{self, append, check_words};
use crate::cli::stop_signal::{StopSignal, runtime};
use crate::cli::{CommandContext, ExitStatus};
use crate::config::action_context::ActionContext;
use crate::config::action_inputs::{ActionInputs, BundleInput};
use crate::config::files;
use crate::run::action::{self, ActionEnd, ActionEnv, CheckMaker, FinishedCheck, FinishedRun};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::publish::PublishResult;
use crate::run::sarif;
use crate::run::user::own_settings;
use locum_agent::report::actions::{self, Annotation, AnnotationLevel};
use locum_agent::report::live::LiveLines;
use locum_agent::report::sarif::SarifRun;
use locum_agent::report::{figures, live};
use locum_agent::session::event::JournalLine;
use locum_agent::session::journal::JOURNAL_FILE;
use locum_agent::session::outcome::OutcomeWord;
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_base::secret::{Redactor, SHORTEST_VALUE_BYTES, Secret};
use locum_forge::github::GitHub;
use locum_forge::posts::CheckConclusion;
use locum_forge::sanitise;
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;

/// What the step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepTask {
    /// What the event asks for.
    Event,
    /// One of both halves of that, with a bundle between them.
    Bundle(BundleInput),
    /// It closes what runs left behind.
    Sweep,
}

/// Runs the subcommand.
///
/// # Errors
/// When the set-up is wrong or the machine fails.
pub fn run(
    task: StepTask,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let environment = &context.environment;
    let job = ActionContext::from_environment(environment).map_err(|missing| {
        RunError::usage(missing.variable, "not set")
            .hint("this runs as a step of GitHub Actions; elsewhere use `locum run`")
    })?;
    let secrets = environment.secrets();
    for secret in secrets.iter().filter(|secret| secret.expose().len() >= SHORTEST_VALUE_BYTES) {
        actions::masks(secret.expose()).into_iter().for_each(|mask| output.line_as_it_is(mask));
    }
    // The runner masks what it reads after this.
    output.hand_on();
    let redactor = Redactor::new(secrets);
    let ended = carry_out((&task, &job), &redactor, context, output);
    let written = match &ended {
        Ok(ends) => finish(ends, &job, &redactor, output),
        Err(error) => {
            let message = error.report();
            annotate(AnnotationLevel::Error, &message, output);
            step_summary::write_failure(&message, &job, &redactor)?;
            write_outputs(&job, &without_run("failed", "failure", message))
        }
    };
    written?;
    Ok(ended?.iter().map(status).max_by_key(|status| status.code()).unwrap_or(ExitStatus::Done))
}

fn carry_out(
    (task, job): (&StepTask, &ActionContext),
    redactor: &Redactor,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Vec<ActionEnd>, RunError> {
    let runtime = runtime()?;
    // Before anything is claimed or posted: a cancelled run has to say so and give its claim back.
    let stop = match task {
        StepTask::Event | StepTask::Bundle(_) => Some(StopSignal::install(&runtime)),
        StepTask::Sweep => None,
    };
    let environment = &context.environment;
    let (mut inputs, mut mistakes) = ActionInputs::read_with_mistakes(environment);
    if let StepTask::Bundle(bundle) = task {
        inputs.bundle = Some(bundle.clone());
    }
    let settings = match own_settings(environment, &[]) {
        Ok(settings) => settings,
        Err(wrong) => {
            mistakes.extend(wrong.diagnostics);
            // Enough to say so where whoever asked will look.
            own_settings(&environment.only(&["GITHUB_API_URL"]), &[])?
        }
    };
    let mistakes = (!mistakes.is_empty()).then(|| mistakes.into_iter().collect::<RunError>());
    let path = &job.event_path;
    let unreadable = |what: String| RunError::usage(path.display().to_string(), what);
    let payload = files::read(path)
        .map_err(|error| unreadable(error.to_string()))?
        .ok_or_else(|| unreadable("does not exist".to_owned()))?;
    let token = environment.get(&settings.values.forge.token_env).map(Secret::new);
    let clock = SystemClock::start();
    let forge = GitHub::new(
        &settings.values.forge.api_url,
        &job.repository,
        token.clone(),
        Arc::new(clock),
    )
    .map_err(|error| RunError::usage("GITHUB_REPOSITORY", error.to_string()))?;
    let url = format!("{}/{}.git", job.server_url.trim_end_matches('/'), job.repository);
    let remote = Remote::parse(&url, token)
        .map_err(|error| RunError::usage("GITHUB_SERVER_URL", error.to_string()))?;
    let workspace = open(&context.folder)?;
    let git = GitBinary::new(&workspace.repo, environment.variables())
        .patient(Arc::new(clock), forge.retry_budget());
    // What works for another job has no business at the forge but to read, whatever its token may.
    let (forge, git) = if inputs.writes_bundle() {
        (forge.reading_only(), git.reading_only())
    } else {
        (forge, git)
    };
    let env = ActionEnv {
        job,
        inputs: &inputs,
        mistakes: mistakes.as_ref(),
        environment,
        payload: &payload,
        workspace: &workspace,
        forge: &forge,
        remote: &remote,
        git: &git,
        clock: &clock as &dyn Clock,
    };
    let Some(stop) = stop else {
        return runtime.block_on(action::sweep_repository(&env));
    };
    output.command(actions::group("locum: every step and the policy's decision on it"));
    output.hand_on();
    let log = RefCell::new(&mut *output);
    let mut live = LiveLines::default();
    let mut watch = |line: &JournalLine, state: &SessionState| {
        let mut log = log.borrow_mut();
        for text in live.lines(line, state) {
            log.line(sanitise::log_safe(&text, redactor).trim_end());
        }
        // A run may take long, and may be killed: what it did so far is in the log then.
        log.hand_on();
    };
    let stopped = || stop.clone().received().boxed();
    let ends = runtime.block_on(action::run(&env, stopped, &mut watch));
    // A search that a run left is not waited for.
    runtime.shutdown_background();
    for end in ends.iter().flatten() {
        if let ActionEnd::Ran(ran) = end {
            let text = live::outcome(&ran.outcome);
            output.line(sanitise::log_safe(&text, redactor).trim_end());
        }
    }
    output.command(actions::GROUP_END);
    if let (Ok(ends), Some(path)) = (&ends, &inputs.sarif) {
        let path = context.folder.join(path);
        match write_sarif(&path, ends, &workspace, redactor) {
            Ok(false) => {}
            Ok(true) => write_outputs(job, &[("sarif-path", path.display().to_string())])?,
            // The result itself is not lost for that.
            Err(error) => annotate(AnnotationLevel::Error, &error.report(), output),
        }
    }
    ends
}

/// Writes what runs found; nothing where none ran. Returns whether it did.
fn write_sarif(
    path: &Path,
    ends: &[ActionEnd],
    workspace: &Workspace,
    redactor: &Redactor,
) -> Result<bool, RunError> {
    let mut runs = Vec::new();
    for end in ends {
        let ActionEnd::Ran(ran) = end else { continue };
        let FinishedRun { plan, outcome, .. } = &**ran;
        let found = sarif::found_at(&workspace.repo, &outcome.base, outcome);
        runs.push(SarifRun { mode: &plan.mode, outcome, found });
    }
    if runs.is_empty() {
        return Ok(false);
    }
    sarif::write(path, &runs, redactor).map(|()| true)
}

/// Reports to the runner how everything ended.
fn finish(
    ends: &[ActionEnd],
    job: &ActionContext,
    redactor: &Redactor,
    output: &mut Output,
) -> Result<(), RunError> {
    for end in ends {
        let (level, message) = match end {
            ActionEnd::Skipped(why) => (AnnotationLevel::Notice, format!("nothing started: {why}")),
            ActionEnd::Answered { what, refused: true } => {
                (AnnotationLevel::Warning, format!("not started: {what}"))
            }
            ActionEnd::Answered { what, refused: false } => {
                (AnnotationLevel::Notice, format!("answered: {what}"))
            }
            ActionEnd::Unusable(mistakes) => (AnnotationLevel::Error, mistakes.report()),
            ActionEnd::Planned(plan) => (AnnotationLevel::Notice, format!("dry run\n{plan}")),
            ActionEnd::Checked(check) => (level_of(check), check_words(check)),
            ActionEnd::Ran(ran) => (actions::level(ran.outcome.word, ran.fails), ran_words(ran)),
        };
        let message = redactor.redact(&message);
        annotate(level, &message, output);
    }
    step_summary::write(ends, job, redactor)?;
    let outputs: Vec<(&str, String)> = reported_end(ends)
        .map(outputs_of)
        .unwrap_or_default()
        .into_iter()
        .map(|(name, value)| (name, redactor.redact(&value)))
        .collect();
    write_outputs(job, &outputs)
}

/// Returns what the outputs are about: the last run, or the check that ended worst.
fn reported_end(ends: &[ActionEnd]) -> Option<&ActionEnd> {
    let rank = |end: &&ActionEnd| match end {
        ActionEnd::Checked(check) => match check.conclusion {
            CheckConclusion::Failure => 3,
            CheckConclusion::Success => 2,
            CheckConclusion::Neutral => 1,
        },
        ActionEnd::Skipped(_)
        | ActionEnd::Answered { .. }
        | ActionEnd::Planned(_)
        | ActionEnd::Unusable(_)
        | ActionEnd::Ran(_) => 0,
    };
    match ends.last() {
        Some(ActionEnd::Checked(_)) => ends.iter().max_by_key(rank),
        last => last,
    }
}

fn annotate(level: AnnotationLevel, message: &str, output: &mut Output) {
    let annotation = Annotation { level, title: "locum", message, place: None };
    output.command(actions::annotation(&annotation));
}

fn ran_words(ran: &FinishedRun) -> String {
    let reason =
        ran.outcome.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{}{reason}", figures::headline(&ran.outcome))
}

fn level_of(check: &FinishedCheck) -> AnnotationLevel {
    match check.conclusion {
        CheckConclusion::Failure => AnnotationLevel::Error,
        CheckConclusion::Success | CheckConclusion::Neutral => AnnotationLevel::Notice,
    }
}

/// Returns the output `outcome` of a check: a run's word where a run made it.
fn outcome_of(check: &FinishedCheck) -> &'static str {
    match (check.by, check.conclusion) {
        (CheckMaker::Program, _) => "skipped",
        (CheckMaker::Model, CheckConclusion::Failure) => OutcomeWord::ChecksFailed.as_str(),
        (CheckMaker::Model, CheckConclusion::Success | CheckConclusion::Neutral) => {
            OutcomeWord::Done.as_str()
        }
    }
}

/// Returns the step's outputs, as `action.yml` names them.
fn outputs_of(end: &ActionEnd) -> Vec<(&'static str, String)> {
    match end {
        ActionEnd::Skipped(what) | ActionEnd::Answered { what, .. } => {
            without_run("skipped", "neutral", what.clone())
        }
        ActionEnd::Unusable(mistakes) => without_run("failed", "failure", mistakes.report()),
        ActionEnd::Planned(plan) => without_run("skipped", "neutral", plan.to_string()),
        ActionEnd::Checked(check) => {
            without_run(outcome_of(check), check.conclusion.as_str(), check_words(check))
        }
        ActionEnd::Ran(ran) => outputs_of_run(ran),
    }
}

fn without_run(outcome: &str, conclusion: &str, message: String) -> Vec<(&'static str, String)> {
    vec![
        ("outcome", outcome.to_owned()),
        ("conclusion", conclusion.to_owned()),
        ("final-message", message),
    ]
}

fn outputs_of_run(ran: &FinishedRun) -> Vec<(&'static str, String)> {
    let outcome = &ran.outcome;
    let message = if outcome.summary.is_empty() {
        outcome.reason.clone().unwrap_or_default()
    } else {
        outcome.summary.clone()
    };
    let (branch, number) = match &ran.publication.result {
        PublishResult::PullRequest { branch, number, .. } => (branch.clone(), number.to_string()),
        PublishResult::Commit { branch, .. } => (branch.clone(), String::new()),
        PublishResult::Review { .. } | PublishResult::Nowhere(_) | PublishResult::Diff(_) => {
            let pushed = outcome.hindrance.as_ref().and_then(|hindrance| hindrance.pushed.as_ref());
            (pushed.map(|pushed| pushed.name.clone()).unwrap_or_default(), String::new())
        }
    };
    let conclusion = actions::conclusion(outcome.word, ran.fails).as_str();
    let mut outputs = without_run(outcome.word.as_str(), conclusion, message);
    outputs.extend([
        ("branch-name", branch),
        ("pull-request-number", number),
        (
            "comment-id",
            ran.publication
                .comment
                .as_ref()
                .map(|receipt| receipt.id.to_string())
                .unwrap_or_default(),
        ),
        ("session-id", outcome.session.to_string()),
        // Of a bundle, the other job has it.
        (
            "transcript-path",
            Some(ran.folder.join(JOURNAL_FILE))
                .filter(|journal| journal.exists())
                .map(|journal| journal.display().to_string())
                .unwrap_or_default(),
        ),
        (
            "patch-path",
            ran.patch.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        ),
        (
            "bundle-path",
            ran.bundle.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
        ),
        ("cost-usd", format!("{:.4}", outcome.spent.cost_usd)),
        ("input-tokens", outcome.spent.usage.input.to_string()),
        ("output-tokens", outcome.spent.usage.output.to_string()),
        (
            "denied-count",
            outcome.refusals.iter().filter(|call| !call.performed).count().to_string(),
        ),
    ]);
    outputs
}

/// An outcome that `fail-on` does not name leaves the step green.
fn status(end: &ActionEnd) -> ExitStatus {
    match end {
        ActionEnd::Skipped(_) | ActionEnd::Answered { .. } | ActionEnd::Planned(_) => {
            ExitStatus::Done
        }
        ActionEnd::Unusable(_) => ExitStatus::Usage,
        ActionEnd::Checked(check) if check.conclusion == CheckConclusion::Failure => {
            match check.by {
                CheckMaker::Program => ExitStatus::Usage,
                CheckMaker::Model => ExitStatus::Ended(OutcomeWord::ChecksFailed),
            }
        }
        ActionEnd::Checked(_) => ExitStatus::Done,
        // `fail-on` may name what went well, too.
        ActionEnd::Ran(ran) if ran.fails && ran.outcome.word.exit_code() == 0 => ExitStatus::Failed,
        ActionEnd::Ran(ran) if ran.fails => ExitStatus::Ended(ran.outcome.word),
        ActionEnd::Ran(_) => ExitStatus::Done,
    }
}

fn write_outputs(job: &ActionContext, outputs: &[(&str, String)]) -> Result<(), RunError> {
    let Some(file) = &job.output_file else { return Ok(()) };
    outputs.iter().try_for_each(|(name, value)| append(file, &actions::output(name, value)))
}
