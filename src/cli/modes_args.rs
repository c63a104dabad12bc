//! Arguments of `locum modes`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::inspect_args::InspectArgs;

/// What to do with modes.
#[derive(Clone, Debug, Subcommand)]
pub enum ModesCommand {
    /// List every mode and its source.
    ///
    /// Exits with 2 when a mode file has a mistake; the modes of the others are listed.
    List(InspectArgs),
    /// Show one mode in full.
    ///
    /// Exits with 2 when a mode file has a mistake.
    Show(ShowModeArgs),
    /// Check mode files and agent files.
    ///
    /// Exits with 2 when one has a mistake.
    #[command(visible_alias = "check")]
    Validate(ValidateModesArgs),
    /// Add a mode.
    Create(CreateModeArgs),
    /// Change keys of a mode, leaving the rest of its file alone.
    Update(UpdateModeArgs),
    /// Remove a mode from its file.
    Delete(DeleteModeArgs),
    /// Import modes and their rules files from a file.
    Import(ImportModesArgs),
    /// Export modes and their rules files to a file.
    ///
    /// Exits with 2 when a mode file has a mistake; the modes of the others are exported.
    Export(ExportModesArgs),
}

/// `locum modes show`.
#[derive(Clone, Debug, Args)]
pub struct ShowModeArgs {
    /// Slug of the mode.
    pub slug: String,
    /// Show the mode's complete system prompt, with token estimates.
    #[arg(long)]
    pub prompt: bool,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum modes validate`.
#[derive(Clone, Debug, Args)]
pub struct ValidateModesArgs {
    /// Files to check. Default: all of the repository and the user.
    ///
    /// The name and folder of a file determine its kind.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub files: Vec<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// Where a change goes and how it is printed.
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    /// Change this mode file.
    ///
    /// Default: the file that defines the mode, else `.locum/modes.yml`.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "user")]
    pub file: Option<PathBuf>,
    /// Change the user's own mode file instead of the repository's.
    #[arg(long)]
    pub user: bool,
    /// Print the change without making it.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The keys of a mode.
#[derive(Clone, Debug, Default, Args)]
pub struct FieldArgs {
    /// Set the display name.
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Set the role description.
    #[arg(long, value_name = "TEXT")]
    pub role: Option<String>,
    /// Set when an orchestrator should choose the mode.
    #[arg(long, value_name = "TEXT")]
    pub when_to_use: Option<String>,
    /// Set the one-line description for lists.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Set additional instructions.
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// Set the tool groups, separated by commas; `--groups ''` sets none.
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    pub groups: Option<Vec<String>>,
    /// Allow edits only of paths that match this JavaScript regular expression.
    #[arg(long, value_name = "REGEX", requires = "groups")]
    pub edit_only: Option<String>,
    /// Set any key to a YAML value: `--set 'variables={team: core}'`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `locum modes create`.
#[derive(Clone, Debug, Args)]
pub struct CreateModeArgs {
    /// Slug of the new mode: letters, digits and `-`.
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
    /// Slug of the mode.
    pub slug: String,
    /// The keys to change.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// Remove this key.
    #[arg(long, value_name = "KEY")]
    pub unset: Vec<String>,
    /// Where it is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes delete`.
#[derive(Clone, Debug, Args)]
pub struct DeleteModeArgs {
    /// Slug of the mode.
    pub slug: String,
    /// Where it is removed.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes import`.
#[derive(Clone, Debug, Args)]
pub struct ImportModesArgs {
    /// File from `locum modes export` or another program.
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub from: PathBuf,
    /// Where it is written.
    #[command(flatten)]
    pub write: WriteArgs,
}

/// `locum modes export`.
#[derive(Clone, Debug, Args)]
pub struct ExportModesArgs {
    /// Modes to export. Default: all that are not built in.
    pub slugs: Vec<String>,
    /// Set the format of the file.
    #[arg(long, value_name = "FORM", default_value = "yaml")]
    pub format: ExportForm,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Read the repository's files from this revision instead of the working tree.
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
