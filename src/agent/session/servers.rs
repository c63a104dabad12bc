//! What MCP servers had when the session began, in the journal: what they have later is not
//! adopted, also when the session is resumed. One that did not start is in the report.

use std::collections::BTreeMap;

use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::tools::mcp::servers::ServerStatus;
use locum_base::id::TaskId;
use locum_modes::prompts::servers::OfferedServer;

impl Session<'_> {
    /// Writes down which tools there are, or keeps back those that are others than they were.
    pub(crate) fn list_servers(&mut self) -> Result<(), Stop> {
        self.note_missing_servers()?;
        if self.state.root().is_none() {
            let offered = self.parts.servers.offered().into_iter();
            let servers: BTreeMap<String, BTreeMap<String, String>> = offered
                .map(|OfferedServer { name, tools, .. }| {
                    (name, tools.into_iter().map(|tool| (tool.name, tool.hash)).collect())
                })
                .collect();
            if servers.is_empty() {
                return Ok(());
            }
            return self.emit(Event::ServersListed { servers });
        }
        self.parts.servers.hold_to(&self.state.servers);
        self.note_servers()
    }

    fn note_missing_servers(&mut self) -> Result<(), Stop> {
        let missing = self.parts.servers.all().filter_map(|(definition, status, _)| match status {
            ServerStatus::Failed(why) => {
                Some(format!("The MCP server `{}` did not start: {why}.", definition.name))
            }
            ServerStatus::Refused(_) | ServerStatus::Ready | ServerStatus::Disabled => None,
        });
        for text in missing.collect::<Vec<_>>() {
            self.note_once(TaskId::default(), text)?;
        }
        Ok(())
    }

    /// Writes down what servers did unasked.
    pub(crate) fn note_servers(&mut self) -> Result<(), Stop> {
        for note in self.parts.servers.take_notes() {
            self.emit(Event::ServerNoted { server: note.server, what: note.what })?;
        }
        Ok(())
    }
}
