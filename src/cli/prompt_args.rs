//! Arguments of `locum commands` and `locum skills`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::inspect_args::InspectArgs;

/// What to do with slash commands.
#[derive(Clone, Debug, Subcommand)]
pub enum CommandsCommand {
    /// List the commands of the repository and the user.
    List(InspectArgs),
    /// Show one command in full.
    Show(NamedArgs),
    /// Check command files.
    ///
    /// Exits with 2 when one has a mistake.
    #[command(visible_alias = "check")]
    Validate(ValidateArgs),
}

/// What to do with skills.
#[derive(Clone, Debug, Subcommand)]
pub enum SkillsCommand {
    /// List the skills of the repository.
    List(InspectArgs),
    /// Show one skill in full.
    Show(NamedArgs),
    /// Check skill files.
    ///
    /// Exits with 2 when one has a mistake.
    #[command(visible_alias = "check")]
    Validate(ValidateArgs),
}

/// One thing by its name.
#[derive(Clone, Debug, Args)]
pub struct NamedArgs {
    /// Name to show.
    pub name: String,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// Files to check.
#[derive(Clone, Debug, Args)]
pub struct ValidateArgs {
    /// Files to check. Default: all of the repository and the user.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub files: Vec<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}
