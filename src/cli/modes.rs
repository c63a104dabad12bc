//! `locum modes list|show|validate`: the modes a run could use, what each of them says and may do,
//! and what is wrong with their files.

use std::path::Path;

use crate::cli::checked::{self, CheckWording, FileCheck, Finding};
use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::modes_args::{ModesArgs, ModesCommand, ShowModeArgs, ValidateModesArgs};
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus, modes_change, modes_prompt, modes_transfer, table};
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_modes::file_regex::FileRegex;
use locum_modes::loader::Strictness;
use locum_modes::merge::{self, ModeText};
use locum_modes::prompts::sections;
use locum_modes::schema::ModeView;
use locum_modes::{GroupEntry, Mode, ModeSet, ModeSource, ModelNeed, places};

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the mode files; a mode that does not exist.
pub fn run(
    args: &ModesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match &args.command {
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
    let modes = modes(args.at.as_deref(), context, output)?;
    if args.json {
        output.json(&modes.iter().map(ModeView::from).collect::<Vec<_>>());
    } else {
        let row = |mode: &Mode| {
            let about = mode.description.as_ref().or(mode.when_to_use.as_ref());
            let about = first_line(about.unwrap_or(&mode.name));
            [mode.slug.clone(), origin(mode), groups(mode), about]
        };
        for line in table::lines(
            ["MODE", "FROM", "GROUPS", "WHAT FOR"],
            &modes.iter().map(row).collect::<Vec<_>>(),
        ) {
            output.line(line);
        }
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
    if args.inspect.json {
        output.json(&ModeView::from(mode));
        return Ok(ExitStatus::Done);
    }
    output.line(visible(&format!("{} ({})", mode.slug, mode.name)));
    output.line(format!("from: {}", origin(mode)));
    output.line(visible(&format!("groups: {}", groups(mode))));
    output.line(format!(
        "tools: {}",
        mode.tools().iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ")
    ));
    let model = mode.model.as_ref();
    let named =
        |need: ModelNeed| model.filter(|model| model.need == need).map(|model| model.name.clone());
    let facts = [
        ("edits only", listed(&mode.file_limits.allowed)),
        ("edits never", listed(&mode.file_limits.disallowed)),
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
    Ok(ExitStatus::Done)
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
    let place = InspectedRepository::open(context, args.inspect.at.as_deref())?;
    let texts = if args.files.is_empty() {
        place.origin().mode_texts()?
    } else {
        args.files
            .iter()
            .map(|file| named_text(&context.folder.join(file), file))
            .collect::<Result<_, _>>()?
    };
    let checked: Vec<FileCheck<ModeSlugs>> = texts.iter().map(check).collect();
    let words = |slugs: &ModeSlugs| {
        if slugs.modes.is_empty() { "no modes".to_owned() } else { slugs.modes.join(", ") }
    };
    Ok(checked::show(
        &checked,
        CheckWording { none: "no mode files", words: &words },
        args.inspect.json,
        output,
    ))
}

/// Reads a file a user named. Its kind follows from the longest end of its path that is a place of
/// mode files.
fn named_text(path: &Path, shown: &Path) -> Result<ModeText, RunError> {
    let (known, text) = checked::named(path, shown, &places::may_define)?;
    Ok(ModeText { source: ModeSource::Project { file: known }, text })
}

/// What a mode file defines.
#[derive(serde::Serialize)]
struct ModeSlugs {
    modes: Vec<String>,
}

fn check(text: &ModeText) -> FileCheck<ModeSlugs> {
    let file = text.source.file().unwrap_or_default().to_owned();
    let (modes, mistakes, warnings) = match merge::definitions(text, Strictness::Strict) {
        Ok(found) => {
            (found.modes.into_iter().map(|mode| mode.slug).collect(), Vec::new(), found.warnings)
        }
        Err(errors) => (Vec::new(), errors.0, Vec::new()),
    };
    let findings = |errors: Vec<Diagnostic>| errors.into_iter().map(Finding::from).collect();
    FileCheck {
        file,
        defines: ModeSlugs { modes },
        mistakes: findings(mistakes),
        warnings: findings(warnings),
    }
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

fn origin(mode: &Mode) -> String {
    mode.source.file().unwrap_or(mode.source.word()).to_owned()
}

fn groups(mode: &Mode) -> String {
    let group = |entry: &GroupEntry| match &entry.file_regex {
        Some(regex) => format!("{} ({})", entry.group.as_str(), regex.source()),
        None => entry.group.as_str().to_owned(),
    };
    let groups: Vec<String> = mode.groups.iter().map(group).collect();
    if groups.is_empty() { "-".to_owned() } else { groups.join(", ") }
}

fn first_line(text: &str) -> String {
    locum_agent::report::figures::clip(text.trim().lines().next().unwrap_or_default(), 80)
}
