//! The command line as clap reads it: every subcommand and flag, with the words of its help.
//!
//! Flags can tighten a policy, never widen it. A value's meaning is checked by the floor that uses
//! it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::inspect_args::{ConfigArgs, ModelsArgs, PolicyArgs, SchemaArgs};
use crate::cli::mcp_args::McpArgs;
use crate::cli::modes_args::ModesArgs;
use crate::cli::prompt_args::{CommandsArgs, SkillsArgs};
use crate::cli::trigger_args::TriggerArgs;
use crate::config::load::FlagValue;
use locum_models::cassette::RequestField;

/// A headless coding agent for CI, decided by a policy file instead of a person.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "locum",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// Flags every subcommand has.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done · 1 internal error · 2 usage or configuration · 3 \
                          the task failed · 4 refused by the policy · 5 needs a person · 6 budget \
                          used up · 124 out of time · 130 cancelled";

/// Flags every subcommand has.
#[derive(Clone, Debug, Args)]
pub struct GlobalArgs {
    /// Work in this folder instead of the current one.
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub repo: Option<PathBuf>,
    /// Log more; twice for everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Log errors only, and show no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Format of log lines on stderr.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run a task in a git checkout.
    Run(RunArgs),
    /// Run as a step of GitHub Actions, configured by inputs, the environment and the event's
    /// payload.
    Action(ActionArgs),
    /// List and run the repository's maintenance jobs (`.locum/jobs/*.yml`).
    Job(JobArgs),
    /// Write a starter policy and a workflow into this repository; overwrite nothing.
    Init(InitArgs),
    /// Show a complete run, offline, in a small repository made for it.
    Demo(DemoArgs),
    /// Inspect, check, change, import and export modes.
    Modes(ModesArgs),
    /// Inspect and check slash commands.
    Commands(CommandsArgs),
    /// Inspect and check skills.
    Skills(SkillsArgs),
    /// Inspect MCP servers, or serve Locum over MCP.
    Mcp(McpArgs),
    /// Check, test and explain the policy, offline.
    Policy(PolicyArgs),
    /// Explain what an event would start, offline.
    Trigger(TriggerArgs),
    /// Show every setting and where it came from.
    Config(ConfigArgs),
    /// List the configured models.
    Models(ModelsArgs),
    /// List, inspect and resume past sessions.
    Session(SessionArgs),
    /// Check that this machine can run Locum: sandbox, git, models, sessions.
    Doctor(DoctorArgs),
    /// Print the JSON Schema of a file, for editors.
    Schema(SchemaArgs),
    /// Print a completion script.
    Completions(CompletionsArgs),
}

impl Command {
    /// Returns true for subcommands that may open a connection, so that only they pay for TLS.
    #[must_use]
    pub fn may_reach_the_network(&self) -> bool {
        match self {
            Self::Run(_) | Self::Action(_) | Self::Job(_) => true,
            Self::Session(args) => matches!(args.command, SessionCommand::Resume(_)),
            Self::Init(_)
            | Self::Demo(_)
            | Self::Modes(_)
            | Self::Commands(_)
            | Self::Skills(_)
            | Self::Mcp(_)
            | Self::Policy(_)
            | Self::Trigger(_)
            | Self::Config(_)
            | Self::Models(_)
            | Self::Doctor(_)
            | Self::Schema(_)
            | Self::Completions(_) => false,
        }
    }
}

/// `locum init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// What of a request may differ from a recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayField {
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// The conversation before the last reply.
    Before,
    /// Messages to the model since then.
    Told,
    /// Results of tool calls since then.
    Answers,
}

impl ReplayField {
    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let field = match self {
            Self::System => RequestField::System,
            Self::Tools => RequestField::Tools,
            Self::Before => RequestField::Before,
            Self::Told => RequestField::Told,
            Self::Answers => RequestField::Answers,
        };
        field.as_str()
    }
}

/// `locum run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The task; read from standard input when absent or `-`.
    pub task: Option<String>,
    /// Mode of the root task; the policy's default when absent.
    #[arg(long, value_name = "SLUG")]
    pub mode: Option<String>,
    /// Revision whose policy, modes and rules files count, and from which changes are counted; the
    /// checkout's own commit when absent.
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// What every run takes.
    #[command(flatten)]
    pub options: RunOptions,
}

/// What every run takes, whoever starts it.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Model of the root task: a profile's name, or a model's name at the configured provider.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Policy file instead of the repository's `.locum/policy.yml`.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub policy: Option<PathBuf>,
    /// Play the fixed replies of this script instead of asking a model.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "model")]
    pub script: Option<PathBuf>,
    /// Record every reply of a model in this file, without secrets, so that the run can be
    /// replayed; an existing file is appended to.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub record: Option<PathBuf>,
    /// Replay a recorded run instead of asking a model; a request that differs from the recorded
    /// one fails the run.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["model", "script"])]
    pub replay: Option<PathBuf>,
    /// Fields of a request that may differ from the recording. May be repeated.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', requires = "replay")]
    pub replay_tolerate: Vec<ReplayField>,
    /// Print what would run and under which limits, without running it.
    #[arg(long)]
    pub dry_run: bool,
    /// Where results go; as the setting `publish` says when absent.
    #[arg(long, value_name = "TARGET")]
    pub publish: Option<PublishTarget>,
    /// Folder for `--publish local`; `postings` in the session's folder when absent.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub publish_dir: Option<PathBuf>,
    /// At most this many model replies.
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u32>,
    /// At most this many tokens, input and output together.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// At most this many US dollars by the price table.
    #[arg(long, value_name = "USD")]
    pub max_cost_usd: Option<f64>,
    /// At most this many minutes of wall time.
    #[arg(long, value_name = "MINUTES")]
    pub timeout_minutes: Option<u32>,
    /// Keep sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Format of the result on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
}

