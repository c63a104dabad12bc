//! What a later `locum init` would change, and the change itself under `--update`.
//!
//! In: the files as they are, and as they would be written now. Out: texts in which everything that
//! was changed by hand stays. A file counts as written by `locum init` where its last line still
//! fits, or where a version of it in the history of `HEAD` is one; nothing else is changed.

use crate::cli::init::files::{InitFile, put};
use crate::cli::init::report::{FileState, InitReport};
use crate::cli::output::Output;
use crate::run::error::RunError;
use crate::run::source::FileSource;
use locum_base::path::RepoPath;
use locum_policy::starter::mark::is_as_written;
use locum_workspace::diff;
use locum_workspace::repo::Repo;
use locum_workspace::updated::updated;

/// What is said where every file stays as it is.
const NOTHING_TO_CHANGE: &str = "Nothing to change.";

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileUpdate {
    /// It is not there yet.
    New,
    /// It is as it would be written.
    Same,
    /// Nothing new comes into it: what differs was changed by hand.
    Adapted { before: String },
    /// It becomes this text, which keeps what was changed by hand.
    Changed { before: String, after: String },
    /// Nobody knows what of it is made by hand: it stays, and only the difference is shown.
    ByHand { before: String, after: String },
}

/// A file with the text that it would have now.
pub(super) struct PlannedFile {
    pub(super) path: String,
    /// Its text, were it written now.
    pub(super) text: String,
    pub(super) update: FileUpdate,
}

impl PlannedFile {
    /// Leaves the file to whoever changed it where what would become of it is no good.
    pub(super) fn keep_unless(&mut self, is_good: impl Fn(&str) -> bool) {
        if let FileUpdate::Changed { before, after } = &self.update
            && !is_good(after)
        {
            self.update = FileUpdate::ByHand { before: before.clone(), after: self.text.clone() };
        }
    }
}

impl FileUpdate {
    /// Returns the file's text after the update, where `now` is what would be written.
    pub(super) fn result<'t>(&'t self, now: &'t str) -> &'t str {
        match self {
            Self::New | Self::Same => now,
            Self::Changed { after, .. } => after,
            Self::Adapted { before } | Self::ByHand { before, .. } => before,
        }
    }
}

/// Says what becomes of a file.
///
/// # Errors
/// When the history cannot be read.
pub(super) fn of(
    repo: &Repo,
    place: &FileSource<'_>,
    (path, now): InitFile<'_>,
) -> Result<FileUpdate, RunError> {
    let Some(file) = place.file(path)? else { return Ok(FileUpdate::New) };
    let before = file.text;
    if before == now {
        return Ok(FileUpdate::Same);
    }
    if is_as_written(&before) {
        return Ok(FileUpdate::Changed { before, after: now.to_owned() });
    }
    let path = RepoPath::parse(path).map_err(RunError::internal)?;
    let versions = repo.versions(&path).map_err(RunError::internal)?;
    let written = versions.into_iter().find(|version| is_as_written(version));
    let merged = written.and_then(|written| updated(&written, &before, now));
    Ok(match merged {
        Some(after) if after == before => FileUpdate::Adapted { before },
        Some(after) => FileUpdate::Changed { before, after },
        None => FileUpdate::ByHand { before, after: now.to_owned() },
    })
}

/// Shows what would change; nothing is written.
pub(super) fn propose(files: &[PlannedFile], report: &mut InitReport, output: &mut Output) {
    for file in files {
        match &file.update {
            FileUpdate::New => {}
            FileUpdate::Same => report.file((&file.path, FileState::Same), String::new(), output),
            FileUpdate::Adapted { .. } => {
                report.file((&file.path, FileState::Kept), String::new(), output);
            }
            FileUpdate::Changed { before, after } => {
                let patch = patch(&file.path, before, after);
                report.file((&file.path, FileState::Outdated), patch, output);
            }
            FileUpdate::ByHand { before, after } => {
                let patch = patch(&file.path, before, after);
                report.file((&file.path, FileState::Kept), patch, output);
            }
        }
    }
    let named = |is_wanted: fn(&FileUpdate) -> bool| -> Vec<String> {
        let wanted = files.iter().filter(|file| is_wanted(&file.update));
        wanted.map(|file| format!("`{}`", file.path)).collect()
    };
    let by_hand = named(|update| matches!(update, FileUpdate::ByHand { .. }));
    let adapted = named(|update| matches!(update, FileUpdate::Adapted { .. }));
    if !by_hand.is_empty() {
        output.talk(format_args!(
            "note: {} made by hand, or no commit has what `locum init` wrote: take over by hand \
             what you want of the difference, or overwrite all of it with `--force`",
            was(&by_hand)
        ));
    }
    if !adapted.is_empty() {
        output.talk(format_args!(
            "note: {} changed by hand, and nothing new would come into what you have; `--force` \
             overwrites all of it",
            was(&adapted)
        ));
    }
    let has_new = files.iter().any(|file| file.update == FileUpdate::New);
    let nothing = if has_new { "Nothing else is written." } else { "Nothing is written." };
    if files.iter().any(|file| matches!(file.update, FileUpdate::Changed { .. })) {
        output.talk(format_args!(
            "{nothing} `locum init --update` makes these changes, and keeps what you changed by \
             hand."
        ));
    } else if !by_hand.is_empty() {
        output.talk(nothing);
    } else if !adapted.is_empty() {
        output.talk(NOTHING_TO_CHANGE);
    } else if !has_new {
        output.talk("Nothing to change: the files are as `locum init` would write them.");
    }
}

/// Writes what changes.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(
    repo: &Repo,
    files: &[PlannedFile],
    report: &mut InitReport,
    output: &mut Output,
) -> Result<(), RunError> {
    for PlannedFile { path, update, .. } in files {
        match update {
            FileUpdate::Changed { after, .. } => {
                put(repo.root(), path, after, true)
                    .map_err(|error| RunError::usage(path.clone(), error.to_string()))?;
                report.file((path, FileState::Updated), String::new(), output);
            }
            FileUpdate::ByHand { .. } => {
                report.file((path, FileState::Kept), String::new(), output);
                output.talk(format!(
                    "kept {path}: it is made by hand; `locum init` shows what it would change, \
                     and `--force` overwrites it"
                ));
            }
            FileUpdate::Adapted { .. } => {
                report.file((path, FileState::Kept), String::new(), output);
            }
            FileUpdate::Same => report.file((path, FileState::Same), String::new(), output),
            FileUpdate::New => {}
        }
    }
    let is_left =
        |file: &PlannedFile| matches!(file.update, FileUpdate::Same | FileUpdate::Adapted { .. });
    if files.iter().all(is_left) {
        output.talk(NOTHING_TO_CHANGE);
    }
    Ok(())
}

/// Returns a unified diff.
fn patch(path: &str, before: &str, after: &str) -> String {
    let parsed = RepoPath::parse(path).ok();
    let change =
        parsed.and_then(|path| diff::between(&path, Some(before.as_bytes()), after.as_bytes()));
    change.map(|change| change.patch).unwrap_or_default()
}

fn was(paths: &[String]) -> String {
    let verb = if paths.len() == 1 { "was" } else { "were" };
    format!("{} {verb}", paths.join(" and "))
}
