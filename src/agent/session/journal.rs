//! `journal.jsonl`: append-only, one event per line, handed to the system before the effect it
//! announces; and the blobs next to it, images among them.
//!
//! In: events and their times. Out: whole lines, each handed to the operating system in one write.
//! So a killed process loses at most the line it was writing; reading drops such a cut last line. A
//! line costs the same however long the journal is. `fdatasync` happens for the first and the last
//! event only. What lies between is lost together with the checkout on a power failure, and syncing
//! every line would cost more than the rest of a turn. One process at a time holds a journal, by a
//! lock that ends with the process. Events are interpreted elsewhere.
#![expect(
    clippy::disallowed_methods,
    reason = "the journal and its blobs are the session's own files, outside the checkout"
)]

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::session::event::{Event, JOURNAL_VERSION, JournalLine, SessionStart};
use locum_base::secret::plain::PlainValues;
use locum_workspace::private::make_private;

/// The journal's name in the folder of its session.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// Largest journal that is read back.
pub const JOURNAL_LIMIT_BYTES: u64 = 1 << 30;

const BLOB_FOLDER: &str = "blobs";

/// The record of a session, open for appending.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    length_bytes: u64,
    lines: Vec<JournalLine>,
    hidden: PlainValues,
}

/// Why a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system reports an error.
    #[error("journal `{file}`: {source}")]
    Io {
        /// Path of the journal.
        file: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A line is not an event. The last line may be cut short by a kill and is then dropped; any
    /// other is an error.
    #[error("journal `{file}`:{line}: {message}")]
    Malformed {
        /// Path of the journal.
        file: String,
        /// Its line, counted from 1.
        line: usize,
        /// What is wrong with the line.
        message: String,
    },
    /// Another process has it open for writing.
    #[error("journal `{file}` is in use by another process")]
    InUse {
        /// Path of the journal.
        file: String,
    },
    /// It is larger than what is read.
    #[error("journal `{file}` has {size_bytes} bytes, more than the {limit_bytes} that are read")]
    TooLarge {
        /// Path of the journal.
        file: String,
        /// Size of the file in bytes.
        size_bytes: u64,
        /// Largest size that is read, in bytes.
        limit_bytes: u64,
    },
}

impl Journal {
    /// Starts a new journal in `folder` (made if missing).
    ///
    /// # Errors
    /// When it exists already or cannot be written.
    pub fn create(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(JOURNAL_FILE);
        make_private(folder).map_err(|source| failed(&path, source))?;
        Self::open(folder, OpenOptions::new().create_new(true))
    }

    /// Opens the journal in `folder` to continue it; a cut last line is dropped.
    ///
    /// # Errors
    /// When it is not there, malformed, in use, or of a later version.
    pub fn resume(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(JOURNAL_FILE);
        let mut journal = Self::open(folder, OpenOptions::new().read(true))?;
        (journal.lines, journal.length_bytes) = parse_lines(&mut journal.file, &path)?;
        let cut = journal.file.set_len(journal.length_bytes);
        cut.map_err(|source| failed(&path, source))?;
        Self::load_images(folder, &mut journal.lines);
        Ok(journal)
    }

    /// Opens the file for writing and keeps others out.
    fn open(folder: &Path, options: &mut OpenOptions) -> Result<Self, JournalError> {
        let path = folder.join(JOURNAL_FILE);
        let file = options.append(true).open(&path).map_err(|source| failed(&path, source))?;
        lock(&file, &path)?;
        Ok(Self {
            folder: folder.to_owned(),
            file,
            length_bytes: 0,
            lines: Vec::new(),
            hidden: PlainValues::default(),
        })
    }

    /// Puts the bytes of images back into the lines read; an image whose bytes are not there stays
    /// described.
    fn load_images(folder: &Path, lines: &mut [JournalLine]) {
        for image in lines.iter_mut().flat_map(|line| line.event.images_mut()) {
            if let Ok(bytes) = Self::kept_in(folder, &image.hash) {
                *image = image.clone().with_content(&bytes);
            }
        }
    }

    /// Reads a journal without opening it for writing.
    ///
    /// # Errors
    /// As [`Journal::resume`], except that it may be in use.
    pub fn read(folder: &Path) -> Result<Vec<JournalLine>, JournalError> {
        let path = folder.join(JOURNAL_FILE);
        let mut file = File::open(&path).map_err(|source| failed(&path, source))?;
        Ok(parse_lines(&mut file, &path)?.0)
    }

