//! Arguments of `locum hook`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::hook::dialect::HookAgent;
use crate::cli::words::{Word, one_of};

const AGENTS: &[Word<HookAgent>] = &[
    ("claude", HookAgent::Claude, "Claude Code's PreToolUse"),
    ("codex", HookAgent::Codex, "Codex' PreToolUse, which can only be denied"),
    ("copilot", HookAgent::Copilot, "GitHub Copilot's preToolUse"),
];

/// `locum hook`.
#[derive(Clone, Debug, Args)]
pub struct HookArgs {
    /// Agent that asks.
    #[arg(value_parser = one_of(AGENTS))]
    pub agent: HookAgent,
    /// Use this policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub policy: Option<PathBuf>,
    /// Let the rules of this mode count. Default: code where the policy allows it, else its
    /// default.
    #[arg(long, value_name = "SLUG")]
    pub mode: Option<String>,
    /// Print the settings that make the agent ask, and read nothing.
    #[arg(long)]
    pub settings: bool,
}
