//! Arguments of the subcommands that only look: `policy`, `config`, `models`, `schema`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::policy_args::{
    PolicyExplainArgs, PolicyImportArgs, PolicyInitArgs, PolicyTestArgs,
};

/// How the inspecting subcommands look and answer.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Read the repository's files from this revision instead of the working tree.
    #[arg(long, value_name = "REF")]
    pub at: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum policy`.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What to do with the policy.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy file: syntax, examples, rules without effect.
    Check(PolicyCheckArgs),
    /// Explain the policy's decision on intents and tool calls.
    ///
    /// Performs nothing. Exits with 0 (all allowed), 4 (something denied), 5 (something held) or 2
    /// (something could not be read).
    Explain(PolicyExplainArgs),
    /// Test the policy's examples and test files.
    ///
    /// Exits with 0 when all pass, 3 when one fails, 2 when there are none.
    Test(PolicyTestArgs),
    /// Write a starter policy for this repository, without overwriting one.
    ///
    /// It allows the source folders and the test commands.
    Init(PolicyInitArgs),
    /// Convert another tool's settings into a policy.
    ///
    /// Reports on stderr what cannot be converted, with its place.
    Import(PolicyImportArgs),
}

/// `locum policy check`.
#[derive(Clone, Debug, Args)]
pub struct PolicyCheckArgs {
    /// File to check. Default: the repository's policy.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub file: Option<PathBuf>,
    /// Exit with 2 when there are warnings.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Also warn about rules that allowed nothing in this session.
    ///
    /// Takes a session ID or the start of it. Repeat it to consider several sessions together.
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "session")]
    pub session_dir: Option<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum config`.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What to do with settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value and its source.
    Show(InspectArgs),
}

/// `locum models`.
#[derive(Clone, Debug, Args)]
pub struct ModelsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ModelsCommand,
}

/// What to do with models.
#[derive(Clone, Debug, Subcommand)]
pub enum ModelsCommand {
    /// List every profile with its use, limits and price.
    List(InspectArgs),
}

/// `locum schema`.
#[derive(Clone, Copy, Debug, Args)]
pub struct SchemaArgs {
    /// File to describe.
    pub name: SchemaWord,
}

/// A file people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaWord {
    /// `.locum/policy.yml`
    Policy,
    /// `.locum/jobs/NAME.yml`
    Job,
    /// `.locum/config.yml`
    Config,
    /// `.locum/modes.yml`
    Modes,
    /// `.locum/policy-tests.yml`
    PolicyTest,
    /// A script for `--script`
    Script,
}
