//! Arguments of `locum init`.

use clap::Args;

use crate::cli::init_model::{ModelHost, PROVIDERS};
use crate::cli::words::one_of;
use locum_policy::starter::workflow::ActionReference;

/// `locum init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
    /// Write the workflow for this provider of models.
    ///
    /// Default: the provider of LOCUM_MODEL, or of the only key in the environment, else openai.
    #[arg(long, value_name = "PROVIDER", value_parser = one_of(PROVIDERS))]
    pub provider: Option<ModelHost>,
    /// Let the workflow ask this model where the variable LOCUM_MODEL names none.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Let the workflow use this commit of Locum's repository, OWNER/NAME@COMMIT.
    ///
    /// Default: the Action of the release that this program is of.
    #[arg(long, value_name = "ACTION")]
    pub action: Option<ActionReference>,
    /// Write a workflow of two jobs: one works and may write nothing, the other publishes.
    #[arg(long)]
    pub two_jobs: bool,
}
