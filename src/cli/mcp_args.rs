//! Arguments of `locum mcp`.

use clap::{Args, Subcommand};

use crate::cli::inspect_args::InspectArgs;
use crate::cli::prompt_args::ValidateArgs;

/// `locum mcp list`.
#[derive(Clone, Debug, Args)]
pub struct McpListArgs {
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
    /// Start the permitted servers and list their tools with the policy's decisions.
    #[arg(long)]
    pub tools: bool,
}

/// What to do with MCP servers.
#[derive(Clone, Debug, Subcommand)]
pub enum McpCommand {
    /// List every server, its definition, and whether a run may use it.
    ///
    /// Starts no server without `--tools`.
    List(McpListArgs),
    /// Check the files that define servers.
    ///
    /// Exits with 2 when one has a mistake.
    Validate(ValidateArgs),
    /// Serve MCP over standard input and output, read-only.
    ///
    /// The tools explain and check the policy, and list modes and servers.
    Serve,
}
