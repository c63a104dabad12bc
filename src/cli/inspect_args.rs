//! Arguments of the subcommands that only look: `config`, `models`, `schema`.

use clap::{Args, Subcommand, ValueEnum};

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

/// What to do with settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value and its source.
    Show(InspectArgs),
    /// Set settings in a file, leaving the rest of the file alone.
    ///
    /// The file is checked first. One that would have a mistake afterwards is not written.
    Set(SetConfigArgs),
}

/// `locum config set`.
#[derive(Clone, Debug, Args)]
pub struct SetConfigArgs {
    /// A setting's key and its value: `budget.turns 40`; more pairs may follow.
    ///
    /// Items of a list are separated by commas.
    #[arg(required = true, num_args = 2.., value_names = ["KEY", "VALUE"])]
    pub pairs: Vec<String>,
    /// Change the user's own file instead of the repository's `.locum/config.yml`.
    #[arg(long)]
    pub user: bool,
    /// Print the change without making it.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to do with models.
#[derive(Clone, Debug, Subcommand)]
pub enum ModelsCommand {
    /// List every profile with its use, limits and price.
    List(InspectArgs),
    /// Send one cheap request, and show endpoint, latency, tokens and cost.
    ///
    /// Exit codes: 0 the model answered · 2 no model is configured, or the settings are wrong ·
    /// 3 the model did not answer.
    Test(ModelTestArgs),
}

/// Which model to test.
#[derive(Clone, Debug, Args)]
pub struct ModelTestArgs {
    /// Profile or model to ask [default: the root task's model].
    pub profile: Option<String>,
    /// Where its settings are, and how to answer.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// What has to be ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DoctorTarget {
    /// Runs on this machine.
    Laptop,
    /// The Action in this repository, as its last commit has it.
    Action,
    /// Both.
    Both,
}

/// `locum doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Exit with 2 unless this is ready. Default: laptop; in GitHub Actions, action.
    #[arg(long = "for", value_name = "PLACE")]
    pub target: Option<DoctorTarget>,
    /// Ask the model one cheap question, too.
    #[arg(long)]
    pub probe: bool,
    /// Run the success commands once in the sandbox, too; exit with 2 unless each of them passes.
    #[arg(long)]
    pub check: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A file people write, or what programs read.
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
    /// A line of `--output-format stream-json`
    Events,
}