impl RunOptions {
    /// Returns the flags that are settings.
    #[must_use]
    pub fn settings(&self) -> Vec<FlagValue> {
        let folder = self.session_dir.as_ref().map(|folder| folder.display().to_string());
        let publish = self.publish.map(|target| target.as_str().to_owned());
        let flags = [
            ("--model", "model", self.model.clone()),
            ("--publish", "publish", publish),
            ("--max-turns", "budget.turns", self.max_turns.map(|limit| limit.to_string())),
            ("--max-tokens", "budget.tokens", self.max_tokens.map(|limit| limit.to_string())),
            ("--max-cost-usd", "budget.cost_usd", self.max_cost_usd.map(|limit| limit.to_string())),
            (
                "--timeout-minutes",
                "budget.minutes",
                self.timeout_minutes.map(|limit| limit.to_string()),
            ),
            ("--session-dir", "session_dir", folder),
        ];
        flags
            .into_iter()
            .filter_map(|(flag, key, value)| {
                Some(FlagValue { flag: flag.to_owned(), key: key.to_owned(), value: value? })
            })
            .collect()
    }
}

impl RunArgs {
    /// Returns the flags that are settings.
    #[must_use]
    pub fn settings(&self) -> Vec<FlagValue> {
        let mode = self.mode.clone().map(|value| FlagValue {
            flag: "--mode".to_owned(),
            key: "mode".to_owned(),
            value,
        });
        mode.into_iter().chain(self.options.settings()).collect()
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PublishTarget {
    /// Nowhere: the outcome is shown, the checkout keeps the changes.
    None,
    /// Into a folder, as files.
    Local,
}

impl PublishTarget {
    /// Returns the word of the flag and of the setting.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Local => "local",
        }
    }
}

/// Form of a run's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object for each event as it happens, the outcome last.
    StreamJson,
}

/// `locum doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum action`.
#[derive(Clone, Debug, Args)]
pub struct ActionArgs {}

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

/// `locum demo`.
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Create the repository in this folder, which must not exist yet, and keep it.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// `locum session`.
#[derive(Clone, Debug, Args)]
pub struct SessionArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionCommand,
}

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this machine, the newest first.
    List(SessionListArgs),
    /// Show what happened in a session.
    Show(SessionShowArgs),
    /// Resume a session that was killed, or whose pending call or question was decided.
    Resume(SessionResumeArgs),
    /// Approve the pending call; it is performed once when the session resumes.
    Approve(SessionApproveArgs),
    /// Reject the pending call; the model is informed when the session resumes.
    Deny(SessionDenyArgs),
    /// Answer the pending question.
    Answer(SessionAnswerArgs),
}

/// `locum session approve`.
#[derive(Clone, Debug, Args)]
pub struct SessionApproveArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The hold's ID, as the outcome shows it.
    pub hold: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session deny`.
#[derive(Clone, Debug, Args)]
pub struct SessionDenyArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The hold's ID, as the outcome shows it.
    pub hold: String,
    /// Why, for the model.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session answer`.
#[derive(Clone, Debug, Args)]
pub struct SessionAnswerArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The question's ID, as the outcome shows it.
    pub question: String,
    /// The answer.
    pub text: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session list`.
#[derive(Clone, Debug, Args)]
pub struct SessionListArgs {
    /// Show at most this many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session show`.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON: the outcome and every event.
    #[arg(long)]
    pub json: bool,
}

/// `locum session resume`.
#[derive(Clone, Debug, Args)]
pub struct SessionResumeArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Format of the result on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
}

/// `locum completions`.
#[derive(Clone, Copy, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::{Cli, Command};
    use crate::config::environment::Environment;
    use crate::config::load::{Layers, load};
    use clap::{CommandFactory, Parser};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_before_or_after_the_subcommand() {
        for words in [["locum", "-q", "demo"], ["locum", "demo", "-q"]] {
            assert!(Cli::try_parse_from(words).is_ok_and(|cli| cli.global.quiet), "{words:?}");
        }
    }

    #[test]
    fn every_flag_that_is_a_setting_names_one() {
        let words = "locum run x --mode m --model p --publish none --max-turns 1 --max-tokens 2 \
                     --max-cost-usd 3.5 --timeout-minutes 4 --session-dir d";
        let Command::Run(args) = Cli::try_parse_from(words.split(' ')).unwrap().command else {
            panic!("not run")
        };
        let flags = args.settings();
        assert_eq!(flags.len(), 8);
        let environment = Environment::default();
        let settings = load(&Layers {
            user: None,
            repository: None,
            environment: &environment,
            flags: &flags,
        })
        .unwrap();
        for flag in flags {
            assert_eq!(
                settings.source(&flag.key).unwrap().to_string(),
                format!("flag {}", flag.flag)
            );
        }
    }

    #[test]
    fn a_script_stands_in_for_a_model_so_both_is_a_mistake() {
        assert!(Cli::try_parse_from(["locum", "run", "x", "--script", "s.yml"]).is_ok());
        assert!(
            Cli::try_parse_from(["locum", "run", "x", "--script", "s.yml", "--model", "m"])
                .is_err()
        );
    }
}