    /// As [`Journal::read`], with the bytes of images.
    ///
    /// # Errors
    /// As [`Journal::read`].
    pub fn read_with_images(folder: &Path) -> Result<Vec<JournalLine>, JournalError> {
        let mut lines = Self::read(folder)?;
        Self::load_images(folder, &mut lines);
        Ok(lines)
    }

    /// Takes away a journal that was just made and holds nothing; one with lines stays.
    pub fn discard(&self) {
        if self.length_bytes == 0 && std::fs::remove_file(self.folder.join(JOURNAL_FILE)).is_ok() {
            // It holds more than the journal only where something else put it there.
            let _ = std::fs::remove_dir(&self.folder);
        }
    }

    /// Returns true while a process holds the journal in `folder`, and where that cannot be
    /// determined.
    pub fn is_held(folder: &Path) -> bool {
        match File::open(folder.join(JOURNAL_FILE)) {
            Ok(file) => file.try_lock_shared().is_err(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Closes a journal and moves its folder, in one step.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub(crate) fn move_to(self, folder: &Path) -> Result<(), JournalError> {
        self.file.sync_all().map_err(|source| self.failed(source))?;
        std::fs::rename(&self.folder, folder).map_err(|source| self.failed(source))
    }

    /// Copies the blobs of one session to another.
    ///
    /// # Errors
    /// When one cannot be read or written.
    pub(crate) fn copy_blobs(from: &Path, to: &Path) -> Result<(), JournalError> {
        let (blobs, copies) = (from.join(BLOB_FOLDER), to.join(BLOB_FOLDER));
        let copy = || -> std::io::Result<()> {
            if !blobs.is_dir() {
                return Ok(());
            }
            make_private(&copies)?;
            for entry in std::fs::read_dir(&blobs)? {
                let entry = entry?;
                std::fs::copy(entry.path(), copies.join(entry.file_name()))?;
            }
            Ok(())
        };
        copy().map_err(|source| failed(&copies, source))
    }

    /// Takes these values out of every line that is written from now on.
    pub fn hide(&mut self, hidden: PlainValues) {
        self.hidden = hidden;
    }

    /// Returns the journal in `folder` as it is on the disk, to be carried elsewhere.
    ///
    /// # Errors
    /// When it is not there or larger than `limit_bytes`.
    pub fn bytes(folder: &Path, limit_bytes: u64) -> Result<Vec<u8>, JournalError> {
        let path = folder.join(JOURNAL_FILE);
        let size_bytes = std::fs::metadata(&path).map_err(|source| failed(&path, source))?.len();
        if size_bytes > limit_bytes {
            return Err(JournalError::TooLarge {
                file: path.display().to_string(),
                size_bytes,
                limit_bytes,
            });
        }
        std::fs::read(&path).map_err(|source| failed(&path, source))
    }

    /// Puts a journal that was carried here into `folder`, in place of any that is there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(folder: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        let path = folder.join(JOURNAL_FILE);
        make_private(folder).map_err(|source| failed(&path, source))?;
        std::fs::write(&path, bytes).map_err(|source| failed(&path, source))
    }

    /// Reads the first line of a journal's text: what the session was to do.
    ///
    /// # Errors
    /// When it is not such a line, or of a later version.
    pub fn start_in(text: &str) -> Result<Box<SessionStart>, String> {
        let first = parse_line(text.lines().next().unwrap_or_default().as_bytes())?;
        if let Event::Started(start) = first.event {
            Ok(start)
        } else {
            Err("the first line does not begin a session".to_owned())
        }
    }

    /// Reads every line of a journal's text; what comes after the last newline is dropped.
    ///
    /// # Errors
    /// When a line is not an event, or the session of a later version.
    pub fn lines_in(text: &str) -> Result<Vec<JournalLine>, String> {
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| parse_line(line.as_bytes())).collect()
    }

    /// Returns the folder it lies in, which is the session's own.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the lines that were there when it was opened.
    pub fn past(&self) -> &[JournalLine] {
        &self.lines
    }

    /// Appends an event; it is with the operating system when this returns, and on the disk for the
    /// first and the last event.
    ///
    /// # Errors
    /// When the disk is full or gone; the file then ends with a whole line.
    pub fn append(&mut self, line: &JournalLine) -> Result<(), JournalError> {
        for image in line.event.images() {
            if let Some(bytes) = image.content.bytes() {
                self.keep(bytes)?;
            }
        }
        let text = serde_json::to_string(line).map_err(|error| self.failed(error.into()))?;
        let mut bytes = self.hidden.hide(&text).into_owned().into_bytes();
        bytes.push(b'\n');
        if let Err(source) = self.file.write_all(&bytes) {
            // Shortening needs no room on a full disk; should it fail as well, reading drops the
            // cut line.
            let _ = self.file.set_len(self.length_bytes);
            return Err(self.failed(source));
        }
        self.length_bytes =
            self.length_bytes.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if matches!(line.event, Event::Started(_) | Event::Ended(_)) {
            self.file.sync_data().map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Keeps content next to the journal and returns the hash it is found by.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn keep(&self, content: &[u8]) -> Result<String, JournalError> {
        Self::keep_in(&self.folder, content)
    }

    /// The same in the folder of a session that is not open.
    ///
    /// # Errors
    /// As [`Journal::keep`].
    pub fn keep_in(folder: &Path, content: &[u8]) -> Result<String, JournalError> {
        let hash = format!("{:x}", Sha256::digest(content));
        let folder = folder.join(BLOB_FOLDER);
        let path = folder.join(&hash);
        let kept = std::fs::metadata(&path).is_ok_and(|found| {
            u64::try_from(content.len()).is_ok_and(|length| found.len() == length)
        });
        if !kept {
            make_private(&folder).map_err(|source| failed(&path, source))?;
            std::fs::write(&path, content).map_err(|source| failed(&path, source))?;
        }
        Ok(hash)
    }

    /// Returns content kept by [`Journal::keep`].
    ///
    /// # Errors
    /// When it is not there.
    pub fn kept(&self, hash: &str) -> Result<Vec<u8>, JournalError> {
        Self::kept_in(&self.folder, hash)
    }

    /// As [`Journal::kept`], without the journal of the folder.
    ///
    /// # Errors
    /// When it is not there.
    pub fn kept_in(folder: &Path, hash: &str) -> Result<Vec<u8>, JournalError> {
        let path = folder.join(BLOB_FOLDER).join(hash);
        let named = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found =
            if named { std::fs::read(&path) } else { Err(std::io::ErrorKind::InvalidInput.into()) };
        found.map_err(|source| failed(&path, source))
    }

    fn failed(&self, source: std::io::Error) -> JournalError {
        failed(&self.folder.join(JOURNAL_FILE), source)
    }
}

/// Returns the events of a journal and the bytes they take; what comes after the last newline is
/// not counted.
fn parse_lines(file: &mut File, path: &Path) -> Result<(Vec<JournalLine>, u64), JournalError> {
    let size_bytes = file.metadata().map_err(|source| failed(path, source))?.len();
    if size_bytes > JOURNAL_LIMIT_BYTES {
        return Err(JournalError::TooLarge {
            file: path.display().to_string(),
            size_bytes,
            limit_bytes: JOURNAL_LIMIT_BYTES,
        });
    }
    let mut bytes = Vec::new();
    file.take(JOURNAL_LIMIT_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|source| failed(path, source))?;
    let mut lines = Vec::new();
    let mut length_bytes = 0;
    for (index, text) in bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|text| text.ends_with(b"\n"))
        .enumerate()
    {
        let line = parse_line(text).map_err(|message| malformed(path, index, message))?;
        lines.push(line);
        length_bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
    }
    Ok((lines, length_bytes))
}

fn parse_line(text: &[u8]) -> Result<JournalLine, String> {
    let line: JournalLine =
        serde_json::from_slice(text).map_err(|error| format!("not an event: {error}"))?;
    if let Event::Started(start) = &line.event
        && start.version > JOURNAL_VERSION
    {
        return Err(format!(
            "format {} is later than {JOURNAL_VERSION}, the latest this program reads",
            start.version
        ));
    }
    Ok(line)
}

/// Gives the lock back by name: closing the file alone leaves it to a child process that was being
/// started at that moment and still holds a copy of it.
impl Drop for Journal {
    fn drop(&mut self) {
        // NOTE: fails only where the lock is gone already.
        let _ = self.file.unlock();
    }
}

fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::InUse { file: path.display().to_string() },
        TryLockError::Error(source) => failed(path, source),
    })
}

fn failed(path: &Path, source: std::io::Error) -> JournalError {
    JournalError::Io { file: path.display().to_string(), source }
}

fn malformed(path: &Path, index: usize, message: String) -> JournalError {
    JournalError::Malformed { file: path.display().to_string(), line: index + 1, message }
}

#[cfg(test)]
mod tests;
