//! `locum mcp list|validate`: the MCP servers of a repository, whether a run may use them, and what
//! is wrong with their files.
//!
//! Only `--tools` starts anything: what the policy lets a run start, in the same sandbox. Each
//! server lists what it has and is ended.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::checked::{self, FileCheck};
use crate::cli::inspected::InspectedRepository;
use crate::cli::mcp_args::{McpCommand, McpListArgs};
use crate::cli::output::Output;
use crate::cli::policy_explain::word;
use crate::cli::policy_file::{parse, repository_file};
use crate::cli::prompt_args::ValidateArgs;
use crate::cli::{CommandContext, ExitStatus, local_run, mcp_change, mcp_serve, stop_signal};
use crate::run::error::RunError;
use crate::run::servers::{ServerPlan, facts_of};
use locum_agent::env::RunEnv;
use locum_agent::tools::mcp::definition::endpoint::ServerEndpoint;
use locum_agent::tools::mcp::definition::{self, ServerFile};
use locum_agent::tools::mcp::servers::{
    McpServers, PlannedServer, ServerEnvironment, ServerStatus,
};
use locum_base::secret::Redactor;
use locum_modes::prompts::servers::OfferedTool;
use locum_modes::{ModeSet, ToolGroup};
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::env::clean_env;
use locum_sandbox::network::Connector;

/// Runs the subcommand.
///
/// # Errors
/// When a file cannot be read, or settings or policy have mistakes.
pub fn run(
    command: &McpCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        McpCommand::List(args) => list(args, context, output),
        McpCommand::Validate(args) => validate(args, context, output),
        McpCommand::Add(args) => mcp_change::add(args, context, output),
        McpCommand::Remove(args) => mcp_change::remove(args, context, output),
        McpCommand::Serve(args) => mcp_serve::run(args, context, output),
    }
}

/// A server as shown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ServerRow {
    pub(super) name: String,
    /// Where it is defined.
    origin: String,
    /// The program and its arguments, or the address, as written.
    reached: String,
    /// `allowed`, `refused` or `disabled`; `failed` where it was started to no end.
    pub(super) state: &'static str,
    /// Why it is refused, or could not be started; empty otherwise.
    reason: String,
    /// What it has; only where that was requested and it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolRow>>,
}

impl ServerRow {
    /// Returns how it is reached, or why it is not.
    pub(super) fn about(&self) -> &str {
        if self.reason.is_empty() { &self.reached } else { &self.reason }
    }
}

/// A tool of a server as shown.
#[derive(Clone, Debug, Serialize)]
struct ToolRow {
    /// Its name as the server gives it.
    name: String,
    /// The name models call it by.
    called: String,
    /// What the policy says of it, in the mode that may do most.
    decision: Decision,
    description: String,
    /// Of name, description and schema.
    hash: String,
}

/// What there is to be listed.
struct McpInventory {
    plan: ServerPlan,
    policy: Policy,
    /// The circumstances in each mode that may call tools of servers.
    facts: Vec<Facts>,
}

fn list(
    args: &McpListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let at = args.inspect.at.as_deref();
    let modes = InspectedRepository::open(context, at)?.usable_modes(output)?;
    let known = McpInventory::read(at, &modes, context)?;
    let rows = if args.tools { known.asked(context)? } else { known.rows() };
    if args.inspect.json {
        output.json(&rows);
        return Ok(ExitStatus::Done);
    }
    let cells = |row: &ServerRow| {
        [
            row.name.clone(),
            row.state.to_owned(),
            row.origin.clone(),
            row.reached.clone(),
            row.reason.clone(),
        ]
    };
    output.table(["SERVER", "STATE", "FROM", "REACHED BY", ""], rows.iter().map(cells));
    if rows.is_empty() {
        output.line("no MCP servers");
    }
    let cells = |tool: &ToolRow| {
        [tool.called.clone(), word(tool.decision).to_owned(), tool.description.clone()]
    };
    let mut tools = rows.iter().filter_map(|row| row.tools.as_ref()).flatten().peekable();
    if tools.peek().is_some() {
        output.line("");
        output.table(["TOOL", "POLICY", ""], tools.map(cells));
    }
    Ok(ExitStatus::Done)
}

/// Returns every server of the repository and the user. None is started.
pub(super) fn rows(at: Option<&str>, context: &CommandContext) -> Result<Vec<ServerRow>, RunError> {
    let modes = InspectedRepository::open(context, at)?.modes()?;
    Ok(McpInventory::read(at, &modes, context)?.rows())
}

impl McpInventory {
    fn read(at: Option<&str>, modes: &ModeSet, context: &CommandContext) -> Result<Self, RunError> {
        let place = InspectedRepository::open(context, at)?;
        let settings = place.settings()?;
        let policy =
            parse(repository_file(context, at)?.as_ref())?.with_ignored(place.source().ignored()?);
        let plan = ServerPlan::make(
            &settings,
            place.source().server_files()?,
            &policy,
            &context.environment,
            &context.folder,
        )?;
        let facts = facts_of(
            &policy,
            modes,
            &Facts { sandboxed: true, contained: true, ..Facts::default() },
        );
        Ok(Self { plan, policy, facts })
    }

