//! `locum doctor`: what this machine gives a run: the sandbox, git, a model with its key, a place
//! for sessions. Asks nobody over a network.

use std::path::Path;

use serde::Serialize;

use crate::cli::args::DoctorArgs;
use crate::cli::failure::Failure;
use crate::cli::mcp::{self, ServerRow};
use crate::cli::models::{ModelRow, mark_used};
use crate::cli::output::Output;
use crate::cli::place::{Place, own_settings};
use crate::cli::policy::{parse, repository_file};
use crate::cli::session::sessions_folder;
use crate::cli::{Context, ExitStatus, table};
use locum_models::resolve::{ModelFacts, resolve};
use locum_policy::schema::{CommandLimits, CommandNetwork, Sandbox};
use locum_sandbox::level::{Level, ProcessLimit};
use locum_workspace::git_binary;

/// What was found.
#[derive(Clone, Debug, Serialize)]
struct Findings {
    version: &'static str,
    sandbox: Level,
    /// What the kernel does not give; empty when it gives everything.
    sandbox_missing: String,
    /// Why commands get no namespaces of their own.
    namespaces_refused: Option<String>,
    git: Option<String>,
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
    /// What becomes of commands under it on this machine.
    commands: String,
    /// Whether it lets commands run at all here.
    commands_run: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// When the settings are wrong. What a machine lacks is a finding, and an exit code of its own only
/// when no run could do anything.
pub fn run(
    args: &DoctorArgs,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let findings = look(context)?;
    if args.json {
        output.json(&findings);
    } else {
        for line in table::lines(["PART", "STATE", ""], &rows(&findings)) {
            output.line(line);
        }
    }
    Ok(if findings.git.is_none() || !findings.sandbox.is_full() {
        ExitStatus::Usage
    } else {
        ExitStatus::Done
    })
}

fn look(context: &Context) -> Result<Findings, Failure> {
    let settings = match Place::open(context, None) {
        Ok(place) => place.settings(&context.environment, &[])?,
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
    let servers =
        if Place::open(context, None).is_ok() { mcp::rows(None, context) } else { Ok(Vec::new()) };
    let (servers, servers_problem) = match servers {
        Ok(servers) => (servers, None),
        Err(failure) => (
            Vec::new(),
            Some(
                failure
                    .mistakes
                    .into_iter()
                    .map(|mistake| mistake.what)
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
        ),
    };
    let (sandbox, namespaces_refused) = Level::tried();
    let (policy, (commands_run, commands)) = judged(context, sandbox);
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        sandbox,
        sandbox_missing: sandbox.missing(),
        namespaces_refused,
        git: git_version(context)?,
        model: resolved.as_ref().ok().map(|found| found.main.name.clone()),
        model_has_key: resolved.as_ref().is_ok_and(|found| found.main.key.is_some()),
        model_problem: resolved.as_ref().err().map(|error| format!("{error}; {}", error.hint())),
        models,
        servers,
        servers_problem,
        sessions: sessions_folder(context, None)?.display().to_string(),
        policy,
        commands,
        commands_run,
    })
}

/// Returns which policy judges runs here, and what it makes of commands at this level.
fn judged(context: &Context, level: Level) -> (String, (bool, String)) {
    // Outside a repository there is none but the built-in one.
    let file = repository_file(context, None).unwrap_or_default();
    match parse(file.as_ref()) {
        Ok(policy) => (policy.origin().to_owned(), commands(&policy.settings().commands, level)),
        Err(_) => (
            "has mistakes".to_owned(),
            (false, "no run starts: `locum policy check` says what is wrong".to_owned()),
        ),
    }
}

fn commands(limits: &CommandLimits, level: Level) -> (bool, String) {
    let hosts = level.namespaces || level.calls;
    match (limits.sandbox, level.is_full()) {
        (Sandbox::Off, _) => (true, "with nothing around them: `commands.sandbox: off`".to_owned()),
        (Sandbox::Required, false) => (
            false,
            format!(
                "`commands.sandbox: required`, and this machine does not give it: {}",
                level.missing()
            ),
        ),
        _ if limits.network == CommandNetwork::Listed && !hosts => (
            false,
            "`commands.network: policy`, and this machine cannot hold commands to hosts".to_owned(),
        ),
        (Sandbox::BestEffort, false) => {
            (true, "with what there is of a sandbox; code of the repository is refused".to_owned())
        }
        (Sandbox::Required | Sandbox::BestEffort, true) => (true, "in the sandbox".to_owned()),
    }
}

fn git_version(context: &Context) -> Result<Option<String>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(error.to_string()))?;
    Ok(runtime.block_on(git_binary::version(Path::new("/"), context.environment.variables())).ok())
}

fn rows(findings: &Findings) -> Vec<[String; 3]> {
    let held = |held: bool| if held { "held" } else { "not held" };
    let level = findings.sandbox;
    let kernel = format!("Landlock version {}", level.landlock);
    let namespaces = findings.namespaces_refused.as_ref().map_or_else(
        || {
            "commands have processes, a loopback network and a view of files of their own"
                .to_owned()
        },
        |why| format!("{why}; the rest of the sandbox does not need them"),
    );
    let hosts = if level.namespaces || level.calls { "can be held" } else { "not held" };
    let processes = match level.process_limit() {
        ProcessLimit::User => ["held", "the kernel counts those of this user"],
        ProcessLimit::Namespace => ["held", "the kernel counts those of a command"],
        ProcessLimit::Answered => {
            ["held", "every new one of a command is counted before it begins"]
        }
        ProcessLimit::Looked => [
            "looked at",
            "those of an administrator are counted from time to time, which a fast command can \
             outrun",
        ],
    };
    let row =
        |part: &str, state: &str, more: &str| [part.to_owned(), state.to_owned(), more.to_owned()];
    let mut rows = vec![
        row("locum", findings.version, ""),
        row("files", held(level.files), &kernel),
        row("network", held(level.network), ""),
        row("hosts", hosts, "`commands.network: policy`"),
        row("system calls", held(level.syscalls), &findings.sandbox_missing),
        row(
            "signals",
            held(level.holds_signals()),
            "to processes of this user besides locum: namespaces, or Landlock version 6",
        ),
        row("processes", processes[0], processes[1]),
        row("namespaces", if level.namespaces { "own" } else { "shared" }, &namespaces),
        row("git", findings.git.as_deref().unwrap_or("not found"), ""),
    ];
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
        row("policy", &findings.policy, ""),
        row("commands", if findings.commands_run { "run" } else { "refused" }, &findings.commands),
    ]);
    rows
}

/// Returns what a model is used for, what it is and whether there is a key for it; never the key.
fn described(model: &ModelRow) -> String {
    let key = match (&model.api_key_env, model.has_key) {
        (Some(variable), true) => format!("its key is set ({variable})"),
        (None, true) => "its key is set".to_owned(),
        (_, false) => "no key is sent".to_owned(),
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
