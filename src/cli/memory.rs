//! `locum memory list|show|set|remove|log`: the notes that runs keep for later ones, as they are in
//! this repository.
//!
//! In: the ref of the memory. Out: its notes with their sources, or a change that a person makes by
//! hand. Nothing is fetched or pushed.

use std::io::Read as _;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::cli::decide::person;
use crate::cli::local_run;
use crate::cli::memory_args::{MemoryCommand, MemoryNoteArgs, MemorySetArgs};
use crate::cli::output::Output;
use crate::cli::stop_signal::runtime;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::memory::record::MemoryRecord;
use crate::run::memory::reference::{MemoryRef, change_local};
use locum_agent::report::figures::clip;
use locum_agent::report::markdown::visible;
use locum_agent::tools::memory::entry::{EntrySource, MemoryEntry, TEXT_LIMIT_BYTES};
use locum_base::clock::Clock as _;
use locum_base::secret::Redactor;
use locum_base::text::single_blanks;
use locum_files::fields::nearest;
use locum_workspace::repo::{CommitId, Repo};

/// Longest beginning of a note in a list, in characters.
const FIRST_LINE_CHARS: usize = 60;
/// Most changes that are shown.
const CHANGES_LIMIT: usize = 100;
/// Where to look for notes of runs on GitHub.
const FETCH: &str = "notes of runs on GitHub come with `git fetch origin \
                     +refs/locum/memory:refs/locum/memory`";

/// Runs the subcommand.
///
/// # Errors
/// When there is no repository, the memory is unusable, a note is not there or does not fit.
pub fn run(
    command: &MemoryCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let repo = local_run::open(&context.folder)?.repo;
    match command {
        MemoryCommand::List(args) => list(&load(&repo)?, args.json, output),
        MemoryCommand::Show(args) => show(&load(&repo)?, args, output)?,
        MemoryCommand::Set(args) => set(&repo, args, context, output)?,
        MemoryCommand::Remove(args) => remove(&repo, args, context, output)?,
        MemoryCommand::Log(args) => log(&repo, args.json, output)?,
    }
    Ok(ExitStatus::Done)
}

/// A note as programs read it.
#[derive(Serialize)]
struct NoteRow<'n> {
    name: &'n str,
    text: &'n str,
    source: &'n EntrySource,
    tier: &'static str,
    at: Timestamp,
}

impl<'n> NoteRow<'n> {
    fn of((name, entry): (&'n str, &'n MemoryEntry)) -> Self {
        let MemoryEntry { text, source, at } = entry;
        Self { name, text, source, tier: source.tier().as_str(), at: *at }
    }
}

/// A change as programs read it.
#[derive(Serialize)]
struct ChangeRow {
    commit: String,
    at: Timestamp,
    message: String,
}

fn load(repo: &Repo) -> Result<MemoryRecord, RunError> {
    runtime()?.block_on(MemoryRef::Local(repo).load())
}

fn list(record: &MemoryRecord, as_json: bool, output: &mut Output) {
    let rows: Vec<NoteRow<'_>> = record.entries.iter().map(NoteRow::of).collect();
    if as_json {
        return output.json(&rows);
    }
    let row = |note: &NoteRow<'_>| {
        let first = note.text.lines().next().unwrap_or_default();
        [
            note.name.to_owned(),
            minute(note.at),
            visible(&note.source.to_string()),
            clip(&visible(first), FIRST_LINE_CHARS),
        ]
    };
    output.table(["NOTE", "WRITTEN", "BY", "BEGINS"], rows.iter().map(row));
    if rows.is_empty() {
        output.line("no notes");
        output.talk(FETCH);
    }
}

fn show(record: &MemoryRecord, args: &MemoryNoteArgs, output: &mut Output) -> Result<(), RunError> {
    let entry = record.entries.get(&args.name).ok_or_else(|| unknown(record, &args.name))?;
    let note = NoteRow::of((&args.name, entry));
    if args.json {
        output.json(&note);
        return Ok(());
    }
    output.line(format_args!("name: {}", note.name));
    output.line(format_args!("written: {}", minute(note.at)));
    output.line(visible(&format!("by: {}", note.source)));
    output.line(format_args!("\n{}", visible(note.text)));
    Ok(())
}

