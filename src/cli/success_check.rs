//! `locum init --check` and `locum doctor --check`: the commands that show that a change is ready,
//! run once as a run would run them: in the sandbox, without a network, on the checkout's commit
//! and under the policy that is there or was just written.
//!
//! In: that policy, and what the repository's workflow installs. Out: for each command that it
//! passes, or what it lacks and what to do. No model is asked, and nothing that a command writes
//! stays.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::live_run::{LiveOutput, RunDisplay};
use crate::cli::local_run::{self, LocalRun, LocalSession};
use crate::cli::output::Output;
use crate::cli::run_args::OutputFormat;
use crate::cli::{CommandContext, own_worktree};
use crate::config::load::{ConfigFile, FlagValue};
use crate::run::check_failure::{CheckFailure, CheckLack};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::SessionOrigin;
use crate::run::extras::RunExtras;
use crate::run::run_request::{Overrides, RunPurpose, RunRequest};
use crate::run::trusted::POLICY_FILE;
use locum_agent::report::json::CheckEntry;
use locum_agent::session::outcome::{CheckReport, Outcome};
use locum_policy::Policy;
use locum_sandbox::level::SandboxLevel;
use locum_workspace::Workspace;
use locum_workspace::worktree::remove_worktree;

/// The one reply of the model's place: it says that it is done, whereupon the checks run.
const SCRIPT: &str = "version: 1\nname: init\ntasks:\n  - turns:\n      - calls:\n          - \
                      tool: attempt_completion\n            args: { result: Nothing is changed. \
                      }\n";

/// What came of trying the success commands.
#[derive(Clone, Debug)]
pub(super) struct SuccessCheck {
    /// The commands of the policy.
    commands: Vec<String>,
    /// Those that ran, in order.
    tried: Vec<TriedCommand>,
    /// Why nothing was tried.
    problem: Option<String>,
}

/// A success command and how it ended.
#[derive(Clone, Debug)]
struct TriedCommand {
    report: CheckReport,
    /// Why it does not pass, and what to do about it.
    failure: Option<(CheckFailure, String)>,
}

/// Runs the success commands of a policy. `installs` are the commands by which the workflow
/// installs what they need.
///
/// # Errors
/// When the run cannot be prepared or its folder cannot be made.
pub(super) fn run(
    policy: &ConfigFile,
    installs: &[String],
    context: &CommandContext,
    output: &mut Output,
) -> Result<SuccessCheck, RunError> {
    let settings = Policy::parse(&policy.text, &policy.origin)?;
    let commands = settings.settings().publish.success.clone();
    let mut check = SuccessCheck { commands, tried: Vec::new(), problem: None };
    if check.commands.is_empty() {
        return Ok(check);
    }
    check.problem = impossible(context);
    if check.problem.is_some() {
        return Ok(check);
    }
    output.talk(format_args!(
        "check: running {} in the sandbox, without a network",
        listed(&check.commands)
    ));
    let outcome = carry_out(policy, context, output)?;
    if outcome.checks.is_empty() {
        check.problem = Some(outcome.reason.unwrap_or_else(|| "the run ended before".to_owned()));
    }
    check.tried = outcome
        .checks
        .into_iter()
        .map(|report| {
            let failure = CheckFailure::of(&report).map(|failure| {
                let cure = cure(&report, &failure, installs);
                (failure, cure)
            });
            TriedCommand { report, failure }
        })
        .collect();
    Ok(check)
}

impl SuccessCheck {
    /// Returns true when every command passes; also where there is none.
    pub(super) fn passes(&self) -> bool {
        self.problem.is_none()
            && self.left().is_empty()
            && self.tried.iter().all(|tried| tried.failure.is_none())
    }

    /// Returns why commands do not pass, a sentence for each of them.
    pub(super) fn problems(&self) -> Vec<String> {
        let of_all = self
            .problem
            .iter()
            .map(|why| format!("{} could not be tried: {why}", listed(&self.commands)));
        let of_one = self.tried.iter().filter_map(|tried| {
            let (failure, _) = tried.failure.as_ref()?;
            let TriedCommand { report, .. } = tried;
            let said = if report.succeeded() { "shows nothing" } else { "does not pass" };
            Some(format!("the success command `{}` {said}: {}", report.command, failure.why))
        });
        of_all.chain(of_one).collect()
    }

    /// Shows how each command ended, with what to do.
    pub(super) fn show(&self, output: &mut Output) {
        if self.commands.is_empty() {
            output.talk(
                "check: no command shows that a change is ready; name one in `publish.success`, \
                 and `locum doctor --check` tries it",
            );
        }
        if let Some(why) = &self.problem {
            output.line(format_args!("check: {} not tried here: {why}", listed(&self.commands)));
            return;
        }
        for TriedCommand { report, failure } in &self.tried {
            let command = &report.command;
            match failure {
                None => output.line(format_args!("check: `{command}` passes in the sandbox")),
                Some((failure, cure)) => {
                    let said = if report.succeeded() { "shows nothing" } else { "does not pass" };
                    output.line(format_args!("check: `{command}` {said}: {failure}"));
                    output.talk(format_args!("  hint: {cure}"));
                }
            }
        }
        let left = self.left();
        if !left.is_empty() {
            output.line(format_args!("check: {} not tried after that", listed(&left)));
        }
        if !self.tried.iter().all(|tried| tried.report.succeeded()) || !left.is_empty() {
            output.talk(format_args!(
                "note: until it passes where Locum runs, every pull request that a run opens is a \
                 draft, and no run commits to the branch of another one: `publish.success` of \
                 `{POLICY_FILE}` asks for it."
            ));
        }
    }

