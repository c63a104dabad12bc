//! `locum modes list|show`: the modes a run could use, and what each of them says and may do.

use crate::base::fields::nearest;
use crate::cli::failure::{Failure, Mistake};
use crate::cli::inspect_args::{InspectArgs, ModesArgs, ModesCommand, ShowModeArgs};
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::{Context, ExitStatus, table};
use crate::modes::schema::{GroupOptions, GroupRecord, ModeView};
use crate::report::markdown::visible;

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the mode files; a mode that does not exist.
pub fn run(args: &ModesArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    match &args.command {
        ModesCommand::List(args) => list(args, context, output),
        ModesCommand::Show(args) => show(args, context, output),
    }
}

fn list(args: &InspectArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let views = views(args.at.as_deref(), context, output)?;
    if args.json {
        output.json(&views);
    } else {
        let row = |view: &ModeView| {
            let about = view.record.description.as_ref().or(view.record.when_to_use.as_ref()).unwrap_or(&view.record.name);
            [view.record.slug.clone(), origin(view), groups(view), first_line(about)]
        };
        for line in table::lines(["MODE", "FROM", "GROUPS", "WHAT FOR"], &views.iter().map(row).collect::<Vec<_>>()) {
            output.line(line);
        }
    }
    Ok(ExitStatus::Done)
}

fn show(args: &ShowModeArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let views = views(args.inspect.at.as_deref(), context, output)?;
    let Some(view) = views.iter().find(|view| view.record.slug == args.slug) else {
        let slugs: Vec<&str> = views.iter().map(|view| view.record.slug.as_str()).collect();
        let hint = nearest(&args.slug, &slugs)
            .map_or_else(|| format!("there are: {}", slugs.join(", ")), |slug| format!("did you mean `{slug}`?"));
        return Err(Failure::usage("SLUG", format!("there is no mode `{}`", args.slug)).hint(hint));
    };
    if args.inspect.json {
        output.json(view);
        return Ok(ExitStatus::Done);
    }
    let record = &view.record;
    output.line(visible(&format!("{} ({})", record.slug, record.name)));
    output.line(format!("from: {}", origin(view)));
    output.line(visible(&format!("groups: {}", groups(view))));
    output.line(format!("tools: {}", view.tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>().join(", ")));
    let texts = [("description", &record.description), ("when to use", &record.when_to_use), ("instructions", &record.custom_instructions)];
    let texts =
        std::iter::once(("role", Some(&record.role_definition))).chain(texts.into_iter().map(|(title, text)| (title, text.as_ref())));
    for (title, text) in texts.filter_map(|(title, text)| Some((title, text?))) {
        output.line(format!("\n{title}:"));
        for line in visible(text.trim()).lines() {
            output.line(format!("  {line}").trim_end());
        }
    }
    Ok(ExitStatus::Done)
}

fn views(at: Option<&str>, context: &Context, output: &mut Output) -> Result<Vec<ModeView>, Failure> {
    let merged = Place::open(context, at)?.merged_modes(&context.environment)?;
    for warning in &merged.warnings {
        output.talk(format!("warning: {}", Mistake::from(warning.clone())));
    }
    Ok(merged.modes.iter().map(ModeView::from).collect())
}

fn origin(view: &ModeView) -> String {
    view.file.clone().unwrap_or_else(|| view.source.to_owned())
}

fn groups(view: &ModeView) -> String {
    let group = |record: &GroupRecord| match record {
        GroupRecord::Name(group) => group.as_str().to_owned(),
        GroupRecord::WithOptions(group, GroupOptions { file_regex, .. }) => {
            file_regex.as_ref().map_or_else(|| group.as_str().to_owned(), |regex| format!("{} ({regex})", group.as_str()))
        }
    };
    let groups: Vec<String> = view.record.groups.iter().map(group).collect();
    if groups.is_empty() { "-".to_owned() } else { groups.join(", ") }
}

fn first_line(text: &str) -> String {
    crate::report::figures::clip(text.trim().lines().next().unwrap_or_default(), 80)
}
