//! `locum skills list|show|validate`: the skills a model may read, and what is wrong with their
//! files.

use std::path::Path;

use serde::Serialize;

use crate::cli::checked::{self, FileCheck};
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::prompt_args::{NamedArgs, SkillsCommand, ValidateArgs};
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use locum_agent::report::figures::clip;
use locum_agent::report::markdown::visible;
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::skills::{self, Skill, SkillFile, SkillSet};

/// Longest description in a list, in characters.
const DESCRIPTION_CHARS: usize = 80;

/// Runs the subcommand.
///
/// # Errors
/// When a file cannot be read; a skill that does not exist.
pub fn run(
    command: &SkillsCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        SkillsCommand::List(args) => {
            let set = all(args.at.as_deref(), context, output)?;
            list(&set, args.json, output);
            Ok(ExitStatus::Done)
        }
        SkillsCommand::Show(args) => show(args, context, output),
        SkillsCommand::Validate(args) => validate(args, context, output),
    }
}

/// Reads the skills of every mode there is.
fn all(
    at: Option<&str>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<SkillSet, RunError> {
    let place = InspectedRepository::open(context, at)?;
    let slugs: Vec<String> =
        place.usable_modes(output)?.iter().map(|mode| mode.slug.clone()).collect();
    place.source().skills(&slugs)
}

/// A skill as programs read it.
#[derive(Serialize)]
struct SkillRow<'s> {
    name: &'s str,
    file: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'s str>,
    /// The modes that have it; every mode when empty.
    modes: &'s [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'s str>,
    /// True when its file has mistakes.
    is_broken: bool,
}

impl<'s> SkillRow<'s> {
    fn of(file: &'s SkillFile) -> Self {
        let skill = file.skill.as_ref().ok();
        Self {
            name: &file.name,
            file: &file.origin,
            description: skill.map(|skill| skill.description.as_str()),
            modes: skill.map(|skill| skill.modes.as_slice()).unwrap_or_default(),
            text: skill.map(|skill| skill.body.as_str()),
            is_broken: skill.is_none(),
        }
    }
}

fn modes(modes: &[String]) -> String {
    if modes.is_empty() { "all".to_owned() } else { modes.join(", ") }
}

fn list(set: &SkillSet, as_json: bool, output: &mut Output) {
    let views: Vec<SkillRow<'_>> =
        set.files.iter().map(|file| SkillRow { text: None, ..SkillRow::of(file) }).collect();
    if as_json {
        return output.json(&views);
    }
    let row = |view: &SkillRow<'_>| {
        let about = if view.is_broken {
            "broken: see `locum skills validate`"
        } else {
            view.description.unwrap_or_default()
        };
        [
            view.name.to_owned(),
            view.file.to_owned(),
            modes(view.modes),
            clip(about, DESCRIPTION_CHARS),
        ]
    };
    output.table(["SKILL", "FROM", "MODES", "WHAT FOR"], views.iter().map(row));
    if views.is_empty() {
        output.line("no skills");
    }
}

fn show(
    args: &NamedArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let set = all(args.inspect.at.as_deref(), context, output)?;
    let Some(file) = set.files.iter().find(|file| file.name == args.name) else {
        let names: Vec<&str> = set.files.iter().map(|file| file.name.as_str()).collect();
        let error = RunError::usage("NAME", format!("there is no skill `{}`", args.name));
        return Err(match locum_files::fields::nearest(&args.name, &names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!(
                "skills are read from `skills/NAME/SKILL.md` in {}",
                skills::HOMES.join(", ")
            )),
        });
    };
    let skill: &Skill =
        file.skill.as_ref().map_err(|mistakes| RunError::file(&file.origin, mistakes.clone()))?;
    if args.inspect.json {
        output.json(&SkillRow::of(file));
        return Ok(ExitStatus::Done);
    }
    let listed = if skill.is_listed { "" } else { "\nhidden from models" };
    let modes = modes(&skill.modes);
    output.line(visible(&format!(
        "{}\nfrom: {}\nmodes: {modes}\ndescription: {}{listed}\n",
        skill.name, skill.origin, skill.description
    )));
    output.line(visible(&skill.body));
    Ok(ExitStatus::Done)
}

/// Checks the files that are named, or every file there is.
fn validate(
    args: &ValidateArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let files = if args.files.is_empty() {
        let files = all(args.inspect.at.as_deref(), context, output)?.files;
        files.into_iter().map(|file| (file.origin.clone(), file)).collect()
    } else {
        let read = |texts: &[PromptFile]| SkillSet::read(texts).files;
        let wrong = |file: &Path| {
            let what = format!("`{}` is not a skill file", file.display());
            let homes = skills::HOMES.join(", ");
            RunError::usage("FILE", what)
                .hint(format!("skills are `skills/NAME/SKILL.md` in {homes}"))
        };
        checked::read_named(context, &args.files, skills::is_skill_file, read, wrong)?
    };
    let check = |(shown, file): (String, SkillFile)| {
        let (names, mistakes) = match file.skill {
            Ok(skill) => (vec![skill.name], Vec::new()),
            Err(mistakes) => (Vec::new(), mistakes),
        };
        FileCheck::new(shown, ("skills", names), mistakes, file.warnings)
    };
    let checked: Vec<FileCheck> = files.into_iter().map(check).collect();
    Ok(checked::show(&checked, "no skills", "", args.inspect.json, output))
}
