//! `locum doctor`: what this machine gives a run: the sandbox, git, a model with its key, a place
//! for sessions. It uses no network, unless a flag asks the model.

mod action;
mod laptop;
mod notes;
mod report;
mod step_settings;
mod workflow_checks;

use std::path::Path;

use crate::cli::browser_row::BrowserFinding;
use crate::cli::doctor::action::action_problems;
use crate::cli::doctor::laptop::{laptop_problems, said, unwritable};
use crate::cli::doctor::notes::notes;
use crate::cli::doctor::report::{DoctorReport, HalfVisible, broken_modes, rows};
use crate::cli::init;
use crate::cli::inspect_args::{DoctorArgs, DoctorTarget};
use crate::cli::inspected::InspectedRepository;
use crate::cli::mcp;
use crate::cli::models::mark_used;
use crate::cli::models_test::probe;
use crate::cli::output::Output;
use crate::cli::policy_file::{built_in, parse, repository_file};
use crate::cli::programs::is_on_path;
use crate::cli::sandbox_rows;
use crate::cli::stop_signal::runtime;
use crate::cli::success_check::{self, SuccessCheck};
use crate::cli::{CommandContext, ExitStatus};
use crate::config::load::ConfigFile;
use crate::config::settings::Settings;
use crate::run::error::RunError;
use crate::run::kept_folder::check_outside;
use crate::run::trusted::POLICY_FILE;
use crate::run::user::own_settings;
use locum_models::resolve::{ModelFacts, resolve};
use locum_policy::Policy;
use locum_policy::command::change_of_folder;
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};
use locum_sandbox::half_visible;
use locum_sandbox::level::SandboxLevel;
use locum_workspace::git_binary;

/// Runs the subcommand.
///
/// # Errors
/// When the machine fails. What a machine or a repository lacks is a finding, and an exit code
/// where what is asked for is not ready.
pub fn run(
    args: &DoctorArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let mut findings = look(args, context)?;
    let check = args.check.then(|| tried(context, output)).transpose()?.flatten();
    if let Some(check) = &check {
        findings.check = Some(check.as_json());
        findings.laptop.extend(check.problems());
    }
    if args.json {
        output.json(&findings);
    } else {
        output.table(["PART", "STATE", ""], rows(&findings));
        check.iter().for_each(|check| check.show(output));
    }
    let in_actions = context.environment.get("GITHUB_ACTIONS") == Some("true");
    let default = if in_actions { DoctorTarget::Action } else { DoctorTarget::Laptop };
    let ready = match args.target.unwrap_or(default) {
        DoctorTarget::Laptop => findings.laptop.is_empty(),
        DoctorTarget::Action => findings.action.is_empty(),
        DoctorTarget::Both => findings.laptop.is_empty() && findings.action.is_empty(),
    };
    let passes = check.is_none_or(|check| check.passes());
    Ok(if ready && passes { ExitStatus::Done } else { ExitStatus::Usage })
}

/// Tries the success commands of the policy that judges runs here; `None` where it has mistakes, or
/// settings have that name it.
fn tried(context: &CommandContext, output: &mut Output) -> Result<Option<SuccessCheck>, RunError> {
    let Ok(policy) = repository_file(context, None) else { return Ok(None) };
    let policy = policy.unwrap_or_else(built_in);
    if parse(Some(&policy)).is_err() {
        return Ok(None);
    }
    let installs = init::proposal(context).map(|proposal| proposal.installs).unwrap_or_default();
    success_check::run(&policy, &installs, context, output).map(Some)
}

/// Programs that the policy names and that are not here.
#[derive(Default)]
struct MissingPrograms {
    /// Those that it allows, by their names.
    named: Vec<String>,
    /// Those that it allows, by their paths in the checkout.
    unbuilt: Vec<String>,
    /// Success commands that cannot start, as sentences.
    of_success: Vec<String>,
}

/// Returns the programs that the policy allows or checks with, and that are not on this machine.
/// `root` is that of the checkout.
fn missing_programs(policy: &Policy, root: &Path, context: &CommandContext) -> MissingPrograms {
    let is_missing = |program: &str| !is_on_path(program, &context.environment);
    let (unbuilt, named): (Vec<String>, Vec<String>) =
        policy.programs().into_iter().partition(|program| program.contains('/'));
    let checks = policy.settings().publish.success.iter().filter_map(|command| {
        let bare = change_of_folder(command).map_or(command.as_str(), |(_, bare)| bare);
        let program = bare.split_whitespace().next()?;
        let own = program.contains(['/', '=', '$', '(']);
        (!own && is_missing(program)).then(|| {
            format!(
                "the success command `{command}` cannot run: `{program}` is not installed; install \
                 it"
            )
        })
    });
    MissingPrograms {
        named: named.into_iter().filter(|program| is_missing(program)).collect(),
        unbuilt: unbuilt.into_iter().filter(|path| !root.join(path).exists()).collect(),
        of_success: checks.collect(),
    }
}

