//! The command line. Results on stdout, messages on stderr; every error says where, what, and what
//! to do.
//!
//! In: arguments, the environment, the folder it was started in. Out: an exit code from
//! [`ExitStatus`]. The work itself is done in the crates below; a subcommand's file only calls them
//! and prints.

#![expect(
    clippy::disallowed_methods,
    reason = "asks once for the folder the program was started in"
)]

pub mod action;
mod action_workflow;
mod always;
pub mod args;
mod browser_row;
mod candidates;
pub mod checked;
pub mod colour;
pub mod command_line;
pub mod commands;
pub mod completions;
pub mod config;
mod config_set;
pub mod cost;
pub mod decide;
pub mod demo;
pub mod doctor;
mod extract;
mod failure;
pub mod given_images;
pub mod hook;
pub mod init;
pub mod inspect_args;
pub mod inspected;
pub mod job;
pub mod job_args;
mod job_state;
pub mod line_filter;
pub mod live_run;
pub mod local_run;
pub mod logs;
pub mod man;
pub mod mcp;
pub mod mcp_args;
mod mcp_change;
mod mcp_run;
mod mcp_serve;
mod mcp_sessions;
pub mod memory;
pub mod memory_args;
pub mod models;
pub mod models_test;
pub mod modes;
pub mod modes_args;
pub mod modes_change;
pub mod modes_file;
pub mod modes_prompt;
pub mod modes_transfer;
pub mod moment;
mod onboarding;
pub mod output;
pub mod own_worktree;
pub mod policy;
pub mod policy_args;
pub mod policy_explain;
mod policy_file;
pub mod policy_test;
mod programs;
pub mod prompt_args;
mod recorded_run;
pub mod resume;
pub mod run;
pub mod run_args;
mod sandbox_rows;
pub mod schema;
pub mod session;
pub mod skills;
mod step_summary;
pub mod stop_signal;
mod success_check;
pub mod table;
pub mod trigger;
pub mod trigger_args;
mod trigger_payload;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::action::StepTask;
use crate::cli::args::{Cli, Command, GlobalArgs, LogFormat};
use crate::cli::colour::Colours;
use crate::cli::command_line::command;
use crate::cli::failure::ErrorForm;
use crate::cli::inspect_args::{ConfigCommand, ModelsCommand};
use crate::cli::output::Output;
use crate::cli::run_args::{PublishArgs, RunArgs};
use crate::cli::trigger_args::TriggerCommand;
use crate::config::action_inputs::{BundleInput, BundleStep};
use crate::config::environment::Environment;
use crate::config::release;
use crate::run::error::{RunError, RunErrorKind};
use locum_agent::session::outcome::OutcomeWord;
use locum_base::secret::plain::PlainValues;
use locum_files::diagnostic::Diagnostic;

/// How the program ends, in one number that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: done.
    Done,
    /// 1: an error of the program or of the machine under it.
    Internal,
    /// 2: the command line, a configuration file or a variable is wrong, or what was asked for is
    /// not ready here.
    Usage,
    /// 3: what was asked for failed.
    Failed,
    /// 4: the policy refuses.
    Refused,
    /// 5: a maintainer has to decide.
    NeedsPerson,
    /// A run ended with this outcome, whose own code it is.
    Ended(OutcomeWord),
}

impl ExitStatus {
    /// Returns the number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::Refused => 4,
            Self::NeedsPerson => 5,
            Self::Ended(word) => word.exit_code(),
        }
    }
}

/// Where and how a subcommand was called.
#[derive(Clone, Debug)]
pub struct CommandContext {
    /// The environment at the start.
    pub environment: Environment,
    /// The folder to work in: `--repo`, else the folder the program was started in. Absolute.
    pub folder: PathBuf,
    /// Flags every subcommand has.
    pub global: GlobalArgs,
}

