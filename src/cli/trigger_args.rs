//! Arguments of `locum trigger`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::inspect_args::InspectArgs;
use crate::cli::policy_args::TIERS;
use crate::cli::words::{Word, one_of};
use locum_forge::ForgePermission;
use locum_policy::actors::Tier;

/// What to do with events.
#[derive(Clone, Debug, Subcommand)]
pub enum TriggerCommand {
    /// Explain, check by check, what an event would start.
    ///
    /// Works offline. Exits with 0 (would run, or nothing to do) or 4 (refused).
    Explain(TriggerExplainArgs),
}

/// What the forge says someone may do.
const PERMISSIONS: &[Word<ForgePermission>] = &[
    ("admin", ForgePermission::Admin, "Everything"),
    ("maintain", ForgePermission::Maintain, "Maintain"),
    ("write", ForgePermission::Write, "Push"),
    ("triage", ForgePermission::Triage, "Triage"),
    ("read", ForgePermission::Read, "Read"),
    ("none", ForgePermission::None, "Nothing"),
];

/// `locum trigger explain`.
#[derive(Clone, Debug, Args)]
pub struct TriggerExplainArgs {
    /// Name of the event, such as `issue_comment`.
    ///
    /// Known: `issue_comment`, `issues`, `pull_request`, `pull_request_target`,
    /// `pull_request_review`, `pull_request_review_comment`, `workflow_run`, `check_suite`, `push`,
    /// `release`, `merge_group`, `repository_dispatch`, `workflow_dispatch`, `schedule`.
    #[arg(long, value_name = "NAME")]
    pub event_name: String,
    /// File with the event's payload, as GitHub sends it.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub event: PathBuf,
    /// Use this policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub policy: Option<PathBuf>,
    /// Assume an actor of this tier instead of showing every tier.
    ///
    /// `bot` is the first that the policy lists, unless a listed one sent the event. `schedule` is
    /// the tier of the event `schedule` alone.
    #[arg(long, value_name = "TIER", conflicts_with = "permission", value_parser = one_of(TIERS))]
    pub tier: Option<Tier>,
    /// Assume that the forge reports this permission.
    #[arg(long, value_name = "WORD", value_parser = one_of(PERMISSIONS))]
    pub permission: Option<ForgePermission>,
    /// Assume that the pull request comes from a fork.
    #[arg(long)]
    pub fork: bool,
    /// Assume that these paths were changed.
    ///
    /// Default: the paths that the payload of a push lists; without a list, every filter by
    /// paths matches.
    #[arg(long, value_name = "PATH")]
    pub changed: Option<Vec<String>>,
    /// Assume that the workflow's input `prompt`, `prompt-file` or `job` says what is to be done.
    #[arg(long)]
    pub with_task: bool,
    /// Assume that the pull request whose checks ended has this label.
    #[arg(long, value_name = "NAME")]
    pub label: Vec<String>,
    /// Assume that the pull request whose checks ended is Locum's own.
    #[arg(long)]
    pub own_pull_request: bool,
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
