//! `locum modes create|update|delete`: one mode of a mode file is added, changed or taken out;
//! everything else in the file stays as it is.

use serde_json::{Map, Value, json};

use crate::cli::inspected::InspectedRepository;
use crate::cli::modes_args::{
    CreateModeArgs, DeleteModeArgs, FieldArgs, UpdateModeArgs, WriteArgs,
};
use crate::cli::modes_file::TargetFile;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use locum_agent::report::markdown::visible;
use locum_files::fields::nearest;
use locum_files::yaml::YamlDocument;
use locum_modes::edit::ModeEdit;
use locum_modes::{Mode, ModeSet, merge, schema};

/// Most characters of a description that is made from another text.
const DESCRIPTION_LIMIT_CHARS: usize = 500;

/// Adds a mode.
///
/// # Errors
/// When there is one of this slug in the file, or the mode has a mistake.
pub fn create(
    args: &CreateModeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let place = InspectedRepository::open(context, None)?;
    let mut file = TargetFile::open(&args.write, None, place.root(), context)?;
    if file.holds(&args.slug) {
        let hint = format!("change it with `locum modes update {}`", args.slug);
        return Err(RunError::usage(
            file.name,
            format!("there is a mode `{}` in this file", args.slug),
        )
        .hint(hint));
    }
    let mut mode = Map::from_iter([
        ("slug".to_owned(), json!(args.slug)),
        ("name".to_owned(), json!(args.slug)),
    ]);
    mode.extend(fields(&args.fields)?.into_iter().filter_map(|(key, value)| Some((key, value?))));
    mode.entry("groups").or_insert_with(|| json!(["read"]));
    let mode = if file.has_second_words() { in_second_words(mode) } else { mode };
    file.change(&ModeEdit::Put(mode))?;
    // A mistake in another file is that file's.
    let modes = place.modes().unwrap_or_default();
    let other = modes.find(&args.slug).filter(|mode| mode.source != file.source);
    end(&file, &args.slug, "created", &args.write, output)?;
    if let Some(other) = other {
        output.talk(visible(&beside(&file, other)));
    }
    Ok(ExitStatus::Done)
}

/// Says which of two modes of one slug counts, the one of a file or another one.
fn beside(file: &TargetFile, other: &Mode) -> String {
    let slug = &other.slug;
    let of = other
        .source
        .file()
        .map_or_else(|| "the built-in modes".to_owned(), |file| format!("`{file}`"));
    if merge::wins(&file.source, &other.source) {
        format!("note: it takes the place of mode `{slug}` of {of}")
    } else {
        format!("warning: it has no effect: mode `{slug}` of {of} takes its place")
    }
}

/// Returns a mode in the words of files that have `role` and `tools`. Their reader wants a
/// description, too.
fn in_second_words(mode: Map<String, Value>) -> Map<String, Value> {
    let text = |key: &str| mode.get(key).and_then(Value::as_str).unwrap_or_default();
    let about = [text("description"), text("whenToUse"), text("roleDefinition"), text("name")];
    let about = about.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default();
    let about: String = about.chars().take(DESCRIPTION_LIMIT_CHARS).collect();
    let mut renamed = Map::new();
    for (key, value) in mode {
        renamed.extend(second_words(&key, value));
    }
    renamed.entry("description").or_insert_with(|| json!(about));
    renamed
}

/// Returns what a key says in those words: a group's limit on files is a key of its own.
fn second_words(key: &str, value: Value) -> Vec<(String, Value)> {
    let groups = match (key, &value) {
        ("roleDefinition", _) => return vec![("role".to_owned(), value)],
        ("groups", Value::Array(groups)) => groups,
        _ => return vec![(key.to_owned(), value)],
    };
    let name = |group: &Value| group.get(0).unwrap_or(group).clone();
    let regex = |group: &Value| group.get(1)?.get("fileRegex").cloned();
    let restrictions: Vec<Value> = groups.iter().filter_map(regex).collect();
    let tools = ("tools".to_owned(), groups.iter().map(name).collect());
    let limit = ("fileRestrictions".to_owned(), Value::Array(restrictions.clone()));
    if restrictions.is_empty() { vec![tools] } else { vec![tools, limit] }
}

/// Changes some keys of a mode.
///
/// # Errors
/// When the mode does not exist, is built in, or would have a mistake.
pub fn update(
    args: &UpdateModeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let mut file = open(&args.write, &args.slug, context)?;
    let mut changes = fields(&args.fields)?;
    changes.extend(args.unset.iter().map(|key| (key.clone(), None)));
    for (key, _) in &changes {
        known(key)?;
    }
    if changes.iter().any(|(key, value)| key == "slug" && value.as_ref() != Some(&json!(args.slug)))
    {
        let hint = format!(
            "policies, jobs and rules folders name modes by their slugs: create another mode, and \
             delete `{}`",
            args.slug
        );
        return Err(RunError::usage("--set", "a mode keeps its slug").hint(hint));
    }
    if file.has_second_words() {
        let renamed = |(key, value): (String, Option<Value>)| match value {
            Some(value) => {
                let words = second_words(&key, value).into_iter();
                words.map(|(key, value)| (key, Some(value))).collect()
            }
            None => vec![(key, None)],
        };
        changes = changes.into_iter().flat_map(renamed).collect();
    }
    if changes.is_empty() {
        return Err(RunError::usage("update", "nothing to change")
            .hint("name a key: `--role TEXT`, `--set KEY=VALUE`, `--unset KEY`"));
    }
    file.change(&ModeEdit::Set { slug: args.slug.clone(), fields: changes })?;
    end(&file, &args.slug, "updated", &args.write, output)
}