    fn rows(&self) -> Vec<ServerRow> {
        self.plan.servers.iter().map(|planned| self.row(planned)).collect()
    }

    fn row(&self, planned: &PlannedServer) -> ServerRow {
        let definition = &planned.definition;
        let mut why = format!("no mode that may run has the group `{}`", ToolGroup::Mcp.as_str());
        let mut allowed = false;
        let intents = intents_of(planned);
        for facts in &self.facts {
            let verdicts = intents.iter().map(|intent| self.policy.decide(intent, facts));
            match verdicts.into_iter().find(|verdict| verdict.decision != Decision::Allow) {
                Some(refusal) => why = refusal.reason(),
                None => allowed = true,
            }
        }
        let (state, reason) = match &planned.endpoint {
            _ if definition.disabled => ("disabled", String::new()),
            Ok(endpoint) => match endpoint.problem().or_else(|| endpoint.key_problem()) {
                Some(why) => ("refused", why),
                None if allowed => ("allowed", String::new()),
                None => ("refused", why),
            },
            Err(why) => ("refused", why.clone()),
        };
        let (name, origin, reached) =
            (definition.name.clone(), definition.origin.clone(), definition.endpoint.shown());
        ServerRow { name, origin, reached, state, reason, tools: None }
    }

    /// Starts what may be started, and returns every server with what it has.
    fn asked(&self, context: &CommandContext) -> Result<Vec<ServerRow>, RunError> {
        let workspace = local_run::open(&context.folder)?;
        let (variables, limits) =
            (context.environment.variables(), &self.policy.settings().commands);
        let sandbox = Sandbox::prepare(limits, variables)
            .map_err(|error| RunError::internal(error.to_string()))?;
        let facts: Vec<Facts> = self
            .facts
            .iter()
            .map(|facts| Facts { sandboxed: sandbox.holds(), ..facts.clone() })
            .collect();
        let first = facts.first().cloned().unwrap_or_default();
        let sandbox = sandbox.with_hosts_of(&self.policy, &first);
        let redactor = Redactor::new(
            context.environment.secrets().into_iter().chain(self.plan.secrets.iter().cloned()),
        );
        let (env, connector) = (clean_env(variables, &limits.env), Connector::default());
        let around = ServerEnvironment {
            workspace: &workspace,
            session_folder: None,
            run: RunEnv::bare(&self.policy, &env, &sandbox, &redactor, &connector),
            facts,
        };
        let runtime = stop_signal::runtime()?;
        let mut rows = self.rows();
        runtime.block_on(async {
            let servers = McpServers::open(&self.plan.servers, around).await;
            for ((definition, instructions, offered), row) in servers.all().zip(&mut rows) {
                match instructions {
                    ServerStatus::Ready => {
                        let tools = offered
                            .tools
                            .iter()
                            .map(|tool| self.tool(&definition.name, tool, &redactor));
                        row.tools = Some(tools.collect());
                    }
                    ServerStatus::Failed(why) => {
                        (row.state, row.reason) = ("failed", redactor.redact(why))
                    }
                    ServerStatus::Refused(why) => {
                        (row.state, row.reason) = ("refused", why.clone())
                    }
                    ServerStatus::Disabled => {}
                }
            }
            servers.close().await;
        });
        Ok(rows)
    }

    fn tool(&self, server: &str, tool: &OfferedTool, redactor: &Redactor) -> ToolRow {
        let asked = Intent::Mcp { server: server.to_owned(), tool: tool.name.clone() };
        let decision =
            self.facts.iter().map(|facts| self.policy.decide(&asked, facts).decision).min();
        ToolRow {
            name: tool.name.clone(),
            called: tool.called.clone(),
            decision: decision.unwrap_or(Decision::Deny),
            description: redactor.redact(&tool.description),
            hash: tool.hash.clone(),
        }
    }
}

/// Returns what a run has to be allowed so that it may use a server.
fn intents_of(planned: &PlannedServer) -> Vec<Intent> {
    let server = &planned.definition.name;
    let destinations = planned.endpoint.as_ref().map(ServerEndpoint::destinations);
    let connections = destinations.unwrap_or_default().into_iter();
    let connections =
        connections.map(|destination| Intent::Service { server: server.clone(), destination });
    std::iter::once(Intent::Server(server.clone())).chain(connections).collect()
}

/// Checks the files that are named, or every file there is.
fn validate(
    args: &ValidateArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let files = if args.files.is_empty() {
        InspectedRepository::open(context, args.inspect.at.as_deref())?.source().server_files()?
    } else {
        let read = |shown: &PathBuf| {
            let file = checked::named(context, shown, |path| definition::FILES.contains(&path))?;
            Ok((shown.display().to_string(), ServerFile::parse(&file.path, &file.text)))
        };
        args.files.iter().map(read).collect::<Result<Vec<_>, RunError>>()?
    };
    let check = |(file, found): (String, ServerFile)| {
        let names = found.servers.into_iter().map(|server| server.name).collect();
        FileCheck::new(file, ("servers", names), found.mistakes, found.warnings)
    };
    let checked: Vec<FileCheck> = files.into_iter().map(check).collect();
    Ok(checked::show(&checked, "no files of MCP servers", "", args.inspect.json, output))
}
