//! `locum doctor`: what this machine gives a run: the sandbox, git, a model with its key, a place
//! for sessions. It uses no network, unless a flag asks the model.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::cli::browser_row::BrowserFinding;
use crate::cli::init;
use crate::cli::inspect_args::{DoctorArgs, DoctorTarget};
use crate::cli::inspected::InspectedRepository;
use crate::cli::mcp::{self, ServerRow};
use crate::cli::models::{ModelRow, mark_used};
use crate::cli::models_test::{ModelProbe, probe};
use crate::cli::output::Output;
use crate::cli::policy_file::{built_in, parse, repository_file};
use crate::cli::programs::is_on_path;
use crate::cli::sandbox_rows;
use crate::cli::session::folder::sessions_folder;
use crate::cli::stop_signal::runtime;
use crate::cli::success_check::{self, SuccessCheck};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::checks;
use crate::run::error::RunError;
use crate::run::trusted::POLICY_FILE;
use crate::run::user::own_settings;
use locum_files::diagnostic::Diagnostic;
use locum_models::resolve::{ModelFacts, resolve};
use locum_policy::Policy;
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};
use locum_policy::starter::unheard::unheard_events;
use locum_sandbox::half_visible;
use locum_sandbox::level::SandboxLevel;
use locum_workspace::git_binary;

/// Where workflows are.
const WORKFLOWS: &str = ".github/workflows";

/// Result of every check.
#[derive(Clone, Debug, Serialize)]
struct DoctorReport {
    version: &'static str,
    sandbox: SandboxLevel,
    /// What the kernel does not give; empty when it gives everything.
    sandbox_missing: String,
    /// Why commands get no namespaces of their own.
    namespaces_refused: Option<String>,
    /// What is weaker for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weaker: Vec<&'static str>,
    git: Option<String>,
    browser: BrowserFinding,
    /// Label of the root task's model.
    model: Option<String>,
    model_has_key: bool,
    /// Why no model can be used.
    model_problem: Option<String>,
    /// The models that pointers lead to, and those that stand in for them.
    models: Vec<ModelRow>,
    /// The MCP servers of the repository and the user, and whether a run may start them.
    servers: Vec<ServerRow>,
    /// Why it cannot be said which servers there are.
    servers_problem: Option<String>,
    sessions: String,
    /// The policy that judges runs here, or that it has mistakes.
    policy: String,
    /// Where the working tree differs from what a run reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncommitted: Option<String>,
    /// What becomes of commands under it on this machine.
    commands: String,
    /// Whether it lets commands run at all here.
    commands_run: bool,
    /// What the model answered, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<ModelProbe>,
    /// Why modes cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    modes_problem: Option<String>,
    /// Programs that the policy allows and that are not installed.
    missing_programs: Vec<String>,
    /// Success commands that cannot run here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    success_problems: Vec<String>,
    /// How the success commands end here, where they were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Value>,
    /// Why no run can start on this machine; empty when one can.
    laptop: Vec<String>,
    /// Why the Action cannot start runs in this repository; empty when it can.
    action: Vec<String>,
    /// Programs whose tool chain commands see in part, and what they do not see of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    half_visible: Vec<HalfVisible>,
}

/// A program on `PATH` whose tool chain commands see in part.
#[derive(Clone, Debug, Serialize)]
struct HalfVisible {
    program: &'static str,
    /// A file or folder of it that they do not see.
    hidden: String,
}

/// Runs the subcommand.
///
/// # Errors
/// When the settings are wrong. What a machine or a repository lacks is a finding, and an exit code
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

/// Tries the success commands of the policy that judges runs here; `None` where it has mistakes.
fn tried(context: &CommandContext, output: &mut Output) -> Result<Option<SuccessCheck>, RunError> {
    let policy = repository_file(context, None)?.unwrap_or_else(built_in);
    if parse(Some(&policy)).is_err() {
        return Ok(None);
    }
    success_check::run(&policy, &init::installs(context), context, output).map(Some)
}

