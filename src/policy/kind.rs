//! `RuleKind`: what rules can be about. A pattern is compared with intents of its own kind alone.
//!
//! In: an intent. Out: its kind. Patterns are matched in `pattern`.

use crate::intent::Intent;

/// Kinds of patterns, and of what tools are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Files whose content is shown.
    Read,
    /// Files created, changed or deleted.
    Edit,
    /// Programs started in the checkout.
    Command,
    /// Reading pages of the web.
    Fetch,
    /// Searching the web.
    Search,
    /// Looking at pages in a browser.
    Browse,
    /// Calling tools of MCP servers.
    Mcp,
    /// Switching to a mode.
    Mode,
    /// Starting a sub-task.
    Delegate,
    /// Asking another model.
    Expert,
    /// Reading what earlier runs keep in memory.
    MemoryRead,
    /// Keeping something in memory for later runs.
    MemoryWrite,
    /// Publishing something.
    Publish,
}

impl RuleKind {
    /// Returns the kind of patterns that an intent is compared with as a whole. Scripts are taken
    /// apart first; connections and servers have checks of their own.
    pub(crate) fn of(intent: &Intent) -> Option<Self> {
        match intent {
            Intent::Read(_) => Some(Self::Read),
            Intent::Edit(_) => Some(Self::Edit),
            Intent::Fetch(_) => Some(Self::Fetch),
            Intent::Search(_) => Some(Self::Search),
            Intent::Browse(_) => Some(Self::Browse),
            Intent::Mcp { .. } => Some(Self::Mcp),
            Intent::Mode(_) => Some(Self::Mode),
            Intent::Delegate(_) => Some(Self::Delegate),
            Intent::Expert(_) => Some(Self::Expert),
            Intent::MemoryRead(_) => Some(Self::MemoryRead),
            Intent::MemoryWrite(_) => Some(Self::MemoryWrite),
            Intent::Publish(_) => Some(Self::Publish),
            Intent::Command(_)
            | Intent::Visit(_)
            | Intent::Connect(_)
            | Intent::Server(_)
            | Intent::Service { .. }
            | Intent::Session => None,
        }
    }
}
