//! `locum modes list|show|validate`: the modes a run could use, what each of them says and may do,
//! and what is wrong with their files.

use std::path::PathBuf;

use crate::cli::checked::{self, FileCheck};
use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::modes_args::{ModesCommand, ShowModeArgs, ValidateModesArgs};
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus, modes_change, modes_prompt, modes_transfer};
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;
use locum_modes::loader::Strictness;
use locum_modes::merge::{self, ModeText};
use locum_modes::prompts::{PromptFile, sections};
use locum_modes::schema::{GroupOptions, GroupRecord, ModeView};
use locum_modes::{ModeSet, ModeSource, places};

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the mode files; a mode that does not exist.
pub fn run(
    command: &ModesCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        ModesCommand::List(args) => list(args, context, output),
        ModesCommand::Show(args) => show(args, context, output),
        ModesCommand::Validate(args) => validate(args, context, output),
        ModesCommand::Create(args) => modes_change::create(args, context, output),
        ModesCommand::Update(args) => modes_change::update(args, context, output),
        ModesCommand::Delete(args) => modes_change::delete(args, context, output),
        ModesCommand::Import(args) => modes_transfer::import(args, context, output),
        ModesCommand::Export(args) => modes_transfer::export(args, context, output),
    }
}

fn list(
    args: &InspectArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let views: Vec<ModeView> =
        modes(args.at.as_deref(), context, output)?.iter().map(ModeView::from).collect();
    if args.json {
        output.json(&views);
    } else {
        let row = |view: &ModeView| {
            let about = view
                .record
                .description
                .as_ref()
                .or(view.record.when_to_use.as_ref())
                .unwrap_or(&view.record.name);
            [view.record.slug.clone(), origin(view), groups(view), first_line(about)]
        };
        output.table(["MODE", "FROM", "GROUPS", "WHAT FOR"], views.iter().map(row));
    }
    Ok(ExitStatus::Done)
}

fn show(
    args: &ShowModeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let modes = modes(args.inspect.at.as_deref(), context, output)?;
    let mode = modes_change::find(&modes, &args.slug)?;
    if args.prompt {
        return modes_prompt::show(mode, &modes, &args.inspect, context, output);
    }
    let view = &ModeView::from(mode);
    if args.inspect.json {
        output.json(view);
        return Ok(ExitStatus::Done);
    }
    let record = &view.record;
    output.line(visible(&format!("{} ({})", record.slug, record.name)));
    output.line(format!("from: {}", origin(view)));
    output.line(visible(&format!("groups: {}", groups(view))));
    output.line(format!(
        "tools: {}",
        view.tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ")
    ));
    let facts = [
        ("edits only", listed(&record.allowed_file_paths)),
        ("edits never", listed(&record.disallowed_file_paths)),
        ("provider", record.api_provider.clone()),
        ("model", record.api_model.clone()),
        ("preferred model", record.preferred_model_id.clone()),
        ("provider's address", record.api_base.clone()),
        ("listed under", record.group_name.clone()),
    ];
    for (title, fact) in facts.into_iter().filter_map(|(title, fact)| Some((title, fact?))) {
        output.line(visible(&format!("{title}: {fact}")));
    }
    for (name, value) in &record.variables {
        output.line(visible(&format!("variable {name}: {value}")));
    }
    for section in mode.permission_maps().into_iter().filter_map(sections::permissions) {
        output.line(visible(&section));
    }
    let rules = (!record.custom_rules.is_empty())
        .then(|| record.custom_rules.iter().map(|rule| format!("- {}\n", rule.trim())).collect());
    let texts = [
        ("role", Some(record.role_definition.clone())),
        ("system prompt", record.system_prompt.clone()),
        ("description", record.description.clone()),
        ("when to use", record.when_to_use.clone()),
        ("instructions", record.custom_instructions.clone()),
        ("rules", rules),
    ];
    for (title, text) in
        texts.into_iter().filter_map(|(title, text): (_, Option<String>)| Some((title, text?)))
    {
        output.line(format!("\n{title}:"));
        for line in visible(text.trim()).lines() {
            output.line(format!("  {line}").trim_end());
        }
    }
    Ok(ExitStatus::Done)
}

fn listed(patterns: &[String]) -> Option<String> {
    (!patterns.is_empty()).then(|| {
        patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ")
    })
}

/// Checks the files that are named, or every file there is.
fn validate(
    args: &ValidateModesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let texts = if args.files.is_empty() {
        InspectedRepository::open(context, args.inspect.at.as_deref())?.origin().mode_texts()?
    } else {
        let read = |shown: &PathBuf| {
            let PromptFile { path: file, text } =
                checked::named(context, shown, places::may_define)?;
            Ok(ModeText { source: ModeSource::Project { file }, text })
        };
        args.files.iter().map(read).collect::<Result<_, RunError>>()?
    };
    let checked: Vec<FileCheck> = texts.iter().map(check).collect();
    Ok(checked::show(&checked, "no mode files", "", args.inspect.json, output))
}

/// Checks one file by itself.
fn check(text: &ModeText) -> FileCheck {
    let (modes, mistakes, warnings) = match merge::definitions(text, Strictness::Strict) {
        Ok(found) => {
            (found.modes.into_iter().map(|mode| mode.slug).collect(), Vec::new(), found.warnings)
        }
        Err(errors) => (Vec::new(), errors.0, Vec::new()),
    };
    let file = text.source.file().unwrap_or_default().to_owned();
    FileCheck::new(file, ("modes", modes), mistakes, warnings)
}

fn modes(
    at: Option<&str>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ModeSet, RunError> {
    let merged = InspectedRepository::open(context, at)?.merged_modes()?;
    for warning in merged.warnings {
        output.talk(visible(&format!("warning: {}", warning)));
    }
    Ok(merged.modes)
}

fn origin(view: &ModeView) -> String {
    view.file.clone().unwrap_or_else(|| view.source.to_owned())
}

fn groups(view: &ModeView) -> String {
    let group = |record: &GroupRecord| match record {
        GroupRecord::Name(group) => group.as_str().to_owned(),
        GroupRecord::WithOptions(group, GroupOptions { file_regex, .. }) => {
            file_regex.as_ref().map_or_else(
                || group.as_str().to_owned(),
                |regex| format!("{} ({regex})", group.as_str()),
            )
        }
    };
    let groups: Vec<String> = view.record.groups.iter().map(group).collect();
    if groups.is_empty() { "-".to_owned() } else { groups.join(", ") }
}

fn first_line(text: &str) -> String {
    locum_agent::report::figures::clip(text.trim().lines().next().unwrap_or_default(), 80)
}