/// Returns why no run can start on this machine.
fn laptop_problems(findings: &DoctorReport) -> Vec<String> {
    let git = findings.git.is_none().then(|| "git is not installed: install it".to_owned());
    // Where there is none at all, a policy can want none.
    let wants_none = findings.sandbox.is_nothing() && findings.commands_run;
    let sandbox = (!findings.sandbox.is_full() && !wants_none).then(|| {
        format!("this machine does not support the whole sandbox: {}", findings.sandbox_missing)
    });
    let commands = (!findings.commands_run && findings.sandbox.is_full())
        .then(|| format!("policy: {}", findings.commands));
    let model = findings.model_problem.clone();
    let silent = findings.probe.as_ref().and_then(|probe| probe.problem.clone());
    let modes = findings.modes_problem.clone();
    let checks = findings.success_problems.iter().cloned();
    [git, sandbox, commands, model, silent, modes].into_iter().flatten().chain(checks).collect()
}

/// Returns why the Action cannot start runs in this repository, as its files show it.
fn action_problems(context: &CommandContext) -> Vec<String> {
    let Ok(place) = InspectedRepository::open(context, Some("HEAD")) else {
        return vec!["this is not a git checkout with a commit".to_owned()];
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
    problems.extend(uncommitted(context).map(|what| format!("{what}; commit it")));
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

/// Says that mode files have mistakes: the first, and where the others are listed.
fn broken_modes(error: &RunError) -> String {
    let first = error.diagnostics.first().map(Diagnostic::headline).unwrap_or_default();
    format!("{first}: `locum modes validate` lists every mistake")
}

/// Returns the programs that the policy allows or checks with, and that are not on this machine.
fn missing_programs(policy: &Policy, context: &CommandContext) -> (Vec<String>, Vec<String>) {
    let is_missing = |program: &str| !is_on_path(program, &context.environment);
    let allowed: Vec<String> =
        policy.programs().into_iter().filter(|program| is_missing(program)).collect();
    let checks = policy.settings().publish.success.iter().filter_map(|command| {
        let program = command.split_whitespace().next()?;
        let own = program.contains(['/', '=', '$', '(']);
        (!own && is_missing(program)).then(|| {
            format!(
                "the success command `{command}` cannot run: `{program}` is not installed; install \
                 it"
            )
        })
    });
    (allowed, checks.collect())
}

fn look(args: &DoctorArgs, context: &CommandContext) -> Result<DoctorReport, RunError> {
    let settings = match InspectedRepository::open(context, None) {
        Ok(place) => place.settings()?,
        // Outside a repository the user's own settings count.
        Err(_) => own_settings(&context.environment, &[])?,
    };
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
    let modes_problem =
        place.as_ref().and_then(|place| place.modes().err()).map(|error| broken_modes(&error));
    let file = repository_file(context, None).unwrap_or_default();
    let (missing_programs, success_problems) =
        parse(file.as_ref()).map(|policy| missing_programs(&policy, context)).unwrap_or_default();
    let (sandbox, namespaces_refused) = SandboxLevel::tried();
    let (policy, (commands_run, commands), half_visible) = judged(context, sandbox);
    let mut findings = DoctorReport {
        check: None,
        laptop: Vec::new(),
        action: action_problems(context),
        version: env!("CARGO_PKG_VERSION"),
        sandbox,
        sandbox_missing: sandbox.missing(),
        weaker: sandbox_rows::weaker(sandbox),
        namespaces_refused,
        git: git_version(context)?,
        browser: BrowserFinding::look(&settings, &context.environment, sandbox)?,
        model: resolved.as_ref().ok().map(|found| found.main.name.clone()),
        model_has_key: resolved.as_ref().is_ok_and(|found| found.main.key.is_some()),
        model_problem: resolved.as_ref().err().map(|error| format!("{error}; {}", error.hint())),
        models,
        servers,
        servers_problem,
        sessions: sessions_folder(context, None)?.display().to_string(),
        policy,
        uncommitted: uncommitted(context),
        commands,
        commands_run,
        half_visible,
        probe,
        modes_problem,
        missing_programs,
        success_problems,
    };
    findings.laptop = laptop_problems(&findings);
    Ok(findings)
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
    context: &CommandContext,
    level: SandboxLevel,
) -> (String, (bool, String), Vec<HalfVisible>) {
    // Outside a repository there is none but the built-in one.
    let file = repository_file(context, None).unwrap_or_default();
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

fn commands(limits: &CommandLimits, level: SandboxLevel) -> (bool, String) {
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
            let judged = match (limits.contains_scripts(), level.namespaces) {
                (false, _) => "sandboxed",
                (true, true) => "contained: scripts need no rule for their words",
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

fn rows(findings: &DoctorReport) -> Vec<[String; 3]> {
    let row = sandbox_rows::row;
    let refused = findings.namespaces_refused.as_deref();
    let mut rows = vec![row("locum", findings.version, "")];
    rows.extend(sandbox_rows::rows(findings.sandbox, refused));
    rows.extend(findings.weaker.iter().map(|what| row("", "weaker", what)));
    rows.push(row("git", findings.git.as_deref().unwrap_or("not found"), ""));
    rows.push(findings.browser.row());
    rows.extend(findings.models.iter().map(|model| row("model", &model.name, &described(model))));
    rows.extend(findings.model_problem.as_ref().map(|problem| row("model", "none", problem)));
    let server = |server: &ServerRow| {
        row("MCP server", server.state, &format!("{}: {}", server.name, server.about()))
    };
    rows.extend(findings.servers.iter().map(server));
    rows.extend(
        findings.servers_problem.as_ref().map(|problem| row("MCP servers", "unknown", problem)),
    );
    rows.extend([
        row("sessions", &findings.sessions, ""),
        row("policy", &findings.policy, findings.uncommitted.as_deref().unwrap_or_default()),
        row(
            "commands",
            if findings.commands_run { "allowed" } else { "refused" },
            &findings.commands,
        ),
    ]);
    let in_part = |found: &HalfVisible| {
        let more = format!("{}: commands do not see {}", found.program, found.hidden);
        row("tool chain", "half visible", &more)
    };
    rows.extend(findings.half_visible.iter().map(in_part));
    let missing = |program: &String| {
        row("program", "missing", &format!("{program}: the policy allows it; install it to use it"))
    };
    rows.extend(findings.missing_programs.iter().map(missing));
    rows.extend(findings.probe.iter().flat_map(|probe| {
        let state = if probe.answered { "answered" } else { "no answer" };
        probe.lines().into_iter().map(move |line| row("probe", state, &line))
    }));
    for (place, problems) in [("laptop", &findings.laptop), ("Action", &findings.action)] {
        let of_model = |problem: &&String| Some(*problem) == findings.model_problem.as_ref();
        let in_short = |problem| if of_model(&problem) { "no model: see above" } else { problem };
        rows.extend(problems.iter().map(|problem| row(place, "not ready", in_short(problem))));
        if problems.is_empty() {
            rows.push(row(place, "ready", ""));
        }
    }
    rows
}

/// Returns what a model is used for, what it is and whether there is a key for it; never the key.
fn described(model: &ModelRow) -> String {
    let key = match (&model.api_key_env, model.has_key) {
        (Some(variable), true) => format!("API key set ({variable})"),
        (None, true) => "API key set".to_owned(),
        (_, false) => "no API key".to_owned(),
    };
    let place = model.base_url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
    let notes: String = model.notes.iter().map(|note| format!("; {note}")).collect();
    format!(
        "{}: {}{place} ({}); {key}{notes}",
        model.used_for.join(", "),
        model.model,
        model.provider
    )
}
