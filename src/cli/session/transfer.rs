//! `locum session export|import`: a session in the layout of another agent, and one of theirs to be
//! read here.

#![expect(
    clippy::disallowed_methods,
    reason = "reads and writes the files that the command line names"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::output::Output;
use crate::cli::session::args::{ExportWord, SessionExportArgs, SessionImportArgs};
use crate::cli::session::folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::config::files::FileFault;
use crate::run::error::RunError;
use locum_agent::report::export::{ExportFormat, ExportedFile, export};
use locum_agent::session::event::Event;
use locum_agent::session::import::{ImportSource, import};
use locum_agent::session::journal::Journal;

/// Largest file that is read.
const FILE_LIMIT_BYTES: u64 = 512 * 1024 * 1024;
/// The file that a task's folder of Roo Code or Kilo Code has in any case.
const CONVERSATION_FILE: &str = "api_conversation_history.json";

/// Writes a session in another layout.
///
/// # Errors
/// When the session does not exist, or a file already exists or cannot be written.
pub(super) fn write(
    args: &SessionExportArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let folder = find(&sessions_folder(context, args.session_dir.as_deref())?, &args.id)?;
    let lines = Journal::read_with_images(&folder)
        .map_err(|error| RunError::internal(error.to_string()))?;
    let format = match args.format {
        ExportWord::Roo => ExportFormat::Roo,
        ExportWord::Kilo => ExportFormat::Kilo,
        ExportWord::Claude => ExportFormat::Claude,
        ExportWord::Markdown => ExportFormat::Markdown,
        ExportWord::Json => ExportFormat::Json,
    };
    let files = export(&lines, format);
    match (&args.out, files.as_slice()) {
        (_, []) => Err(RunError::usage("ID", "the session was killed before it began")),
        (None, [only]) => {
            output.raw(only.text.as_bytes());
            Ok(ExitStatus::Done)
        }
        (None, several) => Err(RunError::usage(
            "--out",
            format!("this layout has {} files, so it needs a folder", several.len()),
        )
        .hint("`--out DIR` writes them below it")),
        (Some(out), files) => {
            let out = context.folder.join(out);
            write_all(&out, files)?;
            for file in files {
                output.line(out.join(&file.path).display());
            }
            Ok(ExitStatus::Done)
        }
    }
}

/// Writes files below a folder, none over one that is there.
fn write_all(out: &Path, files: &[ExportedFile]) -> Result<(), RunError> {
    let paths: Vec<PathBuf> = files.iter().map(|file| out.join(&file.path)).collect();
    if let Some(there) = paths.iter().find(|path| path.exists()) {
        let message = format!("`{}` already exists", there.display());
        return Err(RunError::usage("--out", message).hint("name another folder, or remove it"));
    }
    for (path, file) in paths.iter().zip(files) {
        let failed = |error: std::io::Error| {
            RunError::usage("--out", format!("`{}`: {error}", path.display()))
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut made = std::fs::File::create_new(path).map_err(failed)?;
        made.write_all(file.text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Makes a session here of one of another agent.
///
/// # Errors
/// When a file is none of a session, or a session of that name is here.
pub(super) fn read(
    args: &SessionImportArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let from = context.folder.join(&args.path);
    let lines = import(&source(&from)?, &from.display().to_string()).map_err(|error| {
        RunError::usage(from.display().to_string(), error.to_string()).hint(
            "name the folder of one task of Roo Code or Kilo Code, a file of Claude Code or \
                 Kode (`.jsonl`), or what `locum session export --format json` wrote (`.json`)",
        )
    })?;
    let id = lines.iter().find_map(|line| match &line.event {
        Event::Started(start) => Some(start.id.clone()),
        _ => None,
    });
    let id = id.ok_or_else(|| RunError::internal("an imported session has no beginning"))?;
    let folder = sessions_folder(context, args.session_dir.as_deref())?.join(id.as_str());
    if folder.exists() {
        return Err(RunError::usage("PATH", format!("the session {id} already exists here"))
            .hint(format!("`locum session show {id}` shows it")));
    }
    let failed = |error: &dyn std::fmt::Display| RunError::internal(error.to_string());
    let mut journal = Journal::create(&folder).map_err(|error| failed(&error))?;
    for line in &lines {
        journal.append(line).map_err(|error| failed(&error))?;
    }
    if args.json {
        output.json(&json!({ "session": id.as_str(), "events": lines.len() }));
    } else {
        output.line(id.as_str());
        output.talk(format!("imported to be read: `locum session show {id}`"));
    }
    Ok(ExitStatus::Done)
}

/// Reads the files of a session, by what is there.
fn source(path: &Path) -> Result<ImportSource, RunError> {
    let folder = match path.file_name().and_then(std::ffi::OsStr::to_str) {
        Some(CONVERSATION_FILE) => path.parent().unwrap_or(path),
        _ => path,
    };
    if folder.is_dir() {
        let beside = |name: &str| {
            let file = folder.join(name);
            if file.exists() { text(&file).map(Some) } else { Ok(None) }
        };
        let conversation = beside(CONVERSATION_FILE)?.ok_or_else(|| {
            RunError::usage(
                "PATH",
                format!("`{}` holds no `{CONVERSATION_FILE}`", folder.display()),
            )
            .hint("name the folder of one task, or a file of Claude Code (`.jsonl`)")
        })?;
        return Ok(ImportSource::Roo {
            conversation,
            shown: beside("ui_messages.json")?,
            item: beside("history_item.json")?,
        });
    }
    let text = text(path)?;
    // Lines of JSON are no JSON document, unless there is only one.
    let is_journal = path.extension().is_some_and(|extension| extension == "json");
    Ok(if is_journal { ImportSource::Journal(text) } else { ImportSource::Claude(text) })
}

fn text(path: &Path) -> Result<String, RunError> {
    let about = |what: String| RunError::usage(path.display().to_string(), what);
    let found = std::fs::metadata(path).map_err(|error| about(error.to_string()))?;
    if !found.is_file() {
        return Err(about(FileFault::NotAFile.to_string()));
    }
    let size_bytes = found.len();
    if size_bytes > FILE_LIMIT_BYTES {
        let limit = FILE_LIMIT_BYTES / (1024 * 1024);
        return Err(about(format!("has {size_bytes} bytes; at most {limit} MiB are read")));
    }
    std::fs::read_to_string(path).map_err(|error| about(error.to_string()))
}
