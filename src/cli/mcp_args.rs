//! Arguments of `locum mcp`.

use clap::{Args, Subcommand};

use crate::cli::inspect_args::InspectArgs;
use crate::cli::prompt_args::ValidateArgs;

/// `locum mcp`.
#[derive(Clone, Debug, Args)]
pub struct McpArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: McpCommand,
}

/// `locum mcp list`.
#[derive(Clone, Debug, Args)]
pub struct McpListArgs {
    /// How to look and answer.
    #[command(flatten)]
    pub inspect: InspectArgs,
    /// Start the servers that a run here may start, as a run does, and list their tools with what
    /// the policy says of each.
    #[arg(long)]
    pub tools: bool,
}

/// What to do with MCP servers.
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// List every server, where it is defined, and whether a run may use it or why not. Starts
    /// none, unless asked for tools.
    List(McpListArgs),
    /// Check the files that define servers. Ends with 2 when one has a mistake.
    Validate(ValidateArgs),
    /// Be a server over standard input and output: says what the policy decides and which modes and
    /// servers there are. It only looks.
    Serve,
}
