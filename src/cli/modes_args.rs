//! Arguments of `locum modes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::inspect_args::InspectArgs;

/// `locum modes`.
#[derive(Clone, Debug, Args)]
pub struct ModesArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ModesCommand,
}

/// What to do with modes.
#[derive(Clone, Debug, Subcommand)]
pub enum ModesCommand {
    /// List every mode: built-in, the user's, the repository's, the organisation's.
    List(InspectArgs),
    /// Show one mode in full.
    Show(ShowModeArgs),
    /// Check mode files and agent files. Exits with 2 when one has a mistake.
    Validate(ValidateModesArgs),
    /// Add a mode.
    Create(CreateModeArgs),
    /// Change keys of a mode; the rest of its file stays as it is.
    Update(UpdateModeArgs),
    /// Remove a mode from its file.
    Delete(DeleteModeArgs),
    /// Import the modes of a file, with the rules files it carries.
    Import(ImportModesArgs),
    /// Export modes, with their rules files, as a file to import elsewhere.
    Export(ExportModesArgs),
}

/// `locum modes show`.
#[derive(Clone, Debug, Args)]
pub struct ShowModeArgs {
    /// The mode's slug.
    pub slug: String,
    /// Show the complete system prompt of this mode, with a token estimate for each section.
    #[arg(long)]
    pub prompt: bool,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum modes validate`.
#[derive(Clone, Debug, Args)]
pub struct ValidateModesArgs {
    /// The files; every one of the repository and the user when absent. What kind a file is, its
    /// name and folders say.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub files: Vec<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// What is written and how that is told.
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    /// The mode file; the one that defines the mode when absent, else `.locum/modes.yml`.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "user")]
    pub file: Option<PathBuf>,
    /// The user's own mode file instead of the repository's.
    #[arg(long)]
    pub user: bool,
    /// Print what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The keys of a mode.
#[derive(Clone, Debug, Default, Args)]
pub struct FieldArgs {
    /// Display name.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Role description.
    #[arg(long, value_name = "TEXT")]
    pub role: Option<String>,
    /// When an orchestrator should choose it.
    #[arg(long, value_name = "TEXT")]
    pub when_to_use: Option<String>,
    /// One-line description for lists.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Additional instructions.
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// Tool groups, separated by commas; `--groups ''` gives none.
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    pub groups: Option<Vec<String>>,
    /// Only files whose path matches this JavaScript regular expression may be edited.
    #[arg(long, value_name = "REGEX", requires = "groups")]
    pub edit_only: Option<String>,
    /// Any key of a mode file, with its value in YAML: `--set 'variables={team: core}'`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `locum modes create`.
#[derive(Clone, Debug, Args)]
pub struct CreateModeArgs {
    /// The mode's slug: letters, digits and `-`.
    pub slug: String,
    /// Its keys.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// Where it is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes update`.
#[derive(Clone, Debug, Args)]
pub struct UpdateModeArgs {
    /// The mode's slug.
    pub slug: String,
    /// The keys to change.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// A key to remove.
    #[arg(long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// Where it is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes delete`.
#[derive(Clone, Debug, Args)]
pub struct DeleteModeArgs {
    /// The mode's slug.
    pub slug: String,
    /// Where it is removed.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes import`.
#[derive(Clone, Debug, Args)]
pub struct ImportModesArgs {
    /// The file, as `locum modes export` or another program has written it.
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub from: PathBuf,
    /// Where it is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes export`.
#[derive(Clone, Debug, Args)]
pub struct ExportModesArgs {
    /// The modes; every one that is not built in when absent.
    pub slugs: Vec<String>,
    /// Format of the file.
    #[arg(long, value_name = "FORM", default_value = "yaml")]
    pub format: ExportForm,
    /// Write the file here instead of to standard output.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Read the repository's files from this revision instead of from the working tree.
    #[arg(long, value_name = "REF")]
    pub at: Option<String>,
}

/// The form of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// YAML.
    Yaml,
    /// JSON.
    Json,
}
