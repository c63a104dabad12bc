//! A session in the layouts that other agents keep theirs in, so that their own readers show it;
//! and as Markdown for people, and as JSON for programs.
//!
//! In: the lines of a journal. Out: files, by their paths below a folder.

mod blocks;
mod claude;
mod history;
mod markdown;
mod roo;
mod roo_ui;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::session::event::{JOURNAL_VERSION, JournalLine, SessionStart};
use crate::session::import::ExportedJournal;
use crate::session::state::SessionState;
use locum_base::id::TaskId;

/// A layout to write a session in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The folders of Roo Code, one for each task.
    Roo,
    /// Those of Kilo Code, which has no `history_item.json`.
    Kilo,
    /// The lines of Claude Code and Kode.
    Claude,
    /// For people.
    Markdown,
    /// Every line of the journal, for programs and `session import`.
    Json,
}

/// A file of an exported session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Path below the folder it is exported to.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Returns the files of a session in a layout; none for a session that was killed before it began.
pub fn export(lines: &[JournalLine], format: ExportFormat) -> Vec<ExportedFile> {
    let state = SessionState::of(lines);
    let Some(start) = &state.start else { return Vec::new() };
    let session = Exported { start, state: &state, lines };
    match format {
        ExportFormat::Roo => roo::files(&session, roo::Flavour::Roo),
        ExportFormat::Kilo => roo::files(&session, roo::Flavour::Kilo),
        ExportFormat::Claude => claude::files(&session),
        ExportFormat::Markdown => vec![ExportedFile {
            path: format!("{}.md", start.id),
            text: markdown::document(&session),
        }],
        ExportFormat::Json => {
            let journal = ExportedJournal { version: JOURNAL_VERSION, events: lines.to_vec() };
            vec![file(format!("{}.json", start.id), &journal)]
        }
    }
}

/// A session that is exported.
struct Exported<'a> {
    start: &'a SessionStart,
    state: &'a SessionState,
    lines: &'a [JournalLine],
}

impl Exported<'_> {
    /// Returns the folder it worked in, if it says so.
    fn folder(&self) -> &str {
        self.start.caller.get("folder").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the name of a task, as a UUID: the root task has the session's own.
    fn task_id(&self, task: TaskId) -> String {
        let own = uuid::Uuid::try_parse(self.start.id.as_str()).ok().filter(|_| task.0 == 0);
        own.map_or_else(|| self.derived_id(&format!("task {task}")), |own| own.to_string())
    }

    /// Returns a UUID for a part of the session, the same in each export.
    fn derived_id(&self, part: &str) -> String {
        let digest = Sha256::digest(format!("{} {part}", self.start.id));
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digest).for_each(|(byte, digest)| *byte = digest);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

/// Returns a value as a file of JSON.
fn file(path: String, value: &impl Serialize) -> ExportedFile {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    ExportedFile { path, text }
}

#[cfg(test)]
mod tests;
