//! Arguments of `locum policy`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::cli::inspect_args::InspectArgs;
use crate::cli::words::{Word, one_of};
use locum_policy::actors::Tier;
use locum_policy::import::Peer;
use locum_policy::intent::TriggerKind;

/// What to do with the policy.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy file: syntax, examples, rules without effect.
    Check(PolicyCheckArgs),
    /// Explain the policy's decision on intents and tool calls.
    ///
    /// Performs nothing. Exits with 0 (all allowed), 4 (something denied), 5 (something held) or 2
    /// (something could not be read).
    Explain(PolicyExplainArgs),
    /// Test the policy's examples and test files.
    ///
    /// Exits with 0 when all pass, 3 when one fails, 2 when there are none.
    Test(PolicyTestArgs),
    /// Write a starter policy for this repository, without overwriting one.
    ///
    /// It allows the source folders and the test commands.
    Init(PolicyInitArgs),
    /// Convert another tool's settings into a policy.
    ///
    /// Reports on stderr what cannot be converted, with its place.
    Import(PolicyImportArgs),
}

const PEERS: &[Word<Peer>] = &[
    ("roo", Peer::Roo, "Roo Code or Kilo Code"),
    ("kode", Peer::Kode, "Kode"),
    ("claude", Peer::Claude, "Claude Code"),
];

/// A tool that people ask for, and that has no lists to convert.
const WITHOUT_LISTS: &str = "codex";

fn peer() -> impl TypedValueParser<Value = Peer> {
    let hidden = PossibleValue::new(WITHOUT_LISTS).hide(true);
    let known = PEERS.iter().map(|(word, _, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(known.chain([hidden])).try_map(|given| {
        let found = PEERS.iter().find(|(word, ..)| *word == given);
        found.map(|(_, value, _)| *value).ok_or(
            "Codex has no lists of permissions that could be converted; `locum policy init` writes \
             a policy to start from",
        )
    })
}

const TRIGGERS: &[Word<TriggerKind>] = &[
    ("local", TriggerKind::Local, "On the command line"),
    ("comment", TriggerKind::Comment, "By a comment"),
    ("label", TriggerKind::Label, "By a label"),
    ("assign", TriggerKind::Assign, "By assigning an issue"),
    ("dispatch", TriggerKind::Dispatch, "By `workflow_dispatch`"),
    ("schedule", TriggerKind::Schedule, "By a schedule"),
    ("pull_request", TriggerKind::PullRequest, "By a pull request"),
    ("ci_failure", TriggerKind::CiFailure, "By a failed check"),
    ("push", TriggerKind::Push, "By a push"),
    ("release", TriggerKind::Release, "By a release"),
    ("merge_group", TriggerKind::MergeGroup, "By a merge queue"),
    ("repository_dispatch", TriggerKind::RepositoryDispatch, "By `repository_dispatch`"),
];

/// Who starts a run.
pub const TIERS: &[Word<Tier>] = &[
    ("maintainer", Tier::Maintainer, "May push"),
    ("collaborator", Tier::Collaborator, "May triage, or read a private repository"),
    ("contributor", Tier::Contributor, "Has contributed before"),
    ("stranger", Tier::Stranger, "Anyone else"),
    ("bot", Tier::Bot, "A program listed in the policy"),
    ("schedule", Tier::Schedule, "A schedule"),
];

/// `locum policy check`.
#[derive(Clone, Debug, Args)]
pub struct PolicyCheckArgs {
    /// File to check. Default: the repository's policy.
    #[arg(value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub file: Option<PathBuf>,
    /// Exit with 2 when there are warnings.
    #[arg(long)]
    pub deny_warnings: bool,
    /// Also warn about rules that allowed nothing in this session.
    ///
    /// Takes a session ID or the start of it. Repeat it to consider several sessions together.
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, requires = "session")]
    pub session_dir: Option<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum policy import`.
#[derive(Clone, Debug, Args)]
pub struct PolicyImportArgs {
    /// Read the settings of this tool.
    #[arg(long, value_name = "TOOL", value_parser = peer())]
    pub from: Peer,
    /// Settings files, in JSON with comments or YAML.
    ///
    /// Order: the user's first, then the project's, then local ones.
    #[arg(required = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Print the policy and what could not be converted as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum policy explain`.
#[derive(Clone, Debug, Args)]
pub struct PolicyExplainArgs {
    /// Intents such as `edit(src/lib.rs)`, or tool calls as JSON; `-` for `--stdin`.
    ///
    /// More examples: `command(cargo test)`, `publish(pull-request)`, `{"name": "read_file",
    /// "arguments": {"path": "a"}}`.
    #[arg(required_unless_present = "stdin", value_name = "INTENT")]
    pub asked: Vec<String>,
    /// Answer each line of standard input with a line of JSON.
    ///
    /// A line is an intent, a tool call, or an object with `intent` or `call`. The object may also
    /// have `mode`, `trigger`, `tier` and `job`.
    #[arg(long, conflicts_with = "asked")]
    pub stdin: bool,
    /// Assume this mode instead of the policy's default.
    #[arg(long, value_name = "SLUG")]
    pub mode: Option<String>,
    /// Assume a run with this trigger.
    #[arg(long, value_name = "KIND", default_value = "local", value_parser = one_of(TRIGGERS))]
    pub trigger: TriggerKind,
    /// Assume an actor of this tier.
    #[arg(long, value_name = "TIER", default_value = "maintainer", value_parser = one_of(TIERS))]
    pub tier: Tier,
    /// Assume this job.
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Use this policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub policy: Option<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum policy test`.
#[derive(Clone, Debug, Args)]
pub struct PolicyTestArgs {
    /// Test files. Default: the repository's `.locum/policy-tests.yml`, if any.
    ///
    /// The policy's own examples are tested as well.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Use this policy file instead of the repository's.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "at")]
    pub policy: Option<PathBuf>,
    /// Where to read and how to print.
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// `locum policy init`.
#[derive(Clone, Debug, Args)]
pub struct PolicyInitArgs {
    /// Print the policy instead of writing it.
    #[arg(long, conflicts_with = "force")]
    pub stdout: bool,
    /// Overwrite an existing policy.
    #[arg(long)]
    pub force: bool,
    /// Print JSON.
    #[arg(long, conflicts_with = "stdout")]
    pub json: bool,
}
