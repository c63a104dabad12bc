//! What a session is to keep for later runs, and whether a maintainer has to agree.
//!
//! In: answered calls of `write_memory`, and what the session met. Out: the changes in order, each
//! with where it comes from; the notes as the session sees them. They are written elsewhere, once
//! the session is over.

use std::sync::Arc;

use crate::session::live::Session;
use crate::session::state::SessionState;
use crate::tools::memory::entry::{EntrySource, Memory, MemoryChange, MemoryEntry, MemoryWrite};
use locum_base::tool::ToolName;
use locum_policy::Policy;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::CommandNetwork;

/// Tools whose answers may be anyone's text.
const OUTSIDE: &[ToolName] =
    &[ToolName::WebFetch, ToolName::WebSearch, ToolName::UseMcpTool, ToolName::AccessMcpResource];

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
        self.memory.retain(|change| change.name != name);
        self.memory.push(MemoryChange { name, mode: mode.to_owned(), at, entry });
    }

    /// Whether the session has met text that may be anyone's since it began: a page, an answer of a
    /// server, what a command may have fetched, a message that somebody sent.
    pub(crate) fn met_outside_text(&self, policy: &Policy) -> bool {
        let is_local =
            self.start.as_ref().is_some_and(|start| start.facts.trigger == TriggerKind::Local);
        let fetched = policy.settings().commands.network != CommandNetwork::Off;
        OUTSIDE.iter().any(|tool| self.tools.0.contains_key(tool.as_str()))
            || (fetched && (!self.commands.is_empty() || self.started_commands()))
            || (!is_local && !self.messages.is_empty())
    }

    /// Whether a command of a model ran, also one in the background.
    fn started_commands(&self) -> bool {
        let count = self.tools.0.get(ToolName::ExecuteCommand.as_str());
        count.is_some_and(|count| count.calls > count.refused)
    }
}

impl Session<'_> {
    /// Returns the notes as a task sees them: those there were, with what the session changed.
    pub(crate) fn memory(&self) -> Arc<Memory> {
        if self.state.memory.is_empty() {
            return Arc::clone(&self.parts.memory);
        }
        let mut memory = Memory::clone(&self.parts.memory);
        for change in &self.state.memory {
            // What no longer fits is said when it is written.
            let _ = memory.apply(change);
        }
        Arc::new(memory)
    }
}

#[cfg(test)]
mod tests {
    use crate::session::outcome::CommandReport;
    use crate::session::state::SessionState;
    use crate::tools::command_details::CommandDetails;
    use locum_policy::Policy;
    use locum_sandbox::exec::Exit;

    fn policy(network: &str) -> Policy {
        let rule = if network == "policy" { "network: { allow: [docs.rs] }\n" } else { "" };
        let text = format!("version: 1\ncommands: {{ network: {network} }}\n{rule}");
        Policy::parse(&text, "policy.yml").unwrap()
    }

    fn called(tool: &str) -> SessionState {
        let mut state = SessionState::default();
        state.tools.count(tool, false, false);
        state
    }

    #[test]
    fn pages_and_servers_bring_text_from_outside_and_files_do_not() {
        for (tool, expected) in [
            ("web_fetch", true),
            ("web_search", true),
            ("use_mcp_tool", true),
            ("access_mcp_resource", true),
            ("read_file", false),
            ("execute_command", false),
        ] {
            assert_eq!(called(tool).met_outside_text(&policy("off")), expected, "{tool}");
        }
    }

    #[test]
    fn a_command_may_have_fetched_anything_where_it_has_the_network() {
        let mut state = SessionState::default();
        assert!(!state.met_outside_text(&policy("policy")));
        state.commands.push(CommandReport {
            command: "cargo fetch".to_owned(),
            exit: Exit::Code(0),
            details: CommandDetails::default(),
        });
        assert!(state.met_outside_text(&policy("policy")));
        assert!(!state.met_outside_text(&policy("off")));
        for (refused, expected) in [(true, false), (false, true)] {
            let mut state = SessionState::default();
            state.tools.count("execute_command", false, refused);
            assert_eq!(state.met_outside_text(&policy("policy")), expected, "in the background");
        }
    }
}
