//! Arguments of the subcommands that only look: `modes`, `policy`, `config`, `models`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::policy::actors::Tier;
use crate::policy::import::Peer;
use crate::policy::intent::TriggerKind;

/// How the inspecting subcommands look and answer.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Read the repository's files from this revision, as a run does, instead of from the working tree.
    #[arg(long, value_name = "REF")]
    pub at: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

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
    /// List every mode: built-in, the user's, the repository's.
    List(InspectArgs),
    /// Show one mode whole.
    Show(ShowModeArgs),
}

/// `locum modes show`.
#[derive(Clone, Debug, Args)]
pub struct ShowModeArgs {
    /// The mode's slug.
    pub slug: String,
    /// Where to read and how to answer.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum policy`.
#[derive(Clone, Debug, Args)]
pub struct PolicyArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PolicyCommand,
}

/// What to do with the policy.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy file: its words, its examples, rules without effect.
    Check(PolicyCheckArgs),
    /// Say what the policy decides on something, by which rule, and why. Ends with 0 (allow), 4 (deny) or 5 (hold).
    Explain(PolicyExplainArgs),
    /// Turn the allowed and denied commands of another tool's settings into a policy; what is lost is told on stderr.
    Import(PolicyImportArgs),
}

/// `locum policy check`.
#[derive(Clone, Debug, Args)]
pub struct PolicyCheckArgs {
    /// The file; the repository's own when absent.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub file: Option<PathBuf>,
    /// Where to read and how to answer.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum policy import`.
#[derive(Clone, Debug, Args)]
pub struct PolicyImportArgs {
    /// Whose settings these are.
    #[arg(long, value_name = "TOOL")]
    pub from: PeerWord,
    /// The settings file.
    #[arg(value_hint = clap::ValueHint::FilePath)]
    pub file: PathBuf,
    /// Print the policy and what is lost as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A tool whose settings can be turned into a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerWord {
    /// Roo Code or Kilo Code.
    Roo,
    /// Kode.
    Kode,
    /// Claude Code.
    Claude,
}

impl From<PeerWord> for Peer {
    fn from(word: PeerWord) -> Self {
        match word {
            PeerWord::Roo => Self::Roo,
            PeerWord::Kode => Self::Kode,
            PeerWord::Claude => Self::Claude,
        }
    }
}

/// `locum policy explain`.
#[derive(Clone, Debug, Args)]
pub struct PolicyExplainArgs {
    /// What is asked about, in the policy's words: `edit(src/lib.rs)`, `command(cargo test)`, `publish(pull-request)`.
    #[arg(required = true, value_name = "INTENT")]
    pub intents: Vec<String>,
    /// As if done in this mode; the policy's default when absent.
    #[arg(long, value_name = "SLUG")]
    pub mode: Option<String>,
    /// As if the run was started so.
    #[arg(long, value_name = "KIND", default_value = "local")]
    pub trigger: TriggerWord,
    /// As if started by someone of this tier.
    #[arg(long, value_name = "TIER", default_value = "maintainer")]
    pub tier: TierWord,
    /// As if done in this job.
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// This policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub policy: Option<PathBuf>,
    /// Where to read and how to answer.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// How a run is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TriggerWord {
    /// On the command line.
    Local,
    /// By a comment.
    Comment,
    /// By a label.
    Label,
    /// By `workflow_dispatch`.
    Dispatch,
    /// By the clock.
    Schedule,
}

impl From<TriggerWord> for TriggerKind {
    fn from(word: TriggerWord) -> Self {
        match word {
            TriggerWord::Local => Self::Local,
            TriggerWord::Comment => Self::Comment,
            TriggerWord::Label => Self::Label,
            TriggerWord::Dispatch => Self::Dispatch,
            TriggerWord::Schedule => Self::Schedule,
        }
    }
}

/// Who starts a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierWord {
    /// May push.
    Maintainer,
    /// May triage, or read a private repository.
    Collaborator,
    /// Has contributed before.
    Contributor,
    /// Anyone else.
    Stranger,
    /// A program listed in the policy.
    Bot,
    /// The clock.
    Schedule,
}

impl From<TierWord> for Tier {
    fn from(word: TierWord) -> Self {
        match word {
            TierWord::Maintainer => Self::Maintainer,
            TierWord::Collaborator => Self::Collaborator,
            TierWord::Contributor => Self::Contributor,
            TierWord::Stranger => Self::Stranger,
            TierWord::Bot => Self::Bot,
            TierWord::Schedule => Self::Schedule,
        }
    }
}

/// `locum config`.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What to do with settings.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value and where it came from.
    Show(InspectArgs),
}

/// `locum models`.
#[derive(Clone, Debug, Args)]
pub struct ModelsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ModelsCommand,
}

/// What to do with models.
#[derive(Clone, Debug, Subcommand)]
pub enum ModelsCommand {
    /// List every profile, what it is used for, its limits and its price.
    List(InspectArgs),
}