/// Takes a mode out of its file. Its rules files stay.
///
/// # Errors
/// When the mode does not exist, or is built in.
pub fn delete(
    args: &DeleteModeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let mut file = open(&args.write, &args.slug, context)?;
    file.change(&ModeEdit::Remove { slug: args.slug.clone() })?;
    end(&file, &args.slug, "deleted", &args.write, output)
}

/// Opens the file a mode is in.
fn open(args: &WriteArgs, slug: &str, context: &CommandContext) -> Result<TargetFile, RunError> {
    let root = InspectedRepository::open(context, None)?.root().to_owned();
    if args.file.is_some() || args.user {
        return TargetFile::open(args, None, &root, context);
    }
    let modes = InspectedRepository::open(context, None)?.modes()?;
    let mode = find(&modes, slug)?;
    if mode.source.file().is_none() {
        let hint = format!(
            "print it with `locum modes export {slug}`; a mode with this slug in your own file \
             replaces it, and `customModePrompts` there changes its texts alone"
        );
        return Err(RunError::usage("SLUG", format!("mode `{slug}` is built in")).hint(hint));
    }
    TargetFile::open(args, Some(mode), &root, context)
}

/// Finds a mode.
///
/// # Errors
/// When there is none of this slug.
pub fn find<'m>(modes: &'m ModeSet, slug: &str) -> Result<&'m Mode, RunError> {
    modes.find(slug).ok_or_else(|| {
        let slugs: Vec<&str> = modes.iter().map(|mode| mode.slug.as_str()).collect();
        let hint = nearest(slug, &slugs).map_or_else(
            || format!("there are: {}", slugs.join(", ")),
            |slug| format!("did you mean `{slug}`?"),
        );
        RunError::usage("SLUG", format!("there is no mode `{slug}`")).hint(hint)
    })
}

fn end(
    file: &TargetFile,
    slug: &str,
    done: &str,
    args: &WriteArgs,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    file.write(args, output)?;
    if args.json {
        output.json(&json!({ "slug": slug, "file": file.name, "done": done, "written": !args.dry_run, "text": file.text }));
    } else if !args.dry_run {
        output.line(format!("{done} mode `{slug}` in {}", file.name));
    }
    Ok(ExitStatus::Done)
}

/// Returns the keys that flags set, in the order of a mode file.
fn fields(args: &FieldArgs) -> Result<Vec<(String, Option<Value>)>, RunError> {
    let texts = [
        ("name", &args.name),
        ("roleDefinition", &args.role),
        ("whenToUse", &args.when_to_use),
        ("description", &args.description),
        ("customInstructions", &args.instructions),
    ];
    let mut fields: Vec<(String, Option<Value>)> = texts
        .into_iter()
        .filter_map(|(key, text)| Some((key.to_owned(), Some(json!(text.as_ref()?)))))
        .collect();
    if let Some(groups) = &args.groups {
        let group = |group: &String| match &args.edit_only {
            Some(regex) if group == "edit" => json!(["edit", { "fileRegex": regex }]),
            Some(_) | None => json!(group),
        };
        if args.edit_only.is_some() && !groups.iter().any(|group| group == "edit") {
            return Err(RunError::usage("--edit-only", "`--groups` does not include `edit`")
                .hint("add it: `--groups read,edit`"));
        }
        let groups: Vec<Value> =
            groups.iter().filter(|group| !group.is_empty()).map(group).collect();
        fields.push(("groups".to_owned(), Some(Value::Array(groups))));
    }
    for set in &args.set {
        let wrong = |what: String| {
            RunError::usage("--set", what).hint("write `--set KEY=VALUE`, the value in YAML")
        };
        let (key, value) =
            set.split_once('=').ok_or_else(|| wrong(format!("`{set}` has no `=`")))?;
        known(key)?;
        let read = YamlDocument::parse(value);
        if let Some(mistake) = read.mistakes.first() {
            return Err(wrong(format!(
                "the value of `{key}` is not valid YAML: {}",
                mistake.message
            )));
        }
        fields.retain(|(other, _)| other != key);
        fields.push((
            key.to_owned(),
            Some(read.root.map_or(Value::String(String::new()), |root| root.to_json())),
        ));
    }
    Ok(fields)
}

fn known(key: &str) -> Result<(), RunError> {
    if schema::MODE_KEYS.contains(&key) {
        return Ok(());
    }
    let hint = nearest(key, schema::MODE_KEYS).map_or_else(
        || format!("the keys of a mode are: {}", schema::MODE_KEYS.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(RunError::usage("--set", format!("a mode has no key `{key}`")).hint(hint))
}
