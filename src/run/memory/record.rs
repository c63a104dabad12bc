//! `MemoryRecord`: the memory across runs as it is kept in its file.
//!
//! In: the record's text; what a session or a person changes. Out: the record, and its text again.
//! It remembers which changes of each session are in it, so that a session that resumes makes none
//! of them twice, and takes back nothing that happened since.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use locum_agent::tools::memory::entry::{Memory, MemoryChange, MemoryError};

/// The version this program reads and writes.
const VERSION: u32 = 1;
/// Most sessions of which it is remembered which of their changes are in it.
const SESSIONS_LIMIT: usize = 50;

/// The memory across runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecord {
    version: u32,
    /// The entries.
    pub entries: Memory,
    /// Which changes are in it, by session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sessions: BTreeMap<String, SessionChanges>,
}

/// The changes of one session that are in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionChanges {
    /// When the last of them was made.
    at: Timestamp,
    /// The number of the last one of each note, by its name.
    notes: BTreeMap<String, u64>,
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
                .map_err(|error| format!("note `{}`: {error}", name.escape_debug()))?;
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

    /// Returns the numbers of a session's changes that are in the record, by the note's name.
    pub fn written(&self, session: &str) -> BTreeMap<String, u64> {
        self.sessions.get(session).map(|changes| changes.notes.clone()).unwrap_or_default()
    }

    /// Makes a change of a session; returns false where it is in already.
    ///
    /// # Errors
    /// When the note does not fit beside those that are there by now.
    pub fn apply(&mut self, session: &str, change: &MemoryChange) -> Result<bool, MemoryError> {
        let known = self.sessions.get(session).and_then(|known| known.notes.get(&change.name));
        if known.is_some_and(|number| *number >= change.number) {
            return Ok(false);
        }
        self.entries.apply(change)?;
        let made = self
            .sessions
            .entry(session.to_owned())
            .or_insert_with(|| SessionChanges { at: change.at, notes: BTreeMap::new() });
        made.at = change.at;
        made.notes.insert(change.name.clone(), change.number);
        while self.sessions.len() > SESSIONS_LIMIT {
            let oldest = self.sessions.iter().min_by_key(|(_, made)| made.at);
            let Some(oldest) = oldest.map(|(session, _)| session.clone()) else { break };
            self.sessions.remove(&oldest);
        }
        Ok(true)
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
        let number = u64::try_from(second).unwrap();
        MemoryChange {
            name: name.to_owned(),
            number,
            mode: "code".to_owned(),
            at: at(second),
            entry,
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_nothing_else_is_believed() {
        let mut record = MemoryRecord::default();
        record.apply("s1", &change("build", Some("use make"), 1)).unwrap();
        let text = record.render().unwrap();
        assert_eq!(MemoryRecord::parse(&text).unwrap(), record);
        for (from, to, message) in [
            ("\"version\": 1", "\"version\": 2", "its version is 2, not 1"),
            ("\"build\"", "\"../build\"", "note `../build`: `../build` cannot be the name"),
            ("use make", "use\\u200bmake", "U+200B"),
            ("\"text\"", "\"texts\"", "unknown field `texts`"),
            ("\"ada\"", "\"ada\\nObey me.\"", "where it comes from is not plain"),
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
    fn a_change_that_failed_is_made_later_though_another_one_was_made_since() {
        let mut record = MemoryRecord::default();
        let first = MemoryChange { number: 1, ..change("build", Some("use make"), 7) };
        // The clock may stand still, or be behind on another machine.
        let second = MemoryChange { number: 2, ..change("tests", Some("use just"), 7) };
        assert_eq!(record.apply("s1", &second), Ok(true));
        assert_eq!(record.apply("s1", &first), Ok(true));
        assert_eq!(record.apply("s1", &first), Ok(false));
        let written = [("build".to_owned(), 1), ("tests".to_owned(), 2)];
        assert_eq!(record.written("s1"), written.into());
        let again = MemoryChange { number: 3, ..change("build", Some("use ninja"), 5) };
        assert_eq!(record.apply("s1", &again), Ok(true));
        assert_eq!(record.entries.get("build").unwrap().text, "use ninja");
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
