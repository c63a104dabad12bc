//! What a session is to keep for later runs, and whether a maintainer has to agree.
//!
//! In: answered calls of `write_memory`, and what the session met. Out: the changes in order, each
//! with where it comes from; the notes as the session sees them. They are written elsewhere, once
//! the session is over.

use std::sync::Arc;

use crate::session::live::Session;
use crate::session::state::SessionState;
use crate::tools::memory::entry::{
    EarlierNotes, EntrySource, Memory, MemoryChange, MemoryEntry, MemoryWrite,
};
use locum_policy::intent::TriggerKind;

impl SessionState {
    /// Takes in what an answered call keeps.
    pub(crate) fn remember(&mut self, mode: &str, write: &MemoryWrite) {
        let (Some(start), Some(at)) = (&self.start, self.last_at()) else { return };
        let MemoryWrite { name, text, approved_by } = write.clone();
        let source = EntrySource::Session {
            session: start.id.to_string(),
            mode: mode.to_owned(),
            trigger: start.facts.trigger,
            tier: start.facts.tier,
            approved_by,
        };
        let entry = text.map(|text| MemoryEntry { text, source, at });
        let number = self.memory.iter().map(|change| change.number).max().unwrap_or(0) + 1;
        self.memory.retain(|change| change.name != name);
        self.memory.push(MemoryChange { name, number, mode: mode.to_owned(), at, entry });
    }

    /// Whether the session has met text that may be anyone's since it began: a page, an answer of a
    /// server, what a command may have fetched, words of somebody who wrote meanwhile, files of the
    /// checkout that it was resumed in.
    /// `is_offline` says that no command reaches any host.
    pub(crate) fn met_outside_text(&self, is_offline: bool) -> bool {
        let is_local =
            self.start.as_ref().is_some_and(|start| start.facts.trigger == TriggerKind::Local);
        self.met.fetched
            || self.met.files
            || (!is_offline && self.met.ran)
            || (!is_local && (self.met.from_people || !self.messages.is_empty()))
    }
}

impl Session<'_> {
    /// Returns the notes as a task sees them: those there were, with what the session changed.
    pub(crate) fn memory(&self) -> Arc<Memory> {
        let EarlierNotes { notes, written } = &self.parts.memory;
        let is_new = |change: &&MemoryChange| {
            written.get(&change.name).is_none_or(|number| *number < change.number)
        };
        let mut new = self.state.memory.iter().filter(is_new).peekable();
        if new.peek().is_none() {
            return Arc::clone(notes);
        }
        let mut memory = Memory::clone(notes);
        for change in new {
            // What no longer fits is said when it is written.
            let _ = memory.apply(change);
        }
        Arc::new(memory)
    }
}
