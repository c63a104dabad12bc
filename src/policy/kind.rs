//! `Kind`: under which key rules are found quickly.
//!
//! In: patterns and intents. Out: the key. It matches nothing.

use crate::glob::PathGlob;
use crate::intent::Intent;
use crate::pattern::Pattern;

/// Kinds of patterns, for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Read,
    Edit,
    AnyCommand,
    Network,
    Mcp,
    Mode,
    Delegate,
    Expert,
    Publish,
}

/// Returns the name of the folder all paths of a path pattern start with.
pub(super) fn start_of(pattern: &Pattern) -> Option<&str> {
    pattern.paths().and_then(PathGlob::start)
}

/// Returns the kind of a pattern.
pub(super) fn kind_of(pattern: &Pattern) -> Kind {
    match pattern {
        Pattern::Read(_) => Kind::Read,
        Pattern::Edit(_) => Kind::Edit,
        Pattern::Command(_) => Kind::AnyCommand,
        Pattern::Fetch(_) | Pattern::Browse(_) => Kind::Network,
        Pattern::Mcp(_) => Kind::Mcp,
        Pattern::Mode(_) => Kind::Mode,
        Pattern::Delegate(_) => Kind::Delegate,
        Pattern::Expert(_) => Kind::Expert,
        Pattern::Publish(_) => Kind::Publish,
    }
}

/// Returns the kind of patterns that are about an intent; commands are found by program.
pub(super) fn kind_of_intent(intent: &Intent) -> Option<Kind> {
    match intent {
        Intent::Read(_) => Some(Kind::Read),
        Intent::Edit(_) => Some(Kind::Edit),
        Intent::Command(_) | Intent::Session => None,
        Intent::Fetch(_) | Intent::Browse(_) | Intent::Connect(_) => Some(Kind::Network),
        Intent::Server(_) | Intent::Mcp { .. } => Some(Kind::Mcp),
        Intent::Mode(_) => Some(Kind::Mode),
        Intent::Delegate(_) => Some(Kind::Delegate),
        Intent::Expert(_) => Some(Kind::Expert),
        Intent::Publish(_) => Some(Kind::Publish),
    }
}
