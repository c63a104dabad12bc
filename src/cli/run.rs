//! `locum run`: a task in the checkout, asked by the person at the command line.

use std::io::Read;

use crate::cli::args::{OutputFormat, RunArgs, RunOptions};
use crate::cli::failure::Failure;
use crate::cli::launch::{self, Launch, Live, Ready, Show};
use crate::cli::output::Output;
use crate::cli::{Context, ExitStatus};
use crate::run::execute::{self, Beginning};
use crate::run::plan::Subject;
use locum_agent::session::id::SessionId;
use locum_policy::intent::Facts;

/// Longest task read from standard input, in bytes.
const TASK_LIMIT_BYTES: u64 = 256 * 1024;

/// Runs the subcommand.
///
/// # Errors
/// When something on the way is not as it must be.
pub fn run(args: &RunArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let task = task(args)?;
    let workspace = launch::open(&context.folder)?;
    let launch = Launch {
        folder: workspace.checkout.root().to_owned(),
        task,
        mode: None,
        facts: Facts::default(),
        subject: Subject::Prompt,
        work: None,
        base: launch::base(&workspace, args.base.as_deref())?,
        base_revision: args.base.clone(),
        flags: args.settings(),
        policy: launch::named("--policy", args.options.policy.as_deref(), context)?,
        script: launch::named("--script", args.options.script.as_deref(), context)?,
        cassettes: launch::cassettes(&args.options, context)?,
        postings: None,
    };
    start(launch, &args.options, context, output)
}

/// Prepares a launch, then shows its plan or carries it out.
///
/// # Errors
/// When something on the way is not as it must be.
pub fn start(
    mut launch: Launch,
    options: &RunOptions,
    context: &Context,
    output: &mut Output,
) -> Result<ExitStatus, Failure> {
    let workspace = launch::open(&launch.folder)?;
    let prepared = launch::prepare(&launch, SessionId::fresh(), &workspace, context)?;
    if options.dry_run {
        match options.output_format {
            OutputFormat::Text => output.line(prepared.plan.to_string().trim_end()),
            OutputFormat::Json | OutputFormat::StreamJson => output.json(&prepared.plan),
        }
        return Ok(ExitStatus::Done);
    }
    for note in &prepared.plan.notes {
        output.talk(format_args!("note: {note}"));
    }
    let sessions = prepared
        .settings
        .session_folder()
        .map_err(|error| crate::config::source::ConfigErrors(vec![error]))?;
    let folder = execute::folder_of(&context.folder.join(sessions), &prepared.plan.session);
    launch.postings = launch::postings(options, &prepared, &folder, context);
    let show = Show {
        format: options.output_format,
        live: if context.global.quiet { Live::Off } else { Live::Beside },
    };
    let ready = Ready {
        launch: &launch,
        prepared: &prepared,
        workspace: &workspace,
        folder: &folder,
        beginning: Beginning::Fresh,
        show,
    };
    let ended = launch::carry_out(ready, context, output)?;
    Ok(launch::show_end(&ended, show, output))
}

/// Returns the task: the argument, else standard input.
fn task(args: &RunArgs) -> Result<String, Failure> {
    let task = match args.task.as_deref() {
        Some(task) if task != "-" => task.to_owned(),
        Some(_) | None => {
            let mut text = String::new();
            let read = std::io::stdin().take(TASK_LIMIT_BYTES + 1).read_to_string(&mut text);
            read.map_err(|error| Failure::usage("TASK", format!("standard input: {error}")))?;
            if text.len() as u64 > TASK_LIMIT_BYTES {
                return Err(Failure::usage(
                    "TASK",
                    format!("standard input holds more than {TASK_LIMIT_BYTES} bytes"),
                ));
            }
            text
        }
    };
    if task.trim().is_empty() {
        return Err(
            Failure::usage("TASK", "there is no task").hint("`locum run \"fix the failing test\"`")
        );
    }
    Ok(task)
}
