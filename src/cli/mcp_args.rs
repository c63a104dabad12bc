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

/// What to do with MCP servers.
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// List every server, where it is defined, and whether a run may use it or why not. Starts none.
    List(InspectArgs),
    /// Check the files that define servers. Ends with 2 when one has a mistake.
    Validate(ValidateArgs),
    /// Be a server over standard input and output: says what the policy decides and which modes and servers there are. It only looks.
    Serve,
}
