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

/// The file that is changed, and whether it is.
#[derive(Clone, Debug, Args)]
pub struct ServerFileArgs {
    /// Change this file.
    #[arg(
        long,
        value_name = "FILE",
        default_value = ".mcp.json",
        value_parser = [".mcp.json", ".kilocode/mcp.json", ".roo/mcp.json"]
    )]
    pub file: String,
    /// Print the change without making it.
    #[arg(long)]
    pub dry_run: bool,
}

/// `locum mcp add`.
#[derive(Clone, Debug, Args)]
pub struct AddServerArgs {
    /// What the server is called.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Reach a service at this address.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Send the service this header: `Authorization: Bearer ${TOKEN}`.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Give the program this variable: `TOKEN=${TOKEN}`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// The file.
    #[command(flatten)]
    pub file: ServerFileArgs,
    /// The program that is the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `locum mcp remove`.
#[derive(Clone, Debug, Args)]
pub struct RemoveServerArgs {
    /// The server.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The file.
    #[command(flatten)]
    pub file: ServerFileArgs,
}

/// `locum mcp serve`.
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// Offer `run_task`: the client can run tasks, under the policy of the repository.
    #[arg(long)]
    pub runs: bool,
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
    #[command(visible_alias = "check")]
    Validate(ValidateArgs),
    /// Add a server to a file, checked and without starting it.
    Add(AddServerArgs),
    /// Take a server out of a file.
    Remove(RemoveServerArgs),
    /// Serve MCP over standard input and output.
    ///
    /// The tools explain and check the policy, list modes and servers, and show sessions. With
    /// `--runs`, one more runs tasks.
    Serve(ServeArgs),
}
