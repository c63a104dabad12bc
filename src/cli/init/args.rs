//! Arguments of `locum init`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::init::model::{ModelHost, ModelWish, PROVIDERS};
use crate::cli::init::questions::STARTERS;
use crate::cli::words::one_of;
use locum_policy::actors::Tier;
use locum_policy::starter::jobs::{JOBS, JobRecipe};
use locum_policy::starter::workflow::ActionReference;

/// `locum init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Overwrite existing files.
    #[arg(long, conflicts_with = "update")]
    pub force: bool,
    /// Bring existing files up to date; what was changed by hand stays.
    #[arg(long)]
    pub update: bool,
    /// Write the workflow for this provider of models.
    ///
    /// Default: the provider of the workflow that is there, of LOCUM_MODEL, or of the only key in
    /// the environment, else openai.
    #[arg(long, value_name = "PROVIDER", value_parser = one_of(PROVIDERS))]
    pub provider: Option<ModelHost>,
    /// Let the workflow ask this model where the variable LOCUM_MODEL names none.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Store no key: the job shows the model's provider who it is.
    ///
    /// For openai and anthropic, where an owner of the account has set up which jobs it trusts.
    /// Workflows for bedrock, vertex and azure never store one.
    #[arg(long)]
    pub no_key: bool,
    /// Let the workflow use this commit of Locum's repository, OWNER/NAME@COMMIT.
    ///
    /// Default: the Action of the release that this program is of, else that of the workflow that
    /// is there.
    #[arg(long, value_name = "ACTION")]
    pub action: Option<ActionReference>,
    /// Let these people start runs. Default: maintainer.
    #[arg(long, value_name = "WHO", value_parser = one_of(STARTERS))]
    pub start: Option<Tier>,
    /// Let this label start runs, too.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub label: Option<String>,
    /// Let runs edit these files instead of the source folders; repeat it for more.
    #[arg(long, value_name = "GLOB")]
    pub edit: Vec<String>,
    /// Write this job of `.locum/jobs`, too; repeat it for more.
    ///
    /// It fits the lock files, success commands and documents of the repository, and brings the
    /// trigger, rules and workflow permissions that it needs.
    #[arg(long, value_name = "NAME", value_parser = one_of(JOBS))]
    pub job: Vec<JobRecipe>,
    /// Write a workflow of two jobs: one works and may write nothing, the other publishes.
    #[arg(long)]
    pub two_jobs: bool,
    /// Run the success commands once in the sandbox, also where nothing is written.
    ///
    /// Exits with 2 unless each of them passes. Without the flag, a new or updated policy is tried
    /// as well, and what fails is reported with the exit code 0.
    #[arg(long, conflicts_with = "no_check")]
    pub check: bool,
    /// Do not run the success commands.
    #[arg(long)]
    pub no_check: bool,
    /// Open one pull request with the files and what they would have done, and write nothing here.
    ///
    /// Its branch is `locum/init`; another call brings it up to date. Reads the token in
    /// GITHUB_TOKEN or GH_TOKEN, and the repository in GITHUB_REPOSITORY or the remote `origin`.
    #[arg(long, conflicts_with_all = ["update", "check"])]
    pub pull_request: bool,
    /// Take what is proposed, without questions.
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Print JSON, without questions.
    #[arg(long)]
    pub json: bool,
}

impl InitArgs {
    /// Returns what is known of the model, with the provider that was chosen.
    pub(super) fn model_wish(&self, provider: Option<ModelHost>) -> ModelWish<'_> {
        ModelWish { provider, model: self.model.as_deref(), no_key: self.no_key }
    }
}
