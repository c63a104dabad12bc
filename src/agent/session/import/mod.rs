//! A session of another agent as lines of a journal, so that it can be read like one of our own.
//!
//! In: the texts of its files. Out: lines, or what is wrong with which line of which file. An
//! imported session can be read but not resumed: its checkout and policy are not known.

mod blocks;
mod claude;
mod recorder;
mod roo;

use serde_json::json;

use crate::session::event::{Event, JOURNAL_VERSION, JournalLine};
use crate::session::id::{IMPORTED, SessionId};
use locum_base::json::put;

/// What a session is imported from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportSource {
    /// A task's folder of Roo Code or Kilo Code.
    Roo {
        /// `api_conversation_history.json`.
        conversation: String,
        /// `ui_messages.json`, where it is there: it has the costs.
        shown: Option<String>,
        /// `history_item.json`, where it is there: it has mode and workspace.
        item: Option<String>,
    },
    /// The lines of Claude Code or Kode.
    Claude(String),
    /// What `session export --format json` wrote.
    Journal(String),
}

/// A whole session as JSON.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct ExportedJournal {
    /// The format of the journal.
    pub version: u32,
    /// Its lines, in order.
    pub events: Vec<JournalLine>,
}

/// Why a session cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ImportError {
    /// The file, by its name alone.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl ImportError {
    fn json(file: &'static str, error: &serde_json::Error) -> Self {
        Self { file, line: Some(error.line()), what: error.to_string() }
    }

    fn about(file: &'static str, what: &str) -> Self {
        Self { file, line: None, what: what.to_owned() }
    }
}

/// Returns a session as lines of a journal, under a new name unless it is one of our own.
///
/// # Errors
/// When a text is not what the source says, or holds no message.
pub fn import(source: &ImportSource, from: &str) -> Result<Vec<JournalLine>, ImportError> {
    let mut lines = match source {
        ImportSource::Roo { conversation, shown, item } => {
            roo::read(conversation, shown.as_deref(), item.as_deref())?
        }
        ImportSource::Claude(text) => claude::read(text)?,
        ImportSource::Journal(text) => journal(text)?,
    };
    let format = match source {
        ImportSource::Roo { .. } => "roo",
        ImportSource::Claude(_) => "claude",
        ImportSource::Journal(_) => "json",
    };
    for line in &mut lines {
        if let Event::Started(start) = &mut line.event {
            if !start.caller.is_object() {
                start.caller = json!({});
            }
            put(&mut start.caller, IMPORTED, json!({ "format": format, "from": from }));
        }
    }
    Ok(lines)
}

fn journal(text: &str) -> Result<Vec<JournalLine>, ImportError> {
    const FILE: &str = "the exported session";
    let read: ExportedJournal =
        serde_json::from_str(text).map_err(|error| ImportError::json(FILE, &error))?;
    let start = read.events.first().and_then(|line| match &line.event {
        Event::Started(start) => Some(start),
        _ => None,
    });
    let version = start.map_or(read.version, |start| start.version.max(read.version));
    if version > JOURNAL_VERSION {
        let what =
            format!("its format is {version}, and this version reads {JOURNAL_VERSION} at most");
        return Err(ImportError::about(FILE, &what));
    }
    if start.is_some_and(|start| SessionId::parse(start.id.as_str()).is_some()) {
        Ok(read.events)
    } else {
        Err(ImportError::about(FILE, "it does not begin as a session does"))
    }
}

#[cfg(test)]
mod tests;