fn look(args: &DoctorArgs, context: &CommandContext) -> Result<DoctorReport, RunError> {
    let FoundSettings { settings, own, problems: settings_problems } = FoundSettings::read(context);
    let from_repository = settings.models_from_repository();
    let facts = ModelFacts {
        env: context.environment.variables(),
        asked: settings.values.model.as_deref(),
        from_repository: &from_repository,
    };
    let resolved = resolve(&settings.values.models, &facts);
    let mut models = Vec::new();
    resolved.iter().for_each(|found| mark_used(&mut models, found));
    // Outside a repository there is none.
    let servers = if InspectedRepository::open(context, None).is_ok() {
        mcp::rows(None, context)
    } else {
        Ok(Vec::new())
    };
    let (servers, servers_problem) = match servers {
        Ok(servers) => (servers, None),
        Err(error) => {
            let messages: Vec<String> =
                error.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect();
            (Vec::new(), Some(messages.join("; ")))
        }
    };
    let place = InspectedRepository::open(context, None).ok();
    let probe = match (&resolved, &place, args.probe) {
        (Ok(found), Some(place), true) => Some(probe(&found.main, &place.source())?),
        (_, _, _) => None,
    };
    // Settings say how modes are read.
    let readable = place.as_ref().filter(|_| settings_problems.is_empty());
    let modes_problem =
        readable.and_then(|place| place.modes().err()).map(|error| broken_modes(&error));
    let file = repository_file(context, None);
    let own_policy = file.as_ref().ok().and_then(|file| parse(file.as_ref()).ok());
    let root = place.as_ref().map_or(context.folder.as_path(), InspectedRepository::root);
    let missing = own_policy.as_ref().map(|policy| missing_programs(policy, root, context));
    let missing = missing.unwrap_or_default();
    let has_policy = matches!(file, Ok(Some(_)));
    let notes = notes(own_policy.as_ref().filter(|_| has_policy), context);
    let (sandbox, namespaces_refused) = SandboxLevel::tried();
    let unlayered = place.as_ref().and_then(|place| locum_sandbox::unlayered(place.root()));
    let layers = sandbox.namespaces && unlayered.is_none();
    // Nothing is compared with what cannot be read.
    let uncommitted = if file.is_ok() { uncommitted(context) } else { None };
    let (policy, (commands_run, commands), half_visible) = judged(file, context, (sandbox, layers));
    let sessions = own.map(|own| own.session_folder());
    let sessions = sessions.map(|folder| folder.map(|folder| context.folder.join(folder)));
    let no_sessions = match &sessions {
        Some(Ok(folder)) => match check_outside("session_dir", folder, root) {
            Ok(()) => unwritable(folder),
            Err(inside) => said(&inside).pop(),
        },
        Some(Err(missing)) => said(&missing.clone().into()).pop(),
        // The mistake has been reported.
        None => None,
    };
    let mut findings = DoctorReport {
        check: None,
        laptop: Vec::new(),
        action: action_problems(context, uncommitted.as_deref()),
        version: env!("CARGO_PKG_VERSION"),
        sandbox,
        sandbox_missing: sandbox.missing(),
        weaker: sandbox_rows::weaker(sandbox, unlayered.as_deref()),
        namespaces_refused,
        git: git_version(context)?,
        browser: BrowserFinding::look(&settings, &context.environment, sandbox)?,
        model: resolved.as_ref().ok().map(|found| found.main.name.clone()),
        model_has_key: resolved.as_ref().is_ok_and(|found| found.main.key.is_some()),
        model_problem: resolved.as_ref().err().map(|error| format!("{error}; {}", error.hint())),
        models,
        servers,
        servers_problem,
        settings_problems,
        sessions: sessions.and_then(Result::ok).map(|folder| folder.display().to_string()),
        policy,
        uncommitted,
        commands,
        commands_run,
        half_visible,
        probe,
        modes_problem,
        missing_programs: missing.named,
        unbuilt_programs: missing.unbuilt,
        notes,
        success_problems: missing.of_success,
    };
    findings.laptop = laptop_problems(&findings, context);
    findings.laptop.extend(no_sessions);
    Ok(findings)
}

