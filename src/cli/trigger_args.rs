//! Arguments of `locum trigger`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::inspect_args::InspectArgs;
use crate::cli::policy_args::TierWord;

/// `locum trigger`.
#[derive(Clone, Debug, Args)]
pub struct TriggerArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TriggerCommand,
}

/// What to do with events.
#[derive(Clone, Debug, Subcommand)]
pub enum TriggerCommand {
    /// Explain, check by check, what an event would start.
    ///
    /// Works offline. Exits with 0 (would run, or nothing to do) or 4 (refused).
    Explain(TriggerExplainArgs),
}

/// `locum trigger explain`.
#[derive(Clone, Debug, Args)]
pub struct TriggerExplainArgs {
    /// Name of the event, such as `issue_comment`.
    ///
    /// Known: `issue_comment`, `issues`, `pull_request_review_comment`, `workflow_dispatch`,
    /// `schedule`.
    #[arg(long, value_name = "NAME")]
    pub event_name: String,
    /// File with the event's payload, as GitHub sends it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub event: PathBuf,
    /// Use this policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub policy: Option<PathBuf>,
    /// Assume an actor of this tier instead of showing every tier.
    #[arg(long, value_name = "TIER", conflicts_with = "permission")]
    pub tier: Option<TierWord>,
    /// Assume that the forge reports this permission.
    #[arg(long, value_name = "WORD")]
    pub permission: Option<PermissionWord>,
    /// Assume that the pull request comes from a fork.
    #[arg(long)]
    pub fork: bool,
    /// Assume that Locum comments under this login.
    #[arg(long, value_name = "LOGIN")]
    pub own_login: Option<String>,
    /// Assume this time instead of now (`2026-01-31T06:00:00Z`).
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// What the forge says someone may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PermissionWord {
    /// Everything.
    Admin,
    /// Maintain.
    Maintain,
    /// Push.
    Write,
    /// Triage.
    Triage,
    /// Read.
    Read,
    /// Nothing.
    None,
}
