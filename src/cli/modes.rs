//! `locum modes list|show|validate`: the modes a run could use, what each of them says and may do,
//! and what is wrong with their files.

use std::path::PathBuf;

use crate::cli::checked::{self, FileCheck};
use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::{InspectedRepository, ModeFilesState};
use crate::cli::modes_args::{ModesCommand, ShowModeArgs, ValidateModesArgs};
use crate::cli::output::Output;
use crate::cli::policy_file;
use crate::cli::{CommandContext, ExitStatus, modes_change, modes_prompt, modes_transfer};
use crate::run::error::RunError;
use crate::run::trusted::grouped;
use locum_agent::report::markdown::visible;
use locum_base::tool::ToolName;
use locum_modes::access::{self, TaskPurpose, ToolOffer};
use locum_modes::file_regex::FileRegex;
use locum_modes::loader::{ModeDefinitions, ModeErrors, Strictness};
use locum_modes::merge::{self, ModeText};
use locum_modes::prompts::{PromptFile, sections};
use locum_modes::schema::ModeView;
use locum_modes::{GroupEntry, Mode, ModeSet, ModeSource, ModelNeed, places, transfer};
use locum_policy::intent::Facts;

/// A folder of agents that repositories also keep notes in.
const NOTES_FOLDER: &str = ".agents/";

/// Runs the subcommand.
///
/// # Errors
/// A mode that does not exist. Mistakes of mode files are shown, and are the exit code 2.
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
    let (modes, state) = modes(args.at.as_deref(), context, output)?;
    if args.json {
        output.json(&modes.iter().map(ModeView::from).collect::<Vec<_>>());
    } else {
        let row = |mode: &Mode| {
            let about = mode.description.as_ref().or(mode.when_to_use.as_ref());
            let about = first_line(about.unwrap_or(&mode.name));
            [mode.slug.clone(), origin(mode), groups(mode), about]
        };
        output.table(["MODE", "FROM", "GROUPS", "WHAT FOR"], modes.iter().map(row));
    }
    Ok(state.status())
}

fn show(
    args: &ShowModeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let (modes, state) = modes(args.inspect.at.as_deref(), context, output)?;
    let mode = modes_change::find(&modes, &args.slug)?;
    if args.prompt {
        modes_prompt::show(mode, &modes, &args.inspect, context, output)?;
    } else if args.inspect.json {
        output.json(&ModeView { tools: offered(mode, &args.inspect, context)?, ..mode.into() });
    } else {
        describe(mode, &offered(mode, &args.inspect, context)?, output);
    }
    Ok(state.status())
}

/// Returns the tools of a mode that the policy lets it have, whatever a run finds on its machine.
fn offered(
    mode: &Mode,
    args: &InspectArgs,
    context: &CommandContext,
) -> Result<Vec<ToolName>, RunError> {
    let file = policy_file::repository_file(context, args.at.as_deref())?;
    let policy = policy_file::parse(file.as_ref())?;
    let facts = Facts { mode: mode.slug.clone(), ..Facts::default() };
    let of = |purpose| {
        let switching = policy.settings().modes.switching;
        let may_delegate = policy.may_delegate(&facts);
        access::offered(mode, ToolOffer { switching, may_delegate, purpose, included: &[] })
    };
    let mut tools = of(TaskPurpose::Work);
    // A coordinator also decides for others.
    if mode.coordinates() {
        tools.extend(of(TaskPurpose::Decide));
        tools.sort();
        tools.dedup();
    }
    Ok(tools)
}