fn set(
    repo: &Repo,
    args: &MemorySetArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), RunError> {
    let text = given(args, context)?.replace("\r\n", "\n");
    if Redactor::new(context.environment.secrets()).finds_secret(&text) {
        return Err(RunError::usage("the text", "it holds a secret, and a note is kept in git")
            .hint("leave it out: later runs read notes, and whoever may read the repository"));
    }
    let clock = SystemClock::start();
    let by = person(context);
    let source = EntrySource::Person { by: by.clone() };
    let entry = MemoryEntry { text: text.trim_end().to_owned(), source, at: clock.now() };
    let message = format!("keep {}\n\nBy {by}.\n", args.name);
    runtime()?.block_on(change_local(repo, &clock, &message, |record| {
        record.entries.set(&args.name, entry.clone()).map_err(|error| error.to_string())
    }))?;
    if args.json {
        output.json(&json!({ "note": args.name, "done": "kept" }));
    } else {
        output.line(format_args!("kept `{}`", args.name));
    }
    Ok(())
}

/// Returns the text that a person gives.
fn given(args: &MemorySetArgs, context: &CommandContext) -> Result<String, RunError> {
    if let Some(text) = &args.text {
        return Ok(text.clone());
    }
    if let Some(file) = local_run::named("--file", args.file.as_deref(), context)? {
        return Ok(file.text);
    }
    let mut bytes = Vec::new();
    // Each line end may be two bytes here and one in the note.
    let most = u64::try_from(2 * TEXT_LIMIT_BYTES + 2).unwrap_or(u64::MAX);
    std::io::stdin()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| RunError::usage("stdin", error.to_string()))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length == most) {
        let message = format!("the text is longer than the {TEXT_LIMIT_BYTES} bytes of a note");
        return Err(RunError::usage("stdin", message));
    }
    String::from_utf8(bytes).map_err(|_| RunError::usage("stdin", "the text is not UTF-8"))
}

fn remove(
    repo: &Repo,
    args: &MemoryNoteArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<(), RunError> {
    let (name, record) = (args.name.as_str(), load(repo)?);
    if record.entries.get(name).is_none() {
        return Err(unknown(&record, name));
    }
    let message = format!("remove {name}\n\nBy {}.\n", person(context));
    runtime()?.block_on(change_local(repo, &SystemClock::start(), &message, |record| {
        record.entries.remove(name);
        Ok(())
    }))?;
    if args.json {
        output.json(&json!({ "note": name, "done": "removed" }));
    } else {
        output.line(format_args!("removed `{name}`"));
    }
    Ok(())
}

fn log(repo: &Repo, as_json: bool, output: &mut Output) -> Result<(), RunError> {
    let mut rows = Vec::new();
    let mut next = repo.memory_tip().map_err(RunError::internal)?;
    while let Some(commit) = next.take().filter(|_| rows.len() < CHANGES_LIMIT) {
        let Ok((row, parent)) = change_of(repo, &commit) else {
            // A shallow fetch brings the newest ones alone.
            break;
        };
        rows.push(row);
        next = parent;
    }
    if as_json {
        output.json(&rows);
        return Ok(());
    }
    let row = |change: &ChangeRow| {
        let words = single_blanks(&change.message);
        [change.commit.chars().take(12).collect(), minute(change.at), visible(&words)]
    };
    output.table(["COMMIT", "AT", "CHANGE"], rows.iter().map(row));
    if rows.is_empty() {
        output.line("no changes");
        output.talk(FETCH);
    }
    Ok(())
}

fn change_of(repo: &Repo, commit: &CommitId) -> Result<(ChangeRow, Option<CommitId>), RunError> {
    let (message, parent) = repo.message_of(commit).map_err(RunError::internal)?;
    let seconds = repo.time_of(commit).map_err(RunError::internal)?;
    let at = Timestamp::from_second(seconds).map_err(RunError::internal)?;
    Ok((ChangeRow { commit: commit.0.clone(), at, message: message.trim().to_owned() }, parent))
}

fn unknown(record: &MemoryRecord, name: &str) -> RunError {
    let names: Vec<&str> = record.entries.iter().map(|(name, _)| name).collect();
    let hint = match nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => FETCH.to_owned(),
        None => format!("there are: {}", names.join(", ")),
    };
    RunError::usage("NAME", format!("there is no note `{name}`")).hint(hint)
}

fn minute(at: Timestamp) -> String {
    at.strftime("%F %H:%M").to_string()
}
