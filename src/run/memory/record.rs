//! `MemoryRecord`: the memory across runs as it is kept in its file.
//!
//! In: the record's text; what a session or a person changes. Out: the record, and its text again.
//! It remembers how far each session's changes are in it, so that a session that resumes makes none
//! of them twice, and takes back nothing that happened since.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use locum_agent::tools::memory::entry::{Memory, MemoryChange, MemoryError};

/// The version this program reads and writes.
const VERSION: u32 = 1;
/// Most sessions of which it is remembered how far their changes are in it.
const SESSIONS_LIMIT: usize = 100;

/// The memory across runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecord {
    version: u32,
    /// The entries.
    pub entries: Memory,
    /// When the last change was made that is in it, by session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sessions: BTreeMap<String, Timestamp>,
}

impl Default for MemoryRecord {
    fn default() -> Self {
        Self { version: VERSION, entries: Memory::default(), sessions: BTreeMap::new() }
    }
}

impl MemoryRecord {
    /// Reads a record. Every entry is checked as if it were written now: anyone who may push may
    /// have changed the ref.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if record.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", record.version));
        }
        let mut checked = Memory::default();
        for (name, entry) in record.entries.iter() {
            checked
                .set(name, entry.clone())
                .map_err(|error| format!("entry `{}`: {error}", name.escape_debug()))?;
        }
        Ok(record)
    }

    /// Returns the record's text.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn render(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        Ok(format!("{text}\n"))
    }

    /// Makes a change of a session, unless it is in already.
    ///
    /// # Errors
    /// When the entry does not fit beside those that are there by now.
    pub fn apply(&mut self, session: &str, change: &MemoryChange) -> Result<(), MemoryError> {
        if self.sessions.get(session).is_some_and(|last| *last >= change.at) {
            return Ok(());
        }
        self.entries.apply(change)?;
        self.sessions.insert(session.to_owned(), change.at);
        while self.sessions.len() > SESSIONS_LIMIT {
            let oldest = self.sessions.iter().min_by_key(|(_, at)| **at);
            let Some(oldest) = oldest.map(|(session, _)| session.clone()) else { break };
            self.sessions.remove(&oldest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryRecord, SESSIONS_LIMIT};
    use jiff::Timestamp;
    use locum_agent::tools::memory::entry::{EntrySource, MemoryChange, MemoryEntry};
    use pretty_assertions::assert_eq;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn change(name: &str, text: Option<&str>, second: i64) -> MemoryChange {
        let source = EntrySource::Person { by: "ada".to_owned() };
        let entry = text.map(|text| MemoryEntry { text: text.to_owned(), source, at: at(second) });
        MemoryChange { name: name.to_owned(), mode: "code".to_owned(), at: at(second), entry }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_nothing_else_is_believed() {
        let mut record = MemoryRecord::default();
        record.apply("s1", &change("build", Some("use make"), 1)).unwrap();
        let text = record.render().unwrap();
        assert_eq!(MemoryRecord::parse(&text).unwrap(), record);
        for (from, to, message) in [
            ("\"version\": 1", "\"version\": 2", "its version is 2, not 1"),
            ("\"build\"", "\"../build\"", "entry `../build`: `../build` cannot be the name"),
            ("use make", "use\\u200bmake", "U+200B"),
            ("\"text\"", "\"texts\"", "unknown field `texts`"),
        ] {
            assert!(text.contains(from), "{text}");
            let error = MemoryRecord::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_session_that_resumes_takes_back_nothing_that_happened_since() {
        let mut record = MemoryRecord::default();
        let first = change("build", Some("use make"), 1);
        record.apply("s1", &first).unwrap();
        record.apply("s2", &change("build", None, 2)).unwrap();
        record.apply("s1", &first).unwrap();
        assert!(record.entries.is_empty(), "what another session removed stays removed");
        record.apply("s1", &change("build", Some("use just"), 3)).unwrap();
        assert_eq!(record.entries.get("build").unwrap().text, "use just");
    }

    #[test]
    fn the_sessions_that_are_remembered_are_bounded() {
        let mut record = MemoryRecord::default();
        for second in 0..=i64::try_from(SESSIONS_LIMIT).unwrap() {
            record.apply(&format!("s{second}"), &change("x", Some("y"), second)).unwrap();
        }
        assert_eq!(record.sessions.len(), SESSIONS_LIMIT);
        assert!(!record.sessions.contains_key("s0"));
    }
}