impl CommandContext {
    /// Says where a file that is named on the command line is looked for.
    pub(crate) fn looked_for_in(&self) -> String {
        format!("paths begin in `{}`", self.folder.display())
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    match extract::answer(std::env::args_os()) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(_) => return ExitCode::FAILURE,
    }
    let color = colour::choice_among(std::env::args_os());
    let form = ErrorForm::asked(std::env::args_os());
    let environment = Environment::snapshot();
    let mut output = Output::standard(color);
    // Also what is said of arguments that nobody understands.
    if environment.get("GITHUB_ACTIONS") == Some("true") {
        output.for_runner();
    }
    if failure::asks_for_json_messages(std::env::args_os()) {
        output.talk_in_json();
    }
    match completions::answer(std::env::args_os()) {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(error) => return ExitCode::from(show_usage(&error, form, &mut output).code()),
    }
    let parsed = command().try_get_matches().and_then(|words| Cli::from_arg_matches(&words));
    let status = match parsed {
        Ok(cli) => start(cli, environment, &mut output)
            .unwrap_or_else(|error| fail(&error, form, &mut output)),
        Err(error) => show_usage(&error, form, &mut output),
    };
    let status = output.finish().map_or_else(
        |error| fail(&error, ErrorForm::Text, &mut Output::standard(color)),
        |()| status,
    );
    ExitCode::from(status.code())
}

/// Reports an error.
fn fail(error: &RunError, form: ErrorForm, output: &mut Output) -> ExitStatus {
    let status = match error.kind {
        RunErrorKind::Usage => ExitStatus::Usage,
        RunErrorKind::Internal => ExitStatus::Internal,
    };
    failure::show(error, status, form, output)
}

fn start(cli: Cli, environment: Environment, output: &mut Output) -> Result<ExitStatus, RunError> {
    let environment = environment.with_passed_keys()?;
    output.hide(PlainValues::new(environment.secrets()));
    // What these write is read by a runner, by whatever name it goes.
    let is_step = matches!(
        cli.command,
        Command::Action
            | Command::Sweep
            | Command::Publish(_)
            | Command::Run(RunArgs { bundle: Some(_), .. })
    );
    if is_step {
        output.for_runner();
    }
    if cli.global.log_format == LogFormat::Json {
        output.talk_in_json();
    }
    if environment.get("TERM").is_none_or(|term| term == "dumb") {
        output.draw_nothing();
    }
    logs::start(&cli.global, &environment, output.filter(), output.below().clone())?;
    if let Err(error) = locum_sandbox::close_own_process() {
        tracing::warn!(%error, "could not disable ptrace on this process");
    }
    let started_in = std::env::current_dir()
        .map_err(|error| RunError::internal(format!("the current folder: {error}")))?;
    let folder = cli
        .global
        .repo
        .as_ref()
        .map_or_else(|| started_in.clone(), |folder| started_in.join(folder));
    if !folder.is_dir() {
        let message = format!("`{}` is not a folder", folder.display());
        return Err(RunError::usage("--repo", message).hint("name the folder of a git checkout"));
    }
    if cli.command.may_reach_the_network() {
        // NOTE: fails only where a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    dispatch(cli.command, &CommandContext { environment, folder, global: cli.global }, output)
}

fn dispatch(
    command: Command,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        Command::Run(RunArgs { bundle: Some(file), .. }) => {
            let bundle = BundleInput { step: BundleStep::Write, file };
            action::run(StepTask::Bundle(bundle), context, output)
        }
        Command::Run(args) => run::run(&args, context, output),
        Command::Publish(PublishArgs { bundle: file }) => {
            let bundle = BundleInput { step: BundleStep::Publish, file };
            action::run(StepTask::Bundle(bundle), context, output)
        }
        Command::Action => action::run(StepTask::Event, context, output),
        Command::Sweep => action::run(StepTask::Sweep, context, output),
        Command::Job(command) => job::run(&command, context, output),
        Command::Init(args) => init::all(&args, context, output),
        Command::Demo { dir } => demo::run(dir.as_deref(), context, output),
        Command::Modes(command) => modes::run(&command, context, output),
        Command::Commands(command) => commands::run(&command, context, output),
        Command::Hook(args) => hook::run(&args, context, output),
        Command::Skills(command) => skills::run(&command, context, output),
        Command::Mcp(command) => mcp::run(&command, context, output),
        Command::Policy(command) => policy::run(&command, context, output),
        Command::Trigger(TriggerCommand::Explain(args)) => trigger::explain(&args, context, output),
        Command::Config(ConfigCommand::Show(args)) => config::show(&args, context, output),
        Command::Config(ConfigCommand::Set(args)) => config_set::run(&args, context, output),
        Command::Models(ModelsCommand::List(args)) => models::list(&args, context, output),
        Command::Models(ModelsCommand::Test(args)) => models_test::test(&args, context, output),
        Command::Doctor(args) => doctor::run(&args, context, output),
        Command::Session(command) => session::run(&command, context, output),
        Command::Memory(command) => memory::run(&command, context, output),
        Command::Cost(args) => cost::run(&args, context, output),
        Command::Schema { name } => schema::run(name, output),
        Command::Completions { shell } => completions::run(shell, output),
        Command::Man { dir } => man::run(dir.as_deref(), context, output),
        Command::Version { json } => Ok(version(json, output)),
    }
}

