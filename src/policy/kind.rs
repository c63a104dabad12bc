//! `RuleKind`: under which key rules are found quickly.
//!
//! In: patterns and intents. Out: the key. Patterns are matched in `pattern`.

use crate::glob::PathGlob;
use crate::intent::Intent;
use crate::pattern::Pattern;

/// Kinds of patterns, for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RuleKind {
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
pub(super) fn kind_of(pattern: &Pattern) -> RuleKind {
    match pattern {
        Pattern::Read(_) => RuleKind::Read,
        Pattern::Edit(_) => RuleKind::Edit,
        Pattern::Command(_) => RuleKind::AnyCommand,
        Pattern::Fetch(_) | Pattern::Browse(_) => RuleKind::Network,
        Pattern::Mcp(_) => RuleKind::Mcp,
        Pattern::Mode(_) => RuleKind::Mode,
        Pattern::Delegate(_) => RuleKind::Delegate,
        Pattern::Expert(_) => RuleKind::Expert,
        Pattern::Publish(_) => RuleKind::Publish,
    }
}

/// Returns the kind of patterns that are about an intent; commands are found by program.
pub(super) fn kind_of_intent(intent: &Intent) -> Option<RuleKind> {
    match intent {
        Intent::Read(_) => Some(RuleKind::Read),
        Intent::Edit(_) => Some(RuleKind::Edit),
        Intent::Command(_) | Intent::Session => None,
        Intent::Fetch(_) | Intent::Browse(_) | Intent::Connect(_) => Some(RuleKind::Network),
        Intent::Server(_) | Intent::Mcp { .. } => Some(RuleKind::Mcp),
        Intent::Mode(_) => Some(RuleKind::Mode),
        Intent::Delegate(_) => Some(RuleKind::Delegate),
        Intent::Expert(_) => Some(RuleKind::Expert),
        Intent::Publish(_) => Some(RuleKind::Publish),
    }
}
