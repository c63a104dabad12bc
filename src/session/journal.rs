//! `journal.jsonl`: append-only, one event a line, flushed before the effect it announces.

use std::path::Path;

use jiff::Timestamp;

use crate::session::event::{Event, JournalLine};

/// The record of a session, open for appending.
#[derive(Debug)]
pub struct Journal {
    lines: Vec<JournalLine>,
}

/// Why a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system said no.
    #[error("journal `{file}`: {source}")]
    Io {
        /// The file.
        file: String,
        /// What it said.
        source: std::io::Error,
    },
    /// A line is no event. The last line may be cut short by a kill and is then dropped; any other is an error.
    #[error("journal `{file}`:{line}: {message}")]
    Malformed {
        /// The file.
        file: String,
        /// Its line, counted from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl Journal {
    /// Starts a new journal in `folder` (made if missing).
    ///
    /// # Errors
    /// When it exists already or cannot be written.
    pub fn create(_folder: &Path) -> Result<Self, JournalError> {
        todo!()
    }

    /// Opens the journal in `folder` to continue it; a cut last line is dropped.
    ///
    /// # Errors
    /// When it is not there, malformed, or of a later version.
    pub fn resume(_folder: &Path) -> Result<Self, JournalError> {
        todo!()
    }

    /// Reads a journal without opening it for writing.
    ///
    /// # Errors
    /// As [`Journal::resume`].
    pub fn read(_folder: &Path) -> Result<Vec<JournalLine>, JournalError> {
        todo!()
    }

    /// Returns the lines that were there when it was opened.
    #[must_use]
    pub fn past(&self) -> &[JournalLine] {
        &self.lines
    }

    /// Appends an event and flushes it.
    ///
    /// # Errors
    /// When the disk is full or gone; the file then ends with a whole line.
    pub fn append(&mut self, _at: Timestamp, _event: &Event) -> Result<(), JournalError> {
        todo!()
    }
}
