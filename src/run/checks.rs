//! The policy's `publish.success` commands, run on the final tree before anything is published.
//!
//! They take the same path as a model's own commands: parsed, judged, permitted, performed. One
//! that is refused counts as failed.

use std::path::Path;

use crate::run::prepare::PreparedRun;
use locum_agent::session::layered::RUN_LAYER;
use locum_agent::session::outcome::CommandReport;
use locum_agent::tools::{EffectInputs, ToolContext, VisionSupport, dispatch};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::{Mode, ToolGroup};
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::exec::Exit;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::layer::Layer;

/// The results of the commands that were run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResults {
    pub(super) reports: Vec<CommandReport>,
    pub(super) failure: Option<String>,
}

/// What the commands are run on.
#[derive(Clone, Copy)]
pub struct CheckedPlace<'a> {
    /// The checkout that holds the changes.
    pub workspace: &'a Workspace,
    /// Folder of the session, with the build output of its commands.
    pub session_folder: &'a Path,
}

#[derive(Clone, Copy)]
struct CheckedTree<'a> {
    workspace: &'a Workspace,
    layer: Option<&'a Layer>,
}

impl CheckResults {
    /// Runs every check, each in the first of the modes that may run it; stops at the first that
    /// fails.
    ///
    /// What they write goes to the layer of the session's commands and never to the checkout, where
    /// this machine gives a layer.
    pub async fn run(run: &PreparedRun, place: CheckedPlace<'_>, slugs: &[&str]) -> Self {
        let mut checks = Self::default();
        let CheckedPlace { workspace, session_folder } = place;
        if run.policy.settings().publish.success.is_empty() {
            return checks;
        }
        let connector = Connector::default();
        let sandbox = run.env(&connector).sandbox;
        let place = (session_folder, RUN_LAYER);
        let layer = match Layer::over(&workspace.checkout, place, sandbox) {
            Ok(layer) => layer,
            Err(error) => {
                checks.failure = Some(format!("the checks could not run: {error}"));
                return checks;
            }
        };
        let place = CheckedTree { workspace, layer: layer.as_ref() };
        for command in &run.policy.settings().publish.success {
            match check(run, place, slugs, command).await {
                Ok(report) => {
                    checks.failure = failure(&report);
                    checks.reports.push(report);
                }
                Err(why) => {
                    checks.failure = Some(format!("the check `{command}` could not run: {why}"))
                }
            }
            if checks.failure.is_some() {
                break;
            }
        }
        checks
    }
}

async fn check(
    run: &PreparedRun,
    place: CheckedTree<'_>,
    slugs: &[&str],
    command: &str,
) -> Result<CommandReport, String> {
    let mut why = "no mode of this run may run commands".to_owned();
    for mode in
        slugs.iter().filter_map(|slug| run.modes.find(slug)).filter(|mode| runs_commands(mode))
    {
        match check_in(run, place, mode, command).await {
            Ok(report) => return Ok(report),
            Err(refused) => why = refused,
        }
    }
    Err(why)
}

/// Says why a check that ran, or that could not, keeps the result from counting as checked.
fn failure(report: &CommandReport) -> Option<String> {
    let programs: Vec<String> =
        report.details.not_started.iter().map(|program| format!("`{program}`")).collect();
    match report.exit {
        Exit::Code(0) => None,
        _ if programs.is_empty() => Some(format!("the check `{}` failed", report.command)),
        _ => Some(format!(
            "the check `{}` could not run, {} did not start",
            report.command,
            programs.join(", ")
        )),
    }
}

fn runs_commands(mode: &Mode) -> bool {
    mode.groups.iter().any(|entry| entry.group == ToolGroup::Command)
}

async fn check_in(
    run: &PreparedRun,
    CheckedTree { workspace, layer }: CheckedTree<'_>,
    mode: &Mode,
    command: &str,
) -> Result<CommandReport, String> {
    if let Some(layer) = layer {
        // One that a command wrote to before cannot be mounted again as it is.
        layer.begin().map_err(|error| error.to_string())?;
    }
    let facts = Facts { mode: mode.slug.clone(), ..run.plan.facts.clone() };
    let connector = Connector::default();
    let env = run.env(&connector);
    let policy = env.policy;
    let visible = |path: &RepoPath| {
        policy.decide(&Intent::Read(path.clone()), &facts).decision == Decision::Allow
    };
    let context = ToolContext {
        run: env,
        skills: None,
        servers: None,
        layer,
        git_hidden: false,
        image_models: &[],
        checkout: &workspace.checkout,
        repo: &workspace.repo,
        mode,
        facts: &facts,
        visible: &visible,
        vision: VisionSupport::Blind,
        given: EffectInputs::default(),
    };
    let arguments = serde_json::json!({ "command": command }).to_string();
    let call =
        ToolCall { id: "check".to_owned(), name: ToolName::ExecuteCommand.to_string(), arguments };
    let call = dispatch::parse(&call, &[ToolName::ExecuteCommand], context)
        .map_err(|error| error.to_string())?;
    let permit = policy.admit(call, &facts).map_err(|refusal| refusal.to_string())?;
    let observation = dispatch::perform(permit, context).await;
    let exit = observation.exit.ok_or(observation.text)?;
    Ok(CommandReport { command: command.to_owned(), exit, details: observation.command })
}
