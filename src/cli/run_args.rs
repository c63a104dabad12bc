//! Arguments of `locum run`, and those that every run takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::words::{Word, one_of};
use crate::config::load::FlagValue;
use crate::run::run_request::RunPurpose;
use locum_files::fields::parse_count;
use locum_models::cassette::RequestField;

/// Which part of a request may differ from a recorded one.
const REPLAY_FIELDS: &[Word<RequestField>] = &[
    ("system", RequestField::System, "The system prompt"),
    ("tools", RequestField::Tools, "The tools the model is offered"),
    ("before", RequestField::Before, "The conversation before the last reply"),
    ("told", RequestField::Told, "Messages to the model since then"),
    ("answers", RequestField::Answers, "Results of tool calls since then"),
];

/// `locum run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Task to run; `-` or nothing reads standard input.
    pub task: Option<String>,
    /// Start in this mode instead of the policy's default.
    #[arg(long, value_name = "SLUG")]
    pub mode: Option<String>,
    /// Trust and compare with this revision instead of the checkout's commit.
    ///
    /// Policy, modes and rules files come from it, and changes are counted from it. A review is
    /// shown what the checkout has beyond the last commit that it shares with this revision.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Do what the event asks for, as a step of a workflow, and leave the result in this file.
    ///
    /// Writes nothing at the forge. `locum publish --bundle FILE` publishes it in another job. The
    /// task is the event's, or the action's input.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, exclusive = true)]
    pub bundle: Option<PathBuf>,
    /// What every run takes.
    #[command(flatten)]
    pub options: RunOptions,
}

/// `locum publish`.
#[derive(Clone, Debug, Args)]
pub struct PublishArgs {
    /// File that `locum run --bundle FILE` wrote in another job of this workflow run.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub bundle: PathBuf,
}

/// What every run takes, whoever starts it.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Show this PNG, JPEG, GIF or WebP image to the model with the task; repeat for more.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub image: Vec<PathBuf>,
    /// Run the root task on this profile, or this model of the configured provider.
    #[arg(help_heading = "Models", long, value_name = "NAME")]
    pub model: Option<String>,
    /// Use this policy file instead of the repository's `.locum/policy.yml`; `built-in` is the
    /// built-in policy.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub policy: Option<PathBuf>,
    /// Play the fixed replies of this script instead of asking a model.
    #[arg(help_heading = "Models", long, conflicts_with = "model")]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub script: Option<PathBuf>,
    /// Append every model reply to this cassette for a later replay.
    ///
    /// The cassette holds no secrets.
    #[arg(help_heading = "Models", long)]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// Replay this cassette instead of asking a model.
    ///
    /// A request that differs from the recorded one fails the run.
    #[arg(help_heading = "Models", long, conflicts_with_all = ["model", "script"])]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
    /// Tolerate differences from the recording in these fields of a request.
    #[arg(help_heading = "Models", long, requires = "replay")]
    #[arg(value_name = "FIELD", value_delimiter = ',', value_parser = one_of(REPLAY_FIELDS))]
    pub replay_tolerate: Vec<RequestField>,
    /// Print what would run and under which limits, without running it.
    #[arg(long)]
    pub dry_run: bool,
    /// Wait for another run in this checkout instead of ending with an error.
    #[arg(long)]
    pub wait: bool,
    /// Work in a new worktree instead of this checkout.
    ///
    /// It begins with the commit that is trusted. Commands find it at the path of this checkout,
    /// with what git ignores there. A worktree without changes is removed again.
    #[arg(long)]
    pub worktree: bool,
    /// Publish results here instead of where the setting `publish` says.
    #[arg(help_heading = "Results", long, value_name = "TARGET")]
    pub publish: Option<PublishTarget>,
    /// Write results of `--publish local` to this folder.
    ///
    /// Default: `postings` in the session's folder.
    #[arg(help_heading = "Results", long)]
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub publish_dir: Option<PathBuf>,
    /// Write what the run found to this file, as SARIF 2.1.0 for code scanning.
    #[arg(help_heading = "Results", long)]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub sarif: Option<PathBuf>,
    /// Stop after this many model replies.
    #[arg(help_heading = "Limits", long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = count::<u32>)]
    pub max_turns: Option<u32>,
    /// Stop after this many tool calls.
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = count::<u32>)]
    pub max_tool_calls: Option<u32>,
    /// Stop after this many tokens, input and output together: `500000`, `500k` or `2M`.
    #[arg(help_heading = "Limits", long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = count::<u64>)]
    pub max_tokens: Option<u64>,
    /// Stop after this many US dollars by the price table.
    #[arg(
        help_heading = "Limits",
        long,
        visible_alias = "budget",
        value_name = "USD",
        allow_negative_numbers = true,
        value_parser = dollars
    )]
    pub max_cost_usd: Option<f64>,
    /// Stop after this many minutes of wall time.
    #[arg(help_heading = "Limits", long, value_name = "MINUTES", allow_negative_numbers = true)]
    pub timeout_minutes: Option<u32>,
    /// Stop when more files than this are changed.
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = count::<u32>)]
    pub max_files: Option<u32>,
    /// Stop when more lines than this are changed, added and removed ones together.
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = count::<u32>)]
    pub max_diff_lines: Option<u32>,
    /// Keep sessions below this folder.
    #[arg(help_heading = "Results", long)]
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Set the format of the result on stdout.
    #[arg(help_heading = "Results", long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// Print JSON: short for `--output-format json`.
    #[arg(long, help_heading = "Results", conflicts_with = "output_format")]
    pub json: bool,
}

