//! What MCP servers had when the session began, in the journal: what they have later is not
//! adopted, also when the session is resumed.

use std::collections::BTreeMap;

use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::stop::Stop;

impl Session<'_> {
    /// Writes down which tools there are, or keeps back those that are others than they were.
    pub(crate) fn list_servers(&mut self) -> Result<(), Stop> {
        if self.state.root().is_none() {
            let listed: BTreeMap<String, BTreeMap<String, String>> = self
                .parts
                .servers
                .offered()
                .into_iter()
                .map(|server| {
                    (
                        server.name,
                        server.tools.into_iter().map(|tool| (tool.name, tool.hash)).collect(),
                    )
                })
                .collect();
            return if listed.is_empty() {
                Ok(())
            } else {
                self.emit(Event::ServersListed { servers: listed })
            };
        }
        self.parts.servers.hold_to(&self.state.servers);
        self.note_servers()
    }

    /// Writes down what servers did unasked.
    pub(crate) fn note_servers(&mut self) -> Result<(), Stop> {
        for note in self.parts.servers.take_notes() {
            self.emit(Event::ServerNoted { server: note.server, what: note.what })?;
        }
        Ok(())
    }
}
