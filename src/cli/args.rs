//! The command line as clap reads it: every subcommand and flag, with the words of its help.
//!
//! Flags can tighten a policy, never widen it. A value's meaning is checked where it is used.

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::cli::cost::CostArgs;
use crate::cli::hook::args::HookArgs;
use crate::cli::init::args::InitArgs;
use crate::cli::inspect_args::{ConfigCommand, DoctorArgs, ModelsCommand, SchemaWord};
use crate::cli::job_args::JobCommand;
use crate::cli::mcp_args::McpCommand;
use crate::cli::memory_args::MemoryCommand;
use crate::cli::modes_args::ModesCommand;
use crate::cli::policy_args::PolicyCommand;
use crate::cli::prompt_args::{CommandsCommand, SkillsCommand};
use crate::cli::run_args::{PublishArgs, RunArgs};
use crate::cli::session::args::SessionCommand;
use crate::cli::trigger_args::TriggerCommand;

/// Run a headless coding agent in CI, controlled by a policy file.
#[derive(Clone, Debug, Parser)]
#[command(name = "locum", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// Flags every subcommand has.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done · 1 internal error · 2 wrong usage or configuration · \
                          3 task failed · 4 refused by the policy · 5 needs input or approval · \
                          6 budget exhausted · 7 a check failed · 8 not published · 124 timed out · \
                          130 cancelled";

/// Flags every subcommand has.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Work in this folder instead of the current one.
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub repo: Option<PathBuf>,
    /// Log more; repeat to log everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub verbose: u8,
    /// Log errors only, and show no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Set the format of log lines on stderr.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    /// Use colours: on terminals, always or never.
    ///
    /// `auto` follows `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run a task in a git checkout.
    Run(RunArgs),
    /// Run as a step of GitHub Actions.
    ///
    /// Reads the action's inputs, the environment and the event's payload.
    Action,
    /// Publish what another job of the workflow run left in a bundle, as a step of a workflow.
    ///
    /// Takes the bundle for hostile: event, policy, tier and mode are this job's own, and every
    /// path and text is judged again. Asks no model.
    Publish(PublishArgs),
    /// Close what runs of the Action left behind, as a step of a workflow.
    ///
    /// Edits comments of runs that ended without a result, answers requests that nothing answered,
    /// and removes claims and sessions that are over. Starts no run and asks no model.
    Sweep,
    /// List and run the repository's maintenance jobs (`.locum/jobs/*.yml`).
    #[command(subcommand)]
    Job(JobCommand),
    /// Write a starter policy and workflow, without overwriting files.
    ///
    /// Reads manifests and workflows of the repository, and runs the success commands once in the
    /// sandbox. Where the files exist, it shows what it would change and writes nothing.
    Init(InitArgs),
    /// Show a complete offline run in a small example repository.
    Demo {
        /// Create the repository in this new folder, and keep it.
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
    /// Inspect, check, change, import and export modes.
    #[command(subcommand)]
    Modes(ModesCommand),
    /// Inspect and check slash commands.
    #[command(subcommand)]
    Commands(CommandsCommand),
    /// Inspect and check skills.
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// Inspect MCP servers, or serve Locum over MCP.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Check, test and explain the policy, offline.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Answer another agent's tool hook by the policy, so that you can try it there.
    ///
    /// Reads the hook's question on stdin and writes allow, ask or deny in that agent's JSON. Runs
    /// nothing.
    Hook(HookArgs),
    /// Explain what an event would start, offline.
    #[command(subcommand)]
    Trigger(TriggerCommand),
    /// Show every setting and its source.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List and test the configured models.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// List, inspect and resume past sessions.
    #[command(subcommand)]
    Session(SessionCommand),
    /// Inspect and change the notes that runs keep for later ones.
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Sum up what the sessions of this machine cost.
    Cost(CostArgs),
    /// Check that this machine can run Locum: sandbox, git, models, sessions.
    ///
    /// Exit codes: 0 ready for what `--for` names · 2 not ready.
    Doctor(DoctorArgs),
    /// Print a file's JSON Schema for editors.
    Schema {
        /// File to describe.
        name: SchemaWord,
    },
    /// Print a shell completion script.
    ///
    /// The script asks the program, which knows modes, jobs, sessions and profiles.
    Completions {
        /// Shell to complete for.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands.
    Man {
        /// Write a page for each command to this folder.
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        dir: Option<PathBuf>,
    },
    /// Print the version.
    Version {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

impl Command {
    /// Returns true for subcommands that may open a connection, so that only they pay for TLS.
    pub fn may_reach_the_network(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::Action
                | Self::Publish(_)
                | Self::Sweep
                | Self::Job(_)
                | Self::Session(SessionCommand::Resume(_))
                | Self::Models(ModelsCommand::Test(_))
                | Self::Doctor(DoctorArgs { probe: true, .. })
                | Self::Init(InitArgs { pull_request: true, .. })
        )
    }
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
                     --max-cost-usd 3.5 --timeout-minutes 4 --session-dir d --max-tool-calls 5 \
                     --max-files 6 --max-diff-lines 7";
        let Command::Run(args) = Cli::try_parse_from(words.split(' ')).unwrap().command else {
            panic!("not run")
        };
        let flags = args.settings();
        assert_eq!(flags.len(), 11);
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