impl RunOptions {
    /// Returns the form of the result.
    pub fn format(&self) -> OutputFormat {
        self.output_format.or_json(self.json)
    }

    /// Returns whether the run is carried out.
    pub fn purpose(&self) -> RunPurpose {
        if self.dry_run { RunPurpose::Plan } else { RunPurpose::Work }
    }

    /// Returns the flags that are settings.
    pub fn settings(&self) -> Vec<FlagValue> {
        let folder = self.session_dir.as_ref().map(|folder| folder.display().to_string());
        let publish = self.publish.and_then(|target| target.to_possible_value());
        let publish = publish.map(|target| target.get_name().to_owned());
        let count = |limit: Option<u32>| limit.map(|limit| limit.to_string());
        let flags = [
            ("--model", "model", self.model.clone()),
            ("--publish", "publish", publish),
            ("--max-turns", "budget.turns", count(self.max_turns)),
            ("--max-tool-calls", "budget.tool_calls", count(self.max_tool_calls)),
            ("--max-tokens", "budget.tokens", self.max_tokens.map(|limit| limit.to_string())),
            ("--max-cost-usd", "budget.cost_usd", self.max_cost_usd.map(|limit| limit.to_string())),
            ("--timeout-minutes", "budget.minutes", count(self.timeout_minutes)),
            ("--max-files", "budget.files", count(self.max_files)),
            ("--max-diff-lines", "budget.diff_lines", count(self.max_diff_lines)),
            ("--session-dir", "session_dir", folder),
        ];
        flags
            .into_iter()
            .filter_map(|(flag, key, value)| Some(FlagValue::new(flag, key, value?)))
            .collect()
    }
}

/// Reads a count as files write it.
fn count<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let count = parse_count(text).and_then(|count| N::try_from(count).ok());
    count.ok_or_else(|| "a limit is a whole number such as 400, 20k or 2M".to_owned())
}

/// Reads an amount of money.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "an amount in US dollars is a number of 0 or more, as in 2.50".to_owned())
}

impl RunArgs {
    /// Returns the flags that are settings.
    pub fn settings(&self) -> Vec<FlagValue> {
        let mode = self.mode.as_ref().map(|mode| FlagValue::new("--mode", "mode", mode));
        mode.into_iter().chain(self.options.settings()).collect()
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PublishTarget {
    /// Publish nothing; the checkout keeps the changes.
    None,
    /// Write files into a folder.
    Local,
}

/// Form of a run's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object for each event as it happens, then the outcome.
    StreamJson,
}

impl OutputFormat {
    /// Returns JSON where the short flag asks for it.
    pub fn or_json(self, json: bool) -> Self {
        if json { Self::Json } else { self }
    }
}
