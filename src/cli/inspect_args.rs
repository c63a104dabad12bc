//! Arguments of the subcommands that only look: `policy`, `config`, `models`, `schema`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::policy_args::{
    PolicyExplainArgs, PolicyImportArgs, PolicyInitArgs, PolicyTestArgs,
};

/// How the inspecting subcommands look and answer.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Read the repository's files from this revision, as a run does, instead of from the working
    /// tree.
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
    /// Explain what the policy decides on intents and tool calls, by which rule, and why. Performs
    /// nothing. Exits with 0 (all allowed), 4 (something denied), 5 (something held) or 2
    /// (something could not be read).
    Explain(PolicyExplainArgs),
    /// Test the policy's own examples and files of cases. Exits with 0 when all pass, 3 when one
    /// fails, 2 when there are none.
    Test(PolicyTestArgs),
    /// Write a starter policy that allows this repository's source folders and test commands;
    /// overwrite nothing.
    Init(PolicyInitArgs),
    /// Convert the settings files of another tool into a policy; what cannot be converted is
    /// reported on stderr, with its place.
    Import(PolicyImportArgs),
}

/// `locum policy check`.
#[derive(Clone, Debug, Args)]
pub struct PolicyCheckArgs {
    /// The file; the repository's own when absent.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub file: Option<PathBuf>,
    /// Exit with 2 when there are warnings.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Also warn of rules that allowed nothing in this session, by its ID or the start of it.
    /// Several are considered together.
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// The folder of sessions.
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
    /// Show every setting, its value and where it came from.
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
    /// List every profile, what it is used for, its limits and its price.
    List(InspectArgs),
}

/// `locum schema`.
#[derive(Clone, Copy, Debug, Args)]
pub struct SchemaArgs {
    /// Which file.
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
    /// A script of fixed replies
    Script,
}
