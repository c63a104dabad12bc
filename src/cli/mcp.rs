//! `locum mcp list|validate`: the MCP servers of a repository, whether a run may use them, and what is wrong with their files.

use serde::Serialize;

use crate::cli::checked::{self, Checked, Finding, Told};
use crate::cli::failure::Failure;
use crate::cli::inspect_args::InspectArgs;
use crate::cli::mcp_args::{McpArgs, McpCommand};
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::policy::{parse, repository_file};
use crate::cli::prompt_args::ValidateArgs;
use crate::cli::{Context, ExitStatus, mcp_serve, table};
use crate::modes::Group;
use crate::policy::intent::{Facts, Intent};
use crate::policy::verdict::Decision;
use crate::run::servers::{ServerPlan, facts_of};
use crate::tools::mcp::definition::{self, ServerFile};
use crate::tools::mcp::servers::PlannedServer;

/// Runs the subcommand.
///
/// # Errors
/// When a file cannot be read, or settings or policy have mistakes.
pub fn run(args: &McpArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    match &args.command {
        McpCommand::List(args) => list(args, context, output),
        McpCommand::Validate(args) => validate(args, context, output),
        McpCommand::Serve => mcp_serve::run(context, output),
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
    /// `allowed`, `refused` or `disabled`.
    pub(super) state: &'static str,
    /// Why it is refused; empty otherwise.
    reason: String,
}

impl ServerRow {
    /// Returns how it is reached, or why it is not.
    pub(super) fn about(&self) -> &str {
        if self.reason.is_empty() { &self.reached } else { &self.reason }
    }
}

fn list(args: &InspectArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let rows = rows(args.at.as_deref(), context)?;
    if args.json {
        output.json(&rows);
        return Ok(ExitStatus::Done);
    }
    let cells = |row: &ServerRow| [row.name.clone(), row.state.to_owned(), row.origin.clone(), row.reached.clone(), row.reason.clone()];
    for line in table::lines(["SERVER", "STATE", "FROM", "REACHED BY", ""], &rows.iter().map(cells).collect::<Vec<_>>()) {
        output.line(line);
    }
    if rows.is_empty() {
        output.line("no MCP servers");
    }
    Ok(ExitStatus::Done)
}

/// Returns every server of the repository and the user. None is started.
pub(super) fn rows(at: Option<&str>, context: &Context) -> Result<Vec<ServerRow>, Failure> {
    let place = Place::open(context, at)?;
    let settings = place.settings(&context.environment, &[])?;
    let policy = parse(repository_file(context, at)?.as_ref())?;
    let modes = place.modes(&context.environment)?;
    let files = files(&place)?;
    let plan = ServerPlan::make(&settings, files, &policy, &context.environment, &context.folder)?;
    let facts = facts_of(&policy, &modes, &Facts { sandboxed: true, ..Facts::default() });
    let row = |planned: &PlannedServer| {
        let definition = &planned.definition;
        let mut why = format!("no mode that may run has the group `{}`", Group::Mcp.as_str());
        let mut allowed = false;
        for facts in &facts {
            let verdict = policy.decide(&Intent::Server(definition.name.clone()), facts);
            allowed |= verdict.decision == Decision::Allow;
            why = verdict.reason;
        }
        let (state, reason) = match &planned.way {
            _ if definition.disabled => ("disabled", String::new()),
            Ok(_) if allowed => ("allowed", String::new()),
            Ok(_) => ("refused", why),
            Err(why) => ("refused", why.clone()),
        };
        ServerRow { name: definition.name.clone(), origin: definition.origin.clone(), reached: definition.way.shown(), state, reason }
    };
    Ok(plan.servers.iter().map(row).collect())
}

fn files(place: &Place) -> Result<Vec<(String, ServerFile)>, Failure> {
    let mut files = Vec::new();
    for path in definition::FILES {
        files.extend(place.file(path)?.map(|file| ((*path).to_owned(), ServerFile::parse(path, &file.text))));
    }
    Ok(files)
}

/// What a file defines.
#[derive(Serialize)]
struct Names {
    servers: Vec<String>,
}

/// Checks the files that are named, or every file there is.
fn validate(args: &ValidateArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let files = if args.files.is_empty() {
        files(&Place::open(context, args.inspect.at.as_deref())?)?
    } else {
        let is_place = |path: &str| definition::FILES.contains(&path);
        let read = |file: &std::path::PathBuf| {
            let (path, text) = checked::named(&context.folder.join(file), file, &is_place)?;
            let found = ServerFile::parse(&path, &text);
            Ok((path, found))
        };
        args.files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?
    };
    let findings = |mistakes: Vec<_>| mistakes.into_iter().map(Finding::from).collect();
    let check = |(file, found): (String, ServerFile)| {
        let servers = found.servers.into_iter().map(|server| server.name).collect();
        Checked { file, defines: Names { servers }, mistakes: findings(found.mistakes), warnings: findings(found.warnings) }
    };
    let checked: Vec<Checked<Names>> = files.into_iter().map(check).collect();
    let words = |names: &Names| if names.servers.is_empty() { "no servers".to_owned() } else { names.servers.join(", ") };
    Ok(checked::show(&checked, Told { none: "no files of MCP servers", words: &words }, args.inspect.json, output))
}