/// The settings as far as they can be read.
struct FoundSettings {
    /// Those that count here.
    settings: Settings,
    /// Those that no repository has a say in; `None` where they have mistakes.
    own: Option<Settings>,
    /// Every mistake.
    problems: Vec<String>,
}

impl FoundSettings {
    fn read(context: &CommandContext) -> Self {
        let own = own_settings(&context.environment, &[]);
        let read = match InspectedRepository::open(context, None) {
            Ok(place) => place.settings(),
            // Outside a repository the user's own settings count.
            Err(_) => own.clone(),
        };
        let problems = read.as_ref().err().map(said).unwrap_or_default();
        let own = own.ok();
        let settings = read.ok().or_else(|| own.clone()).unwrap_or_default();
        Self { settings, own, problems }
    }
}

/// Says where the working tree differs from the commit that a run reads.
fn uncommitted(context: &CommandContext) -> Option<String> {
    let place = InspectedRepository::open(context, None).ok()?;
    let policy = place.settings().ok()?.values.policy;
    place.uncommitted(Some(policy.as_deref().unwrap_or(POLICY_FILE)))
}

/// Returns which policy judges runs here, what it makes of commands at this level, and which tool
/// chains they see in part.
fn judged(
    file: Result<Option<ConfigFile>, RunError>,
    context: &CommandContext,
    level: (SandboxLevel, bool),
) -> (String, (bool, String), Vec<HalfVisible>) {
    let file = match file {
        Ok(file) => file,
        Err(error) => {
            let why = format!("no run starts: {error}");
            return ("cannot be read".to_owned(), (false, why), Vec::new());
        }
    };
    // Outside a repository there is none but the built-in one.
    match parse(file.as_ref()) {
        Ok(policy) => {
            let limits = &policy.settings().commands;
            let found = half_visible(context.environment.variables(), limits);
            let found = found.into_iter().map(|(program, hidden)| HalfVisible {
                program,
                hidden: hidden.display().to_string(),
            });
            (policy.origin().to_owned(), commands(limits, level), found.collect())
        }
        Err(_) => (
            "has mistakes".to_owned(),
            (false, "no run starts; list the mistakes with `locum policy check`".to_owned()),
            Vec::new(),
        ),
    }
}

/// `layers` is whether what commands write can go to a layer.
fn commands(limits: &CommandLimits, (level, layers): (SandboxLevel, bool)) -> (bool, String) {
    let hosts = level.namespaces || level.calls;
    match (limits.sandbox, level.is_full()) {
        (SandboxSetting::Off, _) if limits.network == CommandNetwork::Listed => (
            false,
            "`commands.network: policy`, which nothing enforces with `commands.sandbox: off`"
                .to_owned(),
        ),
        (SandboxSetting::Off, _) => (true, "not sandboxed: `commands.sandbox: off`".to_owned()),
        (SandboxSetting::Required, false) => (
            false,
            format!(
                "`commands.sandbox: required`, which this machine does not support: {}",
                level.missing()
            ),
        ),
        _ if limits.network == CommandNetwork::Listed && !hosts => {
            (false, "`commands.network: policy`, which this machine cannot enforce".to_owned())
        }
        (SandboxSetting::BestEffort, false) if level.is_nothing() => (
            true,
            "not sandboxed: `commands.sandbox: best-effort`, and this machine offers nothing"
                .to_owned(),
        ),
        (SandboxSetting::BestEffort, false) => {
            (true, "partly sandboxed; code of the repository is refused".to_owned())
        }
        (SandboxSetting::Required | SandboxSetting::BestEffort, true) => {
            let judged = match (limits.contains_scripts(), layers) {
                (false, _) => "sandboxed",
                (true, true) => "contained: scripts need no rule for their words",
                (true, false) if level.namespaces => {
                    "sandboxed, and judged by their words: without a layer nothing contains them"
                }
                (true, false) => {
                    "sandboxed, and judged by their words: without namespaces nothing contains them"
                }
            };
            (true, judged.to_owned())
        }
    }
}

fn git_version(context: &CommandContext) -> Result<Option<String>, RunError> {
    Ok(runtime()?
        .block_on(git_binary::version(Path::new("/"), context.environment.variables()))
        .ok())
}