/// Shows one mode in words.
fn describe(mode: &Mode, tools: &[ToolName], output: &mut Output) {
    output.line(visible(&format!("{} ({})", mode.slug, mode.name)));
    output.line(format!("from: {}", origin(mode)));
    if !mode.changed_in.is_empty() {
        output.line(visible(&format!("texts changed in: {}", mode.changed_in.join(", "))));
    }
    output.line(visible(&format!("groups: {}", groups(mode))));
    output.line(format!(
        "tools: {}",
        tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ")
    ));
    let model = mode.model.as_ref();
    let named =
        |need: ModelNeed| model.filter(|model| model.need == need).map(|model| model.name.clone());
    let facts = [
        ("reads and edits only", listed(&mode.file_limits.allowed)),
        ("edits only", listed(&mode.file_limits.edited)),
        ("neither reads nor edits", listed(&mode.file_limits.disallowed)),
        ("provider", model.and_then(|model| model.provider.clone())),
        ("model", named(ModelNeed::Required)),
        ("preferred model", named(ModelNeed::Preferred)),
        ("provider's address", model.and_then(|model| model.base_url.clone())),
        ("listed under", mode.looks.group.clone()),
    ];
    for (title, fact) in facts.into_iter().filter_map(|(title, fact)| Some((title, fact?))) {
        output.line(visible(&format!("{title}: {fact}")));
    }
    for (name, value) in &mode.variables {
        output.line(visible(&format!("variable {name}: {value}")));
    }
    for section in mode.permission_maps().into_iter().filter_map(sections::permissions) {
        output.line(visible(&section));
    }
    let rules = (!mode.rules.is_empty())
        .then(|| mode.rules.iter().map(|rule| format!("- {}\n", rule.trim())).collect());
    let texts = [
        ("role", Some(mode.role_definition.clone())),
        ("system prompt", mode.system_prompt.clone()),
        ("description", mode.description.clone()),
        ("when to use", mode.when_to_use.clone()),
        ("instructions", mode.custom_instructions.clone()),
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
}

fn listed(patterns: &[FileRegex]) -> Option<String> {
    (!patterns.is_empty()).then(|| {
        patterns
            .iter()
            .map(|pattern| format!("`{}`", pattern.source()))
            .collect::<Vec<_>>()
            .join(", ")
    })
}

/// Checks the files that are named, or every file there is.
fn validate(
    args: &ValidateModesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if args.files.is_empty() {
        let place = InspectedRepository::open(context, args.inspect.at.as_deref())?;
        let checked: Vec<FileCheck> = place
            .origin()
            .mode_texts()?
            .iter()
            .map(|text| (text, check(text)))
            // Nearly every `AGENTS.md` holds instructions alone.
            .filter(|(text, found)| !is_instructions(text) || found.says_something())
            .map(|(_, found)| found)
            .collect();
        return Ok(checked::show(&checked, "no mode files", "", args.inspect.json, output));
    }
    let check = |shown: &PathBuf| {
        let PromptFile { path: file, text } = checked::named(context, shown, places::may_define)?;
        let shown = shown.display().to_string();
        let has_place = places::may_define(&file) || places::is_user_file(&file);
        let source = ModeSource::Project { file };
        Ok(if has_place {
            check(&ModeText { source, text }).named(shown)
        } else {
            // A file under any other name is one that could be imported.
            of_definitions(shown.clone(), transfer::check(&text, &shown))
        })
    };
    let checked = args.files.iter().map(check).collect::<Result<Vec<_>, RunError>>()?;
    Ok(checked::show(&checked, "no mode files", "", args.inspect.json, output))
}

fn is_instructions(text: &ModeText) -> bool {
    text.source.file() == Some(places::AGENTS_FILE)
}

/// Checks one file by itself.
fn check(text: &ModeText) -> FileCheck {
    let file = text.source.file().unwrap_or_default().to_owned();
    let found = merge::definitions(text, Strictness::Strict);
    match found {
        // Anything may lie in this folder; a run says so too, and goes on.
        Err(errors) if file.starts_with(NOTES_FOLDER) => {
            FileCheck::new(file, ("modes", Vec::new()), Vec::new(), errors.0)
        }
        found => of_definitions(file, found),
    }
}

fn of_definitions(file: String, found: Result<ModeDefinitions, ModeErrors>) -> FileCheck {
    match found {
        Err(errors) => FileCheck::new(file, ("modes", Vec::new()), errors.0, Vec::new()),
        Ok(found) if found.is_misshapen => {
            FileCheck::new(file, ("modes", Vec::new()), found.warnings, Vec::new())
        }
        Ok(found) => {
            let slugs = found.modes.into_iter().map(|mode| mode.slug).collect();
            FileCheck::new(file, ("modes", slugs), Vec::new(), found.warnings)
        }
    }
}

fn modes(
    at: Option<&str>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(ModeSet, ModeFilesState), RunError> {
    let (merged, state) = InspectedRepository::open(context, at)?.merged_modes(output)?;
    for (message, count) in grouped(&merged.warnings) {
        let times = if count > 1 { format!("{count} x, first at ") } else { String::new() };
        output.talk(visible(&format!("warning: {times}{message}")));
    }
    Ok((merged.modes, state))
}

fn origin(mode: &Mode) -> String {
    mode.source.file().unwrap_or(mode.source.word()).to_owned()
}

fn groups(mode: &Mode) -> String {
    let group = |entry: &GroupEntry| match &entry.file_regex {
        Some(regex) if entry.may_limit_files() => {
            format!("{} ({})", entry.group.as_str(), regex.source())
        }
        Some(_) | None => entry.group.as_str().to_owned(),
    };
    let groups: Vec<String> = mode.groups.iter().map(group).collect();
    if groups.is_empty() { "-".to_owned() } else { groups.join(", ") }
}

fn first_line(text: &str) -> String {
    locum_agent::report::figures::clip(text.trim().lines().next().unwrap_or_default(), 80)
}