    /// Returns the result for programs.
    pub(super) fn as_json(&self) -> Value {
        let tried = |TriedCommand { report, failure }: &TriedCommand| {
            let entry = CheckEntry::new(report);
            let (failure, hint) = failure
                .as_ref()
                .map_or((None, None), |(failure, hint)| (Some(failure), Some(hint)));
            let lacks = failure.and_then(|failure| failure.lack.word());
            let why = failure.map(|failure| &failure.why);
            let mut value = json!(entry);
            if let Some(object) = value.as_object_mut() {
                let more = [("lacks", json!(lacks)), ("why", json!(why)), ("hint", json!(hint))];
                object.extend(more.map(|(key, value)| (key.to_owned(), value)));
            }
            value
        };
        json!({
            "passes": self.passes(),
            "commands": self.tried.iter().map(tried).collect::<Vec<_>>(),
            "not_tried": self.left(),
            "problem": self.problem,
        })
    }

    /// Returns the commands that did not run.
    fn left(&self) -> Vec<String> {
        let is_left =
            |command: &&String| !self.tried.iter().any(|tried| tried.report.command == **command);
        self.commands.iter().filter(is_left).cloned().collect()
    }
}

/// Returns why nothing can be tried on this machine.
fn impossible(context: &CommandContext) -> Option<String> {
    let (level, _) = SandboxLevel::tried();
    if !level.is_full() {
        return Some(format!("this machine lacks a part of the sandbox: {}", level.missing()));
    }
    let workspace = match local_run::open(&context.folder) {
        Ok(workspace) => workspace,
        Err(error) => return Some(error.to_string()),
    };
    let head = workspace.repo.commit_of("HEAD");
    head.err().map(|error| format!("{error}; commit your files, then try again"))
}

/// Carries out a run that changes nothing and whose checks run all the same.
fn carry_out(
    policy: &ConfigFile,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Outcome, RunError> {
    let own = tempfile::tempdir().map_err(|error| RunError::internal(error.to_string()))?;
    let sessions = own.path().join("sessions");
    let checkout = local_run::open(&context.folder)?;
    let request = RunRequest {
        mode: Some("code".to_owned()),
        purpose: RunPurpose::Check,
        overrides: Overrides {
            flags: vec![FlagValue::new("init", "session_dir", sessions.display())],
            policy: Some(policy.clone()),
            script: Some(ConfigFile { origin: "init".to_owned(), text: SCRIPT.to_owned() }),
            ..Overrides::default()
        },
        ..RunRequest::new(
            "Show that the checks pass.".to_owned(),
            local_run::base(&checkout, None)?,
        )
    };
    let worktree = own_worktree::make(&checkout, &request, &sessions)?;
    let outcome = carry_out_in(&worktree, request, (&checkout, &sessions), context, output);
    if let Some(folder) = worktree.parent() {
        remove_worktree(folder).map_err(RunError::internal)?;
    }
    outcome
}

fn carry_out_in(
    worktree: &Path,
    request: RunRequest,
    (checkout, sessions): (&Workspace, &Path),
    context: &CommandContext,
    output: &mut Output,
) -> Result<Outcome, RunError> {
    let workspace = local_run::open(worktree)?;
    let run = local_run::prepare(&request, &workspace, context)?;
    let folder = execute::folder_of(sessions, &run.plan.session);
    let local = LocalRun {
        folder: worktree.to_owned(),
        stands_for: Some(checkout.checkout.root().to_owned()),
        base_revision: None,
        postings: None,
        request,
    };
    let extras = RunExtras::default();
    let session = LocalSession {
        local: &local,
        run: &run,
        workspace: &workspace,
        folder: &folder,
        beginning: SessionOrigin::Fresh(&extras),
        show: RunDisplay { format: OutputFormat::Text, live: LiveOutput::Off },
    };
    Ok(local_run::carry_out(session, context, output)?.outcome)
}

/// Returns what to do about a check that fails.
fn cure(report: &CheckReport, failure: &CheckFailure, installs: &[String]) -> String {
    let steps = listed(installs);
    let before = |what: &str| {
        if installs.is_empty() {
            format!(
                "{what} before, in steps of the workflow before Locum's, and try again with `locum \
                 doctor --check`"
            )
        } else {
            format!(
                "run {steps} here, then `locum doctor --check`; the workflow does it in steps \
                 before Locum's"
            )
        }
    };
    match failure.lack {
        CheckLack::Program => format!(
            "install the program and try again with `locum doctor --check`, or name another \
             command than `{}` in `publish.success`",
            report.command
        ),
        CheckLack::Version => {
            "install the version that it names here; the workflow's set-up steps \
                               choose it where Locum runs"
                .to_owned()
        }
        CheckLack::PackageManager => {
            "with a network, run `corepack enable` and `corepack install` here, or install exactly \
             that version, then `locum doctor --check`; the workflow does it in steps before \
             Locum's"
                .to_owned()
        }
        CheckLack::Tests => format!(
            "name the command that runs your tests in place of `{}` in `publish.success`, or add a \
             test; `locum doctor --check` tries it",
            report.command
        ),
        CheckLack::Dependencies => before("install what it needs"),
        CheckLack::Network => before("fetch what it needs"),
        CheckLack::Unknown => format!(
            "run `{}` yourself; if it passes outside the sandbox, `locum run --mode code` shows \
             what it may not do, else name another command in `publish.success`",
            report.command
        ),
    }
}

fn listed(commands: &[String]) -> String {
    let quoted: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
    quoted.join(", ")
}
