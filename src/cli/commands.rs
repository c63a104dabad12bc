//! `locum commands list|show|validate`: the slash commands a task may begin with, and what is wrong
//! with their files.

use std::path::Path;

use serde::Serialize;

use crate::cli::checked::{self, FileCheck};
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::prompt_args::{CommandsCommand, NamedArgs, ValidateArgs};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use locum_agent::report::figures::clip;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::commands::{self, CommandFile, CommandSet, SlashCommand};

/// Longest description in a list, in characters.
const DESCRIPTION_CHARS: usize = 80;

/// Runs the subcommand.
///
/// # Errors
/// When a file cannot be read; a command that does not exist.
pub fn run(
    command: &CommandsCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        CommandsCommand::List(args) => {
            let repository = InspectedRepository::open(context, args.at.as_deref())?;
            let origin = repository.origin();
            list(&origin.commands()?, args.json, output);
            let programs = origin.command_programs()?;
            programs.iter().for_each(|path| warn_of_program(path, output));
            Ok(ExitStatus::Done)
        }
        CommandsCommand::Show(args) => show(args, context, output),
        CommandsCommand::Validate(args) => validate(args, context, output),
    }
}

/// A command as programs read it.
#[derive(Serialize)]
struct CommandRow<'c> {
    name: &'c str,
    file: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'c str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    aliases: &'c [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    argument_hint: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_tools: Option<&'c serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'c str>,
    /// True when its file has mistakes.
    is_broken: bool,
}

impl<'c> CommandRow<'c> {
    fn of(file: &'c CommandFile) -> Self {
        let command = file.command.as_ref().ok();
        let of = |text: fn(&SlashCommand) -> &Option<String>| {
            command.and_then(|command| text(command).as_deref())
        };
        Self {
            name: &file.name,
            file: &file.origin,
            description: of(|command| &command.description),
            aliases: command.map_or(&[], |command| &command.aliases),
            argument_hint: of(|command| &command.argument_hint),
            mode: of(|command| &command.mode),
            model: of(|command| &command.model),
            allowed_tools: command.and_then(|command| command.allowed_tools.as_ref()),
            text: command.map(|command| command.body.as_str()),
            is_broken: command.is_none(),
        }
    }
}

fn list(set: &CommandSet, as_json: bool, output: &mut Output) {
    let views: Vec<CommandRow<'_>> =
        set.files.iter().map(|file| CommandRow { text: None, ..CommandRow::of(file) }).collect();
    if as_json {
        return output.json(&views);
    }
    let row = |view: &CommandRow<'_>| {
        let about = if view.is_broken {
            "broken: see `locum commands validate`"
        } else {
            view.description.unwrap_or_default()
        };
        let call = [Some(format!("/{}", view.name)), view.argument_hint.map(str::to_owned)];
        let dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        [
            call.into_iter().flatten().collect::<Vec<_>>().join(" "),
            view.file.to_owned(),
            dash(view.mode),
            clip(about, DESCRIPTION_CHARS),
        ]
    };
    output.table(["COMMAND", "FROM", "MODE", "WHAT FOR"], views.iter().map(row));
    if views.is_empty() {
        output.line("no commands");
    }
}

fn warn_of_program(path: &str, output: &mut Output) {
    let Diagnostic { message, hint, .. } = commands::program_warning();
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    output.talk(visible(&format!("warning: {path}: {message}{hint}")));
}

fn show(
    args: &NamedArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let set =
        InspectedRepository::open(context, args.inspect.at.as_deref())?.origin().commands()?;
    let name = args.name.strip_prefix('/').unwrap_or(&args.name);
    let file = set.find(name).map_err(|hint| {
        RunError::usage("NAME", format!("there is no command `/{name}`")).hint(hint)
    })?;
    if let Err(mistakes) = &file.command {
        return Err(RunError::file(&file.origin, mistakes.clone()));
    }
    let view = CommandRow::of(file);
    if args.inspect.json {
        output.json(&view);
        return Ok(ExitStatus::Done);
    }
    output.line(visible(&format!(
        "/{}{}",
        view.name,
        view.argument_hint.map(|hint| format!(" {hint}")).unwrap_or_default()
    )));
    let tools = view
        .allowed_tools
        .map(|tools| tools.as_str().map_or_else(|| tools.to_string(), str::to_owned));
    let aliases =
        view.aliases.iter().map(|alias| format!("/{alias}")).collect::<Vec<_>>().join(", ");
    let rows = [
        ("from", Some(view.file)),
        ("aliases", Some(aliases.as_str()).filter(|aliases| !aliases.is_empty())),
        ("description", view.description),
        ("mode", view.mode),
        ("model", view.model),
        ("allowed tools", tools.as_deref()),
    ];
    for (title, text) in rows.iter().filter_map(|(title, text)| Some((title, (*text)?))) {
        output.line(visible(&format!("{title}: {text}")));
    }
    output.line(format!("\n{}", visible(view.text.unwrap_or_default())));
    Ok(ExitStatus::Done)
}

/// Checks the files that are named, or every file there is.
fn validate(
    args: &ValidateArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let mut programs = Vec::new();
    let files = if args.files.is_empty() {
        let repository = InspectedRepository::open(context, args.inspect.at.as_deref())?;
        let origin = repository.origin();
        programs = origin.command_programs()?;
        let files = origin.commands()?.files;
        files.into_iter().map(|file| (file.origin.clone(), file)).collect()
    } else {
        let read = |texts: &[PromptFile]| CommandSet::read(texts).files;
        let wrong = |file: &Path| {
            let what = format!("`{}` is not a command file", file.display());
            let folders = commands::FOLDERS.join(", ");
            RunError::usage("FILE", what).hint(format!("commands are `.md` files below {folders}"))
        };
        checked::read_named(context, &args.files, commands::is_command_file, read, wrong)?
    };
    let check = |(shown, file): (String, CommandFile)| {
        let (names, mistakes) = match file.command {
            Ok(command) => (vec![command.name], Vec::new()),
            Err(mistakes) => (Vec::new(), mistakes),
        };
        FileCheck::new(shown, ("commands", names), mistakes, file.warnings)
    };
    let of_program = |path: String| {
        FileCheck::new(
            path,
            ("commands", Vec::new()),
            Vec::new(),
            vec![commands::program_warning()],
        )
    };
    let mut checked: Vec<FileCheck> = files.into_iter().map(check).collect();
    checked.extend(programs.into_iter().map(of_program));
    Ok(checked::show(&checked, "no commands", "/", args.inspect.json, output))
}
