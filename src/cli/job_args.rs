//! Arguments of `locum job`.

use clap::{Args, Subcommand};

use crate::cli::run_args::RunOptions;

/// `locum job`.
#[derive(Clone, Debug, Args)]
pub struct JobArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: JobCommand,
}

/// What to do with jobs.
#[derive(Clone, Debug, Subcommand)]
pub enum JobCommand {
    /// List every job of the checked-out commit and when it runs next.
    List(ListArgs),
    /// Run a job now.
    Run(Box<JobRunArgs>),
    /// List the jobs that are due.
    Due(JobDueArgs),
}

/// `locum job run`.
#[derive(Clone, Debug, Args)]
pub struct JobRunArgs {
    /// The job's name: its file without `.yml`.
    pub name: String,
    /// Revision whose policy, modes and jobs count; the checkout's own commit when absent.
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
    /// How far back a job may have been due.
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=525_600))]
    pub within_minutes: u32,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A list for people or programs.
#[derive(Clone, Copy, Debug, Args)]
pub struct ListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
