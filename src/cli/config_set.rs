//! `locum config set`: settings of a file are set; everything else in the file stays as it is.
//!
//! In: keys and values. Out: the new text, checked as a run reads it, then written in one step or
//! only shown. A file that would have a mistake afterwards is not written.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::inspect_args::SetConfigArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::modes_file::{replace_unchanged, show_change};
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::edit;
use crate::config::environment::Environment;
use crate::config::keys::{self, KEYS, SettingKey};
use crate::config::kind::SettingKind;
use crate::config::load::{ConfigFile, Layers, load};
use crate::config::settings::HIDDEN;
use crate::run::error::RunError;
use crate::run::trusted::CONFIG_FILE;
use crate::run::user::{UserFolder, named_file};
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::{Diagnostics, nearest};

/// The user's file of settings, in the user's folder.
const USER_FILE: &str = "config.yml";

/// Runs the subcommand.
///
/// # Errors
/// When there is no such setting, it takes no such value, the file may not set it, or it cannot be
/// changed in place.
pub(super) fn run(
    args: &SetConfigArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let set = pairs(&args.pairs)?;
    let place = InspectedRepository::open(context, None)?;
    let (path, origin) = target(args, &place, context)?;
    let before = named_file(&path)?.map(|file| file.text).unwrap_or_default();
    let mut text = before.clone();
    for (key, value) in &set {
        text = edit::set(&text, key, value).ok_or_else(|| {
            RunError::usage(&origin, format!("cannot set `{key}` in this file without harm"))
                .hint("correct the file where it is broken, or change it by hand")
        })?;
    }
    let file = ConfigFile { origin: origin.clone(), text };
    check(args, &file, &place, context)?;
    if !args.dry_run {
        replace_unchanged(&origin, &path, (&before, &file.text))?;
    }
    if args.json {
        let written = !args.dry_run;
        let set: Map<String, Value> = set.into_iter().map(shown).collect();
        output.json(&json!({ "set": set, "file": origin, "written": written }));
        return Ok(ExitStatus::Done);
    }
    if args.dry_run {
        show_change(&origin, &before, &file.text, output);
        return Ok(ExitStatus::Done);
    }
    for (key, _) in &set {
        output.line(format!("set `{key}` in {origin}"));
    }
    if !args.user {
        output.talk("A run reads it from the trusted commit: commit it.".to_owned());
    }
    Ok(ExitStatus::Done)
}

/// Reads keys and values, in turn.
fn pairs(words: &[String]) -> Result<Vec<(String, Value)>, RunError> {
    let (pairs, rest) = words.as_chunks::<2>();
    if let [key] = rest {
        return Err(RunError::usage("VALUE", format!("`{key}` has no value"))
            .hint("name a key and its value, in turn: `budget.turns 40 mode code`"));
    }
    let pair = |[key, text]: &[String; 2]| Ok((key.clone(), value_of(setting(key)?, key, text)?));
    pairs.iter().map(pair).collect()
}

/// Finds the setting of a key.
fn setting(key: &str) -> Result<&'static SettingKey, RunError> {
    let names = key.split('.').all(keys::is_name);
    keys::find(key).filter(|_| names).ok_or_else(|| {
        let known: Vec<&str> = KEYS.iter().map(|known| known.path).collect();
        let hint = nearest(key, &known).map_or_else(
            || "`locum config show` lists every setting".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        RunError::usage("KEY", format!("no setting is called `{key}`")).hint(hint)
    })
}

/// Returns a setting as it is printed: a value that may be secret is not.
fn shown((key, value): (String, Value)) -> (String, Value) {
    match keys::find(&key).map(|setting| setting.kind) {
        Some(SettingKind::Hidden) => (key, json!(HIDDEN)),
        Some(_) | None => (key, value),
    }
}

/// Reads a value as a flag or variable has it.
fn value_of(setting: &SettingKey, key: &str, text: &str) -> Result<Value, RunError> {
    let node = setting.kind.node(text);
    let mut mistakes = Diagnostics::default();
    setting.kind.read(&node, key, &mut mistakes);
    match mistakes.0.into_iter().next() {
        None => Ok(node.to_json()),
        Some(Diagnostic { message, hint: Some(hint), .. }) => {
            Err(RunError::usage("VALUE", message).hint(hint))
        }
        Some(Diagnostic { message, .. }) => Err(RunError::usage("VALUE", message)),
    }
}

/// Returns the file that is changed, and its name in messages.
fn target(
    args: &SetConfigArgs,
    place: &InspectedRepository<'_>,
    context: &CommandContext,
) -> Result<(PathBuf, String), RunError> {
    if !args.user {
        return Ok((place.root().join(CONFIG_FILE), CONFIG_FILE.to_owned()));
    }
    let folder = context.environment.config_folder().ok_or_else(|| {
        RunError::usage("--user", "the environment names no home").hint("set HOME")
    })?;
    let path = folder.join(USER_FILE);
    let origin = path.display().to_string();
    Ok((path, origin))
}

/// Checks the file as a run reads it, beside the other one.
fn check(
    args: &SetConfigArgs,
    file: &ConfigFile,
    place: &InspectedRepository<'_>,
    context: &CommandContext,
) -> Result<(), RunError> {
    let other = if args.user {
        place.source().own_file(CONFIG_FILE)?
    } else {
        UserFolder::of(&context.environment).settings()?
    };
    let (user, repository) = match args.user {
        true => (Some(file), other.as_ref()),
        false => (other.as_ref(), Some(file)),
    };
    // What variables say is not the file's business.
    let environment = Environment::default();
    load(&Layers { user, repository, environment: &environment, flags: &[] }).map_err(
        |errors| {
            let mut error = RunError::from(errors);
            error.diagnostics.push(Diagnostic::about(
                file.origin.clone(),
                "not changed, because the file would have these mistakes",
            ));
            error
        },
    )?;
    Ok(())
}