/// Says which version this is.
fn version(as_json: bool, output: &mut Output) -> ExitStatus {
    let version = env!("CARGO_PKG_VERSION");
    if as_json {
        output.json(&serde_json::json!({ "name": "locum", "version": version }));
    } else {
        output.line(format!("locum {version}"));
    }
    ExitStatus::Done
}

/// Returns the subcommand that was probably meant, where clap names none.
fn similar_subcommand(error: &clap::Error) -> Option<String> {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    if error.kind() != ErrorKind::InvalidSubcommand
        || error.get(ContextKind::SuggestedSubcommand).is_some()
    {
        return None;
    }
    let wrong = named(ContextKind::InvalidSubcommand)?;
    let mut command = command();
    for word in std::env::args().skip(1).take_while(|word| *word != wrong) {
        if let Some(inner) = command.find_subcommand(&word).cloned() {
            command = inner;
        }
    }
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    locum_files::fields::nearest(&wrong, &known).map(str::to_owned)
}

/// Returns what to do about a mistake that clap only names.
fn usage_hint(error: &clap::Error, shown: &str) -> Option<&'static str> {
    let wrong = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let takes_text = shown.contains("locum run ") || shown.contains("locum session ");
    if error.kind() == ErrorKind::UnknownArgument && !wrong.starts_with('-') && takes_text {
        return Some("put several words into quotes: `locum run \"fix the failing test\"`");
    }
    shown
        .contains("invalid digit found in string")
        .then_some("write a whole number without a unit, such as 20")
}

/// Help and version are results; anything else clap says is an error of usage.
fn show_usage(error: &clap::Error, form: ErrorForm, output: &mut Output) -> ExitStatus {
    let text = |colours: Colours| {
        let text = error.render();
        if colours.are_on() { text.ansi().to_string() } else { text.to_string() }
    };
    if error.kind() == ErrorKind::DisplayVersion
        && std::env::args().any(|word| word == "--verbose" || word == "-v")
    {
        output.line(release::describe());
        return ExitStatus::Done;
    }
    if error.use_stderr() {
        output.talk(text(output.talk_colours()).trim_end());
        let plain = error.render().to_string();
        let near = similar_subcommand(error).map(|near| format!("did you mean `{near}`?"));
        let hint = near.or_else(|| usage_hint(error, &plain).map(str::to_owned));
        if let Some(hint) = &hint {
            output.talk(format_args!("hint: {hint}"));
        }
        let first = plain.lines().next().unwrap_or_default();
        let message = first.trim_start_matches("error: ");
        let mistake = Diagnostic { hint, ..Diagnostic::about("", message) };
        failure::object(&[mistake], ExitStatus::Usage, form, output);
        ExitStatus::Usage
    } else {
        output.line(text(output.colours()).trim_end());
        ExitStatus::Done
    }
}
