//! Arguments of `locum job`.

use clap::{Args, Subcommand};

use crate::cli::run_args::RunOptions;

/// What to do with jobs.
#[derive(Clone, Debug, Subcommand)]
pub enum JobCommand {
    /// List the jobs of the checked-out commit and their next runs.
    List(ListArgs),
    /// Run a job now.
    Run(Box<JobRunArgs>),
    /// Let a paused job run again on its schedule.
    Resume(JobResumeArgs),
    /// List the jobs that are due.
    Due(JobDueArgs),
}

/// `locum job run`.
#[derive(Clone, Debug, Args)]
pub struct JobRunArgs {
    /// Job to run: its file name without `.yml`.
    pub name: String,
    /// Trust the policy, modes and jobs of this revision instead of the checkout's commit.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// What every run takes.
    #[command(flatten)]
    pub options: RunOptions,
}

/// `locum job due`.
#[derive(Clone, Debug, Args)]
pub struct JobDueArgs {
    /// Use this time instead of now (`2026-01-31T06:00:00Z`).
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Include jobs that became due in the last so many minutes.
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=525_600))]
    pub within_minutes: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum job resume`.
#[derive(Clone, Debug, Args)]
pub struct JobResumeArgs {
    /// Job to resume: its file name without `.yml`.
    pub name: String,
    /// Remote that keeps what is known of jobs.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub remote: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How `locum job list` prints.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Remote that keeps what is known of jobs; without it, no state is shown.
    #[arg(long, value_name = "NAME", default_value = "origin")]
    pub remote: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
